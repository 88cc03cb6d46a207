"""One round: node A writes to a mounted volume and is cut off, node B becomes the primary, and what is on the disk
afterwards is compared with what was acknowledged.

What has been measured is an Outcome; nothing is asserted here of the data.
"""

import mmap
import random
import subprocess
import time
from dataclasses import dataclass, field
from math import inf

import grpc
from cluster.waiting import until
from register_history import Operation, read, stuck_at, write

from . import records
from .members import Member, SharedVolume
from .records import LOG, REGISTER, Record

MOST_BEFORE = 40  # records that A appends before it is cut off
AFTER = 5  # of each kind that each of the two tries to write when B has the volume
AT_ONCE = 0.25  # of all rounds
ANEW = 0.15
REBOOTS = 0.2  # which take some seconds each
LONGEST_LAG_S = 0.4  # a stage takes less
PHASES = ("attach", "find", "prove", "fence")  # of the stage, up to the fence
AGAIN = "+"  # a second workload of the same round
FSCK = {"ext4": ("e2fsck", "-fn"), "xfs": ("xfs_repair", "-n", "-f")}


@dataclass(frozen=True)
class Choices:
    """What chance decides of a round."""

    both_claim: bool  # A comes back at the moment at which B gets the volume
    killed: bool  # A's plug-in, when A is cut off
    reboots: bool  # A; else its plug-in unstages the volume, late
    anew: bool  # on a blank disk
    before: int
    lag: float  # seconds by which A claims it later than B

    @classmethod
    def draw(cls, chance: random.Random) -> "Choices":
        return cls(
            chance.random() < AT_ONCE, chance.random() < 0.5, chance.random() < REBOOTS, chance.random() < ANEW,
            chance.randint(1, MOST_BEFORE), chance.uniform(-LONGEST_LAG_S, LONGEST_LAG_S),
        )  # fmt: skip

    def __str__(self) -> str:
        words = ["both claim it at once" if self.both_claim else "A is cut off"]
        words += ["its plug-in killed"] * (self.killed and not self.both_claim)
        words += ["A reboots" if self.reboots else "A is unstaged late"]
        words += ["a blank disk"] * self.anew
        return ", ".join(words)


@dataclass
class Outcome:
    late: list[Record] = field(default_factory=list)
    lost: list[Record] = field(default_factory=list)
    unclean: str = ""  # what the checker of file systems has said
    inexplicable: list[Operation] = field(default_factory=list)  # in the register's history
    acknowledged: int = 0
    refused: int = 0  # writes of a former primary, each of which was tried
    lost_mounts: int = 0  # made by one who had lost the disk when the call returned
    operations: int = 0  # in the register's history
    gap: float | None = None
    phases: dict[str, float] = field(default_factory=dict)


