"""The CSI project's own test of a driver, csi-sanity, against the controller and the node plug-in as
they are, with sanitizers, a real API server and a simulated Azure with block devices. Each of its
tests is one here; those are skipped that a table names, if the driver cannot do what they are about."""

import pytest

from .skips import ALLOWED, WORDS
from .suite import specs

# ControllerPublishVolume does not wait until a disk is attached; NodeStageVolume does.
SLOW = {"CreateVolume", "ControllerExpandVolume", "ControllerModifyVolume", "NodeStageVolume",
        "ControllerUnpublishVolume", "DeleteVolume"}  # fmt: skip
MANY = 20


@pytest.mark.parametrize("spec", specs())
def test_csi_sanity(runs, spec):
    results = {name: run.results[spec] for name, run in runs.items()}
    failed = [
        f"{name} {result.status}, in the order of seed {runs[name].seed}:\n{result.text}"
        for name, result in results.items() if result.status not in ("passed", "skipped")
    ]  # fmt: skip
    assert not failed, "\n\n".join(failed)
    needed = ALLOWED.get(spec)
    found = {name: WORDS.get(r.text, r.text) if r.status == "skipped" else None for name, r in results.items()}
    assert found == dict.fromkeys(runs, needed), "what is skipped is not what skips.py allows"
    if needed:
        for run in runs.values():
            assert needed not in run.advertised, "it is advertised, and not tested"
        pytest.skip(f"not advertised: {needed}")


def test_each_skip_is_of_a_test():
    assert ALLOWED.keys() <= set(specs())


def test_a_disk_was_modified(run):
    assert run.modified_disks


def test_calls_were_cut(runs):
    cut = runs["cut"].calls_cut
    assert cut.keys() >= SLOW and cut.total() > MANY, cut


def test_nothing_is_left(run):
    assert run.left == []


def test_the_programs_are_sound(run):
    assert not run.faults, "\n\n".join(run.faults)
