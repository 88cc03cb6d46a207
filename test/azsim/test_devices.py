"""Attached disks as block devices: real loop devices, made and removed again. Needs root."""

import os
import pathlib
import signal
import subprocess

import pytest
from cluster.waiting import until

from .conftest import compute_client
from .simulator import GROUP, LOCATION, Azsim, describe, disk_id

FLAGS = ("--latency=get=0,accept=0,token=0,orphan=0",
         "--latency=create=0,update=0,delete=0,snapshot=0,attach=300ms,detach=100ms")


@pytest.fixture
def azsim(root, tmp_path):
    vms = [{"name": name, "size": "Standard_D4s_v5", "deviceDirectory": str(tmp_path / name)}
           for name in ("vm1", "vm2")]
    vms.append({"name": "pool000007", "size": "Standard_D4s_v5", "scaleSet": "pool",
                "instanceId": "7", "deviceDirectory": str(tmp_path / "pool000007")})
    azsim = Azsim(tmp_path, describe(vms), *FLAGS)
    try:
        with azsim:
            yield azsim
    finally:
        azsim.remove_devices()


@pytest.fixture
def compute(azsim):
    with compute_client(azsim) as client:
        yield client


def make_disk(compute, name, shares=1, gib=1):
    compute.disks.begin_create_or_update(GROUP, name, {
        "location": LOCATION, "sku": {"name": "Premium_LRS"},
        "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": gib,
                       "maxShares": shares}}).result()


def change(compute, vm, attach=(), detach=()):
    return compute.virtual_machines.begin_attach_detach_data_disks(GROUP, vm, {
        "dataDisksToAttach": [{"diskId": disk_id(name), "lun": lun} for name, lun in attach],
        "dataDisksToDetach": [{"diskId": disk_id(name)} for name in detach]})


def by_lun(tmp_path, vm) -> dict[int, pathlib.Path]:
    folder = tmp_path / vm / "data/by-lun"
    return {int(link.name): link for link in folder.iterdir()} if folder.exists() else {}


def devices(azsim) -> list[str]:
    """Loop devices over files of this azsim."""
    found = []
    for backing in pathlib.Path("/sys/block").glob("loop*/loop/backing_file"):
        if backing.read_text().startswith(str(azsim.state.resolve())):
            found.append(f"/dev/{backing.parts[3]}")
    return sorted(found)


def size(path) -> int:
    with open(path, "rb") as device:
        return device.seek(0, os.SEEK_END)


def write(path, data: bytes, offset=0):
    with open(path, "r+b", buffering=0) as device:
        device.seek(offset)
        device.write(data)
        os.fsync(device.fileno())


def read(path, length: int, offset=0) -> bytes:
    with open(path, "rb", buffering=0) as device:
        device.seek(offset)
        return device.read(length)


def test_a_disk_appears_when_the_attach_ends_and_vanishes_on_detach(azsim, compute, tmp_path):
    make_disk(compute, "d")
    operation = change(compute, "vm1", attach=[("d", 5)])
    assert by_lun(tmp_path, "vm1") == {} and devices(azsim) == []
    operation.result()
    link = by_lun(tmp_path, "vm1")[5]
    assert str(link.readlink()) == devices(azsim)[0]
    assert link.is_block_device() and size(link) == 1 << 30
    change(compute, "vm1", detach=["d"]).result()
    assert by_lun(tmp_path, "vm1") == {} and devices(azsim) == []


def test_a_shared_disk_is_one_content_behind_two_devices(azsim, compute, tmp_path):
    make_disk(compute, "d", shares=2)
    change(compute, "vm1", attach=[("d", 0)]).result()
    change(compute, "vm2", attach=[("d", 3)]).result()
    one, two = by_lun(tmp_path, "vm1")[0], by_lun(tmp_path, "vm2")[3]
    assert one.readlink() != two.readlink()
    write(one, b"hello" * 1000, offset=1 << 20)
    assert read(two, 5, offset=1 << 20) == b"hello"
    change(compute, "vm1", detach=["d"]).result()
    assert read(two, 5, offset=1 << 20) == b"hello"


