"""Disks that are copies of other ones: of a volume that the driver has copied, or by the user's word."""

import os
import time

import pytest
from cluster.waiting import until

from ..csi import block
from .machine import MIB, SMALLEST_EXT4, SMALLEST_XFS, Disk
from .plugin import until_done
from .slow_program import LoggedFsck
from .test_growth import GROWABLE, size_of
from .volume import Code, Volume, refused, wish

SIZES = {"ext4": SMALLEST_EXT4, "ext3": SMALLEST_EXT4, "ext2": SMALLEST_EXT4, "xfs": SMALLEST_XFS}
OTHER = "617a646b-1111-8111-8111-111111111111"  # of another volume of this driver
FOREIGN = "0e65e0d1-5a3b-4d2e-9d80-6d5a0a1b2c3d"  # a UUID of nobody's volume
WAY_OUT = "set the annotation disk.csi.azure.com/accept-filesystem of its PersistentVolume to "


def uuid_of(disk: Disk) -> str:
    return disk.run("blkid", "-p", "-s", "UUID", "-o", "value").strip()


def write(v: Volume, name: str, text: str) -> None:
    with v.seen(name).open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def in_use(plugin, cloud, disk: Disk, type_: str) -> Volume:
    """A volume whose pod has written something."""
    v = Volume(plugin, cloud, "origin", disk, lun=9).attach()
    v.stage(wish(type_))
    v.publish(wish(type_))
    write(v, "file", "precious")
    return v


def end(v: Volume) -> None:
    v.unpublish()
    v.unstage()


def copy_of(origin: Volume, disk: Disk, name: str = "copy", **status) -> Volume:
    """A volume whose disk is a copy of another one's, as that is now; the controller has made it."""
    disk.copy(origin.disk)
    v = Volume(origin.plugin, origin.cloud, name, disk)
    return v.attach(**{"source": origin.cloud.record(origin.name), **status})


def assert_own(v: Volume, origin: Volume, type_: str) -> None:
    """It has the one UUID that is the volume's, which is on record."""
    assert v.cloud.record(v.name) == f"{type_} {uuid_of(v.disk)}"
    assert uuid_of(v.disk).startswith("617a646b-") and uuid_of(v.disk) != uuid_of(origin.disk)


@pytest.fixture(params=SIZES)
def type_(request) -> str:
    return request.param


def test_next_to_its_origin(plugin, cloud, disk_of, type_):
    """Both are in use on one node: the copy was taken from a disk that was, with a journal to be replayed."""
    origin = in_use(plugin, cloud, disk_of(SIZES[type_]), type_)
    v = copy_of(origin, disk_of(SIZES[type_]))
    if type_ in ("ext4", "ext3"):
        assert "needs_recovery" in v.disk.run("dumpe2fs", "-h")
    v.stage(wish(type_))
    v.publish(wish(type_))
    assert v.seen("file").read_text() == "precious"
    write(v, "file", "the copy's")
    assert origin.seen("file").read_text() == "precious"
    assert plugin.machine.mounts(v.staging) == plugin.machine.mounts(origin.staging) == 1
    assert_own(v, origin, type_)
    assert cloud.running_job(v.name) is None
    end(v)

    v.stage(wish(type_))  # by what is on record now
    v.publish(wish(type_))
    assert v.seen("file").read_text() == "the copy's"
    end(v)
    end(origin)
    proofs = plugin.metrics()
    assert proofs['azuredisk_disk_proofs_total{verdict="copy"}'] == 1


def test_a_copy_of_a_copy(plugin, cloud, disk_of, type_):
    origin = in_use(plugin, cloud, disk_of(SIZES[type_]), type_)
    first = copy_of(origin, disk_of(SIZES[type_]))
    first.stage(wish(type_))
    second = Volume(plugin, cloud, "second", disk_of(SIZES[type_]), lun=1)
    second.disk.copy(first.disk)
    second.attach(source=cloud.record(first.name))
    second.stage(wish(type_))
    second.publish(wish(type_))
    assert second.seen("file").read_text() == "precious"
    assert len({uuid_of(v.disk) for v in (origin, first, second)}) == 3
    end(second)
    first.unstage()
    end(origin)


