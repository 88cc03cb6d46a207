"""make image, and what an image says of itself."""

import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest
from image.archive import Image
from image.driver import PROGRAMS

ROOT = Path(__file__).resolve().parent.parent
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]


def content(archive, name):
    with tarfile.open(archive) as tar:
        return tar.extractfile(name).read()


def configuration(archive):
    return json.loads(content(archive, "config.json"))


def test_make_image_writes_the_drivers_image():
    done = subprocess.run(["make", "-s", "image", "IMAGE=of.test/azuredisk:7"], cwd=ROOT, check=True,
                          capture_output=True, text=True)
    assert f"of.test/azuredisk:7, linux/{ARCHITECTURE}, " in done.stdout
    archive = ROOT / "build/image.tar"
    assert configuration(archive)["architecture"] == ARCHITECTURE
    (manifest,) = json.loads(content(archive, "manifest.json"))
    assert manifest["RepoTags"] == ["of.test/azuredisk:7"]
    with tarfile.open(archive) as tar, tarfile.open(fileobj=tar.extractfile("layer.tar")) as layer:
        assert {f"bin/{program}" for program in PROGRAMS} <= set(layer.getnames())


def program(folder, machine):
    """The head of an ELF file, and no more."""
    path = folder / f"for-{machine}"
    path.write_bytes(b"\x7fELF\x02\x01\x01".ljust(18, b"\0") + machine.to_bytes(2, "little"))
    return path


def test_the_architecture_is_that_of_the_programs(tmp_path):
    for machine, architecture in ((62, "amd64"), (183, "arm64")):
        image = Image("of.test/x:1", ["/x"], {"/x": program(tmp_path, machine), "/text": Path(__file__)})
        image.write(tmp_path / "archive")
        assert configuration(tmp_path / "archive")["architecture"] == architecture
    assert Image("of.test/x:1", ["/x"], {"/x": Path(__file__)}).architecture() == ARCHITECTURE


@pytest.mark.parametrize("machines, names", (((62, 183), "amd64 and arm64"), ((8,), "ELF machine 8")))
def test_programs_that_no_machine_can_run_make_no_image(tmp_path, machines, names):
    files = {f"/{machine}": program(tmp_path, machine) for machine in machines}
    with pytest.raises(RuntimeError, match=f"no image has programs for {names}"):
        Image("of.test/x:1", ["/x"], files).write(tmp_path / "archive")
