"""Microsoft's Python SDK with scale sets, snapshots and power, over verified TLS."""

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from cluster.waiting import until

from .conftest import compute_client
from .simulator import GROUP, LOCATION, Azsim, describe, disk_id

SIZE = {"size": "Standard_D4s_v5", "zone": "1"}
VMS = [
    {"name": "vm1", **SIZE}, {"name": "vm2", **SIZE},
    {"name": "flex-a", "scaleSet": "flex", **SIZE},
    *({"name": f"pool00000{i}", "scaleSet": "pool", "instanceId": str(i), **SIZE}
      for i in range(4)),
]


@pytest.fixture(scope="module")
def azsim(tmp_path_factory):
    """It attaches for longer than the 200 ms in which a shared disk is refused to a second VM."""
    with Azsim(tmp_path_factory.mktemp("azsim"), describe(VMS), "--throttling=off", "--page-size=3",
               "--latency=get=0,accept=0,token=0,create=0,update=0,delete=0,snapshot=0,power=100ms",
               "--latency=attach=250ms,detach=100ms,orphan=0") as azsim:
        yield azsim


@pytest.fixture(scope="module")
def compute(azsim):
    with compute_client(azsim) as client:
        yield client


@pytest.fixture
def disk(compute):
    """A disk that two VMs may have; gone afterwards."""
    yield make_disk(compute, "d", maxShares=2)
    compute.disks.begin_delete(GROUP, "d").result()


def make_disk(compute, name, source=None, sku="Premium_LRS", **properties):
    creation = {"createOption": "Copy", "sourceResourceId": source} if source else {
        "createOption": "Empty"}
    properties = {"creationData": creation} | ({} if source else {"diskSizeGB": 10}) | properties
    return compute.disks.begin_create_or_update(GROUP, name, {
        "location": LOCATION, "zones": ["1"], "sku": {"name": sku},
        "properties": properties}).result()


def make_snapshot(compute, name, source, location=LOCATION, option="Copy", **properties):
    return compute.snapshots.begin_create_or_update(GROUP, name, {
        "location": location, "properties": {
            "incremental": True,
            "creationData": {"createOption": option, "sourceResourceId": source}, **properties}})


def attach(compute, instance):
    return compute.virtual_machine_scale_set_vms.begin_attach_detach_data_disks(
        GROUP, "pool", instance, {"dataDisksToAttach": [{"diskId": disk_id("d")}]}).result()


def detach(compute, instance):
    return compute.virtual_machine_scale_set_vms.begin_attach_detach_data_disks(
        GROUP, "pool", instance, {"dataDisksToDetach": [{"diskId": disk_id("d")}]}).result()


def refusal(operation) -> HttpResponseError:
    with pytest.raises(HttpResponseError) as caught:
        operation()
    return caught.value


def test_a_shared_disk_on_a_vm_and_an_instance(compute, disk):
    assert [d.lun for d in attach(compute, "0").data_disks] == [0]
    compute.virtual_machines.begin_attach_detach_data_disks(
        GROUP, "vm1", {"dataDisksToAttach": [{"diskId": disk.id}]}).result()
    error = refusal(lambda: attach(compute, "1"))
    assert (error.status_code, error.error.code) == (409, "ConflictingUserInput")
    shares = [share.vm_uri for share in compute.disks.get(GROUP, "d").share_info]
    assert [uri.rsplit("/", 3)[1:] for uri in shares] == [
        ["pool", "virtualMachines", "0"], ["Microsoft.Compute", "virtualMachines", "vm1"]]
    compute.virtual_machines.begin_attach_detach_data_disks(
        GROUP, "vm1", {"dataDisksToDetach": [{"diskId": disk.id}]}).result()
    assert detach(compute, "0").data_disks == []


