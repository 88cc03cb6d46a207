"""Parameters of a StorageClass, by what Azure gets of them."""

import pytest
from cluster.waiting import until

from .calls import GIB, create, delete, publish, refused

FORGET_AFTER = "disk.csi.azure.com/forget-after"


def claim(name: str, **parameters: str) -> dict[str, str]:
    """What csi-provisioner passes on for a claim of this name."""
    return parameters | {
        "csi.storage.k8s.io/pv/name": f"pv-of-{name}",
        "csi.storage.k8s.io/pvc/name": name,
        "csi.storage.k8s.io/pvc/namespace": "shop",
    }


def test_tags_and_disk_name_stand_for_the_claim(world, controller, azure_sdk):
    parameters = claim(
        "db", diskName="Data_${pvc.metadata.namespace}.${pvc.metadata.name}", tagValueDelimiter=";",
        tags="owner=${pvc.metadata.namespace}/${pvc.metadata.name};volume=${pv.metadata.name};list=a,b")
    volume = create(controller, "pv-of-db", parameters)
    assert volume.volume_id.endswith("/Data_shop.db")
    tags = azure_sdk.disks.get("rg", "Data_shop.db").tags
    assert {k: tags[k] for k in ("owner", "volume", "list")} == {"owner": "shop/db", "volume": "pv-of-db", "list": "a,b"}
    assert create(controller, "pv-of-db", parameters).volume_id == volume.volume_id, "asked again, it is the same disk"
    assert len(world.calls("disks.createOrUpdate")) == 1
    delete(controller, volume.volume_id)
    assert not list(azure_sdk.disks.list())


def test_two_claims_never_share_a_disk_of_one_name(world, controller, azure_sdk):
    first = create(controller, "pv-of-a", claim("a", diskName="fixed"))
    for name in ("b", "a-b"):
        with refused("ALREADY_EXISTS", "diskName", "FIXED", "pv-of-a", f"pv-of-{name}"):
            create(controller, f"pv-of-{name}", claim(name, diskName="FIXED"))
    assert azure_sdk.disks.get("rg", "fixed").tags["kubernetes.io-created-for-pv-name"] == "pv-of-a"
    assert len(world.calls("disks.createOrUpdate")) == 1

    # The record is lost, the disk is still the other claim's.
    volume = world.objects("azvolumes")[0]["metadata"]["name"]
    controller.end()
    world.patch("azvolumes", volume, {"metadata": {"finalizers": None}})
    world.delete("azvolumes", volume)
    controller.start()
    with refused("ALREADY_EXISTS", "diskName", "pv-of-a", "pv-of-b"):
        create(controller, "pv-of-b", claim("b", diskName="fixed"))
    # What is left of the refused claim goes, and leaves the disk where it is.
    world.patch("azvolumes", "fixed", {"status": {"annotation": {FORGET_AFTER: "2020-01-01T00:00:00Z"}}}, status=True)
    until(lambda: not world.objects("azvolumes"), "the refused claim is forgotten")
    assert azure_sdk.disks.get("rg", "fixed")
    with refused("ALREADY_EXISTS", "diskName"):
        create(controller, "pv-of-b", claim("b", diskName="fixed"))
    assert create(controller, "pv-of-a", claim("a", diskName="fixed")).volume_id == first.volume_id
    labels = world.find("azvolumes", "fixed")["metadata"]["labels"]
    assert labels["disk.csi.azure.com/pvc"] == "a", "it is no longer the record of the refused claim"


def data_disk(azure_sdk, node: str, disk: str):
    """As the node's VM has it."""
    profile = azure_sdk.virtual_machines.get("rg", node).storage_profile
    return next(d for d in profile.data_disks if d.name == disk)


@pytest.mark.parametrize("gib, parameters, caching", [
    (4095, {}, "ReadOnly"), (4096, {}, "None"), (4096, {"cachingMode": "None"}, "None"), (4, {"cachingMode": "ReadWrite"}, "ReadWrite")])
