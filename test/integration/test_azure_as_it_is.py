"""The controller and what Azure tells: of a disk's owners too late, of its limits not always."""

import pytest
from azsim import simulator
from azsim.compute import compute_client
from cluster.waiting import until

from .calls import GIB, create, delete, publish, refused, unpublish
from .driver_world import Controller, World

EVERYWHERE = {"a": "Primary Attached", "b": "Replica Attached", "c": "Replica Attached"}
FAST = {"attach": "100ms", "detach": "50ms", "create": "50ms", "delete": "50ms"}


# ---- owners, if Azure is late with them after each attach and detach ----

@pytest.fixture
def late(tmp_path, apiserver):
    with World(tmp_path, apiserver, **FAST, ownership="4s-5s") as world:
        yield world


@pytest.fixture
def owner(late):
    """Whom the disk names, as everybody sees it."""
    compute = compute_client(late.azure)
    return lambda: (compute.disks.get(simulator.GROUP, "pvc-1").managed_by or "").rpartition("/")[2]


def test_a_disk_moves_and_goes_while_it_names_its_former_owner(late, owner):
    with Controller(late) as controller:
        volume = create(controller, parameters={}).volume_id
        for letter, node in zip("aba", (late.nodes[0], late.nodes[1], late.nodes[0]), strict=True):
            publish(controller, volume, node)
            until(lambda: late.roles("pvc-1") == {letter: "Primary Attached"}, f"on {letter}")
            until(lambda: owner() == node, "the disk says so")
            unpublish(controller, volume, node)
        until(lambda: late.roles("pvc-1") == {}, "detached")
        assert owner() == late.nodes[0]
        before = late.last_call()
        delete(controller, volume)
        assert len(late.calls("disks.get", before)) > 1, "it named an owner that it no longer had"
        assert late.attached("pvc-1") == ["a", "b", "a"], "each once"
        assert late.azure.control("GET", "summary")["nothingLeft"]


def test_replicas_come_and_go_while_the_disk_names_others(late):
    with Controller(late, "one", "--replica-gc-delay=1s") as controller:
        volume = create(controller).volume_id
        publish(controller, volume, late.nodes[0])
        until(lambda: late.roles("pvc-1") == EVERYWHERE, "three attachments")
        unpublish(controller, volume, late.nodes[0])
        until(lambda: late.roles("pvc-1") == {}, "collected")
        delete(controller, volume)
        assert sorted(late.attached("pvc-1")) == ["a", "b", "c"], "each once"
        assert late.azure.control("GET", "summary")["nothingLeft"]


# ---- limits ----

@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, nodes=1, **FAST) as world:
        yield world


def limit(world, node: str) -> tuple[str, str, int]:
    """Status and reason of what the controller says of a node's limit, and the limit."""
    slots = world.find("azdrivernodes", node)["status"].get("slots", {})
    found = {c["type"]: (c["status"], c["reason"]) for c in slots.get("conditions", [])}
    return (*found.get("IsLimitFromAzure", ("", "")), slots.get("limit", 0))


def condition(world) -> tuple[str, str]:
    status, reason, disks = limit(world, world.nodes[0])
    assert reason == "" or disks == 8
    return status, reason


def test_where_limits_are_from_is_told(world):
    cache = f"--cloud-cache={world.folder / 'skus.json'}"
    with Controller(world, "told", cache):
        until(lambda: condition(world) == ("True", "SkuList"), "told by Azure")
    world.azure.fault("refuse", kind="skus.list", code="AuthorizationFailed")
    before = world.last_call()
    with Controller(world, "kept", cache):
        until(lambda: condition(world) == ("True", "KeptSkuList"), "kept from the last time")
        assert not [e for e in world.azure.journal(before) if e.get("kind") == "skus.list"]
    with Controller(world, "alone") as controller:
        until(lambda: condition(world) == ("False", "BuiltInTable"), "what is built in")
        assert "the built-in table: " in controller.said()


def test_a_size_that_nobody_knows_takes_what_azure_lets_it(world):
    """Two disks, in truth: the third is refused by Azure, and by then everybody knows."""
    node = f"{world.namespace}-new"
    world.azure.control("POST", "vms", {"name": node, "size": "Standard_Z2s_v99", "zone": "1"}, 201)
    world.nodes.append(node)
    world.add_node(node)
    world.azure.fault("refuse", kind="skus.list", code="AuthorizationFailed")
    single = {"maxShares": "1"}
    with Controller(world) as controller:
        until(lambda: limit(world, node) == ("False", "UnknownSize", 64), "nobody knows")
        for n in range(3):
            publish(controller, create(controller, f"pvc-{n}", parameters=single).volume_id, node)
        until(lambda: limit(world, node) == ("True", "RefusedByAzure", 2), "Azure's own word")
        states = [world.roles(f"pvc-{n}").get("new", "gone") for n in range(3)]
        assert states.count("Primary Attached") == 2


def test_a_disk_beyond_azures_limits_is_refused_at_once(world):
    fast = {"skuName": "PremiumV2_LRS", "diskIOPSReadWrite": "3501"}
    with Controller(world) as controller:
        with refused("INVALID_ARGUMENT", "diskIOPSReadWrite", "3501", "3000 to 3500", "7 GiB"):
            create(controller, parameters=fast, size=7 * GIB)
        with refused("OUT_OF_RANGE", "3 GiB", "UltraSSD_LRS", "at least 4"):
            create(controller, parameters={"skuName": "UltraSSD_LRS"}, size=3 * GIB)
        assert world.objects("azvolumes") == []
        assert create(controller, parameters=fast, size=8 * GIB).volume_id == simulator.disk_id("pvc-1")
