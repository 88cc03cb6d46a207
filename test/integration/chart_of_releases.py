"""The same as test_chart_in_a_cluster.py, by the API servers of other releases of Kubernetes. Not a test, so pytest runs it
only by its name: `make chart-releases`."""

import pytest
from cluster import tools

from .apiserver import ApiServer
from .test_chart_in_a_cluster import (  # noqa: F401
    install,
    test_every_value_can_be_set,
    test_helm_tells_of_each_value_without_effect,
    test_the_values_of_each_chart_can_be_installed_and_exchanged,
)


@pytest.fixture(scope="module", params=tools.RELEASES)
def release(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def cluster(release, tmp_path_factory):
    server = ApiServer(tmp_path_factory.mktemp("chart"), release)
    yield server
    server.close()


@pytest.fixture
def scheduler(release) -> dict[str, object]:
    return {"image.kubeScheduler.tag": f"v{release}.0"}
