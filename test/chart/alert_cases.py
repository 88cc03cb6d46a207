"""For each alert, what makes it fire, and what is close to that and leaves it silent."""

from typing import NamedTuple


def steady(value: float, minutes: int = 240) -> str:
    return f"{value}+0x{minutes}"


def growing(by: float, minutes: int = 240) -> str:
    return f"0+{by}x{minutes}"


def jumping(at: int, minutes: int = 240) -> str:
    """A counter that counts once."""
    return f"0+0x{at} 1+0x{minutes - at}"


class Series(NamedTuple):
    name: str
    values: str  # as promtool reads them, one a minute
    labels: dict[str, str]


def series(name: str, values: str, /, **labels: str) -> Series:
    return Series(name, values, labels)


class Case(NamedTuple):
    alert: str
    minute: int
    fires: list[Series]
    silent: list[Series]
    labels: dict[str, str] = {}  # of the alert, besides those of the target
    value: str = ""  # as it says it
    of_target: bool = True


AZURE = "azuredisk_azure_requests_total"
CALLS = "azuredisk_csi_operations_seconds"
PUBLISH, STAGE = "/csi.v1.Controller/ControllerPublishVolume", "/csi.v1.Node/NodeStageVolume"


def calls(method: str, within_30s: float, within_60s: float, within_120s: float) -> list[Series]:
    """So many a minute, cumulatively."""
    counts = {"30": within_30s, "60": within_60s, "120": within_120s, "+Inf": within_120s}
    return [series(CALLS + "_bucket", growing(count), method_name=method, grpc_status_code="0", le=bound)
            for bound, count in counts.items()]


def findings(kind: str, count: int) -> list[Series]:
    return [series("azuredisk_audit_findings", steady(count, 1600), kind=kind)]


def requests(result: str, by: float = 1, kind: str = "vm_update") -> list[Series]:
    return [series(AZURE, growing(by), kind=kind, result=result)]


def certificate(begins: float, ends: float) -> list[Series]:
    """Of the webhook, in seconds of the test's time."""
    return [series(f"azuredisk_webhook_certificate_{name}_seconds", steady(value))
            for name, value in (("not_before", begins), ("not_after", ends))]


def of_both(name: str, value: float, **labels: str) -> list[Series]:
    """Of the controller that leads, and of one that stands by."""
    return [series(name, steady(value), **labels), series(name, steady(value), pod="b", **labels)]


