"""NVMe namespaces of a kernel that is told to have one path to each: they are elsewhere in sysfs then."""

import pytest

from .namespaces import Controller
from .node import Node
from .test_disks import test_each_volume_is_on_the_disk_of_its_lun  # noqa: F401
from .test_growth import test_a_disk_that_grew_while_nobody_had_it  # noqa: F401
from .virtual_machine import VirtualMachine


@pytest.fixture(scope="module")
def _node(boot):
    return Node(Controller(boot("nvme_core.multipath=N", kind=VirtualMachine)))
