"""NodeExpandVolume on disks of which the kernel has not heard that they have grown."""

import pytest
from integration.csi import block
from integration.node.machine import MIB
from integration.node.test_growth import NEW, OLD, expand, record_size, when_heard
from integration.node.volume import Code, refused_in_time, wish

LINES = """
i=0
while [ ! -e {folder}/enough ]; do
    i=$((i + 1))
    echo $i >>{folder}/lines
    sync {folder}/lines
    echo $i >{count}
done
"""


def size_of(v) -> int:
    """Of the file system, as the guest sees it."""
    return int(v.guest.run("df", "--block-size=1", "--output=size", v.target).split()[-1])


def written(v, count) -> int:
    return int(v.guest.shell(f"cat {count} 2>/dev/null || echo 0") or 0)


@pytest.mark.parametrize("fs_type", ["ext4", "xfs"])
def test_a_file_system_grows_while_it_is_written_to(volume, node, fs_type):
    v = volume(size=OLD)
    v.stage(wish(fs_type))
    v.publish(wish(fs_type))
    v.cloud.take_over(v.name)
    count = f"{v.target}-count"
    with v.guest.started("sh", "-ec", LINES.format(folder=v.target, count=count)) as writer:
        writer.until(lambda: written(v, count) > 0, "the first line")
        v.disk.grow(NEW)
        record_size(v)
        assert node.size(v.lun) == OLD, "the kernel does not know it yet"
        assert when_heard(expand, v) == NEW
        assert node.size(v.lun) == NEW and size_of(v) > NEW * 9 // 10
        after = written(v, count)
        writer.until(lambda: written(v, count) > after, "a line after it has grown")
        v.write("enough", "")
        writer.ends()
    n = written(v, count)
    v.guest.run("fallocate", "--length", str(OLD + 64 * MIB), f"{v.target}/beyond")
    v.unpublish()
    v.unstage()
    device = node.controller.device(v.lun)
    v.guest.run("fsck.ext4", "-fn", device) if fs_type == "ext4" else v.guest.run("xfs_repair", "-n", device)
    v.stage(wish(fs_type))
    v.publish(wish(fs_type))
    assert [int(line) for line in v.read("lines").split()] == list(range(1, n + 1))
    v.unpublish()
    v.unstage()


def test_a_raw_device_grows_while_it_is_open(volume, node):
    v = volume(size=OLD)
    v.stage(block())
    v.publish(block())
    with v.guest.started("sh", "-c", f"exec 3<>{v.target}; exec sleep infinity"):
        v.disk.grow(NEW)
        record_size(v)
        assert when_heard(expand, v) == NEW
        assert int(v.guest.run("blockdev", "--getsize64", v.target)) == NEW
    v.unpublish()
    v.unstage()


def test_a_disk_that_grew_while_nobody_had_it(volume, node):
    v = volume(size=OLD)
    v.stage()
    v.cloud.take_over(v.name)
    v.unstage()
    v.disk.grow(NEW)
    record_size(v)
    assert node.size(v.lun) == OLD, "the kernel does not know it yet"
    when_heard(v.stage)
    v.publish()
    assert size_of(v) > NEW * 9 // 10
    v.unpublish()
    v.unstage()


def test_a_disk_that_has_not_grown(volume):
    v = volume(size=OLD)
    v.stage()
    v.publish()
    v.cloud.take_over(v.name)
    record_size(v)
    refused_in_time(lambda: when_heard(expand, v, timeout=8), Code.UNAVAILABLE, "not seen here yet")
    v.unpublish()
    v.unstage()
