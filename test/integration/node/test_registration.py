"""How the plug-in makes itself known: to kubelet, in its AzDriverNode, and by NodeGetInfo."""

import json
import subprocess
import time

import pytest
from cluster.waiting import until

from .conftest import NODE
from .kubelet import Kubelet
from .machine import MIB
from .plugin import CHECKED
from .volume import Code, refused_in_time

INSTANCE = {"compute": {"location": "EastUS", "zone": "2", "vmSize": "Standard_D4s_v5"}}


def metadata(instance: dict):
    return lambda: (200, json.dumps(instance).encode())


# ---- kubelet ----


def test_registration(stopped, cloud):
    stopped.serve()
    info = stopped.registration.call("Registration/GetInfo")
    assert (info.type, info.name) == ("CSIPlugin", "disk.csi.azure.com")
    assert info.endpoint == "/var/lib/kubelet/plugins/csi.sock"
    assert list(info.supported_versions) == ["1.0.0"]
    status, reason = stopped.get("/readyz")
    assert status == 503
    until(lambda: "kubelet has not registered" in stopped.get("/readyz")[1], "the reason")
    assert stopped.get("/healthz") == (200, "ok\n")
    stopped.register()
    until(lambda: stopped.get("/readyz")[0] == 200, "readiness")


@pytest.fixture
def kubelet_of():
    """kubelet_of(plugin, refusals): a kubelet that watches the plug-in's folder."""
    kubelets = []

    def make(plugin, refusals) -> Kubelet:
        kubelets.append(Kubelet(plugin.registration_socket, refusals))
        return kubelets[-1]

    yield make
    for kubelet in kubelets:
        kubelet.close()


def test_registration_that_failed(stopped, cloud, kubelet_of):
    """kubelet is asked again, ever less often, until it is content."""
    why = "CSI driver is of no use"
    kubelet = kubelet_of(stopped, [why] * 4)
    stopped.serve()
    reason = f"kubelet could not register the plug-in: {why}"
    until(lambda: stopped.get("/readyz") == (503, f"{reason}\n"), "the reason")
    assert stopped.get("/healthz") == (200, "ok\n")
    until(lambda: reason in str(cloud.status().get("conditions")), "the reason in the object")
    assert kubelet.content.wait(60)
    until(lambda: stopped.get("/readyz")[0] == 200, "readiness")
    first, second, third, *_ = kubelet.asked
    assert second - first >= 1 and third - second >= 2
    assert stopped.log.read_text().count(reason) == 1
    assert not [file.name for file in stopped.folder.iterdir() if file.name.startswith(".")]


def test_registration_that_fails_later(stopped, cloud, kubelet_of):
    """As a kubelet that was started anew may do; what is staged is none of its business."""
    stopped.run()
    stopped.register(False, "busy")
    assert "could not register the plug-in: busy" in stopped.get("/readyz")[1]
    kubelet = kubelet_of(stopped, [])
    stopped.unstage("v", stopped.folder / "nothing")
    assert kubelet.content.wait(60)
    until(lambda: stopped.get("/readyz")[0] == 200, "readiness")
    assert stopped.stop() == 0
    assert not stopped.registration_socket.exists()


# ---- the AzDriverNode ----


def test_the_life_of_a_driver_node(stopped, cloud):
    stopped.serve("--heartbeat-interval=1s")
    until(lambda: cloud.status().get("statusMessage") == "Driver node initializing.", "the object")
    assert cloud.driver_node()["spec"] == {"nodeName": NODE}
    assert cloud.status()["readyForVolumeAllocation"] is False
    assert cloud.status()["conditions"][0]["status"] == "False"
    uid = cloud.driver_node()["metadata"]["uid"]

    stopped.register()
    until(lambda: cloud.status()["readyForVolumeAllocation"], "readiness")
    status = cloud.status()
    (condition,) = status["conditions"]
    assert status["statusMessage"] == "Driver node healthy."
    assert (condition["type"], condition["status"]) == ("IsNodePluginReady", "True")

    beats = [status["lastHeartbeatTime"]]
    deadline = time.monotonic() + 60
    while len(beats) < 4 and time.monotonic() < deadline:
        beat = cloud.status()["lastHeartbeatTime"]
        if beat != beats[-1]:
            beats.append(beat)
        time.sleep(0.1)
    assert len(beats) == 4
    assert cloud.status()["conditions"][0]["lastTransitionTime"] == condition["lastTransitionTime"]
    until(lambda: stopped.metrics()["azuredisk_heartbeat_age_seconds"] < 3, "a young heartbeat")

    assert stopped.stop() == 0
    status = cloud.status()
    assert status["statusMessage"] == "Driver node shutting down."
    assert status["readyForVolumeAllocation"] is False
    assert status["conditions"][0]["reason"] == "Stopping"

    stopped.run()
    until(lambda: cloud.status()["readyForVolumeAllocation"], "readiness again")
    assert cloud.driver_node()["metadata"]["uid"] == uid


def test_a_driver_node_that_is_deleted(plugin, cloud):
    until(lambda: cloud.status().get("readyForVolumeAllocation"), "readiness")
    uid = cloud.driver_node()["metadata"]["uid"]
    cloud.delete_driver_node()
    until(lambda: cloud.status().get("readyForVolumeAllocation"), "a new one")
    assert cloud.driver_node()["metadata"]["uid"] != uid