@pytest.mark.parametrize("formatted", (True, False))
def test_a_copy_of_a_disk_without_a_record(plugin, cloud, disk_of, type_, formatted):
    """It was empty, or just formatted, which nobody had put on record."""
    origin = in_use(plugin, cloud, disk_of(SIZES[type_]), type_)
    v = Volume(plugin, cloud, "copy", disk_of(SIZES[type_])).attach()
    if formatted:
        v.disk.copy(origin.disk)
    cloud.say_possible(v.name, OTHER, uuid_of(origin.disk))
    v.stage(wish(type_))
    v.publish(wish(type_))
    assert v.seen("file").exists() == formatted
    assert_own(v, origin, type_)
    end(v)
    end(origin)


READ_ONLY = {"access mode": {"mode": "SINGLE_NODE_READER_ONLY"}, "mount flag": {"flags": ["ro"]}}


@pytest.mark.parametrize("how", READ_ONLY)
def test_read_only_it_is_as_it_is(plugin, cloud, disk_of, type_, how):
    """Nothing is written, not even what is in its journal; and its origin may be in use on the node."""
    read_only = wish(type_, **READ_ONLY[how])
    origin = in_use(plugin, cloud, disk_of(SIZES[type_]), type_)
    plugin.machine.run("sync")
    v = copy_of(origin, disk_of(SIZES[type_]))
    before = v.disk.checksum()
    for _ in range(2):
        v.stage(read_only)
        assert plugin.machine.mounts(v.staging) == 1
        v.publish(read_only)
        v.unpublish()
        v.unstage()
    assert v.disk.checksum() == before
    assert cloud.record(v.name) is None and uuid_of(v.disk) == uuid_of(origin.disk)

    v.stage(wish(type_))
    v.publish(wish(type_))
    assert v.seen("file").read_text() == "precious"
    assert_own(v, origin, type_)
    end(v)
    end(origin)


def test_for_writing_while_it_is_mounted_read_only(plugin, cloud, disk_of):
    origin = in_use(plugin, cloud, disk_of(SMALLEST_EXT4), "ext4")
    v = copy_of(origin, disk_of(SMALLEST_EXT4))
    v.stage(wish(mode="SINGLE_NODE_READER_ONLY"))
    failure = refused(v.stage)
    assert failure.code() == Code.FAILED_PRECONDITION
    assert "is a copy that is mounted read-only" in failure.details()
    assert cloud.record(v.name) is None and uuid_of(v.disk) == uuid_of(origin.disk)
    v.unstage()
    v.stage()
    assert_own(v, origin, "ext4")
    v.unstage()
    end(origin)


# ---- cut off ----


@pytest.mark.parametrize("moment", range(0, 60, 5))  # to the end takes 50 ms
@pytest.mark.parametrize("kind", ("ext4", "xfs"))
def test_killed_at_some_moment(stopped, cloud, disk_of, kind, moment):
    """Whatever it was doing: it is known afterwards, and brought to its end."""
    stopped.run()
    origin = in_use(stopped, cloud, disk_of(SIZES[kind]), kind)
    v = copy_of(origin, disk_of(SIZES[kind]))
    stopped.later(v.stage, wish(kind))
    time.sleep(moment / 1000)
    stopped.kill_all()
    stopped.run()
    until_done(v.stage, wish(kind))
    assert stopped.machine.mounts(v.staging) == 1
    v.publish(wish(kind))
    assert v.seen("file").read_text() == "precious"
    assert_own(v, origin, kind)
    end(v)
    end(origin)


def test_killed_while_the_journal_is_replayed(stopped, cloud, disk_of, frozen):
    """What was mounted for that is gone with the plug-in."""
    disk, freeze = frozen
    stopped.run()
    origin = in_use(stopped, cloud, disk_of(SMALLEST_EXT4), "ext4")
    v = copy_of(origin, disk)
    freeze(True)
    stopped.later(v.stage)
    until(lambda: (cloud.running_job(v.name) or "").startswith("mount "), "the replay on record")
    stopped.until_it_waits_for_a_disk()
    stopped.process.kill()
    freeze(False)
    stopped.kill()
    assert stopped.machine.mounts(v.staging) == 0 and cloud.record(v.name) is None
    assert uuid_of(disk) == uuid_of(origin.disk)
    stopped.run()
    until_done(v.stage)
    v.publish()
    assert v.seen("file").read_text() == "precious"
    assert_own(v, origin, "ext4")
    end(v)
    end(origin)


