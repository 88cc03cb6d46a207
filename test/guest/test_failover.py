"""A primary that is silent, though it is alive, has the volume mounted and writes: its replica's node has the disk refuse
that, on the controller's request, which the test makes. Two nodes in one guest, as in test_fence.py."""

from types import SimpleNamespace

import pytest
from cluster.waiting import until
from integration.csi import block
from integration.node.failover import FailoverSide
from integration.node.machine import SMALLEST_EXT4
from integration.node.plugin import until_done
from integration.node.test_stats import is_well, trouble
from integration.node.volume import Code, refused, wish

from .node import GuestVolume
from .test_fence import (SCSI, device, key_on_record, other, put_away, raw_write, reserved, shared,  # noqa: F401 (fixtures)
                         use)
from .test_promotion import demote, promote

FLAG = "--node-lease-duration=2s"
TIME = "2026-01-01T00:00:00.000000Z"
WRITES, RAW_WRITES, PART = "/run/writes", "/run/raw-writes", "/run/part"
SUPERBLOCK = 2048  # where ext4's ends; written when it is unmounted, whatever was before


@pytest.fixture
def pair(shared, apiserver):  # noqa: F811
    """a: the primary, in use; b: the replica. Both have a Lease when they have a reason."""
    a, b = shared(SMALLEST_EXT4)
    sides = []
    for v in (a, b):
        assert v.plugin.stop() == 0
        v.plugin.run(FLAG)
        sides.append(FailoverSide(apiserver.client(), v.cloud))
        sides[-1].clear()
        sides[-1].want(v.name)
    use(a, wish())
    yield SimpleNamespace(a=a, b=b, of_a=sides[0], of_b=sides[1], key=key_on_record(a))
    for v in (a, b):
        if v.plugin.machine.mounted(v.staging):
            v.unpublish()
            until_done(v.unstage)  # the first time it may say that data is lost
    for side in sides:
        side.clear()


def writer(v: GuestVolume):
    """Writes to the volume's file system and past it, without end, and counts."""
    at = v.disk.size // 4096 - 1
    return v.guest.started("sh", "-c", f"""
        n=0
        while :; do
            n=$((n + 1))
            echo $n >{v.target}/file && sync {v.target}/file
            yes $n | head -c 4096 | dd of={device(v)} bs=4096 count=1 seek={at} oflag=direct conv=notrunc iflag=fullblock
            echo $n >{WRITES}.new && mv {WRITES}.new {WRITES}
        done 2>/dev/null""")


# A process that has a raw volume open, with the kernel's cache and without, and goes on whatever it is told: attempts, and
# how many were taken, which they are once they are on the disk.
RAW_WRITER = """
import mmap, os, sys
taken, page = 0, mmap.mmap(-1, 4096)
files = [os.open(sys.argv[1], os.O_RDWR | flag) for flag in (0, os.O_DIRECT)]
for attempt in range(1, 1 << 30):
    page[:8], fd = attempt.to_bytes(8, "big"), files[attempt % 2]
    try:
        os.pwrite(fd, page, 4096 * (attempt % 2))
        os.fsync(fd)
        taken += 1
    except OSError:
        pass
    with open(sys.argv[2] + ".new", "w") as file:
        file.write(f"{attempt} {taken}")
    os.rename(sys.argv[2] + ".new", sys.argv[2])
"""


def raw_writer(v: GuestVolume):
    return v.guest.started("python3", "-c", RAW_WRITER, v.target, RAW_WRITES)


def raw_writes(v: GuestVolume) -> tuple[int, int]:
    """Attempts of the writer, and how many the disk has taken."""
    status, text = v.guest.try_to_run("cat", RAW_WRITES)
    attempts, taken = text.split() if status == 0 else (0, 0)
    return int(attempts), int(taken)


def takes_all(counted: tuple[int, int]) -> bool:
    attempts, taken = counted
    return attempts == taken >= 4


def writes(v: GuestVolume) -> int:
    status, text = v.guest.try_to_run("cat", WRITES)
    return int(text) if status == 0 else 0


def content(v: GuestVolume, but: int = 0) -> str:
    """Of the disk, but for so many bytes at its beginning; not of what a kernel keeps of it."""
    return v.guest.run("sh", "-c", f"dd if={device(v)} bs=1M iflag=direct 2>/dev/null | tail -c +{but + 1} | sha256sum")


