"""A node that comes back has all its volumes staged at the same time."""

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..csi import TREE
from .machine import SMALLEST_EXT4
from .volume import Volume

PROGRAM = TREE / "build/plain/bin/azdisk-node"  # as it is installed: sanitizers have memory of their own
VOLUMES = 50
PEAK_KIB = 32 * 1024  # the programs that it runs apart
SECONDS = 120


def peak_kib(pid: int) -> int:
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[1])


def stage_all(volumes: list[Volume], kubelet: ThreadPoolExecutor) -> None:
    list(kubelet.map(lambda v: v.stage(timeout=SECONDS), volumes))


def test_fifty(stopped, cloud, disk_of):
    """First they are formatted, then they have a file system each; and each its own."""
    plugin = stopped.run(program=PROGRAM)
    volumes = [Volume(plugin, cloud, f"data-{i}", disk_of(SMALLEST_EXT4), lun=i).attach() for i in range(VOLUMES)]
    with ThreadPoolExecutor(VOLUMES) as kubelet:
        stage_all(volumes, kubelet)
        records = {cloud.record(v.name) for v in volumes}
        assert len(records) == VOLUMES and None not in records
        list(kubelet.map(Volume.unstage, volumes))
        stage_all(volumes, kubelet)
        assert {cloud.record(v.name) for v in volumes} == records
        assert all(plugin.machine.mounts(v.staging) == 1 for v in volumes)
        list(kubelet.map(Volume.unstage, volumes))
    assert peak_kib(plugin.process.pid) <= PEAK_KIB
