"""Every pod comes to its replica among 1,000 nodes, by a scheduler that nobody has configured."""

from .placement_report import PODS, measure

MOST_MS = 1000  # far more than it takes, for a machine that is busy with other tests


def test_all_pods_land_on_their_replicas(tmp_path, apiserver):
    nominate = measure(tmp_path, apiserver, 1000)["mode"]["nominate"]
    assert (nominate["on_replica"], nominate["nodes"]) == (PODS, 1000)
    assert nominate["added_ms"]["p99"] < MOST_MS
