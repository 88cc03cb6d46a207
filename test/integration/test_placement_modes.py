"""Every pod comes to its replica among 1,000 nodes, by a scheduler that nobody has configured, and by one that asks the
extender."""

from .placement_report import PODS, measure, note

# Far more than it takes, for a machine that is busy with other tests. It may hold up one pod or another, but not for as long as
# it takes until a gate is overdue.
MOST_MS, OVERDUE_MS = 1000, 5000


def test_all_pods_land_on_their_replicas(tmp_path, apiserver):
    modes = measure(tmp_path, apiserver, 1000, "nominate", "extender")
    note(modes, "mode")
    for mode in modes:
        assert (modes[mode]["on_replica"], modes[mode]["nodes"]) == (PODS, 1000)
    added = modes["nominate"]["added_ms"]
    assert added["p50"] < MOST_MS and added["p99"] < OVERDUE_MS
