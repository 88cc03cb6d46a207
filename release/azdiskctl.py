"""azdiskctl for any Linux: with the shared libraries that it needs, the C library and its loader included, and the
licences of all of them."""

from pathlib import Path

from image.archive import shared_libraries
from image.packages import packages_of

from .tarball import Entry, write_tarball

TREE = Path(__file__).parents[1]
PLUGIN_LINKS = ("kubectl-azdisk", "kubectl_complete-azdisk")

# The loader is told by which name it was called: that of a link is kubectl's.
START = """\
#!/bin/sh
lib=$(dirname "$(readlink -f "$0")")/lib
exec "$lib/{loader}" --argv0 "$0" --library-path "$lib" "$lib/azdiskctl" "$@"
"""


def write_azdiskctl(program: Path, name: str, folder: Path) -> None:
    """An archive of a folder of that name."""
    libraries = {Path(library).name: Path(library) for library in shared_libraries(program)}
    loader = next(library for library in libraries if library.startswith("ld-linux"))
    entries = {
        "azdiskctl": Entry(START.format(loader=loader).encode(), executable=True),
        "LICENSE": Entry((TREE / "LICENSE").read_bytes()),
        "lib/azdiskctl": Entry(program.read_bytes(), executable=True),
    }
    entries |= {link: Entry(link="azdiskctl") for link in PLUGIN_LINKS}
    entries |= {f"lib/{library}": Entry(file.read_bytes(), executable=library == loader)
                for library, file in libraries.items()}
    entries |= {f"licenses/{package.name}": Entry(package.licence().read_bytes())
                for package in packages_of(libraries.values()).values()}
    write_tarball(folder / f"{name}.tar.gz", {f"{name}/{path}": entry for path, entry in entries.items()})
