"""Every pod comes to its replica among 1,000 nodes, by a scheduler that nobody has configured, and by one that asks the
extender."""

from .placement_report import PODS, measure, note

MOST_MS = 1000  # far more than it takes, for a machine that is busy with other tests


def test_all_pods_land_on_their_replicas(tmp_path, apiserver):
    modes = measure(tmp_path, apiserver, 1000, "nominate", "extender")
    note(modes, "mode")
    for mode in modes:
        assert (modes[mode]["on_replica"], modes[mode]["nodes"]) == (PODS, 1000)
    assert modes["nominate"]["added_ms"]["p99"] < MOST_MS
