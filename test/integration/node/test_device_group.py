"""Why the node plug-in's container is privileged (docs/security.md): a container may open a disk only if its control group
allows the device, whatever its capabilities. By runc, which runs the containers of a cluster."""

import json
import os
import subprocess

import pytest

from .machine import SMALLEST_EXT4

CAPABILITIES = ["CAP_SYS_ADMIN", "CAP_SYS_RAWIO", "CAP_MKNOD", "CAP_DAC_OVERRIDE"]
OF_THE_MACHINE = ("/bin", "/lib", "/lib64", "/usr", "/dev")
TRY = """
    dd if={disk} of=/dev/null bs=512 count=1
    mknod /tmp/disk b {major} {minor} && dd if=/tmp/disk of=/dev/null bs=512 count=1
    head -c 1 /proc/self/status >/dev/null && echo it has run
"""


def configuration(script: str, devices: list[dict]) -> dict:
    """With nothing of its own but /proc and /tmp, and no cell around it but the control group."""
    binds = [{"destination": path, "type": "bind", "source": path, "options": ["rbind"]} for path in OF_THE_MACHINE]
    mounts = [{"destination": "/proc", "type": "proc", "source": "proc"}, {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"}]
    sets = ("bounding", "effective", "permitted")
    return {
        "ociVersion": "1.0.2",
        "process": {"user": {"uid": 0, "gid": 0}, "cwd": "/", "args": ["/bin/sh", "-c", script], "env": ["PATH=/usr/bin:/bin:/usr/sbin"],
                    "capabilities": {name: CAPABILITIES for name in sets}},
        "root": {"path": "rootfs"},
        "mounts": mounts + binds,
        "linux": {"resources": {"devices": devices}, "namespaces": [{"type": "mount"}, {"type": "pid"}]},
    }


@pytest.mark.parametrize(("allowed", "opened"), [(False, 0), (True, 2)], ids=["not privileged", "privileged"])
def test_a_disk_is_opened_only_where_the_devices_are_allowed(disk_of, tmp_path, allowed, opened):
    disk = disk_of(SMALLEST_EXT4).path
    number = os.stat(disk).st_rdev
    (tmp_path / "rootfs").mkdir()
    script = TRY.format(disk=disk, major=os.major(number), minor=os.minor(number))
    devices = [{"allow": allowed, "access": "rwm"}]
    if not allowed:  # as the container runtime has it: any node may be made, few be opened
        devices.append({"allow": True, "type": "b", "access": "m"})
    (tmp_path / "config.json").write_text(json.dumps(configuration(script, devices)))
    words = ["runc", "run", "--bundle", tmp_path, f"azdisk-{os.getpid()}-{allowed}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.stdout == "it has run\n", done.stderr
    assert done.stderr.count("1+0 records in") == opened, done.stderr
    assert done.stderr.count("Operation not permitted") == 2 - opened, done.stderr