def counted(v: GuestVolume, series: str) -> float:
    return v.plugin.metrics().get(series, 0)


def ask(pair: SimpleNamespace, key: str, time: str = TIME) -> str:
    pair.of_b.note(pair.b.name, request=f"{key} {time}")
    return f"{key} {time}"


def preempt(pair: SimpleNamespace) -> str:
    """b's key."""
    request = ask(pair, pair.key)
    until(lambda: pair.of_b.preempted(pair.b.name) == request, "the answer")
    return key_on_record(pair.b)


def is_refused(pair: SimpleNamespace, why: str) -> None:
    before = reserved(pair.b)
    until(lambda: why in pair.b.plugin.log.read_text() or pair.of_b.preempted(pair.b.name), why)
    assert counted(pair.b, 'azuredisk_preempt_requests_total{result="refused"}') >= 1
    assert pair.of_b.preempted(pair.b.name) is None and pair.b.cloud.fence(pair.b.name) is None
    assert reserved(pair.b) == before


@pytest.mark.parametrize("promoted", ("its node", "another node"))
def test_not_one_write_of_a_silent_primary_lands(pair, promoted):
    a, b = pair.a, pair.b
    until(pair.of_a.holder, "a's Lease")
    a.write("before", "of a")
    with writer(a) as process:
        process.until(lambda: writes(a) >= 3, "writes")
        assert raw_write(a) and is_well(a)
        own = preempt(pair)
        assert reserved(b) == ([own], own) and own != pair.key and own[:10] == pair.key[:10]
        found, done = content(b), writes(a)
        process.until(lambda: writes(a) >= done + 5, "attempts to write")
        assert content(b) == found and not raw_write(a)
        process.until(lambda: a.cloud.fence(a.name) == f"lost {pair.key}", "a notices")
    assert counted(a, 'azuredisk_fences_total{result="lost"}') == 1
    until(lambda: a.plugin.log.read_text().count("the fence is lost") == 1, "that is told once")
    assert "another node has taken over the disk" in trouble(a)
    until(lambda: pair.of_a.holder() == "", "a's Lease is given up: it has no fence any more")
    assert pair.of_b.lease() is None, "b is no primary yet"
    assert counted(b, 'azuredisk_preempt_requests_total{result="done"}') == 1

    (promote_its_node if promoted == "its node" else promote_another_node)(pair, own)


def promote_its_node(pair: SimpleNamespace, own: str) -> None:
    """It finds its fence in place."""
    a, b = pair.a, pair.b
    demote(a)
    promote(b)
    until(pair.of_b.holder, "b's Lease: it is the primary, and has the fence")
    use(b, wish())
    assert reserved(b) == ([own], own) and key_on_record(b) == own
    assert b.read("before") == "of a"
    assert raw_write(b) and not raw_write(a)
    a.unpublish()
    until_done(a.unstage)  # the first time it says that data is lost
    assert reserved(b) == ([own], own)
    put_away(b)
    assert reserved(b) == ([own], own) and b.cloud.fence(b.name) == f"held {own} from {pair.key}"


def promote_another_node(pair: SimpleNamespace, own: str) -> None:
    """That is a, which has come back: it takes the fence from the replica's node, which has lost nothing by that."""
    a, b = pair.a, pair.b
    a.unpublish()
    until_done(a.unstage)
    use(a, wish())
    assert reserved(b) == ([pair.key], pair.key) and key_on_record(a) == pair.key
    assert raw_write(a) and not raw_write(b)
    until(lambda: b.cloud.fence(b.name) == f"lost {own}", "b notices")
    assert counted(b, 'azuredisk_fences_total{result="lost"}') == 0
    assert "the fence is lost" not in b.plugin.log.read_text()
    assert reserved(b) == ([pair.key], pair.key), "the request, which is answered, is not carried out again"
    put_away(a)
    assert reserved(b) == ([pair.key], pair.key)


