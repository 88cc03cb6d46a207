"""What is wrong in a cluster, in some lines: a test that fails there says it with its reason. A condition that did not
come says nothing of what stood in its way, and the cluster is gone when somebody reads that. The logs of the driver's
containers, sidecars included, are kept in build/troubles; what they complain about is among the lines."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cluster.cluster import Cluster
from cluster.command import CommandFailed

from .driver import NAMESPACE

LINE, ALL = 400, 1700  # characters
LOGS = Path(__file__).parents[2] / "build" / "troubles"
COMPLAINT = re.compile(r"[WEF]\d{4} (\S+) +\d+ (\S+:\d+)\] (.*)")  # of klog, which the driver's programs write, too
COMPLAINTS, WORDS = 10, 220
FOLDER_OF_ID = re.compile(r"/subscriptions/[^ ]*/")  # what is long in the id of a disk
EVENTS = 8
USUAL = ("MissingClusterDNS", "CgroupV1")  # warnings of every kubelet here
DRIVER = "azvolumeattachments.disk.csi.azure.com"


def of(cluster: Cluster) -> str:
    """The newest events last, and cut there."""
    lines: list[str] = []
    for kind, describe in LOOKS.items():
        try:
            lines += describe(_items(cluster, kind))
        except (CommandFailed, json.JSONDecodeError) as failure:
            lines.append(f"{kind}: {failure}")
    return "; ".join(FOLDER_OF_ID.sub("", line)[:LINE] for line in lines)[:ALL]


def _items(cluster: Cluster, kind: str) -> list[dict]:
    return json.loads(cluster.kubectl("get", kind, "-A", "-o", "json", "--request-timeout=10s"))["items"]


def _condition(item: dict, kind: str) -> dict:
    conditions = item.get("status", {}).get("conditions", [])
    return next((condition for condition in conditions if condition["type"] == kind), {})


def _nodes(nodes: list[dict]) -> Iterator[str]:
    for node in nodes:
        taints = [taint["key"] for taint in node["spec"].get("taints", [])]
        ready = _condition(node, "Ready")
        if ready.get("status") != "True" or taints:
            yield f"{node['metadata']['name']} ready {ready.get('status')} {' '.join(taints)}"


def _pods(pods: list[dict]) -> Iterator[str]:
    for pod in pods:
        metadata, status = pod["metadata"], pod.get("status", {})
        finished = status.get("phase") == "Succeeded"
        if finished or (_condition(pod, "Ready").get("status") == "True" and "deletionTimestamp" not in metadata):
            continue
        yield " ".join([
            metadata["name"], "on", pod["spec"].get("nodeName", "no node"), status.get("phase", ""),
            "is deleted" if "deletionTimestamp" in metadata else "", _condition(pod, "PodScheduled").get("message", ""),
            *(f"{container['name']} started {container['restartCount']} times again: {json.dumps(container['state'])}"
              for container in status.get("containerStatuses", []) if not container["ready"]),
        ])


def _claims(claims: list[dict]) -> Iterator[str]:
    return (f"claim {claim['metadata']['name']} {claim['status'].get('phase')}" for claim in claims
            if claim["status"].get("phase") != "Bound" or "deletionTimestamp" in claim["metadata"])


def _volume_attachments(attachments: list[dict]) -> Iterator[str]:
    for attachment in attachments:
        metadata, spec, status = attachment["metadata"], attachment["spec"], attachment.get("status", {})
        error = status.get("attachError") or status.get("detachError") or {}
        if not status.get("attached") or error or "deletionTimestamp" in metadata:
            yield (f"VolumeAttachment of {spec['source'].get('persistentVolumeName')} to {spec['nodeName']} attached "
                   f"{status.get('attached')} {error.get('message', '')} deleted {metadata.get('deletionTimestamp')}")


def _of_the_driver(attachments: list[dict]) -> Iterator[str]:
    for attachment in attachments:
        spec, status = attachment["spec"], attachment.get("status", {})
        if status.get("state") != "Attached" or status.get("error") or "deletionTimestamp" in attachment["metadata"]:
            yield (f"AzVolumeAttachment {attachment['metadata']['name']} {spec.get('requestedRole')} {status.get('state')} "
                   f"{json.dumps(status.get('error'))}")


def _warnings(events: list[dict]) -> Iterator[str]:
    def moment(event: dict) -> str:
        return event.get("lastTimestamp") or event.get("eventTime") or event["metadata"]["creationTimestamp"]

    told = (event for event in events if event.get("type") == "Warning" and event.get("reason") not in USUAL)
    found = sorted(told, key=moment)
    for event in reversed(found[-EVENTS:]):
        yield f"{moment(event)[11:19]} {event['involvedObject']['name']} {event.get('reason')}: {event.get('message')}"


LOOKS: dict[str, Callable[[list[dict]], Iterator[str]]] = {
    "nodes": _nodes, "pods": _pods, "persistentvolumeclaims": _claims, "volumeattachments": _volume_attachments,
    DRIVER: _of_the_driver, "events": _warnings,
}  # fmt: skip


# ---- logs ----


def keep_logs(cluster: Cluster, folder: Path) -> Iterator[str]:
    """Yields the last complaint of each place in the programs, the newest first."""
    folder.mkdir(parents=True, exist_ok=True)
    last: dict[tuple[str, str], tuple[str, str]] = {}
    try:
        pods = _items(cluster, "pods")
    except (CommandFailed, json.JSONDecodeError) as failure:
        yield f"pods: {failure}"
        return
    for pod in pods:
        if pod["metadata"]["namespace"] != NAMESPACE:
            continue
        for container in pod["spec"]["containers"]:
            where = f"{pod['metadata']['name']}.{container['name']}"
            log = _log(cluster, pod["metadata"]["name"], container["name"])
            (folder / f"{where}.log").write_text(log)
            for moment, place, words in COMPLAINT.findall(log):
                last[where, place] = moment, words
    newest = sorted(((moment, where, words) for (where, _), (moment, words) in last.items()), reverse=True)
    for moment, where, words in newest[:COMPLAINTS]:
        yield f"{moment[:8]} {where}: {words[:WORDS]}"


def _log(cluster: Cluster, pod: str, container: str) -> str:
    try:
        return cluster.kubectl("logs", "-n", NAMESPACE, pod, "-c", container, "--tail=5000", "--request-timeout=10s")
    except CommandFailed as failure:
        return f"{failure}\n"


def _cluster_of(item: pytest.Item) -> Cluster | None:
    for value in getattr(item, "funcargs", {}).values():
        found = getattr(value, "cluster", value)
        if isinstance(found, Cluster):
            return found
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> None:
    """Of a conftest that imports it."""
    cluster = _cluster_of(item)
    if not cluster or not call.excinfo or isinstance(call.excinfo.value, pytest.skip.Exception):
        return
    if not cluster.directory.exists():  # it has failed at its end
        return
    call.excinfo.value.add_note(f"troubles: {of(cluster)}")
    folder = LOGS / re.sub(r"[^\w.-]+", "-", item.nodeid)
    complaints = "; ".join(keep_logs(cluster, folder))
    call.excinfo.value.add_note(f"the driver's logs are in {folder.relative_to(LOGS.parents[1])}: {complaints}")
