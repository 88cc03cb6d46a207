"""Volumes there and back: azdisk-node, built with sanitizers, on a machine with namespaces and disks
of its own, against a real API server. The test is the controller, by custom resources, and kubelet,
by gRPC."""

import os
from pathlib import Path

import pytest
from cluster.waiting import until

from ..csi import block, mounted
from ..placement import disk_id
from .cloud_side import CloudSide
from .machine import MIB, SMALLEST_EXT4, SMALLEST_XFS, Machine
from .plugin import NodePlugin, until_done
from .volume import Code, Volume, refused, wish


@pytest.mark.parametrize(("fs_type", "size"), [
    ("", SMALLEST_EXT4), ("ext4", SMALLEST_EXT4), ("ext3", SMALLEST_EXT4), ("ext2", SMALLEST_EXT4), ("xfs", SMALLEST_XFS)])
def test_there_and_back(volume, cloud, plugin, fs_type, size):
    """Every call twice, two lives of a pod, and the data of the first is there in the second."""
    v = volume(size=size)
    capability = wish(fs_type)
    for life in range(2):
        for _ in range(2):
            v.stage(capability)
        assert plugin.machine.mounts(v.staging) == 1
        for _ in range(2):
            v.publish(capability)
        assert plugin.machine.mounts(v.target) == 1
        if life == 0:
            v.seen("file").write_text("precious")
        assert v.seen("file").read_text() == "precious"
        for _ in range(2):
            v.unpublish()
        assert not v.target.exists()
        for _ in range(2):
            v.unstage()
        assert plugin.machine.mounts(v.staging) == 0
    uuid = v.disk.run("blkid", "-p", "-s", "UUID", "-o", "value").strip()
    assert cloud.record(v.name) == f"{fs_type or 'ext4'} {uuid}"
    assert uuid.startswith("617a646b-")


@pytest.mark.parametrize("capability", [wish(), block()])
def test_what_is_staged_no_more_is_staged_anew(volume, plugin, capability):
    """Kubelet does not know, and only publishes it."""
    v = volume()
    v.stage(capability)
    v.unstage()
    v.cloud.take_over(v.name)
    for _ in range(2):
        v.publish(capability)
    assert plugin.machine.mounts(v.target) == 1
    v.unpublish()
    v.unstage()


def queue(volume: Volume, name: str) -> str:
    device = os.stat(volume.disk.path).st_rdev
    return Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}/queue/{name}").read_text().strip()


@pytest.mark.parametrize("capability", [wish(), block()])
def test_a_device_gets_the_settings_that_are_asked_for(volume, capability):
    v = volume()
    v.stage(capability, **{"device-setting/queue/read_ahead_kb": "64"})
    assert queue(v, "read_ahead_kb") != "64", "without a profile nothing is set"
    v.unstage()
    v.stage(capability, **{"PerfProfile": "Advanced", "Device-Setting/queue/read_ahead_kb": "64"})
    assert queue(v, "read_ahead_kb") == "64"
    v.unstage()


BASIC = ("max_sectors_kb", "nr_requests", "read_ahead_kb")


def test_the_basic_profile_is_that_of_the_disk(volume, cloud):
    """Of the kind that it is, even if its volume was made with another one."""
    v = volume()

    def basic(**context) -> list[str]:
        v.stage(block(), perfProfile="basic", **context)
        v.unstage()
        return [queue(v, name) for name in BASIC]

    before = [queue(v, name) for name in BASIC]
    assert basic(skuName="PremiumV2_LRS") == before, "of a kind without a profile"
    assert basic(skuName="Premium_LRS") == ["65", "11", "8"] and "[mq-deadline]" in queue(v, "scheduler")
    assert basic() == ["160", "4", "8"], "the default kind; the kernel has no queue of 3"
    cloud.note_sku(v.name, "Premium_ZRS")
    assert basic() == ["65", "11", "8"]


