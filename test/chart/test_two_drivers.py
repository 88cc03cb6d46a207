"""Two releases with two driver names in one cluster, even in one namespace: what both have is in a table, with the reason."""

import re

import pytest

from .chart import CHART, NAMESPACE, SCHEDULER, SNAPSHOTS, VOLUME_SNAPSHOTS, containers, of_kind, render, template

OTHER = {"driver.name": "other.disk.example"}
# What does not follow the driver's name: docs/install.md and templates/neighbours.yaml ask for it.
SECOND = OTHER | {"crds.create": False, "controller.metrics.port": 29704, "node.metrics.port": 29705,
                  "node.livenessProbe.healthPort": 29703, "snapshot.enabled": False}
EVERYTHING = SNAPSHOTS | SCHEDULER | {
              "storageClasses.enableZRS": True, "controller.trustedCA": "a certificate",
              "controller.podDisruptionBudget.enabled": True, "schedulerExtender.podDisruptionBudget.enabled": True,
              "controller.hostNetwork": False, "networkPolicy.enabled": True,
              "networkPolicy.schedulers": [{"ipBlock": {"cidr": "192.0.2.1/32"}}]}

SHARED_PATHS = {
    "/var/lib/kubelet": "kubelet's own: staging and target paths in it have the driver's name or the volume's",
    "/var/lib/kubelet/plugins_registry": "kubelet looks for the sockets of all plug-ins there; they have the driver's name",
    "/dev": "each plug-in looks for the disks of its own attachments, and proves that they are theirs",
}
CHECKS = {f"csi-azuredisk-{name}-check{suffix}" for name in ("install", "upgrade", "uninstall") for suffix in ("", "-sa")}  # the former has none
SHARED_SECRETS = {("kube-system", "azure-cloud-provider"): "credentials, which are only read"}

each_extent = pytest.mark.parametrize("values", [{}, EVERYTHING], ids=["by-default", "everything"])


def identities(values: dict) -> set[tuple]:
    return {(d["kind"], d["metadata"].get("namespace"), d["metadata"]["name"]) for d in render(values)}


def pod_specs(values: dict) -> dict[str, dict]:
    return {d["metadata"]["name"]: d["spec"]["template"]["spec"]
            for kind in ("Deployment", "DaemonSet") for d in of_kind(render(values), kind)}


def flags(values: dict, name: str) -> set[str]:
    return {word.partition("=")[2] for container in containers(render(values)) for word in container["args"]
            if word.startswith(f"--{name}=")}


def node_ports(values: dict) -> set[int]:
    """Of all pods in the network of their node, as they are declared and as the programs are told."""
    found = set()
    for pod in pod_specs(values).values():
        for container in pod["containers"] if pod.get("hostNetwork") else []:
            found |= {port["containerPort"] for port in container.get("ports", [])}
            found |= {int(port) for word in container["args"] for port in re.findall(r"^--[\w-]+-address=.*:(\d+)$", word)}
    return found


def host_paths(values: dict) -> set[str]:
    return {volume["hostPath"]["path"] for pod in pod_specs(values).values() for volume in pod.get("volumes", [])
            if "hostPath" in volume}


@each_extent
def test_no_object_is_in_both(values):
    assert identities(values) & identities(values | SECOND) == set()


def test_only_the_definitions_would_be():
    assert {kind for kind, *_ in identities({}) & identities(OTHER)} == {"CustomResourceDefinition"}


@each_extent
def test_no_port_of_a_node_is_in_both(values):
    first, second = node_ports(values), node_ports(values | SECOND)
    assert {29603, 29605} <= first and len(first) == len(second) == (2 if values else 3)
    assert first & second == set()


def test_of_the_nodes_files_both_have_only_those_in_the_table():
    first, second = host_paths({}), host_paths(SECOND)
    assert first & second == set(SHARED_PATHS)
    assert second - first == {"/var/lib/kubelet/plugins/other.disk.example"}


def test_kubelet_is_led_to_each_ones_own_socket():
    assert flags({}, "kubelet-endpoint") == {"/var/lib/kubelet/plugins/disk.csi.azure.com/csi.sock"}
    assert flags(SECOND, "kubelet-endpoint") == {"/var/lib/kubelet/plugins/other.disk.example/csi.sock"}


def test_both_have_the_credentials_alone_in_common():
    """The secrets that roles allow to read."""
    read = [{(role["metadata"]["namespace"], name) for role in of_kind(render(values), "Role")
             for rule in role["rules"] if "secrets" in rule["resources"] for name in rule["resourceNames"]}
            for values in ({}, SECOND)]
    assert read[0] & read[1] == set(SHARED_SECRETS)


def test_each_elects_leaders_of_its_own():
    leases = [{name for role in of_kind(render(values, apis=VOLUME_SNAPSHOTS), "Role") for rule in role["rules"]
               if "leases" in rule["resources"] for name in rule.get("resourceNames", [])} for values in ({}, SECOND)]
    assert [len(found) for found in leases] == [5, 5]  # of the controller and of four sidecars
    assert leases[0] & leases[1] == set()
    for found, values in zip(leases, ({}, SECOND)):
        assert flags(values, "leader-election-name") <= found


