"""Images as files: python3 -m deployment.image driver|sim NAME ARCHIVE"""

import sys
from pathlib import Path

from cluster import images

BUILD = Path(__file__).parents[2] / "build"
PROGRAMS = ("azdisk-controller", "azdisk-node", "azdisk-scheduler-extender", "azdisk-probe")


def driver_image(name: str) -> images.Image:
    return images.azuredisk(name, [BUILD / "bin" / program for program in PROGRAMS])


def simulation_image(name: str) -> images.Image:
    """The simulation, and the simulated Azure by itself for a driver that is run against it."""
    programs = {"/bin/azdisk-sim": BUILD / "plain/bin/azdisk-sim", "/bin/azsim": BUILD / "bin/azsim"}
    return images.Image(name, ["/bin/azdisk-sim"], programs)


IMAGES = {"driver": driver_image, "sim": simulation_image}

if __name__ == "__main__":
    which, name, archive = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    IMAGES[which](name).write(archive)
    print(f"{archive}: {name}, {archive.stat().st_size / 2**20:.1f} MiB")
