"""Disks that are NVMe namespaces, as on Azure's newer VM sizes: what is so for SCSI disks is so for them, but for the fence.

The kernel has several paths to a namespace here, or is ready for them: test_nvme_one_path.py has the other way."""

import pytest
from integration.node.machine import SMALLEST_EXT4
from integration.node.volume import Code, refused

from .namespaces import LOCAL, Controller
from .node import Node
from .test_disks import (  # noqa: F401
    put_away,
    test_a_disk_that_comes_late_is_waited_for,
    test_another_disk_in_its_place_is_refused,
    test_disks_of_one_lun_on_two_controllers_are_refused,
    test_each_volume_is_on_the_disk_of_its_lun,
    use,
)
from .test_growth import (  # noqa: F401
    test_a_disk_that_grew_while_nobody_had_it,
    test_a_file_system_grows_while_it_is_written_to,
    test_a_raw_device_grows_while_it_is_open,
)
from .test_loss import test_another_disk_in_the_place_of_one_in_use, test_the_disk_goes_while_it_is_used  # noqa: F401
from .test_replica_disks import (  # noqa: F401
    replica,
    test_a_disk_that_goes_and_another_that_comes,
    test_it_is_held_from_its_arrival_to_its_promotion,
)
from .virtual_machine import VirtualMachine


@pytest.fixture(scope="module")
def _node(boot):
    return Node(Controller(boot("nvme_core.multipath=Y", kind=VirtualMachine)))


def test_the_machines_own_disks_are_not_taken(volume, node):
    """Local ones have the same numbers, of another controller."""
    v = volume(lun=2)
    other = node.second_controller(model=LOCAL)
    other.attach(node.disk("other", SMALLEST_EXT4), 2)
    use(v, "mine")
    assert node.mounted(v.staging) == node.controller.device(2) != other.device(2)
    put_away(v)


def test_it_has_no_fence_and_says_so(volume, cloud):
    v = volume(parameters={"maxShares": "2"})
    v.stage()
    assert cloud.fence(v.name) == "unsupported"
    v.unstage()
    required = volume("required", lun=1, parameters={"maxShares": "2", "fencing": "required"})
    failure = refused(required.stage)
    assert failure.code() == Code.FAILED_PRECONDITION and "disks are NVMe devices" in failure.details()
