"""Preferred nodes in the affinity of pods, by the webhook of the scheduler extender."""

import pytest
from cluster.waiting import until
from kubernetes import client

from .placement import pod
from .placement_webhook import Webhook, attached, changed, no_pods

PREFERRED = "preferred_during_scheduling_ignored_during_execution"
OWN = {"weight": 7, "preference": {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}}


@pytest.fixture(scope="module")
def objects(apiserver):
    yield from attached(apiserver)


@pytest.fixture
def core(apiserver):
    yield from no_pods(apiserver)


@pytest.fixture(scope="module")
def extender(apiserver, objects, tmp_path_factory):
    with Webhook(apiserver, tmp_path_factory.mktemp("webhook"), "webhook") as webhook, webhook.extender() as extender:
        extender.until_ready()
        core = client.CoreV1Api(webhook.apiserver.client())
        until(lambda: preferred(core.create_namespaced_pod("default", pod("asking", ["one"]), dry_run="All")),
              "the first preferences")
        yield extender


def preferred(made: client.V1Pod) -> dict[str, int]:
    """From what a term prefers to its weight; that no term is there twice is checked."""
    nodes = made.spec.affinity.node_affinity if made.spec.affinity else None
    terms = getattr(nodes, PREFERRED) if nodes else []
    found = {term.preference.match_fields[0].values[0] if term.preference.match_fields
             else term.preference.match_expressions[0].key: term.weight for term in terms}
    assert len(found) == len(terms)
    return found


def test_nodes_with_the_disk_are_preferred(core, extender):
    assert preferred(core.create_namespaced_pod("default", pod("db", ["one"]))) == {"a": 100, "b": 50}
    assert preferred(core.create_namespaced_pod("default", pod("lonely", ["lonely"]))) == {}


def test_what_the_user_prefers_stays(core, extender):
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [OWN]}}
    made = core.create_namespaced_pod("default", changed(affinity=affinity))
    assert preferred(made) == {"a": 100, "b": 50, "zone": 7}


def test_a_copy_of_a_pod_gets_nothing_twice(apiserver, core, extender):
    made = core.create_namespaced_pod("default", pod("db", ["one"]))
    spec = apiserver.client().sanitize_for_serialization(made.spec)
    copy = core.create_namespaced_pod("default", {"metadata": {"name": "copy"}, "spec": spec})
    assert preferred(copy) == {"a": 100, "b": 50}