CASES = [
    Case("AzureDiskNoLeader", 5,
         [series("azuredisk_leader", steady(0)), series("azuredisk_leader", steady(0), pod="b")],
         [series("azuredisk_leader", steady(0)), series("azuredisk_leader", steady(1), pod="b")]),
    Case("AzureDiskNoLeader", 5, [], [series("azuredisk_leader", "1 0 0 1+0x3")], of_target=False),
    Case("AzureDiskFailoverHeldBack", 6,
         [series("azuredisk_failovers_total", jumping(3), result="held back")],
         [series("azuredisk_failovers_total", jumping(3), result="released")]),
    Case("AzureDiskFailoverHeldBack", 6,
         [series("azuredisk_silent_nodes", steady(1))], [series("azuredisk_silent_nodes", "1 0 1 0 0 1 0")]),
    Case("AzureDiskNodeGivenUp", 6,
         [series("azuredisk_failovers_total", jumping(3), result="released")],
         [series("azuredisk_failovers_total", steady(1), result="released"),
          series("azuredisk_failovers_total", jumping(3), result="held back")]),
    Case("AzureDiskDataAtRisk", 1, findings("TwoPrimaries", 1), findings("ForeignDisk", 3), {"kind": "TwoPrimaries"}, "1"),
    Case("AzureDiskNotRepaired", 125, findings("SizeDiffers", 2),
         [series("azuredisk_audit_findings", "2+0x100 0+0x60", kind="SizeDiffers"), *findings("ForeignDisk", 2)], {"kind": "SizeDiffers"}, "2"),
    Case("AzureDiskForeignUse", 31, findings("AttachedOutside", 1), findings("ForeignDisk", 1),
         {"kind": "AttachedOutside"}, "1"),
    Case("AzureDiskOrphans", 1445, findings("DiskWithoutVolume", 4), findings("DisksNotListed", 4),
         {"kind": "DiskWithoutVolume"}, "4"),
    Case("AzureDiskAuditIncomplete", 60, findings("DisksNotListed", 1), findings("DiskWithoutVolume", 1)),
    Case("AzureDiskAuditIncomplete", 60,
         [series("azuredisk_audit_scans_total", growing(6), result="Unavailable"),
          series("azuredisk_audit_scans_total", steady(9), result="ok")],
         [series("azuredisk_audit_scans_total", growing(2), result="Unavailable"),
          series("azuredisk_audit_scans_total", growing(4), result="ok")]),
    Case("AzureDiskVolumeFailed", 16, of_both("azuredisk_volumes", 3, state="CreationFailed"),
         [series("azuredisk_volumes", steady(3), state="Creating")], {"state": "CreationFailed"}, "3"),
    Case("AzureDiskAttachFailed", 11,
         of_both("azuredisk_attachments", 1, role="Primary", state="AttachmentFailed"),
         [series("azuredisk_attachments", "1+0x5 0+0x20", role="Primary", state="AttachmentFailed"),
          series("azuredisk_attachments", steady(1), role="Primary", state="Attached")],
         {"role": "Primary", "state": "AttachmentFailed"}, "1"),
    Case("AzureDiskAttachSlow", 60, calls(PUBLISH, 0, 0, 1), calls(PUBLISH, 0.95, 1, 1) + calls(STAGE, 0, 0, 9), value="1m 54s"),
    Case("AzureDiskReplicasMissing", 61, [series("azuredisk_volumes_lacking_replicas", steady(5))],
         [series("azuredisk_volumes_lacking_replicas", "5+0x30 0 5+0x60")], value="5"),
    Case("AzureDiskNodePluginSilent", 11, of_both("azuredisk_driver_nodes", 2, state="silent"),
         [series("azuredisk_driver_nodes", steady(2), state="alive")], value="2"),
    Case("AzureDiskAzureDenies", 21, requests("PermissionDenied"),
         requests("PermissionDenied", kind="disk_read"), {"kind": "vm_update"}),
    Case("AzureDiskAzureQuota", 61, requests("ResourceExhausted"), requests("NotFound"), {"kind": "vm_update"}),
    Case("AzureDiskAzureThrottles", 21, requests("Throttled"), requests("ok"), {"kind": "vm_update"}),
    Case("AzureDiskBudgetExhausted", 21,
         [series("azuredisk_azure_budget_wait_seconds_sum", growing(60), kind="vm_update")],
         [series("azuredisk_azure_budget_wait_seconds_sum", growing(20), kind="vm_update")], {"kind": "vm_update"}, "1"),
    Case("AzureDiskAzureFails", 21, requests("Unavailable", 1) + requests("ok", 3),
         requests("Unavailable", 1) + requests("ok", 5), value="25%"),
    Case("AzureDiskReconcilesFail", 31,
         [series("azuredisk_reconcile_total", growing(3), kind="volume", result="PermissionDenied"),
          series("azuredisk_reconcile_total", growing(1), kind="volume", result="ok")],
         [series("azuredisk_reconcile_total", growing(3), kind="volume", result="Conflict"),
          series("azuredisk_reconcile_total", growing(1), kind="volume", result="Internal")], {"kind": "volume"}, "75%"),
    Case("AzureDiskWorkPilesUp", 31, [series("azuredisk_workqueue_depth", steady(150), name="volume")],
         [series("azuredisk_workqueue_depth", "500+0x20 0 500+0x20", name="volume")], {"name": "volume"}, "150"),
    Case("AzureDiskWebhookCertificateEnds", 56, certificate(0, 3600), certificate(0, 6000), value="4m 0s"),
    Case("AzureDiskWrongDisk", 6, [series("azuredisk_disk_proofs_total", jumping(3), verdict="refused")],
         [series("azuredisk_disk_proofs_total", growing(1), verdict="format")]),
    Case("AzureDiskFenceRefused", 6, [series("azuredisk_fences_total", jumping(3), result="refused")],
         [series("azuredisk_fences_total", growing(1), result="unsupported")]),
    Case("AzureDiskFenceLost", 6, [series("azuredisk_fences_total", jumping(3), result="lost")],
         [series("azuredisk_fences_total", growing(1), result="held")]),
    Case("AzureDiskHangs", 6, [series("azuredisk_hung_disks", steady(1))], [series("azuredisk_hung_disks", "1 1 0 1+0x9")],
         value="1"),
    Case("AzureDiskReplicaNotReady", 16, [series("azuredisk_replica_disks", steady(2), state="not_ready")],
         [series("azuredisk_replica_disks", steady(2), state="held")], value="2"),
    Case("AzureDiskHeartbeatOld", 6, [series("azuredisk_heartbeat_age_seconds", steady(180))],
         [series("azuredisk_heartbeat_age_seconds", steady(60))], value="3m 0s"),
    Case("AzureDiskNodeWritesFail", 30, [series("azuredisk_heartbeats_total", growing(1), result="failed")],
         [series("azuredisk_heartbeats_total", growing(0.1), result="failed"),
          series("azuredisk_heartbeats_total", growing(2), result="ok")], value="15"),
    Case("AzureDiskNodeWritesFail", 30, [series("azuredisk_node_lease_writes_total", growing(4), result="failed")],
         [series("azuredisk_node_lease_writes_total", growing(4), result="ok")], value="60"),
    Case("AzureDiskStageFails", 31, [series(CALLS + "_count", growing(1), method_name=STAGE, grpc_status_code="9")],
         [series(CALLS + "_count", growing(1), method_name=STAGE, grpc_status_code="10")]),
    Case("AzureDiskSlotsFull", 61,
         [series("azuredisk_slots", steady(8), kind="used"), series("azuredisk_slots", steady(8), kind="limit")],
         [series("azuredisk_slots", steady(7), kind="used"), series("azuredisk_slots", steady(8), kind="limit")]),
    Case("AzureDiskExtenderGone", 6, [], [series("azuredisk_extender_index_objects", steady(0), kind="AzDriverNode")],
         of_target=False),
    Case("AzureDiskExtenderFails", 21,
         [series("azuredisk_extender_requests_total", growing(1), verb="filter", result="InvalidArgument"),
          series("azuredisk_extender_requests_total", growing(3), verb="filter", result="ok")],
         [series("azuredisk_extender_requests_total", growing(1), verb="filter", result="InvalidArgument"),
          series("azuredisk_extender_requests_total", growing(99), verb="filter", result="ok")], value="25%"),
    Case("AzureDiskWatchesFail", 31, [series("azuredisk_kube_watch_failures_total", growing(3), resource="nodes")],
         [series("azuredisk_kube_watch_failures_total", growing(1), resource="nodes")], value="45"),
    Case("AzureDiskVersionsDiffer", 365,
         [series("azuredisk_build_info", steady(1, 400), version="1"),
          series("azuredisk_build_info", steady(1, 400), version="2", pod="b")],
         [series("azuredisk_build_info", steady(1, 400), version="1"),
          series("azuredisk_build_info", steady(1, 400), version="1", pod="b")]),
]
