"""What the controller writes for a node, written by the test instead: volumes, attachments and slots."""

from kubernetes import client
from kubernetes.client.exceptions import ApiException

from ..placement import GROUP, OBJECTS, VERSION, Placement, disk_id

ANNOTATION_FILESYSTEM = "disk.csi.azure.com/filesystem"
ANNOTATION_SOURCE_FILESYSTEM = "disk.csi.azure.com/source-filesystem"
ANNOTATION_ACCEPT_FILESYSTEM = "disk.csi.azure.com/accept-filesystem"
ANNOTATION_BOOT = "disk.csi.azure.com/boot-id"
ANNOTATION_FENCE = "disk.csi.azure.com/fence"
ANNOTATION_RUNNING_JOB = "disk.csi.azure.com/running-job"
ANNOTATION_REPLICA_READY = "disk.csi.azure.com/replica-ready"


class CloudSide:
    def __init__(self, api: client.ApiClient, node: str, namespace: str = OBJECTS):
        self.node, self.namespace = node, namespace
        self.placement = Placement(api)
        self.custom = client.CustomObjectsApi(api)
        self.core = client.CoreV1Api(api)

    def clear(self) -> None:
        for plural in ("azvolumes", "azvolumeattachments", "azdrivernodes"):
            self.custom.delete_collection_namespaced_custom_object(GROUP, VERSION, self.namespace, plural)

    # ---- volumes ----

    def _make_volume(self, disk: str, parameters: dict[str, str]) -> None:
        try:
            self.custom.delete_namespaced_custom_object(GROUP, VERSION, self.namespace, "azvolumes", disk)
        except ApiException as failure:
            if failure.status != 404:
                raise
        capability = {"access_type": 1, "access_mode": 1, "fs_type": "ext4"}
        body = {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": "AzVolume",
            "metadata": {"name": disk, "namespace": self.namespace},
            "spec": {"volumeName": disk, "maxMountReplicaCount": 0, "volumeCapability": [capability],
                     "parameters": parameters},
        }
        self.custom.create_namespaced_custom_object(GROUP, VERSION, self.namespace, "azvolumes", body)

    def settle(
        self, disk: str, size: int, record: str | None = None, volume_id: str | None = None,
        source: str | None = None,
    ) -> None:  # fmt: skip
        """What is on record of the volume itself; `source`: of the disk that its own was copied from."""
        detail = {"volume_id": volume_id or disk_id(disk), "capacity_bytes": size, "node_expansion_required": False}
        status = {"state": "Created", "detail": detail}
        notes = {ANNOTATION_FILESYSTEM: record, ANNOTATION_SOURCE_FILESYSTEM: source}
        status["annotation"] = {name: note for name, note in notes.items() if note}
        self._patch_status("azvolumes", disk, {"status": status})

    def accept(self, disk: str, uuid: str | None) -> None:
        """As the controller does when the PersistentVolume has the annotation."""
        body = {"metadata": {"annotations": {ANNOTATION_ACCEPT_FILESYSTEM: uuid}}}
        self.custom.patch_namespaced_custom_object(GROUP, VERSION, self.namespace, "azvolumes", disk, body)

    def say_possible(self, disk: str, *uuids: str) -> None:
        """As the controller does for a copy of a disk that has no file system on record."""
        note = {"disk.csi.azure.com/source-uuids": " ".join(uuids)}
        self._patch_status("azvolumes", disk, {"status": {"state": "Created", "annotation": note}})

    def note_sku(self, disk: str, sku: str) -> None:
        """What the cloud has said of the disk."""
        note = {"disk.csi.azure.com/disk-sku": sku}
        self._patch_status("azvolumes", disk, {"status": {"state": "Created", "annotation": note}})

    def ask_for(self, disk: str, size: int) -> None:
        """As ControllerExpandVolume does."""
        spec = {"spec": {"capacityRange": {"required_bytes": size, "limit_bytes": 0}}}
        self.custom.patch_namespaced_custom_object(GROUP, VERSION, self.namespace, "azvolumes", disk, spec)
        self._patch_status("azvolumes", disk, {"status": {"state": "Updating"}})

    def grow(self, disk: str, size: int, lun: int) -> None:
        """As the controller does when the disk has grown."""
        grown = {"state": "Updated", "detail": {"capacity_bytes": size}}
        self._patch_status("azvolumes", disk, {"status": grown})
        self.attest(disk, lun=lun, size=size)

    def take_over(self, disk: str) -> None:
        """What the plug-in has said of the file system is on record."""
        try:
            record = self.record(disk)
        except ApiException as failure:
            if failure.status != 404:
                raise
            return
        if record:
            self._patch_status("azvolumes", disk, {"status": {"annotation": {ANNOTATION_FILESYSTEM: record}}})

    def delete_volume(self, disk: str) -> None:
        self.custom.delete_namespaced_custom_object(GROUP, VERSION, self.namespace, "azvolumes", disk)

    # ---- attachments ----

    def publish(
        self, disk: str, node: str | None = None, read_only: bool | None = None,
        parameters: dict[str, str] | None = None, **status,
    ) -> str:  # fmt: skip
        """Makes the volume and its attachment; the volume's id. `status` as for report()."""
        node = node or self.node
        self._make_volume(disk, parameters or {})
        name = f"{disk}-{node}-attachment"
        labels = {"disk.csi.azure.com/node-name": node, "disk.csi.azure.com/volume-name": disk}
        body = {
            "apiVersion": f"{GROUP}/{VERSION}",
            "kind": "AzVolumeAttachment",
            "metadata": {"name": name, "namespace": self.namespace, "labels": labels},
            "spec": {"volumeName": disk, "volume_id": disk_id(disk), "nodeName": node, "role": "Primary"},
        }
        if read_only is not None:
            body["spec"]["readOnly"] = read_only
        self.custom.create_namespaced_custom_object(GROUP, VERSION, self.namespace, "azvolumeattachments", body)
        if status:
            self.report(disk, node, **status)
        return disk_id(disk)

    def report(
        self, disk: str, node: str | None = None, state: str = "Attached", role: str = "Primary",
        lun: int | None = None, size: int | None = None, record: str | None = None,
        error: dict | None = None, source: str | None = None,
    ) -> None:  # fmt: skip
        """Of the attachment; size and file systems are those of the volume."""
        if size is not None:
            self.settle(disk, size, record, source=source)
        self.attest(disk, node, state, role, lun, size, record, error)

    def attest(
        self, disk: str, node: str | None = None, state: str = "Attached", role: str = "Primary",
        lun: int | None = None, size: int | None = None, record: str | None = None,
        error: dict | None = None,
    ) -> None:  # fmt: skip
        """Of the attachment alone."""
        status: dict = {"state": state, "error": error}
        if lun is not None:
            context = {"LUN": str(lun), "diskSizeBytes": str(size)}
            status["detail"] = {"role": role, "publish_context": context}
        if record:
            status["annotation"] = {ANNOTATION_FILESYSTEM: record}
        name = f"{disk}-{node or self.node}-attachment"
        self._patch_status("azvolumeattachments", name, {"status": status})

    def want(self, disk: str, role: str) -> None:
        body = {"spec": {"role": role}}
        self.custom.patch_namespaced_custom_object(
            GROUP, VERSION, self.namespace, "azvolumeattachments", f"{disk}-{self.node}-attachment", body
        )

    def set_read_only(self, disk: str, read_only: bool) -> None:
        """How it is published."""
        self.custom.patch_namespaced_custom_object(
            GROUP, VERSION, self.namespace, "azvolumeattachments", f"{disk}-{self.node}-attachment",
            {"spec": {"readOnly": read_only or None}}
        )

    def unpublish(self, disk: str) -> None:
        self.custom.delete_namespaced_custom_object(
            GROUP, VERSION, self.namespace, "azvolumeattachments", f"{disk}-{self.node}-attachment"
        )

    def record(self, disk: str) -> str | None:
        """The file system that the plug-in has put on record."""
        return self._note(disk, ANNOTATION_FILESYSTEM)

    def fence(self, disk: str) -> str | None:
        """What the plug-in has said of it, but for the generation."""
        note = self._note(disk, ANNOTATION_FENCE)
        return note and note.partition(" generation ")[0]

    def fence_generation(self, disk: str) -> int:
        return int((self._note(disk, ANNOTATION_FENCE) or "").partition(" generation ")[2] or 0)

    def replica_ready(self, disk: str) -> str | None:
        """Whether the replica could be used at once, as the plug-in has put on record."""
        return self._note(disk, ANNOTATION_REPLICA_READY)

    def version(self, disk: str) -> str:
        """Of its attachment: another one after each write."""
        return self._attachment(disk)["metadata"]["resourceVersion"]

    def say_ready(self, disk: str, text: str) -> None:
        """As a plug-in has left it that did not come to take it away."""
        self._set_note(disk, ANNOTATION_REPLICA_READY, text)

    def seen_in_boot(self, disk: str, boot_id: str) -> None:
        """As the controller does when Azure has told it that the disk is there."""
        self._set_note(disk, ANNOTATION_BOOT, boot_id)

    def running_job(self, disk: str) -> str | None:
        """The program that writes to the disk, as the plug-in has put on record."""
        return self._note(disk, ANNOTATION_RUNNING_JOB)

    def leave_job(self, disk: str, text: str) -> None:
        """As a plug-in that died has left it."""
        self._set_note(disk, ANNOTATION_RUNNING_JOB, text)

    def _attachment(self, disk: str) -> dict:
        return self.custom.get_namespaced_custom_object(
            GROUP, VERSION, self.namespace, "azvolumeattachments", f"{disk}-{self.node}-attachment"
        )

    def _note(self, disk: str, name: str) -> str | None:
        return self._attachment(disk)["status"].get("annotation", {}).get(name)

    def _set_note(self, disk: str, name: str, text: str) -> None:
        body = {"status": {"annotation": {name: text}}}
        self._patch_status("azvolumeattachments", f"{disk}-{self.node}-attachment", body)

    # ---- the node ----

    def driver_node(self) -> dict | None:
        try:
            return self.custom.get_namespaced_custom_object(
                GROUP, VERSION, self.namespace, "azdrivernodes", self.node
            )
        except ApiException as failure:
            if failure.status == 404:
                return None
            raise

    def status(self) -> dict:
        return (self.driver_node() or {}).get("status", {})

    def delete_driver_node(self) -> None:
        self.custom.delete_namespaced_custom_object(GROUP, VERSION, self.namespace, "azdrivernodes", self.node)

    def set_limit(self, limit: int) -> None:
        self._patch_status("azdrivernodes", self.node, {"status": {"slots": {"limit": limit}}})

    def _patch_status(self, plural: str, name: str, body: dict) -> None:
        self.custom.patch_namespaced_custom_object_status(GROUP, VERSION, self.namespace, plural, name, body)
