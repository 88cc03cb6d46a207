"""The custom resources are a record, and no more: what is lost of it, or was written by the driver before this one, is
made good from what Kubernetes and Azure say. Nothing that is attached is detached, and nothing is made twice."""

from contextlib import contextmanager, nullcontext

import grpc
import pytest
from azsim import simulator
from cluster.waiting import until

from .azure_side import attach, detach, make_disk
from .calls import SHARED, create, delete, publish, refused, unpublish
from .driver_world import GROUP, Controller
from .kubernetes_side import forget, persistent_volume, unpublishing, volume_attachment

EVERYWHERE = {"a": "Primary Attached", "b": "Replica Attached", "c": "Replica Attached"}
VM_CHANGES = ("virtualMachines.attachDetachDataDisks", "virtualMachines.createOrUpdate", "virtualMachines.update")


@contextmanager
def in_use(world, controller):
    """A volume with two replicas that a pod uses on the first node, as Kubernetes has it too; its id."""
    volume = create(controller)
    publish(controller, volume.volume_id, world.nodes[0])
    until(lambda: world.roles("pvc-1") == EVERYWHERE, "three attachments")
    with persistent_volume(world, volume.volume_id, dict(volume.volume_context)) as pv:
        with volume_attachment(world, pv, world.nodes[0]):
            yield volume.volume_id


def primary(world, volume="pvc-1"):
    return world.find("azvolumeattachments", f"{volume}-{world.nodes[0]}-attachment")


def lun(world, volume="pvc-1") -> str:
    return primary(world, volume)["status"]["detail"]["publish_context"]["LUN"]


def untouched(world, after: int) -> bool:
    """No disk was made or deleted since, and no VM changed."""
    return not [e for kind in (*VM_CHANGES, "disks.createOrUpdate", "disks.delete") for e in world.calls(kind, after)]


# ---- lost ----

def test_all_custom_resources_of_a_published_volume_are_lost(world, controller):
    with in_use(world, controller) as volume:
        had = lun(world)
        controller.end()
        forget(world, "azvolumeattachments")
        forget(world, "azvolumes")
        before = world.last_call()
        controller.start()
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "everything is on record again")
        assert lun(world) == had, "at the LUN that the VM has it at"
        assert world.find("azvolumes", "pvc-1")["spec"]["maxMountReplicaCount"] == 2
        assert untouched(world, before)

        unpublish(controller, volume, world.nodes[0])
        publish(controller, volume, world.nodes[1])
        until(lambda: world.roles("pvc-1").get("b") == "Primary Attached", "and is promoted like any other")
        assert untouched(world, before)


def lose_primary(world, at_once: bool) -> None:
    name = primary(world)["metadata"]["name"]
    if at_once:
        world.patch("azvolumeattachments", name, {"metadata": {"finalizers": None}})
    world.delete("azvolumeattachments", name)


@pytest.mark.parametrize("at_once", [False, True], ids=["finalizer", "no-finalizer"])
def test_a_primary_whose_record_is_deleted_by_hand_stays_attached(world, controller, at_once):
    with in_use(world, controller):
        before, uid = world.last_call(), primary(world)["metadata"]["uid"]
        lose_primary(world, at_once)
        until(lambda: (primary(world) or {"metadata": {"uid": uid}})["metadata"]["uid"] != uid, "another one")
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "attached")
        assert untouched(world, before)


def test_an_attach_whose_record_is_deleted_by_hand_is_asked_for_again(world, controller):
    volume = create(controller, parameters={}).volume_id
    world.azure.control("PATCH", "latency", {"attach": "3s"})
    publish(controller, volume, world.nodes[0])
    lose_primary(world, False)
    until(lambda: not primary(world), "it goes, although nothing was detached")
    publish(controller, volume, world.nodes[0])
    until(lambda: world.roles("pvc-1") == {"a": "Primary Attached"}, "attached, in the end")


def test_what_a_lost_record_had_published_is_not_published_elsewhere(world):
    """While nobody leads who could write it again."""
    lease = ["--lease-duration=120s", "--lease-renew-deadline=100s"]
    with Controller(world, "leader", *lease) as leader, in_use(world, leader) as volume:
        with Controller(world, "follower", *lease) as follower:
            leader.pause()
            try:
                lose_primary(world, True)
                for _ in range(20):  # before and after the follower has heard of it
                    with refused("FAILED_PRECONDITION", world.nodes[0]):
                        publish(follower, volume, world.nodes[1])
            finally:
                leader.resume()
            until(lambda: world.roles("pvc-1") == EVERYWHERE, "it is on record again")


