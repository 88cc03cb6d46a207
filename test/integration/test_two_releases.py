"""A second release of the chart in a cluster: Helm installs it, or says in one message which values have to be set."""

import pytest
from chart.chart import CHART

from .apiserver import ApiServer
from .helm import Helm

OTHER = ["--set=driver.name=other.disk.example"]
VALUES = ["crds.create=false", "controller.metrics.port=29704", "node.metrics.port=29705",
          "node.livenessProbe.healthPort=29703"]
SET = [*OTHER, *(f"--set={value}" for value in VALUES)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """One of its own, into which Helm alone installs."""
    server = ApiServer(tmp_path_factory.mktemp("releases"))
    yield server
    server.close()


@pytest.fixture
def helm(cluster):
    helm = Helm(cluster)

    def run(*words: str, status: int = 0) -> str:
        done = helm.run(*words, status=status)
        return done.stdout + done.stderr

    yield run
    for release in run("list", "--all", "--short").split():
        helm.uninstall(release)


@pytest.fixture
def first(helm):
    helm("install", "azuredisk", str(CHART), "--take-ownership")  # of what an earlier test has left: crds.keep


def asked_for(message: str) -> set[str]:
    """The values of the lines "  VALUE: reason"."""
    return {line.strip().partition(":")[0] for line in message.splitlines() if line.startswith("  ")}


def test_a_second_release_says_at_once_all_that_has_to_be_set(helm, first):
    message = helm("install", "second", str(CHART), *OTHER, status=1)
    assert asked_for(message) == {value if value.startswith("crds") else value.partition("=")[0] for value in VALUES}
    assert "release kube-system/azuredisk" in message and "DaemonSet kube-system/csi-azuredisk-node" in message
    for left, value in enumerate(VALUES):
        others = [f"--set={other}" for other in VALUES if other != value]
        assert len(asked_for(helm("install", "second", str(CHART), *OTHER, *others, status=1))) == 1, value


def test_with_these_it_is_installed_and_both_are_upgraded(helm, first):
    helm("install", "second", str(CHART), *SET)
    helm("upgrade", "second", str(CHART), *SET)
    helm("upgrade", "azuredisk", str(CHART))
    assert set(helm("list", "--short").split()) == {"azuredisk", "second"}


def test_one_namespace_has_the_custom_resources_of_one_driver(helm, first):
    shared = [*SET, "--set=driver.objectNamespace=azure-disk-csi"]
    assert asked_for(helm("install", "second", str(CHART), *shared, status=1)) == {"driver.objectNamespace"}


def test_a_cluster_has_one_snapshot_controller(helm):
    snapshots = "--set=snapshot.enabled=true"
    helm("install", "azuredisk", str(CHART), "--take-ownership", snapshots)
    assert asked_for(helm("install", "second", str(CHART), *SET, snapshots, status=1)) == {"snapshot.enabled=false"}
    helm("install", "second", str(CHART), *SET)
    helm("upgrade", "azuredisk", str(CHART), snapshots)  # its own is no other


def test_pods_in_a_network_of_their_own_share_no_ports(helm, first):
    own = [*OTHER, "--set=crds.create=false,linux.hostNetwork=false,controller.hostNetwork=false"]
    helm("install", "second", str(CHART), *own)


def test_records_are_not_left_behind_in_the_namespace_of_before(helm):
    """A release that has another driver's name since before names followed it."""
    before = [*OTHER, "--set=driver.objectNamespace=azure-disk-csi"]
    helm("install", "old", str(CHART), *before, "--take-ownership")
    assert asked_for(helm("upgrade", "old", str(CHART), *OTHER, status=1)) == {"driver.objectNamespace=azure-disk-csi"}
    helm("upgrade", "old", str(CHART), *before)


def test_what_an_uninstalled_release_has_left_is_no_neighbours(helm, first):
    helm("uninstall", "azuredisk")
    assert "exists and cannot be imported" in helm("install", "again", str(CHART), status=1), "Helm's own words"
    helm("install", "again", str(CHART), "--take-ownership")
