"""What users add to the chart's pods: an identity, proxies, environment, volumes, containers, labels; and how metrics are found."""

import re

import pytest

from .chart import SCHEDULER, SNAPSHOTS, TREE, VOLUME_SNAPSHOTS, containers, notes, of_kind, render

HTTPS, HTTP, NONE = "driver.httpsProxy", "driver.httpProxy", "driver.noProxy"


def pod(values: dict, name: str) -> dict:
    [found] = [d["spec"]["template"] for kind in ("Deployment", "DaemonSet") for d in of_kind(render(values), kind)
               if d["metadata"]["name"] == f"csi-azuredisk-{name}"]
    return found


def every_pod(values: dict) -> list[dict]:
    objects = render(values | SCHEDULER | SNAPSHOTS)
    return [d["spec"]["template"] for kind in ("Deployment", "DaemonSet", "Job") for d in of_kind(objects, kind)] + of_kind(objects, "Pod")


def container(values: dict, program: str) -> dict:
    [found] = [c for c in containers(render(values)) if c.get("command") == [f"/bin/{program}"]]
    return found


def environment(values: dict, program: str = "azdisk-controller") -> dict[str, str]:
    return {variable["name"]: variable.get("value") for variable in container(values, program).get("env", [])}


# ---- who the controller is for Azure ----

def test_workload_identity():
    """The webhook looks for the label of the pod, and reads the account's annotations."""
    values = {"workloadIdentity.clientID": "client", "workloadIdentity.tenantID": "tenant",
              "controller.podLabels": {"azure.workload.identity/use": "false"}}
    name = "azure.workload.identity"
    assert pod(values, "controller")["metadata"]["labels"][f"{name}/use"] == "true"
    assert f"{name}/use" not in pod(values, "node")["metadata"]["labels"], "it does not talk to Azure"
    accounts = {d["metadata"]["name"]: d["metadata"] for d in of_kind(render(values), "ServiceAccount")}
    controller = accounts.pop("csi-azuredisk-controller-sa")
    assert controller["annotations"] == {f"{name}/client-id": "client", f"{name}/tenant-id": "tenant"}
    assert controller["labels"][f"{name}/use"] == "true"
    assert accounts and name not in str(accounts)
    assert name not in str(render())


def test_the_user_agent():
    """One argument each, whatever is in it."""
    values = {"driver.customUserAgent": "team's own/1 (test)", "driver.userAgentSuffix": "OSS-helm"}
    arguments = container(values, "azdisk-controller")["args"]
    assert {"--custom-user-agent=team's own/1 (test)", "--user-agent-suffix=OSS-helm"} <= set(arguments)
    assert "user-agent" not in str(render())


# ---- proxies ----

def test_azure_may_be_called_through_a_proxy():
    found = environment({HTTPS: "http://proxy:3128", HTTP: "http://plain:3128", NONE: "example.com"})
    assert found["HTTPS_PROXY"] == "http://proxy:3128"
    assert found["http_proxy"] == "http://plain:3128"  # libcurl: "the http_proxy variable is only used in lower case"
    assert found["NO_PROXY"] == "$(KUBERNETES_SERVICE_HOST),example.com"
    assert not {name for name in environment({}) if "proxy" in name.lower()}


def test_the_api_server_is_not_called_through_it():
    assert environment({HTTPS: "http://proxy:3128"})["NO_PROXY"] == "$(KUBERNETES_SERVICE_HOST)"


@pytest.mark.parametrize("program", ["azdisk-node", "azdisk-scheduler-extender"])
def test_programs_that_do_not_talk_to_azure_have_none(program):
    values = {HTTPS: "http://proxy:3128", HTTP: "http://plain:3128", NONE: "example.com"}
    assert environment(values, program) == environment({}, program)


# ---- additions ----

