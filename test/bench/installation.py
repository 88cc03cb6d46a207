"""What is measured, as a user has it: the shipped controller and azsim with Azure's own buckets and
latencies, before a real API server. Nodes are objects only.
"""

import os
import re
import urllib.request
from pathlib import Path

from azsim import simulator
from cluster.waiting import until
from integration.apiserver import ApiServer
from integration.driver_world import TREE, Controller, World

# One that takes 64 data disks.
VM_SIZE = "Standard_M128s"


class Installation(World):
    """An API server, an Azure and `nodes` nodes in zone 1; its buckets are full at first."""

    def __init__(self, folder: Path, apiserver: ApiServer, nodes: int, change: str = ""):
        """`change`: how long each change of a VM takes; by default as azsim draws it."""
        os.environ["AZSIM"] = str(TREE / "build/bin/azsim")
        super().__init__(folder, apiserver, nodes=0)
        self.nodes = [f"{self.namespace}-{number:02d}" for number in range(nodes)]
        vms = [{"name": name, "size": VM_SIZE, "zone": "1"} for name in self.nodes]
        latencies = [f"--latency={kind}={change}" for kind in ("attach", "detach") if change]
        self.azure = simulator.Azsim(folder, simulator.describe(vms), "--throttling=on", *latencies)

    def wait_rested(self) -> None:
        """Until the buckets of VMs and of Resource Manager are full again; those of disks are far from
        empty, and take half an hour.
        """
        until(lambda: not any(map(_matters, self.azure.control("GET", "throttling")["buckets"])),
              "full buckets", 600, interval=1)

    def attachments(self) -> int:
        return self.azure.control("GET", "summary")["attachments"]


def _matters(bucket: dict) -> bool:
    """The leader looks at one VM or another all the time, and takes one token for that."""
    return not bucket["limit"].endswith("Min") and bucket["left"] < bucket["of"] - 1


class Driver(Controller):
    """The shipped controller, with the chart's own settings."""

    PROGRAM = TREE / "build/bin/azdisk-controller"
    # Nobody beats for the nodes.
    FLAGS = ("--v=2", "--lease-duration=15s", "--lease-renew-deadline=10s", "--lease-retry-period=2s",
             "--heartbeat-limit=1h")

    def __init__(self, world: Installation, *flags: str):
        super().__init__(world, "bench", *self.FLAGS, *flags)

    def start(self) -> "Driver":
        super().start()
        until(self.leads, "a leader")
        return self

    def attached(self) -> dict[str, int]:
        """How many attachments the cluster knows to be attached, by role."""
        url = f"http://127.0.0.1:{self.metrics}/metrics"
        with urllib.request.urlopen(url, timeout=30) as answer:
            text = answer.read().decode()
        found = re.findall(r'^azuredisk_attachments\{(.*)\} (\d+)', text, re.MULTILINE)
        counts = {}
        for labels, number in found:
            label = dict(re.findall(r'(\w+)="(\w*)"', labels))
            if label["state"] == "Attached":
                counts[label["role"]] = int(number)
        return counts

    def left(self) -> int:
        """Attachments there are, in any state."""
        return len(self.world.objects("azvolumeattachments"))

    def peak_mib(self) -> float:
        """The most memory that was ever resident."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) / 1024

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
