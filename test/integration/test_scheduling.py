"""The real kube-scheduler with the extender: where pods land, by its bindings. Nodes are API
objects only, so no pod ever runs; the scheduler does not mind."""

import json
import subprocess
from collections import Counter
from contextlib import contextmanager

import pytest
from cluster import tools
from cluster.waiting import until

from .extender import Extender
from .placement import Placement

NODES = ["a", "b", "c", "d", "e"]
SCHEDULER = "with-extender"


def configuration(extender: Extender, kubeconfig, node_cache_capable: bool) -> dict:
    """As docs/scheduling.md recommends it, but that the extender has more than 2 s: a busy machine would do without it."""
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig)},
        "leaderElection": {"leaderElect": False},
        "profiles": [{"schedulerName": SCHEDULER, "percentageOfNodesToScore": 100}],
        "extenders": [
            {
                "urlPrefix": f"http://127.0.0.1:{extender.port}",
                "filterVerb": "filter",
                "prioritizeVerb": "prioritize",
                "weight": 20,
                "nodeCacheCapable": node_cache_capable,
                "ignorable": True,
                "httpTimeout": "30s",
            }
        ],
    }


@contextmanager
def scheduler(folder, extender: Extender, kubeconfig, node_cache_capable: bool = True):
    path = folder / "scheduler.json"
    path.write_text(json.dumps(configuration(extender, kubeconfig, node_cache_capable)))
    tied = ["setpriv", "--pdeathsig", "KILL"]  # it dies with this process, however that ends
    words = [*tied, tools.folder() / "kube-scheduler", f"--config={path}", "--secure-port=0"]
    path = folder / "scheduler.log"
    with open(path, "wb") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log)
    try:
        yield path
        assert process.poll() is None, path.read_text()[-4000:]
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def extender(apiserver, objects, tmp_path):
    with Extender(tmp_path / "log", kubeconfig=apiserver.kubeconfig) as extender:
        yield extender.until_ready()


def schedule(objects: Placement, names: list[str], claims: bool = True) -> None:
    """A pod of each name, with the claim of that name."""
    for name in names:
        objects.pod(name, [name] if claims else [], SCHEDULER)


def landed(objects: Placement, names: list[str]) -> dict[str, str]:
    def all_of_them() -> dict[str, str] | None:
        found = {name: objects.node_of(name) for name in names}
        return found if all(found.values()) else None

    return until(all_of_them, f"{len(names)} pods to be bound", interval=0.2)


def failures(objects: Placement) -> list[str]:
    events = objects.core.list_namespaced_event("default").items
    return [event.message for event in events if event.reason == "FailedScheduling"]


@pytest.mark.parametrize("node_cache_capable", [True, False], ids=["names", "whole-nodes"])
def test_pods_land_on_their_replicas(apiserver, objects, extender, tmp_path, node_cache_capable):
    """20 of 20, although each makes its node less attractive to the scheduler's own plug-ins."""
    wanted = {f"db-{i}": NODES[i % 2] for i in range(20)}
    for name, node in wanted.items():
        objects.bound(name)
        objects.attachment(name, node, "Attached")
    everything = {"AzVolumeAttachment": 20,  # and what other suites have left
                  "PersistentVolumeClaim": len(objects.core.list_persistent_volume_claim_for_all_namespaces().items),
                  "PersistentVolume": len(objects.core.list_persistent_volume().items)}
    until(lambda: has_read(extender, everything), "reading of the objects")
    with scheduler(tmp_path, extender, apiserver.kubeconfig, node_cache_capable):
        schedule(objects, list(wanted))
        assert landed(objects, list(wanted)) == wanted
    assert failures(objects) == []


def has_read(extender: Extender, counts: dict[str, int]) -> bool:
    metrics = extender.metrics()
    name = "azuredisk_extender_index_objects"
    return all(metrics[f'{name}{{kind="{kind}"}}'] == n for kind, n in counts.items())


def test_pods_without_replicas_land_anywhere(apiserver, objects, extender, tmp_path):
    names = [f"db-{i}" for i in range(10)]
    for name in names:
        objects.bound(name)
    with scheduler(tmp_path, extender, apiserver.kubeconfig):
        schedule(objects, names)
        by_node = Counter(landed(objects, names).values())
    assert set(by_node) == set(NODES)  # the scheduler's own plug-ins spread them
    assert failures(objects) == []


def test_no_pod_lands_where_the_plug_in_is_not_ready(apiserver, objects, extender, tmp_path):
    names = [f"db-{i}" for i in range(10)]
    for name in names:
        objects.bound(name)
        objects.attachment(name, "a", "Attached")
    objects.plugin("a", ready=False)
    until(lambda: extender.refused(["db-9"], ["a"]), "refusal of node a")
    with scheduler(tmp_path, extender, apiserver.kubeconfig):
        schedule(objects, names)
        assert "a" not in landed(objects, names).values()


def test_the_extender_is_killed_while_pods_are_scheduled(apiserver, objects, extender, tmp_path):
    before, after = ([f"{when}-{i}" for i in range(15)] for when in ("before", "after"))
    with scheduler(tmp_path, extender, apiserver.kubeconfig) as log:
        for name in before + after:
            objects.bound(name)
            objects.attachment(name, "b", "Attached")
        schedule(objects, before)
        until(lambda: objects.node_of(before[3]), "some pods to be bound")
        extender.kill()
        schedule(objects, after)
        landed(objects, before + after)
    assert "Skipping extender" in log.read_text()
    assert failures(objects) == []


def test_the_scheduler_starts_before_the_extender(apiserver, objects, tmp_path):
    """Neutral answers until all is read, then better ones; no pod waits for them."""
    objects.bound("db")
    objects.attachment("db", "c", "Attached")
    extender = Extender(tmp_path / "log", kubeconfig=apiserver.kubeconfig)
    with scheduler(tmp_path, extender, apiserver.kubeconfig), extender:
        schedule(objects, ["early"], claims=False)
        landed(objects, ["early"])
        extender.until_ready()
        schedule(objects, ["db"])
        assert landed(objects, ["db"]) == {"db": "c"}
    assert failures(objects) == []
