"""Every fault that can be seen on the wire, seen there: by a plain HTTPS client, which sees more than an SDK."""

import http.client
import json
import ssl
import time
import urllib.parse
from typing import NamedTuple

import pytest

from .simulator import CLIENT, GROUP, LOCATION, SECRET, SUBSCRIPTION, TENANT, Azsim, describe, disk_id

LIMIT = 60  # seconds, for whatever is waited for
P = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{GROUP}/providers/Microsoft.Compute"
VM = f"{P}/virtualMachines/vm1"
TOKEN = f"/{TENANT}/oauth2/v2.0/token"
BODY = {"location": LOCATION, "properties": {"creationData": {"createOption": "Empty"}, "diskSizeGB": 4}}
QUICK = ("--latency=get=0,accept=0,token=0,orphan=0", "--latency=create=0,update=0,delete=0",
         "--latency=attach=0,detach=0")


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> dict:
        return json.loads(self.body)


class Wire:
    """One HTTPS connection after another, with a token."""

    def __init__(self, azsim: Azsim):
        self._azsim = azsim
        self._context = ssl.create_default_context(cafile=azsim.ca)
        self._token = None
        self._token = self.token().json["access_token"]

    def ask(self, method: str, path: str, body=None, connection=None) -> Answer:
        path = path.removeprefix(self._azsim.url)
        if "?" not in path:
            path += "?api-version=2025-01-02"
        connection = connection or self.connect()
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        data = json.dumps(body) if isinstance(body, dict) else body
        connection.request(method, path, body=data, headers=headers)
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())

    def connect(self) -> http.client.HTTPSConnection:
        host = urllib.parse.urlsplit(self._azsim.url).netloc
        return http.client.HTTPSConnection(host, context=self._context, timeout=LIMIT)

    def token(self) -> Answer:
        return self.ask("POST", TOKEN, urllib.parse.urlencode({
            "grant_type": "client_credentials", "client_id": CLIENT, "client_secret": SECRET,
            "scope": f"{self._azsim.url}/.default"}))

    def put_disk(self, name: str) -> Answer:
        return self.ask("PUT", f"{P}/disks/{name}", BODY)

    def attach(self, name: str) -> Answer:
        return self.ask("POST", f"{VM}/attachDetachDataDisks",
                        {"dataDisksToAttach": [{"diskId": disk_id(name)}]})

    def poll_to_its_end(self, url: str) -> dict:
        """What an operation says when it has ended."""
        limit = time.monotonic() + LIMIT
        while (status := self.ask("GET", url).json)["status"] == "InProgress":
            assert time.monotonic() < limit
            time.sleep(0.02)
        return status


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    vms = [{"name": "vm1", "size": "Standard_D4s_v5"}, {"name": "vm2", "size": "Standard_D4s_v5"}]
    with Azsim(tmp_path_factory.mktemp("azsim"), describe(vms), *QUICK, "--throttling=off") as azsim:
        yield azsim


@pytest.fixture
def azsim(running):
    yield running
    running.control("DELETE", "faults")


@pytest.fixture
def wire(azsim):
    return Wire(azsim)


def add(azsim: Azsim, fault: str, **rule) -> int:
    """The id of a rule that strikes once, if nothing else is said."""
    return azsim.fault(fault, **{"calls": "1", **rule})


def last(azsim: Azsim) -> dict:
    return azsim.journal()[-1]


# ---- instead of the handling ----

def test_hang_up(azsim, wire):
    add(azsim, "hangUp", kind="disks.createOrUpdate")
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        wire.put_disk("never")
    assert (last(azsim)["fault"], last(azsim)["status"]) == ("hangUp", 444)
    assert wire.ask("GET", f"{P}/disks/never").status == 404


