"""The same as test_placement_modes.py, in all modes among 5,000 nodes. Not a test, so pytest runs it only by its name:
`make bench-placement`."""

import json

from .placement_report import MODES, PODS, measure


def test_placement_among_5000_nodes(tmp_path, apiserver):
    modes = measure(tmp_path, apiserver, 5000, *MODES)
    print(json.dumps(modes, indent=1))
    assert modes["nominate"]["on_replica"] == modes["extender"]["on_replica"] == PODS
