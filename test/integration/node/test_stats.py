"""NodeGetVolumeStats: how full volumes are, as the kernel says it, whose they are, and what is wrong
with those that are not well. A disk that hangs is one that nobody comes back from opening: a FIFO."""

import fcntl
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import grpc
import pytest
from cluster.waiting import until

from ..csi import block
from ..placement import disk_id
from .machine import MIB, SMALLEST_EXT4, SMALLEST_XFS
from .plugin import NodePlugin, until_done
from .volume import Code, Volume, refused, refused_in_time, wish

LOOP_SET_CAPACITY = 0x4C07
BY_LUN = "/dev/disk/azure/data/by-lun"
BYTES, INODES = 1, 2


def stats(volume: Volume, path=None, timeout: float = 30):
    return volume.plugin.csi.call(
        "Node/NodeGetVolumeStats", timeout, volume_id=volume.id, volume_path=str(path or volume.target)
    )


def amounts(answer) -> dict[int, tuple[int, int, int]]:
    return {usage.unit: (usage.total, usage.used, usage.available) for usage in answer.usage}


def is_well(volume: Volume, path=None) -> bool:
    return not stats(volume, path).volume_condition.abnormal


def trouble(volume: Volume, path=None) -> str:
    condition = stats(volume, path).volume_condition
    assert condition.abnormal, condition
    return condition.message


def published(volume: Volume, capability=None, **kwargs) -> Volume:
    volume.stage(capability)
    volume.publish(capability, **kwargs)
    return volume


def put_away(volume: Volume) -> None:
    volume.unpublish()
    volume.unstage()


def put_away_broken(volume: Volume) -> None:
    """The first attempt may say that data is lost."""
    volume.unpublish()
    until_done(volume.unstage)


# ---- how full ----


@pytest.mark.parametrize(("fs_type", "size"), [("ext4", SMALLEST_EXT4), ("xfs", SMALLEST_XFS)])
def test_file_systems(volume, plugin, fs_type, size):
    v = published(volume(size=size), wish(fs_type))
    for path in (v.target, v.staging):
        seen = plugin.machine.path(path)
        for i in range(2):
            (seen / f"file-{path.name}-{i}").write_bytes(os.urandom(3 * MIB))
            os.sync()
            answer, found = stats(v, path), os.statvfs(seen)
            assert amounts(answer) == {
                BYTES: (
                    found.f_blocks * found.f_frsize,
                    (found.f_blocks - found.f_bfree) * found.f_frsize,
                    found.f_bavail * found.f_frsize,
                ),
                INODES: (found.f_files, found.f_files - found.f_ffree, found.f_favail),
            }
            assert not answer.volume_condition.abnormal and answer.volume_condition.message
    put_away(v)


def test_block(volume):
    v = published(volume(size=4 * MIB), block())
    for path in (v.target, v.staging):
        answer = stats(v, path)
        assert amounts(answer) == {BYTES: (4 * MIB, 0, 0)}
        assert not answer.volume_condition.abnormal
    put_away(v)


# ---- whose it is ----


def test_bad_requests(volume, plugin):
    v = volume()
    call, path = plugin.csi.call, {"volume_path": str(v.target)}
    for fields, code, message in [
        (path, Code.INVALID_ARGUMENT, "volume_id is missing"),
        ({"volume_id": v.id}, Code.INVALID_ARGUMENT, "volume_path is missing"),
        ({"volume_id": v.id, "volume_path": "some/path"}, Code.NOT_FOUND, "nothing is mounted at some/path"),
        ({"volume_id": disk_id("unknown")} | path, Code.NOT_FOUND, "is not attached to node"),
        ({"volume_id": v.id} | path, Code.NOT_FOUND, f"nothing is mounted at {v.target}"),
    ]:
        failure = refused(call, "Node/NodeGetVolumeStats", **fields)
        assert failure.code() == code and message in failure.details(), failure


def test_what_is_mounted_is_of_another(volume, plugin):
    """Another volume's file system, device, or anything else, at a path where the volume was, too."""
    v, other, raw = volume("own"), volume("other", lun=1), volume("raw", 4 * MIB, lun=2)
    published(other)
    published(raw, block())
    published(v)
    assert is_well(v) and is_well(other) and is_well(raw)
    for path in (other.target, other.staging, raw.target, raw.staging):
        failure = refused(stats, v, path)
        assert failure.code() == Code.NOT_FOUND and "is not the volume" in failure.details()
    assert refused(stats, raw, v.target).code() == Code.NOT_FOUND
    assert refused(stats, v, v.target / "lost+found").code() == Code.NOT_FOUND
    plugin.machine.run("mount", "-t", "tmpfs", "stranger", str(v.target))
    failure = refused(stats, v)
    assert failure.code() == Code.NOT_FOUND and "stranger is mounted there" in failure.details()
    plugin.machine.run("umount", str(v.target))
    assert is_well(v)
    for one in (v, other, raw):
        put_away(one)
    assert refused(stats, v).code() == Code.NOT_FOUND


