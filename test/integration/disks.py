"""Managed disks that somebody else makes, with Microsoft's own client (the fixture azure_sdk)."""

MARK = {"k8s-azure-created-by": "kubernetes-azure-dd"}


def make_disk(azure_sdk, name: str, tags: dict[str, str] | None = None, group: str = "rg", shares: int = 1) -> str:
    """Its id."""
    disk = {"location": "eastus", "zones": ["1"], "sku": {"name": "Premium_LRS"}, "tags": tags or {},
            "properties": {"diskSizeGB": 4, "maxShares": shares, "creationData": {"createOption": "Empty"}}}
    return azure_sdk.disks.begin_create_or_update(group, name, disk, polling_interval=0.1).result().id


def delete_disk(azure_sdk, name: str, group: str = "rg") -> None:
    azure_sdk.disks.begin_delete(group, name, polling_interval=0.1).result()


def attach_disk(azure_sdk, vm: str, disk: str, lun: int = 5) -> None:
    azure_sdk.virtual_machines.begin_attach_detach_data_disks(
        "rg", vm, {"dataDisksToAttach": [{"diskId": disk, "lun": lun}]}, polling_interval=0.1).result()
