"""A database that is written to without a pause, on a shared disk, while drivers come and go."""

from cluster.cluster import Cluster
from cluster.waiting import until
from deployment.azure import Azure
from deployment.ledger import Ledger, only_on

RECORDS = 50  # more of them are to be acknowledged, to see that it goes on


class Writer:
    def __init__(self, cluster: Cluster, azure: Azure, node: str):
        """Version 1 leaves the caching of shared disks to their users."""
        self.cluster, self.azure, self.node = cluster, azure, node
        self.ledger = Ledger(cluster, "writer", max_shares=2, cachingMode="None")
        with only_on(cluster, node):
            self.ledger.apply()
            self.ledger.wait_ready()
        self.volume = self.ledger.volume()
        self.pod = self._pod()["metadata"]["uid"]
        self.request = azure.last_request()
        self.ledger.start_writing()

    def _pod(self) -> dict:
        return self.cluster.get("pod", self.ledger.pod)

    def restarts(self) -> int:
        """Of its container, or of the pod as another one."""
        pod = self._pod()
        return int(pod["metadata"]["uid"] != self.pod) + sum(c["restartCount"] for c in pod["status"]["containerStatuses"])

    def goes_on(self) -> None:
        """The same pod, and nobody has asked Azure to change anything of its disk there."""
        acknowledged = self.ledger.client.acknowledged
        until(lambda: self.ledger.client.acknowledged >= acknowledged + RECORDS, "the database is written to", 30)
        assert self.restarts() == 0
        assert not [entry for entry in self.azure.journal(self.request) if entry.get("vm") == self.node
                    and self.volume in (*entry.get("attached", []), *entry.get("detached", []))]
        assert self.node in self.vms()

    def disk(self) -> dict:
        [found] = [disk for disk in self.azure.control("GET", "disks")["disks"] if disk["name"] == self.volume]
        return found

    def vms(self) -> list[str]:
        """That have its disk."""
        return [owner["vm"] for owner in self.disk()["attachedTo"]]

    def lost(self) -> int:
        """Of the records that were acknowledged; it has been written to for the last time."""
        self.ledger.stop_writing()
        return self.ledger.missing()
