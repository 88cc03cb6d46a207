"""The CSI project's own test of a driver, csi-sanity, against the controller and the node plug-in as
they are, with sanitizers, a real API server and a simulated Azure with block devices. Each of its
tests is one here; what it skips is skipped, if the driver does not claim to be able to do it."""

import pytest

from .capabilities import NEEDS
from .suite import specs


@pytest.mark.parametrize("spec", specs())
def test_csi_sanity(runs, spec):
    results = {name: run.results[spec] for name, run in runs.items()}
    skipped = [result.text for result in results.values() if result.status == "skipped"]
    unknown = [reason for reason in skipped if reason not in NEEDS]
    assert not unknown, "csi-sanity skips it for another reason than a missing capability"
    needed = {NEEDS[reason] for reason in skipped}
    for run in runs.values():
        assert not needed & run.advertised, "it is advertised, and not tested"
    failed = [
        f"{name} {result.status}, in the order of seed {runs[name].seed}:\n{result.text}"
        for name, result in results.items() if result.status not in ("passed", "skipped")
    ]  # fmt: skip
    assert not failed, "\n\n".join(failed)
    if needed:
        pytest.skip(f"not advertised: {', '.join(sorted(needed))}")


def test_nothing_is_left(run):
    assert run.left == []


def test_the_programs_are_sound(run):
    assert not run.faults, "\n\n".join(run.faults)
