"""Who may write to a shared disk: two nodes with a plug-in each, in one guest, whose kernel's SCSI target keeps the
reservations. For the disk they are two VMs: each has a controller of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from cluster.waiting import until
from integration.csi import block
from integration.node.cloud_side import CloudSide
from integration.node.failover import FailoverSide
from integration.node.machine import SMALLEST_EXT4, SMALLEST_XFS
from integration.node.plugin import HEALTH_PORT, until_done
from integration.node.volume import Code, refused, wish

from .disks import Controller
from .guest import Guest
from .node import GuestVolume, Node, Plugin
from .test_promotion import demote, promote

NODE_B = "node-b"
SCSI = Path(__file__).with_name("scsi.py")
FOREIGN = "0xc0ffee0000000001"


@pytest.fixture
def other(node, apiserver, tmp_path_factory):
    """The second node."""
    machine = Node(Controller(node.guest, 2))
    cloud = CloudSide(apiserver.client(), NODE_B)
    plugin = Plugin(machine, tmp_path_factory.mktemp("node-b"), apiserver.kubeconfig, NODE_B, health_port=HEALTH_PORT + 1)
    plugin.run()
    yield SimpleNamespace(machine=machine, cloud=cloud, plugin=plugin)
    plugin.close()
    machine.controller.remove()


@pytest.fixture
def shared(node, plugin, cloud, other):
    """shared(fs_type, ...parameters): a disk that both have, a's as the primary, b's as a replica."""

    def make(size: int = SMALLEST_EXT4, **parameters: str) -> tuple[GuestVolume, GuestVolume]:
        disk = node.disk("shared", size)
        a = GuestVolume(plugin, cloud, "shared", disk, lun=1)
        b = GuestVolume(other.plugin, other.cloud, "shared", disk, lun=2)
        other.machine.attach(disk, b.lun)
        other.cloud.publish(b.name)
        a.attach(parameters={"maxShares": "2", **parameters})
        demote(b)
        return a, b

    return make


def device(v: GuestVolume) -> str:
    return v.plugin.machine.controller.device(v.lun)


def reserved(v: GuestVolume) -> tuple[list[str], str]:
    """What the disk says: the keys of those who have registered, and whose it is."""
    keys, _, holder = v.guest.run("python3", SCSI, device(v), "show").partition(",")
    return keys.split(), holder.strip()


def key_on_record(v: GuestVolume) -> str:
    held, key, *_ = v.cloud.fence(v.name).split()
    assert held == "held"
    return key


def raw_write(v: GuestVolume) -> bool:
    """Past its file system, at its end; whether the disk takes it."""
    at = v.disk.size // 4096 - 1
    command = f"dd if=/dev/zero of={device(v)} bs=4096 count=1 seek={at} oflag=direct conv=notrunc 2>&1"
    return v.guest.try_to_run("sh", "-c", command)[0] == 0


def use(v: GuestVolume, capability: dict) -> None:
    v.stage(capability)
    v.cloud.take_over(v.name)
    v.publish(capability)


def put_away(v: GuestVolume) -> None:
    v.unpublish()
    v.unstage()


@pytest.mark.parametrize(("fs_type", "size"), [("ext4", SMALLEST_EXT4), ("xfs", SMALLEST_XFS)])
def test_a_former_primary_cannot_write(shared, fs_type, size):
    """It is alive, has the file system mounted, and has not heard that another node has the role."""
    a, b = shared(size)
    capability = wish(fs_type)
    use(a, capability)
    key = key_on_record(a)
    assert reserved(b) == ([key], key)
    assert raw_write(a) and not raw_write(b), "a replica only reads"
    a.write("before", "of a")
    b.plugin.machine.detach(b.lun)
    b.plugin.machine.attach(b.disk, b.lun)
    assert not raw_write(b), "nor does one that has it since"
    assert b.guest.try_to_run("dd", f"if={device(b)}", "of=/dev/null", "bs=1M", "count=1")[0] == 0

    demote(a)
    promote(b)
    use(b, capability)
    own = key_on_record(b)
    assert reserved(b) == ([own], own) and own != key and own[:10] == key[:10]
    assert b.read("before") == "of a"
    assert raw_write(b) and not raw_write(a)
    assert a.guest.try_to_run("sh", "-c", f"echo late >{a.target}/late && sync {a.target}/late")[0] != 0
    b.write("after", "of b")
    a.unpublish()
    until_done(a.unstage)  # the first time it says that data is lost
    assert reserved(b) == ([own], own)
    put_away(b)
    assert reserved(b) == ([own], own), "a may have it mounted still, for all that b knows"
    assert b.cloud.fence(b.name) == f"held {own} from {key}"
    use(b, capability)
    assert b.guest.run("ls", b.target).split() == ["after", "before", *(["lost+found"] if fs_type == "ext4" else [])]
    put_away(b)


@pytest.mark.parametrize("capability", [wish(flags=["ro"]), wish(mode="SINGLE_NODE_READER_ONLY")], ids=["ro", "mode"])
def test_who_mounts_read_only_keeps_the_former_primary_out(shared, capability):
    """That one has the file system mounted, with a journal that the kernel replays whatever the mount is for."""
    a, b = shared()
    use(a, wish())
    a.write("before", "of a")
    demote(a)
    promote(b)
    b.stage(capability)
    b.publish(capability)
    own = key_on_record(b)
    assert reserved(b) == ([own], own) and not raw_write(a)
    assert b.read("before") == "of a"
    a.unpublish()
    until_done(a.unstage)  # the first time it says that data is lost
    put_away(b)


def test_a_former_primary_that_was_idle_stays_out(shared):
    """Nothing that it wrote was refused, so it knows nothing; and the new primary has put the volume away."""
    a, b = shared()
    use(a, wish())
    a.write("before", "of a")
    demote(a)
    promote(b)
    use(b, wish())
    b.write("after", "of b")
    put_away(b)
    late = a.guest.try_to_run("sh", "-c", f"echo late >{a.target}/late && sync {a.target}/late")[0] == 0
    a.unpublish()
    until_done(a.unstage)
    use(b, wish())
    found = b.guest.run("ls", b.target).split()
    put_away(b)
    assert not late and "after" in found, found


def test_a_former_primary_whose_successor_is_gone_stays_out(shared):
    """As when its machine stood still from before it was preempted until the other one was deleted."""
    a, b = shared()
    use(a, wish())
    a.write("before", "of a")
    key = key_on_record(a)
    for v, own in ((b, FOREIGN), (a, "0"), (b, "0")):  # of b's the disk's generation shows that there was somebody
        v.guest.run("python3", SCSI, device(v), "register", own)
    assert reserved(b) == ([], "")
    until(lambda: a.cloud.fence(a.name) == f"lost {key}", "a notices")
    assert a.guest.try_to_run("sh", "-c", f"echo late >{a.target}/late && sync {a.target}/late")[0] != 0
    a.unpublish()
    until_done(a.unstage, seconds=10)  # the first time it says that data is lost
    use(a, wish())
    assert a.read("before") == "of a"
    put_away(a)


def fall_behind(a: GuestVolume, b: GuestVolume, is_gone: bool) -> None:
    """The role goes and comes back while a's plug-in is not running, and a still has what was mounted before."""
    use(a, wish())
    a.write("before", "of a")
    a.plugin.kill()
    demote(a)
    promote(b)
    use(b, wish())
    b.write("after", "of b")
    put_away(b)
    demote(b)
    if is_gone:
        b.guest.run("python3", SCSI, device(b), "register", "0")
    promote(a)
    a.plugin.run()


