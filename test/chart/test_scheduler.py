"""The chart's own kube-scheduler: which one it is, what it is told, and when there is none. What it does with that is tested by
test/integration/test_own_scheduler.py."""

import re

import pytest
import yaml

from .chart import CHART, SCHEDULER, TREE, documents, helm, notes, of_kind, render, template
from .other_drivers import whole

NAME, EXTENDER = "csi-azuredisk-scheduler", "csi-azuredisk-scheduler-extender"
PAGE = TREE / "docs/scheduling.md"
OF = "schedulerExtender.scheduler"
TLS = {"schedulerExtender.tls.secretName": "extender", f"{OF}.tls.secretName": "scheduler"}
SECRET = {"placement.tls.secretName": "webhook",
          "placement.tls.caBundle": "-----BEGIN CERTIFICATE-----\nMQ==\n-----END CERTIFICATE-----\n"}


def deployment(objects: list[dict], name: str = NAME) -> dict:
    [found] = [d for d in of_kind(objects, "Deployment") if d["metadata"]["name"] == name]
    return found


def pod(objects: list[dict], name: str = NAME) -> dict:
    return deployment(objects, name)["spec"]["template"]["spec"]


def configuration(objects: list[dict], name: str) -> dict:
    [found] = [d["data"]["config.yaml"] for d in of_kind(objects, "ConfigMap") if d["metadata"]["name"] == f"{name}-config"]
    return yaml.safe_load(found)


def image(version: str = "1.34.0", **changes: str) -> str:
    """The scheduler's, or why there is none, in a cluster of this version."""
    values = SCHEDULER | {f"image.kubeScheduler.{name}": value for name, value in changes.items()}
    done = helm("template", "release", str(CHART), values=values, version=version)
    return pod(documents(done.stdout))["containers"][0]["image"] if done.returncode == 0 else done.stderr


def identities(objects: list[dict]) -> set[tuple[str, str]]:
    return {(d["kind"], d["metadata"]["name"]) for d in objects}


def test_there_is_none_unless_it_is_wanted():
    added = identities(render(SCHEDULER)) - identities(render())
    roles = {("ClusterRoleBinding", f"azuredisk-scheduler{part}") for part in ("", "-volumes")} | {
        ("RoleBinding", "azuredisk-scheduler-authentication"), ("RoleBinding", "azuredisk-scheduler-lease")}
    assert added == roles | {("Role", "azuredisk-scheduler-lease"), ("ServiceAccount", f"{NAME}-sa"),
                             ("ConfigMap", f"{NAME}-config"), ("Deployment", NAME)}
    said = f"schedulerName: {EXTENDER} are scheduled by the chart's own registry.k8s.io/kube-scheduler:v1.34.0"
    assert said in notes(SCHEDULER) and "are scheduled by the chart's own" not in notes()
    assert "or schedulerExtender.scheduler.enabled" in notes() and "or schedulerExtender.scheduler.enabled" not in notes(SCHEDULER)


# ---- its version ----

@pytest.mark.parametrize(("cluster", "tag"), [
    ("1.34.2", "v1.34.2"), ("v1.33.7", "v1.33.7"), ("1.32.4-gke.123", "v1.32.4"), ("v1.31.5+k3s1", "v1.31.5"),
    ("1.35.0-alpha.1", "v1.35.0")])
def test_its_version_is_the_clusters(cluster, tag):
    assert image(cluster) == f"registry.k8s.io/kube-scheduler:{tag}"


@pytest.mark.parametrize(("tag", "allowed"), [
    ("v1.34.9", True), ("v1.33.0", True), ("1.34.1", True), ("v1.33.5-custom", True), ("latest", True),
    ("v1.32.9", False), ("v1.35.0", False), ("v2.34.0", False), ("v1.21.2", False)])
def test_one_that_does_not_go_with_the_cluster_is_refused(tag, allowed):
    found = image("1.34.3", tag=tag)
    assert found.endswith(f":{tag}") if allowed else f"version {tag} does not go with Kubernetes v1.34.3" in found, found


def test_a_digest_takes_the_place_of_its_tag():
    digest = f"sha256:{'a' * 64}"
    assert image(digest=digest) == f"registry.k8s.io/kube-scheduler@{digest}"


@pytest.mark.parametrize(("version", "path"), [("1.31.0", "/healthz"), ("1.32.0", "/readyz"), ("1.36.1-aks", "/readyz")])
def test_it_is_asked_for_what_its_version_serves(version, path):
    objects = documents(helm("template", "release", str(CHART), values=SCHEDULER, version=version).stdout)
    [container] = pod(objects)["containers"]
    port = next(port["containerPort"] for port in container["ports"] if port["name"] == "metrics")
    assert f"--secure-port={port}" in container["args"]
    for probe, asked in ("livenessProbe", "/healthz"), ("readinessProbe", path):
        assert container[probe]["httpGet"] == {"path": asked, "port": "metrics", "scheme": "HTTPS"}


# ---- what it is told ----

