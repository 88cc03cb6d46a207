"""How fast it could have been: the time that Azure itself takes of a run, whatever the driver does.

Two things cost time that no driver can save.

Calls.  A bucket of `size` tokens, to which `refill` are added after each period, lets n calls
through in ceil((n - size) / refill) periods. The least calls of a run are one change of each VM for
each time that a disk of it has to wait for another VM (its replica for its primary, its attach for
the detach that gives it a share), and one look at how each change has ended.

Operations.  A disk's own changes come one after the other: Azure changes a shared disk on one VM at
a time, a replica comes after its primary, and a disk that has no share left is detached before it is
attached elsewhere. So nothing is done before the disk with the slowest operations is: the time at
which it was asked for, and then every operation that it was part of, each as long as Azure drew it.
What is between those is the driver's: waiting for other disks' changes, for its turn, for the next
look, for the API server.

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


def operations_seconds(asked: dict[str, float], began: float, changes: list[Change], each: int) -> float:
    """From `began` to the end of the slowest disk's own operations; `asked`: when, by disk. A disk needs
    `each` of them; had it more, the shortest count.
    """
    spent = {disk: [] for disk in asked}
    for change in changes:
        for disk in change.disks & spent.keys():
            spent[disk].append(change.end - change.start)
    return max(asked[disk] - began + sum(sorted(times)[:each]) for disk, times in spent.items())
