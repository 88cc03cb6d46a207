"""Debian's packages: which one a file of this machine is of, and what dpkg says of it."""

import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

FIELDS = ("binary:Package", "Package", "Version", "Architecture", "source:Package", "source:Version")
MADE_HERE = {"/etc/ssl/certs/ca-certificates.crt": "ca-certificates"}  # by a package, which does not list it


@dataclass(frozen=True, order=True)
class Package:
    query: str  # as dpkg-query calls it: libc6:amd64
    name: str
    version: str
    architecture: str
    source: str
    source_version: str

    def url(self, distribution: dict[str, str]) -> str:
        """A package URL (purl), of the distribution of an os-release file."""
        of = f"{distribution['ID']}-{distribution.get('VERSION_ID', 'sid')}"
        upstream = f"&upstream={quote(self.source)}%40{quote(self.source_version, safe='')}"
        return (f"pkg:deb/{distribution['ID']}/{quote(self.name, safe='')}@{quote(self.version, safe='')}"
                f"?arch={self.architecture}&distro={of}{upstream}")

    def licence(self) -> Path:
        """Its file of licences; RuntimeError if it was installed without."""
        file = Path("/usr/share/doc", self.name, "copyright")
        if not file.exists():
            raise RuntimeError(f"package {self.name} was installed without {file}, which has to go where its files go")
        return file

    def status(self) -> str:
        """Its paragraph of a dpkg status file, as far as scanners of images read it."""
        return (f"Package: {self.name}\nStatus: install ok installed\nArchitecture: {self.architecture}\n"
                f"Source: {self.source} ({self.source_version})\nVersion: {self.version}\n")


def distribution() -> dict[str, str]:
    """This machine's."""
    rows = (line.partition("=") for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return {name: value.strip('"') for name, _, value in rows}


def packages_of(files: Iterable[Path]) -> dict[Path, Package]:
    """Of every file; RuntimeError if one is of none."""
    names = {file: _names(file) for file in files}
    found = _owners(sorted({name for all_names in names.values() for name in all_names}))
    found |= MADE_HERE
    owners = {file: next((found[name] for name in all_names if name in found), None)
              for file, all_names in names.items()}
    strangers = [str(file) for file, owner in owners.items() if not owner]
    if strangers:
        raise RuntimeError(f"no package of Debian has {', '.join(strangers)}")
    packages = _described(sorted(set(owners.values())))
    return {file: packages[owner] for file, owner in owners.items()}


def _names(file: Path) -> list[str]:
    """By which dpkg may know it: /lib and /bin are links to folders of /usr, and packages say either."""
    name = os.path.normpath(file)
    return [name, name.removeprefix("/usr") if name.startswith("/usr/") else f"/usr{name}"]


def _owners(names: list[str]) -> dict[str, str]:
    done = subprocess.run(["dpkg-query", "--search", *names], capture_output=True, text=True)  # 1: some are unknown
    rows = (line.rpartition(": ") for line in done.stdout.splitlines() if not line.startswith("diversion by "))
    return {name: owner.partition(",")[0] for owner, _, name in rows}


def _described(queries: list[str]) -> dict[str, Package]:
    form = "\\t".join(f"${{{field}}}" for field in FIELDS) + "\\n"
    words = ["dpkg-query", "--show", f"--showformat={form}", *queries]
    rows = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    packages = [Package(*row.split("\t")) for row in rows]
    by_name = {package.query: package for package in packages} | {package.name: package for package in packages}
    return {query: by_name[query] for query in queries}
