"""The chain of changes that a run waited for, and what the time between them is put down to."""

from .causes import CAUSES, DISK, FIRST, SEEN, SERVER, TOKEN, VM, of_run
from .changes import Change


def change(vm: str, start: float, end: float, attached: str = "", detached: str = "", seen: float = 0,
           took_last_token: bool = False) -> Change:
    return Change(vm, frozenset(attached), frozenset(detached), start, end, seen or end, took_last_token)


def own(changes: list[Change], ended: float, rounds: int = 2) -> dict[str, float]:
    """Those that there are, of a run that begins at 0."""
    found = of_run(changes, 0, ended, rounds)
    assert tuple(found) == CAUSES
    return {cause: round(seconds, 3) for cause, seconds in found.items() if round(seconds, 3)}


def test_one_change():
    assert own([change("a", 2, 12, "p", seen=13)], 13.5) == {FIRST: 2, SEEN: 1, SERVER: 0.5}


def test_a_third_change_of_the_vm_is_too_many():
    changes = [change("a", 0, 10, "p"), change("a", 10, 20, "q"), change("a", 20, 30, "r")]
    assert own(changes, 30) == {VM: 10}
    assert own(changes, 30, rounds=3) == {}


def test_what_is_no_change_of_the_chain_is_left_out():
    changes = [change("a", 0, 10, "p"), change("a", 10, 25, "q"), change("b", 0, 22, "r")]
    assert own(changes, 25) == {}


def test_an_attach_waits_for_the_detach_elsewhere():
    changes = [change("a", 0, 10, "p"), change("a", 10, 25, detached="q", seen=26), change("b", 28, 48, "q")]
    assert own(changes, 48) == {VM: 10, SEEN: 1, SERVER: 2}
    assert own(changes, 48, rounds=1) == {VM: 10, DISK: 15, SEEN: 1, SERVER: 2}


def test_a_replica_waits_until_its_primary_has_been_accepted():
    changes = [change("a", 1, 11, "p"), change("b", 2, 12, "p")]
    assert own(changes, 12, rounds=1) == {FIRST: 1, DISK: 0.2, SERVER: 0.8}


def test_the_last_that_was_waited_for_counts():
    changes = [change("a", 0, 10, "p"), change("b", 0, 14, "q"), change("b", 15, 25, "p")]
    assert own(changes, 25) == {SERVER: 1}


def test_a_bucket_that_was_empty():
    changes = [change("a", 0, 10, "p"), change("a", 17, 27, "q", took_last_token=True)]
    assert own(changes, 27) == {TOKEN: 7}


def test_the_seconds_are_those_of_the_run():
    changes = [change("a", 1, 11, "pq", seen=12), change("b", 3, 13, "p", seen=14), change("b", 15, 25, "r", seen=26),
               change("c", 2, 12, detached="r", seen=13), change("b", 27, 37, "s", seen=38, took_last_token=True)]
    azure = 2 * 10
    assert round(sum(of_run(changes, 0, 40, 2).values()), 3) == 40 - azure
