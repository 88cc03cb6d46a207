"""The scenes of the demonstration, in order."""

import contextlib
from collections.abc import Callable

from cluster.cluster import Cluster
from cluster.waiting import until
from deployment import ledger as ledgers
from deployment.azure import Azure
from deployment.driver import NAMESPACE, OBJECTS, Driver
from deployment.failover import OUT_OF_SERVICE, PowerCut
from deployment.ledger import Ledger, only_on
from deployment.reservations import reservations
from deployment.timeline import Timeline

from .report import Report

NODES = ("node-a", "node-b", "node-c", "node-d", "node-e")
SYSTEM_NODES, SYSTEM = NODES[3:], {"kubernetes.azure.com/mode": "system"}  # where AKS runs what keeps a cluster going
LATENCY = {"attach": "5s", "detach": "10s", "create": "2s", "delete": "2s"}
ATTACH = "30s"  # from before the power cut on; Azure is quick at first, so that nobody has to wait
REPLICA_GC_DELAY = "15s"
RECORDS = 200  # that are to be acknowledged before the power cut


class Story:
    def __init__(self, say: Callable[[str], None], show: Callable[[str], None], placement: str):
        self.say, self.show, self.placement = say, show, placement
        self.cluster: Cluster | None = None
        self.azure: Azure | None = None
        self.driver: Driver | None = None
        self.timeline: Timeline | None = None
        self.dead = self.silent = ""  # the nodes that lose their power: one is marked by an operator, one by nobody
        self.disks = contextlib.ExitStack()

    # ---- 1. everything a user would have ----

    def set_up(self) -> None:
        self.say(f"Starting Kubernetes: a control plane and {len(NODES)} nodes")
        self.cluster = Cluster.up(NODES)
        self.azure = Azure(self.cluster, **LATENCY)
        self.azure.start()
        self.say(f"Azure is simulated at {self.azure.url}; attaching a disk takes {LATENCY['attach']} there")

    def install(self) -> None:
        self.driver = Driver(self.cluster, self.azure)
        self.driver.load_images(self.disks.enter_context(reservations(self.cluster)))
        self.cluster.load(ledgers.image(self.cluster.directory))
        self.cluster.kubectl("label", "node", *SYSTEM_NODES, *(f"{key}={value}" for key, value in SYSTEM.items()))
        self.driver.install(controller={"replicaGCDelay": REPLICA_GC_DELAY, "nodeSelector": SYSTEM},
                            schedulerExtender={"nodeSelector": SYSTEM}, failover={"enabled": True},
                            placement={"mode": self.placement})
        self.say("The driver is installed: helm install azuredisk charts/azuredisk-csi-driver "
                 f"--set failover.enabled=true,placement.mode={self.placement}")

    # ---- 2. two databases on one node, and one on another ----

    def start_databases(self) -> None:
        self.shared = Ledger(self.cluster, "ledger", max_shares=3)
        self.single = Ledger(self.cluster, "ledger-single", max_shares=1)
        self.automatic = Ledger(self.cluster, "ledger-automatic", max_shares=3, automaticFailover="true")
        self.ledgers = (self.shared, self.single, self.automatic)
        self.dead, self.silent = self.driver.quiet_nodes()[:2]
        self.volumes = {}
        self._start(self.dead, self.shared, self.single)
        self.say(f"Two databases start on {self.dead}: ledger (maxShares 3), ledger-single (maxShares 1)")
        self._start(self.silent, self.automatic)
        self.say(f"One starts on {self.silent}: ledger-automatic (maxShares 3, automaticFailover)")
        for ledger in self.ledgers:
            ledger.wait_ready()
        self.say("All are ready; the replicas of two disks are being attached")
        until(lambda: self._attached(self.shared) == self._attached(self.automatic) == 3, "three attachments of each", 240,
              interval=0.5)
        self.say("ledger's disk is attached to three nodes, and ledger-automatic's to three:")
        self._show_attachments()

    def _start(self, node: str, *ledgers: Ledger) -> None:
        with only_on(self.cluster, node):
            for ledger in ledgers:
                ledger.apply()
            self.volumes |= {ledger: ledger.volume() for ledger in ledgers}
            until(lambda: all(ledger.node() for ledger in ledgers), "the pods have a node")

    def _attached(self, ledger: Ledger) -> int:
        roles = self.driver.roles(self.volumes[ledger])
        return sum(role.endswith(" Attached") for role in roles.values())

    def _show_attachments(self) -> None:
        self.show(self.cluster.kubectl("get", "azvolumeattachments", "-n", OBJECTS))

    # ---- 3. the nodes die ----

    def cut_power(self) -> None:
        self.timeline = Timeline(self.cluster)
        for ledger in self.ledgers:
            ledger.start_writing()
        until(lambda: min(ledger.client.acknowledged for ledger in self.ledgers) >= RECORDS, "records are acknowledged")
        self.azure.latency(attach=ATTACH)
        self.say(f"From here on attaching a disk takes {ATTACH}")
        self.cut, self.silent_cut = PowerCut(self.driver, self.dead), PowerCut(self.driver, self.silent)
        for ledger in self.ledgers:
            ledger.stop_writing()
        self.acknowledged = sum(ledger.client.acknowledged for ledger in self.ledgers)
        self.say(f"Power cut on {self.dead} and {self.silent}, in the middle of writing: {self.acknowledged} records "
                 "were acknowledged")
        self.say(f"Nobody does anything about {self.silent}")
        self.cluster.wait_lost(self.dead)
        self.say(f"{self.dead} is NotReady; the operator marks it: kubectl taint node {self.dead} "
                 f"{OUT_OF_SERVICE}")
        self.cut.mark()

    # ---- 4. the pods go on elsewhere ----

    def follow(self) -> None:
        self.automatic_failover = self.silent_cut.follow(self.timeline, self.automatic)
        self.say(f"ledger-automatic goes on at {self.automatic.node()}: its disk refuses the writes of {self.silent}, which "
                 "the driver has given up")
        self.shared_failover = self.cut.follow(self.timeline, self.shared)
        self.say(f"ledger goes on at {self.shared.node()}, {self.shared_failover.storage_seconds:.2f} s after "
                 "its VolumeAttachment was made")
        self.missing = self.shared.missing() + self.automatic.missing()
        self.say(f"Acknowledged records of the two that are missing: {self.missing}")
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
        for cut in (self.cut, self.silent_cut):
            cut.end()
        until(lambda: not self.cluster.get("node", self.silent)["spec"].get("taints"), "it is taken back", 120, interval=0.5)
        self.say(f"{self.dead} and {self.silent} are back, and the driver has taken its taint away")

    def _useful_attachments(self) -> int:
        roles = self.driver.roles(self.volumes[self.shared])
        return sum(role.endswith(" Attached") for node, role in roles.items() if node not in (self.dead, self.silent))

    def collect(self) -> None:
        for ledger in self.ledgers:
            ledger.scale(0)
        until(lambda: not self.driver.all_roles(), "replicas are collected", 180, interval=0.5)
        self.say(f"Nobody uses the disks any more; {REPLICA_GC_DELAY} later no disk is attached anywhere")

    def delete(self) -> None:
        for ledger in self.ledgers:
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
            automatic=self.automatic_failover,
            without_replicas=self.single_failover,
            acknowledged=self.acknowledged,
            missing=self.missing,
            rss_mib=self.rss_mib,
        )

    def close(self) -> None:
        if self.timeline:
            self.timeline.close()
        self.disks.close()
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
