"""Claims ask for more: disks grow, and what pods see of them, while they write or between two of them."""

import time

import pytest
from cluster.node import may_raise_limits
from cluster.waiting import until
from deployment.ledger import Ledger, manifests

from .every_volume import FILE_SYSTEMS, GIB, KINDS, PATH, Pod, shown_capacities, user
from .fleet import PRIMARY, REPLICA

# The kernel lets a mounted ext4 grow only by the capability that the containers of some machines cannot have.
GROWABLE = [kind for kind in KINDS if kind != "ext4" or may_raise_limits()]
WRITTEN = [kind for kind in GROWABLE if kind in FILE_SYSTEMS]
ONLINE_SECONDS = 30  # from the request until the pod has the space
SHOWN_SECONDS = 30  # from then on, until kubelet's metrics show it; its volumeStatsAggPeriod decides about that
RETRY_SECONDS = 60  # csi-resizer's longest time between two attempts
WRITER = f"""(while echo $((++n)) >>{PATH}/lines; do sleep 0.05; done) >/dev/null 2>&1 &"""


def request(cluster, claim: str, size: str) -> None:
    patch = f'{{"spec": {{"resources": {{"requests": {{"storage": "{size}"}}}}}}}}'
    cluster.kubectl("patch", "pvc", claim, "--patch", patch)


def claim(cluster, name: str) -> dict:
    return cluster.get("pvc", name)


def capacity(cluster, name: str) -> str:
    """What the claim's pod can use."""
    return claim(cluster, name)["status"]["capacity"]["storage"]


def disk_gib(azure, volume: str) -> int | None:
    """The size of a disk in Azure; None if there is no such disk."""
    return next((disk["sizeGiB"] for disk in azure.control("GET", "disks")["disks"] if disk["name"] == volume), None)


def seen_bytes(pod: Pod, kind: str) -> int:
    """The size of the volume, in its pod."""
    if kind == "block":
        return int(pod.run(kind, f"blockdev --getsize64 {PATH}"))
    return int(pod.run(kind, f"df -P -k {PATH} | tail -n 1").split()[1]) * 1024


def look_again(cluster, pod: str) -> None:
    """kubelet looks at a pod's claims when the pod has changed, else about once a minute."""
    cluster.kubectl("annotate", "--overwrite", "pod", pod, f"looked-at={time.time()}")


def refusal(cluster, name: str) -> str:
    """Why a claim does not grow, as its owner is told."""
    which = f"involvedObject.name={name},reason=VolumeResizeFailed"
    return until(lambda: cluster.get("events", "--field-selector", which)["items"], "an event of the claim", 30,
                 interval=0.3)[0]["message"]


# ---- disks that grow while they are in use ----

@pytest.fixture(scope="module")
def pod(cluster, claims):
    """Its file systems are written to all the time."""
    with Pod(cluster, user("grows", "node-a")) as pod:
        for kind in WRITTEN:
            pod.run(kind, WRITER)
        yield pod


@pytest.fixture(scope="module")
def volumes(cluster, pod) -> dict[str, str]:
    return {kind: claim(cluster, kind)["spec"]["volumeName"] for kind in GROWABLE}


@pytest.fixture(scope="module")
def grown(cluster, azure, pod, volumes, measured) -> dict[str, int]:
    """What the pod sees of each volume after all of them were to grow to 2 GiB."""
    before = azure.last_request()
    until(lambda: all(0 < bytes_ <= GIB for bytes_ in shown(cluster).values()), "kubelet shows the sizes of before",
          SHOWN_SECONDS)
    begin = time.monotonic()
    for kind in GROWABLE:
        request(cluster, kind, "2Gi")
    until(lambda: all(disk_gib(azure, volume) == 2 for volume in volumes.values()), "the disks grow", ONLINE_SECONDS,
          interval=0.05)
    until(lambda: all(pending(cluster, kind, "2Gi") for kind in GROWABLE), "the claims wait for the node", ONLINE_SECONDS,
          interval=0.05)
    look_again(cluster, pod.name)
    left = begin + ONLINE_SECONDS - time.monotonic()
    until(lambda: all(capacity(cluster, kind) == "2Gi" for kind in GROWABLE), "the claims have their size", left,
          interval=0.05)
    ended = time.monotonic()
    measured["seconds until claims have grown in use"] = round(ended - begin, 1)
    until(lambda: all(bytes_ > 1.8 * GIB for bytes_ in shown(cluster).values()), "kubelet shows the sizes", SHOWN_SECONDS,
          interval=0.05)
    measured["seconds until kubelet shows the size"] = round(time.monotonic() - ended, 1)
    assert azure.accepted("virtualMachines.attachDetachDataDisks", before) == [], "no disk was taken away for it"
    return {kind: seen_bytes(pod, kind) for kind in GROWABLE}


