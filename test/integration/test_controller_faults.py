"""The controller when something goes wrong: a leader that dies or sleeps, Azure or the API server away,
nodes that fall silent, disks that somebody else moves. Nothing is done twice, and nothing is lost.
"""

import time

import grpc
import pytest
from azsim import simulator
from cluster.waiting import until

from .calls import SHARED, create, delete, publish, refused, unpublish
from .driver_world import Controller, World

EVERYWHERE = {"a": "Primary Attached", "b": "Replica Attached", "c": "Replica Attached"}


@pytest.fixture
def pair(world):
    """A leader, and one that waits for its place."""
    with Controller(world, "leader") as leader:
        until(leader.leads, "a leader")
        with Controller(world, "follower") as follower:
            yield leader, follower
            if leader.process.poll() is not None:
                leader.start()


def asked(world, kind: str, count: int = 1):
    until(lambda: len(world.calls(kind)) >= count, f"{kind} is asked of Azure")


# ---- leaders ----

@pytest.mark.parametrize("end", ["kill", "pause"])
def test_a_leader_lost_while_it_creates(world, pair, end):
    leader, follower = pair
    world.azure.control("PATCH", "latency", {"create": "4s"})
    call = follower.csi.begin("Controller/CreateVolume", name="pvc-1", parameters=SHARED,
                              volume_capabilities=[{"mount": {}, "access_mode": {"mode": 1}}])
    asked(world, "disks.createOrUpdate")
    getattr(leader, end)()
    assert call.result().volume.volume_id == simulator.disk_id("pvc-1")
    assert follower.leads()
    if end == "pause":
        leader.resume()
        assert leader.process.wait(60) == 1, "who has lost the lease ends"
    assert len(world.calls("disks.createOrUpdate")) == 1
    delete(follower, simulator.disk_id("pvc-1"))
    assert world.azure.control("GET", "summary")["nothingLeft"]


@pytest.mark.parametrize("end", ["kill", "pause"])
def test_a_leader_lost_while_it_attaches(world, pair, end):
    leader, follower = pair
    volume = create(follower).volume_id
    world.azure.control("PATCH", "latency", {"attach": "5s"})
    context = publish(follower, volume, world.nodes[0])
    asked(world, "virtualMachines.attachDetachDataDisks")
    getattr(leader, end)()
    until(lambda: world.roles("pvc-1").get("a") == "Primary Attached", "attached by the next leader")
    assert world.find("azvolumeattachments", f"pvc-1-{world.nodes[0]}-attachment")["status"]["detail"][
        "publish_context"] == context, "at the same LUN"
    world.azure.control("PATCH", "latency", {"attach": "100ms"})
    until(lambda: world.roles("pvc-1") == EVERYWHERE, "its replicas")
    if end == "pause":
        leader.resume()
        assert leader.process.wait(60) == 1
    assert sorted(world.attached("pvc-1")) == ["a", "b", "c"], "each once"


def test_a_leader_that_ends_gives_its_place_away(world):
    lease = ["--lease-duration=120s", "--lease-renew-deadline=100s"]
    with Controller(world, "leader", *lease) as leader:
        until(leader.leads, "a leader")
        with Controller(world, "follower", *lease) as follower:
            leader.end()
            until(follower.leads, "the next one leads without waiting for the lease to run out")
            leader.start()


def test_a_leader_that_ends_does_not_wait_for_azure(world):
    lease = ["--lease-duration=120s", "--lease-renew-deadline=100s"]
    with Controller(world, "leader", *lease) as leader:
        until(leader.leads, "a leader")
        with Controller(world, "follower", *lease) as follower:
            volume = create(leader).volume_id
            world.azure.control("PATCH", "latency", {"attach": "1h"})
            publish(leader, volume, world.nodes[0])
            asked(world, "virtualMachines.attachDetachDataDisks")
            leader.end()
            until(follower.leads, "the next one leads although an attach is under way")
            leader.start()


