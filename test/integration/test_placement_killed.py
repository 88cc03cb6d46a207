"""Whatever is killed while a pod waits at the gate, and comes back as kubelet starts it again, the pod waits for seconds only."""

import contextlib

import pytest
from cluster.waiting import until

from .driver_world import Controller
from .nomination import GATE, GatedWorld, GateTimes
from .placement import Placement
from .placement_report import note
from .placement_webhook import Webhook

LONGEST_S = 10
longest: list[float] = []  # of each test so far, in seconds
KILLED = {"the leader": (True, False), "the webhook": (False, True), "both": (True, True)}


@pytest.fixture(scope="module")
def world(tmp_path_factory, apiserver):
    Placement(apiserver.client()).install()  # the namespace that the release expects
    with GatedWorld(tmp_path_factory.mktemp("killed"), apiserver, nodes=3) as world:
        yield world


@pytest.fixture(scope="module")
def webhook(tmp_path_factory, apiserver, world):
    """Whose extender reads the world's objects, which are not those of the release."""
    with Webhook(apiserver, tmp_path_factory.mktemp("webhook"), "nominate") as webhook:
        webhook.kubeconfig = apiserver.kubeconfig
        yield webhook


@pytest.fixture(scope="module")
def times(world):
    with GateTimes(world) as times:
        yield times


@pytest.mark.parametrize("killed", KILLED)
def test_a_pod_waits_for_seconds_only(world, webhook, times, killed):
    name = killed.replace(" ", "-")
    leader_dies, webhook_dies = KILLED[killed]
    objects = f"--object-namespace={world.namespace}"
    flags = ["--placement=nominate", f"--leader-election-namespace={webhook.release.namespace}"]
    with Controller(world, "one", *flags) as controller, webhook.extender(objects) as extender:
        extender.until_ready()
        world.volume(controller, name, world.nodes[0])
        until(lambda: world.would_wait(name, [name]), "the webhook knows the leader and the disk")
        controller.pause()  # so that nothing is decided before somebody is killed
        world.pod(name, [name])
        held_back = GATE in world.gates(name)
        controller.kill() if leader_dies else controller.resume()
        with contextlib.ExitStack() as again:
            if webhook_dies:
                extender.kill()
                again.enter_context(webhook.extender(objects)).until_ready()
            if leader_dies:
                controller.start()
            world.until_ungated(name, LONGEST_S)
    assert held_back
    [waited] = times.of([name])
    assert waited < LONGEST_S * 1000
    longest.append(round(waited / 1000, 3))
    note({"longest_gate_s": max(longest)})
