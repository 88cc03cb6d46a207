"""What docs/security.md says of the pods of the chart, of which the API server is the judge: the level of Pod Security that
admits each of them, and why the node plug-in is privileged. And that what the page has users apply is what Kubernetes knows."""

import copy
import json
import re
import subprocess

import pytest
import yaml
from chart.chart import render
from cluster import tools
from docs.security import EVERYTHING, LEVELS, PAGE, pods
from kubernetes import client

STRICT = ("restricted", "baseline", "privileged")
IN_THE_POD_NETWORK = {"controller.hostNetwork": False}


@pytest.fixture(scope="module")
def namespaces(apiserver):
    """By level: one that enforces it."""
    core = client.CoreV1Api(apiserver.client())
    for level in STRICT:
        labels = {"pod-security.kubernetes.io/enforce": level}
        core.create_namespace({"metadata": {"name": f"level-{level}", "labels": labels}})
    yield {level: f"level-{level}" for level in STRICT}
    for level in STRICT:
        core.delete_namespace(f"level-{level}")


@pytest.fixture(scope="module")
def refusal(apiserver):
    """refusal(object, namespace): what the API server has against it; nothing if it would take it."""
    def ask(document: dict, namespace: str) -> str:
        words = ["create", "--dry-run=server", "--validate=strict", "--namespace", namespace, "--filename=-"]
        done = subprocess.run([tools.folder() / "kubectl", "--kubeconfig", apiserver.kubeconfig, *words],
                              input=json.dumps(document), capture_output=True, text=True)
        return done.stderr if done.returncode else ""

    return ask


def pod(spec: dict) -> dict:
    spec = {"restartPolicy": "Always", **copy.deepcopy(spec)}
    spec.pop("priorityClassName", None)  # which only kube-system may have
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"}, "spec": spec}


def level(refusal, namespaces, spec: dict) -> str:
    """The strictest that admits it."""
    refused = {level: refusal(pod(spec), namespaces[level]) for level in STRICT}
    assert all("violates PodSecurity" in text for text in refused.values() if text), refused
    return next(level for level in STRICT if not refused[level])


@pytest.mark.parametrize("name", LEVELS)
def test_the_level_of_each_pod(refusal, namespaces, name):
    said, _, _ = LEVELS[name].partition(",")
    assert level(refusal, namespaces, pods()[name]) == said


def test_without_the_nodes_network_the_controller_is_restricted(refusal, namespaces):
    [spec] = [d["spec"]["template"]["spec"] for d in render(EVERYTHING | IN_THE_POD_NETWORK)
              if d["kind"] == "Deployment" and d["metadata"]["name"] == "csi-azuredisk-controller"]
    assert "restricted with `controller.hostNetwork: false`" in LEVELS["csi-azuredisk-controller"]
    assert level(refusal, namespaces, spec) == "restricted"


def test_the_node_plugin_has_to_be_privileged(refusal, namespaces):
    """For the mounts that others have to see; without these, it might be less."""
    less = pod(pods()["csi-azuredisk-node"])
    [container] = less["spec"]["containers"]
    container["securityContext"] = {"capabilities": {"add": ["SYS_ADMIN", "SYS_RAWIO", "SYS_RESOURCE"]}}
    why = "Bidirectional mount propagation is available only to privileged containers"
    assert why in PAGE.read_text() and why in refusal(less, namespaces["privileged"])
    for mount in container["volumeMounts"]:
        mount.pop("mountPropagation", None)
    assert refusal(less, namespaces["privileged"]) == ""


def test_what_users_are_to_apply_is_known(refusal, namespaces):
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        document = yaml.safe_load(block.replace("NAMESPACE", namespaces["baseline"]))
        assert refusal(document, namespaces["baseline"]) == ""
