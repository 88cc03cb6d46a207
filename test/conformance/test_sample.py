"""A sample of Kubernetes' own suite; `make conformance` runs all of it."""

import re

import pytest

from . import sample, suite
from .__main__ import LEAVING_SECONDS, LOG
from .definitions import DRIVER

PROCESSES = 10  # they mostly wait


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
    installation.driver.until_nothing_is_left(LEAVING_SECONDS)
