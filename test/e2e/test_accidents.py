"""Every program of the driver is killed in every phase of a volume's life. Each time the phase is
completed, nothing is done twice, and nothing is lost."""

import time

import pytest
from cluster.waiting import until
from deployment.driver import Driver
from deployment.timeline import Timeline

from .phases import MAX_SHARES, PHASES, UNDER_WAY, Phase, Scene
from .victims import Victims
from .witness import Witness

ATTEMPTS = 3


class Story:
    """The phases in order; each test brings it to its own."""

    def __init__(self, driver: Driver, timeline: Timeline):
        self.scene = Scene(driver)
        self.witness = Witness(timeline, driver.azure)
        self.ahead = list(PHASES)

    def reach(self, kind: type[Phase]) -> Phase:
        """Those before it are gone through in peace, if they were not yet."""
        while self.ahead[0] is not kind:
            phase = self.ahead.pop(0)(self.scene)
            phase.begin()
            until(phase.done, f"{type(phase).__name__}, undisturbed", interval=0.2)
            phase.finish()
        return self.ahead.pop(0)(self.scene)


@pytest.fixture(scope="module")
def story(azure, driver, timeline):
    story = Story(driver, timeline)
    yield story
    story.scene.close()


def kill_everybody_in(phase: Phase, driver: Driver) -> Victims:
    """A short one may be over before that: then once more, for as long as the luck of a busy machine may last."""
    for _ in range(ATTEMPTS):
        victims = Victims(driver)
        phase.begin()
        begun = until(phase.begun, f"{type(phase).__name__} is under way", interval=0.05)
        if begun == UNDER_WAY and victims.kill(phase):
            return victims
        until(lambda: not victims.missing(), "everybody is back", interval=0.5)
        phase.undo()
    raise AssertionError(f"{type(phase).__name__} was over {ATTEMPTS} times before everybody was killed")


@pytest.mark.parametrize("kind", PHASES, ids=lambda kind: kind.__name__.lower())
def test_every_program_may_die(kind, story, driver, measured):
    phase = story.reach(kind)
    victims = kill_everybody_in(phase, driver)
    killed = time.monotonic()
    until(phase.done, f"{kind.__name__} is completed", interval=0.2)
    took = measured.setdefault("seconds from the kills to the end of the phase", {})
    took[kind.__name__.lower()] = round(time.monotonic() - killed, 1)
    phase.finish()
    until(lambda: not victims.missing(), "everybody is back", interval=0.5)
    assert story.witness.faults(MAX_SHARES) == []