@pytest.mark.parametrize("setting, value, words", [
    ("queue/read_ahead_kb", "much", ("queue/read_ahead_kb", '"much"', "Invalid argument")),
    ("queue/nothing", "1", ("queue/nothing", "no such setting")),
    ("queue", "1", ("queue", "no such setting")),
    ("queue/../../../block", "1", ("leads out",)),
    ("/sys/power/state", "1", ("leads out",)),
    ("bdi/read_ahead_kb", "1", ("leads out",)),
])
def test_a_setting_that_the_kernel_refuses(volume, plugin, setting, value, words):
    v = volume()
    failure = refused(v.stage, perfProfile="advanced", **{f"device-setting/{setting}": value})
    assert failure.code() == Code.INVALID_ARGUMENT
    assert all(word in failure.details() for word in (f"device-setting/{setting}", *words)), failure.details()
    assert plugin.machine.mounts(v.staging) == 0


def test_another_node_finds_the_same(volume, plugin, cloud, installed, tmp_path_factory):
    """The disk goes to another machine, which has nothing but the disk and the record."""
    v = volume()
    v.stage()
    v.publish()
    v.seen("file").write_text("precious")
    v.unpublish()
    v.unstage()
    record = cloud.record(v.name)
    cloud.unpublish(v.name)
    other = Machine()
    try:
        other.reach(installed.port)
        there = NodePlugin(other, tmp_path_factory.mktemp("other"), installed.kubeconfig, "node-b")
        cloud_there = CloudSide(installed.client(), "node-b")
        try:
            there.run()
            moved = Volume(there, cloud_there, v.name, v.disk, lun=5).attach(record=record)
            moved.stage()
            moved.publish()
            assert moved.seen("file").read_text() == "precious"
            moved.unpublish()
            moved.unstage()
        finally:
            there.close()
    finally:
        other.close()


def test_read_only(volume, plugin):
    v = volume()
    v.stage()
    v.publish(readonly=True)
    with pytest.raises(OSError, match="Read-only"):
        v.seen("file").write_text("x")
    assert refused(v.publish).code() == Code.ALREADY_EXISTS
    other = v.target.with_name("other")
    v.publish(target=other)
    plugin.machine.path(other / "file").write_text("x")
    assert v.seen("file").read_text() == "x"
    failure = refused(v.unstage)
    assert failure.code() == Code.FAILED_PRECONDITION
    assert "still mounted at" in failure.details()
    v.unpublish(other)
    v.unpublish()
    v.unstage()


def test_mount_flags(volume, plugin):
    v = volume()
    v.stage(wish(flags=["noatime", "commit=17"]))
    table = plugin.machine.run("cat", "/proc/self/mounts").splitlines()
    (mount,) = (line for line in table if str(v.staging) in line)
    assert "noatime" in mount and "commit=17" in mount
    v.unstage()
    failure = refused(v.stage, wish(flags=["noatime", "nonsense"]))
    assert failure.code() == Code.INVALID_ARGUMENT
    assert "\"nonsense\": ext4: Unknown parameter 'nonsense'" in failure.details()
    assert plugin.machine.mounts(v.staging) == 0


def test_block(volume, plugin):
    v = volume(size=4 * MIB)
    raw = block()
    for _ in range(2):
        v.stage(raw)
    for _ in range(2):
        v.publish(raw)
    device = plugin.machine.path(v.target)
    assert device.is_block_device()
    plugin.machine.run("dd", "if=/dev/zero", f"of={v.target}", "bs=4096", "count=1", "conv=notrunc")
    with device.open("r+b") as node:
        node.write(b"raw data")
    assert refused(v.unstage).code() == Code.FAILED_PRECONDITION
    for _ in range(2):
        v.unpublish()
    for _ in range(2):
        v.unstage()
    assert os.pread(v.disk.image, 8, 0) == b"raw data"
    assert not v.target.exists() and list(v.staging.iterdir()) == []


