"""Microsoft's Python SDK against azsim, over verified TLS: it must not be able to tell."""

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import (
    ClientAuthenticationError, HttpResponseError, ResourceNotFoundError)

from .conftest import GivenToken, compute_client
from .simulator import GROUP, LOCATION, Azsim, describe, disk_id

VMS = [
    {"name": "vm1", "size": "Standard_D4s_v5", "zone": "1", "identity": "system"},
    {"name": "vm2", "size": "Standard_D4s_v5", "zone": "1"},
    {"name": "vm3", "size": "Standard_D4s_v5", "zone": "1"},
    {"name": "small", "size": "Standard_B1s", "zone": "1"},
]


@pytest.fixture(scope="module")
def azsim(tmp_path_factory):
    with Azsim(tmp_path_factory.mktemp("azsim"), describe(VMS), "--latency=get=0,accept=0,token=0,orphan=0",
               "--latency", "attach=500ms", "--latency", "detach=200ms",
               "--latency=create=100ms,update=100ms,delete=100ms", "--page-size=3",
               "--throttling=off") as azsim:
        yield azsim


@pytest.fixture(scope="module")
def compute(azsim):
    with compute_client(azsim) as client:
        yield client


def make_disk(compute, name, shares=1, **more):
    return compute.disks.begin_create_or_update(GROUP, name, {
        "location": LOCATION, "zones": ["1"], "sku": {"name": "Premium_LRS"},
        "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 10,
                       "maxShares": shares}, **more}).result()


def attach(compute, vm, *names):
    return compute.virtual_machines.begin_attach_detach_data_disks(
        GROUP, vm, {"dataDisksToAttach": [{"diskId": disk_id(name)} for name in names]})


def detach(compute, vm, *names):
    return compute.virtual_machines.begin_attach_detach_data_disks(
        GROUP, vm, {"dataDisksToDetach": [{"diskId": disk_id(name)} for name in names]})


def drop(compute, *names):
    for name in names:
        compute.disks.begin_delete(GROUP, name).result()


def refusal(operation) -> HttpResponseError:
    with pytest.raises(HttpResponseError) as caught:
        operation()
    return caught.value


def test_create_get_and_delete(compute):
    made = make_disk(compute, "d", tags={"made": "here"})
    assert (made.provisioning_state, made.disk_state) == ("Succeeded", "Unattached")
    assert (made.disk_size_gb, made.disk_iops_read_write, made.tier) == (10, 120, "P3")
    assert made.time_created.tzinfo and made.tags == {"made": "here"}
    same = compute.disks.get(GROUP, "D")
    assert same.unique_id == made.unique_id and same.id == made.id
    assert make_disk(compute, "d").unique_id == made.unique_id
    drop(compute, "d", "d")
    with pytest.raises(ResourceNotFoundError):
        compute.disks.get(GROUP, "d")


def test_update(compute):
    make_disk(compute, "d")
    grown = compute.disks.begin_update(GROUP, "d", {"properties": {"diskSizeGB": 300}}).result()
    assert (grown.disk_size_gb, grown.tier) == (300, "P20")
    error = refusal(lambda: compute.disks.begin_update(
        GROUP, "d", {"properties": {"diskSizeGB": 5}}).result())
    assert (error.status_code, error.error.code) == (409, "OperationNotAllowed")
    drop(compute, "d")


def test_a_shared_disk_on_two_vms_and_not_on_a_third(compute):
    make_disk(compute, "shared", shares=2)
    profile = attach(compute, "vm1", "shared").result()
    assert [(d.lun, d.name, d.caching) for d in profile.data_disks] == [(0, "shared", "None")]
    attach(compute, "vm2", "shared").result()
    error = refusal(lambda: attach(compute, "vm3", "shared").result())
    assert (error.status_code, error.error.code) == (409, "ConflictingUserInput")

    disk = compute.disks.get(GROUP, "shared")
    assert disk.disk_state == "Attached"
    assert [share.vm_uri.split("/")[-1] for share in disk.share_info] == ["vm1", "vm2"]
    assert [vm.split("/")[-1] for vm in disk.managed_by_extended] == ["vm1", "vm2"]
    error = refusal(lambda: compute.disks.begin_delete(GROUP, "shared").result())
    assert "is attached to VM" in error.error.message

    detach(compute, "vm1", "shared").result()
    attach(compute, "vm3", "shared").result()
    detach(compute, "vm2", "shared").result()
    detach(compute, "vm3", "shared").result()
    assert compute.disks.get(GROUP, "shared").disk_state == "Unattached"
    drop(compute, "shared")


