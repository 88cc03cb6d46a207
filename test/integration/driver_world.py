"""Everything that a controller needs around it, without a cluster's machines: an API server with the
custom resources, a simulated Azure, and nodes that are nothing but objects.
"""

import base64
import json
import signal
import subprocess
import time
from pathlib import Path

from azsim import simulator
from cluster.process import Process
from cluster.waiting import until
from kubernetes import client

from . import custom_resources
from .apiserver import ApiServer, free_port
from .csi import Csi

TREE = Path(__file__).parents[2]
GROUP, VERSION = "disk.csi.azure.com", "v1beta2"


class World:
    """One API server and one Azure; objects are in a namespace of its own.

    Azure's latencies are those of `latency`, and of a disk's owners it tells at once.
    """

    driver = GROUP

    def __init__(self, folder: Path, apiserver: ApiServer, nodes: int = 3, throttling: str = "on",
                 applications: list[dict] = (), **latency: str):
        self.folder, self.apiserver = folder, apiserver
        self.namespace = f"azdisk-{folder.name.replace('_', '-').lower()}"[:60].strip("-")
        self.prefix = f"{self.namespace}-"  # of its nodes' names
        names = "abcdefgh"[:nodes] if nodes <= len("abcdefgh") else [f"n{i:03}" for i in range(nodes)]
        self.nodes = [f"{self.prefix}{name}" for name in names]
        self.client = apiserver.client()
        self.core = client.CoreV1Api(self.client)
        self.custom = client.CustomObjectsApi(self.client)
        flags = [f"--latency={kind}={time_}" for kind, time_ in {"orphan": "0s", **latency}.items()]
        azure = simulator.describe([{"name": n, "size": "Standard_D4s_v5", "zone": "1"} for n in self.nodes])
        azure["clients"].extend(applications)
        azure["otherResourceGroups"] = ["elsewhere"]
        self.azure = simulator.Azsim(
            folder,
            azure,
            *flags,
            f"--throttling={throttling}",
        )

    def __enter__(self) -> "World":
        custom_resources.install(self.client)
        self.azure.start()
        self._make_namespace()
        for node in self.nodes:
            self.add_node(node)
        return self

    def __exit__(self, *_) -> None:
        self.azure.__exit__()
        for node in self.nodes:
            try:
                self.core.delete_node(node)
            except client.ApiException:
                pass
        self.client.close()

    # ---- what an installation makes ----

    def _make_namespace(self) -> None:
        self.core.create_namespace({"metadata": {"name": self.namespace}})
        self.core.create_namespaced_secret(self.namespace, self._cloud())

    def cloud_config(self, **changes) -> str:
        """An azure.json that leads to the simulated Azure."""
        config = {
            "cloud": "AzurePublicCloud",
            "resourceManagerEndpoint": self.azure.url,
            "tenantId": simulator.TENANT,
            "subscriptionId": simulator.SUBSCRIPTION,
            "resourceGroup": simulator.GROUP,
            "location": simulator.LOCATION,
            "aadClientId": simulator.CLIENT,
            "aadClientSecret": simulator.SECRET,
        }
        return json.dumps(config | changes)

    def _cloud(self, **changes) -> dict:
        encoded = base64.b64encode(self.cloud_config(**changes).encode()).decode()
        return {"metadata": {"name": "cloud"}, "data": {"cloud-config": encoded}}

    def log_in_by(self, **changes) -> None:
        """Other keys in the Secret's azure.json, for controllers that start from now on."""
        self.core.replace_namespaced_secret("cloud", self.namespace, self._cloud(**changes))

    def add_node(self, name: str, ready: bool = True) -> None:
        """A Node and its AzDriverNode, as kubelet and the node plug-in would make them."""
        vm = simulator.disk_id(name).replace("/disks/", "/virtualMachines/")
        labels = {f"topology.{GROUP}/zone": "eastus-1"}
        self.core.create_node(
            {"metadata": {"name": name, "labels": labels}, "spec": {"providerID": f"azure://{vm}"}}
        )
        self.set_ready(name, ready)
        self.add_driver_node(name)

    def add_driver_node(self, name: str) -> None:
        self.create("azdrivernodes", {"metadata": {"name": name}, "spec": {"nodeName": name}})
        self.beat(name)

    def add_small_nodes(self, *letters: str) -> None:
        """Nodes with VMs that have four places for data disks."""
        for letter in letters:
            node = f"{self.prefix}{letter}"
            self.azure.control("POST", "vms", {"name": node, "size": "Standard_B2ms", "zone": "1"}, 201)
            self.nodes.append(node)
            self.add_node(node)

    def set_ready(self, name: str, ready: bool | str) -> None:
        condition = {"type": "Ready", "status": str(ready), "reason": "x", "message": "x"}
        self.core.patch_node_status(name, {"status": {"conditions": [condition]}})
        taints = [t for t in self.core.read_node(name).spec.taints or [] if "not-ready" not in t.key]
        self.core.patch_node(name, {"spec": {"taints": taints or None}})

    def beat(self, name: str, ready: bool = True) -> None:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        status = {"readyForVolumeAllocation": ready, "lastHeartbeatTime": now, "statusMessage": "x"}
        self.patch("azdrivernodes", name, {"status": status}, status=True)

    # ---- custom resources ----

    def create(self, plural: str, body: dict) -> dict:
        kind = {"azvolumes": "AzVolume", "azvolumeattachments": "AzVolumeAttachment", "azsnapshots": "AzSnapshot",
                "azdrivernodes": "AzDriverNode"}[plural]
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind, **body}
        return self.custom.create_namespaced_custom_object(GROUP, VERSION, self.namespace, plural, body)

    def objects(self, plural: str) -> list[dict]:
        found = self.custom.list_namespaced_custom_object(GROUP, VERSION, self.namespace, plural)
        return found["items"]

    def find(self, plural: str, name: str) -> dict | None:
        return next((o for o in self.objects(plural) if o["metadata"]["name"] == name), None)

    def patch(self, plural: str, name: str, body: dict, status: bool = False) -> None:
        patch = (self.custom.patch_namespaced_custom_object_status if status
                 else self.custom.patch_namespaced_custom_object)
        patch(GROUP, VERSION, self.namespace, plural, name, body)

    def delete(self, plural: str, name: str) -> None:
        self.custom.delete_namespaced_custom_object(GROUP, VERSION, self.namespace, plural, name)

    def roles(self, volume: str) -> dict[str, str]:
        """node -> "Role State" of a volume's attachments, as `kubectl get azvolumeattachments` has it."""
        found = {}
        for item in self.objects("azvolumeattachments"):
            if item["spec"]["volumeName"] == volume:
                status = item.get("status", {})
                node = item["spec"]["nodeName"].removeprefix(self.prefix)
                role = status.get("detail", {}).get("role", "-")
                leaving = "!" if "deletionTimestamp" in item["metadata"] else ""
                found[node] = f"{role} {status.get('state', '-')}{leaving}"
        return found

    def free_lease(self) -> None:
        """That of a leader that was killed, so that the next one need not wait until it expires."""
        leases = client.CoordinationV1Api(self.client)
        leases.patch_namespaced_lease("csi-azuredisk-controller", self.namespace, {"spec": {"holderIdentity": ""}})

    # ---- Azure ----

    def calls(self, kind: str, after: int = 0) -> list[dict]:
        """Accepted requests of a kind, such as "disks.createOrUpdate"."""
        return [e for e in self.azure.journal(after) if e.get("kind") == kind and e["status"] < 300]

    def attached(self, volume: str, after: int = 0) -> list[str]:
        """The VMs to which the disk was asked to be attached, in order."""
        changes = self.calls("virtualMachines.attachDetachDataDisks", after)
        return [e["vm"].removeprefix(self.prefix) for e in changes if volume in e["attached"]]

    def own_mark(self) -> dict[str, str]:
        """The tags by which this driver in this cluster knows its disks."""
        return {"k8s-azure-created-by": "kubernetes-azure-dd", "k8s-azure-created-by-driver": self.driver,
                "k8s-azure-created-by-cluster": self.core.read_namespace("kube-system").metadata.uid}

    def last_call(self) -> int:
        return self.azure.control("GET", "summary")["requests"]


