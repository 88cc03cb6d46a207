"""Every call of calls.txt, in every api-version, and what azsim answers."""

import http.client
import itertools
import json
import os
import pathlib
import re
import ssl
import subprocess
import urllib.parse
from typing import NamedTuple

import pytest
from cluster import tools

from .simulator import CLIENT, GROUP, LOCATION, SECRET, SUBSCRIPTION, TENANT, Azsim, describe

TABLE = pathlib.Path(__file__).parent / "calls.txt"
NEWEST = {"disks": "2025-01-02", "snapshots": "2025-01-02", "": "2021-04-01"}
SUBSCRIPTION_PATH = f"/subscriptions/{SUBSCRIPTION}"
EMPTY_DISK = {"location": LOCATION, "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 4}}


class Call(NamedTuple):
    method: str
    path: str
    versions: list[str]
    status: int
    code: str


def read_table() -> list[Call]:
    text = TABLE.read_text().replace("\\\n", "")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    sets = {name.strip(): versions.split() for name, _, versions in (
        line.partition("=") for line in lines if "|" not in line)}

    def versions(words: str) -> list[str]:
        name, *limit = words.split()
        inside = {"from": lambda v: v >= limit[1], "to": lambda v: v <= limit[1]}[limit[0]] if limit else bool
        return [version for version in sets[name] if inside(version)]

    calls = []
    for line in lines:
        if "|" in line:
            method, path, words, _, answer, known = (cell.strip() for cell in line.split("|"))
            status, _, code = answer.partition(" ")
            assert known in "RDS-" and versions(words), line
            calls.append(Call(method, path, versions(words), int(status), code))
    return calls


CALLS = read_table()


def shape(path: str) -> str:
    """A path of the table or of an SDK, with what it names left out."""
    path = path.replace("/subscriptions/{subscriptionId}", "S").lower()
    path = re.sub("^s/resourcegroups/{[a-z]+}", "g", path)
    path = path.replace("g/providers/microsoft.compute", "c").replace("s/providers/microsoft.compute", "q")
    return re.sub(r"{[a-z]+}|eastus", "*", path)


def known_calls() -> set[tuple[str, str, str]]:
    """Method, shape of the path, and api-version."""
    return {(call.method, shape(call.path), version) for call in CALLS for version in call.versions}


def module_folder(user: pathlib.Path, module: str) -> pathlib.Path:
    """The sources of a Go module that another one uses."""
    done = subprocess.run([tools.go(), "mod", "download", "-json", module], cwd=user, check=True,
                          capture_output=True, text=True, env=os.environ | {"GOFLAGS": "-mod=readonly"})
    return pathlib.Path(json.loads(done.stdout)["Dir"])


class Azure:
    """A client without an SDK, and what it makes for a call."""

    def __init__(self, azsim: Azsim):
        self._azsim = azsim
        self._numbers = itertools.count(1)
        self._connection = http.client.HTTPSConnection(
            "127.0.0.1", azsim.port, context=ssl.create_default_context(cafile=azsim.ca))
        self._token = None
        form = urllib.parse.urlencode({
            "grant_type": "client_credentials", "client_id": CLIENT, "client_secret": SECRET,
            "resource": "https://management.azure.com/"})
        self._token = json.loads(self.ask("POST", f"/{TENANT}/oauth2/token", "1.0", form)[2])["access_token"]
        self._source = self.disk()

    def ask(self, method: str, path: str, version: str, body=None):
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        data = json.dumps(body) if isinstance(body, dict) else body
        self._connection.request(method, f"{path}?api-version={version}", data, headers)
        response = self._connection.getresponse()
        return response.status, response.headers, response.read()

    def make(self, path: str, version: str, body: dict) -> str:
        """Its name."""
        status, _, text = self.ask("PUT", path, version, body)
        assert status in (201, 202), text
        return path.rsplit("/", 1)[1]

    def name(self) -> str:
        return f"new{next(self._numbers)}"

    def disk(self) -> str:
        return self.make(expand(f"C/disks/{self.name()}"), NEWEST["disks"], EMPTY_DISK)

    def snapshot(self) -> str:
        return self.make(expand(f"C/snapshots/{self.name()}"), NEWEST["snapshots"], self.of_disk())

    def of_disk(self) -> dict:
        return {"location": LOCATION, "properties": {"creationData": {
            "createOption": "Copy", "sourceResourceId": expand(f"C/disks/{self._source}")}}}

    def group(self) -> str:
        return self.make(f"{SUBSCRIPTION_PATH}/resourceGroups/{self.name()}", NEWEST[""], {"location": LOCATION})

    def vm(self, **more) -> str:
        name = self.name()
        self._azsim.control("POST", "vms", {"name": name, "size": "Standard_D4s_v5", **more}, expect=201)
        return name

    def stopped(self) -> str:
        name = self.vm()
        self._azsim.control("POST", f"vms/{name}/deallocate")
        return name

    def set(self) -> str:
        name = self.name()
        self.vm(scaleSet=name, instanceId="0")
        return name


def expand(path: str, group: str = GROUP) -> str:
    group_path = f"{SUBSCRIPTION_PATH}/resourceGroups/{group}"
    starts = {"S": SUBSCRIPTION_PATH, "G": group_path, "C": f"{group_path}/providers/Microsoft.Compute",
              "Q": f"{SUBSCRIPTION_PATH}/providers/Microsoft.Compute"}
    start, slash, rest = path.partition("/")
    return starts.get(start, start) + slash + rest


def body_of(azure: Azure, call: Call) -> dict | None:
    if call.method in ("GET", "HEAD", "DELETE"):
        return None
    if call.path.endswith("/beginGetAccess"):
        return {"access": "Read", "durationInSeconds": 3600}
    if call.path.lower().endswith("/attachdetachdatadisks"):
        return {"dataDisksToAttach": [{"diskId": expand(f"C/disks/{azure.disk()}")}]}
    if call.path.endswith("/delete"):
        return {"instanceIds": ["0"]}
    if call.path.endswith("/runCommand"):
        return {"commandId": "RunShellScript", "script": ["true"]}
    if call.method == "PUT" and "/disks/" in call.path:
        return EMPTY_DISK
    if call.method == "PUT" and "/snapshots/" in call.path:
        return azure.of_disk()
    return {"location": LOCATION, "tags": {"a": "b"}} if call.method in ("PUT", "PATCH") else {}


@pytest.fixture(scope="module")
def azure(tmp_path_factory):
    with Azsim(tmp_path_factory.mktemp("calls"), describe([]), "--throttling=off", "--latency=get=0,accept=0,token=0",
               "--latency=create=0,update=0,delete=0,snapshot=0,attach=0,detach=0,power=0,orphan=0") as azsim:
        yield Azure(azsim)


def send(azure: Azure, call: Call, version: str) -> None:
    """One call, about things that are there for it alone."""
    made = {word: getattr(azure, word)() for word in ("disk", "snapshot", "vm", "stopped", "set") if f"{{{word}}}" in call.path}
    path = call.path.format(**made, instance="0", new=azure.name(), none="none")
    whole_group = call.path == "G" and call.method != "GET"
    path = expand(path, azure.group() if whole_group else GROUP)
    status, headers, text = azure.ask(call.method, path, version, body_of(azure, call))
    said = f"{call.method} {path}?api-version={version}: {status} {text.decode()}"
    assert status == call.status, said
    assert not call.code or json.loads(text)["error"]["code"] == call.code, said
    if status == 202:
        assert "Location" in headers, said  # without it, it is an error to the SDKs
    if call.method == "GET" and status == 200:
        assert json.loads(text), said


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.method} {call.path}")
def test_answers(azure, call):
    for version in call.versions:
        send(azure, call, version)


def test_no_call_stands_twice():
    keys = [(call.method, call.path.lower(), call.versions[0]) for call in CALLS]
    assert len(keys) == len(set(keys))