@pytest.mark.parametrize("values", [{}, TLS, TLS | {"schedulerExtender.tls.clientCASecretName": "callers"},
                                    {"schedulerExtender.clusterIP": "10.96.0.10", "schedulerExtender.weight": 1000000}],
                         ids=["http", "tls", "certificates", "address"])
def test_it_asks_the_extender_as_the_control_planes_would(values):
    """With files of its own, and of another name, so that no pod belongs to both."""
    objects = render(SCHEDULER | values)
    [own], [other] = (configuration(objects, name)["extenders"] for name in (NAME, EXTENDER))
    folder, elsewhere = "/etc/azuredisk/extender/", "/etc/kubernetes/azuredisk-scheduler-extender/"
    assert yaml.safe_dump(own).replace(folder, elsewhere) == yaml.safe_dump(other)
    assert isinstance(own["weight"], int)
    [profile], [others] = (configuration(objects, name)["profiles"] for name in (NAME, EXTENDER))
    assert profile | {"schedulerName": "default-scheduler"} == others and profile["schedulerName"] == EXTENDER
    for name, path in own.get("tlsConfig", {}).items():
        assert name == "serverName" or path.removeprefix(folder) in secret_of(pod(objects), folder)
    assert values or "tlsConfig" not in own


def test_the_configuration_that_is_documented_is_the_one_that_there_is():
    """With the flag --config, kube-scheduler ignores --kubeconfig: without clientConnection it does not start."""
    [text] = re.findall(r"Any scheduler needs this configuration:\n\n```yaml\n(.+?)```", PAGE.read_text(), re.DOTALL)
    assert configuration(render({"schedulerExtender.clusterIP": "10.96.0.89"}), EXTENDER) == yaml.safe_load(text)


@pytest.mark.parametrize(("path", "connection"), [("/other/scheduler.conf", {"kubeconfig": "/other/scheduler.conf"}), ("", None)])
def test_the_control_planes_scheduler_is_told_its_kubeconfig(path, connection):
    objects = render(SCHEDULER | {"schedulerExtender.schedulerKubeconfig": path})
    assert configuration(objects, EXTENDER).get("clientConnection") == connection
    assert configuration(objects, NAME)["clientConnection"] == {"qps": 50, "burst": 100}


@pytest.mark.parametrize(("address", "url"), [
    ("", f"http://{EXTENDER}.kube-system.svc:8889"), ("10.96.0.10", "http://10.96.0.10:8889"),
    ("fd00:10:96::a", "http://[fd00:10:96::a]:8889")])
def test_the_extenders_address_may_be_of_either_family(address, url):
    objects = render(SCHEDULER | {"schedulerExtender.clusterIP": address})
    assert {configuration(objects, name)["extenders"][0]["urlPrefix"] for name in (NAME, EXTENDER)} == {url}


def secret_of(pod: dict, folder: str) -> list[str]:
    """The files of the Secret that the scheduler has in this folder."""
    [mount] = [m for m in pod["containers"][0]["volumeMounts"] if m["mountPath"] == folder.rstrip("/")]
    [secret] = [v["secret"] for v in pod["volumes"] if v["name"] == mount["name"]]
    assert secret["secretName"] == "scheduler" and mount["readOnly"]
    assert all(item["key"] == item["path"] for item in secret["items"])
    return [item["path"] for item in secret["items"]]


def test_its_lease_is_its_own():
    for values, name in (({}, EXTENDER), ({"driver.name": "other.disk.example"}, f"{EXTENDER}-other-disk-example")):
        objects = render(SCHEDULER | values, "storage")
        own = next(d for d in of_kind(objects, "ConfigMap") if d["metadata"]["name"].startswith(f"{NAME}-config"))
        elected = yaml.safe_load(own["data"]["config.yaml"])["leaderElection"]
        assert elected == {"leaderElect": True, "resourceName": name, "resourceNamespace": "storage"}
        [role] = [d for d in of_kind(objects, "Role") if d["metadata"]["name"].endswith("scheduler-lease")]
        [rule] = role["rules"]
        assert role["metadata"]["namespace"] == "storage"
        assert rule == {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "resourceNames": [name],
                        "verbs": ["get", "update"]}


def test_it_has_the_clusters_own_roles():
    bindings = {(d["kind"], d["metadata"].get("namespace"), d["roleRef"]["kind"], d["roleRef"]["name"])
                for kind in ("RoleBinding", "ClusterRoleBinding") for d in of_kind(render(SCHEDULER, "storage"), kind)
                if d["subjects"] == [{"kind": "ServiceAccount", "name": f"{NAME}-sa", "namespace": "storage"}]}
    assert bindings == {
        ("ClusterRoleBinding", None, "ClusterRole", "system:kube-scheduler"),
        ("ClusterRoleBinding", None, "ClusterRole", "system:volume-scheduler"),
        ("RoleBinding", "kube-system", "Role", "extension-apiserver-authentication-reader"),
        ("RoleBinding", "storage", "Role", "azuredisk-scheduler-lease")}


