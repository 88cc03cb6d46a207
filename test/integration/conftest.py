"""One API server for all tests of a run; each has a namespace of its own, and Azure."""

import pytest
from azsim.compute import compute_client

from .apiserver import ApiServer
from .driver_world import Controller, World
from .placement import Placement
from .workload import Ctl


@pytest.fixture(scope="session")
def apiserver(tmp_path_factory):
    """`apiserver.kubeconfig` is a path, `apiserver.client()` an official ApiClient; kill(), stop()
    and the like are in apiserver.py. Whoever breaks it leaves it running."""
    server = ApiServer(tmp_path_factory.mktemp("apiserver"))
    yield server
    server.close()


@pytest.fixture
def world(tmp_path, apiserver):
    """A quick Azure. Files whose tests need another world have a fixture of this name."""
    with World(tmp_path, apiserver, attach="100ms", detach="50ms", create="50ms", delete="50ms") as world:
        yield world


@pytest.fixture
def controller(world):
    """One, with the default flags; otherwise likewise."""
    with Controller(world) as controller:
        yield controller


@pytest.fixture
def azure_sdk(world):
    """Microsoft's own client: somebody else in the same subscription."""
    return compute_client(world.azure)


@pytest.fixture(scope="module")
def placement(apiserver):
    """What placement is decided from; nothing of it is there yet."""
    placement = Placement(apiserver.client())
    placement.install()
    return placement


@pytest.fixture
def objects(placement, request):
    """The nodes that the file names NODES, with ready plug-ins. Files that need others have a fixture of this name."""
    for node in request.module.NODES:
        placement.node(node)
        placement.plugin(node)
    yield placement
    placement.clear()


@pytest.fixture
def ctl(apiserver):
    """azdiskctl, by an administrator."""
    return Ctl(apiserver.kubeconfig)
