"""make release: what users fetch can be checked, and used where nothing of Debian is."""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import yaml
from chart.chart import helm, of_kind
from release.chart import write_chart

ROOT = Path(__file__).resolve().parent.parent
RELEASE = ROOT / "build" / "release"


def make(*words: str) -> subprocess.CompletedProcess:
    """For this machine's architecture: a container root for the other one takes minutes."""
    return subprocess.run(["make", "-s", "release", "ALSO=", *words], cwd=ROOT, capture_output=True, text=True)


def run(*words: str | Path, folder: Path = RELEASE) -> str:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    folder = tmp_path_factory.mktemp("key")
    run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "private", folder=folder)
    run("openssl", "pkey", "-in", "private", "-pubout", "-out", "public", folder=folder)
    return folder


@pytest.fixture(scope="module")
def made(key):
    done = make(f"KEY={key}/private")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_of_it_is_named_summed_and_signed(made, key):
    files = {path.name for path in RELEASE.iterdir()}
    summed = {line.split("  ")[1] for line in (RELEASE / "SHA256SUMS").read_text().splitlines()}
    assert files == summed | {"SHA256SUMS", "SHA256SUMS.sig"} and all(name in made for name in files)
    assert {name.rpartition(".")[0].partition("-0.1.0")[0] for name in summed} == {
        "azdiskctl", "azuredisk-csi", "azuredisk-csi-driver"}
    run("sha256sum", "--check", "--strict", "SHA256SUMS")
    run("openssl", "dgst", "-sha256", "-verify", key / "public", "-signature", "SHA256SUMS.sig", "SHA256SUMS")


def test_other_architectures_are_part_of_it(tmp_path):
    """What is theirs, and nothing that all of them have."""
    built, other = tmp_path / "build", tmp_path / "other"
    other.mkdir()
    for name in ("azdiskctl-0.1.0-linux-riscv64.tar.gz", "azuredisk-csi-driver-0.1.0.tgz", "SHA256SUMS"):
        (other / name).write_text("the other's")
    (built / "bin").mkdir(parents=True)
    (built / "bin/azdiskctl").symlink_to(ROOT / "build/bin/azdiskctl")
    for name in ("image.tar", "image.cdx.json"):
        (built / name).touch()
    run(sys.executable, "-m", "release", "0.1.0", built / "release", "--also", other, folder=ROOT)
    files = {path.name for path in (built / "release").iterdir()}
    assert len(files) == 6 and {name for name in files if "riscv64" in name} == {"azdiskctl-0.1.0-linux-riscv64.tar.gz"}
    assert "linux-riscv64" in (built / "release/SHA256SUMS").read_text()
    assert (built / "release/azuredisk-csi-driver-0.1.0.tgz").read_bytes() != b"the other's"


def test_helm_installs_the_chart_with_the_image_of_its_version(tmp_path):
    write_chart("1.2.3", tmp_path / "chart.tgz")
    done = helm("template", "azuredisk", str(tmp_path / "chart.tgz"), "--namespace", "kube-system", values={})
    assert done.returncode == 0, done.stderr
    [node] = of_kind(yaml.safe_load_all(done.stdout), "DaemonSet")
    assert node["spec"]["template"]["spec"]["containers"][0]["image"] == "azuredisk-csi:1.2.3"


@pytest.fixture(scope="module")
def azdiskctl(made, tmp_path_factory):
    """The folder, unpacked."""
    folder = tmp_path_factory.mktemp("where users unpack")
    [archive] = RELEASE.glob("azdiskctl-*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="tar")
    return folder / archive.name.removesuffix(".tar.gz")


def test_azdiskctl_needs_nothing_of_the_machine(azdiskctl):
    if os.geteuid() != 0:
        pytest.skip("chroot needs root")
    [loader] = azdiskctl.glob("lib/ld-linux*")
    words = f"/lib/{loader.name}", "--library-path", "/lib", "/lib/azdiskctl", "--version"
    assert run("chroot", azdiskctl, *words) == run(ROOT / "build/bin/azdiskctl", "--version")


@pytest.mark.parametrize("name, called", [("azdiskctl", "azdiskctl"), ("kubectl-azdisk", "kubectl azdisk")])
def test_it_is_found_by_a_link_and_knows_its_name(azdiskctl, tmp_path, name, called):
    (tmp_path / name).symlink_to(azdiskctl / name)
    assert run(tmp_path / name, "--help").startswith(f"{called} - ")


def test_it_carries_the_licences(azdiskctl):
    licences = {path.name: path.read_text() for path in (azdiskctl / "licenses").iterdir()}
    assert {"libc6", "libcurl4", "libgnutls30"} <= set(licences) and all(licences.values())


def test_what_cannot_be_signed_is_told(made):
    done = make("KEY=/nowhere")
    assert done.returncode != 0 and "nothing was signed by /nowhere: " in done.stderr


def test_a_version_that_helm_does_not_know_is_refused(made):
    words = [sys.executable, "-m", "release", "v7", RELEASE]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith('release: VERSION "v7" is none that helm knows')
    assert (RELEASE / "SHA256SUMS").exists(), "and nothing is taken away"
