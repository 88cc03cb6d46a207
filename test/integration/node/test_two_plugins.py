"""The plug-ins of two drivers on one node: in one network, before one kubelet, with disks side by side."""

import pytest
from cluster.waiting import until

from .cloud_side import CloudSide
from .conftest import NODE
from .kubelet import Kubelet
from .machine import SMALLEST_EXT4
from .plugin import DRIVER, NodePlugin
from .volume import Volume, refused

OTHER, OBJECTS, HEALTH_PORT = "other.disk.example", "azure-disk-csi-other-disk-example", 29703


@pytest.fixture
def other_cloud(installed):
    """The other driver's custom resources."""
    cloud = CloudSide(installed.client(), NODE, OBJECTS)
    if OBJECTS not in [namespace.metadata.name for namespace in cloud.core.list_namespace().items]:
        cloud.core.create_namespace({"metadata": {"name": OBJECTS}})
    cloud.clear()
    yield cloud
    cloud.clear()


@pytest.fixture
def other(installed, machine, stopped, tmp_path_factory):
    """The other driver's plug-in, whose socket is in the same folder for kubelet."""
    plugin = NodePlugin(machine, tmp_path_factory.mktemp("other"), installed.kubeconfig, NODE, OTHER, HEALTH_PORT)
    plugin.registration_socket = stopped.folder / f"{OTHER}-reg.sock"
    yield plugin
    plugin.close()


@pytest.fixture
def kubelets(stopped, other):
    """It looks for both."""
    found = [Kubelet(plugin.registration_socket, []) for plugin in (stopped, other)]
    yield found
    for kubelet in found:
        kubelet.close()


@pytest.fixture
def both(stopped, other, kubelets, cloud, other_cloud):
    stopped.serve()
    other.serve(f"--object-namespace={OBJECTS}", f"--registration-dir={stopped.folder}",
                f"--kubelet-endpoint=/var/lib/kubelet/plugins/{OTHER}/csi.sock")
    for plugin, kubelet in zip((stopped, other), kubelets):
        assert kubelet.content.wait(60)
        until(lambda: plugin.get("/readyz")[0] == 200, "readiness")
    return stopped, other


def test_kubelet_registers_both(both, cloud, other_cloud):
    first, second = both
    told = [plugin.registration.call("Registration/GetInfo") for plugin in both]
    assert [info.name for info in told] == [DRIVER, OTHER]
    assert told[0].endpoint != told[1].endpoint
    for place in (cloud, other_cloud):
        until(lambda: place.status().get("readyForVolumeAllocation"), "an AzDriverNode of its own")
    assert second.stop() == 0
    assert not second.registration_socket.exists() and first.registration_socket.exists()
    assert other_cloud.status()["readyForVolumeAllocation"] is False
    assert first.get("/readyz")[0] == 200 and cloud.status()["readyForVolumeAllocation"]


def test_each_mounts_the_disks_of_its_own_attachments(both, cloud, other_cloud, disk_of):
    """Of volumes with one name, at two LUNs."""
    volumes = [Volume(plugin, place, "data", disk_of(SMALLEST_EXT4), lun).attach()
               for lun, (plugin, place) in enumerate(zip(both, (cloud, other_cloud)))]
    for volume in volumes:
        volume.plugin.knows_attachments(1)
        volume.stage()
        volume.publish()
        assert volume.plugin.machine.mounts(volume.target) == 1
    devices = [line.split()[0] for volume in volumes
               for line in volume.plugin.machine.run("cat", "/proc/mounts").splitlines()
               if line.split()[1] == str(volume.target)]
    assert devices == [volume.disk.path for volume in volumes]

    mine, theirs = volumes
    theirs.unpublish()
    theirs.unstage()
    assert theirs.plugin.machine.mounts(theirs.staging) == 0
    assert mine.plugin.machine.mounts(mine.staging) == mine.plugin.machine.mounts(mine.target) == 1
    mine.unpublish()
    mine.unstage()


def test_a_disk_of_the_others_is_not_mounted(both, cloud, disk_of):
    first, second = both
    volume = Volume(first, cloud, "mine", disk_of(SMALLEST_EXT4)).attach()
    volume.stage()
    elsewhere = second.folder / "staging"
    elsewhere.mkdir()
    refused(second.stage, volume.id, elsewhere, timeout=2)
    assert second.machine.mounts(elsewhere) == 0
    volume.unstage()