@pytest.mark.parametrize("changes", [{"schedulerExtender.weight": 21}, {"schedulerExtender.kubeApiQps": 51}, TLS], ids=str)
def test_another_configuration_replaces_the_pods(changes):
    """It is read when the scheduler starts."""
    before, after = (deployment(render(SCHEDULER | values))["spec"]["template"]["metadata"]["annotations"]
                     for values in ({}, changes))
    assert before != after
    assert deployment(render(SCHEDULER | {f"{OF}.replicas": 3}))["spec"]["template"]["metadata"]["annotations"] == before


def test_annotations_of_its_pods_may_be_anything():
    for given, kept in (None, {}), ({"team": "storage", "checksum/config": "mine"}, {"team": "storage"}):
        own = deployment(render(SCHEDULER | {"schedulerExtender.podAnnotations": given}))
        found = own["spec"]["template"]["metadata"]["annotations"]
        assert len(found.pop("checksum/config")) == 64 and found == kept


def test_its_pods_run_where_the_extenders_may():
    values = {"schedulerExtender.nodeSelector": {"pool": "system"}, "schedulerExtender.tolerations": [{"operator": "Exists"}],
              "schedulerExtender.priorityClassName": "chosen", "controller.runOnControlPlane": True,
              "schedulerExtender.podLabels": {"team": "storage"}}
    found = render(SCHEDULER | values)
    own, extender = pod(found), pod(found, EXTENDER)
    for field in ("nodeSelector", "tolerations", "priorityClassName"):
        assert own[field] == extender[field]
    assert own["affinity"]["nodeAffinity"] == extender["affinity"]["nodeAffinity"]
    for name in (NAME, EXTENDER):  # and each is spread by itself
        labels = deployment(found, name)["spec"]["template"]["metadata"]["labels"]
        assert labels["team"] == "storage" and labels["app"] == name
        [constraint] = pod(found, name)["topologySpreadConstraints"]
        assert constraint["labelSelector"] == {"matchLabels": {"app": name}}


# ---- who may call the extender ----

def test_a_policy_of_the_network_lets_it_call():
    """Without an address of a scheduler in the control plane, or with one."""
    address = {"ipBlock": {"cidr": "192.0.2.1/32"}}
    for schedulers in [], [address]:
        objects = render(SCHEDULER | {"networkPolicy.enabled": True, "networkPolicy.schedulers": schedulers})
        ingress = {d["metadata"]["name"]: d["spec"]["ingress"] for d in of_kind(objects, "NetworkPolicy")}
        calls, metrics = ingress[EXTENDER]
        assert calls == {"from": [*schedulers, {"podSelector": {"matchLabels": {"app": NAME}}}], "ports": [{"port": "extender"}]}
        assert ingress[NAME] == [metrics] == [{"ports": [{"port": "metrics"}]}]


# ---- what makes no sense ----

@pytest.mark.parametrize("mode", ["extender", "nominate", "webhook"])
def test_it_is_there_in_each_mode_that_has_an_extender(mode):
    objects = render(SCHEDULER | SECRET | {"placement.mode": mode})
    assert pod(objects)
    arguments = str(pod(objects, EXTENDER)["containers"][0]["args"])
    assert (f"--placement-scheduler-names=default-scheduler,{EXTENDER}" in arguments) is (mode != "extender")


@pytest.mark.parametrize(("values", "reason"), [
    ({"placement.mode": "none"}, "requires the scheduler extender, which this scheduler asks: schedulerExtender.enabled is true "
                                 "and placement.mode is none"),
    ({"schedulerExtender.enabled": False}, "schedulerExtender.enabled is false and placement.mode is extender"),
    ({"schedulerExtender.tls.secretName": "extender"}, f"requires {OF}.tls.secretName"),
    ({f"{OF}.tls.secretName": "scheduler"}, f"{OF}.tls.secretName requires schedulerExtender.tls.secretName"),
    (SECRET | {"placement.mode": "nominate", "placement.schedulerNames": ["default-scheduler"]},
     f"requires {EXTENDER} in placement.schedulerNames"),
    (SECRET | {"placement.mode": "nominate", "driver.name": "other.disk.example"},
     f"requires {EXTENDER}-other-disk-example in placement.schedulerNames"),
], ids=["no placement", "no extender", "no certificate", "no certificate of the extender", "not proposed to", "another driver"])
def test_what_could_not_work_is_refused(values, reason):
    assert template(values).returncode == 0
    done = template(SCHEDULER | values)
    assert done.returncode != 0 and reason in done.stderr, done.stderr


# ---- values of version 2 ----

def test_the_values_of_version_2_need_its_switch_and_no_tag():
    """Their tag is of a scheduler that no cluster with this driver has."""
    done = template(whole("v2") | SCHEDULER)
    assert done.returncode != 0 and "image.kubeScheduler.tag: a scheduler of version v1.21.2 does not go with" in done.stderr
    objects = render(whole("v2") | SCHEDULER | {"image.kubeScheduler.tag": None, "schedulerExtender.kubeApiQps": 500})
    assert pod(objects)["containers"][0]["image"] == "mcr.microsoft.com/oss/kubernetes/kube-scheduler:v1.34.0"
    assert configuration(objects, NAME)["clientConnection"] == {"qps": 500, "burst": 100}
