"""The driver's image as a file: python3 -m deployment.image NAME ARCHIVE"""

import sys
from pathlib import Path

from cluster import images

BUILT = Path(__file__).parents[2] / "build" / "bin"
PROGRAMS = ("azdisk-controller", "azdisk-node", "azdisk-scheduler-extender")


def driver_image(name: str) -> images.Image:
    return images.azuredisk(name, [BUILT / program for program in PROGRAMS])


if __name__ == "__main__":
    archive = Path(sys.argv[2])
    driver_image(sys.argv[1]).write(archive)
    print(f"{archive}: {sys.argv[1]}, {archive.stat().st_size / 2**20:.1f} MiB")
