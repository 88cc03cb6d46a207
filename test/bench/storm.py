"""A storm of refusals, and what must be true of the calls in it and of what is left after it."""

import threading
from datetime import datetime

SECONDS = 60
# A call that was on its way when the refusal was is nobody's fault; what this much later comes was
# sent by somebody who knew, on a busy machine too.
CROSSING = 0.05  # seconds
# Of a VM's change and of a look at one Compute says so, of a read of a VM Resource Manager, for all
# that is read. Some get through, so that there is something to look at.
RULES = (
    {"kind": "virtualMachines.attachDetachDataDisks", "retryAfter": 17, "probability": 0.7, "seed": 1},
    {"kind": "operations.get", "retryAfter": 7, "probability": 0.7, "seed": 2},
    {"kind": "virtualMachines.get", "retryAfter": 3, "probability": 0.5, "seed": 3, "by": "resourceManager"},
)


def begin(azure) -> threading.Timer:
    """It ends by itself; join it."""
    for rule in RULES:
        azure.fault("throttle", **rule)
    end = threading.Timer(SECONDS, azure.control, ("DELETE", "faults"))
    end.start()
    return end


def _seconds(entry: dict) -> float:
    return datetime.fromisoformat(entry["time"]).timestamp()


def _concerns(rule: dict, refusal: dict, call: dict) -> bool:
    if rule.get("by") == "resourceManager":
        return call["method"] == "GET" and "/providers/" in call["path"]
    return call.get("kind") == refusal["kind"] and call["path"] == refusal["path"]


def early_calls(journal: list[dict]) -> list[str]:
    """Calls that came after a refusal was answered, and before its Retry-After."""
    rules = {rule["kind"]: rule for rule in RULES}
    found = []
    for refusal in (entry for entry in journal if entry["status"] == 429 and entry.get("kind") in rules):
        rule = rules[refusal["kind"]]
        at = _seconds(refusal)
        answered, until = at + refusal["latencyMs"] / 1000, at + rule["retryAfter"]
        found += [f"call {call['number']} ({call['kind']}) came {(_seconds(call) - answered) * 1000:.0f} ms "
                  f"after call {refusal['number']} was refused, {until - _seconds(call):.1f} s before its Retry-After"
                  for call in journal
                  if answered + CROSSING < _seconds(call) < until and _concerns(rule, refusal, call)]
    return found


def lost_volumes(world, volumes: list[str]) -> list[str]:
    there = {disk["id"].lower() for disk in world.azure.control("GET", "disks")["disks"]}
    return [volume for volume in volumes if volume.lower() not in there]


def leaked_luns(world) -> list[str]:
    """Places of VMs that are not as the cluster has them on record."""
    recorded = {(item["spec"]["nodeName"], int(item["status"]["detail"]["publish_context"]["LUN"]),
                 item["spec"]["volumeName"]) for item in world.objects("azvolumeattachments")}
    found = []
    for vm in world.azure.control("GET", "vms")["vms"]:
        on_record = {(lun, disk) for node, lun, disk in recorded if node == vm["name"]}
        for what in ("wanted", "attached"):
            places = {(place["lun"], place["disk"].rpartition("/")[2]) for place in vm[what]}
            found += [f"{what} on {vm['name']}: {place}" for place in places ^ on_record]
    return found
