"""How often what is waited for is looked at."""

import pytest
from cluster import waiting


class Clock:
    """Stands still but for pauses."""

    def __init__(self):
        self.now, self.pauses = 1000.0, []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.pauses.append(seconds)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(waiting, "time", clock)
    return clock


def test_pauses_grow_with_the_time_waited(clock):
    assert waiting.until(lambda: clock.now >= 1060, "a minute")
    assert clock.pauses[0] == waiting.SHORTEST_S and clock.pauses[-1] == waiting.LONGEST_S
    assert clock.pauses == sorted(clock.pauses)
    assert 4 < clock.now - 1000 - sum(p for p in clock.pauses if p == waiting.LONGEST_S) < 6


def test_an_interval_is_kept(clock):
    assert waiting.until(lambda: len(clock.pauses) == 100, "a hundred looks", interval=0.25)
    assert set(clock.pauses) == {0.25}


@pytest.mark.parametrize("interval", [None, 0.3])
def test_it_looks_once_more_when_time_is_up(clock, interval):
    looks = []
    with pytest.raises(waiting.Timeout, match="^it: not within 7 s$"):
        waiting.until(lambda: looks.append(clock.now), "it", 7, interval=interval)
    assert 1007 < looks[-1] < 1007.5 + 1e-6
