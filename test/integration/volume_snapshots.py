"""VolumeSnapshots in an API server: their definitions, which Kubernetes' CSI project publishes, and a user's objects."""

from collections.abc import Iterator
from contextlib import contextmanager

import yaml
from cluster import tools
from kubernetes import client

from . import custom_resources

GROUP, VERSION = "snapshot.storage.k8s.io", "v1"


@contextmanager
def defined(api: client.ApiClient) -> Iterator[None]:
    """VolumeSnapshot, VolumeSnapshotContent and VolumeSnapshotClass are served meanwhile."""
    files = tools.snapshot_definitions()
    custom_resources.install(api, files)
    yield
    for file in files:
        name = yaml.safe_load(file.read_text())["metadata"]["name"]
        client.ApiextensionsV1Api(api).delete_custom_resource_definition(name)


class VolumeSnapshots:
    """Those of a namespace."""

    def __init__(self, api: client.ApiClient, namespace: str):
        self._custom, self._namespace = client.CustomObjectsApi(api), namespace

    def create_class(self, name: str, driver: str, parameters: dict[str, str]) -> None:
        body = {"metadata": {"name": name}, "driver": driver, "deletionPolicy": "Delete", "parameters": parameters}
        self._custom.create_cluster_custom_object(GROUP, VERSION, "volumesnapshotclasses", self._typed("Class", body))

    def delete_class(self, name: str) -> None:
        self._custom.delete_cluster_custom_object(GROUP, VERSION, "volumesnapshotclasses", name)

    def create(self, name: str, claim: str, class_: str) -> None:
        body = {"metadata": {"name": name},
                "spec": {"volumeSnapshotClassName": class_, "source": {"persistentVolumeClaimName": claim}}}
        self._custom.create_namespaced_custom_object(GROUP, VERSION, self._namespace, "volumesnapshots", self._typed("", body))

    def delete(self, name: str) -> None:
        """It goes when the snapshot has gone."""
        self._custom.delete_namespaced_custom_object(GROUP, VERSION, self._namespace, "volumesnapshots", name)

    def status(self, name: str) -> dict:
        found = self._custom.get_namespaced_custom_object(GROUP, VERSION, self._namespace, "volumesnapshots", name)
        return found.get("status", {})

    def create_content(self, name: str, driver: str, snapshot_id: str) -> None:
        """Of a snapshot that exists, for a VolumeSnapshot that does not."""
        body = {"metadata": {"name": name},
                "spec": {"driver": driver, "deletionPolicy": "Retain", "source": {"snapshotHandle": snapshot_id},
                         "volumeSnapshotRef": {"name": name, "namespace": self._namespace}}}
        self._custom.create_cluster_custom_object(GROUP, VERSION, "volumesnapshotcontents", self._typed("Content", body))

    def delete_content(self, name: str) -> None:
        self._custom.delete_cluster_custom_object(GROUP, VERSION, "volumesnapshotcontents", name)

    def any_left(self) -> bool:
        """Or a VolumeSnapshotContent of one."""
        found = self._custom.list_namespaced_custom_object(GROUP, VERSION, self._namespace, "volumesnapshots")
        contents = self._custom.list_cluster_custom_object(GROUP, VERSION, "volumesnapshotcontents")
        return bool(found["items"] or contents["items"])

    @staticmethod
    def _typed(kind: str, body: dict) -> dict:
        return {"apiVersion": f"{GROUP}/{VERSION}", "kind": f"VolumeSnapshot{kind}", **body}
