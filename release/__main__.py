"""make release: python3 -m release VERSION FOLDER [--key FILE] [--also FOLDER ...]; the image has been made (image/).
The other folders are those of the same release for other architectures, whose files of their own are taken from there."""

import argparse
import re
import shutil
import sys
from pathlib import Path

from image.archive import architecture_of_programs

from .azdiskctl import write_azdiskctl
from .chart import write_chart
from .checksums import SIGNATURE, SUMS, sign, write_sums


def release(version: str, folder: Path, others: list[Path], key: Path | None) -> None:
    if not re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?", version):
        raise RuntimeError(f'VERSION "{version}" is none that helm knows, such as 1.2.3 or 1.2.3-rc.1')
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    build = folder.parent
    machine = f"linux-{architecture_of_programs([build / 'bin/azdiskctl'])}"
    for suffix in (".tar", ".cdx.json"):
        shutil.copyfile((build / "image").with_suffix(suffix), folder / f"azuredisk-csi-{version}-{machine}{suffix}")
    write_azdiskctl(build / "bin/azdiskctl", f"azdiskctl-{version}-{machine}", folder)
    for other in others:
        for file in other.glob(f"*-{version}-linux-*"):
            shutil.copyfile(file, folder / file.name)
    write_chart(version, folder / f"azuredisk-csi-driver-{version}.tgz")
    write_sums(folder)
    if key:
        sign(folder, key)


def show(folder: Path) -> None:
    for file in sorted(folder.iterdir()):
        print(f"{file.stat().st_size / 2**20:8.2f} MiB  {file}")
    if not (folder / SIGNATURE).exists():
        print(f"{SUMS} is not signed; KEY=FILE names the key to sign it with")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="release")
    parser.add_argument("version")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--key", type=Path)
    parser.add_argument("--also", type=Path, nargs="*", default=[])
    return parser.parse_args()


given = arguments()
try:
    release(given.version, given.folder, given.also, given.key)
except RuntimeError as error:
    sys.exit(f"release: {error}")
show(given.folder)
