"""Microsoft's azure-identity gets tokens from azsim in each of its ways, and azsim's refusals reach it."""

import pytest
from azure.core.exceptions import ClientAuthenticationError
from azure.identity import CertificateCredential, WorkloadIdentityCredential

from .applications import ByCertificate, ByWorkload
from .conftest import compute_client
from .simulator import TENANT, Azsim, describe


@pytest.fixture(scope="module")
def by_certificate(tmp_path_factory):
    return ByCertificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def by_workload(tmp_path_factory):
    return ByWorkload(tmp_path_factory.mktemp("workload"))


@pytest.fixture(scope="module")
def azsim(tmp_path_factory, by_certificate, by_workload):
    config = describe([{"name": "vm", "size": "Standard_D4s_v5"}])
    config["clients"] += [by_certificate.client, by_workload.client]
    with Azsim(tmp_path_factory.mktemp("azsim"), config, "--latency=get=0,token=0") as azsim:
        yield azsim


def options(azsim) -> dict:
    return {"authority": azsim.url, "disable_instance_discovery": True, "connection_verify": azsim.ca}


def certificate_credential(azsim, application: ByCertificate, client_id: str | None = None, **more):
    return CertificateCredential(TENANT, client_id or application.client_id, str(application.file),
                                 password=application.password, **options(azsim), **more)


def workload_credential(azsim, application: ByWorkload, **changes):
    return WorkloadIdentityCredential(tenant_id=TENANT, client_id=application.client_id,
                                      token_file_path=str(application.file), **options(azsim), **changes)


def vms(azsim, credential) -> list[str]:
    with compute_client(azsim, credential=credential) as compute:
        return [vm.name for vm in compute.virtual_machines.list_all()]


@pytest.mark.parametrize("chain", [False, True])
def test_certificate(azsim, by_certificate, chain):
    credential = certificate_credential(azsim, by_certificate, send_certificate_chain=chain)
    assert vms(azsim, credential) == ["vm"]
    assert azsim.journal()[-1]["principal"] == by_certificate.client_id


def test_a_certificate_of_nobody(azsim, by_certificate, tmp_path):
    stranger = ByCertificate(tmp_path)
    with pytest.raises(ClientAuthenticationError, match="AADSTS700027"):
        vms(azsim, certificate_credential(azsim, stranger, by_certificate.client_id))
    with pytest.raises(ClientAuthenticationError, match="AADSTS700016"):
        vms(azsim, certificate_credential(azsim, stranger))


def test_workload(azsim, by_workload):
    by_workload.write_token()
    assert vms(azsim, workload_credential(azsim, by_workload)) == ["vm"]
    assert azsim.journal()[-1]["principal"] == by_workload.client_id


@pytest.mark.parametrize("wrong, code", [({"subject": "system:serviceaccount:default:x"}, "AADSTS700213"),
                                         ({"audience": "https://kubernetes"}, "AADSTS700212")])
def test_a_workload_that_is_not_trusted(azsim, by_workload, wrong, code):
    by_workload.write_token(**wrong)
    with pytest.raises(ClientAuthenticationError, match=code):
        vms(azsim, workload_credential(azsim, by_workload))
