"""Two controllers in the network of one node, as two pods of the Deployment may be: neither is in the other's way, and
each is asked about its own health."""

import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from cluster.waiting import until

from .driver_world import Controller, World


@pytest.fixture(scope="module")
def world(tmp_path_factory, apiserver):
    with World(tmp_path_factory.mktemp("health"), apiserver) as world:
        yield world


PROBE = Controller.PROGRAM.with_name("azdisk-probe")


def address(world: World, name: str) -> str:
    return f"unix://{world.folder}/{name}-health.sock"


def probe(world: World, name: str, path: str) -> subprocess.CompletedProcess:
    """As kubelet runs it in the pod."""
    words = [PROBE, f"--address={address(world, name)}", f"--path={path}"]
    return subprocess.run(words, capture_output=True, text=True, timeout=30)


@contextmanager
def running(world: World, name: str, *flags: str) -> Iterator[Controller]:
    """Until it is ended, at the latest at the end of the block."""
    controller = Controller(world, name, f"--health-address={address(world, name)}", *flags).start()
    try:
        until(lambda: probe(world, name, "/readyz").returncode == 0, f"{name} is ready")
        yield controller
    finally:
        if controller.process.poll() is None:
            controller.end()
        controller.csi.close()


def sidecars_may_work(controller: Controller) -> bool:
    """They elect their leaders by the name of the host, which both have, so one of them has to wait."""
    return controller.csi.call("Identity/Probe").ready.value


def metrics(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return answer.read().decode()


def test_two_share_a_node(world):
    same = "--metrics-address=127.0.0.1:{}"
    with running(world, "first") as first, running(world, "second", same.format(first.metrics)) as second:
        assert "the other process that serves there" in second.said()
        assert probe(world, "second", "/healthz").stdout == "ok\n"
        assert sidecars_may_work(first) and not sidecars_may_work(second)
        first.end()
        done = probe(world, "first", "/healthz")
        assert done.returncode == 1 and "first-health.sock" in done.stdout
        assert probe(world, "second", "/healthz").returncode == 0
        until(lambda: sidecars_may_work(second), "its sidecars begin")
        until(lambda: "is free now, serving on it" in second.said(), "it takes the port")
        assert "azuredisk_build_info" in metrics(first.metrics)