def test_what_is_being_unpublished_is_not_published_again(world, controller):
    volume = create(controller, parameters={})
    publish(controller, volume.volume_id, world.nodes[0])
    until(lambda: world.roles("pvc-1") == {"a": "Primary Attached"}, "attached")
    with persistent_volume(world, volume.volume_id, dict(volume.volume_context)) as pv:
        with volume_attachment(world, pv, world.nodes[0]) as attachment:
            unpublishing(world, attachment)
            unpublish(controller, volume.volume_id, world.nodes[0])
            before = world.last_call()
            world.core.patch_persistent_volume(pv, {"metadata": {"labels": {"looked": "at"}}})
            publish(controller, volume.volume_id, world.nodes[1])
            until(lambda: world.roles("pvc-1") == {"b": "Primary Attached"}, "only where it was published")
            assert world.attached("pvc-1", before) == ["b"]


def test_what_is_in_use_is_not_collected(world, controller):
    """Whoever looks at the custom resources alone finds replicas whose time is over."""
    with in_use(world, controller):
        controller.end()
        world.patch("azvolumes", "pvc-1", {"status": {"annotation": {
            f"{GROUP}/collect-after": "2025-02-11T09:14:07.000000Z"}}}, True)
        name = primary(world)["metadata"]["name"]
        world.patch("azvolumeattachments", name, {"metadata": {"finalizers": None}})
        world.delete("azvolumeattachments", name)
        before = world.last_call()
        controller.start()
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "the primary is on record again, the replicas still")
        until(lambda: f"{GROUP}/collect-after" not in world.find("azvolumes", "pvc-1")["status"].get("annotation", {}),
              "and their time is not over")
        assert untouched(world, before)


def test_a_record_that_stopped_halfway_makes_no_second_disk(world, controller):
    """An AzVolume without a status, in whose place a controller would make a disk."""
    with in_use(world, controller):
        controller.end()
        volume = world.find("azvolumes", "pvc-1")
        forget(world, "azvolumeattachments")
        forget(world, "azvolumes")
        world.create("azvolumes", {"metadata": {"name": "pvc-1"}, "spec": volume["spec"]})
        before = world.last_call()
        controller.start()
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "everything is on record again")
        assert untouched(world, before)


@pytest.mark.parametrize("at_once", [False, True], ids=["finalizer", "no-finalizer"])
def test_a_volume_whose_record_is_deleted_by_hand_stays_in_use(world, controller, at_once):
    """Whoever uses it notices nothing: it can be published elsewhere, and has its replicas."""
    with in_use(world, controller) as volume:
        before, uid = world.last_call(), world.find("azvolumes", "pvc-1")["metadata"]["uid"]
        if at_once:
            world.patch("azvolumes", "pvc-1", {"metadata": {"finalizers": None}})
        world.delete("azvolumes", "pvc-1")
        until(lambda: is_another(world.find("azvolumes", "pvc-1"), uid), "another AzVolume, of the same disk")
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "with its attachments")
        unpublish(controller, volume, world.nodes[0])
        publish(controller, volume, world.nodes[1])
        until(lambda: world.roles("pvc-1").get("b") == "Primary Attached", "and is promoted like any other")
        assert untouched(world, before)


def is_another(volume: dict | None, uid: str) -> bool:
    if not volume or volume["metadata"]["uid"] == uid:
        return False
    return "volume_id" in volume.get("status", {}).get("detail", {})


def lose(world) -> None:
    world.delete("azvolumes", "pvc-1")
    until(lambda: not world.find("azvolumes", "pvc-1"), "no AzVolume")


def disks(world) -> list[str]:
    return [disk["name"] for disk in world.azure.control("GET", "disks")["disks"]]


@pytest.mark.parametrize("known", [True, False], ids=["of-a-claim", "of-nobody"])
def test_a_disk_without_a_record_is_deleted_when_it_is_asked_for(world, controller, known):
    """Its AzVolume was deleted by hand, and its claim before the driver could write another one."""
    volume = create(controller).volume_id
    with persistent_volume(world, volume, {}) if known else nullcontext() as pv:
        if known:
            world.core.patch_persistent_volume_status(pv, {"status": {"phase": "Released"}})
        lose(world)
        assert disks(world) == ["pvc-1"], "nobody has asked for that"
        delete(controller, volume)
        assert disks(world) == []
        delete(controller, volume)
        assert not world.objects("azvolumes")


