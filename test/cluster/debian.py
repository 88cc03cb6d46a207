"""Packages of Debian that are unpacked into a cache outside of the tree, not installed.

The cache folder is named by a hash of what is wanted, and appears by a rename when it is complete. Whoever needs it
first fetches it, from where apt-get fetches everything else.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from . import tools


def _release() -> str:
    words = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return words.get("VERSION_CODENAME", "")


def unpacked(purpose: str, packages: tuple[str, ...], kept: tuple[str, ...] = (".",)) -> Path:
    """The folder in which `kept` of the packages is unpacked. RuntimeError, with apt-get's own words, if they cannot be
    had."""
    key = hashlib.sha256(json.dumps([packages, kept, _release()]).encode()).hexdigest()[:16]
    home = tools.cache() / purpose / key
    home.parent.mkdir(parents=True, exist_ok=True)
    with open(home.parent / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            _fetch(home, purpose, packages, kept)
    return home


def depends(package: str) -> str:
    """The one package that a metapackage stands for."""

    def shown() -> str:
        return subprocess.run(("apt-cache", "show", "--no-all-versions", package), capture_output=True, text=True).stdout

    text = shown()
    if not text:  # the lists of packages were never read
        subprocess.run(("apt-get", "update", "-q"), capture_output=True)
        text = shown()
    found = re.search(r"^Depends: ([^ ,]+)", text, re.MULTILINE)
    if not found:
        raise RuntimeError(f"apt-cache does not know on what Debian's package {package} depends")
    return found[1]


def _fetch(home: Path, purpose: str, packages: tuple[str, ...], kept: tuple[str, ...]) -> None:
    def run(*command: str | Path) -> None:
        failure = f"{purpose} needs Debian's packages {' '.join(packages)}: {command[0]}"
        try:
            done = subprocess.run(command, cwd=archives, capture_output=True, text=True,
                                  env=os.environ | {"LC_ALL": "C"})
        except FileNotFoundError as missing:
            raise RuntimeError(f"{failure}: {missing}") from missing
        if done.returncode:
            raise RuntimeError(f"{failure}: {done.stderr.strip()}")

    partial = home.with_name(home.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    archives = partial / "archives"
    archives.mkdir(parents=True)
    download = ("apt-get", "download", "-q", *packages)
    try:
        run(*download)
    except RuntimeError:  # the lists of packages were never read, or name versions that are no longer there
        run("apt-get", "update", "-q")
        run(*download)
    for archive in sorted(archives.iterdir()):
        run("sh", "-c", 'dpkg-deb --fsys-tarfile "$1" >data.tar && shift && tar -x -f data.tar -C .. "$@"',
            "sh", archive, *kept)
    shutil.rmtree(archives)
    partial.rename(home)
