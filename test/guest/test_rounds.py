"""Failovers, again and again: never do two nodes write, and nothing that was acknowledged is lost.

`make fence ROUNDS=200` plays more of them, SEED=n those of another seed. What they cost is in
build/reports/fence.json.
"""

import os
import random

import pytest
import sources

from .fence_report import Totals
from .members import NAMES, SharedVolume, two_members
from .rounds import Choices, Outcome, Round

ROUNDS = int(os.environ.get("ROUNDS") or 20)
SEED = int(os.environ.get("SEED") or sources.seed("node") % 1_000_000)
LUNS = {"ext4": 1, "xfs": 11}


@pytest.fixture(scope="module")
def members(boot, storage, apiserver, tmp_path_factory):
    folder = tmp_path_factory.mktemp("members")
    for name in NAMES:
        (folder / name).mkdir()
    with two_members(boot, storage, apiserver, folder) as pair:
        yield pair
        pair.a.cloud.clear()


def check(outcome: Outcome) -> None:
    assert not outcome.late, f"written after another node had the disk: {outcome.late[:5]}"
    assert not outcome.lost, f"acknowledged, and not there: {outcome.lost[:5]}"
    assert not outcome.unclean, outcome.unclean
    assert not outcome.inexplicable, "no register does that:\n" + "\n".join(map(str, outcome.inexplicable))
    assert outcome.refused, "no former primary has tried to write"


def test_there_is_one_writer_and_nothing_is_lost(members, capsys):
    chance, totals = random.Random(SEED), Totals()
    volumes = [SharedVolume(members, fs_type, lun) for fs_type, lun in LUNS.items()]
    for volume in volumes:
        volume.attach()
    for number in range(1, ROUNDS + 1):
        volume, choices = volumes[number % 2], Choices.draw(chance)
        print(f"round {number} of seed {SEED}, {volume.fs_type}: {choices}")
        if choices.anew:
            volume.detach()
            volume.attach()
        outcome = Round(volume, number, choices).play()
        totals.add(outcome, volume.fs_type, *str(choices).split(", "))
        totals.write()
        check(outcome)
    for volume in volumes:
        volume.detach()
    with capsys.disabled():
        print("", f"seed {SEED}", *totals.lines(), sep="\n")


def test_without_a_fence_there_are_two(members):
    """So that it is known that the rounds would notice."""
    volume = SharedVolume(members, "ext4", lun=21, fencing="none")  # beside what failed rounds leave
    volume.attach()
    outcome = Round(volume, 1, Choices(both_claim=False, killed=False, reboots=True, anew=True, before=5, lag=0)).play()
    assert outcome.late
    volume.detach()