def test_a_disk_elsewhere_is_found_by_its_id(world, controller, azure_sdk):
    """Not by its name in the place where this driver makes disks."""
    ours = create(controller).volume_id
    other = make_disk(azure_sdk, "pvc-1", world.own_mark(), "elsewhere")
    lose(world)
    delete(controller, other)
    assert [disk["id"] for disk in world.azure.control("GET", "disks")["disks"]] == [ours]


def test_a_disk_of_the_same_name_is_not_mistaken_for_it(world, controller, azure_sdk):
    """It would be mounted instead of what was asked for, or deleted."""
    ours = create(controller).volume_id
    other = make_disk(azure_sdk, "pvc-1", world.own_mark(), "elsewhere")
    unpublish(controller, other, world.nodes[0])
    delete(controller, other)
    assert [disk["id"] for disk in world.azure.control("GET", "disks")["disks"]] == [ours]
    assert [volume["metadata"]["name"] for volume in world.objects("azvolumes")] == ["pvc-1"]


def test_a_foreign_disk_without_a_record_stays(world, controller, azure_sdk):
    unmarked = make_disk(azure_sdk, "data")
    by_hand = make_disk(azure_sdk, "marked", world.own_mark())
    with persistent_volume(world, by_hand, {}, False):
        until(lambda: world.objects("azvolumes"), "it is adopted")
        delete(controller, by_hand)
        delete(controller, unmarked)
    assert sorted(disks(world)) == ["data", "marked"]


def test_a_disk_without_a_record_that_is_attached_stays(world, controller, azure_sdk):
    """Somebody uses it, and no record says who."""
    volume = make_disk(azure_sdk, "pvc-1", world.own_mark())
    attach(azure_sdk, volume, world.nodes[0], 3)
    with refused("FAILED_PRECONDITION", "attached", world.nodes[0]):
        delete(controller, volume)
    assert disks(world) == ["pvc-1"]


# ---- of before another driver ----

@pytest.mark.parametrize("attached", [True, False], ids=["attached", "asked-for"])
def test_a_primary_that_another_driver_has_moved_is_none_any_more(world, controller, azure_sdk, attached):
    """Version 1 had the cluster for a while, knew nothing of the records, and detached the disk here; or the records are
    of a backup."""
    volume, (first, second, _) = create(controller), world.nodes
    publish(controller, volume.volume_id, first)
    until(lambda: world.roles("pvc-1") == EVERYWHERE, "three attachments")
    controller.end()
    if attached:
        detach(azure_sdk, volume.volume_id, first)
    with persistent_volume(world, otherwise_spelt(volume.volume_id), dict(volume.volume_context)) as pv:
        with volume_attachment(world, pv, second, attached):
            controller.start()
            if not attached:
                until(lambda: is_published(controller, volume.volume_id, second), "it is published")
            until(lambda: world.roles("pvc-1").get("b") == "Primary Attached", "where Kubernetes has it")
            until(lambda: world.roles("pvc-1").get("a") == "Replica Attached", "and not where it had it")


def otherwise_spelt(volume_id: str) -> str:
    """As another driver may have it: to Azure it is the same."""
    return volume_id.replace("/resourceGroups/", "/resourcegroups/")


def is_published(controller, volume: str, node: str) -> bool:
    """csi-attacher asks again, too."""
    try:
        publish(controller, volume, node)
    except grpc.RpcError as error:
        assert error.code() in (grpc.StatusCode.FAILED_PRECONDITION, grpc.StatusCode.ABORTED), error
        return False
    return True


@contextmanager
def mounted(world, node: str, volume_id: str):
    """By kubelet's word."""
    in_use = [f"kubernetes.io/csi/{world.driver}^{volume_id}"]
    world.core.patch_node_status(node, {"status": {"volumesInUse": in_use}})
    yield
    world.core.patch_node_status(node, {"status": {"volumesInUse": None}})


def test_a_primary_whose_node_has_it_mounted_stays(world, controller):
    """Whatever VolumeAttachments say: there would be two writers."""
    volume, (first, second, _) = create(controller), world.nodes
    publish(controller, volume.volume_id, first)
    until(lambda: world.roles("pvc-1") == EVERYWHERE, "three attachments")
    with persistent_volume(world, volume.volume_id, dict(volume.volume_context)) as pv, mounted(world, first, otherwise_spelt(volume.volume_id)):
        with volume_attachment(world, pv, second, False):
            with refused("FAILED_PRECONDITION", first):
                publish(controller, volume.volume_id, second)
            controller.end()
            controller.start()
            with refused("FAILED_PRECONDITION", first):
                publish(controller, volume.volume_id, second)
            assert world.roles("pvc-1")["a"] == "Primary Attached"


