"""azdiskctl's completion as people meet it: in real shells at a terminal, and by the real kubectl, whose plug-in it is."""

import json
import os
import socket
import subprocess
import time

import pytest
from cluster import tools

from .azdiskctl import PROGRAM
from .driver_world import World
from .shells import KINDS, Shell

LINKS = ("azdiskctl", "kubectl-azdisk", "kubectl_complete-azdisk")


@pytest.fixture(scope="module")
def world(tmp_path_factory, apiserver):
    """With a volume, two attachments, one of which is a replica's, and a claim."""
    with World(tmp_path_factory.mktemp("world"), apiserver) as world:
        world.create("azvolumes", {"metadata": {"name": "pvc-1"}, "spec": {
            "volumeName": "pvc-1", "maxMountReplicaCount": 1, "volumeCapability": []}})
        for node, role in (("a", "Primary"), ("b", "Replica")):
            world.create("azvolumeattachments", {
                "metadata": {"name": f"pvc-1-{node}", "labels": {"disk.csi.azure.com/requested-role": role}},
                "spec": {"volumeName": "pvc-1", "volume_id": "x", "nodeName": node, "role": role}})
        world.core.create_namespaced_persistent_volume_claim(world.namespace, {
            "metadata": {"name": "data"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
        yield world


@pytest.fixture(scope="module")
def environment(world):
    """Of somebody with the programs in PATH, and a kubeconfig."""
    programs = world.folder / "programs"
    programs.mkdir()
    for link in LINKS:
        (programs / link).symlink_to(PROGRAM)
    return {"PATH": f"{programs}:{tools.folder()}:{os.environ['PATH']}", "HOME": str(world.folder),
            "KUBECONFIG": str(world.apiserver.kubeconfig), "ASAN_OPTIONS": "detect_stack_use_after_return=0"}


@pytest.fixture(scope="module", params=KINDS)
def shell(request, environment, world):
    shell = Shell(request.param, environment, world.folder)
    yield shell
    shell.close()


def test_it_completes_words(shell):
    assert shell.after_tab("azdiskctl desc") == "azdiskctl describe "
    assert shell.after_tab("azdiskctl -n shop drain x --dry") == "azdiskctl -n shop drain x --dry-run "
    assert shell.after_tab("azdiskctl why azvolumea") == "azdiskctl why azvolumeattachment/", "the name is still to come"
    assert shell.offered("azdiskctl get -o ") == "azdiskctl get -o json name table text wide yaml "
    assert shell.after_tab("azdiskctl get --output=ya") == "azdiskctl get --output=yaml "
    assert shell.after_tab("azdiskctl get -oya") == "azdiskctl get -oyaml "
    assert shell.after_tab("azdiskctl nothing x") == "azdiskctl nothing x"


def test_it_completes_within_a_longer_line(shell):
    assert shell.after_tab("true; x=1 azdiskctl get repl") == "true; x=1 azdiskctl get replicas "
    after = shell.after_tab("azdiskctl get attach -o json" + 8 * "\x02")
    assert after.split() == "azdiskctl get attachments -o json".split(), "zsh has one blank more"


def test_it_completes_names(shell, world):
    flags = f"azdiskctl --object-namespace {world.namespace} -n {world.namespace}"
    assert shell.after_tab(f"{flags} get volumes pv") == f"{flags} get volumes pvc-1 "
    assert shell.offered(f"{flags} get attachments ") == f"{flags} get attachments pvc-1-a pvc-1-b "
    assert shell.after_tab(f"{flags} get replicas ") == f"{flags} get replicas pvc-1-b "
    assert shell.after_tab(f"{flags} describe volume/") == f"{flags} describe volume/pvc-1 "
    assert shell.after_tab(f"{flags} failover d") == f"{flags} failover data "
    assert shell.after_tab(f"{flags} failover data --to={world.nodes[1][:-1]}b") == f"{flags} failover data --to={world.nodes[1]} "
    assert shell.offered(f"{flags} drain {world.prefix}") == f"{flags} drain {' '.join(world.nodes)} "
    assert shell.after_tab(f"azdiskctl -n {world.namespace[:-1]}") == f"azdiskctl -n {world.namespace} "


def test_it_completes_files_and_contexts(shell, world):
    (world.folder / "my-contexts").write_text(
        "contexts: [{name: someone@prod, context: {}}, {name: 'arn:x/y', context: {}}, {name: '$(touch oh)', context: {}}]")
    assert shell.after_tab("azdiskctl --kubeconfig my-co") == "azdiskctl --kubeconfig my-contexts "
    assert shell.after_tab("azdiskctl --kubeconfig=my-co") == "azdiskctl --kubeconfig=my-contexts "
    (world.folder / "folder of mine").mkdir(exist_ok=True)
    (world.folder / "odd=contexts").touch()
    of_ls, ours = (shell.after_tab(f"{line} odd").split()[-1] for line in ("ls", "azdiskctl --kubeconfig"))
    assert ours == of_ls and ours.endswith("=contexts"), "shells write it in different ways"
    assert shell.after_tab("azdiskctl --kubeconfig=folder") == r"azdiskctl --kubeconfig=folder\ of\ mine/"
    for flags in ("azdiskctl --kubeconfig ~/my-contexts", "azdiskctl --kubeconfig=my-contexts"):
        assert shell.after_tab(f"{flags} --context someone@p") == f"{flags} --context someone@prod "
    assert shell.after_tab(f"{flags} --context=a") == f"{flags} --context=arn:x/y "
    assert shell.offered(f"{flags} --context ") == f"{flags} --context arn:x/y someone@prod "


def test_it_goes_on_when_nobody_answers(shell):
    assert shell.after_tab("azdiskctl --kubeconfig none get volumes x") == "azdiskctl --kubeconfig none get volumes x"
    assert shell.after_tab("azdiskctl --no-such-flag get volumes x") == "azdiskctl --no-such-flag get volumes x"
    assert shell.after_tab("azdiskctl get volumes --help x") == "azdiskctl get volumes --help x"


def test_nobody_waits_for_a_server_that_does_not_answer(environment, world):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        kubeconfig = world.folder / "silent"
        server = f"https://127.0.0.1:{silent.getsockname()[1]}"
        kubeconfig.write_text(json.dumps({
            "current-context": "x", "clusters": [{"name": "x", "cluster": {"server": server}}],
            "contexts": [{"name": "x", "context": {"cluster": "x"}}]}))
        begun = time.monotonic()
        done = subprocess.run([PROGRAM, "__complete", "--kubeconfig", kubeconfig, "get", "volumes", ""],
                              env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, ":4\n"), done.stderr
    assert time.monotonic() - begun < 20, "less than a call's 30 seconds"


# ---- kubectl ----

def kubectl(environment: dict[str, str], *words: str, status: int = 0) -> subprocess.CompletedProcess:
    done = subprocess.run([tools.folder() / "kubectl", *words], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr
    return done


def test_a_plug_in_of_kubectl(environment, world):
    flags = (f"--object-namespace={world.namespace}", "-o", "name")
    assert kubectl(environment, "azdisk", "get", "volumes", *flags).stdout == "azvolume.disk.csi.azure.com/pvc-1\n"
    assert "\nUsage: kubectl azdisk [--flag=value ...]\n" in kubectl(environment, "azdisk", "--help").stdout
    assert kubectl(environment, "azdisk", "map", "x", status=2).stderr.startswith("kubectl azdisk: map: unexpected")
    assert "Usage: azdiskctl [" in subprocess.run([PROGRAM, "--help"], capture_output=True, text=True).stdout


def test_kubectl_completes_it(environment, world):
    def completed(*words: str) -> list[str]:
        return kubectl(environment, "__complete", "azdisk", *words).stdout.splitlines()

    assert completed("ma") == ["map\tOn which nodes each volume is, and the disk slots of each node", ":4"]
    assert completed("why", "pv") == ["pvc/", "pv/", ":6"]
    assert completed("get", "volumes", f"--object-namespace={world.namespace}", "") == ["pvc-1", ":4"]
    assert completed("get", "-oj") == ["-ojson", ":4"]


def test_a_shell_that_is_none():
    done = subprocess.run([PROGRAM, "completion", "tcsh"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "none of the shells bash, zsh and fish" in done.stderr


def test_an_output_that_is_full_or_closed():
    """Whatever was to be printed, and a reader who has had enough is neither."""
    for words in (["completion", "bash"], ["--help"], ["--version"], ["__complete", "g"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2 and "\nazdiskctl: the output: " in f"\n{done.stderr}", words
        closed = subprocess.run(["sh", "-c", '"$0" "$@" >&-', PROGRAM, *words], stderr=subprocess.PIPE, text=True)
        assert closed.returncode == 2 and "\nazdiskctl: the output: " in f"\n{closed.stderr}", words
    process = subprocess.Popen([PROGRAM, "completion", "bash"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    assert "azdiskctl: " not in process.stderr.read() and process.wait() == 0
