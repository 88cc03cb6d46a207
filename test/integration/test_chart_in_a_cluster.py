"""What the chart renders is taken by an API server, and what Helm then tells is what is true of the values."""

import json

import pytest
from chart.chart import CHART, NO_CERT_MANAGER, SCHEDULER, every_value_changed, nested
from chart.other_drivers import CHARTS, of_class, whole

from .apiserver import ApiServer
from .helm import Helm


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    server = ApiServer(tmp_path_factory.mktemp("chart"))
    yield server
    server.close()


@pytest.fixture
def scheduler() -> dict[str, object]:
    """Values that go with the cluster's version."""
    return {}


@pytest.fixture
def install(cluster, tmp_path):
    """Installs or upgrades the only release, and returns what Helm tells, and what it warns of."""
    helm = Helm(cluster)

    def run(values: dict[str, object]) -> tuple[str, str]:
        (tmp_path / "values.json").write_text(json.dumps(nested(values)))
        done = helm.run("upgrade", "--install", "--take-ownership", "azuredisk", CHART,
                        f"--values={tmp_path / 'values.json'}")
        return done.stdout, done.stderr

    yield run
    helm.uninstall("azuredisk")


def test_the_values_of_each_chart_can_be_installed_and_exchanged(install):
    for chart in CHARTS:
        told, warned = install(whole(chart))
        assert "have no effect" not in told and "is another program" in told
        assert not warned


def test_every_value_can_be_set(install, scheduler):
    """Also what a schema of the chart does not look into, such as volumes and affinities. But for cert-manager's
    Certificate, whose definition is not there."""
    _, warned = install(every_value_changed() | SCHEDULER | scheduler | NO_CERT_MANAGER
                        | {"controller.cloudConfigSecretNamespace": "kube-system"})
    assert "unknown field" not in warned and "duplicate" not in warned, warned


def test_helm_tells_of_each_value_without_effect(install):
    told, _ = install({row.path: row.changed for row in of_class("ignored")})
    assert not [row.path for row in of_class("ignored") if f"\n  {row.path}: {row.why}\n" not in told]
