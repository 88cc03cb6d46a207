"""The driver, installed by Helm from its chart with images that are built here."""

import json
import shlex
import socket
import tempfile
from pathlib import Path

from cluster import images, tools
from cluster.authority import Authority
from cluster.cluster import Cluster
from cluster.machine import Machine
from cluster.process import Process
from cluster.waiting import PATIENCE_S, until
from image.driver import PROGRAMS, driver

from .azure import Azure
from .page import blocks
from .reservations import Reservations

TREE = Path(__file__).parents[2]
CHART = TREE / "charts" / "azuredisk-csi-driver"

RELEASE, NAMESPACE, OBJECTS = "azuredisk", "kube-system", "azure-disk-csi"
PAGE = "install.md"
REGISTRY = "images.test"  # nobody's: the images are imported into the nodes
IMAGE, VERSION = f"{REGISTRY}/azuredisk-csi", "0.1.0"  # the driver's, as the page has it
TAG = "test"  # of all others
EXTENDER_ADDRESS, EXTENDER_PORT = "10.96.0.200", 8889  # of its Service; kube-scheduler cannot look names up
CONNECTIONS = 20  # each goes to any of the Service's pods
SELECTORS = {
    "controller": "app=csi-azuredisk-controller",
    "node": "app=csi-azuredisk-node",
    "extender": "app=csi-azuredisk-scheduler-extender",
}
# Values of `snapshot` that are enough for snapshots, where their definitions are.
SNAPSHOTS = {"enabled": True, "snapshotController": {"replicas": 1}, "VolumeSnapshotClass": {"enabled": True}}