def test_block_read_only(volume, plugin):
    v = volume(size=4 * MIB)
    raw = block()
    v.stage(raw)
    v.publish(raw, readonly=True)
    with pytest.raises(OSError), plugin.machine.path(v.target).open("r+b", buffering=0) as node:
        node.write(b"x")
    v.unpublish()
    v.unstage()


INVALID, PRECONDITION = "INVALID_ARGUMENT", "FAILED_PRECONDITION"
MANY = wish(mode="MULTI_NODE_MULTI_WRITER")
ID, STAGING, TARGET = {"volume_id": "v"}, {"staging_target_path": "/s"}, {"target_path": "/t"}

BAD_REQUESTS = [
    ("NodeStageVolume", STAGING, INVALID, "volume_id is missing"),
    ("NodeStageVolume", ID, INVALID, "staging_target_path is missing"),
    ("NodeStageVolume", ID | {"staging_target_path": "s"}, INVALID,
     'staging_target_path "s" is not an absolute path'),
    ("NodeStageVolume", ID | STAGING, INVALID, "volume_capability is missing"),
    ("NodeStageVolume", ID | STAGING | {"volume_capability": {}}, INVALID,
     "volume_capability.access_type is missing"),
    ("NodeStageVolume", ID | STAGING | {"volume_capability": MANY}, INVALID,
     "volume_capability.access_mode MULTI_NODE_MULTI_WRITER"),
    ("NodeStageVolume", ID | STAGING | {"volume_capability": wish("ntfs")}, INVALID,
     'fs_type "ntfs" is not supported: it must be one of ext4, ext3, ext2, xfs'),
    ("NodeUnstageVolume", STAGING, INVALID, "volume_id is missing"),
    ("NodeUnstageVolume", ID, INVALID, "staging_target_path is missing"),
    ("NodePublishVolume", STAGING | TARGET, INVALID, "volume_id is missing"),
    ("NodePublishVolume", ID | STAGING | TARGET, INVALID, "volume_capability is missing"),
    ("NodePublishVolume", ID | STAGING | {"volume_capability": wish()}, INVALID,
     "target_path is missing"),
    ("NodePublishVolume", ID | TARGET | {"volume_capability": wish()}, PRECONDITION,
     "staging_target_path is missing"),
    ("NodePublishVolume", ID | STAGING | TARGET | {"volume_capability": wish()}, PRECONDITION,
     "the volume is not staged at /s"),
    ("NodeUnpublishVolume", TARGET, INVALID, "volume_id is missing"),
    ("NodeUnpublishVolume", ID, INVALID, "target_path is missing"),
    ("NodeExpandVolume", {}, INVALID, "volume_id is missing"),
    ("NodeExpandVolume", ID, INVALID, "volume_path is missing"),
]  # fmt: skip


def test_bad_requests(plugin):
    for name, fields, code, message in BAD_REQUESTS:
        failure = refused(plugin.csi.call, f"Node/{name}", **fields)
        assert (failure.code().name, message in failure.details()) == (code, True), (name, failure)


def test_what_is_not_there_is_gone(plugin):
    plugin.unpublish("v", plugin.folder / "no" / "such" / "target")
    plugin.unstage("v", plugin.folder / "no" / "such" / "staging")


def test_capabilities(plugin):
    identity = plugin.csi.call("Identity/GetPluginInfo")
    assert identity.name == "disk.csi.azure.com" and identity.vendor_version
    kinds = {1: "CONTROLLER_SERVICE", 2: "VOLUME_ACCESSIBILITY_CONSTRAINTS"}
    rows = plugin.csi.call("Identity/GetPluginCapabilities").capabilities
    assert [kinds[row.service.type] for row in rows if row.WhichOneof("type") == "service"] == list(kinds.values())
    assert [row.volume_expansion.type for row in rows if row.WhichOneof("type") == "volume_expansion"] == [1], "online"
    kinds = {1: "STAGE_UNSTAGE_VOLUME", 3: "EXPAND_VOLUME", 2: "GET_VOLUME_STATS", 4: "VOLUME_CONDITION",
             5: "SINGLE_NODE_MULTI_WRITER"}
    rows = plugin.csi.call("Node/NodeGetCapabilities").capabilities
    assert [kinds[row.rpc.type] for row in rows] == list(kinds.values())
    assert plugin.csi.call("Identity/Probe").ready.value


