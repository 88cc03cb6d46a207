"""azdiskctl's completion as people meet it: in a real bash at a terminal, and by the real kubectl, whose plug-in it is."""

import json
import os
import pty
import re
import socket
import subprocess
import time
from pathlib import Path

import pytest
from cluster import tools

from .azdiskctl import PROGRAM
from .driver_world import World

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
    return {"PATH": f"{programs}:{tools.folder()}:{os.environ['PATH']}", "TERM": "dumb", "HOME": str(world.folder),
            "KUBECONFIG": str(world.apiserver.kubeconfig), "ASAN_OPTIONS": "detect_stack_use_after_return=0"}


class Bash:
    """An interactive bash with the completion switched on. Keys of its own: ^Xi inserts all that it would offer, and
    ^Xl says what the line is then, and empties it."""

    SETUP = r"""
bind 'set bell-style none'
bind 'set enable-bracketed-paste off'
bind '"\C-xi": insert-completions'
bind -x '"\C-xl": echo "<$READLINE_LINE>"; READLINE_LINE='
source <(azdiskctl completion bash)
PS1=; echo "<rea""dy>"
"""

    def __init__(self, environment: dict[str, str], folder):
        self.terminal, end = pty.openpty()
        self.process = subprocess.Popen(["bash", "--norc", "--noprofile", "-i"], stdin=end, stdout=end, stderr=end,
                                        env=environment | {"INPUTRC": "/dev/null"}, cwd=folder, start_new_session=True)
        os.close(end)
        self.type(self.SETUP.replace("\n", "\r"))
        assert self.next_line() == "ready"

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def next_line(self) -> str:
        seen = ""
        while not (found := re.search(r"<([^<>\r\n]*)>\r\n", seen)):
            seen += os.read(self.terminal, 4096).decode()
        return found[1]

    def offered(self, line: str) -> str:
        """The line with everything that may stand at its end."""
        self.type(line + "\x18i\x18l")
        return self.next_line()

    def after_tab(self, line: str) -> str:
        self.type(line + "\t\x18l")
        return self.next_line()

    def close(self) -> None:
        os.close(self.terminal)
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def bash(environment, world):
    bash = Bash(environment, world.folder)
    yield bash
    bash.close()


def test_bash_completes_words(bash):
    assert bash.after_tab("azdiskctl desc") == "azdiskctl describe "
    assert bash.after_tab("azdiskctl -n shop drain x --dry") == "azdiskctl -n shop drain x --dry-run "
    assert bash.after_tab("azdiskctl why azvolumea") == "azdiskctl why azvolumeattachment/", "the name is still to come"
    assert bash.offered("azdiskctl get -o ") == "azdiskctl get -o json name table text wide yaml "
    assert bash.after_tab("azdiskctl get --output=ya") == "azdiskctl get --output=yaml "
    assert bash.after_tab("azdiskctl get -oya") == "azdiskctl get -oyaml "
    assert bash.after_tab("azdiskctl nothing x") == "azdiskctl nothing x"


def test_bash_completes_within_a_longer_line(bash):
    assert bash.after_tab("true; x=1 azdiskctl get repl") == "true; x=1 azdiskctl get replicas "
    assert bash.after_tab("azdiskctl get attach -o json\x02\x02\x02\x02\x02\x02\x02\x02") == "azdiskctl get attachments -o json"


def test_bash_completes_names(bash, world):
    flags = f"azdiskctl --object-namespace {world.namespace} -n {world.namespace}"
    assert bash.after_tab(f"{flags} get volumes pv") == f"{flags} get volumes pvc-1 "
    assert bash.offered(f"{flags} get attachments ") == f"{flags} get attachments pvc-1-a pvc-1-b "
    assert bash.after_tab(f"{flags} get replicas ") == f"{flags} get replicas pvc-1-b "
    assert bash.after_tab(f"{flags} describe volume/") == f"{flags} describe volume/pvc-1 "
    assert bash.after_tab(f"{flags} failover d") == f"{flags} failover data "
    assert bash.after_tab(f"{flags} failover data --to={world.nodes[1][:-1]}b") == f"{flags} failover data --to={world.nodes[1]} "
    assert bash.offered(f"{flags} drain {world.prefix}") == f"{flags} drain {' '.join(world.nodes)} "
    assert bash.after_tab(f"azdiskctl -n {world.namespace[:-1]}") == f"azdiskctl -n {world.namespace} "


def test_bash_completes_files_and_contexts(bash, world):
    (world.folder / "my-contexts").write_text(
        "contexts: [{name: someone@prod, context: {}}, {name: 'arn:x/y', context: {}}, {name: '$(touch oh)', context: {}}]")
    assert bash.after_tab("azdiskctl --kubeconfig my-co") == "azdiskctl --kubeconfig my-contexts "
    assert bash.after_tab("azdiskctl --kubeconfig=my-co") == "azdiskctl --kubeconfig=my-contexts "
    flags = "azdiskctl --kubeconfig=my-contexts"
    assert bash.after_tab(f"{flags} --context someone@p") == f"{flags} --context someone@prod "
    assert bash.after_tab(f"{flags} --context=a") == f"{flags} --context=arn:x/y "
    assert bash.offered(f"{flags} --context ") == f"{flags} --context arn:x/y someone@prod "


def test_bash_goes_on_when_nobody_answers(bash):
    assert bash.after_tab("azdiskctl --kubeconfig none get volumes x") == "azdiskctl --kubeconfig none get volumes x"
    assert bash.after_tab("azdiskctl --no-such-flag get volumes x") == "azdiskctl --no-such-flag get volumes x"
    assert bash.after_tab("azdiskctl get volumes --help x") == "azdiskctl get volumes --help x"


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


# ---- the scripts of shells that are not here ----

def script(shell: str) -> str:
    return subprocess.run([PROGRAM, "completion", shell], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_a_script_is_the_one_that_was_reviewed(shell):
    """It is not run here, so nobody may change it by the way."""
    assert script(shell) == (Path(__file__).parent / f"completion.{shell}").read_text()


def test_the_syntax_of_zsh_as_far_as_it_is_that_of_bash():
    subprocess.run(["bash", "-n"], input=script("zsh"), check=True, text=True)


def test_a_shell_that_is_none():
    done = subprocess.run([PROGRAM, "completion", "tcsh"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "none of the shells bash, zsh and fish" in done.stderr
