"""One API server for all tests of a run; a test that needs its own world makes a namespace."""

import pytest

from .apiserver import ApiServer


@pytest.fixture(scope="session")
def apiserver(tmp_path_factory):
    """`apiserver.kubeconfig` is a path, `apiserver.client()` an official ApiClient; kill(), stop()
    and the like are in apiserver.py. Whoever breaks it leaves it running."""
    server = ApiServer(tmp_path_factory.mktemp("apiserver"))
    yield server
    server.close()
