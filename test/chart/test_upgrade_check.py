"""The hooks of the chart: what the upgrade check looks for is what the release is going to have, it may read that and no more, and
helm test has one Pod."""

import json
from functools import cache

import pytest
from cluster import tools

from .chart import FAILOVER, SCHEDULER, SNAPSHOTS, containers, documents, every_value_changed, helm, of_kind, render

NAME = "csi-azuredisk-upgrade-check"
FIXED = ("CSIDriver", "StorageClass", "ClusterRoleBinding", "RoleBinding", "Deployment", "DaemonSet", "CustomResourceDefinition",
         "MutatingWebhookConfiguration", "Namespace")
CHOICES = {"by default": {}, "nominate": {"placement.mode": "nominate"},
           "everything": every_value_changed() | SNAPSHOTS | FAILOVER | SCHEDULER | {
               "upgradeCheck.enabled": True, "installCheck.enabled": True, "serviceAccount.create": True, "rbac.create": True}}
# Not those that the driver makes again, or only its own pods use.
TAKEN_FROM_USERS = ("CustomResourceDefinition", "DaemonSet", "Deployment", "Namespace", "StorageClass", "VolumeSnapshotClass")
each_choice = pytest.mark.parametrize("choice", CHOICES)


@cache
def objects(choice: str) -> list[dict]:
    return render(CHOICES[choice])


def is_hook(document: dict, event: str = "") -> bool:
    events = document["metadata"].get("annotations", {}).get("helm.sh/hook", "")
    return event in events.split(",") if event else bool(events)


def plan_of(documents: list[dict]) -> dict:
    [found] = [d for d in of_kind(documents, "ConfigMap") if "plan" in d["data"]]
    return json.loads(found["data"]["plan"])


def key(document: dict) -> tuple:
    return document["kind"], document["metadata"].get("namespace"), document["metadata"]["name"]


@each_choice
def test_the_plan_has_every_object_that_cannot_be_changed_at_will(choice):
    planned = {key(d): d for d in plan_of(objects(choice))["objects"] if not d.get("left")}
    rendered = {key(d): d for d in objects(choice) if d["kind"] in FIXED and not is_hook(d)}
    assert planned.keys() == rendered.keys()
    for name, document in rendered.items():
        for member in ("roleRef", "provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"):
            assert planned[name].get(member) == document.get(member)
        if document["kind"] in ("Deployment", "DaemonSet"):
            assert planned[name]["spec"]["selector"] == document["spec"]["selector"]


def test_the_plan_names_the_release_and_its_version():
    plan = plan_of(objects("by default"))
    assert plan["release"] == "kube-system/release"
    [version] = {d["metadata"]["labels"]["app.kubernetes.io/version"] for d in of_kind(objects("by default"), "Deployment")}
    assert plan["version"] == version
    assert plan["driver"] == "disk.csi.azure.com"
    [driver] = [d for d in plan["objects"] if d["kind"] == "CSIDriver"]
    assert driver["spec"] == {"attachRequired": True}


def test_the_plan_has_the_service_of_the_webhook():
    [webhook] = [d for d in plan_of(objects("nominate"))["objects"] if d["kind"] == "MutatingWebhookConfiguration"]
    assert webhook["service"] == {"namespace": "kube-system", "name": "csi-azuredisk-scheduler-extender"}


@pytest.mark.parametrize("creates", [True, False])
def test_definitions_are_installed_or_looked_for(creates):
    found = [d for d in plan_of(render({"crds.create": creates}))["objects"] if "storage" in d]
    assert len(found) == 4
    for definition in found:
        assert definition["left"] is not creates and definition["storage"] in definition["versions"]


def of_microsoft(version: str, values: dict) -> list[dict]:
    chart = str(tools.microsofts_chart(version))
    return documents(helm("template", "release", chart, "--namespace", "kube-system", values=values).stdout)


@pytest.mark.parametrize("version", ["v1.33.0", "v2.0.0-beta.6"])
def test_nothing_of_microsofts_charts_is_deleted_without_a_look(version):
    """Of the kinds whose deletion takes something from users. Their values may have other names for it."""
    values = {"snapshot.enabled": True, "windows.dsName": "win"}
    before = {key(d) for d in of_microsoft(version, values) if d["kind"] in TAKEN_FROM_USERS}
    after = {key(d) for d in render(SNAPSHOTS | values) if d["kind"] in TAKEN_FROM_USERS}
    looked_at = {key(d) for d in plan_of(render(SNAPSHOTS | values))["objects"] if d.get("left")}
    assert ("DaemonSet", "kube-system", "win") in before - after <= looked_at


