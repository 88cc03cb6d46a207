"""Where the time of a run went that is not Azure's own.

What ended last had waited for something that ended before, and that for something else: a chain of
changes, back to the first one. It takes as long as the whole run, so every second of it has a
cause. Of its changes, as many as the bound counts (bound.py) are Azure's own, the longest; what any
other took is put down to what waited for it.
"""

from typing import NamedTuple

from .changes import Change

FIRST, VM, DISK, TOKEN, SEEN, SERVER = CAUSES = (
    "first change",  # until it: Kubernetes writes, csi-attacher calls, and the calls are gathered
    "VM's change",  # behind another change of the same VM
    "disk's change",  # for a change of the same disk at another VM
    "token",
    "end seen",  # until it was noticed that a change had ended
    "API server",  # and whatever else is between what a change waited for and the change
)
# So long after Azure has accepted an attach of a disk, it accepts the next one.
OVERLAP_S = 0.2


class Wait(NamedTuple):
    """What kept a change from beginning."""

    cause: str  # VM or DISK
    other: Change
    spent: float  # by the other one, until this one could begin but for `unseen`
    unseen: float  # from the other one's end until that was noticed

    @property
    def until(self) -> float:
        return self.other.start + self.spent + self.unseen


def of_run(changes: list[Change], began: float, ended: float, rounds: int) -> dict[str, float]:
    """Seconds by cause. Together with the longest `rounds` changes of the chain they are the run."""
    last = max(changes, key=lambda change: change.end)
    seconds = dict.fromkeys(CAUSES, 0.0) | {SEEN: last.seen - last.end, SERVER: ended - last.seen}
    spent = [(last.end - last.start, VM)]
    change = last
    while wait := _last_wait(change, changes):
        seconds[TOKEN if change.took_last_token else SERVER] += change.start - wait.until
        seconds[SEEN] += wait.unseen
        spent.append((wait.spent, wait.cause))
        change = wait.other
    seconds[FIRST] = change.start - began
    for duration, cause in sorted(spent)[:-rounds]:
        seconds[cause] += duration
    return seconds


def _last_wait(change: Change, changes: list[Change]) -> Wait | None:
    """None: it waited for no change."""
    waits = [wait for other in changes if (wait := _wait(change, other)) and wait.until <= change.start]
    return max(waits, key=lambda wait: wait.until, default=None)


def _wait(change: Change, other: Change) -> Wait | None:
    """None: the other one does not keep it from beginning."""
    if other.start >= change.start:
        return None
    if other.vm == change.vm:
        return Wait(VM, other, other.end - other.start, other.seen - other.end)
    if other.detached & change.attached:
        return Wait(DISK, other, other.end - other.start, other.seen - other.end)
    if other.attached & change.attached:
        return Wait(DISK, other, OVERLAP_S, 0)
    return None
