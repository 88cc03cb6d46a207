"""What somebody else does in the same subscription, by Microsoft's own client."""

from azure.mgmt.compute import ComputeManagementClient
from azsim import simulator


def make_disk(azure_sdk: ComputeManagementClient, name: str, tags: dict[str, str] | None = None,
              group: str = simulator.GROUP, shares: int = 1) -> str:
    """Its id."""
    disk = {"location": simulator.LOCATION, "zones": ["1"], "sku": {"name": "Premium_LRS"}, "tags": tags or {},
            "properties": {"diskSizeGB": 4, "maxShares": shares, "creationData": {"createOption": "Empty"}}}
    return azure_sdk.disks.begin_create_or_update(group, name, disk, polling_interval=0.1).result().id


def delete_disk(azure_sdk: ComputeManagementClient, name: str) -> None:
    azure_sdk.disks.begin_delete(simulator.GROUP, name, polling_interval=0.1).result()


def attach(azure_sdk: ComputeManagementClient, disk: str, vm: str, at: int) -> None:
    azure_sdk.virtual_machines.begin_attach_detach_data_disks(
        simulator.GROUP, vm, {"dataDisksToAttach": [{"diskId": disk, "lun": at}]}, polling_interval=0.1).result()


def detach(azure_sdk: ComputeManagementClient, disk: str, vm: str) -> None:
    azure_sdk.virtual_machines.begin_attach_detach_data_disks(
        simulator.GROUP, vm, {"dataDisksToDetach": [{"diskId": disk}]}, polling_interval=0.1).result()