@pytest.mark.parametrize(("rule", "status", "error"), [
    ({"code": "ScopeLocked"}, 409, "cannot perform delete operation"),
    ({"code": "InternalServerError"}, 500, "internal server error"),
    ({"code": "OperationNotAllowed", "status": 403, "message": "exceeding approved quota"}, 403, "approved quota"),
    ({"code": "AuthorizationFailed"}, 403, "does not have authorization"),
])
def test_refuse(azsim, wire, rule, status, error):
    add(azsim, "refuse", kind="disks.delete", resource="d-*", **rule)
    answer = wire.ask("DELETE", f"{P}/disks/d-1")
    assert (answer.status, answer.json["error"]["code"]) == (status, rule["code"])
    assert error in answer.json["error"]["message"]
    assert wire.ask("DELETE", f"{P}/disks/d-1").status == 204


def test_refuse_without_an_envelope(azsim, wire):
    add(azsim, "refuse", code="InternalExecutionError", wrapped=False, retryAfter=3)
    answer = wire.ask("GET", VM)
    assert (answer.status, answer.json["code"]) == (500, "InternalExecutionError")
    assert answer.headers["Retry-After"] == "3"


def test_refuse_a_change_that_names_a_disk(azsim, wire):
    add(azsim, "refuse", code="ConflictingUserInput", disk="owned")
    assert wire.attach("other").json["error"]["code"] == "NotFound"
    assert wire.attach("owned").json["error"]["code"] == "ConflictingUserInput"


def test_refuse_a_token(azsim, wire):
    add(azsim, "refuse", kind="entra.token", code="temporarily_unavailable", status=500)
    answer = wire.token()
    assert (answer.status, answer.json["error"]) == (500, "temporarily_unavailable")
    assert wire.token().status == 200


def test_refuse_for_a_time(azsim, wire):
    add(azsim, "refuse", code="AttachDiskWhileBeingDetached", calls="1-", **{"for": "200ms"})
    assert wire.ask("GET", VM).status == 409
    limit = time.monotonic() + LIMIT
    while wire.ask("GET", VM).status == 409:
        assert time.monotonic() < limit


@pytest.mark.parametrize(("rule", "code", "retry_after"), [
    ({}, "OperationNotAllowed", None),
    ({"retryAfter": 1}, "OperationNotAllowed", "1"),
    ({"retryAfter": 120}, "OperationNotAllowed", "120"),
])
def test_throttle(azsim, wire, rule, code, retry_after):
    add(azsim, "throttle", **rule)
    answer = wire.ask("GET", VM)
    assert (answer.status, answer.json["code"], answer.headers["Retry-After"]) == (429, code, retry_after)
    assert answer.json["details"][0]["target"] == "LowCostGetVMResource"
    assert answer.headers["x-ms-ratelimit-remaining-resource"].startswith("Microsoft.Compute/LowCostGetVMResource;0")


def test_throttle_with_a_date(azsim, wire):
    add(azsim, "throttle", retryAfter=17, asDate=True)
    assert wire.ask("GET", VM).headers["Retry-After"].endswith(" GMT")


def test_throttle_by_resource_manager(azsim, wire):
    add(azsim, "throttle", by="resourceManager", retryAfter=6)
    answer = wire.ask("GET", VM)
    assert answer.json["error"]["code"] == "SubscriptionRequestsThrottled"
    assert answer.headers["x-ms-ratelimit-remaining-subscription-reads"] == "0"


def test_throttle_only_the_polls(azsim, wire):
    add(azsim, "throttle", kind="operations.get", resource="polled", calls="1-2")
    accepted = wire.put_disk("polled")
    assert accepted.status == 202
    url = accepted.headers["Azure-AsyncOperation"]
    assert [wire.ask("GET", url).status for _ in range(3)] == [429, 429, 200]
    assert wire.ask("GET", f"{P}/disks/polled").status == 200


@pytest.mark.parametrize("status", [502, 503, 504])
def test_gateway_error(azsim, wire, status):
    add(azsim, "gatewayError", status=status, kind="disks.createOrUpdate")
    answer = wire.put_disk("never")
    assert (answer.status, answer.headers["Content-Type"]) == (status, "text/html")
    assert answer.body.startswith(b"<html>") and "x-ms-request-id" not in answer.headers
    assert wire.ask("GET", f"{P}/disks/never").status == 404