@contextmanager
def without_writeback(guest: Guest) -> Iterator[None]:
    """Its kernel writes what it has in its caches when it is asked to, and not after a while."""
    setting = "/proc/sys/vm/dirty_writeback_centisecs"
    usual = guest.shell(f"cat {setting}; echo 0 >{setting}").strip()
    yield
    guest.shell(f"echo {usual} >{setting}")


@pytest.mark.parametrize("is_gone", (False, True), ids=["the other keeps its fence", "the other is gone"])
def test_a_mount_from_before_the_role_went_is_not_staged_when_it_comes_back(shared, is_gone):
    a, b = shared()
    with without_writeback(a.guest):  # until the plug-in is there nothing else keeps it from that if b is gone
        fall_behind(a, b, is_gone)
        failure = refused(a.stage)
    assert failure.code() == Code.FAILED_PRECONDITION
    assert "it is mounted anew when no pod has it" in failure.details()
    assert a.guest.try_to_run("sh", "-c", f"echo late >{a.target}/late && sync {a.target}/late")[0] != 0
    a.unpublish()
    until_done(a.stage, seconds=10)  # the first time it says that data is lost
    own = key_on_record(a)
    assert reserved(b) == ([own], own)
    a.publish()
    assert a.read("before") == "of a" and a.read("after") == "of b"
    a.write("late", "of a")
    put_away(a)


def test_a_raw_volume_from_before_the_role_went_is_staged_anew(shared):
    a, b = shared()
    use(a, block())
    a.unpublish()
    a.plugin.kill()
    demote(a)
    promote(b)
    use(b, block())
    put_away(b)
    demote(b)
    promote(a)
    a.plugin.run()
    until_done(a.stage, block(), seconds=10)
    assert reserved(b)[1] == key_on_record(a) and raw_write(a)
    a.unstage()


