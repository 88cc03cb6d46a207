"""azdiskctl against a real API server and a simulated Azure: what it shows of a cluster in order, and of one in which
somebody has put things wrong by hand."""

import json
import time

import pytest
import yaml
from azsim import simulator
from chart.chart import render
from cluster.waiting import until
from kubernetes import client

from .azdiskctl import Azdiskctl
from .calls import create, publish
from .driver_world import GROUP, Controller, World
from .kubernetes_side import persistent_volume, volume_attachment
from .test_failover import pod

EVERYWHERE = {"a": "Primary Attached", "b": "Replica Attached", "c": "Replica Attached"}


@pytest.fixture
def world(tmp_path, apiserver):
    with World(tmp_path, apiserver, attach="100ms", detach="50ms", create="50ms", delete="50ms", get="0s") as world:
        yield world


@pytest.fixture
def in_use(world):
    """The PersistentVolume and VolumeAttachment of pvc-1, which a pod uses on the first node. The controller that made
    it has ended, so that nobody puts anything right."""
    with Controller(world) as controller:
        volume = create(controller)
        publish(controller, volume.volume_id, world.nodes[0])
        until(lambda: world.roles("pvc-1") == EVERYWHERE, "three attachments")
    with persistent_volume(world, volume.volume_id, dict(volume.volume_context)) as pv:
        with volume_attachment(world, pv, world.nodes[0]) as attachment:
            yield pv, attachment


def attachment(world, node: int, volume="pvc-1") -> str:
    return f"{volume}-{world.nodes[node]}-attachment"


# ---- in order ----

def test_a_cluster_in_order(world, in_use):
    found = Azdiskctl(world, azure=True).ask("check")
    assert found == {"findings": [], "differences": [], "azure": True, "machines": 3, "disks": 1, "snapshots": 0}
    assert "not compared: Azure (use --cloud-config)" in Azdiskctl(world).run("check")


def test_map(world, in_use):
    azdiskctl = Azdiskctl(world)
    volume = azdiskctl.ask("map")["volumes"][0]
    assert (volume["name"], volume["zone"], volume["maxShares"]) == ("pvc-1", "eastus-1", 3)
    assert volume["claim"] == f"{world.namespace}/claim"
    places = [(a["node"], a["role"], a["stage"]) for a in volume["attachments"]]
    a, b, c = world.nodes[:3]
    assert places == [(a, "Primary", "attached"), (b, "Replica", "attached"), (c, "Replica", "attached")]
    assert yaml.safe_load(azdiskctl.run("map", "-o", "yaml")) == azdiskctl.ask("map")
    text = azdiskctl.run("map")
    assert f"P {a}:0, R {b}:0, R {c}:0" in text
    assert [line.split()[0] for line in text.partition("\n\n")[2].splitlines()] == ["NODE", *world.nodes[:3]]


def test_why(world, in_use):
    azdiskctl, (pv, _) = Azdiskctl(world, azure=True), in_use
    answer = azdiskctl.ask("why", f"pv/{pv}")["answers"][0]
    assert answer["stage"] == "being mounted", "there is no kubelet"
    says = {step["kind"]: step["says"] for step in answer["steps"]}
    assert says["AzVolumeAttachment"] == "Primary, attached, LUN 0"
    assert says["VM"] == "settled, 1 of 8 disk slots taken"
    assert "Stage:  being mounted\nCause:  kubelet on node" in azdiskctl.run("why", f"pv/{pv}")
    assert azdiskctl.ask("why", f"node/{world.nodes[1]}")["answers"][0]["stage"] == "in order"
    assert "pv nobody does not exist" in azdiskctl.run("why", "pv/nobody", status=2)
    assert "is not of the form KIND/NAME" in azdiskctl.run("why", "pvc-1", status=2)


def deployment(world, **arguments: str) -> dict:
    """The controller's, as the chart makes it."""
    [made] = [d for d in render({f"controller.{name}": value for name, value in arguments.items()}, world.namespace)
              if d["kind"] == "Deployment" and d["metadata"]["name"] == "csi-azuredisk-controller"]
    return made


