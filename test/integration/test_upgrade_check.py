"""What the upgrade check says of a cluster, by the plan that the chart makes, with the account of its Job; and that Helm would have
stopped there."""

import pytest
from chart.chart import CHART, of_kind, render
from cluster.waiting import until
from kubernetes import client

from .apiserver import ApiServer
from .azdiskctl import Calls
from .helm import Helm
from .placement import disk_id
from .release import Release

NAMESPACE, RELEASE = "upgrade-check", "release"  # that of render()
VALUES = {"placement__mode": "nominate"}
SET = ["--set=placement.mode=nominate"]
ACCOUNT, BINDING, DRIVER = "csi-azuredisk-upgrade-check-sa", "azuredisk-node", "disk.csi.azure.com"
CLASS, WEBHOOK, DEFINITION = "azuredisk-premium-ssd-lrs", "azuredisk-placement", "azvolumes.disk.csi.azure.com"
HELPERS = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """One of its own, into which Helm alone installs."""
    server = ApiServer(tmp_path_factory.mktemp("upgrade-check"))
    client.CoreV1Api(server.client()).create_namespace({"metadata": {"name": NAMESPACE}})
    yield server
    server.close()


@pytest.fixture
def helm(cluster):
    helm = Helm(cluster, NAMESPACE)
    yield helm
    helm.uninstall(RELEASE)


class Check(Calls):
    """As its Job runs it."""

    def __init__(self, cluster: ApiServer, folder, **values: object):
        self.release = Release(cluster, NAMESPACE, **VALUES | values)
        self.release.core = client.CoreV1Api(cluster.client())
        self.release.kubectl("apply", "--filename=-", objects=self._helpers())
        [plan] = [d["data"]["plan"] for d in of_kind(self.release.objects, "ConfigMap") if "plan" in d["data"]]
        self.plan = folder / "plan"
        self.plan.write_text(plan)
        super().__init__(self.release.kubeconfig(ACCOUNT), "azure-disk-csi")

    def _helpers(self) -> list[dict]:
        return [d for kind in HELPERS for d in of_kind(self.release.objects, kind)
                if "upgrade-check" in d["metadata"]["name"]]

    def obstacles(self, status: int = 1) -> dict[str, str]:
        """All that is wrong with each object."""
        found: dict[str, str] = {}
        for one in self.ask("upgrade-check", str(self.plan), status=status)["obstacles"]:
            found[one["object"]] = found.get(one["object"], "") + one["wrong"] + "\n"
        return found


@pytest.fixture
def check(cluster, tmp_path):
    return Check(cluster, tmp_path)


def test_nothing_is_in_the_way_of_an_installation_and_of_an_upgrade(helm, check):
    said, _ = check.outputs("upgrade-check", str(check.plan))
    assert said.startswith("Nothing is in the way of version 0.1.0 of release upgrade-check/release: ")
    helm.run("install", RELEASE, CHART, *SET, "--take-ownership")
    assert check.obstacles(status=0) == {}


def a_volume_with_btrfs(cluster: ApiServer) -> None:
    """As a class of version 1 with csi.storage.k8s.io/fstype: btrfs has made it."""
    client.CoreV1Api(cluster.client()).create_persistent_volume({"metadata": {"name": "with-btrfs"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "persistentVolumeReclaimPolicy": "Retain",
        "csi": {"driver": DRIVER, "volumeHandle": disk_id("with-btrfs"), "fsType": "btrfs"}}})


def no_volume_with_btrfs(cluster: ApiServer) -> None:
    core = client.CoreV1Api(cluster.client())
    core.delete_persistent_volume("with-btrfs")
    core.patch_persistent_volume("with-btrfs", {"metadata": {"finalizers": None}})
    until(lambda: not core.list_persistent_volume().items, "it is gone")


def test_volumes_that_this_driver_cannot_mount_are_in_the_way_of_a_move_only(cluster, helm, check):
    a_volume_with_btrfs(cluster)
    try:
        found = check.obstacles()
        assert found.keys() == {"PersistentVolume with-btrfs"} and '"btrfs"' in found["PersistentVolume with-btrfs"]
        helm.run("install", RELEASE, CHART, *SET, "--take-ownership")
        assert check.obstacles(status=0) == {}, "they are nothing new"
    finally:
        no_volume_with_btrfs(cluster)


