"""A node's memory does not grow with the rest of the cluster."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

import pytest
from azsim import simulator
from cluster.cluster import Cluster
from cluster.waiting import PATIENCE, until
from deployment.driver import NAMESPACE, OBJECTS
from kubernetes import client, config

OTHERS = 4000  # volumes of other nodes, each with an attachment
WRITERS = 4
SETTLED_KIB = 64
RESOURCE = ("disk.csi.azure.com", "v1beta2", OBJECTS)  # what all calls say


def volume(number: int) -> dict:
    return {
        "apiVersion": "disk.csi.azure.com/v1beta2",
        "kind": "AzVolume",
        "metadata": {"name": f"pvc-of-others-{number}"},
        "spec": {
            "volumeName": f"pvc-of-others-{number}",
            "maxMountReplicaCount": 0,
            "volumeCapability": [{"access_type": 1, "access_mode": 1, "fs_type": "ext4"}],
        },
    }


def attachment(number: int) -> dict:
    name, node = f"pvc-of-others-{number}", f"other-{number % 100}"
    labels = {"node-name": node, "volume-name": name, "requested-role": "Primary"}
    return {
        "apiVersion": "disk.csi.azure.com/v1beta2",
        "kind": "AzVolumeAttachment",
        "metadata": {
            "name": f"{name}-{node}-attachment",
            "labels": {f"disk.csi.azure.com/{key}": value for key, value in labels.items()},
        },
        "spec": {
            "volumeName": name, "volume_id": simulator.disk_id(name), "nodeName": node, "role": "Primary",
        },
    }


class Objects:
    """The official client's calls for custom resources, from several threads."""

    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        self.api = config.new_client_from_config(str(cluster.authority.path("admin.conf")))

    def _custom(self, call: Callable[[client.CustomObjectsApi], dict]) -> dict:
        with self.cluster.inside("cp"):
            return call(client.CustomObjectsApi(self.api))

    def create(self, plural: str, bodies: Iterable[dict]) -> None:
        def one(body: dict) -> None:
            self._custom(lambda api: api.create_namespaced_custom_object(*RESOURCE, plural, body))

        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(one, bodies))

    def delete_all(self, plural: str) -> None:
        """On a slow machine that takes longer than the API server gives a request; what the next one finds is less."""
        def are_gone() -> bool:
            try:
                self._custom(lambda api: api.delete_collection_namespaced_custom_object(*RESOURCE, plural))
            except client.ApiException as error:
                if error.status != HTTPStatus.GATEWAY_TIMEOUT:
                    raise
            return not self._custom(lambda api: api.list_namespaced_custom_object(*RESOURCE, plural, limit=1))["items"]

        until(are_gone, f"all {plural} are deleted")

    def heartbeats(self) -> dict[str, str]:
        found = self._custom(lambda api: api.list_namespaced_custom_object(*RESOURCE, "azdrivernodes"))
        return {each["metadata"]["name"]: each["status"]["lastHeartbeatTime"] for each in found["items"]}

    def wait_for_heartbeats(self) -> None:
        before = self.heartbeats()
        until(lambda: all(now > before[node] for node, now in self.heartbeats().items()),
              "every node plug-in is heard of again", interval=0.5)


@pytest.fixture
def without_controller(cluster, driver):
    """Nobody acts on what is in the custom resources; of other tests there is nothing any more."""
    def controllers(*words: str) -> None:
        cluster.kubectl(*words, "deployment/csi-azuredisk-controller", "-n", NAMESPACE)

    until(lambda: not cluster.get("azvolumes,azvolumeattachments", "-n", OBJECTS)["items"],
          "nothing is left of other tests", interval=0.5)
    controllers("scale", "--replicas=0")
    until(lambda: not driver.pods("controller"), "the controllers are gone", interval=0.5)
    yield
    controllers("scale", "--replicas=2")
    controllers("rollout", "status", PATIENCE)


@pytest.fixture
def objects(cluster, azure, without_controller):
    objects = Objects(cluster)
    yield objects
    for plural in ("azvolumeattachments", "azvolumes"):
        objects.delete_all(plural)


def resident(driver, program: str) -> dict:
    return {process: process.resident_kib() for process in driver.processes(program)}


def settled(objects: Objects, driver) -> dict | None:
    """What the plug-ins have resident, if that does not grow from one heartbeat to the next."""
    before = resident(driver, "/bin/azdisk-node")
    objects.wait_for_heartbeats()
    return before if growth(before) < SETTLED_KIB else None


def growth(before: dict) -> int:
    """The most that any of the processes has grown by, in KiB."""
    return max(process.resident_kib() - kib for process, kib in before.items())


def test_the_node_plugin_takes_no_note_of_volumes_elsewhere(objects, cluster, driver, measured):
    plugins = until(lambda: settled(objects, driver), "plug-ins that started lately have settled")
    extenders = resident(driver, "/bin/azdisk-scheduler-extender")
    assert len(plugins) == len(cluster.nodes)

    objects.create("azvolumes", map(volume, range(OTHERS)))
    objects.create("azvolumeattachments", map(attachment, range(OTHERS)))
    objects.wait_for_heartbeats()

    assert all(process.alive() for process in plugins)
    of_plugins, of_extenders = growth(plugins), growth(extenders)
    measured[f"growth by {OTHERS} volumes elsewhere, KiB"] = {"node": of_plugins, "extender": of_extenders}
    assert of_plugins < 1024
    assert of_extenders > 256, "the scheduler extender has to know of them"
