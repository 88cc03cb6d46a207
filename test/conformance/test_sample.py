"""A sample of Kubernetes' own suite; `make conformance` runs all of it."""

import re

import pytest
from cluster.waiting import until
from deployment.driver import OBJECTS

from . import sample, suite
from .__main__ import LOG
from .definitions import DRIVER

PROCESSES = 10  # they mostly wait
SECONDS = 180  # after the last spec: a volume may be deleted after its namespace


@pytest.fixture(scope="module")
def results(installation, tmp_path_factory) -> dict[str, suite.Result]:
    LOG.parent.mkdir(parents=True, exist_ok=True)
    chosen = sample.of(suite.specs(), DRIVER)
    return suite.run(installation.cluster, tmp_path_factory.mktemp("suite"), chosen, PROCESSES, LOG)


@pytest.mark.parametrize("names", sample.SAMPLE)
def test_passes(results, names):
    [(spec, result)] = ((spec, result) for spec, result in results.items() if re.search(names, spec))
    assert result.status == "passed", f"{spec}\n{result.text}"


def test_nothing_is_left(results, installation):
    until(installation.azure.nothing_left, "nothing is left in Azure", SECONDS, interval=0.5)
    kinds = "azvolumes,azvolumeattachments,azsnapshots"
    until(lambda: not installation.cluster.get(kinds, "-n", OBJECTS)["items"], "no custom resource is left", SECONDS,
          interval=0.5)
