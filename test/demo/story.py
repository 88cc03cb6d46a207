"""The scenes of the demonstration, in order."""

from collections.abc import Callable

from cluster.cluster import Cluster
from cluster.waiting import until
from deployment import ledger as ledgers
from deployment.azure import Azure
from deployment.driver import NAMESPACE, OBJECTS, Driver
from deployment.failover import OUT_OF_SERVICE, PowerCut
from deployment.ledger import Ledger, only_on
from deployment.timeline import Timeline

from .report import Report

NODES = ("node-a", "node-b", "node-c", "node-d")
LATENCY = {"attach": "5s", "detach": "10s", "create": "2s", "delete": "2s"}
ATTACH = "30s"  # from before the power cut on; Azure is quick at first, so that nobody has to wait
REPLICA_GC_DELAY = "15s"
RECORDS = 200  # that are to be acknowledged before the power cut


class Story:
    def __init__(self, say: Callable[[str], None], show: Callable[[str], None]):
        self.say, self.show = say, show
        self.cluster: Cluster | None = None
        self.azure: Azure | None = None
        self.driver: Driver | None = None
        self.timeline: Timeline | None = None
        self.dead = ""

    # ---- 1. everything a user would have ----

    def set_up(self) -> None:
        self.say(f"Starting Kubernetes: a control plane and {len(NODES)} nodes")
        self.cluster = Cluster.up(NODES)
        self.azure = Azure(self.cluster, **LATENCY)
        self.azure.start()
        self.say(f"Azure is simulated at {self.azure.url}; attaching a disk takes {LATENCY['attach']} there")

    def install(self) -> None:
        self.driver = Driver(self.cluster, self.azure)
        self.driver.load_images()
        self.cluster.load(ledgers.image(self.cluster.directory))
        self.driver.install(controller={"replicaGCDelay": REPLICA_GC_DELAY})
        self.say("The driver is installed: helm install azuredisk charts/azuredisk-csi-driver")

    # ---- 2. two databases on one node ----

    def start_databases(self) -> None:
        self.shared = Ledger(self.cluster, "ledger", max_shares=3)
        self.single = Ledger(self.cluster, "ledger-single", max_shares=1)
        self.dead = self.driver.quiet_node()
        with only_on(self.cluster, self.dead):
            for ledger in (self.shared, self.single):
                ledger.apply()
            self.volumes = {ledger: ledger.volume() for ledger in (self.shared, self.single)}
            until(self._scheduled, "both pods have a node")
        self.say(f"Two databases start on {self.dead}: ledger (maxShares 3), ledger-single (maxShares 1)")
        for ledger in (self.shared, self.single):
            ledger.wait_ready(120)
        self.say("Both are ready; the replicas of ledger's disk are being attached")
        until(lambda: self._attached(self.shared) == 3, "three attachments", 240, interval=0.5)
        self.say("ledger's disk is attached to three nodes:")
        self._show_attachments()

    def _scheduled(self) -> bool:
        return all(ledger.node() for ledger in (self.shared, self.single))

    def _attached(self, ledger: Ledger) -> int:
        roles = self.driver.roles(self.volumes[ledger])
        return sum(role.endswith(" Attached") for role in roles.values())

    def _show_attachments(self) -> None:
        self.show(self.cluster.kubectl("get", "azvolumeattachments", "-n", OBJECTS))

    # ---- 3. the node dies ----

    def cut_power(self) -> None:
        self.timeline = Timeline(self.cluster)
        for ledger in (self.shared, self.single):
            ledger.start_writing()
        until(lambda: min(l.client.acknowledged for l in (self.shared, self.single)) >= RECORDS,
              "records are acknowledged")
        self.azure.latency(attach=ATTACH)
        self.say(f"From here on attaching a disk takes {ATTACH}")
        self.cut = PowerCut(self.driver, self.dead)
        for ledger in (self.shared, self.single):
            ledger.stop_writing()
        self.acknowledged = self.shared.client.acknowledged
        self.say(f"Power cut on {self.dead}, in the middle of writing: {self.acknowledged} records of "
                 "ledger were acknowledged")
        self.cluster.wait_lost(self.dead)
        self.say(f"{self.dead} is NotReady; the operator marks it: kubectl taint node {self.dead} "
                 f"{OUT_OF_SERVICE}")
        self.cut.mark()

    # ---- 4. the pods go on elsewhere ----

    def follow(self) -> None:
        self.shared_failover = self.cut.follow(self.timeline, self.shared)
        self.say(f"ledger goes on at {self.shared.node()}, {self.shared_failover.storage_seconds:.2f} s after "
                 "its VolumeAttachment was made")
        self.missing = self.shared.missing()
        self.say(f"Acknowledged records that are missing: {self.missing}")
        self._show_attachments()
        self.rss_mib = self.driver.resident_mib()
        self.single_failover = self.cut.follow(self.timeline, self.single)
        self.say(f"ledger-single goes on at {self.single.node()}, {self.single_failover.storage_seconds:.2f} s "
                 "after its VolumeAttachment was made")
        self.missing += self.single.missing()

    # ---- 5. repaired, collected, gone ----

    def repair(self) -> None:
        until(lambda: self._useful_attachments() == 3, "three attachments on living nodes", 180, interval=0.5)
        self.say("The replica on the dead node was replaced by one on a living node:")
        self._show_attachments()
        self.cut.end()
        self.say(f"{self.dead} is back")

    def _useful_attachments(self) -> int:
        roles = self.driver.roles(self.volumes[self.shared])
        return sum(role.endswith(" Attached") for node, role in roles.items() if node != self.dead)

    def collect(self) -> None:
        for ledger in (self.shared, self.single):
            ledger.scale(0)
        until(lambda: not self.driver.roles(self.volumes[self.shared]), "replicas are collected", 180, interval=0.5)
        self.say(f"Nobody uses the disks any more; {REPLICA_GC_DELAY} later no disk is attached anywhere")

    def delete(self) -> None:
        for ledger in (self.shared, self.single):
            ledger.delete()
        until(lambda: not self.cluster.get("pv")["items"], "the volumes are deleted", interval=0.5)
        until(self.azure.nothing_left, "nothing is left in Azure", interval=0.5)
        left = self.cluster.get("azvolumes,azvolumeattachments", "-n", OBJECTS)["items"]
        if left:
            raise RuntimeError(f"custom resources are left: {[o['metadata']['name'] for o in left]}")
        self.say("The claims are deleted, and nothing is left: no disk in Azure, no AzVolume, no "
                 "AzVolumeAttachment")

    # ---- the end ----

    def report(self) -> Report:
        return Report(
            attach_latency=ATTACH.replace("s", " s"),
            failover=self.shared_failover,
            without_replicas=self.single_failover,
            acknowledged=self.acknowledged,
            missing=self.missing,
            rss_mib=self.rss_mib,
        )

    def close(self) -> None:
        if self.timeline:
            self.timeline.close()
        if self.azure:
            self.azure.__exit__(None, None, None)
        if self.cluster:
            self.cluster.down()

    def hints(self) -> list[str]:
        """What a person may do with a cluster that is left up."""
        python = "PYTHONPATH=test python3 -m cluster --dir " + str(self.cluster.directory)
        return [
            f"{python} kubectl get azvolumes,azvolumeattachments,azdrivernodes -n {OBJECTS}",
            f"{python} kubectl get pods -n {NAMESPACE} -o wide",
            f"{python} power-off {NODES[0]}",
            f"{python} down",
        ]
