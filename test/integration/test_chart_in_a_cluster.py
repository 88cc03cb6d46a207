"""What the chart renders is taken by an API server, and what Helm then tells is what is true of the values."""

import json
import os
import subprocess

import pytest
from chart.chart import CHART, every_value_changed, nested
from chart.other_drivers import CHARTS, of_class, whole
from cluster import tools

from .apiserver import ApiServer


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    server = ApiServer(tmp_path_factory.mktemp("chart"))
    yield server
    server.close()


@pytest.fixture
def install(cluster, tmp_path):
    """Installs or upgrades the only release, and returns what Helm tells, and what it warns of."""
    home = {f"HELM_{kind}_HOME": str(tmp_path / "helm") for kind in ("CACHE", "CONFIG", "DATA")}

    def helm(*words: str) -> subprocess.CompletedProcess:
        return subprocess.run([tools.folder() / "helm", *words, f"--kubeconfig={cluster.kubeconfig}", "--namespace=kube-system"],
                              capture_output=True, text=True, env=os.environ | home)

    def run(values: dict[str, object]) -> tuple[str, str]:
        (tmp_path / "values.json").write_text(json.dumps(nested(values)))
        done = helm("upgrade", "--install", "--take-ownership", "azuredisk", str(CHART), f"--values={tmp_path / 'values.json'}")
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr

    yield run
    done = helm("uninstall", "azuredisk")
    assert done.returncode == 0, done.stderr


def test_the_values_of_each_chart_can_be_installed_and_exchanged(install):
    for chart in CHARTS:
        told, warned = install(whole(chart))
        assert "have no effect" not in told and "is another program" in told
        assert not warned


def test_every_value_can_be_set(install):
    """Also what a schema of the chart does not look into, such as volumes and affinities. But for cert-manager's
    Certificate, whose definition is not there."""
    _, warned = install(every_value_changed() | {"controller.cloudConfigSecretNamespace": "kube-system",
                                                 "placement.tls.issuerName": ""})
    assert "unknown field" not in warned and "duplicate" not in warned, warned


def test_helm_tells_of_each_value_without_effect(install):
    told, _ = install({row.path: row.changed for row in of_class("ignored")})
    assert not [row.path for row in of_class("ignored") if f"\n  {row.path}: {row.why}\n" not in told]
