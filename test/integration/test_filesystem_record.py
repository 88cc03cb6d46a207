"""What a node says of a volume's file system is taken over from the volume's primary alone, and only if it can be true."""

import hashlib
import uuid

import pytest
from cluster.waiting import until
from kubernetes import client

from .calls import create, publish
from .driver_world import Controller, World

NOTE = "disk.csi.azure.com/filesystem"
NODE = 0  # that has the primary


@pytest.fixture(scope="module")
def world(tmp_path_factory, apiserver):
    folder = tmp_path_factory.mktemp("filesystem")
    with World(folder, apiserver, attach="50ms", detach="50ms", create="50ms", delete="50ms") as world:
        yield world


@pytest.fixture(scope="module")
def controller(world):
    with Controller(world, "one") as controller:
        yield controller


def derived(volume_id: str) -> uuid.UUID:
    """As provisioner-lib/host/identity.h has it."""
    digest = hashlib.sha256(volume_id.lower().encode()).digest()
    made = bytearray(b"azdk" + digest[:12])
    made[6], made[8] = made[6] & 0x0F | 0x80, made[8] & 0x3F | 0x80
    return uuid.UUID(bytes=bytes(made))


@pytest.fixture
def volume(world, controller) -> tuple[str, str]:
    """Name and id of one that is published, with its replicas."""
    name = f"pvc-{uuid.uuid4().hex[:8]}"
    volume_id = create(controller, name=name).volume_id
    publish(controller, volume_id, world.nodes[NODE])
    until(lambda: sorted(world.roles(name).values()) == ["Primary Attached", "Replica Attached", "Replica Attached"],
          "three attachments")
    return name, volume_id


def say(world: World, name: str, node: int, note: str) -> str:
    attachment = f"{name}-{world.nodes[node]}-attachment"
    world.patch("azvolumeattachments", attachment, {"status": {"annotation": {NOTE: note}}}, status=True)
    return attachment


def on_record(world: World, name: str) -> str | None:
    return world.find("azvolumes", name)["status"].get("annotation", {}).get(NOTE)


def ignored(world: World, attachment: str) -> list[str]:
    """What events say of it, as often as it is said."""
    events = client.EventsV1Api(world.client).list_namespaced_event(world.namespace).items
    return [e.note for e in events if e.regarding.name == attachment and e.reason == "FilesystemNoteIgnored"
            for _ in range(e.series.count if e.series else 1)]


def test_what_the_primary_says_is_on_record(world, volume):
    name, volume_id = volume
    note = f"ext4 {derived(volume_id)}"
    attachment = say(world, name, NODE, note)
    until(lambda: on_record(world, name) == note, "it is on record")
    assert not ignored(world, attachment)


FORGED = {
    "another volume's": lambda volume_id: f"ext4 {derived(volume_id + '-other')}",
    "nobody's": lambda volume_id: f"ext4 {uuid.UUID(int=1)}",
    "of no file system": lambda volume_id: f"ntfs {derived(volume_id)}",
    "malformed": lambda volume_id: "ext4",
    "empty": lambda volume_id: "",
}


@pytest.mark.parametrize("note", FORGED.values(), ids=FORGED)
def test_what_cannot_be_true_is_ignored_and_said_once(world, volume, note):
    name, volume_id = volume
    attachment = say(world, name, NODE, note(volume_id))
    until(lambda: ignored(world, attachment), "an event")
    for n in range(3):  # each is a reason to look at the volume anew
        say(world, name, NODE, f"{note(volume_id)} {n}")
    said = say(world, name, NODE, f"xfs {derived(volume_id)}")
    until(lambda: on_record(world, name), "the truth is on record")
    assert on_record(world, name) == f"xfs {derived(volume_id)}"
    assert len(ignored(world, said)) == 1


def test_what_a_replica_says_is_ignored(world, volume):
    name, volume_id = volume
    attachment = say(world, name, 1, f"ext4 {derived(volume_id)}")
    until(lambda: ignored(world, attachment), "an event")
    assert on_record(world, name) is None
    assert "not the primary" in ignored(world, attachment)[0]
