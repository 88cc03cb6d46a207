"""One cluster of two zones with the driver for all of this folder."""

import os

import pytest
from deployment.troubles import pytest_runtest_makereport  # noqa: F401 (a hook)

from .installation import Installation, installed

ZONES = {"node-a": "1", "node-b": "1", "node-c": "2", "node-d": "2"}


@pytest.fixture(scope="session")
def installation() -> Installation:
    if os.geteuid() != 0:
        pytest.skip("namespaces and mounts need root")
    with installed(ZONES, print) as installation:
        yield installation