def test_redirect(azsim, wire):
    add(azsim, "redirect")
    answer = wire.ask("GET", VM)
    assert (answer.status, wire.ask("GET", answer.headers["Location"]).status) == (307, 200)
    add(azsim, "redirect", host="elsewhere.example")
    assert wire.ask("GET", VM).headers["Location"].startswith(f"https://elsewhere.example{VM}?api-version=")


def test_expire_token(azsim, wire):
    add(azsim, "expireToken")
    answer = wire.ask("GET", VM)
    assert (answer.status, answer.json["error"]["code"]) == (401, "ExpiredAuthenticationToken")
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]


def test_challenge(azsim, wire):
    add(azsim, "challenge")
    answer = wire.ask("GET", VM)
    assert answer.status == 401
    assert 'error="insufficient_claims", claims="' in answer.headers["WWW-Authenticate"]


# ---- the answer ----

def test_lose_answer(azsim, wire):
    add(azsim, "loseAnswer", kind="disks.createOrUpdate")
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        wire.put_disk("made")
    assert wire.ask("GET", f"{P}/disks/made").status == 200


def test_gateway_timeout(azsim, wire):
    add(azsim, "gatewayTimeout", kind="disks.createOrUpdate")
    answer = wire.put_disk("made-too")
    assert (answer.status, answer.body[:6]) == (504, b"<html>")
    assert wire.ask("GET", f"{P}/disks/made-too").status == 200


def test_cut_answer(azsim, wire):
    add(azsim, "cutAnswer")
    with pytest.raises((http.client.IncompleteRead, ConnectionError, ssl.SSLError)):
        wire.ask("GET", VM)


