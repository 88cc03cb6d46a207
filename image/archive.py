"""Container images made from files of this machine or container root, without a daemon and without a registry.

An image is files, the shared libraries that its programs need, texts made for it, and an entry point. The archive
(docker-archive) depends on content alone: sorted, with fixed times and owners. Its id is the hash
of its configuration, which holds the hash of its layer; the same id means the same image. The
architecture is that of the programs in it.
"""

import hashlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ELF = b"\x7fELF"
ARCHITECTURES = {62: "amd64", 183: "arm64"}  # by the machine in an ELF file's head
LOADERS = {"amd64": "/lib64/ld-linux-x86-64.so.2", "arm64": "/lib/ld-linux-aarch64.so.1"}
EMULATOR = shlex.split(os.environ.get("EMULATOR", ""))  # runs the loader of another architecture


@dataclass
class Image:
    name: str
    entrypoint: list[str]
    files: dict[str, Path]  # path in the image: file or folder of this machine
    links: dict[str, str] = field(default_factory=dict)  # path in the image: what it points at
    texts: dict[str, str] = field(default_factory=dict)  # path in the image: a file's content
    labels: dict[str, str] = field(default_factory=dict)
    user: str = ""  # "id:group" of who runs it; empty: root

    def write(self, archive: Path) -> str:
        """Writes the archive; returns the image's id."""
        layer = archive.with_suffix(".layer")
        self._write_layer(layer)
        layer_id = hashlib.sha256(layer.read_bytes()).hexdigest()
        configuration = {
            "architecture": self.architecture(),
            "os": "linux",
            "config": {"Entrypoint": self.entrypoint, "Env": [f"PATH={PATH}"],
                       "User": self.user, "Labels": self.labels},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer_id}"]},
        }
        content = json.dumps(configuration).encode()
        manifest = {"Config": "config.json", "RepoTags": [self.name], "Layers": ["layer.tar"]}
        with tarfile.open(archive, "w") as tar:
            add_file(tar, "config.json", content)
            add_file(tar, "layer.tar", layer.read_bytes())
            add_file(tar, "manifest.json", json.dumps([manifest]).encode())
        layer.unlink()
        return hashlib.sha256(content).hexdigest()

    def save(self, archive: Path) -> None:
        """Writes the archive for a person."""
        self.write(archive)
        size = archive.stat().st_size / 2**20
        print(f"{archive}: {self.name}, linux/{self.architecture()}, {size:.1f} MiB")

    def contents(self) -> dict[str, Path]:
        """Its files, with the shared libraries that programs among them need."""
        files = _expanded(self.files)
        libraries = {library for source in files.values() for library in shared_libraries(source)}
        return files | {library: Path(library) for library in libraries}

    def architecture(self) -> str:
        """Of all programs in it; of this machine if there are none."""
        try:
            return architecture_of_programs(_expanded(self.files).values())
        except RuntimeError as error:
            raise RuntimeError(f"{self.name}: {error}") from None

    def _write_layer(self, path: Path) -> None:
        files = self.contents()
        names = (*files, *self.texts, *self.links, "/tmp/x", "/var/tmp/x")
        folders = {str(parent) for name in names for parent in Path(name).parents}
        with tarfile.open(path, "w") as tar:
            for name in sorted(folders - {"/"}):
                entry = _entry(name, 0o1777 if name.endswith("/tmp") else 0o755)
                entry.type = tarfile.DIRTYPE
                tar.addfile(entry)
            for name, source in sorted(files.items()):
                add_file(tar, name, source.read_bytes(), bool(source.stat().st_mode & 0o100))
            for name, text in sorted(self.texts.items()):
                add_file(tar, name, text.encode())
            for name, target in sorted(self.links.items()):
                add_link(tar, name, target)


def architecture_of_programs(files: Iterable[Path]) -> str:
    """Of all programs among the files; of this machine if there are none."""
    found = {machine for file in files if (machine := _elf_machine(file))} or {_elf_machine(Path(sys.executable))}
    names = sorted(ARCHITECTURES.get(machine, f"ELF machine {machine}") for machine in found)
    if len(names) > 1 or names[0] not in ARCHITECTURES.values():
        raise RuntimeError(f"no image has programs for {' and '.join(names)}")
    return names[0]


def _entry(name: str, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name.lstrip("/"))  # time 0 and owner 0, as TarInfo has them
    entry.mode = mode
    return entry


def add_file(tar: tarfile.TarFile, name: str, content: bytes, executable: bool = False) -> None:
    """Of this content, whoever made it and when."""
    entry = _entry(name, 0o755 if executable else 0o644)
    entry.size = len(content)
    tar.addfile(entry, io.BytesIO(content))


def add_link(tar: tarfile.TarFile, name: str, target: str) -> None:
    """A symbolic one."""
    entry = _entry(name, 0o777)
    entry.type, entry.linkname = tarfile.SYMTYPE, target
    tar.addfile(entry)


def _expanded(files: dict[str, Path]) -> dict[str, Path]:
    """Folders replaced by the files in them; a link there is followed."""
    expanded = {}
    for name, source in files.items():
        if source.is_dir():
            inside = (path for path in source.rglob("*") if path.is_file())
            expanded |= {f"{name}/{path.relative_to(source)}": path for path in inside}
        else:
            expanded[name] = source
    return expanded


def _elf_machine(file: Path) -> int | None:
    """What the file's program is for; None if it is no program."""
    with open(file, "rb") as opened:
        head = opened.read(20)
    return int.from_bytes(head[18:20], "little") if head.startswith(ELF) else None


def shared_libraries(program: Path) -> list[str]:
    """All that the program is linked with, its interpreter included; none for a static one."""
    loader = LOADERS.get(ARCHITECTURES.get(_elf_machine(program)))
    if not loader:
        return []
    if not Path(loader).exists():
        if loader.encode() in program.read_bytes():
            raise RuntimeError(f"{program} needs {loader}, which this machine has not")
        return []  # static
    done = subprocess.run([*EMULATOR, loader, "--list", program], capture_output=True, text=True)
    if done.returncode:  # static
        return []
    missing = re.findall(r"(\S+) => not found", done.stdout)
    if missing:
        raise RuntimeError(f"{program} needs {', '.join(missing)}, which this machine has not")
    return re.findall(r"(/\S+) \(0x", done.stdout)
