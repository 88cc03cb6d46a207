"""The specs that `make test` runs: one for each thing that the suite asks of a driver, none of them slow."""

import re

SLOW = re.compile(r"\[(Slow|Serial|Disruptive)\]")
POSSIBLE = re.compile(r"\[Testpattern: (Dynamic|Generic Ephemeral)")

# By the driver's own definition, of volumes that it can make; an expression has one spec.
SAMPLE = (
    r"\(ext4\)\] volumes should store data",
    r"\(block volmode\)\] volumes should store data",
    r"\(default fs\)\] volumes should allow exec of files on the volume",
    r"\(default fs\)\] provisioning should provision storage with mount options",
    r"\(default fs\)\] provisioning should provision storage with snapshot data source \[",
    r"\(default fs\)\] provisioning should provision correct filesystem size when restoring snapshot to larger size",
    r"\(default fs\)\] provisioning should provision storage with pvc data source$",
    r"Dynamic Snapshot \(delete policy\)\] snapshottable .* check deletion \(persistent\)",
    r"\(default fs\)\(allowExpansion\)\] volume-expand should resize volume when PVC is edited while pod is using it",
    r"\(block volmode\)\] volume-modify .* should modify volume with no VAC",
    r"\(default fs\)\] fsgroupchangepolicy \(OnRootMismatch\)\[LinuxOnly\], pod created with an initial fsgroup, new pod",
    r"\(default fs\)\] subPath should support existing directory$",
    r"\(default fs\)\] subPath should be able to unmount after the subpath directory is deleted",
    r"\(default fs\)\] read-write-once-pod .* should block a second pod",
    r"\(filesystem volmode\)\] volumeMode should not mount / map unused volumes in a pod",
    r"\(filesystem volmode\)\] volumeLimits should verify that all csinodes have volume limits",
    r"Generic Ephemeral-volume \(default fs\) \(late-binding\)\] ephemeral should create read/write inline ephemeral volume",
    r"\(delayed binding\)\] topology should provision a volume and schedule a pod with AllowedTopologies",
    r"\(delayed binding\)\] topology should fail to schedule a pod which has topologies that conflict",
)


def of(specs: list[str], driver: str) -> list[str]:
    """Those of the sample; an expression without a spec, or with two, is out of date."""
    possible = [spec for spec in specs if f"[Driver: {driver}]" in spec and POSSIBLE.search(spec) and not SLOW.search(spec)]
    found = {names: [spec for spec in possible if re.search(names, spec)] for names in SAMPLE}
    if wrong := [names for names, some in found.items() if len(some) != 1]:
        raise ValueError(f"expressions of the sample that do not have one spec each: {wrong}")
    return [spec for [spec] in found.values()]