def copy_disk(compute, name, source):
    compute.disks.begin_create_or_update(GROUP, name, {
        "location": LOCATION, "sku": {"name": "Premium_LRS"}, "properties": {
            "creationData": {"createOption": "Copy", "sourceResourceId": source}}}).result()


def test_a_snapshot_keeps_what_was_there(azsim, compute, tmp_path):
    make_disk(compute, "d", gib=8)
    make_disk(compute, "never-attached")
    change(compute, "vm1", attach=[("d", 0)]).result()
    device, end = by_lun(tmp_path, "vm1")[0], (8 << 30) - 4096
    write(device, b"first" * 1000)
    write(device, b"last", offset=end)
    snapshots = [compute.snapshots.begin_create_or_update(GROUP, f"s-{name}", {
        "location": LOCATION, "properties": {"creationData": {
            "createOption": "Copy", "sourceResourceId": disk_id(name)}}}).result()
        for name in ("d", "never-attached")]
    write(device, b"later")
    azsim.stop(signal.SIGKILL)
    azsim.start()

    copy_disk(compute, "r", snapshots[0].id)
    copy_disk(compute, "empty", snapshots[1].id)
    compute.virtual_machine_scale_set_vms.begin_attach_detach_data_disks(
        GROUP, "pool", "7", {"dataDisksToAttach": [{"diskId": disk_id("r"), "lun": 3},
                                                   {"diskId": disk_id("empty")}]}).result()
    restored = by_lun(tmp_path, "pool000007")
    assert size(restored[3]) == 8 << 30 and read(restored[3], 5000) == b"first" * 1000
    assert read(restored[3], 4, offset=end) == b"last"
    assert read(restored[0], 4) == b"\0" * 4
    files = [file.stat() for file in (azsim.state / "disks").iterdir()]
    assert len(files) == 4 and sum(file.st_blocks for file in files) * 512 < 10 << 20
    compute.snapshots.begin_delete(GROUP, "s-d").result()
    assert len(list((azsim.state / "disks").iterdir())) == 3


def test_the_content_outlives_an_attachment_and_not_the_disk(azsim, compute, tmp_path):
    make_disk(compute, "d")
    change(compute, "vm1", attach=[("d", 0)]).result()
    write(by_lun(tmp_path, "vm1")[0], b"kept")
    change(compute, "vm1", detach=["d"]).result()
    change(compute, "vm2", attach=[("d", 0)]).result()
    assert read(by_lun(tmp_path, "vm2")[0], 4) == b"kept"
    change(compute, "vm2", detach=["d"]).result()
    compute.disks.begin_delete(GROUP, "d").result()
    assert list((azsim.state / "disks").iterdir()) == []
    make_disk(compute, "d")
    change(compute, "vm1", attach=[("d", 0)]).result()
    assert read(by_lun(tmp_path, "vm1")[0], 4) == b"\0\0\0\0"


def test_a_disk_grows_while_it_is_attached(azsim, compute, tmp_path):
    make_disk(compute, "d")
    change(compute, "vm1", attach=[("d", 0)]).result()
    compute.disks.begin_update(GROUP, "d", {"properties": {"diskSizeGB": 3}}).result()
    assert size(by_lun(tmp_path, "vm1")[0]) == 3 << 30


def test_a_disk_grows_and_the_vm_does_not_see_it(azsim, compute, tmp_path):
    make_disk(compute, "d")
    change(compute, "vm1", attach=[("d", 0)]).result()
    azsim.fault("hideResize", resource="d", calls="1")
    grown = compute.disks.begin_update(GROUP, "d", {"properties": {"diskSizeGB": 3}}).result()
    assert grown.disk_size_gb == 3 and size(by_lun(tmp_path, "vm1")[0]) == 1 << 30
    compute.disks.begin_update(GROUP, "d", {"tags": {"look": "again"}}).result()
    assert size(by_lun(tmp_path, "vm1")[0]) == 3 << 30


