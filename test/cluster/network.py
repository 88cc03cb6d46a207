"""The network of a cluster: one bridge, and a network namespace for each machine, joined to it.

Nothing leads out of it, so clusters cannot collide; each has its own address range all the same
(10.R.0.0/16, R drawn from the cluster's id), so that an address in a log names its cluster.

    azd-ID-lan     the bridge; a port is named by the last number of its machine's address
    azd-ID-azure   10.R.0.5    for the simulated Azure
    azd-ID-cp      10.R.0.10   the control plane
    azd-ID-NODE    10.R.0.20+i the i-th node, i from 1; its pods are 10.R.i.0/24
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from . import process
from .command import run

NAMESPACES = Path("/run/netns")
IMDS = "169.254.169.254"  # on every node's loopback: whoever serves it binds it there
SERVICES = "10.96.0.0/16"
API_SERVICE = "10.96.0.1"
CLONE_NEWNET = 0x40000000

_libc = ctypes.CDLL(None, use_errno=True)


def _ip(words: str) -> None:
    run("ip", *words.split())


@contextmanager
def inside(namespace: Path | str) -> Iterator[None]:
    """This thread is in the network namespace meanwhile; sockets made here stay there for ever."""
    with open("/proc/thread-self/ns/net") as here, open(namespace) as there:
        _enter(there.fileno())
        try:
            yield
        finally:
            _enter(here.fileno())


def _enter(descriptor: int) -> None:
    if _libc.setns(descriptor, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


class Network:
    def __init__(self, cluster_id: str, nodes: list[str]):
        self.prefix = f"azd-{cluster_id}-"
        self.range = f"10.{128 + int(cluster_id, 16) % 64}"
        self.hosts = {"azure": 5, "cp": 10} | {node: 20 + i for i, node in enumerate(nodes, 1)}
        self.pods = {node: f"{self.range}.{i}.0/24" for i, node in enumerate(nodes, 1)}

    def host(self, machine: str) -> int:
        if machine not in self.hosts:
            raise RuntimeError(f"no machine {machine}; there are {', '.join(self.hosts)}")
        return self.hosts[machine]

    def address(self, machine: str) -> str:
        return f"{self.range}.0.{self.host(machine)}"

    def namespace(self, machine: str) -> Path:
        return NAMESPACES / (self.prefix + machine)

    def enter(self, machine: str) -> list[str]:
        """Before a command: it runs in the machine's network, and else where it is."""
        return ["nsenter", f"--net={self.namespace(machine)}"]

    def create(self) -> None:
        lan = self.prefix + "lan"
        _ip(f"netns add {lan}")
        _ip(f"-n {lan} link add br0 type bridge")
        _ip(f"-n {lan} link set br0 up")

    def join(self, machine: str) -> None:
        """A namespace for the machine, on the bridge, with a route to every node's pods."""
        lan, name, port = self.prefix + "lan", self.prefix + machine, self._port(machine)
        _ip(f"netns add {name}")
        _ip(f"link add {port} netns {lan} type veth peer name eth0 netns {name}")
        _ip(f"-n {lan} link set {port} master br0 up")
        _ip(f"-n {name} link set lo up")
        _ip(f"-n {name} addr add {self.address(machine)}/24 dev eth0")
        _ip(f"-n {name} link set eth0 up")
        for node, pods in self.pods.items():
            if node != machine:
                _ip(f"-n {name} route add {pods} via {self.address(node)}")
        # A packet to a service address is sent only if there is a route, though none is ever taken.
        _ip(f"-n {name} route add {SERVICES} dev eth0")
        if machine in self.pods:
            _ip(f"-n {name} addr add {IMDS}/32 dev lo")
        with inside(self.namespace(machine)):
            Path("/proc/sys/net/ipv4/ip_forward").write_text("1")

    def cut(self, machine: str) -> None:
        self._set_port(machine, "down")

    def heal(self, machine: str) -> None:
        self._set_port(machine, "up")

    def leave(self, machine: str) -> None:
        """The namespace and its wire are gone; nobody may be left inside."""
        # The kernel takes its time over a namespace; the port's name must be free at once.
        _ip(f"-n {self.prefix}lan link del {self._port(machine)}")
        _ip(f"netns del {self.prefix}{machine}")

    def _port(self, machine: str) -> str:
        return f"port{self.host(machine)}"

    def _set_port(self, machine: str, state: str) -> None:
        _ip(f"-n {self.prefix}lan link set {self._port(machine)} {state}")

    def existing(self) -> list[Path]:
        return sorted(NAMESPACES.glob(self.prefix + "*"))

    def processes(self, machine: str) -> list[process.Process]:
        """Whoever is directly in the machine's network: its own, and visitors such as an IMDS."""
        return process.in_network(os.stat(self.namespace(machine)).st_ino)

    def remove(self) -> None:
        """Everything of this cluster, however far its creation came."""
        found = {path: path.stat().st_ino for path in self.existing()}
        process.kill_all(each for inode in found.values() for each in process.in_network(inode))
        for path in found:
            _ip(f"netns del {path.name}")
        # Once more: what was on its way in when we looked is in by now, and no other can follow.
        process.kill_all(each for inode in found.values() for each in process.in_network(inode))
