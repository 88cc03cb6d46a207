"""The taint that new nodes may have goes when kubelet has registered the plug-in, and no other with it."""

import time

import pytest
from cluster.waiting import until
from kubernetes import client

from .conftest import NODE

TAINT = "disk.csi.azure.com/agent-not-ready"
DRIVER = {"name": "disk.csi.azure.com", "nodeID": NODE, "topologyKeys": []}
OTHERS = [("file.csi.azure.com/agent-not-ready", "NoSchedule"), ("node.cilium.io/agent-not-ready", "NoExecute")]


class NewNode:
    """A Node whose maker has given it taints."""

    def __init__(self, cloud):
        self.core, self.storage = cloud.core, client.StorageV1Api(cloud.core.api_client)

    def make(self) -> None:
        taints = [OTHERS[0], (TAINT, "NoSchedule"), OTHERS[1], (TAINT, "NoExecute")]
        listed = [{"key": key, "effect": effect, "value": "x"} for key, effect in taints]
        self.core.create_node({"metadata": {"name": NODE}, "spec": {"taints": listed}})

    def register(self, *drivers: dict) -> None:
        """As kubelet does before it tells the plug-in."""
        self.storage.create_csi_node({"metadata": {"name": NODE}, "spec": {"drivers": list(drivers)}})

    def taints(self) -> list[tuple[str, str]]:
        """But those of Kubernetes itself."""
        found = [(taint.key, taint.effect) for taint in self.core.read_node(NODE).spec.taints or []]
        return [taint for taint in found if not taint[0].startswith("node.kubernetes.io/")]

    def remove(self) -> None:
        for delete in (self.core.delete_node, self.storage.delete_csi_node):
            try:
                delete(NODE)
            except client.ApiException as failure:
                assert failure.status == 404


@pytest.fixture
def node(cloud):
    node = NewNode(cloud)
    node.make()
    yield node
    node.remove()


def test_it_goes_when_kubelet_has_registered_the_plugin(stopped, node):
    stopped.serve()
    node.register(DRIVER)  # of a former life of the plug-in
    time.sleep(2)
    assert (TAINT, "NoSchedule") in node.taints(), "kubelet has not said so in this life"
    stopped.register()
    until(lambda: node.taints() == OTHERS, "both are gone, the others are not")

    node.remove()  # the machine stays, and comes back as a Node of that name
    node.make()
    node.register(DRIVER)
    stopped.register()
    until(lambda: node.taints() == OTHERS, "gone again")


def test_it_waits_for_kubelets_record(stopped, node):
    """And it tries again when the API server has refused."""
    stopped.run()
    until(lambda: "csinodes" in stopped.log.read_text(), "there is none")
    node.register({**DRIVER, "name": "file.csi.azure.com"})
    until(lambda: "does not name driver disk.csi.azure.com yet" in stopped.log.read_text(), "one without the driver")
    assert (TAINT, "NoExecute") in node.taints()
    node.storage.patch_csi_node(NODE, {"spec": {"drivers": [DRIVER]}})
    until(lambda: node.taints() == OTHERS, "gone", 60)


def test_it_stays_if_it_is_to_stay(stopped, node):
    node.register(DRIVER)
    stopped.run("--remove-not-ready-taint=false")
    time.sleep(2)
    assert (TAINT, "NoExecute") in node.taints()