def test_volumes_of_either_name_are_added():
    values = {"controller.extraVolumes": [{"name": "one", "emptyDir": {}}],
              "controller.additionalVolumes": [{"name": "two", "emptyDir": {}}],
              "controller.extraVolumeMounts": [{"name": "one", "mountPath": "/one"}],
              "linux.extraVolumes": [{"name": "three", "emptyDir": {}}],
              "linux.extraVolumeMounts": [{"name": "three", "mountPath": "/three"}]}
    for name, program, added in (("controller", "azdisk-controller", {"one", "two"}), ("node", "azdisk-node", {"three"})):
        before, after = pod({}, name)["spec"]["volumes"], pod(values, name)["spec"]["volumes"]
        assert {volume["name"] for volume in after} - {volume["name"] for volume in before} == added
        mounted = container(values, program)["volumeMounts"][len(container({}, program)["volumeMounts"]):]
        assert [mount["name"] for mount in mounted] == sorted(added)[:1]


def test_variables_are_added_to_each_program():
    for part, program in (("controller", "azdisk-controller"), ("node", "azdisk-node"),
                          ("schedulerExtender", "azdisk-scheduler-extender")):
        values = {f"{part}.extraEnv": [{"name": "EXTRA", "value": "1"}]}
        assert environment(values, program) == environment({}, program) | {"EXTRA": "1"}


def test_containers_are_added_to_the_controller():
    first = {"name": "first", "image": "example.com/first:1"}
    other = {"name": "other", "image": "example.com/other:1", "args": ["--x"]}
    spec = pod({"controller.initContainers": [first], "controller.additionalContainers": [other]}, "controller")["spec"]
    assert spec["initContainers"] == [first]
    assert spec["containers"] == [*pod({}, "controller")["spec"]["containers"], other]


def test_labels_of_ones_own_do_not_hide_those_that_are_looked_for():
    labels = {"app": "mine", "app.kubernetes.io/version": "mine", "team": "storage"}
    for part, name in (("controller", "controller"), ("linux", "node"), ("schedulerExtender", "scheduler-extender")):
        found = pod({f"{part}.podLabels": labels}, name)["metadata"]["labels"]
        assert found["app"] == f"csi-azuredisk-{name}" and found["team"] == "storage"
        assert found["app.kubernetes.io/version"] == "mine"


def test_nodes_of_ones_own_choice_run_linux_still():
    own = {"kubernetes.io/os": "windows", "pool": "storage"}
    found = [p["spec"]["nodeSelector"] for p in every_pod({f"{part}.nodeSelector": own for part in ("controller", "linux", "schedulerExtender")})]
    of_the_snapshot_controller, chosen = {"kubernetes.io/os": "linux"}, {"kubernetes.io/os": "linux", "pool": "storage"}
    assert found.count(of_the_snapshot_controller) == 1 and found.count(chosen) == len(found) - 1 == 7


def test_azdiskctl_finds_the_pods_whatever_their_labels_are():
    """And the controller's Deployment."""
    label = re.search(r'#define OF_THE_CHART "(.+)=(.+)"', (TREE / "azdiskctl/cluster.h").read_text()).groups()
    parts = ("controller", "linux", "schedulerExtender", "snapshot.snapshotController")
    values = {f"{part}.{kind}": {label[0]: "mine"} for part in parts for kind in ("labels", "podLabels")} | {"nameOverride": "mine"}
    found = [d["metadata"]["labels"] for d in every_pod(values) + of_kind(render(values), "Deployment")]
    assert found and all(label in labels.items() for labels in found)
    assert all(labels["app.kubernetes.io/name"] == "mine" for labels in found)
    assert f"-l {'='.join(label)}\n" in notes(values)


def test_feature_gates_of_sidecars():
    values = {"controller.featureGates.csiProvisioner": ["Topology=true", "VolumeAttributesClass=true"],
              "controller.featureGates.csiResizer": ["VolumeAttributesClass=true"]}
    for changed, expected in (({}, ["Topology=true", None]),
                              (values, ["Topology=true,VolumeAttributesClass=true", "VolumeAttributesClass=true"])):
        found = {c["name"]: [a.partition("=")[2] for a in c["args"] if a.startswith("--feature-gates=")]
                 for c in containers(render(changed, apis=VOLUME_SNAPSHOTS))}
        assert [next(iter(found[name]), None) for name in ("csi-provisioner", "csi-resizer")] == expected


