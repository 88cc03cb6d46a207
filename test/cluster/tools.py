"""The programs of a test cluster, built from pinned Go modules into a cache outside of the tree.

`tools/*/go.mod` says which versions; two modules, because Kubernetes and the CSI programs want
different versions of the same libraries, and others for what only test/conformance, test/moves and the bench
ask for. A cache folder is named by a hash of all that decides its content, and appears by a rename when the
last program is there: what exists is complete.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import IO

from .command import run

TREE = Path(__file__).parents[2]
MODULES = Path(__file__).parent / "tools"
GO = "1.26.8"  # fetched only when the machine's own Go is older than 1.26
FLAGS = ["-trimpath", "-buildvcs=false"]
UNUSED_DAYS = 30  # a build that nothing used for so long is removed after the next one

EXTERNAL = "github.com/kubernetes-csi/"

# program: (folder of its module, package)
PROGRAMS = {
    "kube-apiserver": ("kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver"),
    "kube-controller-manager": ("kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    "kube-scheduler": ("kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler"),
    "kube-proxy": ("kubernetes", "k8s.io/kubernetes/cmd/kube-proxy"),
    "kubelet": ("kubernetes", "k8s.io/kubernetes/cmd/kubelet"),
    "kubectl": ("kubernetes", "k8s.io/kubernetes/cmd/kubectl"),
    "etcd": ("csi", "go.etcd.io/etcd/server/v3"),
    "csi-provisioner": ("csi", EXTERNAL + "external-provisioner/v6/cmd/csi-provisioner"),
    "csi-attacher": ("csi", EXTERNAL + "external-attacher/v4/cmd/csi-attacher"),
    "csi-resizer": ("csi", EXTERNAL + "external-resizer/v2/cmd/csi-resizer"),
    "csi-snapshotter": ("csi", EXTERNAL + "external-snapshotter/v8/cmd/csi-snapshotter"),
    "snapshot-controller": ("csi", EXTERNAL + "external-snapshotter/v8/cmd/snapshot-controller"),
    "csi-sanity": ("csi", EXTERNAL + "csi-test/v5/cmd/csi-sanity"),
    "helm": ("csi", "helm.sh/helm/v3/cmd/helm"),
}

# Kubernetes' own end-to-end suite, what runs it, and what its pods run; of the cluster's version of Kubernetes.
SUITE = {
    "e2e.test": ("conformance", "k8s.io/kubernetes/test/e2e"),
    "ginkgo": ("conformance", "github.com/onsi/ginkgo/v2/ginkgo"),
    "agnhost": ("conformance", "k8s.io/kubernetes/test/images/agnhost"),
}

# Microsoft's driver for Azure disks, version 1; charts of its and of version 2 are in its module.
VERSION_1 = {"azurediskplugin": ("version-1", "sigs.k8s.io/azuredisk-csi-driver/pkg/azurediskplugin")}

# What decides where pods go, of other releases than the clusters': the oldest that the chart takes, and the newest.
RELEASES = {
    release: {
        program: (f"kubernetes-{release}", f"k8s.io/kubernetes/cmd/{program}")
        for program in ("kube-apiserver", "kube-scheduler")
    }
    for release in ("1.30", "1.37")
}

# Variables that the linker sets to the version of the program's module; without them kubectl, helm
# and the CSI programs take the API server for one of version 0.
_COMPONENT = "k8s.io/component-base/version."
STAMPS = {
    "k8s.io/kubernetes": {
        _COMPONENT + "gitVersion": "v{major}.{minor}.{patch}",
        _COMPONENT + "gitMajor": "{major}",
        _COMPONENT + "gitMinor": "{minor}",
    },
    EXTERNAL + "external-provisioner/v6": {"main.version": "v{major}.{minor}.{patch}"},
    EXTERNAL + "external-attacher/v4": {"main.version": "v{major}.{minor}.{patch}"},
    EXTERNAL + "external-resizer/v2": {"main.version": "v{major}.{minor}.{patch}"},
    EXTERNAL + "external-snapshotter/v8": {"main.version": "v{major}.{minor}.{patch}"},
    "helm.sh/helm/v3": {"helm.sh/helm/v3/internal/version.version": "v{major}.{minor}.{patch}"},
}


def cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "azuredisk-csi"


def _key(programs: dict) -> str:
    digest = hashlib.sha256(json.dumps([GO, FLAGS, programs, STAMPS]).encode())
    for module in sorted({module for module, _ in programs.values()}):
        for path in sorted((MODULES / module).glob("go.*")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def folder(programs: dict = PROGRAMS) -> Path:
    """Where the programs are once they are built."""
    return cache() / "tools" / _key(programs) / "bin"


def build(programs: dict = PROGRAMS) -> None:
    """Makes sure that the programs are there; minutes the first time."""
    home = folder(programs).parent
    home.parent.mkdir(parents=True, exist_ok=True)
    with open(home.parent / "lock", "w") as lock:
        _wait_for(lock)
        if not home.exists():
            _build_all(home, programs)
            _remove_unused(home.parent)
    os.utime(home)


def _wait_for(lock: IO) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("Waiting for somebody else, who is building the programs of a cluster", flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)


def _build_all(home: Path, programs: dict) -> None:
    partial = home.with_name(home.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    (partial / "bin").mkdir(parents=True)
    print(f"Building {len(programs)} programs of a cluster, once, into {home}", flush=True)
    compiler = go()
    for number, (program, (module, package)) in enumerate(programs.items(), 1):
        _step(
            f"{number}/{len(programs)} {program}",
            compiler, *_verb(program), *FLAGS, "-ldflags", _linker_flags(MODULES / module, package),
            "-o", partial / "bin" / program, package,
            folder=MODULES / module,
        )
    os.sync()  # or the first etcd waits for these gigabytes to be written
    partial.rename(home)


def _verb(program: str) -> list[str]:
    """A package of tests is compiled, not run."""
    return ["test", "-c", "-vet=off"] if program.endswith(".test") else ["build"]


def _step(name: str, *command: str | Path, folder: Path = TREE) -> None:
    """A line on the screen; all that the command prints is in build/logs/setup.log."""
    subprocess.run([TREE / "mk" / "step.sh", name, *command], cwd=folder, check=True, env=_environment())


def _environment() -> dict[str, str]:
    return os.environ | {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly"}


def _linker_flags(module: Path, package: str) -> str:
    flags = ["-s", "-w"]
    for path, variables in STAMPS.items():
        if package.startswith(path + "/"):
            pinned = re.search(rf"{path} v(\d+)\.(\d+)\.(\d+)", (module / "go.mod").read_text())
            version = dict(zip(("major", "minor", "patch"), pinned.groups(), strict=True))
            flags += [f"-X {name}={text.format(**version)}" for name, text in variables.items()]
    return " ".join(flags)


def _remove_unused(tools: Path) -> None:
    for entry in tools.iterdir():
        if entry.is_dir() and time.time() - entry.stat().st_mtime > UNUSED_DAYS * 86400:
            shutil.rmtree(entry)


def build_module(module: Path) -> Path:
    """The program of a Go module with one, built once for each state of its sources."""
    sources = sorted([*module.glob("*.go"), *module.glob("go.*")])
    key = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    program = cache() / "modules" / key / module.name
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        partial = program.with_suffix(f".{os.getpid()}")
        subprocess.run([go(), "build", *FLAGS, "-o", partial, "."], cwd=module, check=True, env=_environment())
        partial.rename(program)
    return program


def _sources(module: str, name: str) -> Path:
    """The folder of a Go module that one of `tools/` requires."""
    within = (go(), "-C", MODULES / module)
    run(*within, "mod", "download", name, env=_environment())
    return Path(run(*within, "list", "-m", "-f", "{{.Dir}}", name, env=_environment()).strip())


def snapshot_definitions() -> list[Path]:
    """VolumeSnapshot and what belongs to it: files of the module that csi-snapshotter is built from."""
    folder = _sources("csi", EXTERNAL + "external-snapshotter/client/v8")
    files = sorted((folder / "config" / "crd").glob("snapshot.storage.k8s.io_*.yaml"))
    assert files, f"no definitions in {folder}"
    return files


def microsofts_chart(version: str) -> Path:
    """The archive of a chart that Microsoft has published: "v1.33.0", "v2.0.0-beta.6"."""
    [found] = (_sources("version-1", "sigs.k8s.io/azuredisk-csi-driver") / "charts" / version).glob("*.tgz")
    return found


def _version(compiler: str | Path) -> tuple[int, ...]:
    text = run(compiler, "env", "GOVERSION", env=os.environ | {"GOTOOLCHAIN": "local"})
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def go() -> str | Path:
    """A Go that is new enough for all modules of the tests; Debian's own is not."""
    found = shutil.which("go")
    if not found:
        raise RuntimeError("no go in PATH: install Debian's golang-go (make setup) or Go 1.26")
    if _version(found) >= (1, 26):
        return found
    return _toolchain(found)


def _toolchain(old: str) -> Path:
    """Go's own distribution is a module; any Go can fetch it, checksum database included."""
    cache, architecture = run(old, "env", "GOMODCACHE", "GOARCH").split()
    module = f"golang.org/toolchain@v0.0.1-go{GO}.linux-{architecture}"
    root = Path(cache, module)
    download = (old, "mod", "download", module)
    if root.exists():
        run(*download)  # completes what was interrupted
    else:
        _step(f"Go {GO}", *download)
    # Module archives carry no permissions; Go itself sets these bits when it switches toolchains.
    for directory in (root / "bin", root / "pkg" / "tool"):
        for path in directory.rglob("*"):
            if path.is_file():
                path.chmod(0o755)
    return root / "bin" / "go"
