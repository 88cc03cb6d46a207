"""A node of which nothing is heard: what is published there stays, and people are told what it waits for."""

import pytest
from cluster.waiting import until

from .calls import create, publish, refused, unpublish
from .driver_world import Controller, World


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, attach="100ms", detach="50ms", create="50ms") as world:
        yield world


def notes(world, kind: str, name: str, reason: str) -> list[str]:
    """What events of a reason say of an object."""
    return [e.message for e in world.core.list_event_for_all_namespaces().items
            if (e.involved_object.kind, e.involved_object.name, e.reason) == (kind, name, reason)]


def test_a_volume_stays_on_a_silent_node_until_kubernetes_releases_it(world):
    with Controller(world, "one", "--heartbeat-limit=2s") as controller:
        volume = create(controller).volume_id
        publish(controller, volume, world.nodes[0])
        until(lambda: world.roles("pvc-1").get("a") == "Primary Attached", "the primary")
        silent, before = world.nodes[0], world.last_call()
        assert not notes(world, "Node", silent, "NodeUnreachable")
        world.set_ready(silent, False)
        told = until(lambda: notes(world, "AzVolume", "pvc-1", "PublishedOnUnreachableNode"), "it is told")
        assert silent in told[0] and "out-of-service" in told[0]
        told = until(lambda: notes(world, "Node", silent, "NodeUnreachable"), "of the node too")
        assert "1 published volume" in told[0]
        with refused("FAILED_PRECONDITION", silent):
            publish(controller, volume, world.nodes[1])
        assert world.roles("pvc-1").get("a") == "Primary Attached"
        assert "a" not in world.attached("pvc-1", before)

        unpublish(controller, volume, silent)
        publish(controller, volume, world.nodes[1])
        until(lambda: world.roles("pvc-1").get("b") == "Primary Attached", "released, it goes on elsewhere")
