"""What the node plug-in needs of root's capabilities: with those that docs/security.md lists it does what a shared volume
asks of it, and without any one of them something fails. A guest's programs are in no container: what a container's control
group and the API server refuse, the page says."""

import re

import pytest
from docs.security import NODE_CAPABILITIES
from integration.node.test_growth import NEW, OLD, expand, record_size, when_heard
from integration.node.volume import wish

from .node import PLAIN, GuestVolume, Plugin

NUMBERS = {"CAP_DAC_READ_SEARCH": 2, "CAP_SYS_RAWIO": 17, "CAP_SYS_ADMIN": 21, "CAP_SYS_RESOURCE": 24}
NOBODY = "65534:65534"


@pytest.fixture
def shared(node, cloud, apiserver, tmp_path_factory, tmp_path):
    """shared(capabilities): a volume with a fence, of a plug-in that is root with these capabilities alone."""
    plugin = Plugin(node, tmp_path_factory.mktemp("node"), apiserver.kubeconfig, "node-a")

    def make(capabilities: set[str]) -> GuestVolume:
        program = tmp_path / "azdisk-node"
        bounds = ",".join(["-all", *(f"+{name.removeprefix('CAP_').lower()}" for name in sorted(capabilities))])
        program.write_text(f'#!/bin/sh\nexec setpriv --bounding-set={bounds} --inh-caps=-all {PLAIN} "$@"\n')
        program.chmod(0o755)
        plugin.run(program=program)
        assert had(plugin) == sum(1 << NUMBERS[name] for name in capabilities)
        v = GuestVolume(plugin, cloud, "shared", node.disk("shared", OLD), lun=1)
        return v.attach(parameters={"maxShares": "2", "fencing": "required"})

    yield make
    plugin.close()


def had(plugin: Plugin) -> int:
    status = plugin.guest.shell('cat "/proc/$(pidof azdisk-node)/status"')
    return int(re.search(r"CapEff:\s*(\w+)", status)[1], 16)


def stages(v: GuestVolume, fs_type: str = "ext4") -> None:
    v.stage(wish(fs_type))


def grows(v: GuestVolume, fs_type: str = "ext4") -> None:
    stages(v, fs_type)
    v.publish(wish(fs_type))
    v.cloud.take_over(v.name)
    v.disk.grow(NEW)
    record_size(v)
    when_heard(expand, v)


def is_seen(v: GuestVolume, fs_type: str = "ext4") -> None:
    """A file system whose root its pod keeps to itself."""
    stages(v, fs_type)
    v.publish(wish(fs_type))
    v.guest.shell(f"chown {NOBODY} {v.target}; chmod 0700 {v.target}")
    condition = v.plugin.csi.call("Node/NodeGetVolumeStats", volume_id=v.id, volume_path=str(v.target)).volume_condition
    assert not condition.abnormal, condition.message


FAILS = {  # without a capability: what, and how
    "CAP_SYS_ADMIN": (stages, "BLKFLSBUF: Permission denied"),
    "CAP_SYS_RAWIO": (stages, "cannot be read: SG_IO: this process needs the capability CAP_SYS_RAWIO"),
    "CAP_SYS_RESOURCE": (grows, "Permission denied to resize"),
    "CAP_DAC_READ_SEARCH": (is_seen, "Permission denied"),
}


def put_away(v: GuestVolume) -> None:
    v.guest.shell(f"test ! -d {v.target} || chmod 0755 {v.target}")
    v.unpublish()
    v.unstage()


@pytest.mark.parametrize("fs_type", ["ext4", "xfs"])
@pytest.mark.parametrize("act", [grows, is_seen])
def test_the_capabilities_of_the_page_suffice(shared, act, fs_type):
    v = shared(set(NODE_CAPABILITIES))
    act(v, fs_type)
    v.write("data", "precious")
    put_away(v)


@pytest.mark.parametrize("lacking", NODE_CAPABILITIES)
def test_each_capability_of_the_page_is_needed(shared, lacking):
    act, message = FAILS[lacking]
    v = shared(set(NODE_CAPABILITIES) - {lacking})
    with pytest.raises(Exception, match=message):
        act(v)
    put_away(v)