def test_an_instances_model_and_its_etag(compute, disk):
    instances = compute.virtual_machine_scale_set_vms
    before = instances.get(GROUP, "pool", "2", expand="instanceView")
    assert before.instance_view.statuses[1].code == "PowerState/running"
    entry = {"lun": 7, "createOption": "Attach", "managedDisk": {"id": disk.id}}
    change = {"properties": {"storageProfile": {"dataDisks": [entry]}}}
    after = instances.begin_update(GROUP, "pool", "2", change, etag=before.etag,
                                   match_condition=MatchConditions.IfNotModified).result()
    assert [d.lun for d in after.storage_profile.data_disks] == [7]
    assert after.etag != before.etag
    error = refusal(lambda: instances.begin_update(
        GROUP, "pool", "2", change, etag=before.etag,
        match_condition=MatchConditions.IfNotModified))
    assert (error.status_code, error.error.code) == (412, "PreconditionFailed")
    entry["toBeDetached"] = True
    assert not instances.begin_update(
        GROUP, "pool", "2", change).result().storage_profile.data_disks


def test_scale_sets_and_their_vms_in_lists(compute):
    assert [s.name for s in compute.virtual_machine_scale_sets.list(GROUP)] == ["flex", "pool"]
    assert compute.virtual_machine_scale_sets.get(GROUP, "pool").sku.capacity == 4
    pages = compute.virtual_machine_scale_set_vms.list(GROUP, "pool").by_page()
    assert [[vm.instance_id for vm in page] for page in pages] == [["0", "1", "2"], ["3"]]
    assert [vm.name for vm in compute.virtual_machines.list(GROUP)] == ["vm1", "vm2", "flex-a"]
    flexible = compute.virtual_machine_scale_sets.get(GROUP, "flex")
    found = compute.virtual_machines.list_all(
        filter=f"'virtualMachineScaleSet/id' eq '{flexible.id}'")
    assert [vm.name for vm in found] == ["flex-a"]


def test_what_is_no_instance(compute):
    for instance, target in (("9", "instanceIds"), ("vm1", "instanceId")):
        error = refusal(lambda: compute.virtual_machine_scale_set_vms.get(GROUP, "pool", instance))
        assert (error.status_code, error.error.code, error.error.target) == (
            400, "InvalidParameter", target)
    with pytest.raises(ResourceNotFoundError, match="ParentResourceNotFound"):
        compute.virtual_machine_scale_set_vms.begin_update(GROUP, "none", "0", {})


def test_snapshot_and_restore(compute, disk):
    snapshot = make_snapshot(compute, "s", disk.id).result()
    assert (snapshot.disk_size_gb, snapshot.incremental, snapshot.completion_percent) == (
        10, True, 100)
    assert snapshot.creation_data.source_unique_id == disk.unique_id
    assert snapshot.snapshot_access_state == "Available"
    error = refusal(lambda: make_disk(compute, "r", snapshot.id, diskSizeGB=9))
    assert (error.status_code, error.error.code) == (400, "InvalidParameter")
    restored = make_disk(compute, "r", snapshot.id, diskSizeGB=32)
    assert restored.disk_size_gb == 32 and restored.unique_id != disk.unique_id
    clone = make_disk(compute, "c", restored.id)
    assert clone.disk_size_gb == 32
    assert [s.name for s in compute.snapshots.list_by_resource_group(GROUP)] == ["s"]
    error = refusal(lambda: make_snapshot(compute, "s", clone.id).result())
    assert (error.status_code, error.error.code) == (409, "PropertyChangeNotAllowed")
    for name in "rc":
        compute.disks.begin_delete(GROUP, name).result()
    compute.snapshots.begin_delete(GROUP, "s").result()
    compute.snapshots.begin_delete(GROUP, "s").result()  # 204
    with pytest.raises(ResourceNotFoundError):
        compute.snapshots.get(GROUP, "s")


