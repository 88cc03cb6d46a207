"""Volumes on a kernel that lacks the calls by which they are mounted elsewhere: Linux before 5.2."""

import pytest

from ..csi import block
from .machine import SMALLEST_EXT4, SMALLEST_XFS
from .old_kernel import OLD_KERNEL
from .test_copies import SIZES, assert_own, copy_of, end, in_use
from .test_stats import is_well, stats
from .volume import Code, refused, wish


@pytest.fixture
def plugin(stopped):
    return stopped.run(through=OLD_KERNEL)


@pytest.mark.parametrize(("fs_type", "size"), [("ext4", SMALLEST_EXT4), ("xfs", SMALLEST_XFS)])
def test_there_and_back(volume, plugin, fs_type, size):
    """For writing, then for reading only; every call twice."""
    v = volume(size=size)
    capability = wish(fs_type, ["noatime"])
    for readonly in (False, True):
        for _ in range(2):
            v.stage(capability)
            v.publish(capability, readonly=readonly)
        assert plugin.machine.mounts(v.target) == 1
        if readonly:
            assert v.seen("file").read_text() == "precious"
            with pytest.raises(OSError, match="Read-only file system"):
                v.seen("other").write_text("")
        else:
            v.seen("file").write_text("precious")
        assert is_well(v) and stats(v).usage[0].total > size // 2
        for _ in range(2):
            v.unpublish()
            v.unstage()
        assert plugin.machine.mounts(v.staging) == 0


def test_read_only_beside_for_writing(volume, plugin):
    """Two pods of one node: what one of them may not do says nothing of the other."""
    v = volume()
    v.stage()
    v.publish()
    reader = v.target.with_name("reader")
    v.publish(target=reader, readonly=True)
    with pytest.raises(OSError, match="Read-only file system"):
        plugin.machine.path(reader / "file").write_text("")
    v.seen("file").write_text("still")
    v.unpublish(target=reader)
    v.unpublish()
    v.unstage()


def test_a_raw_device(volume, plugin):
    v = volume()
    v.stage(block())
    v.publish(block(), readonly=True)
    assert plugin.machine.mounts(v.target) == 1
    v.unpublish()
    v.unstage()


@pytest.mark.parametrize("type_", SIZES)
def test_a_copy_next_to_its_origin(plugin, cloud, disk_of, type_):
    """Its journal is replayed where nobody sees it, and it gets a UUID of its own."""
    origin = in_use(plugin, cloud, disk_of(SIZES[type_]), type_)
    v = copy_of(origin, disk_of(SIZES[type_]))
    v.stage(wish(type_))
    v.publish(wish(type_))
    assert v.seen("file").read_text() == "precious"
    assert_own(v, origin, type_)
    end(v)
    end(origin)


def test_an_option_that_the_file_system_refuses(volume):
    """The kernel does not say which, but where it does."""
    v = volume()
    failure = refused(v.stage, wish("ext4", ["data=nonsense"]))
    assert failure.code() == Code.INVALID_ARGUMENT
    assert "rejects its mount options: Invalid argument; the log of the node's kernel says which" in failure.details()
