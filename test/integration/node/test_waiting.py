"""What NodeStageVolume waits for, how long, and what it says when that does not come."""

import os
import time
from pathlib import Path

import pytest
from cluster.waiting import until

from ..csi import block
from ..placement import disk_id
from .machine import SMALLEST_EXT4
from .volume import Code, Volume, refused, refused_in_time

OTHERS = "0e65e0d1-5a3b-4d2e-9d80-6d5a0a1b2c3d"  # a UUID of nobody's volume
BOOT_ID = Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def test_stage_waits_for_the_attachment(plugin, cloud, disk_of):
    v = Volume(plugin, cloud, "slow", disk_of(SMALLEST_EXT4))
    cloud.publish(v.name, state="Attaching", lun=v.lun, size=v.disk.size)
    staging = plugin.later(v.stage)
    time.sleep(1.5)
    assert not staging.done()
    plugin.machine.attach(v.disk, v.lun)
    time.sleep(0.5)
    assert not staging.done()
    cloud.report(v.name, lun=v.lun, size=v.disk.size)
    attached = time.monotonic()
    staging.result(timeout=60)
    assert time.monotonic() - attached < 20
    v.unstage()


def test_stage_waits_for_promotion(plugin, cloud, disk_of):
    """A replica is attached and must not be mounted; as primary it is, at once."""
    v = Volume(plugin, cloud, "replica", disk_of(SMALLEST_EXT4))
    cloud.publish(v.name, lun=v.lun, size=v.disk.size, role="Replica")
    cloud.want(v.name, "Replica")
    plugin.machine.attach(v.disk, v.lun)
    before = v.disk.checksum()
    staging = plugin.later(v.stage)
    time.sleep(1)
    assert not staging.done() and v.disk.checksum() == before
    cloud.want(v.name, "Primary")
    time.sleep(0.5)
    assert not staging.done() and v.disk.checksum() == before
    cloud.report(v.name, lun=v.lun, size=v.disk.size)
    promoted = time.monotonic()
    staging.result(timeout=60)
    assert time.monotonic() - promoted < 20
    v.unstage()


def test_stage_waits_for_the_device(plugin, cloud, disk_of):
    v = Volume(plugin, cloud, "late", disk_of(SMALLEST_EXT4))
    cloud.publish(v.name, lun=v.lun, size=v.disk.size)
    staging = plugin.later(v.stage)
    time.sleep(1.5)
    assert not staging.done()
    plugin.machine.attach(v.disk, v.lun)
    came = time.monotonic()
    staging.result(timeout=60)
    assert time.monotonic() - came < 20
    v.unstage()


@pytest.mark.parametrize("raw", [True, False])
def test_stage_waits_for_azures_word_after_a_boot(plugin, cloud, volume, raw):
    """The VM may be another one of that name since, and the disk at the LUN somebody else's: of a raw disk and of
    a blank one nothing else tells."""
    v = volume("former")
    cloud.seen_in_boot(v.name, "the-boot-before")
    before = v.disk.checksum()
    capability = block() if raw else None
    refused_in_time(lambda: v.stage(capability, timeout=2), Code.DEADLINE_EXCEEDED, "the machine was started anew")
    assert v.disk.checksum() == before
    staging = plugin.later(v.stage, capability)
    cloud.seen_in_boot(v.name, BOOT_ID)
    staging.result(timeout=60)
    v.unstage()


def test_a_file_system_that_comes_on_record_in_that_time(cloud, plugin, volume):
    """The disk was empty when it was looked at, and is somebody's by now."""
    v = volume("overtaken")
    cloud.seen_in_boot(v.name, "the-boot-before")
    staging = plugin.later(v.stage)
    plugin.has_proven(1)
    v.disk.run("mkfs.ext4", "-q", "-U", OTHERS)
    formatted = v.disk.checksum()
    cloud.attest(v.name, lun=v.lun, size=v.disk.size, record=f"ext4 {OTHERS}")
    cloud.seen_in_boot(v.name, BOOT_ID)
    failure = staging.exception(timeout=60)
    assert failure.code() == Code.ABORTED and "got a file system on record in the meantime" in failure.details()
    assert v.disk.checksum() == formatted
    v.stage()
    v.unstage()


def test_a_file_system_on_record_is_proof_enough_after_a_boot(plugin, cloud, volume):
    v = volume("known")
    v.stage()
    v.unstage()
    cloud.seen_in_boot(v.name, "the-boot-before")
    v.stage(timeout=30)
    v.unstage()


def test_a_plug_in_says_which_boot_it_is(plugin, cloud):
    assert until(lambda: cloud.status().get("bootId"), "the first heartbeat") == BOOT_ID