def test_access_by_signature_holds_a_disk(compute, disk):
    grant = {"access": "Read", "durationInSeconds": 3600}
    snapshot = make_snapshot(compute, "s", disk.id).result()
    for client, name in ((compute.disks, "d"), (compute.snapshots, snapshot.name)):
        access = client.begin_grant_access(GROUP, name, grant).result()
        assert access.access_sas.startswith("https://")
        assert client.get(GROUP, name).disk_state == "ActiveSAS"
        error = refusal(lambda: client.begin_delete(GROUP, name))
        assert "active shared access signature" in error.error.message
    assert "active shared access signature" in refusal(lambda: attach(compute, "0")).error.message
    compute.disks.begin_revoke_access(GROUP, "d").result()
    compute.snapshots.begin_revoke_access(GROUP, "s").result()
    compute.snapshots.begin_delete(GROUP, "s").result()
    attach(compute, "0")
    error = refusal(lambda: compute.disks.begin_grant_access(GROUP, "d", grant))
    assert (error.status_code, error.error.code) == (409, "Conflict")
    detach(compute, "0")


def test_a_snapshot_that_is_not_complete_at_once(azsim, compute):
    azsim.control("PATCH", "latency", {"copy": "1h"})
    source = make_disk(compute, "v2", sku="PremiumV2_LRS")
    snapshot = make_snapshot(compute, "s", source.id).result()
    assert snapshot.provisioning_state == "Succeeded" and snapshot.completion_percent < 100
    error = refusal(lambda: make_disk(compute, "r", snapshot.id, sku="PremiumV2_LRS"))
    assert (error.status_code, error.error.code) == (409, "OperationNotAllowed")
    compute.snapshots.begin_delete(GROUP, "s").result()
    compute.disks.begin_delete(GROUP, "v2").result()


def test_a_copy_in_another_region(azsim, compute, disk):
    azsim.control("PATCH", "latency", {"copy": "1h"})
    for name in "st":
        make_snapshot(compute, name, disk.id).result()
    source = compute.snapshots.get(GROUP, "s")
    copy = make_snapshot(compute, "copy", source.id, "West Europe", "CopyStart").result()
    assert (copy.location, copy.provisioning_state, copy.disk_state) == ("westeurope", "Succeeded", "Unattached")
    assert copy.completion_percent < 100 and copy.copy_completion_error is None
    assert copy.creation_data.create_option == "CopyStart"
    assert copy.creation_data.source_unique_id == source.unique_id
    assert copy.incremental_snapshot_family_id != source.incremental_snapshot_family_id
    error = refusal(lambda: make_snapshot(compute, "x", compute.snapshots.get(GROUP, "t").id, "westeurope", "CopyStart"))
    assert (error.status_code, error.error.code) == (409, "OperationNotAllowed")
    error = refusal(lambda: make_snapshot(compute, "x", source.id, "westeurope"))
    assert (error.status_code, error.error.code) == (404, "NotFound")
    error = refusal(lambda: make_snapshot(compute, "x", disk.id, "westeurope", "CopyStart"))
    assert (error.status_code, error.error.code) == (400, "BadRequest")
    compute.snapshots.begin_delete(GROUP, "s").result()
    copy = compute.snapshots.get(GROUP, "copy")
    assert copy.copy_completion_error.error_code == "CopySourceNotFound" and copy.completion_percent < 100

    azsim.control("PATCH", "latency", {"copy": "100ms"})
    copy = make_snapshot(compute, "copy-t", compute.snapshots.get(GROUP, "t").id, "westeurope", "CopyStart").result()
    until(lambda: compute.snapshots.get(GROUP, "copy-t").completion_percent == 100, "it is copied")
    error = refusal(lambda: make_disk(compute, "r", copy.id))
    assert (error.status_code, error.error.code) == (404, "NotFound")
    for name in ("t", "copy", "copy-t"):
        compute.snapshots.begin_delete(GROUP, name).result()


