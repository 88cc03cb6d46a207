"""The scenarios. Each yields its figures, by their letters; volumes are made beforehand and not measured."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from cluster.waiting import until
from integration.apiserver import ApiServer
from integration.attacher import Attacher
from integration.provisioner import Provisioner

from . import bound, causes, changes, storm
from .figures import AttacherFigures, Figures, calls_by_kind, median
from .installation import Driver, Installation
from .sidecars import ATTACHER_WORKERS, PROVISIONER_WORKERS, Call, carry_out, create, publish, unpublish

ALONE = {"skuName": "Premium_LRS"}
WITH_REPLICA = {"skuName": "Premium_LRS", "maxShares": "2"}
PATIENCE_S = 1500


class Start(NamedTuple):
    """Of a scenario."""

    last_call: int  # that was made before
    cpu_seconds: float
    at: float  # time.time()


class Bench:
    """An installation at rest, and one scenario after the other in it."""

    def __init__(self, say: Callable[[str], None], world: Installation, driver: Driver):
        self.say, self.world, self.driver = say, world, driver

    def make(self, count: int, parameters: dict[str, str]) -> list[str]:
        self.say(f"{count} volumes are made")
        calls = [create(f"pvc-{number:04d}", parameters) for number in range(count)]
        answers = carry_out(self.driver, calls, PROVISIONER_WORKERS)
        return sorted(answer.volume.volume_id for answer in answers)

    def rest(self) -> None:
        self.say("waiting for full buckets")
        self.world.wait_rested()

    def until_attached(self, primaries: int, replicas: int) -> None:
        """The cluster knows of all, and Azure has no other."""
        def is_done() -> bool:
            assert self.driver.process.poll() is None, f"the controller has ended: {self.driver.tail()}"
            if self.world.attachments() != primaries + replicas:
                return False
            counts = self.driver.attached()
            return (counts.get("Primary", 0), counts.get("Replica", 0)) == (primaries, replicas)

        until(is_done, f"{primaries} primaries and {replicas} replicas", PATIENCE_S, interval=0.25)

    def measure(self, title: str, calls: list[Call], attached: tuple[int, int],
                rounds: int) -> tuple[Figures, list[dict]]:
        """Carries out the calls, and waits until so many primaries and replicas are attached. `rounds`: the
        changes of a VM, and of a disk, that this cannot do without.
        """
        start = self._begin(title)
        carry_out(self.driver, calls, ATTACHER_WORKERS)
        self.until_attached(*attached)
        seconds, journal = time.time() - start.at, self.world.azure.journal(start.last_call)
        return Figures(title, seconds=seconds, **self._spent(start, journal),
                       **self._changes(start, seconds, journal, rounds)), journal

    def measure_provisioner(self, title: str, provisioner: Provisioner, storage_class: str,
                            claims: list[str]) -> Figures:
        """Until csi-provisioner has made a volume for each claim."""
        start = self._begin(title)
        provisioner.claim(storage_class, claims)
        until(lambda: provisioner.made(len(claims)), f"{len(claims)} volumes", PATIENCE_S, interval=0.25)
        seconds, journal = time.time() - start.at, self.world.azure.journal(start.last_call)
        least = max(bound.OF_CALLER["updates"].seconds(len(claims)), changes.longest_creation(self.world.azure.state))
        return Figures(title, seconds=seconds, bound_seconds=least, **self._spent(start, journal))

    def _begin(self, title: str) -> Start:
        self.say(title)
        return Start(self.world.last_call(), self.driver.cpu_seconds(), time.time())

    def _spent(self, start: Start, journal: list[dict]) -> dict:
        return {
            "calls": calls_by_kind(journal),
            "refused": sum(entry["status"] == 429 for entry in journal),
            "controller_rss_mib": self.driver.peak_mib(),
            "controller_cpu_seconds": self.driver.cpu_seconds() - start.cpu_seconds,
        }

    def _changes(self, start: Start, seconds: float, journal: list[dict], rounds: int) -> dict:
        made = changes.read(self.world.azure.state, journal)
        return {
            "updates": len(made),
            "disks": sum(len(change.disks) for change in made),
            "bound_seconds": max(bound.calls_seconds(len({change.vm for change in made}), rounds),
                                 bound.operations_seconds(made, rounds)),
            "own_seconds": causes.of_run(made, start.at, start.at + seconds, rounds),
        }

    def measure_attacher(self, title: str, attacher: Attacher, ask: Callable[[], None], count: int) -> AttacherFigures:
        """What Kubernetes asks of csi-attacher, until it was told, and until primaries and replicas are attached."""
        start = self._begin(title)
        asking = threading.Thread(target=ask)
        asking.start()
        ends: dict[str, float] = {}

        def has_come(what: str, yes: Callable[[], bool]) -> bool:
            if what not in ends and yes():
                ends[what] = time.time() - start.at
            return what in ends

        def is_done() -> bool:
            assert self.driver.process.poll() is None, f"the controller has ended: {self.driver.tail()}"
            return (has_come("asked", lambda: not asking.is_alive()) and
                    has_come("told", lambda: attacher.told(count)) and
                    has_come("primaries", lambda: self.driver.attached().get("Primary") == count) and
                    has_come("replicas", lambda: self.driver.attached().get("Replica") == count and
                             self.world.attachments() == 2 * count))

        until(is_done, f"{count} primaries and {count} replicas", PATIENCE_S, interval=0.25)
        asking.join()
        journal = self.world.azure.journal(start.last_call)
        return AttacherFigures(title, seconds=ends["replicas"], told_s=ends["told"], primaries_s=ends["primaries"],
                               **self._spent(start, journal), **self._changes(start, ends["replicas"], journal, 2))


def _published(bench: Bench, volumes: list[str]) -> list[Call]:
    """Each to a node in turn."""
    nodes = bench.world.nodes
    return [publish(volume, nodes[number % len(nodes)]) for number, volume in enumerate(volumes)]


def one_vm(bench: Bench) -> Iterator[tuple[str, Figures]]:
    volumes = bench.make(20, ALONE)
    bench.rest()
    yield "a", bench.measure("20 disks, one VM", _published(bench, volumes), (20, 0), 1)[0]


def many_vms(bench: Bench, letters: str = "bc", count: int = 1000) -> Iterator[tuple[str, Figures]]:
    volumes = bench.make(count, WITH_REPLICA)
    bench.rest()
    calls = _published(bench, volumes)
    yield letters[0], bench.measure(f"{count} disks and replicas", calls, (count, count), 2)[0]
    bench.rest()
    yield letters[1], bench.measure(f"{count} moved", _moves(bench), (count, count), 2)[0]


def many_even_vms(bench: Bench) -> Iterator[tuple[str, Figures]]:
    """The same where every change takes as long: what is beyond the bound is the driver's, and not luck."""
    yield from many_vms(bench, "gh")