@pytest.mark.parametrize("raw", [False, True], ids=["file system", "raw"])
def test_a_volume_for_one_pod(volume, plugin, raw):
    """ReadWriteOncePod: at one path at a time. The same path again is no other pod."""
    def access(mode: int) -> dict:
        return block(mode) if raw else mounted(mode)

    v, alone, shared = volume(), access(6), access(7)  # SINGLE_NODE_SINGLE_WRITER, SINGLE_NODE_MULTI_WRITER
    second = v.target.with_name("second")
    v.stage(alone)
    v.publish(alone)
    v.publish(alone)
    failure = refused(v.publish, alone, second)
    assert failure.code() == Code.FAILED_PRECONDITION and str(v.target) in failure.details()
    assert not plugin.machine.path(second).exists(), "nothing is left of what was refused"
    if not raw:  # as kubelet shows a part of it to a container
        part, seen = v.target / "part", v.target.with_name("seen")
        v.seen("part").mkdir()
        plugin.machine.path(seen).mkdir()
        plugin.machine.run("mount", "--bind", str(part), str(seen))
        v.unpublish()
        v.publish(alone, second)
        plugin.machine.run("umount", str(seen))
    else:
        v.unpublish()
        v.publish(alone, second)
    v.unpublish(second)
    v.publish(shared)
    v.publish(shared, second)
    for target in (v.target, second):
        v.unpublish(target)
    plugin.unstage(v.id, v.staging)


def test_only_this_nodes_attachments_are_mirrored(plugin, cloud):
    for i in range(50):
        cloud.publish(f"of-others-{i}", "node-b", lun=0, size=MIB)
    cloud.publish("own", lun=0, size=MIB)
    cloud.set_limit(8)
    until(lambda: plugin.metrics().get('azuredisk_slots{kind="used"}') == 1, "its own attachment")
    failure = refused(plugin.stage, disk_id("of-others-0"), plugin.folder / "x")
    assert failure.code() == Code.NOT_FOUND


def bind_under_way(plugin, cloud, volume, frozen_folder, **kwargs):
    """A raw volume on its way, of which nothing but the node in its staging path is missing; the call, and what lets
    it go on."""
    v = volume("bound")
    freeze = frozen_folder(plugin.machine, v.staging.parent)
    plugin.machine.run("mkdir", str(v.staging))
    freeze(True)
    staging = plugin.later(v.stage, block(), **kwargs)
    plugin.until_it_waits_for_a_folder()
    return v, staging, lambda: freeze(False)


def test_a_raw_volume_whose_role_goes_is_not_left_bound(plugin, cloud, volume, frozen_folder):
    v, staging, go_on = bind_under_way(plugin, cloud, volume, frozen_folder)
    cloud.want(v.name, "Replica")
    cloud.publish("later", lun=1, size=MIB)
    plugin.knows_attachments(2)  # and so of the demotion
    assert not staging.done()
    go_on()
    failure = staging.exception(timeout=60)
    assert failure and failure.code() == Code.ABORTED, failure
    assert plugin.machine.mounts(v.staging / "device") == 0


def test_a_raw_volume_that_its_caller_has_given_up_is_not_left_bound(plugin, cloud, volume, frozen_folder):
    """A kubelet that was restarted does not know of it, and would never have it unstaged."""
    v, staging, go_on = bind_under_way(plugin, cloud, volume, frozen_folder, timeout=10)
    assert staging.exception(timeout=60).code() == Code.DEADLINE_EXCEEDED
    go_on()
    until_done(v.unpublish)  # as soon as no other call has the volume
    assert plugin.machine.mounts(v.staging / "device") == 0
    v.stage(block())
    v.publish(block())
    v.unpublish()
    v.unstage()
