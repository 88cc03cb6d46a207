"""How much azsim holds, and that it answers as fast then as with a hundredth of that: the shipped program
with 5,000 VMs and 20,000 disks. An answer is reckoned in processor time, and two are compared within one
run, so that a busy or slow machine makes no difference."""

import http.client
import json
import os
import pathlib
import ssl
import threading
import urllib.parse

import pytest

from .simulator import CLIENT, GROUP, LOCATION, SECRET, SUBSCRIPTION, TENANT, Azsim, describe, disk_id

VMS, DISKS_OF_VM, GETS, CLIENTS = 5_000, 4, 5_000, 4
DISKS = VMS * DISKS_OF_VM
FEW_VMS = VMS // 100
MOST_MEMORY = 500 << 20
MOST_SLOWER = 2  # a copy of all disks, or a walk over them, would be a hundred times slower
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

    def run(self, numbers: range, request) -> None:
        """request(i) for each number: method, path and what the body says."""
        failures = []

        def client(first: int) -> None:
            connection = self._connect()
            try:
                for i in numbers[first::CLIENTS]:
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


def attach_disks(i: int):
    names = [f"d{DISKS_OF_VM * i + k}" for k in range(DISKS_OF_VM)]
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


def fill(load: Load, vms: range) -> None:
    load.run(range(vms.start * DISKS_OF_VM, vms.stop * DISKS_OF_VM), make_disk)
    load.run(vms, attach_disks)


def cost_of_answers(azsim: Azsim, load: Load, vms: int) -> list[float]:
    """Processor seconds for GETS of the first VMs' disks, and of these VMs."""
    costs = []
    for request in (lambda i: ("GET", f"{disk_id(f'd{i % (vms * DISKS_OF_VM)}')}?api-version=2025-01-02"),
                    lambda i: ("GET", f"{vm_path(i % vms)}?api-version=2025-04-01")):
        before = processor_seconds(azsim.pid)
        load.run(range(GETS), request)
        costs.append(processor_seconds(azsim.pid) - before)
    return costs


def test_it_holds_a_large_subscription_and_answers_as_fast_as_a_small_one(azsim):
    load = Load(azsim)
    fill(load, range(FEW_VMS))
    with_few = cost_of_answers(azsim, load, FEW_VMS)
    fill(load, range(FEW_VMS, VMS))
    summary = azsim.control("GET", "summary")
    assert (summary["vms"], summary["disks"], summary["attachments"]) == (VMS, DISKS, DISKS)

    with_all = cost_of_answers(azsim, load, VMS)
    slower = [many / few for many, few in zip(with_all, with_few)]
    assert max(slower) < MOST_SLOWER, f"{with_few} s of processor time for {GETS} answers, then {with_all}"
    assert most_memory(azsim.pid) < MOST_MEMORY