class Round:
    def __init__(self, volume: SharedVolume, number: int, choices: Choices):
        self.volume, self.number, self.choices = volume, number, choices
        self.a, self.b = volume.members
        self.outcome = Outcome()
        self.ended: list[dict] = []  # what pods have done
        # Since when another has the disk than this owner, and what of his was on it by then.
        self.displaced: dict[str, tuple[float, set[Record]]] = {}

    def play(self) -> Outcome:
        """Leaves the volume unmounted; the next round is the winner's, who has to give it away then."""
        self._a_writes()
        winner = self._both_claim() if self.choices.both_claim else self._a_is_cut_off()
        self._look_at_the_raw_disk()
        self._look_at_the_mount(winner)
        self.volume.put_away(winner)
        self._check_the_file_system()
        self._check_the_register()
        if winner is self.b:
            self.volume.swap()
        return self.outcome

    # ---- pods ----

    def _owner(self, member: Member, again: str = "") -> str:
        return f"{self.number}{again}-{member.name}"

    def _begin(self, member: Member, again: str = "") -> float:
        """When, by the clock of all pods."""
        where = {"folder": str(self.volume.of(member).staging), "owner": self._owner(member, again)}
        return member.pod.ask("begin", log=f"{LOG}-{self.number}", register=f"{REGISTER}-{self.number}", **where)

    def _end(self, member: Member) -> dict:
        return self._add(member.pod.ask("end"))

    def _add(self, done: dict) -> dict:
        self.ended.append(done)
        acknowledged = {Record(done["owner"], LOG, n) for n, _, _, error in done[LOG] if not error}
        self.volume.acknowledged |= acknowledged
        self.outcome.acknowledged += len(acknowledged)
        return done

    def _tried(self, member: Member, moment: float) -> None:
        until(lambda: member.pod.ask("attempts_since", moment=moment) >= AFTER, f"{AFTER} attempts of {member.name}")

    # ---- what happens ----

    def _a_writes(self) -> None:
        self.volume.promote(self.a)
        self.volume.stage(self.a)
        self.volume.record(self.a)
        self._begin(self.a)
        until(lambda: self.a.pod.ask("acknowledged") >= self.choices.before, "what A writes", interval=0.01)

    def _a_is_cut_off(self) -> Member:
        """Nobody tells A, and its pod goes on."""
        a, b, volume = self.a, self.b, self.volume
        if self.choices.killed:
            a.kill()
        self._promote(b)
        began = self._begin(b)
        self._displace(self._owner(a), began)
        self._tried(a, began)
        self._tried(b, began)
        if volume.is_fenced:
            assert volume.holder() is b
        of_a, of_b = self._end(a), self._end(b)
        self._measure_gap(of_a, of_b)
        if self.choices.reboots:
            volume.cut_power(a)
            a.reboot()
        a.run()
        volume.put_away(a)
        return b

    def _displace(self, owner: str, moment: float) -> None:
        self.displaced[owner] = moment, records.in_image(self.volume.disk.image, owner)

    def _promote(self, b: Member) -> None:
        """What precedes the fence, such as the proof of the disk, is no part of the gap: A still writes."""
        before, asked = b.stage_seconds(PHASES), time.monotonic()
        self.volume.promote(b)
        promoted = time.monotonic()
        self.volume.stage(b)
        staged = time.monotonic() - promoted
        took = b.stage_seconds(PHASES)
        took.subtract(before)
        prove = took.total() - took["fence"]
        self.outcome.phases = {
            "promote": promoted - asked, "prove": prove, "fence": took["fence"],
            "mount": staged - prove - took["fence"],
        }  # fmt: skip

    def _measure_gap(self, of_a: dict, of_b: dict) -> None:
        last = max(ended for _, _, ended, error in of_a[LOG] if not error)
        first = min(ended for _, _, ended, error in of_b[LOG] if not error)
        self.outcome.gap = first - last
        self.outcome.phases["first_write"] = first - of_b["began"]

    def _both_claim(self) -> Member:
        """A's file system was cut off while it was written to, and A is back when B gets the volume: whoever preempts
        last has it. The other may have mounted it before that."""
        a, b, volume = self.a, self.b, self.volume
        former_key = volume.key(a)
        self._add(volume.cut_power(a))
        if self.choices.reboots:
            a.reboot()
        volume.promote(b)
        failures = self._claims()
        winner = volume.holder()
        assert winner, f"nobody, or both: {failures}"
        assert failures[winner.name] is None, failures[winner.name]
        if winner is a:
            assert (volume.key(a) != former_key) == self.choices.reboots
        loser = a if winner is b else b
        self._loses(loser, winner, mounted=failures[loser.name] is None)
        assert volume.holder() is winner
        self._end(winner)
        volume.put_away(loser)
        return winner

    def _claims(self) -> dict[str, Exception | None]:
        """How the two calls have ended. Where the one stands when the other comes is up to chance."""
        order = (self.b, self.a) if self.choices.lag > 0 else (self.a, self.b)
        claims = {}
        for member in order:
            claims[member.name] = member.plugin.later(self.volume.stage, member)
            time.sleep(abs(self.choices.lag) if member is order[0] else 0)
        failures = {name: claim.exception(60) for name, claim in claims.items()}
        for failure in failures.values():
            assert failure is None or isinstance(failure, grpc.RpcError), failure
        return failures

    def _loses(self, loser: Member, winner: Member, mounted: bool) -> None:
        """It tries to write while the winner does, to what it has mounted or else past that."""
        began = self._begin(winner, AGAIN)
        owner = self._owner(loser, AGAIN)
        self._displace(self._owner(self.a), began)
        self._displace(owner, 0)
        if mounted:
            self.outcome.lost_mounts += 1
            self._begin(loser, AGAIN)
            self._tried(loser, began)
            self._end(loser)
        device, at = self.volume.device(loser), self.volume.disk.size - mmap.PAGESIZE
        error = loser.pod.ask("write_raw", device=device, offset=at, owner=owner)
        self.outcome.refused += error != 0
        self._tried(winner, began)

    # ---- what is found ----

    def _look_at_the_raw_disk(self) -> None:
        """For what has landed there since another had the disk, or was acknowledged, be it overwritten meanwhile."""
        for owner, (moment, before) in self.displaced.items():
            now, begun = records.in_image(self.volume.disk.image, owner), self._begun_since(owner, moment)
            acknowledged = {record for record, error in begun.items() if not error}
            self.outcome.refused += len(begun) - len(acknowledged)
            self.outcome.late += sorted(now - before | now & begun.keys() | acknowledged)

    def _begun_since(self, owner: str, moment: float) -> dict[Record, int]:
        """And how it ended, as errno."""
        return {
            Record(owner, file, number): error
            for done in self.ended
            if done["owner"] == owner
            for file in (LOG, REGISTER)
            for number, invoked, _, error in done[file]
            if invoked > moment
        }

    def _look_at_the_mount(self, winner: Member) -> None:
        found = {Record(*record) for record in winner.pod.ask("logs", folder=str(self.volume.of(winner).staging))}
        self.outcome.lost = sorted(self.volume.acknowledged - found)

    def _check_the_file_system(self) -> None:
        checked = subprocess.run([*FSCK[self.volume.fs_type], self.volume.disk.image], capture_output=True, text=True)
        if checked.returncode:
            self.outcome.unclean = checked.stdout + checked.stderr

    def _check_the_register(self) -> None:
        """A write that the disk has refused must never be seen; of others that failed nobody knows."""
        history: list[Operation] = []
        for done in self.ended:
            owner, refused = done["owner"], set(done["refused"])
            for number, invoked, ended, error in done[REGISTER]:
                if number not in refused:
                    history.append(write(owner, (owner, number), invoked, inf if error else ended))
            history += [read(owner, tuple(value) if value else None, *times) for value, *times in done["read"]]
        self.outcome.operations = len(history)
        self.outcome.inexplicable = stuck_at(history)