def test_a_device_in_use_goes_when_it_is_closed(azsim, compute, tmp_path):
    make_disk(compute, "d")
    change(compute, "vm1", attach=[("d", 0)]).result()
    with open(by_lun(tmp_path, "vm1")[0], "r+b", buffering=0) as held:
        change(compute, "vm1", detach=["d"]).result()
        assert by_lun(tmp_path, "vm1") == {} and len(devices(azsim)) == 1
        change(compute, "vm1", attach=[("d", 0)]).result()
        assert len(devices(azsim)) == 2
        azsim.stop(signal.SIGKILL)  # the one that lingers is not taken for the one that is attached
        azsim.start()
        held.read(4096)
        until(lambda: len(devices(azsim)) == 2, "two devices")
        assert str(by_lun(tmp_path, "vm1")[0].readlink()) in devices(azsim)
    until(lambda: len(devices(azsim)) == 1, "one device")
    assert [str(by_lun(tmp_path, "vm1")[0].readlink())] == devices(azsim)


def test_devices_are_taken_over_after_a_crash(azsim, compute, tmp_path):
    make_disk(compute, "a", shares=2)
    make_disk(compute, "b")
    change(compute, "vm1", attach=[("a", 0), ("b", 1)]).result()
    change(compute, "vm2", attach=[("a", 0)]).result()
    links = {vm: {lun: str(link.readlink()) for lun, link in by_lun(tmp_path, vm).items()}
             for vm in ("vm1", "vm2")}
    before = devices(azsim)
    change(compute, "vm1", detach=["b"])
    azsim.stop(signal.SIGKILL)
    azsim.start()
    until(lambda: len(devices(azsim)) == 2, "two devices")
    del links["vm1"][1]
    assert links == {vm: {lun: str(link.readlink()) for lun, link in by_lun(tmp_path, vm).items()}
                     for vm in ("vm1", "vm2")}
    assert set(devices(azsim)) < set(before)


def test_leftovers_are_cleaned_and_losses_are_made_good(azsim, compute, tmp_path):
    make_disk(compute, "d")
    change(compute, "vm1", attach=[("d", 2)]).result()
    azsim.stop(signal.SIGKILL)
    stray = azsim.state / "disks/stray"
    stray.touch()
    os.truncate(stray, 1 << 20)
    subprocess.run(["losetup", "--find", stray], check=True)
    folder = tmp_path / "vm1/data/by-lun"
    (folder / "7").symlink_to("/dev/loop77")
    subprocess.run(["losetup", "--detach", (folder / "2").resolve()], check=True)
    (folder / "2").unlink()
    azsim.start()
    assert not stray.exists()
    assert list(by_lun(tmp_path, "vm1")) == [2]
    assert devices(azsim) == [str(by_lun(tmp_path, "vm1")[2].readlink())]


def test_links_come_back_with_the_power(azsim, compute, tmp_path):
    make_disk(compute, "d")
    change(compute, "vm1", attach=[("d", 2)]).result()
    azsim.control("POST", "vms/vm1/powerOff")
    (tmp_path / "vm1/data/by-lun/2").unlink()
    (tmp_path / "vm1/data/by-lun").rmdir()
    azsim.control("POST", "vms/vm1/start")
    assert size(by_lun(tmp_path, "vm1")[2]) == 1 << 30


def test_a_vm_that_is_deleted_leaves_no_devices(azsim, compute, tmp_path):
    make_disk(compute, "d")
    change(compute, "vm1", attach=[("d", 2)]).result()
    azsim.control("DELETE", "vms/vm1", expect=202)
    until(lambda: not devices(azsim), "no device")
    assert by_lun(tmp_path, "vm1") == {}
    assert compute.disks.get(GROUP, "d").disk_state == "Unattached"


def test_a_host_that_cannot_makes_the_operation_fail(azsim, compute, tmp_path):
    make_disk(compute, "d")
    (tmp_path / "vm1").write_text("not a folder")
    operation = change(compute, "vm1", attach=[("d", 0)])
    with pytest.raises(Exception, match="InternalExecutionError"):
        operation.result()
    assert devices(azsim) == []
    (tmp_path / "vm1").unlink()
    compute.virtual_machines.begin_update(GROUP, "vm1", {}).result()
    assert size(by_lun(tmp_path, "vm1")[0]) == 1 << 30
