"""A worker node: a machine with containerd, kubelet and kube-proxy, standing in for an Azure VM.

Every path is the one that a real node has (/run/containerd/containerd.sock, /var/lib/kubelet), as
the machine has folders of its own there; so one DaemonSet fits all nodes.
"""

import json
import socket
from pathlib import Path

from azsim import simulator

from . import cgroup, kube_proxy, network
from .authority import Authority
from .machine import Machine, Program
from .waiting import until, until_it_works

REGION = simulator.LOCATION
ZONE = "1"  # of nodes, unless a cluster is told otherwise
VM_SIZE = "Standard_D4s_v5"
COMPUTE = f"/subscriptions/{simulator.SUBSCRIPTION}/resourceGroups/{simulator.GROUP}/providers/Microsoft.Compute"
UNIFORM, FLEXIBLE = "pool", "flexpool"  # scale sets
# Those that a cloud controller manager would set; kubelet may set these itself.
LABELS = {
    "topology.kubernetes.io/region": REGION,
    "node.kubernetes.io/instance-type": VM_SIZE,
}
ZONE_LABEL = "topology.kubernetes.io/zone"

SOCKET = "/run/containerd/containerd.sock"
PAUSE_IMAGE = "registry.k8s.io/pause:3.10"
KUBELET_PORT = 10250  # kubelet's own

# How fast a dead node is noticed: the node reports every REPORT_SECONDS (its Lease is renewed at a
# quarter of LEASE_SECONDS), and counts as lost after control_plane.NODE_GRACE_SECONDS of silence.
# A pod's volume is mounted only after kubelet has reported it in use, so this is also how long a
# pod may wait for nothing else; kubelet's default is 10.
REPORT_SECONDS = 1
LEASE_SECONDS = 12
# A container that ended starts again after this; kubelet's own wait doubles up to 5 minutes.
RESTART_SECONDS = 1
MEASURE_SECONDS = 5  # between kubelet's looks at how full volumes are

CAP_SYS_RESOURCE = 24


