"""The chart as helm installs it from a file; the image that it names by default is that of the same version."""

import re
from pathlib import Path

from .tarball import Entry, write_tarball

CHART = Path(__file__).parents[1] / "charts" / "azuredisk-csi-driver"


def write_chart(version: str, archive: Path) -> None:
    files = {file: file.read_bytes() for file in CHART.rglob("*") if file.is_file()}
    files[CHART / "Chart.yaml"] = _with_version((CHART / "Chart.yaml").read_text(), version).encode()
    write_tarball(archive, {str(file.relative_to(CHART.parent)): Entry(content) for file, content in files.items()})


def _with_version(chart: str, version: str) -> str:
    changed, n = re.subn(r"^(version|appVersion): .*$", rf"\1: {version}", chart, flags=re.MULTILINE)
    if n != 2:
        raise RuntimeError(f"{CHART / 'Chart.yaml'} has no version and appVersion")
    return changed