def test_attach_and_detach_by_the_vms_model(compute):
    make_disk(compute, "a")
    make_disk(compute, "b")
    entries = [{"lun": i, "name": name, "createOption": "Attach",
                "managedDisk": {"id": disk_id(name)}} for i, name in enumerate("ab")]
    change = {"properties": {"storageProfile": {"dataDisks": entries}}}
    vm = compute.virtual_machines.begin_update(GROUP, "vm1", change).result()
    assert [disk.name for disk in vm.storage_profile.data_disks] == ["a", "b"]
    assert vm.provisioning_state == "Succeeded" and vm.etag

    entries[0]["toBeDetached"] = True
    vm = compute.virtual_machines.begin_update(GROUP, "vm1", change).result()
    assert [disk.name for disk in vm.storage_profile.data_disks] == ["b"]
    change["properties"]["storageProfile"]["dataDisks"] = []
    compute.virtual_machines.begin_update(GROUP, "vm1", change).result()
    drop(compute, "a", "b")


def test_an_update_that_changes_nothing_ends_too(compute):
    vm = compute.virtual_machines.begin_update(GROUP, "vm1", {}).result()
    assert vm.provisioning_state == "Succeeded"


def test_instance_view_and_etag(compute):
    vm = compute.virtual_machines.get(GROUP, "vm1", expand="instanceView")
    assert "PowerState/running" in [status.code for status in vm.instance_view.statuses]
    error = refusal(lambda: compute.virtual_machines.begin_update(
        GROUP, "vm1", {}, etag='"999"', match_condition=MatchConditions.IfNotModified).result())
    assert error.status_code == 412


def test_a_failed_operation_is_an_exception(compute):
    make_disk(compute, "d")
    first = attach(compute, "vm1", "d")
    second = compute.virtual_machines.begin_update(GROUP, "vm1", {"tags": {"x": "y"}})
    error = refusal(first.result)
    assert error.error.code == "OperationPreempted"
    second.result()
    assert compute.disks.get(GROUP, "d").disk_state == "Attached"
    detach(compute, "vm1", "d").result()
    drop(compute, "d")


def test_one_operation_of_a_vm_at_a_time(compute):
    make_disk(compute, "a")
    make_disk(compute, "b")
    first = attach(compute, "vm1", "a")
    error = refusal(lambda: attach(compute, "vm1", "b").result())
    assert (error.status_code, error.error.code) == (409, "Conflict")
    first.result()
    detach(compute, "vm1", "a").result()
    drop(compute, "a", "b")


def test_a_vm_takes_as_many_disks_as_its_size(compute):
    for name in "abc":
        make_disk(compute, name)
    error = refusal(lambda: attach(compute, "small", "a", "b", "c").result())
    assert "attached to a VM of this size is 2" in error.error.message
    drop(compute, "a", "b", "c")


def test_lists_come_in_pages(compute):
    names = [f"page-{i}" for i in range(7)]
    for name in names:
        make_disk(compute, name)
    pages = list(compute.disks.list_by_resource_group(GROUP).by_page())
    assert [disk.name for page in pages for disk in page] == names and len(pages) == 3
    assert len(list(compute.disks.list())) == 7
    assert [vm.name for vm in compute.virtual_machines.list(GROUP)] == [vm["name"] for vm in VMS]
    drop(compute, *names)


def test_skus(compute):
    skus = list(compute.resource_skus.list(filter=f"location eq '{LOCATION}'"))
    size = next(sku for sku in skus if sku.name == "Standard_D4s_v5")
    capabilities = {c.name: c.value for c in size.capabilities}
    assert capabilities["MaxDataDiskCount"] == "8"
    assert size.location_info[0].zones == ["1", "2", "3"]
    assert {sku.name for sku in skus if sku.resource_type == "disks"} >= {"Premium_LRS",
                                                                          "PremiumV2_LRS"}


def test_a_wrong_secret_is_refused_by_entra(azsim):
    with compute_client(azsim, secret="wrong") as client:
        with pytest.raises(ClientAuthenticationError, match="AADSTS7000215"):
            client.disks.get(GROUP, "d")


def test_a_forged_token_is_refused_by_arm(azsim):
    with compute_client(azsim, credential=GivenToken("e30.e30.e30")) as client:
        with pytest.raises(ClientAuthenticationError, match="InvalidAuthenticationToken"):
            client.disks.get(GROUP, "d")


def test_every_request_is_in_the_journal(azsim, compute):
    before = azsim.control("GET", "summary")["requests"]
    make_disk(compute, "d")
    attach(compute, "vm1", "d").result()
    detach(compute, "vm1", "d").result()
    drop(compute, "d")
    entries = azsim.journal(after=before)
    first = before + 1
    assert [entry["number"] for entry in entries] == list(range(first, first + len(entries)))
    changes = [entry for entry in entries
               if entry["kind"] == "virtualMachines.attachDetachDataDisks"]
    assert [(e["vm"], e["attached"], e["detached"], e["status"]) for e in changes] == [
        ("vm1", ["d"], [], 202), ("vm1", [], ["d"], 202)]
    kinds = {entry["kind"] for entry in entries}
    assert {"disks.createOrUpdate", "disks.delete", "operations.get"} <= kinds
    assert azsim.control("GET", "summary")["nothingLeft"]