def test_the_deadline_of_collection_outlives_the_leader(world, tmp_path):
    with Controller(world, "first", "--replica-gc-delay=20s") as first:
        volume = create(first).volume_id
        publish(first, volume, world.nodes[0])
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "three attachments")
        unpublish(first, volume, world.nodes[0])
        note = "disk.csi.azure.com/collect-after"
        until(lambda: note in world.find("azvolumes", "pvc-1")["status"].get("annotation", {}), "a deadline")
        deadline = world.find("azvolumes", "pvc-1")["status"]["annotation"][note]
        first.kill()
        with Controller(world, "second", "--replica-gc-delay=1h") as second:
            until(second.leads, "another leader")
            assert world.find("azvolumes", "pvc-1")["status"]["annotation"][note] == deadline
            until(lambda: world.roles("pvc-1") == {}, "collected at the first one's deadline")
            publish(second, volume, world.nodes[1])
            until(lambda: len(world.roles("pvc-1")) == 3, "published again")
            assert note not in world.find("azvolumes", "pvc-1")["status"].get("annotation", {})
        first.start()


def test_published_again_in_time_nothing_is_collected(world):
    with Controller(world, "one", "--replica-gc-delay=30s") as controller:
        volume = create(controller).volume_id
        publish(controller, volume, world.nodes[0])
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "three attachments")
        unpublish(controller, volume, world.nodes[0])
        publish(controller, volume, world.nodes[2])
        note = "disk.csi.azure.com/collect-after"
        until(lambda: note not in world.find("azvolumes", "pvc-1")["status"].get("annotation", {}), "no deadline")
        before = world.last_call()
        until(lambda: world.roles("pvc-1")["c"] == "Primary Attached", "promoted")
        assert not world.calls("virtualMachines.attachDetachDataDisks", before)


# ---- what the controller stands on ----

def test_azure_away_for_a_while(world):
    with Controller(world) as controller:
        volume = create(controller).volume_id
        world.azure.control("PATCH", "latency", {"attach": "3s"})
        publish(controller, volume, world.nodes[0])
        asked(world, "virtualMachines.attachDetachDataDisks")
        world.azure.stop()
        with pytest.raises(grpc.RpcError) as error:
            controller.csi.call("Controller/CreateVolume", name="pvc-2", timeout=2, volume_capabilities=[
                {"mount": {}, "access_mode": {"mode": 1}}])
        assert error.value.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)
        world.azure.start()
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "all attached")
        assert sorted(world.attached("pvc-1")) == ["a", "b", "c"], "each once"


def test_the_api_server_away_for_a_while(world, apiserver):
    with Controller(world, "one", "--lease-duration=120s", "--lease-renew-deadline=100s") as controller:
        volume = create(controller).volume_id
        world.azure.control("PATCH", "latency", {"attach": "2s"})
        publish(controller, volume, world.nodes[0])
        asked(world, "virtualMachines.attachDetachDataDisks")
        apiserver.restart()
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "all attached")
        assert sorted(world.attached("pvc-1")) == ["a", "b", "c"], "each once"


# ---- nodes ----

def test_a_node_that_is_gone(world):
    with Controller(world) as controller:
        volume = create(controller).volume_id
        publish(controller, volume, world.nodes[0])
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "three attachments")
        world.core.delete_node(world.nodes[1])
        until(lambda: not world.find("azdrivernodes", world.nodes[1]), "its AzDriverNode goes")
        until(lambda: "b" not in world.roles("pvc-1"), "its attachment goes")
        assert world.find("azdrivernodes", world.nodes[0])


def test_a_node_gone_while_nobody_led(world):
    with Controller(world) as controller:
        publish(controller, create(controller).volume_id, world.nodes[0])
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "three attachments")
        controller.end()
        world.core.delete_node(world.nodes[2])
        controller.start()
        until(lambda: sorted(world.roles("pvc-1")) == ["a", "b"], "swept at the start")
        assert not world.find("azdrivernodes", world.nodes[2])


