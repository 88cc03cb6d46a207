"""The life of two databases with replicas, in phases: how each begins, when it is under way, when done."""

import contextlib

from cluster.cluster import Cluster
from cluster.waiting import until
from deployment.azure import Azure
from deployment.driver import OBJECTS, Driver
from deployment.failover import PowerCut
from deployment.ledger import Ledger, only_on

SLOW = "8s"  # so that a phase lasts longer than it takes to kill everybody
SLOWER = "25s"  # so that one that has begun in the phase before does, too
UNDER_WAY, OVER = "under way", "over"
MAX_SHARES = 3
RECORDS = 50  # that are to be acknowledged before the power cut


class Scene:
    """What the phases act on."""

    def __init__(self, driver: Driver):
        self.driver, self.azure, self.cluster = driver, driver.azure, driver.cluster
        self.ledgers = [Ledger(self.cluster, f"accident-{number}", MAX_SHARES) for number in (1, 2)]
        self.volumes: set[str] = set()
        self.node = driver.quiet_node()
        self.placed = contextlib.ExitStack()
        self.cut: PowerCut | None = None
        self.azure.latency(create=SLOW, attach=SLOWER, detach=SLOW, delete=SLOW)

    def disks(self) -> list[dict]:
        return self.azure.control("GET", "disks")["disks"]

    def roles(self) -> list[dict[str, str]]:
        return [self.driver.roles(volume) for volume in self.volumes]

    def close(self) -> None:
        """Also after a phase that was not completed."""
        self.placed.close()
        if self.cut:
            self.cut.end()
        for ledger in self.ledgers:
            ledger.delete()


class Phase:
    asks_azure = True  # while it is under way

    def __init__(self, scene: Scene):
        self.scene = scene

    def begin(self) -> None:
        """Some begin when the one before is done."""

    def under_way(self) -> bool:
        raise NotImplementedError

    def done(self) -> bool:
        raise NotImplementedError

    def begun(self) -> str | None:
        """UNDER_WAY, or OVER if a busy machine looked too late; None before it has begun."""
        return UNDER_WAY if self.under_way() else OVER if self.done() else None

    def finish(self) -> None:
        """What is left to be done, or to be seen, after it."""

    def undo(self) -> None:
        """So that it can be gone through once more; what is never over too soon cannot."""
        raise AssertionError(f"{type(self).__name__} was over before everybody was killed")


class Creation(Phase):
    def begin(self) -> None:
        self.scene.placed.enter_context(only_on(self.scene.cluster, self.scene.node))
        for ledger in self.scene.ledgers:
            ledger.apply()

    def under_way(self) -> bool:
        states = [disk["provisioningState"] for disk in self.scene.disks()]
        return states == ["Updating"] * len(self.scene.ledgers)

    def done(self) -> bool:
        return all(ledger.node() for ledger in self.scene.ledgers)

    def finish(self) -> None:
        self.scene.volumes = {ledger.volume() for ledger in self.scene.ledgers}


class Attachment(Phase):
    """It begins as the creation is done. Without replicas: no other node takes pods meanwhile, and so none takes replicas."""

    def under_way(self) -> bool:
        return any(disk["attachingTo"] for disk in self.scene.disks())

    def done(self) -> bool:
        return all(ledger.address() for ledger in self.scene.ledgers)


class Replication(Phase):
    def begin(self) -> None:
        self.scene.azure.latency(attach=SLOW)
        self.scene.placed.close()

    def under_way(self) -> bool:
        return any(disk["attachingTo"] for disk in self.scene.disks())

    def done(self) -> bool:
        return all(list(roles.values()).count("Replica Attached") == MAX_SHARES - 1
                   for roles in self.scene.roles())


class Promotion(Phase):
    """After a power cut in the middle of writing."""

    asks_azure = False

    def begin(self) -> None:
        scene = self.scene
        for ledger in scene.ledgers:
            ledger.start_writing()
        until(lambda: min(ledger.client.acknowledged for ledger in scene.ledgers) >= RECORDS,
              "records are acknowledged")
        scene.cut = PowerCut(scene.driver, scene.node)
        for ledger in scene.ledgers:
            ledger.stop_writing()
        scene.cluster.wait_lost(scene.node)
        scene.cut.mark()

    def under_way(self) -> bool:
        return all(ledger.node() not in (None, self.scene.node) for ledger in self.scene.ledgers)

    def done(self) -> bool:
        return all(self.scene.cut.runs_elsewhere(ledger) for ledger in self.scene.ledgers)

    def finish(self) -> None:
        assert [ledger.missing() for ledger in self.scene.ledgers] == [0, 0], "acknowledged records are lost"


class Unpublishing(Phase):
    asks_azure = False

    def begin(self) -> None:
        for ledger in self.scene.ledgers:
            ledger.scale(0)

    def under_way(self) -> bool:
        return not any(ledger.node() for ledger in self.scene.ledgers)

    def done(self) -> bool:
        return not self.scene.cluster.get("volumeattachments")["items"]

    def undo(self) -> None:
        again = Republishing(self.scene)
        again.begin()
        until(again.done, "published once more", interval=0.2)


class Republishing(Phase):
    """With replicas again."""

    def begin(self) -> None:
        for ledger in self.scene.ledgers:
            ledger.scale(1)

    def done(self) -> bool:
        return (all(ledger.address() for ledger in self.scene.ledgers)
                and Replication(self.scene).done())


class Collection(Phase):
    """Of replicas, some time after the last unpublishing."""

    def begin(self) -> None:
        """On its own; but it may be over by the time that everybody is back from the phase before."""
        again = (Republishing, Unpublishing) if self.done() else ()
        for phase in (kind(self.scene) for kind in again):
            phase.begin()
            until(phase.done, f"{type(phase).__name__} for another collection", interval=0.2)

    def under_way(self) -> bool:
        """Of at least one: the volumes were unpublished one after the other."""
        return any(wish["toBeDetached"]
                   for vm in self.scene.azure.control("GET", "vms")["vms"]
                   for wish in vm["wanted"])

    def done(self) -> bool:
        return not any(self.scene.roles())


class Deletion(Phase):
    def begin(self) -> None:
        for ledger in self.scene.ledgers:
            ledger.delete()

    def under_way(self) -> bool:
        return any(disk["provisioningState"] == "Deleting" for disk in self.scene.disks())

    def done(self) -> bool:
        cluster = self.scene.cluster
        return (self.scene.azure.nothing_left()
                and not cluster.get("pv")["items"]
                and not cluster.get("azvolumes,azvolumeattachments", "-n", OBJECTS)["items"])


PHASES = (Creation, Attachment, Replication, Promotion, Unpublishing, Collection, Deletion)
