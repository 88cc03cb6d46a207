"""A volume that has no fence because its device supports none: users are told so, once for each attachment."""

import uuid

import pytest
from cluster.waiting import until
from kubernetes import client

from .calls import SHARED, create, publish
from .driver_world import Controller, World

NOTE = "disk.csi.azure.com/fence"


@pytest.fixture(scope="module")
def world(tmp_path_factory, apiserver):
    folder = tmp_path_factory.mktemp("unfenced")
    with World(folder, apiserver, attach="50ms", detach="50ms", create="50ms", delete="50ms") as world:
        yield world


@pytest.fixture(scope="module")
def controller(world):
    with Controller(world, "one") as controller:
        yield controller


@pytest.fixture
def volume(world, controller):
    """volume(node, **parameters): the name of one that is published there."""

    def make(node: int = 0, **parameters: str) -> str:
        name = f"pvc-{uuid.uuid4().hex[:8]}"
        volume_id = create(controller, name=name, parameters=SHARED | parameters).volume_id
        publish(controller, volume_id, world.nodes[node])
        until(lambda: "Primary Attached" in world.roles(name).values(), "it is attached")
        return name

    return make


def say(world: World, name: str, text: str | None, node: int = 0) -> None:
    """As the node does when it mounts the volume, and when it has unmounted it."""
    attachment = f"{name}-{world.nodes[node]}-attachment"
    world.patch("azvolumeattachments", attachment, {"status": {"annotation": {NOTE: text}}}, status=True)


def warnings(world: World, name: str) -> list[str]:
    """What events say of it, as often as it is said."""
    events = client.EventsV1Api(world.client).list_namespaced_event(world.namespace).items
    return [e.note for e in events if e.regarding.name == name and e.regarding.kind == "AzVolume"
            and e.reason == "FenceUnsupported" and e.type == "Warning"
            for _ in range(e.series.count if e.series else 1)]


def test_users_are_told_once(world, controller, volume):
    name, later = volume(), volume(1)
    say(world, name, "unsupported")
    until(lambda: warnings(world, name), "a warning")
    [text] = warnings(world, name)
    assert f"on node {world.nodes[0]} without a fence" in text and "fencing: none" in text
    say(world, name, None)
    say(world, name, "unsupported")
    say(world, later, "unsupported", 1)
    until(lambda: warnings(world, later), "a warning about the other one, which comes after it")
    assert len(warnings(world, name)) == 1


@pytest.mark.parametrize(("note", "parameters"), [
    ("unsupported", {"fencing": "none"}), ("unsupported", {"fencing": "guest"}),
    ("held 0x0000000100000002", {})], ids=["none", "guest", "held"])
def test_who_wants_no_fence_or_has_one_is_told_nothing(world, controller, volume, note, parameters):
    name, later = volume(**parameters), volume(1)
    say(world, name, note)
    say(world, later, "unsupported", 1)
    until(lambda: warnings(world, later), "a warning about the other one, which comes after it")
    assert not warnings(world, name)


def test_another_leader_does_not_say_it_again(world, controller, volume):
    name, later = volume(), volume(1)
    say(world, name, "unsupported")
    until(lambda: warnings(world, name), "a warning")
    controller.kill()
    controller.start()
    until(controller.leads, "it leads")
    say(world, later, "unsupported", 1)
    until(lambda: warnings(world, later), "a warning about the other one, which comes after it")
    assert len(warnings(world, name)) == 1
