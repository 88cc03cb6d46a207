"""How fast it could have been: the time that Azure itself takes of a run, whatever the driver does.

Two things cost time that no driver can save.

Calls.  A bucket of `size` tokens, to which `refill` are added after each period, lets n calls
through in ceil((n - size) / refill) periods. The least calls of a run are one change of each VM for
each time that a disk of it has to wait for another VM (its replica for its primary, its attach for
the detach that gives it a share), and one look at how each change has ended.

Operations.  A VM takes one change at a time, and cannot do with fewer than one of what is asked for
at once and one of what depends on another VM's (its replicas, which come after their primaries; its
attaches of disks that have no share left, which come after a detach). So nothing is done before the
VM with the slowest of these is. What is between them is the driver's: more changes than these,
waiting for its turn, for the next look, for the API server.

The bound is the larger of the two. It is computed after the run, because Azure's times vary a lot:
the slowest of a hundred changes takes longer than all else together, and would hide the driver.
"""

import math
from dataclasses import dataclass

from .changes import Change


@dataclass(frozen=True)
class Bucket:
    size: int
    refill: int
    period_s: int

    def seconds(self, calls: int) -> int:
        """In which it lets so many calls through, beginning with a full bucket."""
        return math.ceil(max(0, calls - self.size) / self.refill) * self.period_s


# As published; test/azsim/model/throttle.h has all of them.
OF_VM = {"updates": Bucket(12, 4, 60), "looks": Bucket(45, 15, 60)}
OF_SUBSCRIPTION = {"updates": Bucket(1500, 500, 60), "looks": Bucket(15000, 5000, 60)}
OF_CALLER = {"updates": Bucket(200, 10, 1), "looks": Bucket(250, 25, 1)}


def calls_seconds(vms: int, changes_each: int) -> int:
    """Of the least calls, with full buckets at first."""
    each = [bucket.seconds(changes_each) for bucket in OF_VM.values()]
    all_ = [bucket.seconds(vms * changes_each)
            for buckets in (OF_SUBSCRIPTION, OF_CALLER) for bucket in buckets.values()]
    return max(each + all_)


def operations_seconds(changes: list[Change], each: int) -> float:
    """Of the slowest VM. It needs `each` changes; had it more, the shortest count."""
    spent: dict[str, list[float]] = {}
    for change in changes:
        spent.setdefault(change.vm, []).append(change.end - change.start)
    return max(sum(sorted(times)[:each]) for times in spent.values())
