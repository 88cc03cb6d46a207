"""Which specs of the suite do not run, and why."""

# Specs that are left out: an expression that their names match, and the reason.
LEFT_OUT = {
    r"\[Feature:Windows\]": "the driver has no Windows nodes",
    r"\[Disruptive\]": "stops kubelet by ssh and systemd, which the test cluster's nodes do not have; "
    "test/e2e cuts their power and their network instead",
}

# What the suite says of specs that it skips by itself, and why that is right.
SKIPPED = {
    r"does not support volume type \"(PreprovisionedPV|InlineVolume|CSIInlineVolume)\"": "",
}