class Driver:
    def __init__(self, cluster: Cluster, azure: Azure):
        self.cluster, self.azure = cluster, azure
        self.authority = Authority(cluster.directory / "extender-pki", "")  # of the extender and its callers

    # ---- installing ----

    def load_images(self, reservations: Reservations | None = None) -> None:
        """With reservations the disks have them, as Azure's have."""
        programs, own = self.cluster.tools, driver(f"{IMAGE}:{VERSION}", VERSION).image
        for image in (
            reservations.given_to(own) if reservations else own,
            images.sidecar(programs, "csi-provisioner", f"{REGISTRY}/csi-provisioner:{TAG}"),
            images.sidecar(programs, "csi-attacher", f"{REGISTRY}/csi-attacher:{TAG}"),
            images.sidecar(programs, "csi-resizer", f"{REGISTRY}/csi-resizer:{TAG}"),
            images.sidecar(programs, "csi-snapshotter", f"{REGISTRY}/csi-snapshotter:{TAG}"),
            images.sidecar(programs, "snapshot-controller", f"{REGISTRY}/snapshot-controller:{TAG}"),
        ):
            self.cluster.load(image)

    def define_snapshots(self) -> None:
        """What a distribution brings: VolumeSnapshot and its kin."""
        for file in tools.snapshot_definitions():
            self.cluster.kubectl("apply", "--server-side", "-f", file)

    def values(self, changes: dict) -> dict:
        """Of the chart, for the images of `load_images`."""
        def image(name: str) -> dict:
            return {"repository": f"{REGISTRY}/{name}", "tag": TAG, "pullPolicy": "Never"}

        values = {
            "image": {
                "azuredisk": {"repository": IMAGE, "tag": VERSION, "pullPolicy": "Never"},
                "csiProvisioner": image("csi-provisioner"),
                "csiAttacher": image("csi-attacher"),
                "csiResizer": image("csi-resizer"),
                "csiSnapshotter": image("csi-snapshotter"),
                "csiSnapshotController": image("snapshot-controller"),
            },
            "controller": {"trustedCA": Path(self.azure.ca).read_text()},
            "schedulerExtender": {
                "clusterIP": EXTENDER_ADDRESS,
                "tls": {"secretName": "extender", "clientCASecretName": "extender", "schedulerFiles": self._files()},
            },
        }
        for section, members in changes.items():
            values.setdefault(section, {}).update(members)
        return values

    def install(self, **changes: dict) -> None:
        """By the command of the page, with `changes`, values of the chart by section: controller={"replicaGCDelay": "20s"}. Back when
        everything is ready, the extender with the webhook's certificate, which kubelet may show to it two minutes late; and
        kube-scheduler asks the extender where placement.mode says so."""
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "azure-cloud-provider", "namespace": NAMESPACE},
            "stringData": {"cloud-config": self.azure.cloud_config()},
        }
        self.cluster.apply(secret, self._certificates())
        with tempfile.NamedTemporaryFile("w", suffix=".json") as values:
            json.dump(self.values(changes), values)
            values.flush()
            self.cluster.run(*self._command(), "--values", values.name, "--wait", "--timeout", "240s")
        if changes.get("placement", {}).get("mode", "extender") == "extender":
            self._configure_scheduler()

    @staticmethod
    def _command() -> list[str]:
        """The page's, typed in the tree."""
        [command] = blocks(PAGE, "Install")
        words = [str(TREE / word) if word.startswith("charts/") else word for word in
                 shlex.split(command.replace("\\\n", " ").replace("REGISTRY", REGISTRY))]
        assert words[:3] == ["helm", "install", RELEASE] and f"image.azuredisk.tag={VERSION}" in words, command
        return words

    def place_by(self, mode: str) -> None:
        """Another placement.mode. Its kube-scheduler, too: for all but the extender nobody configures one."""
        self.upgrade(placement__mode=mode)
        if mode == "extender":
            self._configure_scheduler()
        else:
            self.cluster.start_scheduler()

    def wait_extender_reached(self) -> None:
        """Every connection to its Service is answered: Kubernetes sends nobody to a lost node any more."""
        def is_reached() -> bool:
            return all(self._reaches_extender() for _ in range(CONNECTIONS))

        until(is_reached, "the Service of the extender leads to those that live", 60)

    def _reaches_extender(self) -> bool:
        try:
            with self.cluster.inside("cp"), socket.create_connection((EXTENDER_ADDRESS, EXTENDER_PORT), timeout=0.5):
                return True
        except OSError:
            return False

    def upgrade(self, **values: str) -> None:
        """Some values are others from now on: failover__gracePeriod="4s"."""
        words = [f"--set={name.replace('__', '.')}={value}" for name, value in values.items()]
        self.cluster.run("helm", "upgrade", RELEASE, CHART, "--namespace", NAMESPACE, "--reuse-values", *words,
                         "--wait", "--timeout", "240s")
        # To Helm a Deployment is ready when no more pods are missing than may be; until the rollout is over there are three.
        self.cluster.kubectl("rollout", "status", "deployment/csi-azuredisk-controller", "-n", NAMESPACE, "--timeout=240s")

    def _files(self) -> dict[str, str]:
        """Those of kube-scheduler, on the machine of the control plane."""
        files = {"ca": "ca.crt", "certificate": "scheduler.crt", "key": "scheduler.key"}
        return {what: str(self.authority.path(name)) for what, name in files.items()}

    def _certificates(self) -> dict:
        """As docs/scheduling.md makes them: a Secret of the extender, and kube-scheduler's files."""
        self.authority.create()
        name = f"{SELECTORS['extender'].removeprefix('app=')}.{NAMESPACE}.svc"
        self.authority.certificate("extender", "/CN=extender", f"DNS:{name}", usage="serverAuth")
        self.authority.certificate("scheduler", "/CN=scheduler", usage="clientAuth")
        files = {"tls.crt": "extender.crt", "tls.key": "extender.key", "ca.crt": "ca.crt"}
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "extender", "namespace": NAMESPACE},
            "type": "kubernetes.io/tls",
            "stringData": {key: self.authority.path(file).read_text() for key, file in files.items()},
        }

    def _configure_scheduler(self) -> None:
        """By the configuration that the chart ships."""
        name = "csi-azuredisk-scheduler-extender-config"
        shipped = self.cluster.get("configmap", name, "-n", NAMESPACE)["data"]["config.yaml"]
        path = self.cluster.directory / "scheduler.yaml"
        path.write_text(shipped)
        self.cluster.start_scheduler(path)

    def test(self) -> str:
        """What the chart's own test prints; it has to succeed."""
        return self.cluster.run("helm", "test", RELEASE, "--namespace", NAMESPACE, "--logs")

    def uninstall(self) -> None:
        self.cluster.run("helm", "uninstall", RELEASE, "--namespace", NAMESPACE, "--wait")

    def until_nothing_is_left(self, seconds: float = PATIENCE_S) -> None:
        """Of volumes, snapshots and their records."""
        until(self.azure.nothing_left, "nothing is left in Azure", seconds, interval=0.5)
        until(lambda: not self.cluster.get("azvolumes,azvolumeattachments,azsnapshots", "-n", OBJECTS)["items"],
              "no custom resource is left", seconds, interval=0.5)

    # ---- looking ----

    def pods(self, part: str, node: str | None = None) -> list[dict]:
        """Of "controller", "node" or "extender"; those on a node."""
        found = self.cluster.get("pods", "-n", NAMESPACE, "-l", SELECTORS[part])["items"]
        return [pod for pod in found if node in (None, pod["spec"].get("nodeName"))]

    def log(self, part: str, node: str) -> str:
        """Of the pod of that part on a node."""
        pod = self.pods(part, node)[0]
        container = pod["spec"]["containers"][-1]["name"]
        return self.cluster.kubectl("logs", "-n", NAMESPACE, pod["metadata"]["name"], "-c", container)

    def roles(self, volume: str) -> dict[str, str]:
        """node -> "Role State" of a volume's attachments, as `kubectl get azvolumeattachments` has it."""
        return self.all_roles().get(volume, {})

    def all_roles(self) -> dict[str, dict[str, str]]:
        """The same of every volume that has any attachment."""
        found: dict[str, dict[str, str]] = {}
        for item in self.cluster.get("azvolumeattachments", "-n", OBJECTS)["items"]:
            status = item.get("status", {})
            role = status.get("detail", {}).get("role", "-")
            of_volume = found.setdefault(item["spec"]["volumeName"], {})
            of_volume[item["spec"]["nodeName"]] = f"{role} {status.get('state', '-')}"
        return found

    def quiet_nodes(self) -> list[str]:
        """Those without a controller: their loss shows what storage costs, not what elections cost."""
        busy = {pod["spec"]["nodeName"] for pod in self.pods("controller")}
        return [node for node in self.cluster.nodes if node not in busy]

    def quiet_node(self) -> str:
        """The first of them. Where all are busy one becomes quiet: a controller that was replaced takes a while to go."""
        return until(self.quiet_nodes, "a node without a controller", 60)[0]

    def processes(self, program: str) -> dict[Process, Machine]:
        """Those of a program of the images, such as "/bin/azdisk-node", with where they run."""
        return {
            process: machine
            for machine in self.cluster.machines()
            for process in machine.processes()
            if process.command().split()[:1] == [program]
        }

    def resident_mib(self) -> dict[str, float]:
        """The most that any process of each program has resident, in MiB."""
        return {
            part: max((p.resident_kib() / 1024 for p in self.processes(f"/bin/{program}")), default=0.0)
            for part, program in zip(SELECTORS, PROGRAMS)
        }
