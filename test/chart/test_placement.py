"""On which nodes the chart's pods may run, and which they prefer."""

import pytest

from .chart import SNAPSHOTS, of_kind, render, template

REQUIRED, PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
CONTROL_PLANE = {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists"}
VIRTUAL = {"key": "type", "operator": "NotIn", "values": ["virtual-kubelet"]}


def exists(key: str) -> dict:
    return {"key": key, "operator": "Exists"}


def terms(*keys: str) -> dict:
    """A node has one of these labels."""
    return {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [exists(key)]} for key in keys]}}


def pods(values: dict) -> dict[str, dict]:
    return {d["metadata"]["name"].removeprefix("csi-").removeprefix("azuredisk-"): d["spec"]["template"]["spec"]
            for kind in ("Deployment", "DaemonSet") for d in of_kind(render(values), kind)}


def required(pod: dict) -> list[list[dict]]:
    return [term["matchExpressions"] for term in pod["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]]


# ---- node plug-ins ----

def test_virtual_kubelets_have_no_node_plug_in():
    assert required(pods({})["node"]) == [[VIRTUAL]]


def test_both_node_affinities_of_the_node_plug_in_hold():
    """Each is a list of terms of which one has to hold."""
    values = {"linux.affinity": {"nodeAffinity": terms("a", "b"), "podAffinity": {}}, "linux.nodeAffinity": terms("c", "d")}
    pod = pods(values)["node"]
    assert required(pod) == [[exists(one), exists(other)] for one in "ab" for other in "cd"]
    assert pod["affinity"]["podAffinity"] == {}


def test_an_affinity_without_terms_leaves_those_of_the_other():
    preferred = [{"weight": 1, "preference": {"matchExpressions": [exists("a")]}}]
    pod = pods({"linux.affinity": {"nodeAffinity": {PREFERRED: preferred}}})["node"]
    assert required(pod) == [[VIRTUAL]] and pod["affinity"]["nodeAffinity"][PREFERRED] == preferred
    pod = pods({"linux.affinity": {"nodeAffinity": {PREFERRED: preferred}}, "linux.nodeAffinity": {PREFERRED: preferred}})["node"]
    assert pod["affinity"]["nodeAffinity"][PREFERRED] == preferred * 2


def test_terms_about_names_of_nodes_are_kept():
    field = {"key": "metadata.name", "operator": "NotIn", "values": ["node"]}
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": [field]}]}}}
    [term] = pods({"linux.affinity": affinity})["node"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
    assert term == {"matchFields": [field], "matchExpressions": [VIRTUAL]}


def test_the_node_plug_in_may_go_anywhere():
    [pod] = [pod for name, pod in pods({"linux.nodeAffinity": None}).items() if name == "node"]
    assert not pod["affinity"]


# ---- Deployments ----

DEPLOYMENTS = ("controller", "scheduler-extender")


@pytest.mark.parametrize(("name", "label"), [("runOnMaster", "master"), ("runOnControlPlane", "control-plane")])
def test_deployments_may_be_kept_to_the_control_plane(name, label):
    """Whatever the value of the label is: distributions differ. They are still spread."""
    found = pods(SNAPSHOTS | {f"controller.{name}": True})
    for deployment in DEPLOYMENTS:
        assert required(found[deployment]) == [[exists(f"node-role.kubernetes.io/{label}")]]
        assert found[deployment]["affinity"]["podAntiAffinity"]
    assert "nodeAffinity" not in found["snapshot-controller"]["affinity"]
    assert required(found["node"]) == [[VIRTUAL]]


def test_an_affinity_of_ones_own_holds_there_as_well():
    for part, deployment in zip(("controller", "schedulerExtender"), DEPLOYMENTS):
        values = {f"{part}.affinity": {"nodeAffinity": terms("a", "b")}}
        assert required(pods(values)[deployment]) == [[exists("a")], [exists("b")]]
        assert "podAntiAffinity" not in pods(values)[deployment]["affinity"]
        found = pods(values | {"controller.runOnControlPlane": True})[deployment]
        assert required(found) == [[exists("a"), CONTROL_PLANE], [exists("b"), CONTROL_PLANE]]


def test_deployments_are_spread_over_zones():
    """Where there are none, that keeps no pod from running."""
    for name, pod in pods(SNAPSHOTS).items():
        [constraint] = pod.get("topologySpreadConstraints", [None])
        assert constraint == (None if name == "node" else {
            "topologyKey": "topology.kubernetes.io/zone", "maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"app": f"csi-{name}" if "snapshot" in name else f"csi-azuredisk-{name}"}}})


def test_constraints_are_about_these_pods_unless_they_say_otherwise():
    rack = {"topologyKey": "rack", "maxSkew": 2, "whenUnsatisfiable": "DoNotSchedule"}
    chosen = rack | {"labelSelector": {"matchLabels": {"other": "pods"}}}
    for part, deployment in zip(("controller", "schedulerExtender"), DEPLOYMENTS):
        own = {"labelSelector": {"matchLabels": {"app": f"csi-azuredisk-{deployment}"}}}
        found = pods({f"{part}.topologySpreadConstraints": [rack, chosen]})[deployment]["topologySpreadConstraints"]
        assert found == [rack | own, chosen]


def test_pods_tolerate_system_pools():
    """On AKS, nodes of such a pool may be for critical add-ons only."""
    taint = {"key": "CriticalAddonsOnly", "operator": "Exists", "effect": "NoSchedule"}
    assert all(taint in pods(SNAPSHOTS)[name]["tolerations"] for name in (*DEPLOYMENTS, "snapshot-controller"))


def test_pods_may_have_no_priority_class():
    """In a namespace whose quota has none for them."""
    parts = {"controller": "system-cluster-critical", "linux": "system-node-critical", "schedulerExtender": "system-cluster-critical"}
    for part, (name, default) in zip(parts, zip(("controller", "node", "scheduler-extender"), parts.values())):
        assert pods({})[name]["priorityClassName"] == default
        assert "priorityClassName" not in pods({f"{part}.priorityClassName": ""})[name]


# ---- updates ----

def test_node_plug_ins_may_wait_to_be_replaced():
    [daemon_set] = of_kind(render({"linux.updateStrategy": "OnDelete"}), "DaemonSet")
    assert daemon_set["spec"]["updateStrategy"] == {"type": "OnDelete"}
    [daemon_set] = of_kind(render({"node.maxUnavailable": "10%"}), "DaemonSet")
    assert daemon_set["spec"]["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}}
    assert template({"linux.updateStrategy": "Recreate"}).returncode != 0