@pytest.mark.parametrize("capability", [wish(), block()], ids=["ext4", "block"])
def test_volumes_that_come_and_go(volume, capability):
    """Whoever looks is in nobody's way, and sees the volume or nothing."""
    v, ended = volume(), Event()

    def looks(path) -> set[str]:
        seen = set()
        while not ended.is_set():
            try:
                seen.add(stats(v, path).volume_condition.message)
            except grpc.RpcError as failure:
                seen.add(failure.code().name)
        return seen

    with ThreadPoolExecutor(4) as pool:
        lookers = [pool.submit(looks, path) for path in (v.target, v.staging) * 2]
        try:
            for _ in range(50):
                published(v, capability)
                put_away(v)
        finally:
            ended.set()
    seen = set().union(*(looker.result() for looker in lookers))
    assert seen <= {"no trouble found", "NOT_FOUND", "ABORTED"}
    assert {"no trouble found", "NOT_FOUND"} <= seen


# ---- what is wrong ----


def test_read_only_by_wish(volume):
    v = published(volume(), readonly=True)
    assert is_well(v) and is_well(v, v.staging)
    put_away(v)
    capability = wish(flags=["ro"])
    published(v, capability)
    assert is_well(v) and is_well(v, v.staging)
    put_away(v)


def make_error(volume: Volume) -> None:
    """As if the kernel had found one in the file system; a moment later it has it on record."""
    folder = Path("/sys/fs/ext4", os.path.basename(volume.disk.path))
    (folder / "trigger_fs_error").write_text("1")
    until(lambda: (folder / "errors_count").read_text() == "1\n", "the error on record")


@pytest.mark.parametrize("readonly", [False, True])
def test_read_only_by_error(volume, readonly):
    v = published(volume(), wish(flags=["errors=remount-ro"]), readonly=readonly)
    assert is_well(v)
    make_error(v)
    for path in (v.target, v.staging):
        message = trouble(v, path)
        assert f"the ext4 file system of {v.disk.path} was mounted for writing and has become read-only" in message
        assert "1 errors on record" in message and "delete the pods" in message
    assert set(amounts(stats(v))) == {BYTES, INODES}
    put_away_broken(v)


def test_read_only_as_older_kernels_make_it(volume, plugin):
    v = published(volume(size=SMALLEST_XFS), wish("xfs"))
    assert is_well(v)
    plugin.machine.run("mount", "-o", "remount,ro", str(v.target))
    assert "has become read-only" in trouble(v)
    plugin.machine.run("mount", "-o", "remount,rw", str(v.target))
    assert is_well(v)
    put_away(v)


def test_errors_that_are_passed_over(volume):
    v = published(volume())
    make_error(v)
    assert f"recorded 1 errors in the ext4 file system of {v.disk.path}" in trouble(v)
    put_away(v)
    published(v)  # which has it checked
    assert is_well(v)
    put_away(v)


@pytest.mark.parametrize(("fs_type", "size"), [("ext4", SMALLEST_EXT4), ("xfs", SMALLEST_XFS)])
def test_shut_down(volume, plugin, fs_type, size):
    v = published(volume(size=size), wish(fs_type))
    assert is_well(v)
    plugin.machine.run("xfs_io", "-x", "-c", "shutdown", str(v.target))
    message = trouble(v)
    assert f"the {fs_type} file system of {v.disk.path}" in message
    assert "has been shut down" in message or "Input/output error" in message
    put_away_broken(v)


def test_the_disk_is_gone(volume, plugin):
    v, raw = published(volume("data")), published(volume("raw", 4 * MIB, lun=1), block())
    assert is_well(v) and is_well(raw)
    for one in (v, raw):
        plugin.machine.detach(one.lun)
        message = trouble(one)
        assert f"the disk is gone: {one.disk.path} is in use, but no disk is at LUN {one.lun}" in message
    assert set(amounts(stats(v))) == {BYTES, INODES} and not amounts(stats(raw))
    # And it came back as another device.
    another = volume("another", lun=2)
    plugin.machine.attach(another.disk, v.lun)
    assert f"the disk at LUN 0 is {another.disk.path} now" in trouble(v)
    plugin.machine.detach(v.lun)
    for one in (v, raw):
        plugin.machine.attach(one.disk, one.lun)
        assert is_well(one)
        put_away(one)


def test_the_disk_has_no_size(volume):
    v = published(volume())
    os.ftruncate(v.disk.image, 0)
    fcntl.ioctl(v.disk.fd, LOOP_SET_CAPACITY)
    assert f"the size of {v.disk.path} is 0" in trouble(v)
    os.ftruncate(v.disk.image, v.disk.size)
    fcntl.ioctl(v.disk.fd, LOOP_SET_CAPACITY)
    put_away_broken(v)