def test_a_disk_that_has_forgotten_the_fence_of_what_is_in_use(shared, apiserver):
    """As one that was switched off: its reservations begin anew, and who has had the disk since cannot be told."""
    a, b = shared()
    use(a, wish())
    a.write("before", "of a")
    key = key_on_record(a)
    FailoverSide(apiserver.client(), a.cloud).note(a.name, fence=f"held {key} generation 4000000000")
    a.guest.run("python3", SCSI, device(a), "register", "0")
    until(lambda: "does not know the fence any more" in refused(a.stage).details(), "the plug-in knows of the note")
    a.write("during", "of a")
    put_away(a)
    use(a, wish())
    assert reserved(b)[1] == key_on_record(a) and a.read("during") == "of a"
    put_away(a)


def test_one_that_was_given_up_in_good_order_leaves_nothing(shared):
    a, b = shared()
    use(a, wish())
    put_away(a)
    assert reserved(b) == ([], "") and a.cloud.fence(a.name) is None
    demote(a)
    promote(b)
    use(b, wish())
    assert b.cloud.fence(b.name) == f"held {key_on_record(b)}"
    put_away(b)
    assert reserved(b) == ([], "") and b.cloud.fence(b.name) is None


def test_one_that_goes_while_a_file_system_is_checked(shared):
    """What only mounting shows is checked, and mounted again: not by the fence that there was at first."""
    a, b = shared()
    use(a, wish())
    put_away(a)
    a.guest.run("debugfs", "-w", "-R", "zap_block -f <8> -p 0 0", device(a))
    e2fsck, folder = a.guest.run("which", "e2fsck").strip(), a.plugin.folder
    a.guest.shell(f"""
        cp {e2fsck} {folder}/real
        printf '%s\\n' '#!/bin/sh' 'touch {folder}/begun' 'until [ -e {folder}/go ]; do sleep 0.1; done' \
            'exec {folder}/real "$@"' >{folder}/slow
        chmod 700 {folder}/slow
        mount --bind {folder}/slow {e2fsck}""")
    try:
        staging = a.plugin.later(refused, a.stage, wish())
        until(lambda: a.guest.try_to_run("test", "-e", folder / "begun")[0] == 0, "the check")
        a.guest.run("python3", SCSI, device(a), "register", "0")
        assert reserved(b) == ([], "")
        a.guest.run("touch", folder / "go")
        failure = staging.result(60)
    finally:
        a.guest.run("umount", e2fsck)
    assert failure.code() == Code.FAILED_PRECONDITION and "another node has taken the disk over" in failure.details()
    assert a.plugin.machine.mounted(a.staging) == ""
    use(a, wish())
    put_away(a)


def test_a_raw_volume(shared):
    a, b = shared()
    use(a, block())
    assert raw_write(a) and not raw_write(b)
    demote(a)
    promote(b)
    use(b, block())
    assert raw_write(b) and not raw_write(a)
    put_away(a)
    put_away(b)
    assert reserved(b)[1] == key_on_record(b)


def test_one_that_comes_again_keeps_it(shared):
    """kubelet stages what is staged already; the plug-in ends and begins again."""
    a, b = shared()
    use(a, wish())
    found = reserved(b)
    a.stage()
    assert a.plugin.stop() == 0
    a.plugin.run()
    a.stage()
    assert reserved(b) == found
    put_away(a)
    assert reserved(b) == ([], "")


def test_keys_that_were_left_behind(shared):
    """One of this machine, from before it was off; one of a machine that died with the disk, and still has it."""
    a, b = shared()
    use(a, wish())
    key = key_on_record(a)
    put_away(a)
    for v, left in ((a, "00000001"), (b, "00000002")):
        a.guest.run("python3", SCSI, device(v), "register", key[:10] + left)
    use(a, wish())
    assert reserved(b) == ([key], key)
    put_away(a)


def test_somebody_elses_reservation(shared):
    """A cluster of Windows machines, or another Kubernetes cluster: it stays theirs."""
    a, b = shared()
    a.guest.run("python3", SCSI, device(b), "register", FOREIGN)
    failure = refused(a.stage)
    assert failure.code() == Code.FAILED_PRECONDITION
    assert FOREIGN in failure.details() and "none of this volume's" in failure.details()
    assert reserved(b) == ([FOREIGN], "")
    assert a.plugin.machine.mounted(a.staging) == ""
    a.guest.run("python3", SCSI, device(b), "register", "0x0")
    use(a, wish())
    put_away(a)


@pytest.mark.parametrize("fencing", ("none", "guest"))
def test_who_wants_none_has_none(shared, fencing):
    a, b = shared(fencing=fencing)
    a.guest.run("python3", SCSI, device(b), "register", FOREIGN)
    use(a, wish())
    assert reserved(b) == ([FOREIGN], "") and a.cloud.fence(a.name) is None
    put_away(a)


def test_a_disk_of_one_node_has_none(shared):
    a, b = shared(maxShares="1")
    use(a, wish())
    assert reserved(b) == ([], "") and a.cloud.fence(a.name) is None
    put_away(a)
