"""make image: python3 -m image NAME VERSION ARCHIVE; its bill of materials goes beside it"""

import sys
from pathlib import Path

from .bill_of_materials import bill_of_materials
from .driver import driver

name, version, archive = *sys.argv[1:3], Path(sys.argv[3])
try:
    made = driver(name, version, archive.parent)
    made.image.save(archive)
    archive.with_suffix(".cdx.json").write_text(bill_of_materials(made, version))
except RuntimeError as error:
    sys.exit(f"image: {error}")
