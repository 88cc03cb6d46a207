"""The CSI project's own test of a driver, csi-sanity, against the node plug-in. It calls a controller
too, so the test serves one that does just what the plug-in needs."""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from cluster import tools
from cluster.waiting import until
from google.protobuf import message_factory

from ..csi import _pool as proto_pool
from ..placement import disk_id
from .cloud_side import CloudSide
from .machine import SMALLEST_EXT4, Disk
from .plugin import NodePlugin

CREATE_DELETE_VOLUME, PUBLISH_UNPUBLISH_VOLUME = 1, 2


class Controller:
    """CSI's controller calls, each as a function of a request that returns the answer's fields."""

    def __init__(self, plugin: NodePlugin, cloud: CloudSide, disk_of):
        self.machine, self.cloud, self.disk_of = plugin.machine, cloud, disk_of
        self.disks: dict[str, Disk] = {}
        self.luns: dict[str, int] = {}

    def get_capabilities(self, request) -> dict:
        types = (CREATE_DELETE_VOLUME, PUBLISH_UNPUBLISH_VOLUME)
        return {"capabilities": [{"rpc": {"type": type}} for type in types]}

    def create_volume(self, request) -> dict:
        name = request.name.lower()
        self.disks.setdefault(name, self.disk_of(SMALLEST_EXT4))
        return {"volume": {"volume_id": disk_id(name), "capacity_bytes": SMALLEST_EXT4}}

    def delete_volume(self, request) -> dict:
        return {}

    def publish_volume(self, request) -> dict:
        name = request.volume_id.rpartition("/")[2]
        self.luns[name] = len(self.luns)
        self.machine.attach(self.disks[name], self.luns[name])
        self.cloud.publish(name, lun=self.luns[name], size=SMALLEST_EXT4)
        return {}

    def unpublish_volume(self, request) -> dict:
        name = request.volume_id.rpartition("/")[2]
        self.machine.detach(self.luns[name])
        self.cloud.unpublish(name)
        return {}

    def handlers(self) -> grpc.GenericRpcHandler:
        service = proto_pool("lib/api/csi.proto").FindServiceByName("csi.v1.Controller")
        calls = {
            "ControllerGetCapabilities": self.get_capabilities,
            "CreateVolume": self.create_volume,
            "DeleteVolume": self.delete_volume,
            "ControllerPublishVolume": self.publish_volume,
            "ControllerUnpublishVolume": self.unpublish_volume,
        }
        rows = {name: _handler(service.methods_by_name[name], call) for name, call in calls.items()}
        return grpc.method_handlers_generic_handler(service.full_name, rows)


def _handler(method, call) -> grpc.RpcMethodHandler:
    request = message_factory.GetMessageClass(method.input_type)
    answer = message_factory.GetMessageClass(method.output_type)
    return grpc.unary_unary_rpc_method_handler(
        lambda message, _: answer(**call(message)), request.FromString, answer.SerializeToString
    )


@pytest.fixture
def controller(plugin, cloud, disk_of):
    """The endpoint of a controller."""
    endpoint = f"unix://{plugin.folder}/controller.sock"
    server = grpc.server(ThreadPoolExecutor(4))
    server.add_generic_rpc_handlers((Controller(plugin, cloud, disk_of).handlers(),))
    server.add_insecure_port(endpoint)
    server.start()
    yield endpoint
    server.stop(None).wait()


def test_sanity(plugin, cloud, controller):
    tools.build()
    plugin.machine.serve_metadata(lambda: (200, b'{"compute": {"location": "eastus", "zone": "1"}}'))
    until(cloud.driver_node, 60, "the AzDriverNode")
    cloud.set_limit(8)
    flags = {
        "endpoint": f"unix://{plugin.csi_socket}",
        "controllerendpoint": controller,
        "stagingdir": plugin.folder / "sanity-staging",
        "mountdir": plugin.folder / "sanity-target",
    }
    words = [f"--csi.{name}={value}" for name, value in flags.items()]
    words += ["--ginkgo.focus=Node Service", "--ginkgo.no-color"]
    program = plugin.machine.command(tools.folder() / "csi-sanity", *words)
    # csi-sanity misses a connection that is there before it has begun to wait for it; on one
    # processor that does not happen.
    environment = {**os.environ, "GOMAXPROCS": "1"}
    ended = subprocess.run(program, capture_output=True, text=True, timeout=300, env=environment)
    assert ended.returncode == 0, ended.stdout[-8000:]
    passed = re.search(r"(\d+) Passed \| 0 Failed", ended.stdout)
    assert passed and int(passed[1]) >= 15, ended.stdout[-2000:]
