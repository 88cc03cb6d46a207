"""Microsoft's client for Python, pointed at azsim and otherwise as it is; TLS is verified."""

from azure.identity import ClientSecretCredential
from azure.mgmt.compute import ComputeManagementClient

from .simulator import CLIENT, SECRET, SUBSCRIPTION, TENANT, Azsim


def compute_client(azsim: Azsim, secret: str = SECRET, credential=None, subscription: str = SUBSCRIPTION,
                   **options) -> ComputeManagementClient:
    """To be used from where azsim can be reached. `options` are the client's own."""
    if credential is None:
        credential = ClientSecretCredential(
            TENANT, CLIENT, secret, authority=azsim.url, disable_instance_discovery=True,
            connection_verify=azsim.ca)
    return ComputeManagementClient(
        credential, subscription, base_url=azsim.url, credential_scopes=[f"{azsim.url}/.default"],
        connection_verify=azsim.ca, **options)
