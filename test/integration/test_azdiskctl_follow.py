"""azdiskctl logs --follow: what is there, and then what comes, each line once, whatever breaks or is replaced meanwhile."""

import json
import signal
import threading

import pytest
import yaml
from cluster.waiting import until

from .azdiskctl import Calls
from .growing_logs import GrowingLogs

GROUP = "/apis/disk.csi.azure.com/v1beta2/namespaces/objects"
VOLUME = {"metadata": {"name": "pvc-1", "namespace": "objects"}}


class Follower:
    """The program while it runs: `lines` are those that it has printed."""

    def __init__(self, server: GrowingLogs, *words: str):
        self.process = Calls(server.kubeconfig, "objects").start("logs", "--follow", *words)
        self.lines: list[str] = []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def __enter__(self) -> "Follower":
        return self

    def __exit__(self, *_) -> None:
        self.process.kill()
        self.process.wait()

    def texts(self) -> list[str]:
        """What is behind the time, the pod and the container."""
        return [line.split(None, 3)[3] for line in self.lines]

    def until(self, *texts: str) -> None:
        """All of these, and no others, in any order."""
        until(lambda: len(self.lines) >= len(texts), f"{texts}, of which there is {self.lines}")
        assert sorted(self.texts()) == sorted(texts)

    def ends(self, number: int = signal.SIGINT, status: int | None = 0) -> str:
        """What it has said on stderr; the status is None if it is a matter of time whether there is something to say."""
        self.process.send_signal(number)
        assert self.process.wait(timeout=60) in ([0, 1] if status is None else [status])
        self.reader.join()
        return errors_of(self.process.stderr.read())


def errors_of(said: str) -> str:
    """Without what the sanitizer says of each run."""
    return "".join(line for line in said.splitlines(keepends=True) if "ASan doesn't fully support" not in line)


@pytest.fixture
def server(tmp_path):
    with GrowingLogs(tmp_path, {f"{GROUP}/azvolumes": [VOLUME], f"{GROUP}/azvolumeattachments": []}) as server:
        server.add("controller", "10:00:03.5Z second", "10:00:03.5Z third")
        server.add("extender", "10:00:02Z first")
        yield server


def attachment(node: str) -> dict:
    return {"metadata": {"name": f"pvc-1-{node}", "namespace": "objects"}, "spec": {"volumeName": "pvc-1", "nodeName": node}}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_is_there_and_what_comes(server, number):
    with Follower(server) as follower:
        until(lambda: server.follows("controller") and server.follows("extender"), "the logs are followed")
        until(lambda: len(follower.lines) >= 3, "what is there")
        assert follower.texts() == ["first", "second", "third"], "in the order of time"
        server.say("extender", "10:00:04Z fourth\x1b[2J")
        follower.until("first", "second", "third", r"fourth\x1b[2J")
        server.say("controller", "10:00:03.5Z of the same time", "10:00:03.1Z of an earlier time")
        follower.until("first", "second", "third", r"fourth\x1b[2J", "of the same time", "of an earlier time")
        assert follower.ends(number) == ""
    assert follower.lines[0] == "2026-11-27T10:00:02.000000Z  extender    azuredisk  first"
    assert all("tailLines" not in path for path in server.asked if "follow=true" in path)
    assert any("sinceTime=2026-11-27T10:00:03Z" in path for path in server.asked)


def test_only_what_is_about_a_volume(server):
    with Follower(server, "pvc-1", "-f", "--since=1h") as follower:
        until(lambda: server.follows("controller"), "the log is followed")
        server.say("controller", "10:00:04Z pvc-10", "10:00:05Z pvc-1 is attached")
        follower.until("pvc-1 is attached")
        assert follower.ends() == ""
    assert server.times_asked("sinceSeconds=3600", "follow=true") == 0, "what was looked at is not asked for again"


def test_a_stream_that_breaks(server):
    """Lines of one time, of which some were printed before and some come afterwards, and half a line."""
    with Follower(server) as follower:
        until(lambda: server.follows("controller"), "the log is followed")
        server.cut("controller")
        server.say("controller", "10:00:03.5Z new of that time", "10:00:04Z later")
        follower.until("first", "second", "third", "new of that time", "later")
        server.cut("controller")
        until(lambda: server.times_asked("/controller/", "follow=true", "10:00:04Z") > 0, "it is opened again")
        server.say("controller", "10:00:05Z last")
        follower.until("first", "second", "third", "new of that time", "later", "last")
        assert follower.ends() == ""


def test_a_pod_that_is_replaced(server):
    """And one whose container is restarted while nobody could read it."""
    with Follower(server) as follower:
        until(lambda: server.follows("controller") and server.follows("extender"), "the logs are followed")
        server.remove("extender")
        server.add("extender-2", "10:00:04Z of the new pod")
        server.refuse("controller", 503)
        server.cut("controller")
        until(lambda: not server.follows("controller"), "the stream is broken")
        server.restart("controller", "10:00:05Z died")
        server.say("controller", "10:00:06Z is back")
        follower.until("first", "second", "third", "of the new pod")
        server.refuse("controller", 0)
        follower.until("first", "second", "third", "of the new pod", "died", "is back")
        server.restart("controller", "10:00:07Z died again")
        server.say("controller", "10:00:08Z is back again")
        follower.until("first", "second", "third", "of the new pod", "died", "is back", "died again", "is back again")
        assert "extender" not in follower.ends(status=None)