def test_demoted_while_the_journal_is_replayed(plugin, cloud, disk_of, frozen):
    """The disk is another node's by then: it keeps the UUID that it has."""
    disk, freeze = frozen
    origin = in_use(plugin, cloud, disk_of(SMALLEST_EXT4), "ext4")
    v = copy_of(origin, disk)
    freeze(True)
    staging = plugin.later(v.stage)
    until(lambda: (cloud.running_job(v.name) or "").startswith("mount "), "the replay on record")
    plugin.until_it_waits_for_a_disk()
    cloud.want(v.name, "Replica")
    cloud.publish("later", lun=1, size=MIB)
    plugin.knows_attachments(3)  # and so of the demotion
    freeze(False)
    assert staging.exception(timeout=60).code() == Code.ABORTED
    assert uuid_of(disk) == uuid_of(origin.disk) and cloud.record(v.name) is None
    assert cloud.running_job(v.name) is None
    end(origin)


@pytest.mark.parametrize("kind", ("ext4", "xfs"))
def test_cut_off_before_the_record(plugin, cloud, disk_of, kind):
    """The copy has its UUID, but nobody has been told; its node is another one now."""
    origin = in_use(plugin, cloud, disk_of(SIZES[kind]), kind)
    source = cloud.record(origin.name)
    v = copy_of(origin, disk_of(SIZES[kind]))
    v.stage(wish(kind))
    v.unstage()
    own = uuid_of(v.disk)
    cloud.unpublish(v.name)
    cloud.publish(v.name, lun=v.lun, size=v.disk.size, source=source)
    until_done(v.stage, wish(kind))
    v.publish(wish(kind))
    assert v.seen("file").read_text() == "precious"
    assert uuid_of(v.disk) == own
    assert_own(v, origin, kind)
    end(v)
    end(origin)


def test_errors_are_repaired_first(stopped, cloud, disk_of, tmp_path):
    fsck = LoggedFsck(tmp_path)
    stopped.run(environment=fsck.environment)
    origin = in_use(stopped, cloud, disk_of(SMALLEST_EXT4), "ext4")
    source = cloud.record(origin.name)
    end(origin)
    disk = disk_of(SMALLEST_EXT4)
    disk.copy(origin.disk)
    disk.run("debugfs", "-w", "-R", "ssv state 2")
    v = Volume(stopped, cloud, "copy", disk).attach(source=source)
    v.stage()
    assert fsck.runs() == [f"-f -p {disk.path}"]
    v.publish()
    assert v.seen("file").read_text() == "precious"
    assert_own(v, origin, "ext4")
    end(v)


def test_a_log_that_cannot_be_replayed(plugin, cloud, disk_of):
    """As xfs_admin leaves it when it is cut off. That is an administrator's business; the copy stays as it is."""
    origin = in_use(plugin, cloud, disk_of(SMALLEST_XFS), "xfs")
    disk = disk_of(SMALLEST_XFS)
    end(origin)
    v = copy_of(origin, disk)
    superblock = disk.read(0, 512)
    disk.run("xfs_db", "-x", "-c", f"uuid {OTHER}")
    disk.write(0, superblock)
    before = disk.checksum()
    failure = refused(v.stage, wish("xfs"))
    assert failure.code() == Code.INTERNAL
    assert "replaying the journal of " in failure.details()
    assert disk.checksum() == before and cloud.record(v.name) is None


@pytest.mark.parametrize("kind", GROWABLE)
def test_a_larger_copy(plugin, cloud, disk_of, kind):
    """Its file system gets all of the disk, as that of any volume."""
    origin = in_use(plugin, cloud, disk_of(SIZES[kind]), kind)
    v = copy_of(origin, disk_of(1024 * MIB))
    v.stage(wish(kind))
    v.publish(wish(kind))
    assert v.seen("file").read_text() == "precious"
    assert size_of(v) > 1024 * MIB * 8 // 10
    assert_own(v, origin, kind)
    end(v)
    v.stage(wish(kind))
    v.unstage()
    end(origin)


# ---- the wrong disk ----


def format_as(uuid: str):
    return lambda disk: disk.run("mkfs.ext4", "-q", "-U", uuid)


def leave_blank(disk: Disk) -> None:
    pass


WRONG = {
    "another volume's": (format_as(OTHER), f"found ext4 {OTHER}"),
    "nobody's": (format_as(FOREIGN), f"found ext4 {FOREIGN}"),
    "blank": (leave_blank, "found nothing"),
}