def test_after_a_restart(stopped, cloud, disk_of, volume):
    """Nothing is remembered: what cannot be proven is not said to be the volume's."""
    v = published(volume())
    stopped.stop()
    stopped.machine.detach(v.lun)
    stopped.run()
    failure = refused(stats, v)
    assert failure.code() == Code.NOT_FOUND and "may not be the volume" in failure.details()
    stopped.machine.attach(v.disk, v.lun)
    assert is_well(v)
    put_away(v)


# ---- a disk that hangs ----


class Hanging:
    """The volume's disk; whoever opens it waits until the end."""

    def __init__(self, volume: Volume):
        self.volume, self.machine = volume, volume.plugin.machine
        self.fifo = volume.plugin.folder / f"{volume.name}-hangs"
        os.mkfifo(self.fifo)
        link = self.machine.path(f"{BY_LUN}/{volume.lun}")
        link.unlink()
        os.symlink(self.fifo, link)

    def end(self) -> None:
        """The disk is back: who waits sees something that is no disk, the next one sees it."""
        link = self.machine.path(f"{BY_LUN}/{self.volume.lun}")
        link.unlink()
        os.symlink(self.volume.disk.path, link)
        until(self._let_go, "those who wait for the disk")

    def _let_go(self) -> bool:
        try:
            os.close(os.open(self.fifo, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:  # nobody waits
            return True
        return False


def _threads(plugin: NodePlugin) -> int:
    return len(os.listdir(f"/proc/{plugin.process.pid}/task"))


def test_a_disk_that_hangs(volume, plugin):
    """One look, whoever asks how often; what was seen last is said, and that it is old."""
    v, untouched = published(volume()), published(volume("untouched", lun=1))
    last = amounts(stats(v))
    hanging = [Hanging(v), Hanging(untouched)]
    began = time.monotonic()
    message = trouble(v)
    assert 3 < time.monotonic() - began < 15
    assert "the disk at LUN 0 hangs: it has not answered for" in message
    failure = refused(stats, v, v.staging)
    assert failure.code() == Code.UNAVAILABLE and "hangs" in failure.details()
    until(lambda: "nothing was seen of it" in refused(stats, untouched, timeout=3).details(), "the plug-in says so, in time")
    threads = _threads(plugin)
    for _ in range(50):
        answer = stats(v, timeout=4)  # whoever waited anew would take 5 s
        assert answer.volume_condition.abnormal and amounts(answer) == last
    assert _threads(plugin) < threads + 10, "not one for each call"
    v.unpublish()
    untouched.unpublish()
    refused_in_time(lambda: plugin.unstage(v.id, v.staging, 5), Code.UNAVAILABLE, "has not returned")
    assert plugin.machine.mounts(v.staging) == 1
    for one in hanging:
        one.end()
    v.publish()
    assert is_well(v)
    v.unpublish()
    v.unstage()
    untouched.unstage()


def _seconds(volume: Volume) -> float:
    began = time.monotonic()
    assert is_well(volume)
    return time.monotonic() - began


def test_a_disk_that_hangs_and_many_that_do_not(volume):
    """As many as a VM has LUNs, each asked for more than three times."""
    raw = block()
    made = [volume(f"data-{i}", MIB, lun=i) for i in range(64)]
    with ThreadPoolExecutor(8) as kubelet:
        volumes = list(kubelet.map(lambda v: published(v, raw), made))
    first, second, *_ = volumes
    assert is_well(first)
    hanging = Hanging(first)
    with ThreadPoolExecutor(10) as impatient, ThreadPoolExecutor(8) as kubelet:
        stuck = [impatient.submit(stats, first) for _ in range(10)]
        durations = sorted(kubelet.map(_seconds, volumes[1:] * 4))
        assert durations[-1] < 4, "who waited for the one that hangs would take 5 s"
        assert durations[len(durations) * 9 // 10] < 1, "a busy machine holds up a few of them, no more"
        put_away(second)
        published(second, raw)
        assert all(answer.result().volume_condition.abnormal for answer in stuck)
    hanging.end()
    with ThreadPoolExecutor(8) as kubelet:
        list(kubelet.map(put_away, volumes))


def test_the_program_ends_while_a_disk_hangs(volume, plugin):
    v = published(volume())
    hanging, threads = Hanging(v), _threads(plugin)
    waiting = plugin.later(refused, stats, v)
    until(lambda: _threads(plugin) > threads, "the look")
    began = time.monotonic()
    assert plugin.stop() == 0
    assert time.monotonic() - began < 20
    waiting.result(60)
    hanging.end()
    plugin.run()
    assert is_well(v)
    put_away(v)

