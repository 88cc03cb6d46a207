"""Disks and VMs of several subscriptions and groups, for Microsoft's client and over a restart."""

import pytest
from azure.core.exceptions import HttpResponseError

from .conftest import compute_client
from .simulator import GROUP, LOCATION, SUBSCRIPTION, Azsim, describe

SECOND = "44444444-4444-4444-4444-44444444444f"
SIZE = "Standard_D4s_v5"
VMS = [{"name": "vm1", "size": SIZE, "resourceGroup": "nodes"},
       {"name": "aks-pool-12345678-vmss000001", "resourceName": "pool_1a2b3c4d", "size": SIZE,
        "scaleSet": "pool", "subscriptionId": SECOND, "resourceGroup": "nodes"}]
FAST = ("--latency=get=0,accept=0,token=0,orphan=0",
        "--latency=create=0,update=0,delete=0,attach=0,detach=0")


def resource(subscription, group, kind, name):
    return (f"/subscriptions/{subscription}/resourceGroups/{group}"
            f"/providers/Microsoft.Compute/{kind}/{name}")


@pytest.fixture
def azsim(tmp_path):
    config = describe(VMS) | {
        "otherResourceGroups": ["nodes"],
        "otherSubscriptions": [{"subscriptionId": SECOND, "resourceGroup": GROUP, "otherResourceGroups": ["nodes"]}]}
    with Azsim(tmp_path, config, *FAST) as azsim:
        yield azsim


def make_disk(compute, name="d"):
    return compute.disks.begin_create_or_update(GROUP, name, {
        "location": LOCATION, "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 4}}).result()


def attach(compute, vm, disk):
    return compute.virtual_machines.begin_attach_detach_data_disks(
        "nodes", vm, {"dataDisksToAttach": [{"diskId": disk}]}).result()


def test_the_same_names_in_two_subscriptions(azsim):
    with compute_client(azsim) as one, compute_client(azsim, subscription=SECOND) as other:
        first, second = make_disk(one), make_disk(other)
        assert first.id == resource(SUBSCRIPTION, GROUP, "disks", "d")
        assert second.id == resource(SECOND, GROUP, "disks", "d")
        assert first.unique_id != second.unique_id
        attach(one, "vm1", first.id)
        attach(other, "pool_1a2b3c4d", second.id)
        with pytest.raises(HttpResponseError) as refused:
            attach(other, "pool_1a2b3c4d", first.id)
        assert refused.value.error.code == "InvalidParameter"

        azsim.stop()
        azsim.start()
        assert one.disks.get(GROUP, "d").managed_by == resource(SUBSCRIPTION, "nodes", "virtualMachines", "vm1")
        assert [disk.managed_by for disk in other.disks.list()] == [
            resource(SECOND, "nodes", "virtualMachines", "pool_1a2b3c4d")]
        vm, = other.virtual_machines.list_all()
        assert vm.name == "pool_1a2b3c4d"
        assert vm.os_profile.computer_name == "aks-pool-12345678-vmss000001"


def test_an_unknown_subscription(azsim):
    with (compute_client(azsim, subscription="44444444-4444-4444-4444-444444444440") as compute,
          pytest.raises(HttpResponseError) as refused):
        make_disk(compute)
    assert refused.value.status_code == 404
    assert refused.value.error.code == "SubscriptionNotFound"


def test_vms_are_added_where_they_say(azsim):
    spec = {"name": "new", "size": SIZE, "subscriptionId": SECOND}
    assert azsim.control("POST", "vms", spec, expect=201)["id"] == resource(SECOND, GROUP, "virtualMachines", "new")
    assert "no resource group \"none\"" in azsim.control(
        "POST", "vms", {"name": "newer", "size": SIZE, "resourceGroup": "none"}, expect=400)["error"]