def test_why_goes_by_the_clusters_own_heartbeat_limit(world, in_use):
    node, apps = world.nodes[1], client.AppsV1Api(world.client)
    world.patch("azdrivernodes", node, {"status": {"lastHeartbeatTime": time.strftime(
        "%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 300))}}, status=True)

    def stage() -> str:
        return Azdiskctl(world).ask("why", f"node/{node}")["answers"][0]["stage"]

    assert stage() == "node plug-in does not answer", "after the default of 2 minutes"
    made = apps.create_namespaced_deployment(world.namespace, deployment(world, heartbeatLimit="10m"))
    try:
        assert stage() == "in order"
    finally:
        apps.delete_namespaced_deployment(made.metadata.name, world.namespace)


def test_timeline(world, in_use):
    moments = Azdiskctl(world).ask("timeline", "pvc-1")
    assert [m["time"] for m in moments] == sorted(m["time"] for m in moments)
    told = {(m["object"], m["reason"]) for m in moments}
    assert {("AzVolume/pvc-1", "Created"), (f"PersistentVolume/{in_use[0]}", "Created"),
            (f"AzVolumeAttachment/{attachment(world, 1)}", "Created"),
            (f"AzVolumeAttachment/{attachment(world, 0)}", "Now")} <= told
    assert "neither a PersistentVolume nor an AzVolume" in Azdiskctl(world).run("timeline", "nobody", status=2)


def test_uninstall_check(world, in_use):
    pv, _ = in_use
    azdiskctl = Azdiskctl(world)
    assert f"{world.namespace}/claim" in azdiskctl.run("uninstall-check", status=1)
    found = azdiskctl.ask("uninstall-check", status=1)
    assert {"volume": pv, "claim": f"{world.namespace}/claim", "node": world.nodes[0]} in found["published"]
    none = azdiskctl.ask("uninstall-check", "--driver-name=nobodys.example")
    assert none == {"driverName": "nobodys.example", "published": [], "persistentVolumes": 0}
    output, errors = azdiskctl.outputs("uninstall-check", "--driver-name=nobodys.example")
    assert output == "No volume of driver nobodys.example is published: it may be uninstalled.\n"
    assert "no volume of driver nobodys.example in this cluster (see --driver-name and --context)" in errors


def test_get(world, in_use):
    azdiskctl, (a, b, c) = Azdiskctl(world), world.nodes[:3]
    world.patch("azvolumes", "pvc-1", {"status": {"primaryNode": a, "readyReplicas": 2}}, status=True)
    [[*row, _]] = rows(azdiskctl.run("get", "volumes", "-n", world.namespace))
    assert row == ["pvc-1", f"{world.namespace}/claim", "4Gi", a, "2/2", "Created"]
    assert rows(azdiskctl.run("get", "volumes", "-n", "default")) == []
    output, errors = azdiskctl.outputs("get", "volumes", "--object-namespace=default")
    assert rows(output) == [] and "driver in namespace default (see --object-namespace)" in errors
    attachments = rows(azdiskctl.run("get", "azva", "-o", "wide"))
    assert [(node, role, lun, ready) for _, node, role, _, lun, ready, *_ in attachments] == [
        (a, "Primary", "0", "yes"), (b, "Replica", "0", "yes"), (c, "Replica", "0", "yes")]
    assert azdiskctl.run("get", "replicas", "-o", "name").splitlines() == [
        f"azvolumeattachment.{GROUP}/{attachment(world, node)}" for node in (1, 2)]
    for form in ("-oname", "-o=name", "-output=name", "--output=name"):
        assert azdiskctl.run("get", form, "azv", f"-n{world.namespace}") == f"azvolume.{GROUP}/pvc-1\n"
    nodes = yaml.safe_load(azdiskctl.run("get", "nodes", "-o", "yaml"))["items"]
    assert [(n["name"], n["places"], n["primaries"], n["replicas"], n["state"]) for n in nodes] == [
        (a, 8, 1, 0, "Ready"), (b, 8, 0, 1, "Ready"), (c, 8, 0, 1, "Ready")]
    output, errors = azdiskctl.outputs("get", "volume", "nobody", "pvc-1", "x", status=1)
    assert [row[0] for row in rows(output)] == ["pvc-1"]
    assert errors.splitlines()[-2:] == [f'azdiskctl: volumes: there is no "{name}"' for name in ("nobody", "x")]
    assert '"pods" is none of the kinds' in azdiskctl.run("get", "pods", status=2)
    assert "missing KIND" in azdiskctl.run("get", status=2)


def test_get_what_is_of_a_node_a_zone_or_a_pod(world, in_use):
    azdiskctl, (a, b, _) = Azdiskctl(world), world.nodes[:3]
    pod(world, "database", a, "claim")
    own = f"-n{world.namespace}"
    assert azdiskctl.run("get", "volumes", own, "--pod=database", "-oname") == f"azvolume.{GROUP}/pvc-1\n"
    assert [row[0] for row in rows(azdiskctl.run("get", "nodes", own, "--pod", "database"))] == world.nodes[:3]
    assert [row[1] for row in rows(azdiskctl.run("get", "azva", f"--node={b}", "--zone=eastus-1"))] == [b]
    assert f"--pod: there is no pod nobody in namespace {world.namespace}" in azdiskctl.run(
        "get", "volumes", own, "--pod=nobody", status=2)
    assert "--zone" in azdiskctl.run("describe", "volumes", "--zone=eastus-1", status=2)


def test_describe(world, in_use):
    azdiskctl, (pv, _), node = Azdiskctl(world), in_use, world.nodes[0]
    events = client.EventsV1Api(world.client)
    name = f"described-{node}"
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
    events.create_namespaced_event(world.namespace, {
        "metadata": {"name": name}, "eventTime": now, "type": "Warning", "reason": "Slow", "action": "Test",
        "note": "Azure \x1b[31mhas not\nanswered", "reportingController": "test", "reportingInstance": "test",
        "regarding": {"apiVersion": f"{GROUP}/v1beta2", "kind": "AzVolume", "name": "pvc-1", "namespace": world.namespace}})
    try:
        text = azdiskctl.run("describe", "azvolume/pvc-1")
    finally:
        client.CoreV1Api(world.client).delete_namespaced_event(name, world.namespace)
    lines = [line.split() for line in text.splitlines()]
    for words in (["Name:", "pvc-1"], ["Kind:", "AzVolume"], ["Claim:", f"{world.namespace}/claim"], ["PV:", pv],
                  ["maxShares:", "3"], ["Volume", "Id:", simulator.disk_id("pvc-1")]):
        assert words in lines, text
    assert [line[:3] for line in lines].count(["pvc-1", node, "Primary"]) == 1
    [event] = [line for line in lines if line[:2] == ["Warning", "Slow"]]
    assert event[3:] == ["test", "Azure", "\\x1b[31mhas", "not\\nanswered"]
    [item] = yaml.safe_load(azdiskctl.run("describe", "azva", attachment(world, 1), "-o", "yaml"))["items"]
    assert item["spec"]["nodeName"] == item["nodes"][0]["name"] == world.nodes[1]
    assert item["volumes"][0]["name"] == item["facts"]["volume"] == "pvc-1"
    assert "Ready For Volume Allocation:" in azdiskctl.run("describe", "node", node)
    assert 'nodes: there is no "nobody"' in azdiskctl.outputs("describe", "node/nobody", status=1)[1]
    assert "describe: --output wide is not for this command" in azdiskctl.run("describe", "azv", "-o", "wide", status=2)


def rows(table: str) -> list[list[str]]:
    """Without its head."""
    return [line.split() for line in table.splitlines()[1:]]


def test_what_it_cannot_do(world):
    azdiskctl = Azdiskctl(world)
    assert "unknown command" in azdiskctl.run("mop", status=2)
    assert "missing command" in azdiskctl.run(status=2)
    assert "more than 1024 words" in azdiskctl.run("get", *["x"] * 1024, status=2)
    assert "missing KIND/NAME" in azdiskctl.run("why", status=2)
    assert "unexpected argument \"x\"" in azdiskctl.run("map", "x", status=2)
    assert "unexpected argument \"x\"" in azdiskctl.run("why", "pv/a", "x", status=2)
    for form in (["-o", "toml"], ["-otoml"], ["-o="], ["-o"]):
        assert "--output" in azdiskctl.run("map", *form, status=2)
    assert "map: --output wide is not for this command, which has text, json, yaml" in azdiskctl.run(
        "map", "-o", "wide", status=2)
    assert "check" in azdiskctl.run("--help")


# ---- put wrong by hand ----

def two_primaries(world, azure_sdk):
    world.patch("azvolumeattachments", attachment(world, 1), {"spec": {"role": "Primary"}})
    world.patch("azvolumeattachments", attachment(world, 1), {"status": {"detail": {"role": "Primary"}}}, status=True)


def another_lun(world, azure_sdk):
    status = {"status": {"detail": {"publish_context": {"LUN": "9"}}}}
    world.patch("azvolumeattachments", attachment(world, 0), status, status=True)


def detached_behind_its_back(world, azure_sdk):
    detach = {"dataDisksToDetach": [{"diskId": simulator.disk_id("pvc-1")}]}
    azure_sdk.virtual_machines.begin_attach_detach_data_disks(
        "rg", world.nodes[2], detach, polling_interval=0.1).result()


def make_disk(azure_sdk, name: str, tags: dict | None = None) -> str:
    disk = {"location": "eastus", "zones": ["1"], "sku": {"name": "Premium_LRS"}, "tags": tags,
            "properties": {"diskSizeGB": 4, "maxShares": 2, "creationData": {"createOption": "Empty"}}}
    return azure_sdk.disks.begin_create_or_update("rg", name, disk, polling_interval=0.1).result().id


def attach(azure_sdk, vm: str, disk: str, lun: int) -> None:
    azure_sdk.virtual_machines.begin_attach_detach_data_disks(
        "rg", vm, {"dataDisksToAttach": [{"diskId": disk, "lun": lun}]}, polling_interval=0.1).result()


def record(world, azure_sdk, name: str) -> str:
    """A disk and its AzVolume, as one that was there before the driver, whether a controller runs or not; its id."""
    id_ = make_disk(azure_sdk, name)
    before = {"disk.csi.azure.com/pre-provisioned": id_}
    world.create("azvolumes", {"metadata": {"name": name, "annotations": before}, "spec": {
        "volumeName": name, "maxMountReplicaCount": 0, "parameters": {"maxShares": "2", "skuName": "Premium_LRS"},
        "volumeCapability": [{"access_type": 1, "access_mode": 1}]}})
    detail = {"volume_id": id_, "capacity_bytes": 4 << 30, "node_expansion_required": False}
    status = {"state": "Created", "detail": detail, "annotation": before}
    world.patch("azvolumes", name, {"status": status}, status=True)
    return id_


def a_disk_of_ours_on_a_vm(world, azure_sdk):
    attach(azure_sdk, world.nodes[1], record(world, azure_sdk, "pvc-2"), 7)


def a_disk_of_others_on_a_vm(world, azure_sdk):
    attach(azure_sdk, world.nodes[1], make_disk(azure_sdk, "theirs"), 6)


def a_volume_whose_disk_is_gone(world, azure_sdk):
    record(world, azure_sdk, "pvc-3")
    azure_sdk.disks.begin_delete("rg", "pvc-3", polling_interval=0.1).result()


def a_disk_that_nobody_wants(world, azure_sdk):
    make_disk(azure_sdk, "stray", world.own_mark())
    make_disk(azure_sdk, "another-clusters", {**world.own_mark(), "k8s-azure-created-by-cluster": "x"})


def a_disk_of_an_earlier_version(world, azure_sdk):
    make_disk(azure_sdk, "older", {"k8s-azure-created-by": "kubernetes-azure-dd"})


def an_attachment_of_nothing(world, azure_sdk):
    world.create("azvolumeattachments", {"metadata": {"name": "nothing"}, "spec": {
        "volumeName": "nobody", "volume_id": simulator.disk_id("nobody"), "nodeName": world.nodes[0],
        "role": "Replica"}})


def attached_to_a_stranger(world, azure_sdk):
    """A VM that is no node."""
    world.azure.control("POST", "vms", {"name": "stranger", "size": "Standard_D4s_v5", "zone": "1"}, expect=201)
    attach(azure_sdk, "stranger", record(world, azure_sdk, "pvc-4"), 0)


def is_used_on(world, node: str) -> None:
    used = f"kubernetes.io/csi/{GROUP}^{simulator.disk_id('pvc-1')}"
    world.core.patch_node_status(node, {"status": {"volumesInUse": [used]}})


def a_replica_that_kubelet_uses(world, azure_sdk):
    is_used_on(world, world.nodes[2])


def too_many_shares(world, azure_sdk):
    world.patch("azvolumes", "pvc-1", {"spec": {"parameters": {"maxShares": "2"}}})


WRONG = {  # what is done, and what check then finds
    two_primaries: "TwoPrimaries AzVolume/pvc-1",
    another_lun: "LunDiffers AzVolumeAttachment/pvc-1-A-attachment",
    detached_behind_its_back: "DiskNotAttached AzVolumeAttachment/pvc-1-C-attachment",
    a_disk_of_ours_on_a_vm: "AttachedWithoutRecord AzVolume/pvc-2",
    a_disk_of_others_on_a_vm: "ForeignDisk Node/B",
    a_volume_whose_disk_is_gone: "VolumeWithoutDisk AzVolume/pvc-3",
    a_disk_that_nobody_wants: f"DiskWithoutVolume {simulator.disk_id('stray')}",
    a_disk_of_an_earlier_version: f"DiskWithoutVolume {simulator.disk_id('older')}",
    an_attachment_of_nothing: "AttachmentWithoutVolume AzVolumeAttachment/nothing",
    attached_to_a_stranger: "AttachedOutside AzVolume/pvc-4",
    a_replica_that_kubelet_uses: "ReplicaInUse AzVolumeAttachment/pvc-1-C-attachment",
    too_many_shares: "SharesExceeded AzVolume/pvc-1",
}


def spelt(world, found: str) -> str:
    """With the nodes' letters for their names, which are this run's own."""
    for letter, name in zip("ABC", world.nodes):
        found = found.replace(name, letter)
    return found


def findings(world, member="findings", **flags) -> set[str]:
    found = json.loads(Azdiskctl(world, **flags).run("check", "-o", "json", status=1))[member]
    return {spelt(world, f"{f['kind']} {f['subject']}") for f in found}


def test_check_names_what_was_put_wrong_by_hand(world, in_use, azure_sdk):
    for put_wrong in WRONG:
        put_wrong(world, azure_sdk)
    # The second primary is not published either, which two_primaries cannot help.
    not_published = "PrimaryNotPublished AzVolumeAttachment/pvc-1-B-attachment"
    expected = {*WRONG.values(), not_published}
    assert findings(world, azure=True) == expected
    assert findings(world) == {e for e in expected if e.split()[0] in (
        "TwoPrimaries", "AttachmentWithoutVolume", "ReplicaInUse", "SharesExceeded", "PrimaryNotPublished")}
    former = expected - {not_published} | {not_published.replace("NotPublished", "WithoutPublication")}
    assert findings(world, "differences", azure=True) == former
    text = Azdiskctl(world, azure=True).run("check", "--prices=P1_LRS=0.6", status=1)
    assert f"DiskWithoutVolume {simulator.disk_id('stray')}\n  seen:   Premium_LRS, 4 GiB, attached to 0 VMs\n" in text
    assert "  price:  P1_LRS: 0.60 per month\n" in text and "disks without a volume: 1.20 per month for 2\n" in text
    assert "attached to 0 VMs; it may belong to another cluster" in text
    assert "--prices needs --cloud-config" in Azdiskctl(world).run("check", "--prices=P1_LRS=0.6", status=2)
    assert '"P1_LRS" is not of the form' in Azdiskctl(world, azure=True).run("check", "--prices=P1_LRS", status=2)
    text = Azdiskctl(world).run("check", status=1)
    assert "danger: TwoPrimaries AzVolume/pvc-1\n" in text and "  to do:  Immediately stop the pod" in text


def test_a_note_is_no_failure(world, in_use, azure_sdk):
    a_disk_of_others_on_a_vm(world, azure_sdk)
    assert [d["kind"] for d in Azdiskctl(world, azure=True).ask("check")["findings"]] == ["ForeignDisk"]


def test_an_owner_that_is_gone(world, azure_sdk):
    attached_to_a_stranger(world, azure_sdk)
    world.azure.control("PATCH", "latency", {"orphan": "1h"})
    world.azure.control("DELETE", "vms/stranger", expect=202)
    until(lambda: "stranger" not in [vm["name"] for vm in world.azure.control("GET", "vms")["vms"]], "it is gone")
    assert findings(world, azure=True) == {"OwnerGone AzVolume/pvc-4"}


def test_a_resource_group_that_may_not_be_listed(world, in_use, azure_sdk):
    """Another one, which is gone with a volume's disk, is compared nevertheless."""
    gone = record(world, azure_sdk, "pvc-5").replace("/resourceGroups/rg/", "/resourceGroups/gone/")
    world.patch("azvolumes", "pvc-5", {"status": {"detail": {"volume_id": gone}}}, status=True)
    own, _, _ = simulator.disk_id("any").partition("/providers/")
    world.azure.fault("refuse", kind="disks.listByResourceGroup", code="AuthorizationFailed")
    assert findings(world, azure=True) == {f"DisksNotListed {own}", "VolumeWithoutDisk AzVolume/pvc-5"}


def test_published_without_a_primary(world, in_use):
    world.patch("azvolumeattachments", attachment(world, 0), {"spec": {"role": "Replica"}})
    assert findings(world) == {f"PublishedWithoutPrimary VolumeAttachment/{spelt(world, in_use[1])}"}