def shown(cluster) -> dict[str, float]:
    """In kubelet's metrics, of the claims that grow."""
    capacities = shown_capacities(cluster, "node-a")
    return {kind: capacities.get(kind, 0) for kind in GROWABLE}


def pending(cluster, name: str, size: str) -> bool:
    """The disk has grown; kubelet has its part to do, or has done it."""
    status = claim(cluster, name)["status"]
    waits = [c["type"] for c in status.get("conditions", [])]
    return "FileSystemResizePending" in waits or status["capacity"]["storage"] == size


@pytest.mark.parametrize("kind", GROWABLE)
def test_a_pod_has_the_new_size_without_a_restart(kind, grown):
    if kind == "block":
        assert grown[kind] == 2 * GIB
    else:
        assert 1.8 * GIB < grown[kind] < 2 * GIB, "less what the file system needs for itself"


@pytest.mark.parametrize("kind", WRITTEN)
def test_nothing_that_was_written_meanwhile_is_missing(kind, pod, grown):
    lines = f"wc -l <{PATH}/lines"
    now = int(pod.run(kind, lines))
    until(lambda: int(pod.run(kind, lines)) > now, "it is still being written", 10)
    pod.run(kind, f"n=0; head -n {now} {PATH}/lines | while read line; do test $line = $((++n)); done")


def test_a_request_that_cannot_be_met_is_taken_back(cluster, azure, grown, volumes):
    request(cluster, "block", "40Ti")
    said = refusal(cluster, "block")
    assert "40960 GiB is too large" in said and "at most 32767 GiB" in said
    request(cluster, "block", "3Gi")
    until(lambda: disk_gib(azure, volumes["block"]) == 3, "the disk has the smaller size", 30, interval=0.3)


# ---- a disk that grows between two pods ----

@pytest.fixture
def shared(cluster, azure, driver):
    """A database whose volume has a primary and a replica."""
    ledger = Ledger(cluster, "grows-shared", 2)
    storage_class, stateful_set = manifests(ledger.name, ledger.max_shares)
    storage_class["parameters"]["fsType"] = WRITTEN[-1]
    cluster.apply(storage_class, stateful_set)
    ledger.wait_ready()
    until(lambda: roles(driver, ledger) == [PRIMARY, REPLICA], "a replica")
    volume = ledger.volume()
    yield ledger
    ledger.delete()
    until(lambda: disk_gib(azure, volume) is None, "its disk is gone", interval=0.5)


def roles(driver, ledger: Ledger) -> list[str]:
    return sorted(driver.roles(ledger.volume()).values())


def test_a_shared_disk_grows_between_two_pods(cluster, azure, driver, shared):
    name, volume = f"data-{shared.pod}", shared.volume()
    shared.start_writing()
    until(lambda: shared.client.acknowledged > 20, "records are acknowledged", 30)
    request(cluster, name, "2Gi")
    said = refusal(cluster, name)
    for part in ("maxShares above 1", f"pod default/{shared.pod} uses it", "scaled to 0"):
        assert part in said
    assert disk_gib(azure, volume) == 1
    assert roles(driver, shared) == [PRIMARY, REPLICA], "a failover has its replica"

    shared.scale(0)
    shared.stop_writing()
    until(lambda: disk_gib(azure, volume) == 2, "the disk grows, though nobody asks again", 30, interval=0.3)
    shared.scale(1)
    shared.wait_ready()
    until(lambda: roles(driver, shared) == [PRIMARY, REPLICA], "the replica is back", 60, interval=0.3)
    until(lambda: pending(cluster, name, "2Gi"), "the claim knows of it", RETRY_SECONDS, interval=0.3)
    look_again(cluster, shared.pod)
    until(lambda: capacity(cluster, name) == "2Gi", "the claim has its size", ONLINE_SECONDS, interval=0.3)
    assert shared.missing() == 0
