"""make sim-image: python3 -m sim.sim_image NAME ARCHIVE"""

import sys
from pathlib import Path

from image.archive import Image

BUILD = Path(__file__).parents[2] / "build"


def simulation_image(name: str) -> Image:
    """The simulation, and the simulated Azure by itself for a driver that is run against it."""
    programs = {"/bin/azdisk-sim": BUILD / "plain/bin/azdisk-sim", "/bin/azsim": BUILD / "bin/azsim"}
    return Image(name, ["/bin/azdisk-sim"], programs)


if __name__ == "__main__":
    simulation_image(sys.argv[1]).save(Path(sys.argv[2]))