def test_power_changes_what_a_disk_is(compute, disk):
    attach(compute, "3")
    compute.virtual_machine_scale_set_vms.begin_deallocate(GROUP, "pool", "3").result()
    view = compute.virtual_machine_scale_set_vms.get_instance_view(GROUP, "pool", "3")
    assert view.statuses[1].code == "PowerState/deallocated"
    assert compute.disks.get(GROUP, "d").disk_state == "Reserved"
    compute.virtual_machine_scale_set_vms.begin_start(GROUP, "pool", "3").result()
    assert compute.disks.get(GROUP, "d").disk_state == "Attached"
    detach(compute, "3")
    for action in ("begin_power_off", "begin_start", "begin_restart", "begin_reapply"):
        getattr(compute.virtual_machines, action)(GROUP, "vm2").result()
    view = compute.virtual_machines.instance_view(GROUP, "vm2")
    assert view.statuses[1].code == "PowerState/running"


def test_resize_of_a_shared_disk_waits_for_its_vms(compute, disk):
    attach(compute, "0")
    grow = {"properties": {"diskSizeGB": 20}}
    error = refusal(lambda: compute.disks.begin_update(GROUP, "d", grow))
    assert (error.status_code, error.error.code) == (409, "OperationNotAllowed")
    assert error.error.innererror["internalErrorCode"] == "ChangeDiskSizeWhileAttachedNotAllowed"
    detach(compute, "0")
    assert compute.disks.begin_update(GROUP, "d", grow).result().disk_size_gb == 20


def test_what_clients_are_told_of_owners_lags(azsim, compute, disk):
    azsim.control("PATCH", "latency", {"ownership": "1h"})
    attach(compute, "0")
    assert compute.disks.get(GROUP, "d").disk_state == "Unattached"
    azsim.control("PATCH", "latency", {"ownership": "0"})
    detach(compute, "0")
    assert compute.disks.get(GROUP, "d").disk_state == "Unattached"


def test_settings(azsim, compute, disk):
    before = azsim.control("GET", "settings")
    assert before == {"concurrentUpdates": "azure", "upperCaseGroups": False, "pageSize": 3}
    azsim.control("PATCH", "settings", {"upperCaseGroups": True, "concurrentUpdates": "refused"})
    attach(compute, "0")
    assert f"/resourceGroups/{GROUP.upper()}/" in compute.disks.get(GROUP, "d").managed_by
    rule = azsim.fault("stick", kind="deallocate")
    first = compute.virtual_machines.begin_deallocate(GROUP, "vm2")
    error = refusal(lambda: compute.virtual_machines.begin_update(GROUP, "vm2", {}))
    assert (error.status_code, error.error.code) == (409, "Conflict")
    azsim.control("DELETE", f"faults/{rule}")
    first.result()
    for change, text in (({"pageSize": 0}, "pageSize"), ({"x": 1}, "not a setting"),
                         ({"upperCaseGroups": "x"}, "upperCaseGroups"),
                         ({"concurrentUpdates": "x"}, "concurrentUpdates")):
        assert text in azsim.control("PATCH", "settings", change, expect=400)["error"]
    azsim.control("PATCH", "settings", before)
    detach(compute, "0")


def test_deleted_instances(compute):
    compute.virtual_machine_scale_set_vms.begin_delete(GROUP, "pool", "1").result()
    assert compute.virtual_machine_scale_sets.get(GROUP, "pool").sku.capacity == 3
    error = refusal(lambda: compute.virtual_machine_scale_set_vms.get(GROUP, "pool", "1"))
    assert error.error.target == "instanceIds"


def test_throttling_is_waited_out(azsim):
    azsim.control("PATCH", "throttling", {"throttling": "0.1"})
    before = azsim.control("GET", "summary")["requests"]
    with compute_client(azsim, retries=5) as client:
        for _ in range(60):
            list(client.disks.list())
    azsim.control("PATCH", "throttling", {"throttling": "off"})
    statuses = [entry["status"] for entry in azsim.journal(after=before)
                if entry.get("kind") == "disks.list"]
    assert statuses.count(200) == 60 and 429 in statuses
