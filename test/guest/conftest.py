"""One guest for all tests; each has a plug-in of its own, and the API server is the machine's."""

import pytest
from integration.apiserver import ApiServer
from integration.node.cloud_side import CloudSide
from integration.node.machine import SMALLEST_EXT4
from integration.placement import Placement

from .guest import Guest
from .node import GuestVolume, Node, Plugin

NODE = "node-a"


@pytest.fixture(scope="session")
def apiserver(tmp_path_factory):
    server = ApiServer(tmp_path_factory.mktemp("apiserver"))
    Placement(server.client()).install()
    yield server
    server.close()


@pytest.fixture(scope="session")
def guest(tmp_path_factory):
    guest = Guest(tmp_path_factory.mktemp("guest"))
    yield guest
    guest.close()


@pytest.fixture(scope="session")
def reaching(guest, apiserver):
    """The guest, with the API server in its reach."""
    guest.reach(apiserver.port)
    return guest


@pytest.fixture(scope="session")
def _node(reaching):
    return Node(reaching)


@pytest.fixture
def node(_node):
    yield _node
    _node.clear()


@pytest.fixture
def cloud(apiserver):
    cloud = CloudSide(apiserver.client(), NODE)
    cloud.clear()
    yield cloud
    cloud.clear()


@pytest.fixture
def plugin(node, cloud, apiserver, tmp_path_factory):
    plugin = Plugin(node, tmp_path_factory.mktemp("node"), apiserver.kubeconfig, NODE)
    yield plugin.run()
    plugin.close()


@pytest.fixture
def volume(plugin, cloud, node):
    """volume(name, size, ...): a volume that is attached and was never used."""

    def make(name: str = "data", size: int = SMALLEST_EXT4, lun: int = 0, **status) -> GuestVolume:
        return GuestVolume(plugin, cloud, name, node.disk(name, size), lun).attach(**status)

    return make