def test_the_time_is_over(plugin, cloud, disk_of):
    """The answer comes before the caller has gone, and says what was waited for."""
    v = Volume(plugin, cloud, "never", disk_of(SMALLEST_EXT4))
    cloud.publish(v.name, state="AttachmentFailed",
                  error={"code": "UNAVAILABLE", "message": "Azure is away"})  # fmt: skip
    refused_in_time(
        lambda: v.stage(timeout=2),
        Code.DEADLINE_EXCEEDED, "in state AttachmentFailed (UNAVAILABLE: Azure is away)",
    )  # fmt: skip

    cloud.report(v.name, lun=v.lun, size=v.disk.size)
    refused_in_time(lambda: v.stage(timeout=2), Code.DEADLINE_EXCEEDED, "no disk at LUN 0 yet")


def test_an_attachment_that_failed_for_good(plugin, cloud, disk_of):
    v = Volume(plugin, cloud, "failed", disk_of(SMALLEST_EXT4))
    cloud.publish(v.name, state="Attaching")
    staging = plugin.later(v.stage)
    time.sleep(0.5)
    cloud.report(v.name, state="AttachmentFailed", error={"code": "NOT_FOUND", "message": "no such disk"})
    failure = staging.exception(timeout=60)
    assert failure.code() == Code.NOT_FOUND
    assert "the disk cannot be attached: no such disk" in failure.details()


def test_no_attachment(plugin, cloud):
    began = time.monotonic()
    failure = refused(plugin.stage, disk_id("unknown"), plugin.folder / "unknown")
    assert failure.code() == Code.NOT_FOUND
    assert "the volume has not been published to node node-a" in failure.details()
    assert 4 < time.monotonic() - began < 40


def test_an_attachment_that_comes_after_the_call(plugin, cloud, disk_of):
    """And waiting for it to be attached costs no processor time, however long it takes."""

    def processor_seconds() -> float:
        fields = Path(f"/proc/{plugin.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    v = Volume(plugin, cloud, "early", disk_of(SMALLEST_EXT4))
    staging = plugin.later(v.stage)
    time.sleep(1)
    cloud.publish(v.name, state="Attaching")
    time.sleep(5)
    before = processor_seconds()
    time.sleep(2)
    assert processor_seconds() - before < 0.5
    plugin.machine.attach(v.disk, v.lun)
    cloud.report(v.name, lun=v.lun, size=v.disk.size)
    staging.result(timeout=60)
    v.unstage()


def test_one_call_at_a_time(plugin, cloud, disk_of):
    v = Volume(plugin, cloud, "busy", disk_of(SMALLEST_EXT4))
    cloud.publish(v.name, state="Attaching")
    calls = [plugin.later(plugin.stage, v.id, v.staging) for _ in range(2)]
    until(lambda: any(call.done() for call in calls), "the later one's refusal")
    [second] = [call for call in calls if call.done()]
    [staging] = [call for call in calls if call is not second]
    assert second.exception().code() == Code.ABORTED
    assert refused(plugin.unstage, v.id.upper(), v.staging).code() == Code.ABORTED
    other = Volume(plugin, cloud, "free", disk_of(SMALLEST_EXT4), lun=1).attach()
    other.stage()
    other.unstage()
    plugin.machine.attach(v.disk, v.lun)
    cloud.report(v.name, lun=v.lun, size=v.disk.size)
    staging.result(timeout=60)
    v.unstage()


def test_the_api_server_goes_away(volume, plugin, cloud, installed, disk_of):
    v = volume()
    v.stage()
    waiting = Volume(plugin, cloud, "waits", disk_of(SMALLEST_EXT4), lun=1)
    cloud.publish(waiting.name, state="Attaching")
    staging = plugin.later(waiting.stage, timeout=300)
    time.sleep(0.5)
    installed.kill()
    v.publish()  # what needs no word from the controller goes on
    v.unpublish()
    v.unstage()
    assert not staging.done()
    installed.restart()
    plugin.machine.attach(waiting.disk, waiting.lun)
    cloud.report(waiting.name, lun=waiting.lun, size=waiting.disk.size)
    staging.result()
    waiting.unstage()


@pytest.mark.parametrize("call", ("unstage", "publish"))
def test_a_plugin_that_has_read_nothing_yet_waits(volume, plugin, installed, call):
    """Kubelet calls as soon as the plug-in listens. That it knows no attachment says nothing of the volume then."""
    v = volume()
    v.stage()
    installed.kill()
    assert plugin.stop() == 0
    plugin.serve()
    answer = plugin.later(getattr(v, call))
    time.sleep(0.5)
    assert not answer.done() and plugin.machine.mounts(v.staging) == 1 and plugin.machine.mounts(v.target) == 0
    installed.restart()
    answer.result()
    plugin.register()
    if call == "publish":
        v.unpublish()
        v.unstage()