# ---- from upstream's driver, version 2 ----

STAMPS = {f"{GROUP}/apiversion": "v1beta2", f"{GROUP}/request-id": "8c5a1c1e-0d1f-4b8e-9a53-0b2d1f6a7e11",
          f"{GROUP}/request-starttime": "2025-02-11T09:14:07.123456789Z", f"{GROUP}/requester-name": "node-controller"}
RECOVERY = {f"{GROUP}/recovery": "0b6f6d58-6d0a-4a77-8c55-3ef5a3b0e2c4"}


# Refused of a new volume; this one's disk is there.
OF_UPSTREAM = {"perfProfile": "basic", "device-setting/queue/nr_requests": "64", "requestedsizegib": "4"}


def upstream_volume(world, volume) -> None:
    """As its azvolume-controller leaves it."""
    world.create("azvolumes", {
        "metadata": {"name": "pvc-1", "finalizers": [f"{GROUP}/azvolume-finalizer"], "annotations": STAMPS,
                     "labels": {f"{GROUP}/pv": "", f"{GROUP}/pvc": "", f"{GROUP}/pvc-namespace": ""}},
        "spec": {"volumeName": "pvc-1", "maxMountReplicaCount": 2, "parameters": SHARED | OF_UPSTREAM,
                 "volumeCapability": [{"access_type": 1, "access_mode": 1, "fs_type": ""}],
                 "capacityRange": {"required_bytes": volume["detail"]["capacity_bytes"]}}})
    detail = volume["detail"] | {"node_expansion_required": False}
    world.patch("azvolumes", "pvc-1", {"status": {"state": "Updated", "detail": detail, "annotation": RECOVERY}}, True)


def upstream_attachment(world, node: str, role: str, request: str, **status) -> None:
    name = f"pvc-1-{node}-attachment"
    labels = {f"{GROUP}/node-name": node, f"{GROUP}/volume-name": "pvc-1", f"{GROUP}/requested-role": role}
    world.create("azvolumeattachments", {
        "metadata": {"name": name, "finalizers": [f"{GROUP}/azvolumeattachment-finalizer"], "labels": labels,
                     "annotations": STAMPS | {f"{GROUP}/volume-attach-request": request}},
        "spec": {"volumeName": "pvc-1", "volume_id": simulator.disk_id("pvc-1"), "nodeName": node, "role": role,
                 "volume_context": SHARED | {"requestedsizegib": "4"}}})
    world.patch("azvolumeattachments", name, {"status": status}, True)


def test_custom_resources_of_upstreams_driver_are_taken_over(world, controller):
    """Its publish context has only the LUN; one replica's attach had failed, the other's detach had been asked for,
    and so had been the primary's, by a controller that did not live to do it."""
    with in_use(world, controller) as volume:
        luns = {node: world.find("azvolumeattachments", f"pvc-1-{node}-attachment")["status"]["detail"][
            "publish_context"]["LUN"] for node in world.nodes}
        controller.end()
        status = world.find("azvolumes", "pvc-1")["status"]
        forget(world, "azvolumeattachments")
        forget(world, "azvolumes")
        upstream_volume(world, status)
        first, second, third = world.nodes
        request = {f"{GROUP}/volume-detach-request": "node-controller"}
        upstream_attachment(
            world, first, "Primary", "crdProvisioner", state="Attached", annotation=RECOVERY | request,
            detail={"role": "Primary", "publish_context": {"LUN": luns[first]}})
        upstream_attachment(
            world, second, "Replica", "controller", state="AttachmentFailed",
            error={"code": "DEADLINE_EXCEEDED", "message": "context deadline exceeded"},
            annotation={f"{GROUP}/replica-volume-attach-retry": "true",
                        f"{GROUP}/replica-volume-attach-retry-count": "1"})
        upstream_attachment(
            world, third, "Replica", "CRI recovery", state="ForceDetachPending", annotation=RECOVERY,
            detail={"role": "Replica", "previous_role": "Primary", "publish_context": {"LUN": luns[third]}})
        before = world.last_call()
        controller.start()
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "all are attached, on record too")
        until(lambda: f"{GROUP}/volume-detach-request" not in primary(world)["status"]["annotation"],
              "what nobody asks for any more is forgotten")
        until(lambda: primary(world)["status"]["detail"]["publish_context"] == {
            "LUN": luns[first], "diskSizeBytes": str(status["detail"]["capacity_bytes"])},
              "and the node learns the size, in a write of its own")
        assert "error" not in world.find("azvolumeattachments", f"pvc-1-{second}-attachment")["status"]
        assert untouched(world, before)

        unpublish(controller, volume, first)
        publish(controller, volume, third)
        until(lambda: world.roles("pvc-1").get("c") == "Primary Attached", "promoted")
        assert untouched(world, before)

        world.delete("azvolumeattachments", f"pvc-1-{second}-attachment")
        until(lambda: not untouched(world, before), "the replica is detached")
        until(lambda: world.roles("pvc-1").get("b") == "Replica Attached", "and attached anew")


