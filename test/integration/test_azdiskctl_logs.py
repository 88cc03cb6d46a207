"""azdiskctl logs: the lines of the driver's containers about a volume, in the order of time."""

import json
import re

import pytest

from .azdiskctl import Calls
from .pod_logs import Logs, pod

GROUP = "/apis/disk.csi.azure.com/v1beta2/namespaces/objects"
DISK = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/Data"
VOLUME = {"metadata": {"name": "pvc-1", "namespace": "objects"}, "status": {"detail": {"volume_id": DISK}}}
ATTACHMENT = {"metadata": {"name": "pvc-1-node-b-attachment", "namespace": "objects"},
              "spec": {"volumeName": "pvc-1", "nodeName": "node-b"}}
PODS = [pod("plugin-a", "azuredisk", owner="DaemonSet", node="node-a"), pod("plugin-b", "azuredisk", owner="DaemonSet", node="node-b"),
        pod("controller", "azuredisk", previous=True, node="node-a")]
LOGS = {
    ("plugin-a", "azuredisk", False): b"2026-11-27T10:00:03.5Z I about pvc-1 on a\n",
    ("plugin-b", "azuredisk", False): f"2026-11-27T12:00:02.25+02:00 I staged {DISK.lower()}\n2026-11-27T10:00:05Z I pvc-10 and data\n".encode(),
    ("controller", "azuredisk", False): b"2026-11-27T10:00:03Z I attaching PVC-1-node-b-attachment\x1b[2J\n"
                                        b"2026-11-27T10:00:04.1Z I pvc-2 and my-pvc-1\n",
    ("controller", "azuredisk", True): b"2026-11-27T10:00:01.999999999Z F pvc-1: died\n",
}


@pytest.fixture
def ask(tmp_path):
    """ask(words): the lines, each as (pod, text), of a cluster with these logs; `asked` has the requests."""
    def call(*words: str, logs: dict = LOGS, objects: bool = True, status: int = 0) -> dict:
        lists = {f"{GROUP}/azvolumes": [VOLUME], f"{GROUP}/azvolumeattachments": [ATTACHMENT]} if objects else {}
        with Logs(tmp_path, PODS, logs, lists) as server:
            output, call.errors = Calls(server.kubeconfig, "objects").outputs("logs", *words, "-o", "json", status=status)
            call.asked = [path for path in server.asked if "/log?" in path]
            call.text = Calls(server.kubeconfig, "objects").outputs("logs", *words, status=status)[0]
        return json.loads(output)

    return call


def lines(document: dict) -> list[tuple[str, str]]:
    return [(line["pod"], line["text"]) for line in document["lines"]]


def test_of_a_volume(ask):
    """By all of its names, of the nodes that it is on and of the container that ran before, by time."""
    found = ask("pvc-1")
    assert lines(found) == [("controller", "F pvc-1: died"), ("plugin-b", f"I staged {DISK.lower()}"),
                            ("controller", "I attaching PVC-1-node-b-attachment\x1b[2J")]
    assert [line["previous"] for line in found["lines"]] == [True, False, False]
    assert found["lines"][1]["time"] == "2026-11-27T10:00:02.250000Z" and found["unread"] == []
    assert not any("plugin-a" in path for path in ask.asked)
    assert all("timestamps=true" in path and "sinceSeconds" not in path for path in ask.asked)
    assert re.match(r"2026-11-27T10:00:01.999999Z +controller +azuredisk +F pvc-1: died\n", ask.text)
    assert "\x1b" not in ask.text and r"\x1b[2J" in ask.text


def test_of_a_node(ask):
    assert ("plugin-a", "I about pvc-1 on a") in lines(ask("pvc-1", "--node", "node-a"))
    assert not any("plugin-b" in path for path in ask.asked)


def test_of_all_controllers(ask):
    assert {name for name, _ in lines(ask("--since=90500ms"))} == {"controller"}
    assert all("sinceSeconds=91" in path for path in ask.asked)


def test_of_a_volume_that_is_gone(ask):
    assert [name for name, _ in lines(ask("pvc-1", objects=False))] == ["controller", "controller"]
    assert "no volume pvc-1 is on record" in ask.errors


@pytest.mark.parametrize(("source", "answer"), [
    (("controller", "azuredisk", True), 403),  # may not be read
    (("controller", "azuredisk", True), 400),  # kubelet has no log of it any more
    (("plugin-b", "azuredisk", False), 502),  # the node is off
])
def test_what_could_not_be_read(ask, source, answer):
    found = ask("pvc-1", logs=LOGS | {source: answer}, status=1)
    assert len(found["lines"]) == 2 and [(e["pod"], e["container"]) for e in found["unread"]] == [source[:2]]
    assert f"incomplete: {source[0]} azuredisk: " in ask.text


def test_bytes_that_are_no_text(ask):
    """What a program has printed by mistake ends no line, and reaches no terminal."""
    odd = {("controller", "azuredisk", True): b"2026-11-27T10:00:01Z \x00 pvc-1 \xff end\n"}
    assert lines(ask("pvc-1", logs=LOGS | odd))[0] == ("controller", "? pvc-1 ? end")


def test_a_flag_of_another_command(tmp_path):
    with Logs(tmp_path, PODS, LOGS) as server:
        errors = Calls(server.kubeconfig, "objects").outputs("map", "--since=1h", status=2)[1]
    assert "map: --since has no effect" in errors


@pytest.mark.parametrize(("pods", "words", "said"), [
    ([], [], "no pod with the label app.kubernetes.io/part-of=azuredisk-csi-driver has run"),
    (PODS, ["--node=node-x"], "no node plug-in has run on node node-x"),
])
def test_nothing_to_read(tmp_path, pods, words, said):
    with Logs(tmp_path, pods, LOGS) as server:
        assert said in Calls(server.kubeconfig, "objects").outputs("logs", *words, status=2)[1]
