"""Fixtures of azsim's own tests."""

import os

import pytest
from azure.core.credentials import AccessToken
from azure.identity import ClientSecretCredential
from azure.mgmt.compute import ComputeManagementClient

from .simulator import CLIENT, SECRET, SUBSCRIPTION, TENANT, Azsim


@pytest.fixture
def root():
    if os.geteuid() != 0:
        pytest.skip("devices and namespaces need root")


class GivenToken:
    """A credential that hands out the token that it was given."""

    def __init__(self, token: str):
        self._token = token

    def get_token(self, *_, **__) -> AccessToken:
        return AccessToken(self._token, 2**31)


def compute_client(azsim: Azsim, secret: str = SECRET, credential=None, retries: int = 0,
                   subscription: str = SUBSCRIPTION) -> ComputeManagementClient:
    """Microsoft's client, pointed at azsim and otherwise as it is; TLS is verified."""
    if credential is None:
        credential = ClientSecretCredential(
            TENANT, CLIENT, secret, authority=azsim.url, disable_instance_discovery=True,
            connection_verify=azsim.ca)
    return ComputeManagementClient(
        credential, subscription, base_url=azsim.url, credential_scopes=[f"{azsim.url}/.default"],
        connection_verify=azsim.ca, polling_interval=0.2, retry_total=retries)