def test_a_digest_takes_the_place_of_the_tag():
    digest = "sha256:" + "a" * 64
    values = {f"image.{image}.digest": digest for image in ("azuredisk", "csiProvisioner", "csiAttacher", "csiResizer")}
    images = [c["image"] for c in containers(render(values))]
    assert len(images) == 6 and all(re.fullmatch(rf"[\w./-]+@{digest}", image) for image in images)


def test_pull_secrets_have_either_form():
    for d in of_kind(render({"imagePullSecrets": ["one", {"name": "two"}]}), "Deployment"):
        assert d["spec"]["template"]["spec"]["imagePullSecrets"] == [{"name": "one"}, {"name": "two"}]


# ---- metrics ----

def services(values: dict) -> dict[str, dict]:
    return {d["metadata"]["name"]: d for d in of_kind(render(values), "Service")}


MONITORED = {f"{part}.metrics.service{name}.enabled": True for part in ("controller", "schedulerExtender") for name in ("", ".monitor")}


def test_services_have_the_port_of_metrics_if_asked():
    assert services({}).keys() == {"csi-azuredisk-scheduler-extender"}
    assert {port["name"] for d in services({}).values() for port in d["spec"]["ports"]} == {"extender"}
    found = services(MONITORED | {"controller.metrics.port": 1111, "schedulerExtender.metrics.port": 2222})
    [controller] = found["csi-azuredisk-controller"]["spec"]["ports"]
    assert controller == {"name": "metrics", "port": 1111, "targetPort": 1111}  # in the host's network no port has a name
    _, extender = found["csi-azuredisk-scheduler-extender"]["spec"]["ports"]
    assert extender == {"name": "metrics", "port": 2222, "targetPort": "metrics"}


def test_monitors_find_their_services():
    assert not of_kind(render(), "ServiceMonitor")
    values = MONITORED | {"controller.metrics.service.monitor.labels": {"release": "mine"}}
    monitors = {d["metadata"]["name"]: d for d in of_kind(render(values), "ServiceMonitor")}
    assert monitors.keys() == {"csi-azuredisk-controller", "csi-azuredisk-scheduler-extender"}
    assert [monitors[name]["metadata"]["labels"]["release"] for name in sorted(monitors)] == ["mine", "prometheus"]
    for name, monitor in monitors.items():
        service, spec = services(values)[name], monitor["spec"]
        assert spec["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
        assert spec["namespaceSelector"]["matchNames"] == [service["metadata"]["namespace"]]
        assert spec["endpoints"] == [{"port": "metrics", "interval": "15s"}]
    without = values | {"schedulerExtender.enabled": False}
    assert len(of_kind(render(without), "ServiceMonitor")) == 1
    assert not of_kind(render({"controller.metrics.service.monitor.enabled": True}), "ServiceMonitor"), "without a Service"


def test_a_monitor_finds_the_node_plug_ins():
    assert not of_kind(render(), "PodMonitor")
    objects = render({"node.metrics.monitor.enabled": True, "node.metrics.port": 1111})
    [monitor], [pods] = of_kind(objects, "PodMonitor"), of_kind(objects, "DaemonSet")
    spec, template = monitor["spec"], pods["spec"]["template"]
    assert spec["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    assert spec["namespaceSelector"]["matchNames"] == [pods["metadata"]["namespace"]]
    [endpoint], [container] = spec["podMetricsEndpoints"], template["spec"]["containers"]
    assert {"name": endpoint["port"], "containerPort": 1111} in container["ports"]
    assert endpoint["interval"] == "15s" and endpoint["relabelings"][0]["targetLabel"] == "node"
    assert not of_kind(render({"node.metrics.monitor.enabled": True, "linux.enabled": False}), "PodMonitor")
