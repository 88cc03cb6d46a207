"""The same as test_placement_modes.py, among 5,000 nodes. Not a test, so pytest runs it only by its name:
`make bench-placement`."""

import json

from .placement_report import PODS, measure


def test_placement_among_5000_nodes(tmp_path, apiserver):
    report = measure(tmp_path, apiserver, 5000)
    print(json.dumps(report, indent=1))
    assert report["mode"]["nominate"]["on_replica"] == PODS