def test_each_has_custom_resources_of_its_own():
    assert flags({}, "object-namespace") == {"azure-disk-csi"}
    assert flags(SECOND, "object-namespace") == {"azure-disk-csi-other-disk-example"}
    [namespace] = of_kind(render(SECOND), "Namespace")
    assert namespace["metadata"]["name"] == "azure-disk-csi-other-disk-example"


@each_extent
def test_neither_selects_the_others_pods(values):
    """Of Services, workloads, budgets and network policies."""
    first, second = (12, 11) if values else (4, 4)  # a snapshot-controller is there once
    for own, other, expected in ((values, values | SECOND, first), (values | SECOND, values, second)):
        labels = [d["spec"]["template"]["metadata"]["labels"]
                  for kind in ("Deployment", "DaemonSet") for d in of_kind(render(other), kind)]
        selectors = [d["spec"].get("selector") or d["spec"].get("podSelector") for d in render(own)
                     if d["kind"] in ("Deployment", "DaemonSet", "Service", "PodDisruptionBudget", "NetworkPolicy")]
        assert len(selectors) == expected
        for selector in selectors:
            wanted = selector.get("matchLabels", selector)
            assert wanted and not [found for found in labels if wanted.items() <= found.items()]


def test_each_nodes_account_is_restricted_by_its_own_policies():
    for values, account, taint in (({}, "csi-azuredisk-node-sa", "disk.csi.azure.com"),
                                   (SECOND, "csi-azuredisk-node-sa-other-disk-example", "other.disk.example")):
        policies = of_kind(render(values), "ValidatingAdmissionPolicy")
        assert len(policies) == 2
        for policy in policies:
            [condition] = policy["spec"]["matchConditions"]
            assert f'"system:serviceaccount:{NAMESPACE}:{account}"' in condition["expression"]
        assert f'"{taint}/agent-not-ready"' in str(policies)


def test_the_scheduler_is_led_to_each_ones_own_extender():
    for values, service in (({}, "csi-azuredisk-scheduler-extender"),
                            (SECOND, "csi-azuredisk-scheduler-extender-other-disk-example")):
        [config] = [d["data"]["config.yaml"] for d in of_kind(render(values), "ConfigMap") if "config.yaml" in d["data"]]
        assert f"http://{service}.{NAMESPACE}.svc:8889" in config


# ---- names ----

def test_the_default_drivers_names_are_those_of_the_former_chart():
    """Alerts, scripts and a later `helm upgrade` go by them."""
    names = {name for kind, _, name in identities({"storageClasses.enableZRS": True})
             if not kind.startswith(("Role", "ClusterRole", "Validating", "CustomResource", "Job")) and name not in CHECKS}
    ssd = {f"azuredisk-{kind}-{replication}{replicas}" for kind in ("standard-ssd", "premium-ssd")
           for replication in ("lrs", "zrs") for replicas in ("", "-replicas")}
    assert names == ssd | {
        "azure-disk-csi", "azuredisk-standard-hdd-lrs", "csi-azuredisk-controller", "csi-azuredisk-controller-sa",
        "csi-azuredisk-node", "csi-azuredisk-node-sa", "csi-azuredisk-scheduler-extender",
        "csi-azuredisk-scheduler-extender-config", "csi-azuredisk-scheduler-extender-sa", "disk.csi.azure.com"}
    for kind in ("Role", "ClusterRole", "ValidatingAdmissionPolicy"):
        assert all(d["metadata"]["name"].startswith(("azuredisk-controller", "azuredisk-node", "azuredisk-external-",
                                                     "azuredisk-scheduler-extender", "azuredisk-sidecar-leases",
                                                     "azuredisk-install-check", "azuredisk-upgrade-check", "azuredisk-uninstall-check"))
                   for d in of_kind(render(), kind))


def test_a_name_that_is_set_is_used_as_it_is():
    values = SECOND | {"controller.name": "csi-azuredisk-controller", "driver.objectNamespace": "azure-disk-csi"}
    names = {name for _, _, name in identities(values)}
    assert {"csi-azuredisk-controller", "azure-disk-csi"} <= names


def test_of_a_long_name_as_much_is_left_as_objects_may_have():
    names = [{name for kind, _, name in identities({"driver.name": driver})
              if kind in ("Namespace", "Service", "Deployment", "DaemonSet", "ServiceAccount")}
             for driver in ("of-sixty-three-letters." + "x" * 39 + letter for letter in "ab")]
    assert max(len(name) for found in names for name in found) == 63
    assert len(names[0]) == len(names[1]) == 10
    assert names[0] & names[1] == set()


def test_without_a_cluster_nothing_is_known_of_others():
    """The check of a real cluster is tested by test/integration/test_two_releases.py."""
    assert (CHART / "templates/neighbours.yaml").exists()
    done = template(OTHER)
    assert done.returncode == 0 and "neighbours.yaml" not in done.stdout
