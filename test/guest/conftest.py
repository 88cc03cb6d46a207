"""One guest for nearly all tests; each has a plug-in of its own, and the API server is the machine's."""

import pytest
from integration.apiserver import ApiServer
from integration.node.cloud_side import CloudSide
from integration.node.machine import SMALLEST_EXT4
from integration.placement import Placement

from .disks import Controller
from .guest import Guest
from .network import Network
from .node import PLAIN, GuestVolume, Node, Plugin

NODE = "node-a"


@pytest.fixture(scope="session")
def apiserver(tmp_path_factory):
    server = ApiServer(tmp_path_factory.mktemp("apiserver"))
    Placement(server.client()).install()
    yield server
    server.close()


@pytest.fixture(scope="session")
def network():
    network = Network()
    yield network
    network.close()


@pytest.fixture(scope="session")
def boot(network, apiserver, tmp_path_factory):
    """boot(): a guest with the API server in its reach, by its kernel's parameters."""
    guests = []

    def make(*parameters: str, kind: type[Guest] = Guest) -> Guest:
        guests.append(kind(network, tmp_path_factory.mktemp("guest"), *parameters))
        guests[-1].reach(apiserver.port)
        return guests[-1]

    yield make
    for guest in guests:
        guest.close()


@pytest.fixture(scope="session")
def storage(boot):
    """The guest whose disks others have."""
    return boot()


@pytest.fixture(scope="session")
def _node(boot):
    return Node(Controller(boot()))


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
def plugin_program():
    """What `plugin` runs; a test's parameter of this name would take its place."""
    return PLAIN


@pytest.fixture
def plugin(node, cloud, apiserver, tmp_path_factory, plugin_program):
    plugin = Plugin(node, tmp_path_factory.mktemp("node"), apiserver.kubeconfig, NODE)
    try:
        yield plugin.run(program=plugin_program)
    finally:
        plugin.close()


@pytest.fixture
def volume(plugin, cloud, node):
    """volume(name, size, ...): a volume that is attached and was never used."""

    def make(name: str = "data", size: int = SMALLEST_EXT4, lun: int = 0, **status) -> GuestVolume:
        return GuestVolume(plugin, cloud, name, node.disk(name, size), lun).attach(**status)

    return make
