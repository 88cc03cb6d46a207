"""make image: python3 -m image NAME ARCHIVE"""

import sys
from pathlib import Path

from .driver import driver_image

driver_image(sys.argv[1]).save(Path(sys.argv[2]))