def test_a_silent_node_keeps_its_replica_until_it_can_be_replaced(world):
    with Controller(world) as controller:
        publish(controller, create(controller).volume_id, world.nodes[0])
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "three attachments")
        before = world.last_call()
        world.set_ready(world.nodes[1], False)
        world.set_ready(world.nodes[1], True)
        assert not world.calls("virtualMachines.attachDetachDataDisks", before)
        world.set_ready(world.nodes[1], "Unknown")  # as Kubernetes has it when it has heard nothing for long
        new = f"{world.namespace}-d"
        world.azure.control("POST", "vms", {"name": new, "size": "Standard_D4s_v5", "zone": "1"}, 201)
        world.nodes.append(new)
        world.add_node(new)
        repaired = {"a": "Primary Attached", "c": "Replica Attached", "d": "Replica Attached"}
        until(lambda: world.roles("pvc-1") == repaired, "another node takes its place")


def test_the_number_of_replicas_follows_the_volume(world):
    with Controller(world) as controller:
        publish(controller, create(controller).volume_id, world.nodes[0])
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "two replicas")
        world.patch("azvolumes", "pvc-1", {"spec": {"maxMountReplicaCount": 1}})
        until(lambda: len(world.roles("pvc-1")) == 2, "one replica")
        world.patch("azvolumes", "pvc-1", {"spec": {"maxMountReplicaCount": 2}})
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "two again")


def test_a_primary_takes_the_share_of_a_replica(world):
    new = f"{world.namespace}-d"
    world.azure.control("POST", "vms", {"name": new, "size": "Standard_D4s_v5", "zone": "1"}, 201)
    with Controller(world) as controller:
        volume = create(controller).volume_id
        publish(controller, volume, world.nodes[0])
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "three attachments, which is all")
        world.nodes.append(new)
        world.add_node(new)
        unpublish(controller, volume, world.nodes[0])
        publish(controller, volume, new)
        until(lambda: world.roles("pvc-1").get("d") == "Primary Attached", "the primary has its share")
        until(lambda: len(world.roles("pvc-1")) == 3, "one of the others gave way")


# ---- Azure's own troubles ----

def test_a_full_vm(world):
    small = f"{world.namespace}-s"
    world.azure.control("POST", "vms", {"name": small, "size": "Standard_B1s", "zone": "1"}, 201)
    world.nodes.append(small)
    world.add_node(small)
    with Controller(world) as controller:
        limit = until(lambda: world.find("azdrivernodes", small)["status"].get("slots", {}).get("limit"), "slots")
        for i in range(limit):
            publish(controller, create(controller, f"pvc-{i}", {}).volume_id, small)
        one_more = create(controller, "pvc-x", {}).volume_id
        with refused("RESOURCE_EXHAUSTED", small, str(limit)):
            publish(controller, one_more, small)
        until(lambda: not world.roles("pvc-x"), "nothing is left of what was refused")
        unpublish(controller, simulator.disk_id("pvc-0"), small)
        publish(controller, one_more, small)
        until(lambda: world.roles("pvc-x").get("s") == "Primary Attached", "attached once there is a place")


def test_a_primary_takes_the_place_of_a_replica(tmp_path, apiserver):
    """Two nodes with four places each: five pods run, and so do eight; the ninth is refused."""
    with World(tmp_path, apiserver, nodes=0, attach="100ms", detach="50ms", create="50ms") as world, \
            Controller(world) as controller:
        world.add_small_nodes("a", "b")
        first, second = world.nodes
        shared = {"skuName": "Premium_LRS", "maxShares": "2"}
        for i in range(4):
            publish(controller, create(controller, f"pvc-{i}", shared).volume_id, first)
        everywhere = {"a": "Primary Attached", "b": "Replica Attached"}
        until(lambda: all(world.roles(f"pvc-{i}") == everywhere for i in range(4)), "every place is taken", 90)

        before = world.last_call()
        publish(controller, create(controller, "pvc-4", shared).volume_id, second)
        until(lambda: world.roles("pvc-4").get("b") == "Primary Attached", "the fifth has a place", 90)
        kept = [i for i in range(4) if world.roles(f"pvc-{i}") == everywhere]
        assert len(kept) == 3, "one replica gave way, and no primary"
        changes = world.calls("virtualMachines.attachDetachDataDisks", before)
        assert [(len(e["attached"]), len(e["detached"])) for e in changes] == [(1, 1)], "in one change of the VM"

        for i in range(5, 8):
            publish(controller, create(controller, f"pvc-{i}", shared).volume_id, second)
        until(lambda: all(world.roles(f"pvc-{i}").get("b") == "Primary Attached" for i in range(4, 8)),
              "primaries have all places of the second node", 90)
        until(lambda: all(world.roles(f"pvc-{i}") == {"a": "Primary Attached"} for i in range(4)),
              "the replicas are gone, the primaries of the first node are not", 90)
        one_more = create(controller, "pvc-x", shared).volume_id
        with refused("RESOURCE_EXHAUSTED", second, "all 4 are taken", "4 of them by volumes"):
            publish(controller, one_more, second)
        for vm in world.azure.control("GET", "vms")["vms"]:
            assert len(vm["attached"]) == 4


