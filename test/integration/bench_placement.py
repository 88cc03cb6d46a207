"""The same as test_placement_modes.py, in all modes among 5,000 nodes, and with the API servers and kube-schedulers of
other releases of Kubernetes. Not a test, so pytest runs it only by its name: `make bench-placement`."""

import json
from contextlib import closing

import pytest
from cluster import tools

from .apiserver import ApiServer
from .placement_report import MODES, PODS, measure, note


def test_placement_among_5000_nodes(tmp_path, apiserver):
    modes = measure(tmp_path, apiserver, 5000, *MODES)
    note(modes, "mode")
    print(json.dumps(modes, indent=1))
    assert modes["nominate"]["on_replica"] == modes["extender"]["on_replica"] == PODS


@pytest.mark.parametrize("release", tools.RELEASES)
def test_placement_by_another_release(tmp_path, release):
    with closing(ApiServer(tmp_path, release)) as apiserver:
        modes = measure(tmp_path, apiserver, 1000, "nominate", "extender")
    note(modes, "release", release)
    print(json.dumps(modes, indent=1))
    assert modes["nominate"]["on_replica"] == modes["extender"]["on_replica"] == PODS
