"""A gRPC proxy in front of a CSI program that gives no call more than a second, and calls again.

So do sidecars with a short --timeout: a call ends with DEADLINE_EXCEEDED, what it has begun goes on,
and the same request comes again until it is answered. Every other call does not say when it will
end, and is cancelled, as by a sidecar that is no longer the leader.
"""

import itertools
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import grpc

TIMEOUT = 1  # seconds of one call
LIMIT = 60  # seconds of a request; what it is answered last is passed on then
PAUSE = 0.1  # seconds before the next call; sidecars wait for longer
CALLS = 16  # at the same time

CUT = (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)
AGAIN = (*CUT, grpc.StatusCode.ABORTED, grpc.StatusCode.UNAVAILABLE)


class DeadlineProxy(grpc.GenericRpcHandler):
    """Serves on `socket` whatever unary methods the program at `target` has. Messages stay bytes."""

    def __init__(self, target: Path, socket: Path):
        self.socket = socket
        self.cut: Counter[str] = Counter()  # calls, by method without its service
        self._channel = grpc.insecure_channel(f"unix://{target}")
        self._server = grpc.server(ThreadPoolExecutor(CALLS), handlers=[self])
        self._server.add_insecure_port(f"unix://{socket}")

    def __enter__(self) -> "DeadlineProxy":
        self._server.start()
        return self

    def __exit__(self, *_) -> None:
        self._server.stop(None).wait()
        self._channel.close()

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler:
        return grpc.unary_unary_rpc_method_handler(partial(self._answer, handler_call_details.method))

    def _answer(self, method: str, request: bytes, context: grpc.ServicerContext) -> bytes:
        end = time.monotonic() + LIMIT
        for attempt in itertools.count():
            call = self._call(method, request, says_deadline=attempt % 2 == 0)
            if call.code() == grpc.StatusCode.OK:
                return call.result()
            if call.code() in CUT:
                self.cut[method.rpartition("/")[2]] += 1
            if call.code() not in AGAIN or time.monotonic() > end or not context.is_active():
                context.abort(call.code(), call.details())
            time.sleep(PAUSE)

    def _call(self, method: str, request: bytes, says_deadline: bool) -> grpc.Future:
        """Ended, with or without an answer."""
        begin = self._channel.unary_unary(method).future
        call = begin(request, timeout=TIMEOUT if says_deadline else LIMIT, wait_for_ready=True)
        with suppress(grpc.FutureTimeoutError):
            call.exception(timeout=None if says_deadline else TIMEOUT)
        call.cancel()  # which is nothing if it has ended
        return call


@contextmanager
def cutting(controller: Path, node: Path, folder: Path) -> Iterator[tuple[DeadlineProxy, DeadlineProxy]]:
    """Proxies in front of both programs."""
    with (
        DeadlineProxy(controller, folder / "controller-proxy.sock") as before_controller,
        DeadlineProxy(node, folder / "node-proxy.sock") as before_node,
    ):
        yield before_controller, before_node