def test_a_volume_that_moves(server):
    server.add("plugin-a", "10:00:04Z pvc-1 on a", owner="DaemonSet", node="node-a")
    server.add("plugin-b", "10:00:05Z pvc-1 on b", owner="DaemonSet", node="node-b")
    server.lists[f"{GROUP}/azvolumeattachments"] = [attachment("node-a")]
    with Follower(server, "pvc-1") as follower:
        until(lambda: server.follows("plugin-a"), "the log is followed")
        follower.until("pvc-1 on a")
        server.lists[f"{GROUP}/azvolumeattachments"] = [attachment("node-b")]
        follower.until("pvc-1 on a", "pvc-1 on b")
        assert follower.ends() == ""


@pytest.mark.parametrize("at_first", [True, False])
def test_what_cannot_be_read(server, at_first):
    """Is said once, however often it is tried, and ends nothing."""
    if at_first:
        server.refuse("controller", 403)
    with Follower(server) as follower:
        if not at_first:
            until(lambda: server.follows("controller"), "the log is followed")
            server.refuse("controller", 403)
            server.cut("controller")
        asked = server.times_asked("/controller/")
        until(lambda: server.times_asked("/controller/") >= asked + 4, "it is tried again and again")
        server.say("controller", "10:00:04Z fourth")
        server.refuse("controller", 0)
        follower.until("first", "second", "third", "fourth")
        errors = follower.ends(status=1)
    assert errors == "incomplete: controller azuredisk: no log: Forbidden (HTTP 403)\n"


def test_pods_that_cannot_be_listed(server):
    with Follower(server) as follower:
        until(lambda: server.follows("controller") and server.times_asked("/pods?") >= 2, "the log is followed")
        server.pods_refused = 403
        listed = server.times_asked("/pods?")
        until(lambda: server.times_asked("/pods?") >= listed + 2, "it is tried again")
        server.say("controller", "10:00:04Z fourth")
        follower.until("first", "second", "third", "fourth")
        errors = follower.ends(status=1)
    assert errors.count("\n") == 1 and "incomplete: GET /api/v1/pods?" in errors


@pytest.mark.parametrize(("form", "read"), [
    ("json", lambda lines: [json.loads(line) for line in lines]),
    ("yaml", lambda lines: list(yaml.safe_load_all("\n".join(lines)))),
])
def test_as_data(server, form, read):
    with Follower(server, "-o", form) as follower:
        until(lambda: server.follows("controller"), "the log is followed")
        until(lambda: any("third" in line for line in follower.lines), "what is there")
        server.say("controller", "10:00:04Z fourth")
        until(lambda: any("fourth" in line for line in follower.lines), "the line")
        assert follower.ends() == ""
    assert read(follower.lines)[-1] == {"time": "2026-11-27T10:00:04.000000Z", "pod": "controller", "container": "azuredisk",
                                        "previous": False, "text": "fourth"}
    assert len(read(follower.lines)) == 4


@pytest.mark.parametrize("says_more", [True, False])
def test_nobody_reads_it_any_more(server, says_more):
    """As head does: it ends without a word, also if there is nothing to print by then."""
    process = Calls(server.kubeconfig, "objects").start("logs", "--follow")
    try:
        until(lambda: server.follows("controller"), "the log is followed")
        process.stdout.close()
        if says_more:
            server.say("controller", "10:00:04Z fourth")
        assert process.wait(timeout=60) == 0
        assert errors_of(process.stderr.read()) == ""
    finally:
        process.kill()


def test_an_output_that_is_full(server):
    with open("/dev/full", "w") as full:
        process = Calls(server.kubeconfig, "objects").start("logs", "-f", stdout=full)
    assert errors_of(process.communicate(timeout=120)[1]) == "azdiskctl: the output: No space left on device\n"
    assert process.returncode == 2


def test_too_many(server):
    for i in range(127):
        server.add(f"more-{i}")
    said = Calls(server.kubeconfig, "objects").outputs("logs", "--follow", status=2)[1]
    assert "129 containers would have to be followed, and 128 is the most: choose one of the nodes by --node" in said


@pytest.mark.parametrize(("words", "said"), [
    (["map", "--follow"], "map: --follow has no effect"),
    (["bundle", "-f"], "bundle: --follow has no effect"),
    (["logs", "-f", "-o", "wide"], "logs: --output wide is not for this command"),
    (["logs", "-f", "--timeout=1h"], "logs: --timeout has no effect"),
    (["logs", "-f", "--node=node-x"], "no node plug-in has run on node node-x"),
])
def test_what_makes_no_sense(server, words, said):
    assert said in Calls(server.kubeconfig, "objects").outputs(*words, status=2)[1]
