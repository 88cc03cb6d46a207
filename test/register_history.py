"""Whether what several processes have seen of one register can be put in an order that explains it.

A history is linearizable if every operation can be given a moment between its invocation and its return,
all different, such that each read returns what the last write before it has written. It is decided by
the search of Wing and Gong, which remembers where it has been (as Lowe does): an operation may come
next if none that is still to come had returned before it was invoked.

A write that has not returned, or failed without saying whether it was carried out, may take effect at any
time after its invocation, or never. One that was certainly refused does not belong into the history.
"""

from collections.abc import Hashable, Iterable
from math import inf
from typing import NamedTuple

MOST_STATES = 200_000


class Operation(NamedTuple):
    process: str
    is_write: bool
    value: Hashable
    invoked: float
    returned: float = inf  # never

    def __str__(self) -> str:
        until = "never returned" if self.returned == inf else f"{self.returned:.6f}"
        return f"{self.process} {'writes' if self.is_write else 'reads'} {self.value!r}, {self.invoked:.6f} to {until}"


def write(process: str, value: Hashable, invoked: float, returned: float = inf) -> Operation:
    return Operation(process, True, value, invoked, returned)


def read(process: str, value: Hashable, invoked: float, returned: float) -> Operation:
    return Operation(process, False, value, invoked, returned)


class Undecided(RuntimeError):
    """More states than the search may visit."""


def _that_matter(history: Iterable[Operation]) -> list[Operation]:
    """By their invocations, and without what can always be left out: a read that has not returned, and a write that
    has not, of a value that nobody has read."""
    history = list(history)
    seen = {operation.value for operation in history if not operation.is_write}
    returned = [o for o in history if o.returned != inf or (o.is_write and o.value in seen)]
    return sorted(returned, key=lambda operation: operation.invoked)


def _next(operations: list[Operation], first: int, done: int) -> list[int]:
    """Those that may come next: invoked before any other of those that are left has returned."""
    found, earliest = [], inf
    for i in range(first, len(operations)):
        if operations[i].invoked > earliest:
            break
        if not done >> i & 1:
            found.append(i)
            earliest = min(earliest, operations[i].returned)
    return found


def stuck_at(history: Iterable[Operation], initial: Hashable = None, most_states: int = MOST_STATES) -> list[Operation]:
    """Empty if the history is linearizable; else those that could come next where the search got farthest, none of
    which explains what was read. `initial` is what the register has before all of it."""
    operations = _that_matter(history)
    must = sum(1 << i for i, operation in enumerate(operations) if operation.returned != inf)
    farthest, stuck = -1, []
    # What has come already, up to which one without a gap, and what the register has then.
    waiting, visited = [(0, 0, initial)], set()
    while waiting:
        done, first, value = waiting.pop()
        if done & must == must:
            return []
        while done >> first & 1:
            first += 1
        if (done, value) in visited:
            continue
        visited.add((done, value))
        if len(visited) > most_states:
            raise Undecided(f"{len(operations)} operations, and more than {most_states} states")
        choices = _next(operations, first, done)
        if done.bit_count() > farthest:
            farthest, stuck = done.bit_count(), [operations[i] for i in choices]
        explained = [i for i in choices if not operations[i].is_write and operations[i].value == value]
        # A read that is explained changes nothing, so it need not come later.
        for i in explained[:1] or [i for i in choices if operations[i].is_write]:
            after = operations[i].value
            waiting.append((done | 1 << i, first, after))
    return stuck


def is_linearizable(history: Iterable[Operation], initial: Hashable = None, most_states: int = MOST_STATES) -> bool:
    return not stuck_at(history, initial, most_states)
