"""Waiting for a condition, with a deadline and words for what did not come."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# With a loaded machine; where time is the point, a test says how much. Longer than the 5 to 5½ minutes after which
# kube-scheduler retries a pod if it missed that the pod's claim was bound (kubernetes/kubernetes#73216).
PATIENCE_S = 400
PATIENCE = f"--timeout={PATIENCE_S}s"  # for kubectl
SHORTEST_S, LONGEST_S = 0.02, 0.5  # from one look to the next


class Timeout(RuntimeError):
    """What was waited for did not come in time."""


def until(condition: Callable[[], T], what: str, seconds: float = PATIENCE_S, interval: float | None = None) -> T:
    """The first true value of `condition`, which is looked at after every `interval`: what is seen for a moment only, or
    measured, needs one. Without it the pauses grow with the time already waited, to a tenth of it."""
    began = time.monotonic()
    while True:
        value = condition()
        if value:
            return value
        waited = time.monotonic() - began
        if waited > seconds:
            raise Timeout(f"{what}: not within {seconds:g} s")
        time.sleep(interval or min(max(waited / 10, SHORTEST_S), LONGEST_S))


def until_it_works(action: Callable[[], T], what: str, seconds: float = PATIENCE_S) -> T:
    """What `action` returns, once it raises no RuntimeError."""
    failures = [""]

    def attempt() -> tuple[T] | None:
        try:
            return (action(),)
        except RuntimeError as failure:
            failures.append(str(failure))
            return None

    try:
        return until(attempt, what, seconds)[0]
    except Timeout as timeout:
        raise Timeout(f"{timeout}: {failures[-1]}") from None