def test_truncate(azsim, wire):
    whole = wire.ask("GET", VM)
    add(azsim, "truncate")
    half = wire.ask("GET", VM)
    assert half.body == whole.body[: len(whole.body) // 2]
    assert int(half.headers["Content-Length"]) == len(half.body)


def test_drip(azsim, wire):
    add(azsim, "drip", time="400ms")
    start = time.monotonic()
    assert wire.ask("GET", VM).json["name"] == "vm1"
    assert time.monotonic() - start >= 0.35


def test_chunk(azsim, wire):
    add(azsim, "chunk")
    answer = wire.ask("GET", VM)
    assert answer.headers["Transfer-Encoding"] == "chunked" and "Content-Length" not in answer.headers
    assert answer.json["name"] == "vm1"


def test_close_connection(azsim, wire):
    add(azsim, "closeConnection")
    connection = wire.connect()
    assert wire.ask("GET", VM, connection=connection).headers["Connection"].lower() == "close"
    assert connection.sock is None


def test_wrong_type(azsim, wire):
    add(azsim, "wrongType")
    answer = wire.ask("GET", VM)
    assert answer.headers["Content-Type"] == "text/html" and answer.json["name"] == "vm1"


def test_stall(azsim, wire):
    add(azsim, "stall", time="400ms")
    start = time.monotonic()
    assert wire.ask("GET", VM).status == 200
    assert time.monotonic() - start >= 0.4
    assert last(azsim)["latencyMs"] == 400


def test_retry_after(azsim, wire):
    add(azsim, "retryAfter", retryAfter=17)
    assert wire.put_disk("d").headers["Retry-After"] == "17"


def test_no_operation(azsim, wire):
    add(azsim, "noOperation", kind="disks.*")
    answer = wire.put_disk("d")
    assert answer.status == 202
    assert not {"Azure-AsyncOperation", "Location"} & set(answer.headers)


def test_garble_operation(azsim, wire):
    add(azsim, "garbleOperation", kind="disks.*")
    answer = wire.put_disk("d")
    assert [answer.headers[name] for name in ("Azure-AsyncOperation", "Location")] == ["!no URL!"] * 2


def test_empty_page(azsim, wire):
    add(azsim, "emptyPage", kind="virtualMachines.list")
    page = wire.ask("GET", f"{P}/virtualMachines").json
    assert page["value"] == []
    assert [vm["name"] for vm in wire.ask("GET", page["nextLink"]).json["value"]] == ["vm1", "vm2"]


# ---- operations (in detail: test/unit/test/azsim/arm/test_fault_injection.c) ----

@pytest.mark.parametrize(("fault", "rule", "status", "code"), [
    ("failOperation", {"code": "AllocationFailed"}, "Failed", "AllocationFailed"),
    ("failWhenDone", {"code": "AllocationFailed"}, "Failed", "AllocationFailed"),
    ("cancelOperation", {}, "Canceled", ""),
    ("endFailed", {}, "Succeeded", None),
    ("delay", {"time": "100ms"}, "Succeeded", None),
])
def test_operations(azsim, wire, fault, rule, status, code):
    add(azsim, fault, kind="diskCreate", **rule)
    name = f"of-{fault}"
    end = wire.poll_to_its_end(wire.put_disk(name).headers["Azure-AsyncOperation"])
    assert (end["status"], end.get("error", {}).get("code")) == (status, code)
    state = wire.ask("GET", f"{P}/disks/{name}").json["properties"]["provisioningState"]
    assert state == ("Succeeded" if fault == "delay" else "Failed")


def test_stay_updating(azsim, wire):
    add(azsim, "stayUpdating", kind="diskCreate", time="1h")
    wire.poll_to_its_end(wire.put_disk("updating").headers["Azure-AsyncOperation"])
    assert wire.ask("GET", f"{P}/disks/updating").json["properties"]["provisioningState"] == "Updating"


def test_stick(azsim, wire):
    rule = add(azsim, "stick", kind="diskCreate")
    url = wire.put_disk("stuck").headers["Azure-AsyncOperation"]
    assert wire.ask("GET", url).json["status"] == "InProgress"
    azsim.control("DELETE", f"faults/{rule}")
    assert wire.poll_to_its_end(url)["status"] == "Succeeded"


def test_an_operation_that_is_forgotten_when_it_has_ended(azsim, wire):
    url = wire.put_disk("forgotten").headers["Azure-AsyncOperation"]
    wire.poll_to_its_end(url)
    add(azsim, "refuse", kind="operations.get", operationStatus="Succeeded", code="OperationNotFound")
    assert wire.ask("GET", url).status == 404


@pytest.mark.parametrize(("fault", "rule", "listed", "state"), [
    ("failAttach", {"code": "AcquireDiskLeaseFailed"}, True, "Failed"),
    ("forgetAttach", {}, False, "Succeeded"),
])
def test_attaches(azsim, wire, fault, rule, listed, state):
    name = f"to-{fault}"
    wire.poll_to_its_end(wire.put_disk(name).headers["Azure-AsyncOperation"])
    add(azsim, fault, disk=name, **rule)
    end = wire.poll_to_its_end(wire.attach(name).headers["Azure-AsyncOperation"])
    assert end["status"] == state and end.get("error", {}).get("code") == rule.get("code")
    entries = wire.ask("GET", VM).json["properties"]["storageProfile"]["dataDisks"]
    assert (name in [entry["name"] for entry in entries]) == listed
    assert wire.ask("GET", f"{P}/disks/{name}").json["properties"]["diskState"] == "Unattached"
    if listed:
        detach(wire, name)


def detach(wire: Wire, name: str) -> dict:
    body = {"dataDisksToDetach": [{"diskId": disk_id(name)}]}
    answer = wire.ask("POST", f"{VM}/attachDetachDataDisks", body)
    return wire.poll_to_its_end(answer.headers["Azure-AsyncOperation"])


@pytest.mark.parametrize(("fault", "rule", "state"), [
    ("failDetach", {"code": "Conflict"}, "Failed"), ("ignoreDetach", {}, "Succeeded")])
def test_detaches(azsim, wire, fault, rule, state):
    name = f"from-{fault}"
    for answer in (wire.put_disk(name), wire.attach(name)):
        wire.poll_to_its_end(answer.headers["Azure-AsyncOperation"])
    add(azsim, fault, disk=name, **rule)
    assert detach(wire, name)["status"] == state
    entry = next(entry for entry in wire.ask("GET", VM).json["properties"]["storageProfile"]["dataDisks"]
                 if entry["name"] == name)
    assert entry["toBeDetached"]
    assert detach(wire, name)["status"] == "Succeeded"
    assert wire.ask("GET", f"{P}/disks/{name}").json["properties"]["diskState"] == "Unattached"


# ---- the control interface, and the start ----

def test_rules_are_listed_counted_and_removed(azsim, wire):
    first = add(azsim, "refuse", code="Conflict", kind="disks.get")
    second = add(azsim, "hangUp", kind="nothing")
    wire.ask("GET", f"{P}/disks/x")
    assert azsim.control("GET", "faults")["faults"] == [
        {"id": first, "matched": 1, "struck": 1, "fault": "refuse", "calls": "1", "code": "Conflict",
         "kind": "disks.get"},
        {"id": second, "matched": 0, "struck": 0, "fault": "hangUp", "calls": "1", "kind": "nothing"}]
    azsim.control("DELETE", f"faults/{first}")
    azsim.control("DELETE", f"faults/{first}", expect=404)
    assert azsim.control("DELETE", "faults") == {"faults": []}
    assert "is not a fault" in azsim.control("POST", "faults", {"fault": "none"}, expect=400)["error"]


def test_every_fault_is_tested_here(azsim):
    """The names are those of the error message of a wrong one. Devices: test_devices.py."""
    error = azsim.control("POST", "faults", {"fault": "?"}, expect=400)["error"]
    names = set(error.split("it must be one of ")[1].split()) - {"hideResize"}
    source = open(__file__).read()
    assert len(names) > 20 and [name for name in names if f'"{name}"' not in source] == []


def test_faults_of_a_file(tmp_path):
    file = tmp_path / "faults.json"
    file.write_text(json.dumps({"faults": [{"fault": "refuse", "kind": "entra.token", "code": "x", "calls": "2"}]}))
    vms = [{"name": "vm1", "size": "Standard_D4s_v5"}]
    with Azsim(tmp_path, describe(vms), *QUICK, f"--faults={file}") as azsim:
        wire = Wire(azsim)
        assert [wire.token().status, wire.token().status] == [409, 200]
    file.write_text('[{"fault": "stall"}]')
    with pytest.raises(RuntimeError, match=r'faults\[0\]: time: missing; "stall" requires it'):
        Azsim(tmp_path, describe(vms), f"--faults={file}").start()


# ---- throttling and time ----

def test_throttling(tmp_path):
    vms = [{"name": "vm1", "size": "Standard_D4s_v5"}]
    with Azsim(tmp_path, describe(vms), *QUICK) as azsim:
        wire = Wire(azsim)
        answers = [wire.ask("PATCH", VM, {}) for _ in range(13)]
        assert [answer.status for answer in answers] == [200] * 12 + [429]
        assert 1 <= int(answers[-1].headers["Retry-After"]) <= 60
        assert last(azsim)["throttled"] == "UpdateVMResource"
        assert last(azsim)["charged"]["UpdateVMSubscriptionMaximum"] == 1488
        buckets = {bucket["limit"]: bucket for bucket in azsim.control("GET", "throttling")["buckets"]}
        assert buckets["UpdateVMResource"]["owner"] == VM
        azsim.control("PATCH", "throttling", {"throttling": "sometimes"}, expect=400)
        assert azsim.control("PATCH", "throttling", {"throttling": "off"}) == {"throttling": "off", "buckets": []}
        assert {wire.ask("PATCH", VM, {}).status for _ in range(20)} == {200}
        azsim.control("PATCH", "throttling", {"throttling": "2"})
        assert [wire.ask("PATCH", VM, {}).status for _ in range(25)] == [200] * 24 + [429]


def test_a_time_factor(tmp_path):
    vms = [{"name": "vm1", "size": "Standard_D4s_v5"}]
    with Azsim(tmp_path, describe(vms), "--latency=token=0,get=100s", "--time-factor=0.001") as azsim:
        wire = Wire(azsim)
        assert wire.ask("GET", VM).status == 200
        assert last(azsim)["latencyMs"] == 100