class Neighbour(World):
    """What another driver has in that cluster: the same nodes and the same Azure, and custom resources of its own."""

    def __init__(self, world: World, driver: str):
        self.driver, self.folder = driver, world.folder / driver
        self.namespace, self.prefix, self.nodes = f"{world.namespace}-2", world.prefix, world.nodes
        self.apiserver, self.azure = world.apiserver, world.azure
        self.client, self.core, self.custom = world.client, world.core, world.custom

    def __enter__(self) -> "Neighbour":
        self.folder.mkdir()
        self._make_namespace()
        for node in self.nodes:
            self.core.patch_node(node, {"metadata": {"labels": {f"topology.{self.driver}/zone": "eastus-1"}}})
            self.add_driver_node(node)
        return self

    def __exit__(self, *_) -> None:
        """The world ends it."""


class Controller:
    """azdisk-controller, sanitized, as a process outside of a cluster."""

    PROGRAM = TREE / "build/checked/bin/azdisk-controller"

    def __init__(self, world: World, name: str = "one", *flags: str):
        self.world, self.log = world, world.folder / f"{name}.log"
        self.socket = world.folder / f"{name}.sock"
        self.health, self.metrics = free_port(), free_port()
        self.words = [
            self.PROGRAM,
            f"--endpoint={self.socket}",
            f"--kubeconfig={world.apiserver.kubeconfig}",
            f"--driver-name={world.driver}",
            f"--object-namespace={world.namespace}",
            "--cloud-config-secret-name=cloud",
            f"--cloud-config-secret-namespace={world.namespace}",
            f"--leader-election-namespace={world.namespace}",
            f"--pod-name={name}",
            f"--health-address=127.0.0.1:{self.health}",
            f"--metrics-address=127.0.0.1:{self.metrics}",
            "--lease-duration=10s", "--lease-renew-deadline=8s", "--lease-retry-period=300ms",
            "--audit-interval=0s",
            "--heartbeat-limit=1h",  # World.beat() is all that is heard of a node
            "--v=5",
            *flags,
        ]

    def __enter__(self) -> "Controller":
        return self.start()

    def __exit__(self, kind, *_) -> None:
        if self.process.poll() is None:
            self.end()
        elif kind is None:
            raise AssertionError(f"it ended by itself: {self.tail()}")
        self.csi.close()

    def start(self) -> "Controller":
        with open(self.log, "ab") as output:
            self._log_start = output.tell()
            self.process = subprocess.Popen(
                self.words, stdout=output, stderr=output,
                env={"SSL_CERT_FILE": self.world.azure.ca, "ASAN_OPTIONS": "detect_stack_use_after_return=0"},
            )
        self.csi = Csi(self.socket)
        until(self._serves, f"{self.log.name} serves")
        return self

    def _serves(self) -> bool:
        assert self.process.poll() is None, self.tail()
        return "serving CSI" in self.said()

    def leads(self) -> bool:
        return "started leading" in self.said()

    def said(self) -> str:
        """What it has logged since it was started last."""
        return self.log.read_bytes()[self._log_start :].decode(errors="replace")

    def end(self) -> None:
        """It must end well, and so must what its sanitizers have to say."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(30)
        assert status == 0, f"status {status}: {self.tail()}"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def pause(self) -> None:
        Process.of(self.process.pid).stop()

    def resume(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-6000:]