# ---- from version 1 ----

V1_ATTRIBUTES = {"csi.storage.k8s.io/pv/name": "pv", "csi.storage.k8s.io/pvc/name": "claim", "kind": "managed",
                 "csi.storage.k8s.io/pvc/namespace": "default", "requestedsizegib": "4", "skuName": "Premium_LRS",
                 "storage.kubernetes.io/csiProvisionerIdentity": "1700000000000-8081-disk.csi.azure.com"}


def attach_by_hand(world, azure_sdk, name: str, at: int) -> str:
    """A disk on the first node's VM, as version 1 of the driver would have left it; its id."""
    id_ = make_disk(azure_sdk, name)
    attach(azure_sdk, id_, world.nodes[0], at)
    return id_


@pytest.mark.parametrize("provisioned", [True, False], ids=["provisioned", "static"])
def test_a_volume_of_version_1_is_adopted_under_its_pod(world, azure_sdk, provisioned):
    volume = attach_by_hand(world, azure_sdk, "pvc-Old_1" if not provisioned else "pvc-old", 3)
    with persistent_volume(world, volume, V1_ATTRIBUTES, provisioned) as pv:
        with Controller(world) as controller:
            before = world.last_call()
            with volume_attachment(world, pv, world.nodes[0]) as attachment:
                name = until(lambda: world.objects("azvolumes"), "an AzVolume")[0]["metadata"]["name"]
                until(lambda: world.roles(name) == {"a": "Primary Attached"}, "the pod's node has it")
                assert lun(world, name) == "3"
                assert untouched(world, before)
                unpublishing(world, attachment)
                unpublish(controller, volume, world.nodes[0])
                assert world.azure.control("GET", "summary")["attachments"] == 0

            world.core.patch_persistent_volume_status(pv, {"status": {"phase": "Released"}})
            delete(controller, volume)
            left = [d["name"] for d in world.azure.control("GET", "disks")["disks"]]
            assert left == ([] if provisioned else ["pvc-Old_1"]), "who made it deletes it"
            assert not world.objects("azvolumes")


def test_a_volume_of_version_1_is_unpublished_before_it_is_adopted(world, azure_sdk):
    """Its pod and its claim went while no driver ran: the disk must not stay on the node."""
    volume, node = attach_by_hand(world, azure_sdk, "pvc-old", 3), world.nodes[0]
    with persistent_volume(world, volume, V1_ATTRIBUTES) as pv, volume_attachment(world, pv, node) as attachment:
        unpublishing(world, attachment)
        world.core.patch_persistent_volume_status(pv, {"status": {"phase": "Released"}})
        with Controller(world) as controller:
            until(lambda: is_unpublished(controller, volume, node), "it is unpublished")
            assert world.azure.control("GET", "summary")["attachments"] == 0
            assert world.attached("pvc-old", 0) == ["a"], "by hand, and not again"


def is_unpublished(controller, volume: str, node: str) -> bool:
    try:
        unpublish(controller, volume, node)
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.UNAVAILABLE, error
        return False
    return True


@pytest.mark.parametrize("disk_by_hand, provisioned", [(False, True), (False, False), (True, False)])
def test_a_record_that_has_lost_its_status(world, controller, azure_sdk, disk_by_hand, provisioned):
    """As one from a backup: who restores an object does not restore its status."""
    volume = make_disk(azure_sdk, "kept") if disk_by_hand else create(controller, name="kept", parameters={}).volume_id
    with persistent_volume(world, volume, {}, provisioned=provisioned):
        publish(controller, volume, world.nodes[0])
        until(lambda: world.roles("kept") == {"a": "Primary Attached"}, "the primary")
        unpublish(controller, volume, world.nodes[0])
        until(lambda: world.roles("kept") == {}, "it is detached")
        world.patch("azvolumes", "kept", {"status": None}, status=True)
        until(lambda: is_published(controller, volume, world.nodes[1]), "it is published")
        until(lambda: world.roles("kept") == {"b": "Primary Attached"}, "the same disk, on another node")
        assert [d["name"] for d in world.azure.control("GET", "disks")["disks"]] == ["kept"]