def test_no_cache_is_asked_for_that_azure_refuses(world, controller, azure_sdk, gib, parameters, caching):
    volume = create(controller, "pvc-1", {"skuName": "Premium_LRS"} | parameters, size=gib * GIB)
    publish(controller, volume.volume_id, world.nodes[0])
    until(lambda: "Attached" in str(world.roles("pvc-1")), "it is attached")
    assert data_disk(azure_sdk, world.nodes[0], "pvc-1").caching == caching
    assert len(world.calls("virtualMachines.attachDetachDataDisks")) == 1, "Azure has not refused another one before"


@pytest.mark.parametrize("parameters, policy, public", [
    ({}, "DenyAll", "Disabled"), ({"networkAccessPolicy": "AllowAll"}, "AllowAll", "Enabled"),
    ({"publicNetworkAccess": "Enabled"}, "DenyAll", "Enabled")])
def test_a_disk_is_exported_by_who_asks_for_it_only(controller, azure_sdk, parameters, policy, public):
    create(controller, "pvc-1", parameters)
    disk = azure_sdk.disks.get("rg", "pvc-1")
    assert (disk.network_access_policy, disk.public_network_access) == (policy, public)


def test_disks_of_an_edge_zone(world, controller, azure_sdk):
    controller.end()
    world.log_in_by(extendedLocationName="losangeles", extendedLocationType="EdgeZone")
    try:
        controller.start()
        create(controller, "pvc-1")
    finally:
        world.log_in_by()
    place = azure_sdk.disks.get("rg", "pvc-1").extended_location
    assert (place.name, place.type) == ("losangeles", "EdgeZone")


@pytest.mark.parametrize("gib, sku, bound", [(32768, "Premium_LRS", "32767"), (3, "UltraSSD_LRS", "4"), (65537, "UltraSSD_LRS", "65536")])
def test_a_size_that_no_disk_of_the_kind_has(world, controller, gib, sku, bound):
    with refused("OUT_OF_RANGE", str(gib), sku, bound):
        create(controller, "pvc-1", {"skuName": sku}, size=gib * GIB)
    with refused("INVALID_ARGUMENT", "cachingMode", "None"):
        create(controller, "pvc-1", {"skuName": "Premium_LRS", "cachingMode": "ReadOnly"}, size=4096 * GIB)
    assert not world.calls("disks.createOrUpdate") and not world.objects("azvolumes")


def test_the_write_accelerator_is_asked_for_at_the_attach(world, controller, azure_sdk):
    for name, enabled in (("pvc-1", "true"), ("pvc-2", "false")):
        parameters = {"skuName": "Premium_LRS", "writeAcceleratorEnabled": enabled}
        publish(controller, create(controller, name, parameters).volume_id, world.nodes[0])
        until(lambda: "Attached" in str(world.roles(name)), "it is attached")
        disk = data_disk(azure_sdk, world.nodes[0], name)
        assert (disk.write_accelerator_enabled, disk.caching) == (enabled == "true", "ReadOnly")


@pytest.mark.parametrize("parameters, words", [
    ({"writeAcceleratorEnabled": "true", "skuName": "Premium_LRS", "maxShares": "2"}, ("writeAcceleratorEnabled", "maxShares")),
    ({"writeAcceleratorEnabled": "true"}, ("writeAcceleratorEnabled", "Premium_LRS")),
    (claim("db", diskName="${pvc.metadata.name}/x"), ("diskName", "db/x")),
    (claim("d" * 81, diskName="${pvc.metadata.name}"), ("diskName", "80")),
    ({"diskName": "mine"}, ("diskName", "pv/name")),
    (claim("db", tags="a&b=c"), ("tags", "&")),
    (claim("db", tags="a=" + "x" * 257), ("tags", "256")),
    (claim("db", tags="a" * 513 + "=b"), ("tags", "512")),
])
def test_names_and_tags_that_azure_refuses_are_refused_before(world, controller, parameters, words):
    with refused("INVALID_ARGUMENT", *words):
        create(controller, "pv-of-db", parameters)
    assert not world.calls("disks.createOrUpdate") and not world.objects("azvolumes")