def test_a_primary_that_has_lost_its_fence_writes_nothing_even_if_nobody_has_it(pair):
    """It was idle, so its kernel has not tried yet; and the VM that has the fence loses the disk. The API server has
    nothing to do with it."""
    a, b = pair.a, pair.b
    a.write("before", "of a")
    a.guest.run("sh", "-c", f"touch {PART} && mount --bind {a.target}/before {PART}")  # as a subPath
    preempt(pair)
    until(lambda: a.cloud.fence(a.name) == f"lost {pair.key}", "a notices")
    b.guest.run("python3", SCSI, device(b), "register", "0")
    assert reserved(b) == ([], "")
    until(lambda: raw_write(a), "the disk takes what a writes")
    found = content(b, but=SUPERBLOCK)
    assert a.guest.try_to_run("sh", "-c", f"echo late >{a.target}/late && sync {a.target}/late")[0] != 0
    assert "another node has taken over the disk" in trouble(a)
    a.guest.run("umount", PART)
    a.unpublish()
    until_done(a.unstage)  # the first time it says that data is lost
    assert content(b, but=SUPERBLOCK) == found


def test_a_file_system_that_cannot_be_ended_at_first_is_when_it_can(pair):
    """At the path of its newest mount there is something else, as in the moment in which that goes."""
    a, b = pair.a, pair.b
    a.guest.run("mount", "-t", "tmpfs", "covers", a.target)
    preempt(pair)
    until(lambda: a.cloud.fence(a.name) == f"lost {pair.key}", "a notices")
    until(lambda: "the use of the disk could not be ended" in a.plugin.log.read_text(), "a says so")
    a.guest.run("touch", a.target / "of-somebody-else")
    b.guest.run("python3", SCSI, device(b), "register", "0")
    a.guest.run("umount", a.target)
    late = f"echo late >{a.target}/late && sync {a.target}/late"
    until(lambda: a.guest.try_to_run("sh", "-c", late)[0] != 0, "what a writes is refused")
    assert raw_write(a), "though not by the disk"
    a.unpublish()
    until_done(a.unstage)  # the first time it says that data is lost


def test_a_node_whose_use_could_not_be_ended_does_not_get_the_fence_back(pair):
    """It is a replica's by now; its mount would write again."""
    a, b = pair.a, pair.b
    a.guest.run("mount", "-t", "tmpfs", "covers", a.target)
    own = preempt(pair)
    until(lambda: a.cloud.fence(a.name) == f"lost {pair.key}", "a notices")
    until(lambda: "the use of the disk could not be ended" in a.plugin.log.read_text(), "a says so")
    demote(a)
    pair.of_a.note(a.name, request=f"{own} {TIME}")
    until(lambda: "is in use on this node" in a.plugin.log.read_text() or pair.of_a.preempted(a.name), "an attempt")
    assert pair.of_a.preempted(a.name) is None and reserved(b) == ([own], own) and not raw_write(a)
    pair.of_a.note(a.name, request=None)
    b.guest.run("python3", SCSI, device(b), "register", "0")
    a.guest.run("umount", a.target)
    late = f"echo late >{a.target}/late && sync {a.target}/late"
    until(lambda: a.guest.try_to_run("sh", "-c", late)[0] != 0, "what a writes is refused")
    assert raw_write(a), "though not by the disk"
    a.unpublish()
    until_done(a.unstage)  # the first time it says that data is lost


def test_the_generation_tells_a_fence_that_was_taken_back(pair):
    """By the key that it was before."""
    a = pair.a
    before = a.cloud.fence_generation(a.name)
    preempt(pair)
    until(lambda: a.cloud.fence(a.name) == f"lost {pair.key}", "a notices")
    assert before and a.cloud.fence_generation(a.name) == before
    a.unpublish()
    until_done(a.unstage)
    use(a, wish())
    assert key_on_record(a) == pair.key and a.cloud.fence_generation(a.name) > before
    put_away(a)


def test_the_next_pod_gets_it_mounted_anew(pair):
    """Kubelet unstages nothing between pods that follow one another. While a pod has the mount that writes nothing no other
    gets one."""
    a = pair.a
    following = a.target.with_name("following")
    a.write("before", "of a")
    preempt(pair)
    until(lambda: a.cloud.fence(a.name) == f"lost {pair.key}", "a notices")
    failure = refused(a.publish, wish(), following)
    assert failure.code() == Code.FAILED_PRECONDITION
    assert "another node has taken over the disk" in failure.details() and str(a.target) in failure.details()
    assert a.plugin.machine.mounted(a.staging), "for the pod that has it nothing changes"
    a.unpublish()
    until_done(a.publish, wish(), following)  # the first time it says that data is lost
    assert key_on_record(a) == pair.key and reserved(a) == ([pair.key], pair.key)
    assert a.guest.run("cat", following / "before") == "of a"
    a.guest.shell(f"echo after >{following}/after; sync {following}/after")
    until(lambda: is_well(a, following), "NodeGetVolumeStats finds nothing wrong")
    a.unpublish(following)
    a.unstage()


