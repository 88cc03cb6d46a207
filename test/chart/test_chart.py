"""What the chart renders: objects that the programs, kubelet and the API server take as they are meant."""

import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePath

import pytest
import yaml
from cluster import tools

from .chart import (CHART, FAILOVER, SCHEDULER, SNAPSHOTS, TREE, VOLUME_SNAPSHOTS, containers, documents, every_value_changed,
                    helm, notes, of_kind, render, template)

CHOICES = {"by default": {}, "with every value changed": every_value_changed() | SNAPSHOTS | FAILOVER | SCHEDULER}
each_choice = pytest.mark.parametrize("values", CHOICES.values(), ids=CHOICES)


def test_helm_has_nothing_against_it():
    done = helm("lint", "--strict", str(CHART))
    assert done.returncode == 0, done.stdout + done.stderr
    assert not re.search(r"\[(WARNING|ERROR)\]", done.stdout)


@each_choice
def test_every_object_has_a_name_of_its_own(values):
    names = Counter((o["apiVersion"], o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"])
                    for o in render(values))
    assert names and max(names.values()) == 1


def test_without_hooks_nothing_is_left_that_runs_once():
    """docs/install.md: the pods of a Job cannot be changed, so what applies the next release like any object would fail."""
    values = SNAPSHOTS | FAILOVER | SCHEDULER
    plain = documents(helm("template", "release", str(CHART), "--no-hooks", values=values).stdout)
    assert {d["kind"] for d in render(values)} - {d["kind"] for d in plain} == {"Job", "Pod"}
    assert not [d for d in plain if "helm.sh/hook" in (d["metadata"].get("annotations") or {})]


def test_nothing_is_made_that_is_not_wanted():
    parts = {"serviceAccount.create": ["ServiceAccount"], "storageClasses.create": ["StorageClass"],
             "rbac.create": ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"],
             "crds.create": ["CustomResourceDefinition"], "linux.enabled": ["DaemonSet"]}
    all_kinds = {document["kind"] for document in render()}
    for path, kinds in parts.items():
        assert {document["kind"] for document in render({path: False})} == all_kinds - set(kinds)
    names = {d["metadata"]["name"] for d in render({"schedulerExtender.enabled": False})}
    assert not [name for name in names if "scheduler" in name]


# ---- command lines ----

def command(container: dict) -> list:
    """The program as it is on this machine, with its flags."""
    name = PurePath(container["command"][0]).name if "command" in container else container["name"]
    ours = TREE / "build/bin" / name
    return [ours if ours.exists() else tools.folder() / name, *container["args"]]


def unknown_flag(words: list) -> str | None:
    """The first of the flags that the program does not know. Flags are read in order, so those before
    it were right, and so were their values."""
    done = subprocess.run([*words, "--no-such-flag"], capture_output=True, text=True, timeout=60)
    found = re.search(r"unknown flag:? --([\w-]+)|flag provided but not defined: -([\w-]+)", done.stderr)
    return (found[1] or found[2]) if found else done.stderr


@each_choice
def test_programs_know_their_flags(values):
    found = [command(container) for container in containers(render(values))]
    assert [unknown_flag(words) for words in found] == ["no-such-flag"] * (9 if values else 6)


def test_a_wrong_flag_is_seen():
    changes = {"controller.extraArgs": ["--wrong"], "node.extraArgs": ["--v=eleven"]}
    found = {words[0].name: unknown_flag(words) for words in map(command, containers(render(changes)))}
    assert found["azdisk-controller"] == "wrong"
    assert "--v" in found["azdisk-node"] and "eleven" in found["azdisk-node"]


def parts(values: dict) -> Iterator[tuple[dict, dict]]:
    """Each container of ours that is asked about its health, with its pod."""
    for document in render(values):
        if document["kind"] in ("Deployment", "DaemonSet"):
            pod = document["spec"]["template"]["spec"]
            yield from ((pod, container) for container in pod["containers"]
                        if "livenessProbe" in container and container["name"] != "kube-scheduler")


def served(container: dict, flag: str) -> str:
    [address] = [word.partition("=")[2] for word in container["args"] if word.startswith(f"--{flag}-address=")]
    return address


HOST_NETWORKS = {"in the host's network": True, "in the pods' network": False}


@pytest.mark.parametrize("host", HOST_NETWORKS.values(), ids=HOST_NETWORKS)
@each_choice
def test_probes_ask_where_the_program_answers(values, host):
    """And in the host's network no stranger reaches it."""
    for pod, container in parts(values | {"controller.hostNetwork": host, "linux.hostNetwork": host}):
        local = pod.get("hostNetwork", False)
        for probe, path in {"livenessProbe": "/healthz", "readinessProbe": "/readyz"}.items():
            probe = container[probe]
            if "exec" in probe:
                address = served(container, "health")
                assert probe["exec"]["command"] == ["/bin/azdisk-probe", f"--address={address}", f"--path={path}"]
                assert address.startswith("unix:///csi/") and "/csi" in mounts(container)
                continue
            assert probe["httpGet"]["path"] == path
            port = probe["httpGet"]["port"]
            served_at = {served(container, flag) for flag in ("health", "metrics") if f"--{flag}" in str(container["args"])}
            assert (f"127.0.0.1:{port}" if local else f":{port}") in served_at
            assert probe["httpGet"].get("host") == ("127.0.0.1" if local else None)


def mounts(container: dict) -> dict[str, dict]:
    return {mount["mountPath"]: mount for mount in container.get("volumeMounts", [])}


@each_choice
def test_two_pods_of_a_deployment_may_share_a_node(values):
    """In the host's network a port that a container declares is the node's."""
    for deployment in of_kind(render(values | {"controller.hostNetwork": True}), "Deployment"):
        pod = deployment["spec"]["template"]["spec"]
        ports = [port for container in pod["containers"] for port in container.get("ports", [])]
        assert not pod.get("hostNetwork") or not ports
        assert not [port for port in ports if "hostPort" in port]
        affinity = {} if values else pod["affinity"]
        assert "requiredDuringSchedulingIgnoredDuringExecution" not in str(affinity)


@each_choice
def test_an_update_needs_no_more_room_than_there_was(values):
    """However few nodes there are, and whatever keeps pods from sharing one."""
    for deployment in of_kind(render(values), "Deployment"):
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
        assert deployment["spec"]["strategy"] == strategy


def test_sidecars_are_those_that_are_tested():
    """Also what they may do is tested with these versions."""
    pinned = (TREE / "test/cluster/tools/csi/go.mod").read_text()
    modules = {"csi-provisioner": "provisioner", "csi-attacher": "attacher", "csi-resizer": "resizer",
               "csi-snapshotter": "snapshotter", "snapshot-controller": "snapshotter"}
    sidecars = {c["name"]: c["image"] for c in containers(render(SNAPSHOTS)) if "command" not in c}
    assert sidecars.keys() == modules.keys()
    for name, image in sidecars.items():
        [version] = re.findall(rf"kubernetes-csi/external-{modules[name]}/v\d+ (\S+)", pinned)
        assert image.endswith(f"/{name}:{version}")


# ---- what Kubernetes is told of the driver ----

def advertises(capability: str) -> bool:
    sources = [*(TREE / "controller/csi").glob("*.c"), *(TREE / "node").glob("csi_*.c")]
    return any(re.search(rf"\b{capability}\b", source.read_text()) for source in sources)


@each_choice
def test_the_driver_object_says_what_the_driver_does(values):
    [driver] = of_kind(render(values), "CSIDriver")
    assert driver["metadata"]["name"] == values.get("driver.name", "disk.csi.azure.com")
    spec = driver["spec"]
    assert spec["attachRequired"] is True  # ControllerPublishVolume must be called
    assert advertises("PUBLISH_UNPUBLISH_VOLUME")
    assert spec["podInfoOnMount"] is False  # NodePublishVolume asks for nothing of the pod
    assert spec.get("fsGroupPolicy") == (None if values else "File")


@pytest.mark.parametrize(("version", "seconds"), [("1.32.9", None), ("1.33.0", 60), ("1.36.1-aks", 60)])
def test_the_driver_object_has_no_field_that_the_api_server_does_not_know(version, seconds):
    """It would be refused by `kubectl apply`."""
    done = helm("template", "release", str(CHART), version=version)
    [driver] = of_kind(documents(done.stdout), "CSIDriver")
    assert driver["spec"].get("nodeAllocatableUpdatePeriodSeconds") == seconds


def test_kubelet_may_be_told_to_ask_once():
    period = "driver.nodeAllocatableUpdatePeriodSeconds"
    [driver] = of_kind(render({period: 0}), "CSIDriver")
    assert "nodeAllocatableUpdatePeriodSeconds" not in driver["spec"]
    for refused in (-1, 1, 9):  # the API server takes no less than 10
        assert "/driver/nodeAllocatableUpdatePeriodSeconds" in template({period: refused}).stderr



@each_choice
def test_storage_classes(values):
    kinds = {f"storageClasses.enable{name}": True for name in ("ZRS", "UltraSSD", "PremiumV2")}
    classes = of_kind(render(values | kinds), "StorageClass")
    assert len(classes) == 13  # seven kinds of disks, six of which can be shared
    for document in classes:
        sku = document["parameters"]["skuName"]
        assert document["provisioner"] == values.get("driver.name", "disk.csi.azure.com")
        assert document["reclaimPolicy"] == "Delete"
        assert document.get("allowVolumeExpansion", False) == advertises("EXPAND_VOLUME")
        # A disk of one zone is made where its pod is; one of all zones may be made at once.
        mode = "Immediate" if sku.endswith("ZRS") else "WaitForFirstConsumer"
        assert document["volumeBindingMode"] == mode
        replicas = document["metadata"]["name"].endswith("-replicas")
        assert document["parameters"].get("maxShares") == ("3" if replicas else None)
        assert not (replicas and sku.startswith("Standard_"))  # no shared disks of hard disks


def test_names_with_and_without_replicas():
    names = {document["metadata"]["name"] for document in of_kind(render(), "StorageClass")}
    assert names == {"azuredisk-standard-hdd-lrs", "azuredisk-standard-ssd-lrs", "azuredisk-premium-ssd-lrs",
                     "azuredisk-standard-ssd-lrs-replicas", "azuredisk-premium-ssd-lrs-replicas"}


@each_choice
def test_definitions_stay_when_the_chart_goes(values):
    kept = of_kind(render(values), "CustomResourceDefinition") + [
        document for document in of_kind(render(values), "Namespace")]
    annotations = [d["metadata"].get("annotations", {}) for d in kept]
    assert len(kept) == 5
    for annotation, value in (("helm.sh/resource-policy", "keep"),
                              ("argocd.argoproj.io/sync-options", "Delete=false,Prune=false")):
        assert {found.get(annotation) for found in annotations} == ({None} if values else {value})


def test_no_drain_waits_for_ever():
    """On the last node that may take them a budget lets the second of two pods go only when the first runs elsewhere."""
    assert not of_kind(render(), "PodDisruptionBudget")


BUDGETS = {"controller.podDisruptionBudget.enabled": True, "schedulerExtender.podDisruptionBudget.enabled": True}


@each_choice
def test_a_drain_leaves_one_pod_of_each_deployment_if_asked(values):
    """But of the snapshot-controller: nobody waits for it who would not wait for a minute longer."""
    objects = render(values | BUDGETS | {"snapshot.enabled": False})
    pods = {d["metadata"]["name"]: d["spec"]["template"] for d in of_kind(objects, "Deployment")}
    budgets = {d["metadata"]["name"]: d["spec"] for d in of_kind(objects, "PodDisruptionBudget")}
    assert pods and pods.keys() == budgets.keys()
    for name, pod in pods.items():
        assert budgets[name]["maxUnavailable"] == 1
        assert budgets[name]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
        selected = budgets[name]["selector"]["matchLabels"]
        assert selected and selected.items() <= pod["metadata"]["labels"].items()


@pytest.mark.parametrize(("version", "keys"), [("1.30.0", None), ("1.31.0", ["pod-template-hash"])])
def test_pods_of_a_deployment_are_spread_over_nodes(version, keys):
    """Those of one update: pods that it ends count where Kubernetes cannot tell them apart."""
    done = helm("template", "release", str(CHART), version=version)
    for deployment in of_kind(documents(done.stdout), "Deployment"):
        pod = deployment["spec"]["template"]
        [spread] = pod["spec"]["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
        term = spread["podAffinityTerm"]
        assert term["topologyKey"] == "kubernetes.io/hostname"
        assert term["labelSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()
        assert term.get("matchLabelKeys") == keys


# ---- snapshots ----

def names(objects: list[dict]) -> set[tuple]:
    return {(d["kind"], d["metadata"]["name"]) for d in objects}


def snapshotters(objects: list[dict]) -> list[dict]:
    return [container for container in containers(objects) if container["name"] == "csi-snapshotter"]


def test_csi_snapshotter_runs_where_the_definitions_are():
    """Where they are not, it would end again and again, and the controller's pods would never be ready."""
    assert not snapshotters(render()) and "VolumeSnapshots are not served" in notes()
    assert snapshotters(render(apis=VOLUME_SNAPSHOTS))
    assert snapshotters(render({"snapshot.enabled": True})), "without a cluster to look at"
    assert "VolumeSnapshots are not served" not in notes({"snapshot.enabled": True})
    assert "until they are installed" in notes({"snapshot.enabled": True}) and "until they are installed" not in notes()


def test_where_a_cluster_has_the_definitions_only_its_role_is_added():
    added = names(render(apis=VOLUME_SNAPSHOTS)) - names(render())
    assert added == {("ClusterRole", "azuredisk-external-snapshotter-role"),
                     ("ClusterRoleBinding", "azuredisk-external-snapshotter-role")}


def test_a_cluster_without_a_snapshot_controller_gets_one():
    added = names(render(SNAPSHOTS)) - names(render(apis=VOLUME_SNAPSHOTS))
    roles = ("csi-azuredisk-snapshot-controller-role", "csi-azuredisk-snapshot-controller-leaderelection-role")
    assert added == {
        ("ServiceAccount", "csi-snapshot-controller-sa"), ("Deployment", "csi-snapshot-controller"),
        ("ClusterRole", roles[0]), ("ClusterRoleBinding", roles[0]), ("Role", roles[1]), ("RoleBinding", roles[1]),
        ("VolumeSnapshotClass", "csi-azuredisk-vsc")}
    [deployment] = [d for d in of_kind(render(SNAPSHOTS), "Deployment") if d["metadata"]["name"] == "csi-snapshot-controller"]
    assert deployment["spec"]["replicas"] == 2


def test_csi_snapshotter_asks_again_within_a_minute():
    """For the eighth snapshot of a disk in five minutes, which the driver refuses at once, and Azure allows soon."""
    [found] = snapshotters(render(apis=VOLUME_SNAPSHOTS))
    assert {"--retry-interval-max=1m", "--extra-create-metadata=true", "--leader-election"} <= set(found["args"])


@each_choice
def test_the_class_of_snapshots(values):
    [found] = of_kind(render(values | SNAPSHOTS), "VolumeSnapshotClass")
    assert found["driver"] == values.get("driver.name", "disk.csi.azure.com")
    assert found["deletionPolicy"] == ("Retain" if values else "Delete")
    assert found.get("parameters") == ({"incremental": "false"} if values else None)


# ---- who may call the extender ----

TLS = {"schedulerExtender.tls.secretName": "extender", "schedulerExtender.tls.clientCASecretName": "callers"}


def extender(values: dict) -> tuple[dict, dict]:
    """Its pod, and what kube-scheduler is to be told of it."""
    objects = render(values)
    [pod] = [d["spec"]["template"]["spec"] for d in of_kind(objects, "Deployment") if "scheduler" in d["metadata"]["name"]]
    [told] = [d["data"]["config.yaml"] for d in of_kind(objects, "ConfigMap") if "config.yaml" in d["data"]]
    [entry] = yaml.safe_load(told)["extenders"]
    return pod, entry


def read(pod: dict, path: str) -> tuple[str, str]:
    """The Secret, and its key, behind a file of the pod's container."""
    [container], (folder, _, file) = pod["containers"], path.rpartition("/")
    mount = mounts(container)[folder]
    assert mount["readOnly"]
    [volume] = [volume["secret"] for volume in pod["volumes"] if volume["name"] == mount["name"]]
    [key] = [item["key"] for item in volume["items"] if item["path"] == file]
    return volume["secretName"], key


def test_with_certificates_the_scheduler_shows_its_own():
    pod, entry = extender(TLS)
    [container] = pod["containers"]
    flags = dict(word.removeprefix("--").split("=", 1) for word in container["args"])
    assert read(pod, flags["tls-cert-file"]) == ("extender", "tls.crt")
    assert read(pod, flags["tls-key-file"]) == ("extender", "tls.key")
    assert read(pod, flags["client-ca-file"]) == ("callers", "ca.crt")
    assert entry["urlPrefix"] == "https://csi-azuredisk-scheduler-extender.kube-system.svc:8889"
    assert entry["enableHTTPS"] is True
    folder = "/etc/kubernetes/azuredisk-scheduler-extender"
    assert entry["tlsConfig"] == {
        "serverName": "csi-azuredisk-scheduler-extender.kube-system.svc", "caFile": f"{folder}/ca.crt",
        "certFile": f"{folder}/tls.crt", "keyFile": f"{folder}/tls.key"}


def test_without_an_authority_of_clients_it_shows_none():
    pod, entry = extender({"schedulerExtender.tls.secretName": "extender"})
    assert "client-ca" not in str(pod)
    assert entry["tlsConfig"].keys() == {"serverName", "caFile"}


def test_plain_http_is_told_to_whoever_installs_it():
    pod, entry = extender({})
    assert "tlsConfig" not in entry and entry["urlPrefix"].startswith("http://")
    assert "answers anyone" in notes() and "answers anyone" not in notes(TLS)


def test_an_authority_of_clients_needs_a_certificate():
    done = template({"schedulerExtender.tls.clientCASecretName": "callers"})
    assert done.returncode != 0 and "schedulerExtender.tls.secretName" in done.stderr


POLICY = {"networkPolicy.enabled": True, "networkPolicy.schedulers": [{"ipBlock": {"cidr": "192.0.2.1/32"}}]}


def test_a_network_policy_lets_the_schedulers_call():
    """There is none by default: which addresses kube-scheduler has only the user knows."""
    assert not of_kind(render(), "NetworkPolicy")
    [policy] = [d["spec"] for d in of_kind(render(POLICY), "NetworkPolicy")]
    calls, metrics = policy["ingress"]
    assert policy["policyTypes"] == ["Ingress"]
    assert policy["podSelector"]["matchLabels"] == {"app": "csi-azuredisk-scheduler-extender"}
    assert calls == {"from": POLICY["networkPolicy.schedulers"], "ports": [{"port": "extender"}]}
    assert metrics == {"ports": [{"port": "metrics"}]}
    assert len(of_kind(render(POLICY | {"controller.hostNetwork": False}), "NetworkPolicy")) == 2


def test_a_network_policy_that_cuts_the_schedulers_off_is_refused():
    done = template(POLICY | {"networkPolicy.schedulers": []})
    assert done.returncode != 0 and "networkPolicy.schedulers" in done.stderr


# ---- what pods may do to their node ----

def pods(values: dict) -> Iterator[tuple[str, dict]]:
    for document in render(values):
        if document["kind"] in ("Deployment", "DaemonSet"):
            yield document["kind"], document["spec"]["template"]["spec"]


@each_choice
def test_containers_are_confined(values):
    for kind, pod in pods(values):
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod["containers"]:
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"] is True
            if kind == "DaemonSet":  # it mounts, and makes file systems
                assert context == {"runAsUser": 0, "runAsGroup": 0, "readOnlyRootFilesystem": True, "privileged": True}
                continue
            assert context["allowPrivilegeEscalation"] is False
            assert context["capabilities"] == {"drop": ["ALL"]}
            assert "privileged" not in context


FILES = {"controller.credentialFile": "/etc/kubernetes/azure.json",
         "controller.clientCertificateFile": "/etc/kubernetes/azure.pfx"}


def user(pod: dict) -> int:
    context = pod["securityContext"]
    assert context["runAsNonRoot"] is (context["runAsUser"] != 0)
    assert not [c for c in pod["containers"] if "runAsUser" in c["securityContext"]]
    return context["runAsUser"]


def test_pods_that_mount_nothing_are_not_root():
    assert {user(pod) for kind, pod in pods({}) if kind == "Deployment"} == {65532}
    assert not [v for kind, pod in pods({}) if kind == "Deployment" for v in pod.get("volumes", []) if "hostPath" in v]


@pytest.mark.parametrize("path", FILES)
def test_of_the_nodes_files_only_those_that_are_asked_for_are_mounted(path):
    """Such a file may be root's alone, so that the controller is root then, without its capabilities."""
    [controller] = [pod for kind, pod in pods({path: FILES[path]}) if "csi-provisioner" in str(pod)]
    [volume] = [v for v in controller["volumes"] if "hostPath" in v]
    assert volume["hostPath"] == {"path": FILES[path], "type": "File"}
    mounted = [mount for container in controller["containers"] for mount in container["volumeMounts"]
               if mount["name"] == volume["name"]]
    assert mounted == [{"name": volume["name"], "mountPath": FILES[path], "readOnly": True}]
    assert user(controller) == 0
    environment = {e["name"]: e.get("value") for c in controller["containers"] for e in c.get("env", [])}
    assert environment.get("AZURE_CREDENTIAL_FILE") == (FILES[path] if "credential" in path else None)


# ---- what nodes may write ----

def node_policies(objects: list[dict], name: str = "azuredisk-node") -> list[dict]:
    found = of_kind(objects, "ValidatingAdmissionPolicy") + of_kind(objects, "ValidatingAdmissionPolicyBinding")
    return [policy for policy in found if policy["metadata"]["name"] == name]


def test_nodes_are_kept_to_their_own_objects():
    policy, binding = node_policies(render())
    assert policy["spec"]["failurePolicy"] == "Fail"
    assert binding["spec"] == {"policyName": policy["metadata"]["name"], "validationActions": ["Deny", "Audit"]}
    [condition] = policy["spec"]["matchConditions"]
    assert '"system:serviceaccount:kube-system:csi-azuredisk-node-sa"' in condition["expression"]
    assert "rbac.restrictNodes" not in notes()


def test_whoever_lets_them_write_more_is_told_so():
    assert not node_policies(render({"rbac.restrictNodes": False}))
    assert "rbac.restrictNodes" in notes({"rbac.restrictNodes": False})


def test_an_api_server_without_policies_gets_none(tmp_path):
    """The chart itself asks for a newer one."""
    chart = Path(shutil.copytree(CHART, tmp_path / CHART.name))
    (chart / "Chart.yaml").write_text(re.sub("kubeVersion: .*", "", (CHART / "Chart.yaml").read_text()))
    for version, policies in {"1.29.9": 0, "1.30.0": 2}.items():
        done = helm("template", "release", str(chart), version=version)
        assert done.returncode == 0, done.stderr
        assert len(node_policies(documents(done.stdout))) == policies


@pytest.mark.parametrize("removes", [True, False])
def test_nodes_may_write_to_nodes_only_to_remove_their_taint(removes):
    objects = render({"node.removeNotReadyTaint": removes})
    roles = [role for role in of_kind(objects, "ClusterRole") if role["metadata"]["name"].startswith("azuredisk-node")]
    rules = [rule for role in roles for rule in role["rules"]]
    allowed = {(resource, verb) for rule in rules for resource in rule["resources"] for verb in rule["verbs"]}
    assert allowed == {("nodes", "get"), ("namespaces", "list")} | ({("nodes", "patch"), ("csinodes", "get")} if removes else set())
    assert len(node_policies(objects, "azuredisk-node-taint")) == (2 if removes else 0)


@pytest.mark.parametrize("fails_over", [True, False])
def test_the_controller_may_write_to_nodes_only_to_fail_over(fails_over):
    objects = render(FAILOVER if fails_over else {})
    rules = [rule for role in of_kind(objects, "ClusterRole") for rule in role["rules"]]
    verbs = {verb for rule in rules if rule["resources"] == ["nodes"] for verb in rule["verbs"]}
    assert ({"create", "delete"} <= verbs) == fails_over
    assert len(node_policies(objects, "azuredisk-stand-in")) == (2 if fails_over else 0)
    assert (["patch"] in [rule["verbs"] for rule in rules if rule["resources"] == ["nodes/status"]]) == fails_over
    assert len(node_policies(objects, "azuredisk-volumes-in-use")) == (2 if fails_over else 0)


def test_the_notes_that_nodes_may_write_are_those_that_they_do():
    known = dict(re.findall(r'#define (ANNOTATION_\w+) "([^"]+)"', (TREE / "lib/api/names.h").read_text()))
    named = {known[name] for source in (TREE / "node").glob("*.c")
             for statement in source.read_text().split(";") if re.search(r"json_pack|_annotation_json", statement)
             for name in re.findall(r"\bANNOTATION_\w+", statement)}
    assert known["ANNOTATION_PREEMPTED"] in named and known["ANNOTATION_PREEMPT_REQUEST"] not in named
    assert allowed_notes(FAILOVER) == named
    assert allowed_notes({}) == named - {known["ANNOTATION_PREEMPTED"]}


def allowed_notes(values: dict) -> set[str]:
    rules = [v["expression"] for v in node_policies(render(values))[0]["spec"]["validations"]]
    [allowed] = {found for rule in rules for found in re.findall(r"key in (\[.*?\])", rule)}
    return set(json.loads(allowed))


@pytest.mark.parametrize("enabled", [True, False])
def test_nodes_may_write_leases_only_with_failover(enabled):
    objects = render({"failover.enabled": enabled, "driver.objectNamespace": "objects"})
    leases = {(role["metadata"]["namespace"], verb) for role in of_kind(objects, "Role")
              if role["metadata"]["name"].startswith("azuredisk-node")
              for rule in role["rules"] if "leases" in rule["resources"] for verb in rule["verbs"]}
    assert leases == ({("objects", "create"), ("objects", "patch")} if enabled else set())
    assert len(node_policies(objects, "azuredisk-node-lease")) == (2 if enabled else 0)
    [plugin] = [c for c in containers(objects) if "/bin/azdisk-node" in c.get("command", [])]
    assert ("--node-lease-duration=6s" in plugin["args"]) is enabled


def test_the_lease_policy_knows_the_label():
    label = re.search(r'#define LABEL_NODE_LEASE "([^"]+)"', (TREE / "lib/api/names.h").read_text())[1]
    policy, _ = node_policies(render(FAILOVER), "azuredisk-node-lease")
    assert label in str(policy["spec"]["validations"])


# ---- accounts ----

@pytest.mark.parametrize("values", [*CHOICES.values(), {"driver.name": "other.disk.example"}],
                         ids=[*CHOICES, "of another driver"])
def test_every_pod_has_the_account_that_the_roles_are_for(values):
    objects = render(values | {"storageClasses.create": False})
    accounts = {d["metadata"]["name"] for d in of_kind(objects, "ServiceAccount")}
    bound = {subject["name"] for kind in ("RoleBinding", "ClusterRoleBinding")
             for binding in of_kind(objects, kind) for subject in binding["subjects"]}
    pods = {d["spec"]["template"]["spec"]["serviceAccountName"]
            for kind in ("Deployment", "DaemonSet", "Job") for d in of_kind(objects, kind)}
    pods |= {d["spec"]["serviceAccountName"] for d in of_kind(objects, "Pod")}
    assert accounts == bound == pods


@each_choice
def test_nothing_is_allowed_by_a_wildcard(values):
    for document in of_kind(render(values), "ClusterRole") + of_kind(render(values), "Role"):
        for rule in document["rules"]:
            assert "*" not in rule["verbs"] + rule["resources"] + rule["apiGroups"]