def test_free_slots(plugin, cloud):
    until(lambda: cloud.driver_node(), "the object")
    assert "slots" not in cloud.status()
    cloud.set_limit(4)
    until(lambda: cloud.status()["slots"] == {"limit": 4, "free": 4}, "free slots")
    for i in range(3):
        cloud.publish(f"disk-{i}", lun=i, size=MIB)
        cloud.publish(f"disk-{i}", "node-b", lun=i, size=MIB)
    until(lambda: cloud.status()["slots"]["free"] == 1, "three less")
    cloud.report("disk-0", state="Detached")
    until(lambda: cloud.status()["slots"]["free"] == 2, "one more")
    cloud.unpublish("disk-1")
    until(lambda: cloud.status()["slots"]["free"] == 3, "another one")
    cloud.set_limit(0)
    until(lambda: cloud.status()["slots"] == {"limit": 0, "free": 0}, "no slots")


def test_a_start_without_an_api_server(stopped, cloud, installed):
    """It serves what it can, and the rest as soon as it can."""
    installed.kill()
    stopped.serve()
    stopped.register()
    assert "the cluster's objects have not been read yet" in stopped.get("/readyz")[1]
    refused_in_time(
        lambda: stopped.stage("v", stopped.folder / "staging", timeout=2),
        Code.DEADLINE_EXCEEDED, "the cluster's objects have not been read yet",
    )  # fmt: skip
    refused_in_time(
        lambda: stopped.unstage("v", stopped.folder / "nothing", timeout=2),
        Code.UNAVAILABLE, "the cluster's objects have not been read yet",
    )  # fmt: skip
    installed.restart()
    until(lambda: stopped.get("/readyz")[0] == 200, "readiness")
    stopped.unstage("v", stopped.folder / "nothing")
    until(lambda: cloud.status().get("readyForVolumeAllocation"), "the object")


# ---- NodeGetInfo ----


@pytest.mark.parametrize(
    ("instance", "segments"),
    [
        (INSTANCE, {"topology.disk.csi.azure.com/zone": "eastus-2", "topology.kubernetes.io/zone": "eastus-2"}),
        ({"compute": {"location": "eastus", "zone": ""}}, {"topology.disk.csi.azure.com/zone": ""}),
    ],
)  # fmt: skip
def test_info(stopped, instance, segments):
    stopped.machine.serve_metadata(metadata(instance))
    stopped.run("--volume-attach-limit=7", environment={"http_proxy": "http://127.0.0.1:1"})
    info = stopped.info()
    assert info.node_id == NODE
    assert info.max_volumes_per_node == 7
    assert dict(info.accessible_topology.segments) == segments


def test_limit_of_the_controller(stopped, cloud):
    stopped.machine.serve_metadata(metadata(INSTANCE))
    stopped.run()
    refused_in_time(
        lambda: stopped.info(timeout=2),
        Code.UNAVAILABLE, "the controller has not yet written to AzDriverNode node-a",
    )  # fmt: skip
    answer = stopped.later(stopped.info)
    time.sleep(1)
    assert not answer.done()
    cloud.set_limit(16)
    assert answer.result(timeout=60).max_volumes_per_node == 16
    cloud.set_limit(0)
    until(lambda: stopped.info().max_volumes_per_node == 1, "the least, since 0 is no limit to Kubernetes")


@pytest.mark.parametrize(
    ("labels", "zone"),
    [
        ({"topology.kubernetes.io/region": "eastus", "topology.kubernetes.io/zone": "eastus-3"}, "eastus-3"),
        ({"topology.kubernetes.io/region": "eastus", "topology.kubernetes.io/zone": "0"}, ""),
    ],
)  # fmt: skip
def test_zone_of_the_node(stopped, cloud, labels, zone):
    """No metadata service answers, or one that is somebody else's."""
    if zone:
        stopped.machine.serve_metadata(lambda: (404, b"who is Azure?"))
    cloud.core.create_node({"metadata": {"name": NODE, "labels": labels}})
    try:
        stopped.run("--volume-attach-limit=1")
        info = stopped.info()
    finally:
        cloud.core.delete_node(NODE)
    assert info.accessible_topology.segments["topology.disk.csi.azure.com/zone"] == zone
    assert "using the zone in the Node's labels" in stopped.log.read_text()


# ---- the command line ----


@pytest.mark.parametrize(
    ("flags", "status", "message"),
    [
        (["--node-id=n", "--no-such-flag"], 2, "unknown flag --no-such-flag (see --help)"),
        ([], 2, "--node-id or KUBE_NODE_NAME is required"),
        (["--node-id=n", "--heartbeat-interval=0"], 2, '--heartbeat-interval: "0" is shorter than 100ms'),
        (["--node-id=n", "--kubeconfig=/no/such/file"], 1, "/no/such/file: No such file or directory"),
        (["--node-id=n", "--health-address=nowhere"], 1, "nowhere"),
    ],
)  # fmt: skip
def test_a_wrong_start(flags, status, message):
    defaults = ["--health-address=127.0.0.1:0", "--metrics-address="]
    ended = subprocess.run([CHECKED, *defaults, *flags], capture_output=True, text=True, timeout=60)
    assert ended.returncode == status
    lines = ended.stderr.splitlines()
    (line,) = (line for line in lines if "ASan doesn't fully support" not in line)
    assert line.startswith("azdisk-node: ") and message in line


def test_a_socket_that_cannot_be_served(stopped):
    stopped.csi_socket.write_text("a file")
    stopped.start()
    assert stopped.process.wait(30) == 1
    assert f"{stopped.csi_socket}: exists and is not a socket" in stopped.log.read_text()