@pytest.mark.parametrize("said", ("source", "annotation", "attribute"))
@pytest.mark.parametrize("case", WRONG)
def test_another_disk_of_the_same_size(plugin, cloud, disk_of, case, said):
    make, message = WRONG[case]
    origin = "617a646b-2222-8222-8222-222222222222"
    disk = disk_of(SMALLEST_EXT4)
    make(disk)
    before = disk.checksum()
    v = Volume(plugin, cloud, "wrong", disk).attach(source=f"ext4 {origin}" if said == "source" else None)
    if said == "annotation":
        cloud.accept(v.name, origin)
    context = {"disk.csi.azure.com/accept-filesystem": origin} if said == "attribute" else {}
    failure = refused(v.stage, **context)
    assert failure.code() == Code.FAILED_PRECONDITION
    assert "expected a copy of " in failure.details() and message in failure.details()
    assert origin in failure.details()
    assert disk.checksum() == before
    assert plugin.machine.mounts(v.staging) == 0 and cloud.record(v.name) is None


def test_the_origin_is_no_copy_any_more(plugin, cloud, disk_of):
    """Once the copy has a file system of its own on record, its origin's disk is a wrong one as any other."""
    origin = in_use(plugin, cloud, disk_of(SMALLEST_EXT4), "ext4")
    v = copy_of(origin, disk_of(SMALLEST_EXT4))
    v.stage()
    v.unstage()
    cloud.take_over(v.name)
    v.disk.copy(origin.disk)
    cloud.accept(v.name, uuid_of(origin.disk))
    failure = refused(v.stage)
    assert failure.code() == Code.FAILED_PRECONDITION
    assert f"expected {cloud.record(v.name)}: found {cloud.record(origin.name)}" in failure.details()
    end(origin)


def test_of_another_size(plugin, cloud, disk_of):
    origin = in_use(plugin, cloud, disk_of(SMALLEST_EXT4), "ext4")
    v = copy_of(origin, disk_of(SMALLEST_EXT4), size=SMALLEST_EXT4 + MIB)
    before = v.disk.checksum()
    failure = refused(v.stage)
    assert failure.code() == Code.FAILED_PRECONDITION
    assert "wrong disk: the volume has" in failure.details()
    assert v.disk.checksum() == before
    end(origin)


# ---- the user's word ----


@pytest.fixture
def restored(plugin, cloud, disk_of):
    """A disk that was restored by hand, of a volume that is not here."""
    disk = disk_of(SMALLEST_EXT4)
    format_as(OTHER)(disk)
    return Volume(plugin, cloud, "restored", disk).attach()


def test_refused_with_the_way_out(restored):
    failure = refused(restored.stage)
    assert failure.code() == Code.FAILED_PRECONDITION
    assert f"found ext4 {OTHER}" in failure.details() and WAY_OUT + OTHER in failure.details()


def test_accepted_by_annotation(restored, cloud):
    assert refused(restored.stage).code() == Code.FAILED_PRECONDITION
    cloud.accept(restored.name, OTHER)
    restored.stage()
    assert uuid_of(restored.disk) != OTHER
    assert cloud.record(restored.name) == f"ext4 {uuid_of(restored.disk)}"
    restored.unstage()


def test_accepted_by_volume_attribute(restored, cloud):
    restored.stage(**{"disk.csi.azure.com/Accept-Filesystem": OTHER.upper()})
    assert cloud.record(restored.name) == f"ext4 {uuid_of(restored.disk)}"
    restored.unstage()


def test_the_annotation_counts_before_the_attribute(restored, cloud):
    """It can be changed, and the attribute cannot."""
    attribute = {"disk.csi.azure.com/accept-filesystem": FOREIGN}
    assert f"expected a copy of {FOREIGN}" in refused(restored.stage, **attribute).details()
    cloud.accept(restored.name, OTHER)
    restored.stage(**attribute)
    restored.unstage()


def test_what_is_not_a_uuid(restored, cloud):
    failure = refused(restored.stage, **{"disk.csi.azure.com/accept-filesystem": f"ext4 {OTHER}"})
    assert failure.code() == Code.INVALID_ARGUMENT
    assert "is not the UUID of a file system" in failure.details()
    cloud.accept(restored.name, "yes")
    failure = refused(restored.stage)
    assert failure.code() == Code.INVALID_ARGUMENT
    assert 'accept-filesystem of the PersistentVolume: "yes" is not the UUID' in failure.details()
    assert uuid_of(restored.disk) == OTHER


def test_a_raw_volume_is_left_alone(plugin, cloud, disk_of):
    origin = in_use(plugin, cloud, disk_of(SMALLEST_EXT4), "ext4")
    v = copy_of(origin, disk_of(SMALLEST_EXT4))
    before = v.disk.checksum()
    v.stage(block())
    v.unstage()
    assert v.disk.checksum() == before and cloud.record(v.name) is None
    end(origin)
