"""How much azsim holds and how fast it answers: the shipped program with 5,000 VMs and 20,000
disks. Speed is counted in processor time, so that a busy machine makes no difference."""

import http.client
import json
import os
import pathlib
import ssl
import threading
import urllib.parse

import pytest

from .simulator import CLIENT, GROUP, LOCATION, SECRET, SUBSCRIPTION, TENANT, Azsim, describe, disk_id

VMS, DISKS, GETS, CLIENTS = 5_000, 20_000, 10_000, 4
MOST_MEMORY = 500 << 20
LEAST_GETS_PER_SECOND = 2_000
PREFIX = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{GROUP}/providers/Microsoft.Compute"


def vm_path(i: int) -> str:
    """Every other one is an instance of a scale set."""
    return f"{PREFIX}/virtualMachines/vm{i}" if i % 2 else (
        f"{PREFIX}/virtualMachineScaleSets/pool/virtualMachines/{i}")


class Load:
    """Requests by several clients at once, each with a connection that it keeps."""

    def __init__(self, azsim: Azsim):
        self._port = azsim.port
        self._context = ssl.create_default_context(cafile=azsim.ca)
        self._headers = {"Content-Type": "application/json"}
        answer = self._ask(self._connect(), "POST", f"/{TENANT}/oauth2/v2.0/token",
                           urllib.parse.urlencode({
                               "grant_type": "client_credentials", "client_id": CLIENT,
                               "client_secret": SECRET,
                               "scope": "https://management.azure.com/.default"}))
        self._headers["Authorization"] = f"Bearer {json.loads(answer)['access_token']}"

    def _connect(self) -> http.client.HTTPSConnection:
        return http.client.HTTPSConnection("127.0.0.1", self._port, context=self._context)

    def _ask(self, connection, method: str, path: str, body: str | None = None) -> bytes:
        connection.request(method, path, body, self._headers)
        response = connection.getresponse()
        text = response.read()
        assert response.status < 300, f"{path}: {response.status} {text[:500]}"
        return text

    def run(self, n: int, request) -> None:
        """request(i) for i below n: method, path and what the body says."""
        failures = []

        def client(first: int) -> None:
            connection = self._connect()
            try:
                for i in range(first, n, CLIENTS):
                    method, path, *body = request(i)
                    self._ask(connection, method, path, *map(json.dumps, body))
            except Exception as failure:
                failures.append(failure)

        threads = [threading.Thread(target=client, args=(first,)) for first in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures[0]


def make_disk(i: int):
    return "PUT", f"{disk_id(f'd{i}')}?api-version=2025-01-02", {
        "location": LOCATION, "sku": {"name": "Premium_LRS"}, "properties": {
            "creationData": {"createOption": "Empty"}, "diskSizeGB": 10, "maxShares": 2}}


def attach_four(i: int):
    names = [f"d{4 * i + k}" for k in range(4)]
    return "POST", f"{vm_path(i)}/attachDetachDataDisks?api-version=2025-04-01", {
        "dataDisksToAttach": [{"diskId": disk_id(name)} for name in names]}


def processor_seconds(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def most_memory(pid: int) -> int:
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise AssertionError("no VmHWM")


@pytest.fixture
def azsim(tmp_path, monkeypatch):
    shipped = pathlib.Path(__file__).parents[2] / "build/bin/azsim"
    monkeypatch.setenv("AZSIM", str(shipped))
    size = {"size": "Standard_D4s_v5"}
    vms = [{"name": f"vm{i}", **size} if i % 2 else
           {"name": f"pool{i:06}", "scaleSet": "pool", "instanceId": str(i), **size}
           for i in range(VMS)]
    with Azsim(tmp_path, describe(vms), "--throttling=off", "--time-factor=0.001",
               "--latency=get=0,accept=0,token=0,create=0,attach=0,orphan=0") as azsim:
        yield azsim


def test_it_holds_a_large_subscription_and_answers_fast(azsim):
    load = Load(azsim)
    load.run(DISKS, make_disk)
    load.run(VMS, attach_four)
    summary = azsim.control("GET", "summary")
    assert (summary["vms"], summary["disks"], summary["attachments"]) == (VMS, DISKS, DISKS)

    for request in (lambda i: ("GET", f"{disk_id(f'd{i}')}?api-version=2025-01-02"),
                    lambda i: ("GET", f"{vm_path(i % VMS)}?api-version=2025-04-01")):
        before = processor_seconds(azsim.pid)
        load.run(GETS, request)
        assert GETS / (processor_seconds(azsim.pid) - before) > LEAST_GETS_PER_SECOND
    assert most_memory(azsim.pid) < MOST_MEMORY