def test_a_volume_is_deleted_while_another_takes_its_place_in_vain(tmp_path, apiserver):
    """On a full VM a replica gives way to a primary whose attach Azure refuses again and again."""
    with World(tmp_path, apiserver, nodes=0, attach="100ms", detach="50ms", create="50ms") as world, \
            Controller(world) as controller:
        world.add_small_nodes("a", "b")
        first, second = world.nodes
        shared = {"skuName": "Premium_LRS", "maxShares": "2"}
        volumes = {f"pvc-{i}": create(controller, f"pvc-{i}", shared).volume_id for i in range(4)}
        for volume in volumes.values():
            publish(controller, volume, first)
        everywhere = {"a": "Primary Attached", "b": "Replica Attached"}
        until(lambda: all(world.roles(name) == everywhere for name in volumes), "every place is taken", 90)

        world.azure.fault("refuse", kind="virtualMachines.*", disk="pvc-4", code="AttachDiskWhileBeingDetached")
        publish(controller, create(controller, "pvc-4", shared).volume_id, second)
        leaving = until(lambda: [name for name in volumes if "Detaching" in world.roles(name).get("b", "")],
                        "a replica gives way", interval=0.05)[0]
        unpublish(controller, volumes[leaving], first)
        began = time.monotonic()
        delete(controller, volumes[leaving])
        assert time.monotonic() - began < 20, "it waits neither for the primary nor for half a minute"


def test_a_promotion_waits_for_no_call_to_azure(world):
    with Controller(world) as controller:
        volume = create(controller).volume_id
        publish(controller, volume, world.nodes[0])
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "three attachments")
        controller.end()
        world.azure.control("PATCH", "latency", {"get": "20s"})
        before = world.last_call()
        controller.start()
        until(lambda: world.calls("entra.token", before), "the new leader asks Azure")
        unpublish(controller, volume, world.nodes[0])
        publish(controller, volume, world.nodes[1])
        until(lambda: world.roles("pvc-1")["b"] == "Primary Attached",
              "promoted, while the new leader still looks whether Azure agrees", 15)


def test_a_disk_that_somebody_else_detached(world):
    with Controller(world) as controller:
        publish(controller, create(controller, parameters={}).volume_id, world.nodes[0])
        until(lambda: world.roles("pvc-1") == {"a": "Primary Attached"}, "attached")
        controller.end()
        world.azure.control("POST", f"vms/{world.nodes[0]}/deallocate")
        world.azure.control("DELETE", f"vms/{world.nodes[0]}", None, 202)
        until(lambda: world.azure.control("GET", "summary")["vms"] == 2, "the VM is gone")
        world.azure.control("POST", "vms", {"name": world.nodes[0], "size": "Standard_D4s_v5", "zone": "1"}, 201)
        controller.start()
        until(lambda: world.azure.control("GET", "summary")["attachments"] == 1, "attached again")
        until(lambda: world.roles("pvc-1") == {"a": "Primary Attached"}, "and on record")
