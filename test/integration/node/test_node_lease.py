"""The Lease by which the controller hears of a node: who has one, and until when. Loop devices have no fence, so that the
tests say that there is one."""

from pathlib import Path

import pytest
from cluster.waiting import until
from kubernetes import client

from ..placement import OBJECTS
from .conftest import NODE
from .failover import KEY, LABEL_NODE_LEASE, FailoverSide
from .machine import SMALLEST_EXT4
from .volume import Volume

DURATION_S = 2
FLAG = f"--node-lease-duration={DURATION_S}s"
BOOT_ID = Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@pytest.fixture
def failover(installed, cloud):
    side = FailoverSide(installed.client(), cloud)
    side.clear()
    yield side
    side.clear()


@pytest.fixture
def plugin(failover, stopped):
    return stopped.run(FLAG)


@pytest.fixture
def primary(failover, cloud):
    """primary(name): one that wants automatic failover and has a fence."""

    def make(name: str = "data", lun: int = 0) -> str:
        cloud.publish(name, lun=lun, size=SMALLEST_EXT4)
        failover.want(name)
        failover.note(name, fence=f"held {KEY}")
        return name

    return make


def is_held(failover: FailoverSide) -> None:
    until(lambda: failover.holder() == BOOT_ID, "the Lease is held")


def is_given_up(failover: FailoverSide) -> None:
    until(lambda: failover.holder() == "", "the Lease is given up")


def is_renewed(failover: FailoverSide, times: int = 2) -> None:
    for _ in range(times):
        before = failover.lease().spec
        until(lambda: failover.lease().spec.renew_time > before.renew_time, "a renewal")
        assert failover.lease().spec.acquire_time == before.acquire_time


def test_it_is_held_while_there_is_a_primary_with_a_fence(plugin, primary, cloud, failover):
    primary()
    is_held(failover)
    lease = failover.lease()
    assert lease.metadata.labels == {LABEL_NODE_LEASE: "true"}
    assert lease.spec.lease_duration_seconds == DURATION_S
    is_renewed(failover)
    cloud.want("data", "Replica")
    cloud.attest("data", role="Replica", lun=0, size=SMALLEST_EXT4)
    is_given_up(failover)
    given_up = failover.lease().spec.renew_time
    cloud.want("data", "Primary")
    cloud.attest("data", role="Primary", lun=0, size=SMALLEST_EXT4)
    is_held(failover)
    assert failover.lease().spec.acquire_time > given_up
    is_renewed(failover)
    assert plugin.metrics()['azuredisk_node_lease_writes_total{result="ok"}'] >= 5


@pytest.mark.parametrize("end", ("its fence is lost", "automatic failover is not wanted any more", "it goes"))
def test_it_ends_with_its_reason(plugin, primary, cloud, failover, end):
    primary()
    is_held(failover)
    if end == "its fence is lost":
        failover.note("data", fence=f"lost {KEY}")
    elif end == "it goes":
        cloud.unpublish("data")
    else:
        failover.want("data", "false")
    is_given_up(failover)


def test_one_of_several_is_enough(plugin, primary, cloud, failover):
    for lun, name in enumerate(("data", "more")):
        primary(name, lun)
    is_held(failover)
    cloud.unpublish("data")
    plugin.knows_attachments(1)
    is_renewed(failover)
    cloud.unpublish("more")
    is_given_up(failover)


def test_without_the_flag_there_is_none(stopped, primary, failover):
    primary()
    stopped.run()
    stopped.knows_attachments(1)
    until(lambda: stopped.get("/readyz")[0] == 200, "readiness")
    assert stopped.stop() == 0 and failover.lease() is None


def test_who_has_no_reason_makes_none(plugin, volume, failover):
    v = volume()
    v.stage()
    v.unstage()
    assert plugin.stop() == 0 and failover.lease() is None


def test_an_orderly_end_gives_it_up(plugin, primary, failover):
    primary()
    is_held(failover)
    assert plugin.stop() == 0
    assert failover.holder() == ""
    plugin.run(FLAG)
    is_held(failover)
    is_renewed(failover)


def test_after_a_crash_it_is_renewed(plugin, primary, failover):
    primary()
    is_held(failover)
    plugin.kill()
    left = failover.lease()
    assert left.spec.holder_identity == BOOT_ID
    plugin.run(FLAG)
    until(lambda: failover.lease().spec.renew_time > left.spec.renew_time, "a renewal")
    is_renewed(failover)
    assert failover.lease().metadata.uid == left.metadata.uid


def test_one_that_a_former_life_has_left_is_given_up(plugin, primary, cloud, failover):
    primary()
    is_held(failover)
    plugin.kill()
    cloud.unpublish("data")
    plugin.run(FLAG)
    is_given_up(failover)


def test_one_of_another_boot_is_taken_over(stopped, primary, failover, installed):
    body = {"metadata": {"name": NODE, "labels": {LABEL_NODE_LEASE: "true"}}, "spec": {
        "holderIdentity": "of-another-boot", "leaseDurationSeconds": 3600, "renewTime": "2099-01-01T00:00:00.000000Z"}}
    client.CoordinationV1Api(installed.client()).create_namespaced_lease(OBJECTS, body)
    primary()
    stopped.run(FLAG)
    is_held(failover)


def test_one_that_somebody_deletes_is_there_again(plugin, primary, failover):
    primary()
    is_held(failover)
    failover.clear()
    is_held(failover)
    is_renewed(failover)


def test_a_disk_that_hangs_does_not_stop_it(plugin, primary, cloud, failover, frozen):
    disk, freeze = frozen
    primary("other", 1)
    is_held(failover)
    v = Volume(plugin, cloud, "data", disk).attach()
    freeze(True)
    call = plugin.later(v.stage)
    plugin.until_it_waits_for_a_disk()
    is_renewed(failover, times=3)
    freeze(False)
    call.result()
    v.unstage()


def test_an_api_server_that_hangs_is_asked_in_every_period(plugin, primary, failover, installed):
    primary()
    is_held(failover)
    failed = 'azuredisk_node_lease_writes_total{result="failed"}'
    installed.stop()
    try:
        # On a busy machine one may have failed before.
        said, before = len(plugin.log.read_text()), plugin.metrics().get(failed, 0)
        until(lambda: plugin.metrics().get(failed, 0) >= before + 4, "failures")
        news = plugin.log.read_text()[said:]
        assert news.count("the node's Lease cannot be written") <= 1
    finally:
        installed.cont()
    until(lambda: "the node's Lease is written again" in plugin.log.read_text()[said + len(news):],
          "a renewal that is answered")
    before = failover.lease().spec.renew_time
    until(lambda: failover.lease().spec.renew_time > before, "a further renewal")


@pytest.mark.parametrize("duration", ("1s", "1999ms", "2h"))
def test_a_duration_that_is_too_short_or_too_long_is_refused(stopped, duration):
    process = stopped.start(f"--node-lease-duration={duration}").process
    assert process.wait(60) not in (0, None)
    assert "--node-lease-duration must be 0, or from 2s to 1h" in stopped.log.read_text()
