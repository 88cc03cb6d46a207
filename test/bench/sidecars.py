"""CSI calls as the sidecars make them: so many at once, and what is refused is asked for again."""

import queue
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import grpc
from integration.calls import GIB, zone
from integration.csi import mounted

# As the chart installs csi-attacher and csi-provisioner. Their own defaults are 10 and 100.
ATTACHER_WORKERS, ATTACHER_TIMEOUT_S = 1000, 600
PROVISIONER_WORKERS = 100
# Both begin with it, and double it up to minutes; here nobody has to wait so long.
RETRY_S, LONGEST_RETRY_S = 1.0, 8.0


@dataclass
class Call:
    """`asked_at` and `answered_at` (time.time()) are of the first request and of the answer OK."""

    method: str
    fields: dict
    then: "Call | None" = None  # asked for once this one is answered
    asked_at: float = 0
    answered_at: float = 0
    retry_s: float = RETRY_S
    refusals: list[str] = field(default_factory=list)


def create(name: str, parameters: dict[str, str]) -> Call:
    return Call("CreateVolume", {
        "name": name, "parameters": parameters, "volume_capabilities": [mounted()],
        "capacity_range": {"required_bytes": 4 * GIB},
        "accessibility_requirements": {"requisite": [zone("disk.csi.azure.com")]}})


def publish(volume: str, node: str) -> Call:
    return Call("ControllerPublishVolume",
                {"volume_id": volume, "node_id": node, "volume_capability": mounted()})


def unpublish(volume: str, node: str, then: Call | None = None) -> Call:
    return Call("ControllerUnpublishVolume", {"volume_id": volume, "node_id": node}, then)


def carry_out(driver, calls: list[Call], workers: int) -> list:
    """The answers of all calls, in the order in which they came."""
    return [answer for _, answer in _answers(driver, deque(calls), workers)]


def _answers(driver, waiting: deque[Call], workers: int) -> Iterator[tuple[Call, object]]:
    ended: queue.Queue = queue.Queue()
    later: list[tuple[float, Call]] = []
    flying = 0
    while waiting or later or flying:
        now = time.monotonic()
        waiting.extend(call for due, call in later if due <= now)
        later = [(due, call) for due, call in later if due > now]
        while waiting and flying < workers:
            _begin(driver, waiting.popleft(), ended)
            flying += 1
        try:
            call, future = ended.get(timeout=0.1 if later else 1)
        except queue.Empty:
            assert driver.process.poll() is None, f"the controller has ended: {driver.tail()}"
            continue
        flying -= 1
        if future.code() != grpc.StatusCode.OK:
            call.refusals.append(f"{future.code().name} {future.details()}")
            later.append((time.monotonic() + call.retry_s, call))
            call.retry_s = min(2 * call.retry_s, LONGEST_RETRY_S)
            continue
        call.answered_at = time.time()
        if call.then:
            waiting.append(call.then)
        yield call, future.result()


def _begin(driver, call: Call, ended: queue.Queue) -> None:
    call.asked_at = call.asked_at or time.time()
    future = driver.csi.begin(f"Controller/{call.method}", ATTACHER_TIMEOUT_S, **call.fields)
    future.add_done_callback(lambda done: ended.put((call, done)))