class Node:
    def __init__(self, machine: Machine, authority: Authority, tools: Path):
        self.machine = machine
        self.name = machine.name
        self.authority = authority
        self.tools = tools
        self.zone = machine.state.zones[machine.name]

    def vm(self) -> dict:
        """The node as the simulated Azure is told of it."""
        return {
            "name": self.name,
            "size": VM_SIZE,
            "zone": self.zone,
            "identity": "system",
            "networkNamespace": str(self.machine.network.namespace(self.name)),
            "deviceDirectory": str(self.machine.disk / "disk-azure"),
            **self._scale_set(),
        }

    def _scale_set(self) -> dict:
        """The first node is a VM by itself; the others are in turn of a uniform scale set and of a flexible one."""
        number = self.machine.state.nodes.index(self.name)
        if number == 0:
            return {}
        if number % 2:
            return {"scaleSet": UNIFORM, "instanceId": str(number)}
        return {"scaleSet": FLEXIBLE, "resourceName": f"{FLEXIBLE}_{number:08x}"}

    def vm_id(self) -> str:
        vm = self.vm()
        if "instanceId" in vm:
            return f"{COMPUTE}/virtualMachineScaleSets/{UNIFORM}/virtualMachines/{vm['instanceId']}"
        return f"{COMPUTE}/virtualMachines/{vm.get('resourceName', self.name)}"

    def install(self) -> None:
        """What is on the machine's disk before it boots for the first time."""
        for folder in ("cni", "var-lib/kubelet"):
            (self.machine.disk / folder).mkdir(parents=True)
        subject = f"/O=system:nodes/CN=system:node:{self.name}"
        self.authority.kubeconfig(f"kubelet-{self.name}", subject)
        self._write("containerd.toml", self._containerd())
        self._write("cni/10-pods.conflist", json.dumps(self._pod_network(), indent=1))
        self._write("kubelet.json", json.dumps(self._kubelet(), indent=1))
        # No name server is near; a pod's resolv.conf needs a line all the same.
        self._write("resolv.conf", "options ndots:1\n")

    def boot(self) -> None:
        """Until the container runtime answers; kubelet comes with `join`."""
        cgroup.create(cgroup.name(self.machine.state.id, self.name))
        self.machine.boot()
        self.machine.start("containerd", "containerd", "--config", self._path("containerd.toml"))
        until_it_works(lambda: self.ctr("version"), f"containerd on {self.name}")

    def join(self) -> None:
        kubelet = self.machine.start(
            "kubelet",
            self.tools / "kubelet",
            f"--config={self._path('kubelet.json')}",
            f"--kubeconfig={self.authority.path(f'kubelet-{self.name}.conf')}",
            f"--node-ip={self.machine.network.address(self.name)}",
            "--node-labels=" + ",".join(f"{key}={value}" for key, value in self._labels().items()),
        )
        kube_proxy.start(self.machine, self.authority, self.tools, self.name)
        until(lambda: self._stays(kubelet), f"kubelet on {self.name}")

    def _labels(self) -> dict[str, str]:
        return LABELS | {ZONE_LABEL: f"{REGION}-{self.zone}"}

    def _stays(self, kubelet: Program) -> bool:
        """It ends at once where containerd, which answers already, still looks at the pods of its last
        boot; so it is started again, as an init system would."""
        if not kubelet.alive():
            kubelet.restart()
        with network.inside(self.machine.network.namespace(self.name)), socket.socket() as connection:
            return connection.connect_ex(("127.0.0.1", KUBELET_PORT)) == 0

    def power_off(self) -> None:
        self.machine.power_off()
        cgroup.remove(cgroup.name(self.machine.state.id, self.name))

    def ctr(self, *arguments: str | Path) -> str:
        return self.machine.run("ctr", "--address", SOCKET, "--namespace", "k8s.io", *arguments)

    def _path(self, name: str) -> Path:
        return self.machine.disk / name

    def _write(self, name: str, content: str) -> None:
        self._path(name).write_text(content)

    def _containerd(self) -> str:
        return f"""version = 2
[grpc]
  address = "{SOCKET}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  restrict_oom_score_adj = {str(not may_raise_limits()).lower()}
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "{self._path("cni")}"
"""

    def _pod_network(self) -> dict:
        addresses = {
            "type": "host-local",
            "ranges": [[{"subnet": self.machine.network.pods[self.name]}]],
            "routes": [{"dst": "0.0.0.0/0"}],
        }
        wire = {"type": "ptp", "ipMasq": False, "ipam": addresses}
        return {"cniVersion": "0.4.0", "name": "pods", "plugins": [wire]}

    def _times(self) -> dict:
        if self.machine.state.stock_times:
            return {}
        return {"nodeStatusUpdateFrequency": f"{REPORT_SECONDS}s", "nodeLeaseDurationSeconds": LEASE_SECONDS}

    def _kubelet(self) -> dict:
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": False},
                "x509": {"clientCAFile": str(self.authority.path("ca.crt"))},
            },
            "authorization": {"mode": "AlwaysAllow"},
            "containerRuntimeEndpoint": f"unix://{SOCKET}",
            "providerID": f"azure://{self.vm_id()}",
            **self._times(),
            "volumeStatsAggPeriod": f"{MEASURE_SECONDS}s",
            "featureGates": {"KubeletCrashLoopBackOffMax": True},
            "crashLoopBackOff": {"maxContainerRestartPeriod": f"{RESTART_SECONDS}s"},
            "resolvConf": str(self._path("resolv.conf")),
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": cgroup.name(self.machine.state.id, self.name),
            "enforceNodeAllocatable": [],
            "failCgroupV1": False,
            "failSwapOn": False,
            "protectKernelDefaults": True,
            "makeIPTablesUtilChains": False,
            "evictionHard": {"memory.available": "1Mi", "nodefs.available": "1%"},
            "imageGCHighThresholdPercent": 100,
            "volumePluginDir": "/var/lib/kubelet/volume-plugins",
            "healthzPort": 0,
        }


def may_raise_limits() -> bool:
    """Without CAP_SYS_RESOURCE runc cannot lower a container's oom_score_adj, and fails."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> CAP_SYS_RESOURCE & 1)
    return True
