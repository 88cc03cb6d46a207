"""The driver's image: its programs in /bin, of which a pod's command names one."""

from pathlib import Path

from .archive import Image

BUILD = Path(__file__).parents[1] / "build"
PROGRAMS = ("azdisk-controller", "azdisk-node", "azdisk-scheduler-extender", "azdisk-probe", "azdiskctl")

# What the node plug-in runs, with the configuration that mkfs.ext4 reads.
NODE_TOOLS = ("/sbin/mkfs.ext4", "/sbin/e2fsck", "/sbin/resize2fs",
              "/sbin/mkfs.xfs", "/sbin/xfs_repair", "/sbin/xfs_growfs")
MKE2FS_CONFIGURATION = "/etc/mke2fs.conf"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


def driver_image(name: str) -> Image:
    files = {f"/bin/{program}": BUILD / "bin" / program for program in PROGRAMS}
    files |= {path: Path(path) for path in (*NODE_TOOLS, MKE2FS_CONFIGURATION, CERTIFICATES)}
    return Image(name, [f"/bin/{PROGRAMS[0]}"], files)
