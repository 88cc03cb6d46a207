"""Which specs of the suite do not run, and why."""

import re

# Specs that are left out: an expression that their names match, and the reason.
LEFT_OUT = {
    r"\[Feature:Windows\]": "the driver has no Windows nodes",
    r"\[Disruptive\]": "stops kubelet by ssh and systemd, which the test cluster's nodes do not have; test/e2e cuts "
    "nodes' power and network instead",
    r"with any volume data source": "needs two programs, hello-populator and volume-data-source-validator, whose images cannot "
    "be had here; what they ask of a driver is a volume",
    r"-shared\] .*(default fs|xfs|ext4|filesystem volmode).* multiVolume .*from pods on different node": "a file system "
    "is mounted by one node at a time; the driver refuses ReadWriteMany but for block volumes",
}

# What the suite says of the specs that it skips itself, and why it may.
_NOT_DYNAMIC = "the driver's volumes are dynamic or generic ephemeral ones: the suite has no way to make others for it"
NO_GROUPS = "Azure takes a snapshot of one disk at a time"
SKIPPED = {
    r'does not support volume type "(InlineVolume|PreprovisionedPV)"': _NOT_DYNAMIC,
    r'does not support volume type "CSIInlineVolume"': "the driver does not support volumes without a PersistentVolume",
    r"group snapshots": NO_GROUPS,
    r"does not support ROX access mode": "a file system is mounted by one node at a time; the driver refuses ReadOnlyMany "
    "but for block volumes",
    r"doesn't publish storage capacity": "Azure does not say how much storage is left",
    r"doesn't support RWX": "one VM at a time can have its disk; the definition -shared has disks for several",
    r"does not support online volume expansion": "a shared disk grows while no VM has it",
    r"[iI]mmediate.* (multi-topology environment|separate topology segments)": "volumes that are made before there is a pod may "
    "be in other zones than the pod's other volumes",
    r"should be covered by block volume case|mount test for block mode|not valid for Block volume mode|"
    r"Block volumes do not support mount options|raw block volumes cannot be read-only|"
    r"Suite \"volumeLimits\" does not support GenericEphemeralVolume|volume type .* is (not )?ephemeral|"
    r"does not support snapshots - ": "the suite has this spec for other kinds of volumes only",
}


def left_out(spec: str) -> str | None:
    """Why, if it is."""
    return next((why for names, why in LEFT_OUT.items() if re.search(names, spec)), None)


def reason(text: str) -> str | None:
    """Why the suite may skip a spec of which it says this; None if it may not."""
    return next((why for said, why in SKIPPED.items() if re.search(said, text)), None)