def another_role(cluster: ApiServer) -> None:
    rbac = client.RbacAuthorizationV1Api(cluster.client())
    rbac.delete_cluster_role_binding(BINDING)
    rbac.create_cluster_role_binding({"metadata": {"name": BINDING}, "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}})


def another_class(cluster: ApiServer) -> None:
    storage = client.StorageV1Api(cluster.client())
    storage.delete_storage_class(CLASS)
    storage.create_storage_class({"metadata": {"name": CLASS}, "provisioner": DRIVER, "parameters": {"skuName": "Premium_ZRS"}})


def somebody_elses_driver(cluster: ApiServer) -> None:
    storage = client.StorageV1Api(cluster.client())
    storage.delete_csi_driver(DRIVER)
    storage.create_csi_driver({"metadata": {"name": DRIVER}, "spec": {"attachRequired": False}})


def somebody_elses_webhook(cluster: ApiServer) -> None:
    client.AdmissionregistrationV1Api(cluster.client()).patch_mutating_webhook_configuration(WEBHOOK, [
        {"op": "replace", "path": "/metadata/annotations/meta.helm.sh~1release-name", "value": "other"},
        {"op": "replace", "path": "/webhooks/0/clientConfig/service/namespace", "value": "elsewhere"}])


def a_former_version(cluster: ApiServer) -> None:
    """The API server itself sees to it that a version that is stored is in the definition."""
    api = client.ApiextensionsV1Api(cluster.client())
    definition = cluster.client().sanitize_for_serialization(api.read_custom_resource_definition(DEFINITION))
    [version] = definition["spec"]["versions"]
    former = version | {"name": "v1beta1", "storage": False}
    api.patch_custom_resource_definition(DEFINITION, {"spec": {"versions": [version, former]}})
    api.patch_custom_resource_definition_status(DEFINITION, {"status": {"storedVersions": ["v1beta1", "v1beta2"]}})


def a_later_release(cluster: ApiServer) -> None:
    labels = {"metadata": {"labels": {"app.kubernetes.io/version": "0.2.0"}}}
    client.AppsV1Api(cluster.client()).patch_namespaced_deployment("csi-azuredisk-controller", NAMESPACE, labels)


WRONG = {  # what is done, and what is said then: of which object, and words
    another_role: (f"ClusterRoleBinding {BINDING}", '"name":"view"'),
    another_class: (f"StorageClass {CLASS}", "Premium_ZRS"),
    somebody_elses_driver: (f"CSIDriver {DRIVER}", "it is not of this release"),
    somebody_elses_webhook: (f"MutatingWebhookConfiguration {WEBHOOK}", "and calls Service elsewhere/"),
    a_former_version: (f"CustomResourceDefinition {DEFINITION}", "version v1beta1"),
    a_later_release: (f"Deployment {NAMESPACE}/csi-azuredisk-controller", "version 0.2.0 is installed"),
}


def test_all_that_is_in_the_way_is_said_at_once_and_helm_would_have_stopped(cluster, helm, check):
    helm.run("install", RELEASE, CHART, *SET, "--take-ownership")
    for put_wrong in WRONG:
        put_wrong(cluster)
    found = check.obstacles()
    assert found.keys() == {name for name, _ in WRONG.values()}
    assert not [name for name, words in WRONG.values() if words not in found[name]], found
    text, _ = check.outputs("upgrade-check", str(check.plan), status=1)
    assert "  to do:  kubectl delete clusterrolebindings azuredisk-node (" in text
    stopped = helm.run("upgrade", RELEASE, CHART, *SET, "--take-ownership", status=1)
    assert "is invalid" in stopped.stderr, "one at a time, with others changed already"


def test_definitions_of_somebody_else_have_to_be_there(cluster, tmp_path):
    api = client.ApiextensionsV1Api(cluster.client())
    names = {definition["metadata"]["name"] for definition in of_kind(render(), "CustomResourceDefinition")}

    def are_there() -> set[str]:
        return names & {definition.metadata.name for definition in api.list_custom_resource_definition().items}

    for name in are_there():
        api.delete_custom_resource_definition(name)
    until(lambda: not are_there(), "they are gone")
    found = Check(cluster, tmp_path, crds__create=False).obstacles()
    assert len(found) == 4 and set(found.values()) == {"it is not there, and crds.create is false\n"}


def test_a_file_that_is_no_plan_is_refused(check, tmp_path):
    (tmp_path / "other").write_text('{"objects": []}')
    assert "is not a plan" in check.outputs("upgrade-check", str(tmp_path / "other"), status=2)[1]
    assert "missing PLAN" in check.outputs("upgrade-check", status=2)[1]
