"""make image, and what an image says of itself."""

import hashlib
import json
import os
import re
import subprocess
import tarfile
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from image.archive import Image
from image.driver import PROGRAMS, STATUS
from image.packages import packages_of

ROOT = Path(__file__).resolve().parent.parent
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]


def content(archive, name):
    with tarfile.open(archive) as tar:
        return tar.extractfile(name).read()


def configuration(archive):
    return json.loads(content(archive, "config.json"))


@pytest.fixture(scope="module")
def made():
    """What make image writes, and says."""
    words = ["make", "-s", "image", "IMAGE=of.test/azuredisk:7"]
    return subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def layer(made):
    """The files in the image."""
    with tarfile.open(ROOT / "build/image.tar") as tar, tarfile.open(fileobj=tar.extractfile("layer.tar")) as layer:
        return {f"/{entry.name}": layer.extractfile(entry).read() for entry in layer if entry.isfile()}


@pytest.fixture(scope="module")
def bill(made):
    return json.loads((ROOT / "build/image.cdx.json").read_text())


def test_make_image_writes_the_drivers_image(made, layer):
    assert f"of.test/azuredisk:7, linux/{ARCHITECTURE}, " in made
    archive = ROOT / "build/image.tar"
    assert configuration(archive)["architecture"] == ARCHITECTURE
    (manifest,) = json.loads(content(archive, "manifest.json"))
    assert manifest["RepoTags"] == ["of.test/azuredisk:7"]
    assert {f"/bin/{program}" for program in PROGRAMS} <= set(layer)


def test_it_says_what_it_is_and_is_not_roots(made):
    config = configuration(ROOT / "build/image.tar")["config"]
    assert config["User"] == "65532:65532"
    assert config["Labels"]["org.opencontainers.image.version"] == "0.1.0"


def test_every_file_has_one_component(layer, bill):
    files = [file for component in bill["components"] for file in component["components"]]
    assert sorted(file["name"] for file in files) == sorted(layer)
    for file in files:
        assert file["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(layer[file["name"]]).hexdigest()}]
    assert not JsonStrictValidator(SchemaVersion.V1_5).validate_str(json.dumps(bill))


def test_scanners_find_the_packages(layer, bill):
    """As paragraphs of dpkg's status, of what is linked into programs, too."""
    told = {path.removeprefix(f"{STATUS}/"): text.decode() for path, text in layer.items() if path.startswith(STATUS)}
    driver, *libraries = bill["components"]
    assert driver["name"] == "azuredisk-csi-driver" and {"libcurl4", "libc6", "libgrpc-dev", "e2fsprogs"} <= set(told)
    assert {library["name"]: library["version"] for library in libraries} == {
        name: re.search("^Version: (.*)$", text, re.MULTILINE)[1] for name, text in told.items()}
    assert b"\nID=debian\n" in layer["/etc/os-release"]


def test_a_file_of_no_package_is_named(tmp_path):
    (tmp_path / "libx.so").touch()
    with pytest.raises(RuntimeError, match=f"no package of Debian has {tmp_path}/libx.so"):
        packages_of([tmp_path / "libx.so", Path("/etc/os-release")])


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


def test_a_program_whose_loader_is_not_here_makes_no_image(tmp_path):
    """Without its libraries it would be taken for one that needs none."""
    foreign = program(tmp_path, 183)
    with open(foreign, "ab") as file:
        file.write(b"/lib/ld-linux-aarch64.so.1")
    with pytest.raises(RuntimeError, match=f"{foreign} needs /lib/ld-linux-aarch64.so.1, which this machine has not"):
        Image("of.test/x:1", ["/x"], {"/x": foreign}).contents()
