"""The simulated Azure of a cluster: its VMs are the cluster's nodes."""

import json
import math
import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from azsim import simulator
from cluster.cluster import Cluster

TREE = Path(__file__).parents[2]
QUICK = {"attach": "1s", "detach": "1s", "create": "1s", "delete": "1s"}  # latencies, where time is not what is tested


class Azure(simulator.Azsim):
    """In the cluster's network, at an address of its own. Latencies by kind: attach="30s"."""

    def __init__(self, cluster: Cluster, **latency: str):
        self._latency: dict[str, str] = {}  # that was set since
        folder = cluster.directory / "azure-state"
        folder.mkdir(exist_ok=True)
        os.environ.setdefault("AZSIM", str(TREE / "build/bin/azsim"))
        super().__init__(
            folder,
            simulator.describe(cluster.vms()),
            *(f"--latency={kind}={time}" for kind, time in latency.items()),
            address=cluster.network.address("azure"),
            enter=cluster.network.enter("azure"),
            inside=lambda: cluster.inside("cp"),
        )

    def __exit__(self, *arguments) -> None:
        super().__exit__(*arguments)
        self.remove_devices()

    def cloud_config(self) -> str:
        """The azure.json of a driver that works against it."""
        return json.dumps(
            {
                "cloud": "AzurePublicCloud",
                "resourceManagerEndpoint": self.url,
                "tenantId": simulator.TENANT,
                "subscriptionId": simulator.SUBSCRIPTION,
                "resourceGroup": simulator.GROUP,
                "location": simulator.LOCATION,
                "aadClientId": simulator.CLIENT,
                "aadClientSecret": simulator.SECRET,
            }
        )

    def start(self) -> "Azure":
        super().start()
        if self._latency:
            self.control("PATCH", "latency", self._latency)
        return self

    def latency(self, **kinds: str) -> None:
        """Also when it is started again, which by itself would forget them."""
        self._latency |= kinds
        self.control("PATCH", "latency", kinds)

    def last_request(self) -> int:
        return self.control("GET", "summary")["requests"]

    def attach_calls(self, disk: str, after: int = 0, before: float = math.inf, vm: str | None = None) -> int:
        """Requests since number `after`, and before a time, that asked for this disk to be attached, to any VM
        if none is named."""
        entries = (entry for entry in self.journal(after) if vm in (None, entry.get("vm")))
        return self._calls("attached", disk, entries, before)

    def detach_calls(self, disk: str, after: int = 0, before: float = math.inf) -> int:
        return self._calls("detached", disk, self.journal(after), before)

    @staticmethod
    def _calls(what: str, disk: str, entries: Iterable[dict], before: float) -> int:
        about_it = (entry for entry in entries if disk in entry.get(what, []))
        return sum(datetime.fromisoformat(entry["time"]).timestamp() < before for entry in about_it)

    def accepted(self, kind: str, after: int = 0) -> list[dict]:
        """Requests since number `after` that were not refused; kinds such as "disks.createOrUpdate"."""
        return [e for e in self.journal(after) if e.get("kind") == kind and e["status"] < 300]

    def nothing_left(self) -> bool:
        return self.control("GET", "summary")["nothingLeft"]