def _moves(bench: Bench) -> list[Call]:
    """Each to the next node that has not even its replica, so that Azure has to work for all."""
    nodes = bench.world.nodes
    holders: dict[str, dict[str, str]] = {}
    for item in bench.world.objects("azvolumeattachments"):
        spec = item["spec"]
        holders.setdefault(spec["volume_id"], {})[spec["role"]] = spec["nodeName"]

    def next_free(nodes_of: dict[str, str]) -> str:
        at = nodes.index(nodes_of["Primary"])
        return next(node for node in nodes[at + 1:] + nodes[:at] if node not in nodes_of.values())

    return [unpublish(volume, of["Primary"], publish(volume, next_free(of)))
            for volume, of in holders.items()]


def in_a_storm(bench: Bench) -> Iterator[tuple[str, Figures]]:
    volumes = bench.make(100, ALONE)
    calls = _published(bench, volumes)
    half = len(calls) // 2
    carry_out(bench.driver, calls[:half], ATTACHER_WORKERS)
    bench.until_attached(half, 0)
    bench.rest()
    leaving = [unpublish(call.fields["volume_id"], call.fields["node_id"]) for call in calls[:half]]
    end = storm.begin(bench.world.azure)
    figures, journal = bench.measure("50 come, 50 go in a storm", leaving + calls[half:], (half, 0), 1)
    end.join()
    figures.wrong += storm.early_calls(journal)
    figures.wrong += [f"volume {volume} is lost" for volume in storm.lost_volumes(bench.world, volumes)]
    figures.wrong += storm.leaked_luns(bench.world)
    yield "d", figures


def by_sidecars(bench: Bench) -> Iterator[tuple[str, Figures]]:
    claims, nodes = [f"claim-{number:03d}" for number in range(200)], bench.world.nodes
    with (Attacher(bench.world, bench.driver).running() as attacher,
          Provisioner(bench.world, bench.driver).running() as provisioner,
          provisioner.storage_class(WITH_REPLICA) as storage_class):
        bench.rest()
        yield "p", bench.measure_provisioner(f"{len(claims)} made by csi-provisioner", provisioner, storage_class, claims)
        volumes = provisioner.bind()
        placed = {volume: nodes[number % len(nodes)] for number, volume in enumerate(volumes)}
        bench.rest()
        yield "e", bench.measure_attacher(f"{len(volumes)} attached by csi-attacher", attacher, lambda: attacher.attach(placed),
                                          len(volumes))
        bench.rest()
        moves = {call.fields["volume_id"]: call.then.fields["node_id"] for call in _moves(bench)}
        yield "f", bench.measure_attacher(f"{len(volumes)} moved by csi-attacher", attacher,
                                          lambda: attacher.move(moves), len(volumes))


class Setting(NamedTuple):
    """An installation, and the scenarios that run in it, one after the other."""

    letters: str
    scenario: Callable[[Bench], Iterator[tuple[str, Figures]]]
    nodes: int
    change: str = ""  # how long a change of a VM takes; by default as azsim draws it
    drawn: bool = False  # the figures depend on what azsim draws: the median of several runs counts


SETTINGS = (
    Setting("a", one_vm, 1),
    Setting("bc", many_vms, 50, drawn=True),
    Setting("d", in_a_storm, 10),
    Setting("pef", by_sidecars, 20, "10s"),
    Setting("gh", many_even_vms, 50, "10s"),
)
LETTERS = "".join(setting.letters for setting in SETTINGS)


def run(chosen: set[str], draws: int, folder: Path, say: Callable[[str], None]) -> dict[str, Figures]:
    """Of each chosen scenario the median of so many draws, by its time over the bound."""
    found: dict[str, list[Figures]] = {}
    apiserver = ApiServer(folder)
    try:
        for setting in SETTINGS:
            for number in range((draws if setting.drawn else 1) if chosen & set(setting.letters) else 0):
                for letter, figures in _run_once(setting, chosen, folder / f"{setting.letters}{number}", apiserver, say):
                    found.setdefault(letter, []).append(figures)
    finally:
        apiserver.close()
    return {letter: median(draws) for letter, draws in found.items() if letter in chosen}


def _run_once(setting: Setting, chosen: set[str], folder: Path, apiserver: ApiServer,
              say: Callable[[str], None]) -> Iterator[tuple[str, Figures]]:
    """As far as the last one that is chosen."""
    folder.mkdir()
    with Installation(folder, apiserver, setting.nodes, setting.change) as world, Driver(world) as driver:
        for letter, figures in setting.scenario(Bench(say, world, driver)):
            yield letter, figures
            if letter == max(chosen & set(setting.letters), key=setting.letters.index):
                return
