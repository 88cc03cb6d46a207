"""A cluster with the chart and the programs of this tree, upgraded from those of the release before, of which either the node
plug-ins or the controllers can be had back."""

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from cluster.cluster import Cluster
from deployment import ledger
from deployment.azure import QUICK, Azure
from deployment.driver import CHART, IMAGE, NAMESPACE, RELEASE, SELECTORS, TREE, VERSION, Driver
from deployment.reservations import reservations
from deployment.troubles import pytest_runtest_makereport  # noqa: F401 (a hook)
from image.driver import PROGRAMS, driver as image_of_the_driver

NODES = ("node-a", "node-b", "node-c")
BEFORE, TAG_BEFORE = Path(os.environ["BEFORE"]), "before"  # its tree, built
WORKLOADS = {"node": "daemonset/csi-azuredisk-node", "controller": "deployment/csi-azuredisk-controller"}


class Skew:
    def __init__(self, driver: Driver):
        self.driver, self.cluster = driver, driver.cluster

    def helm(self, what: str, chart: Path, tag: str) -> None:
        values = self.driver.values({"failover": {"enabled": True}})
        del values["schedulerExtender"]  # nobody asks it here
        values["image"]["azuredisk"]["tag"] = tag
        file = self.cluster.directory / f"{tag}.json"
        file.write_text(json.dumps(values))
        self.cluster.run("helm", what, RELEASE, chart, "--namespace", NAMESPACE, "--values", file, "--wait", "--timeout", "240s")

    def images(self, part: str) -> set[str]:
        """Of its pods, their tags."""
        return {container["image"].rpartition(":")[2] for pod in self.driver.pods(part) for container in pod["spec"]["containers"]
                if container["image"].startswith(f"{IMAGE}:")}

    @contextlib.contextmanager
    def before(self, part: str) -> Iterator[None]:
        """The pods of this part are as they were before the upgrade."""
        self._undo(part)
        try:
            assert self.images(part) == {TAG_BEFORE}
            yield
        finally:
            self._undo(part)

    def _undo(self, part: str) -> None:
        for words in (("undo", WORKLOADS[part]), ("status", WORKLOADS[part], "--timeout=180s")):
            self.cluster.kubectl("rollout", *words, "-n", NAMESPACE)
        self.cluster.kubectl("wait", "pods", "-l", SELECTORS[part], "--for=condition=Ready", "--timeout=120s", "-n", NAMESPACE)


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    with Cluster.up(NODES, stock_times=True) as cluster, Azure(cluster, **QUICK) as azure, reservations(cluster) as disks:
        driver = Driver(cluster, azure)
        driver.load_images(disks)
        image = image_of_the_driver(f"{IMAGE}:{TAG_BEFORE}", TAG_BEFORE).image
        programs = {f"/bin/{program}": BEFORE / "build" / "bin" / program for program in PROGRAMS}
        cluster.load(disks.given_to(replace(image, files=image.files | programs)))
        cluster.load(ledger.image(cluster.directory))
        cluster.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "azure-cloud-provider", "namespace": NAMESPACE},
                       "stringData": {"cloud-config": azure.cloud_config()}})
        yield driver


@pytest.fixture(scope="session")
def skew(driver) -> Skew:
    skew = Skew(driver)
    skew.helm("install", BEFORE / CHART.relative_to(TREE), TAG_BEFORE)
    skew.helm("upgrade", CHART, VERSION)
    return skew
