"""The driver as users install it, on a cluster of two zones."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from cluster.cluster import Cluster
from deployment.azure import QUICK, Azure
from deployment.driver import SNAPSHOTS, Driver

from . import suite


class Installation(NamedTuple):
    cluster: Cluster
    azure: Azure
    driver: Driver


@contextmanager
def installed(zones: dict[str, str], say: Callable[[str], None]) -> Iterator[Installation]:
    """`zones` of the nodes by their names. With the images of the suite's pods."""
    with Cluster.up(list(zones), report=say, zones=zones) as cluster, Azure(cluster, **QUICK) as azure:
        driver = Driver(cluster, azure)
        driver.load_images()
        suite.load_images(cluster)
        driver.define_snapshots()
        driver.install(snapshot=SNAPSHOTS)
        yield Installation(cluster, azure, driver)
