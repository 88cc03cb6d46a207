"""Secrets of kubelet's calls are of no use to the plug-in: it says so to nobody, and keeps them nowhere."""

import re
import subprocess

from ..csi import mounted
from .machine import MIB

SECRET = "hunter2-3141592653"
SECRETS = {"passphrase": SECRET}


def test_secrets_are_kept_by_nobody(volume, plugin, installed):
    v = volume(size=64 * MIB)
    call = {"volume_id": v.id, "volume_capability": mounted(), "secrets": SECRETS}
    v.cloud.take_over(v.name)
    plugin.csi.call("Node/NodeStageVolume", staging_target_path=str(v.staging), **call)
    paths = {"staging_target_path": str(v.staging), "target_path": str(v.target)}
    plugin.csi.call("Node/NodePublishVolume", **paths, **call)
    v.cloud.take_over(v.name)
    plugin.csi.call("Node/NodeExpandVolume", volume_path=str(v.target), staging_target_path=str(v.staging), **call)
    metrics = plugin.get("/metrics")[1]
    log, kept = plugin.log.read_text(), installed.everything()
    files = b"".join(file.read_bytes() for file in plugin.folder.rglob("*") if file.is_file())
    v.unpublish()
    assert v.name in log and v.name.encode() in kept and v.id.encode() in files, "what is no secret is found"
    assert SECRET not in log + metrics and SECRET.encode() not in kept + files


def test_the_kernel_writes_no_core_of_the_plugin(plugin):
    """It would have what calls bring; whoever may look into any process, as a debugger here, may still."""
    ask = ["gdb", "--batch", "-p", str(plugin.process.pid), "-ex", "print (int)prctl(3, 0, 0, 0, 0)"]  # PR_GET_DUMPABLE
    answer = subprocess.run(ask, capture_output=True, text=True, check=True).stdout
    assert re.search(r"\$1 = 0$", answer, re.MULTILINE), answer
