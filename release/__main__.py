"""make release: python3 -m release VERSION FOLDER [KEY]; the image has been made (image/)"""

import re
import shutil
import sys
from pathlib import Path

from image.archive import architecture_of_programs

from .azdiskctl import write_azdiskctl
from .chart import write_chart
from .checksums import SIGNATURE, SUMS, sign, write_sums

BUILD = Path(__file__).parents[1] / "build"


def release(version: str, folder: Path, key: Path | None) -> None:
    if not re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", version):
        raise RuntimeError(f'VERSION "{version}" is none that helm knows, such as 1.2.3 or 1.2.3-rc.1')
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    machine = f"linux-{architecture_of_programs([BUILD / 'bin/azdiskctl'])}"
    for suffix in (".tar", ".cdx.json"):
        shutil.copyfile((BUILD / "image").with_suffix(suffix), folder / f"azuredisk-csi-{version}-{machine}{suffix}")
    write_chart(version, folder / f"azuredisk-csi-driver-{version}.tgz")
    write_azdiskctl(f"azdiskctl-{version}-{machine}", folder)
    write_sums(folder)
    if key:
        sign(folder, key)


def show(folder: Path) -> None:
    for file in sorted(folder.iterdir()):
        print(f"{file.stat().st_size / 2**20:8.2f} MiB  {file}")
    if not (folder / SIGNATURE).exists():
        print(f"{SUMS} is not signed; KEY=FILE names the key to sign it with")


version, folder, *keys = sys.argv[1], Path(sys.argv[2]), *map(Path, sys.argv[3:])
try:
    release(version, folder, keys[0] if keys else None)
except RuntimeError as error:
    sys.exit(f"release: {error}")
show(folder)
