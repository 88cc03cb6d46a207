"""What guests need of Debian: packages that are unpacked into a cache outside of the tree, not installed.

An installed mdadm or lvm2 brings udev rules and services that would look at the disks of the machine
itself. The cache folder is named by a hash of what is wanted, and appears by a rename when it is
complete. Whoever needs it first fetches it: 45 MB, from where apt-get fetches everything else.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

from cluster import tools

PACKAGES = (
    "user-mode-linux",  # the kernel, as a program, and its modules
    "kmod",  # loads them
    "mdadm", "lvm2", "dmsetup",  # what would take a disk for its own
    "libdevmapper1.02.1", "libdevmapper-event1.02.1", "libaio1", "libedit2", "libbsd0", "libmd0",
)  # fmt: skip


def _release() -> str:
    words = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return words.get("VERSION_CODENAME", "")


def unpacked() -> Path:
    """The folder in which they are unpacked. RuntimeError, with apt-get's own words, if they cannot be had."""
    key = hashlib.sha256(json.dumps([PACKAGES, _release()]).encode()).hexdigest()[:16]
    home = tools.cache() / "guest" / key
    home.parent.mkdir(parents=True, exist_ok=True)
    with open(home.parent / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            _fetch(home)
    return home


def _fetch(home: Path) -> None:
    partial = home.with_name(home.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    (partial / "archives").mkdir(parents=True)
    _download(partial / "archives")
    for archive in sorted((partial / "archives").iterdir()):
        _run(partial, "dpkg-deb", "--extract", archive, partial)
    shutil.rmtree(partial / "archives")
    partial.rename(home)


def _download(folder: Path) -> None:
    """A machine may never have read the lists of packages, or they may be so old that they name
    versions that are no longer there."""
    try:
        _run(folder, "apt-get", "download", "-q", *PACKAGES)
    except RuntimeError:
        _run(folder, "apt-get", "update", "-q")
        _run(folder, "apt-get", "download", "-q", *PACKAGES)


def _run(folder: Path, *command: str | Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | {"LC_ALL": "C"})
    except FileNotFoundError as failure:
        raise RuntimeError(f"guests need Debian's packages {' '.join(PACKAGES)}: {failure}") from failure
    if done.returncode:
        raise RuntimeError(f"guests need Debian's packages {' '.join(PACKAGES)}: {command[0]}: {done.stderr.strip()}")
