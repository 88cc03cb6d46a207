"""Fixtures of azsim's own tests."""

import os

import pytest
from azure.core.credentials import AccessToken
from azure.mgmt.compute import ComputeManagementClient

from . import compute
from .simulator import SECRET, SUBSCRIPTION, Azsim


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
    """One that asks often, and again only where that is tested."""
    return compute.compute_client(azsim, secret, credential, subscription, polling_interval=0.2, retry_total=retries)