@each_choice
def test_it_may_read_what_is_in_the_plan_and_volumes_and_nothing_else(choice):
    [role] = [d for d in of_kind(objects(choice), "ClusterRole") if is_hook(d, "pre-upgrade")]
    [unnamed] = [rule["resources"] for rule in role["rules"] if "resourceNames" not in rule]
    assert unnamed == ["persistentvolumes"]
    allowed = {(resource, name) for rule in role["rules"] for resource in rule["resources"] for name in rule.get("resourceNames", [])}
    assert {verb for rule in role["rules"] for verb in rule["verbs"]} == {"list"}

    def plural(kind: str) -> str:
        return kind.lower() + ("es" if kind.endswith("s") else "s")

    assert allowed == {(plural(d["kind"]), d["metadata"]["name"]) for d in plan_of(objects(choice))["objects"]}


def test_it_runs_before_helm_changes_anything_and_leaves_nothing():
    found = [d for d in objects("by default") if is_hook(d, "pre-upgrade")]
    assert {d["kind"] for d in found} == {"ServiceAccount", "ConfigMap", "ClusterRole", "ClusterRoleBinding", "Job"}
    for document in found:
        notes = document["metadata"]["annotations"]
        assert notes["helm.sh/hook"] == "pre-install,pre-upgrade"
        assert notes["helm.sh/hook-delete-policy"] == "before-hook-creation,hook-succeeded"
        earlier = {"ServiceAccount": "-1", "ConfigMap": "-1", "ClusterRole": "-1", "ClusterRoleBinding": "-1", "Job": None}
        assert notes.get("helm.sh/hook-weight") == earlier[document["kind"]], "Helm makes it in time for the Job"
    [pod] = [d["spec"]["template"]["spec"] for d in found if d["kind"] == "Job"]
    [container], [volume] = pod["containers"], pod["volumes"]
    assert container["args"] == ["upgrade-check", "/etc/azuredisk/plan"]
    assert volume["configMap"]["name"] == NAME and container["volumeMounts"][0]["mountPath"] == "/etc/azuredisk"
    assert pod["serviceAccountName"] == f"{NAME}-sa"


@pytest.mark.parametrize("value", ["upgradeCheck.enabled", "serviceAccount.create", "rbac.create"])
def test_without_an_account_of_the_charts_there_is_none(value):
    assert not [d for d in render({value: False}) if is_hook(d, "pre-upgrade")]


def before_uninstall(values: dict) -> dict[str, dict]:
    return {d["kind"]: d for d in render(values) if is_hook(d, "pre-delete")}


def test_the_uninstall_check_needs_nothing_of_the_release():
    """Of a first install that was refused there is nothing else, and Helm uninstalls it all the same."""
    found = before_uninstall({})
    account, role, binding, job = (found.pop(kind) for kind in ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Job"))
    assert not found
    assert job["spec"]["template"]["spec"]["serviceAccountName"] == account["metadata"]["name"] == binding["subjects"][0]["name"]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert {(*rule["resources"], *rule["verbs"]) for rule in role["rules"]} == {("volumeattachments", "list"), ("persistentvolumes", "list")}
    for document in (account, role, binding):
        assert document["metadata"]["annotations"]["helm.sh/hook-weight"] == "-1", "Helm makes it in time for the Job"


@pytest.mark.parametrize("value", ["serviceAccount.create", "rbac.create"])
def test_without_an_account_of_the_charts_the_uninstall_check_has_the_controllers(value):
    [job] = before_uninstall({value: False}).values()
    assert job["spec"]["template"]["spec"]["serviceAccountName"] == "csi-azuredisk-controller-sa"


def test_helm_test_has_one_pod_and_no_other_hook():
    """`helm test --logs` asks for the log of a Pod of every such hook, of whatever kind."""
    [pod] = [d for d in objects("by default") if is_hook(d, "test")]
    assert pod["kind"] == "Pod" and pod["spec"]["restartPolicy"] == "Never"
    assert pod["metadata"]["annotations"]["helm.sh/hook-delete-policy"] == "before-hook-creation"
    [container] = pod["spec"]["containers"]
    [controller] = [c for c in containers(objects("by default")) if "/bin/azdisk-controller" in c.get("command", [])]
    assert f"--leader-election-name={container['args'][1]}" in controller["args"]
    assert not [d for d in render({"installCheck.enabled": False}) if "-install-check" in d["metadata"]["name"]]


def test_the_install_check_changes_nothing():
    verbs = {verb for kind in ("Role", "ClusterRole") for role in of_kind(objects("by default"), kind)
             if "-install-check" in role["metadata"]["name"] for rule in role["rules"] for verb in rule["verbs"]}
    assert verbs == {"get", "list"}
