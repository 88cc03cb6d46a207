"""One API server for all tests of a run; a test that needs its own world makes a namespace."""

import pytest
from azure.identity import ClientSecretCredential
from azure.mgmt.compute import ComputeManagementClient
from azsim import simulator

from .apiserver import ApiServer


@pytest.fixture(scope="session")
def apiserver(tmp_path_factory):
    """`apiserver.kubeconfig` is a path, `apiserver.client()` an official ApiClient; kill(), stop()
    and the like are in apiserver.py. Whoever breaks it leaves it running."""
    server = ApiServer(tmp_path_factory.mktemp("apiserver"))
    yield server
    server.close()


@pytest.fixture
def azure_sdk(world):
    """Microsoft's own client: somebody else in the same subscription."""
    verify = {"connection_verify": world.azure.ca}
    credential = ClientSecretCredential(
        simulator.TENANT, simulator.CLIENT, simulator.SECRET, authority=world.azure.url,
        disable_instance_discovery=True, **verify)
    return ComputeManagementClient(
        credential, simulator.SUBSCRIPTION, base_url=world.azure.url,
        credential_scopes=[f"{world.azure.url}/.default"], **verify)