def test_one_that_comes_again_goes_on(pair):
    """The plug-in ended after the disk had confirmed it, and before it could say so."""
    own = preempt(pair)
    assert pair.b.plugin.stop() == 0
    pair.of_b.note(pair.b.name, preempted=None, fence=None)
    pair.b.plugin.run(FLAG)
    until(lambda: pair.of_b.preempted(pair.b.name) == f"{pair.key} {TIME}", "the answer")
    assert key_on_record(pair.b) == own and reserved(pair.b) == ([own], own)


def test_a_node_that_was_promoted_meanwhile_keeps_the_fence(pair):
    """The request is about another key than that of the node that has the fence."""
    ask(pair, pair.key[:10] + "00000001")
    is_refused(pair, f"already that of key {pair.key}, another node's of this volume")
    assert raw_write(pair.a)


def test_another_volumes_key(pair):
    ask(pair, f"0xc0ffee00{pair.key[10:]}")
    is_refused(pair, "none of this volume's")
    assert raw_write(pair.a)


def test_somebody_elses_key_at_the_disk(pair):
    b = pair.b
    b.guest.run("python3", SCSI, device(b), "register", "0xc0ffee0000000001")
    ask(pair, pair.key)
    is_refused(pair, "none of this volume's, is registered at the disk")
    assert raw_write(pair.a)
    b.guest.run("python3", SCSI, device(b), "register", "0x0")


def test_a_disk_that_knows_no_key_is_proven_by_its_file_system(pair):
    """The former primary's machine is off, and the disk has forgotten it."""
    put_away(pair.a)
    assert reserved(pair.b) == ([], "")
    own = preempt(pair)
    assert reserved(pair.b) == ([own], own)


def test_another_disk_at_the_replicas_place(pair, node):
    """Of the same size: what is done to it would prove nothing."""
    a, b = pair.a, pair.b
    wrong = node.disk("wrong", SMALLEST_EXT4)
    b.plugin.machine.detach(b.lun)
    b.plugin.machine.attach(wrong, b.lun)
    ask(pair, pair.key)
    is_refused(pair, "wrong disk or lost data")
    assert reserved(b) == ([], "") and raw_write(a)


def test_a_raw_volume_that_has_lost_its_fence_is_written_to_by_nobody(pair):
    """As above; its pod has it open. There is no file system to be shut down."""
    a, b = pair.a, pair.b
    put_away(a)
    use(a, block())
    following = a.target.with_name("following")
    with raw_writer(a) as process:
        process.until(lambda: takes_all(raw_writes(a)), "writes of both kinds")
        preempt(pair)
        process.until(lambda: a.cloud.fence(a.name) == f"lost {pair.key}", "a notices")
        b.guest.run("python3", SCSI, device(b), "register", "0")
        assert reserved(b) == ([], "") and raw_write(b), "the disk takes what anybody writes"
        found, (attempts, taken) = content(b), raw_writes(a)
        process.until(lambda: raw_writes(a)[0] >= attempts + 50, "attempts to write")
        assert content(b) == found and raw_writes(a)[1] == taken and not raw_write(a)
        failure = refused(a.publish, block(), following)
        assert failure.code() == Code.FAILED_PRECONDITION and str(a.target) in failure.details()
        attempts, _ = raw_writes(a)
        failure = refused(a.stage, block())  # as kubelet does when it has started anew
        assert failure.code() == Code.FAILED_PRECONDITION and str(a.target) in failure.details()
        process.until(lambda: raw_writes(a)[0] >= attempts + 50, "attempts to write")
        assert content(b) == found and reserved(b) == ([], "") and a.cloud.fence(a.name) == f"lost {pair.key}"
    a.unpublish()
    until_done(a.publish, block(), following)
    assert key_on_record(a) == pair.key and reserved(a) == ([pair.key], pair.key)
    assert raw_write(a)
    a.unpublish(following)
    a.unstage()
