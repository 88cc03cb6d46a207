"""The checker of histories of a register, with histories of both kinds."""

import random
from itertools import permutations
from math import inf

import pytest
from register_history import Operation, Undecided, is_linearizable, read, stuck_at, write

GOOD = {
    "nothing": [],
    "a read of what was there before": [read("a", None, 0, 1)],
    "one after the other": [write("a", 1, 0, 1), read("b", 1, 2, 3), write("b", 2, 4, 5), read("a", 2, 6, 7)],
    "a read that sees a write that goes on": [write("a", 1, 0, 9), read("b", 1, 1, 2)],
    "a read that does not see it yet": [write("a", 1, 0, 9), read("b", None, 1, 2), read("b", 1, 3, 4)],
    "two writes at once, in the other order": [write("a", 1, 0, 9), write("b", 2, 1, 8), read("c", 1, 10, 11)],
    "a write that never returned, and took effect late": [write("a", 1, 0), write("b", 2, 1, 2), read("b", 1, 3, 4)],
    "one that never took effect": [write("a", 1, 0), write("b", 2, 1, 2), read("b", 2, 3, 4)],
    "one that took effect between two reads": [write("a", 1, 0), read("b", None, 1, 2), read("b", 1, 3, 4)],
    "the same value twice": [write("a", 1, 0, 1), write("b", 2, 2, 3), write("a", 1, 4, 5), read("b", 1, 6, 7)],
    "a read that never returned": [read("a", 7, 0, inf)],
    "at the same moment": [write("a", 1, 0, 1), read("b", None, 1, 2)],
}  # fmt: skip
BAD = {
    "a value that nobody wrote": [read("a", 7, 0, 1)],
    "a read that has missed an acknowledged write": [write("a", 1, 0, 1), read("b", None, 2, 3)],
    "a late write of a former owner": [write("a", 1, 0, 1), write("b", 2, 2, 3), read("b", 1, 4, 5)],
    "back to the value before": [
        write("a", 1, 0, 9), read("b", 1, 1, 2), read("c", None, 3, 4)],
    "a write before it was invoked": [read("b", 1, 0, 1), write("a", 1, 2, 3)],
    "a pending write that took effect twice": [
        write("a", 1, 0), read("b", 1, 1, 2), write("b", 2, 3, 4), read("b", 1, 5, 6)],
    "a pending write before it was invoked": [read("b", 1, 0, 1), write("a", 1, 2)],
    "two readers that disagree on the order": [
        write("a", 1, 0, 1), write("a", 2, 2, 9), write("b", 3, 2, 9),
        read("c", 2, 10, 11), read("d", 3, 12, 13)],
    "a cache that was not told": [
        write("a", 1, 0, 1), read("b", 1, 2, 3), write("b", 2, 4, 5), read("b", 2, 6, 7), read("a", 1, 8, 9)],
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_linearizable(name):
    assert is_linearizable(GOOD[name])


@pytest.mark.parametrize("name", BAD)
def test_not_linearizable(name):
    assert not is_linearizable(BAD[name])


def test_what_cannot_be_explained_is_named():
    assert stuck_at(BAD["a late write of a former owner"]) == [read("b", 1, 4, 5)]
    assert str(read("b", 1, 4, 5)) == "b reads 1, 4.000000 to 5.000000"
    assert str(write("b", 1, 4)) == "b writes 1, 4.000000 to never returned"


def test_what_the_register_has_at_first():
    assert is_linearizable([read("a", 7, 0, 1)], initial=7)
    assert not is_linearizable([read("a", None, 0, 1)], initial=7)


def test_the_search_is_bounded():
    history = [write(f"p{n}", n, n / 100, 10 + n) for n in range(16)]
    with pytest.raises(Undecided):
        is_linearizable([*history, read("q", 99, 100, 101)], most_states=1000)


def test_a_long_history():
    """Two writers and two readers all the time, and a failed write after each that was carried out."""
    at, value, history = 0, None, []
    for n in range(1000):
        history += [read("c", value, at, at + 3), write("a", n, at + 1, at + 2), write("b", -1 - n, at + 1)]
        history += [read("d", n, at + 2, at + 4)]
        at, value = at + 5, n
    assert is_linearizable(history)
    assert not is_linearizable([*history, read("c", 0, at, at + 1)])


# ---- against all orders that there are ----


def _explains(order: tuple[Operation, ...]) -> bool:
    """Whether time and values allow for this order."""
    value = None
    for i, operation in enumerate(order):
        if any(later.returned < operation.invoked for later in order[i + 1 :]):
            return False
        if operation.is_write:
            value = operation.value
        elif operation.value != value:
            return False
    return True


def _by_all_orders(history: list[Operation]) -> bool:
    done = [o for o in history if o.returned != inf]
    pending = [o for o in history if o.returned == inf and o.is_write]
    for chosen in range(1 << len(pending)):
        taken = [o for i, o in enumerate(pending) if chosen >> i & 1]
        if any(map(_explains, permutations(done + taken))):
            return True
    return False


def _any_history(chance: random.Random) -> list[Operation]:
    history = []
    for process in "abc":
        at = chance.randint(0, 3)
        for _ in range(chance.randint(0, 2)):
            end = inf if chance.random() < 0.2 else at + chance.randint(1, 6)
            value = chance.choice((None, 1, 2, 3))
            history.append(Operation(process, value is not None and chance.random() < 0.5, value, at, end))
            at = (at + 5 if end == inf else end) + chance.randint(0, 2)
    return history


def test_small_histories_of_all_kinds():
    chance, found = random.Random(1), [0, 0]
    for _ in range(3000):
        history = _any_history(chance)
        expected = _by_all_orders(history)
        assert is_linearizable(history) == expected, "\n".join(map(str, history))
        found[expected] += 1
    assert min(found) > 300, found
