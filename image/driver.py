"""The driver's image: its programs in /bin, of which a pod's command names one; and what is in it of whom."""

import os
from dataclasses import dataclass
from pathlib import Path

from .archive import Image
from .packages import Package, packages_of

BUILD = Path(__file__).parents[1] / "build"
PROGRAMS = ("azdisk-controller", "azdisk-node", "azdisk-scheduler-extender", "azdisk-probe", "azdiskctl")

# What the node plug-in runs, with the configuration that mkfs.ext4 reads.
NODE_TOOLS = ("/sbin/mkfs.ext4", "/sbin/e2fsck", "/sbin/resize2fs",
              "/sbin/mkfs.xfs", "/sbin/xfs_repair", "/sbin/xfs_growfs")
MKE2FS_CONFIGURATION = "/etc/mke2fs.conf"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
RELEASE = "/etc/os-release"  # by which scanners know whose packages these are

USER = "65532:65532"  # nobody in particular; the chart says which programs are to be root's
STATUS = "/var/lib/dpkg/status.d"  # a file for each package, where there is no dpkg


@dataclass
class Driver:
    """The image, of its files those that are of Debian, and the packages of archives that are linked into programs."""

    image: Image
    packages: dict[str, Package]  # by path in the image
    linked: list[Package]

    def all_packages(self) -> list[Package]:
        return sorted({*self.packages.values(), *self.linked})


def driver(name: str, version: str, build: Path = BUILD) -> Driver:
    files = {f"/bin/{program}": build / "bin" / program for program in PROGRAMS}
    files |= {path: Path(path) for path in (*NODE_TOOLS, MKE2FS_CONFIGURATION, CERTIFICATES, RELEASE)}
    labels = {
        "org.opencontainers.image.title": "azuredisk-csi",
        "org.opencontainers.image.description": "Azure Disk CSI driver: controller, node plug-in, scheduler extender",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "Apache-2.0",
    }
    image = Image(name, [f"/bin/{PROGRAMS[0]}"], files, labels=labels, user=USER)
    debian = {path: file for path, file in image.contents().items() if not file.is_relative_to(build)}
    owners = packages_of(debian.values())
    made = Driver(image, {path: owners[file] for path, file in debian.items()}, linked_packages(build))
    for package in made.all_packages():
        image.texts[f"{STATUS}/{package.name}"] = package.status()
        made.packages[f"{STATUS}/{package.name}"] = package
        image.files[str(package.licence())] = package.licence()
        made.packages[str(package.licence())] = package
    return made


def linked_packages(build: Path) -> list[Package]:
    """Of the archives and objects that the linker has put into programs."""
    inputs = set()
    for program in PROGRAMS:
        noted = build / "plain/bin" / f"{program}.inputs"
        if not noted.exists():
            raise RuntimeError(f"{noted} is missing: {program} was linked by an older Makefile; make clean")
        _, _, names = noted.read_text().partition(":")
        inputs |= {Path(os.path.normpath(name)) for name in names.partition("\n\n")[0].replace("\\\n", " ").split()}
    archives = [file for file in inputs if file.suffix in (".a", ".o") and file.is_absolute()]
    return sorted(set(packages_of(archives).values()))
