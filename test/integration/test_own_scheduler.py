"""The chart's own kube-scheduler: the real one, with what the chart configures, the token of the account that it makes, and
certificates, without which the extender answers nobody. Addresses and the folders of files are this machine's."""

import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from chart.chart import of_kind
from cluster import tools
from cluster.authority import Authority
from cluster.waiting import until
from kubernetes import client

from .apiserver import ApiServer, free_port
from .extender import Extender
from .nomination import GATE
from .placement import Placement, pod
from .release import Permission, Release
from .test_scheduling import has_read, landed

NODES = ["a", "b", "c", "d", "e"]
NAMESPACE = "of-the-scheduler"
EXTENDER, SCHEDULER = "csi-azuredisk-scheduler-extender", "csi-azuredisk-scheduler"
FOLDER = "/etc/azuredisk/extender"  # in the scheduler's pods, with its Secret


@pytest.fixture(scope="module")
def release(apiserver, placement):
    """In a cluster that has the namespace of the custom resources."""
    values = {"scheduler__enabled": True, "scheduler__tls__secretName": "scheduler", "tls__secretName": "extender",
              "tls__clientCASecretName": "callers"}
    with Release(apiserver, NAMESPACE, **{f"schedulerExtender__{name}": value for name, value in values.items()}) as release:
        yield release


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    authority = Authority(tmp_path_factory.mktemp("authority") / "pki", "")
    authority.create()
    # The scheduler calls an address, and goes by the name of the Service.
    authority.certificate("extender", "/CN=extender", f"DNS:localhost,DNS:{EXTENDER}.{NAMESPACE}.svc", "serverAuth")
    authority.certificate("tls", "/CN=scheduler", usage="clientAuth")  # as it is called in the Secret
    return authority


@pytest.fixture
def extender(release, authority, objects, tmp_path):
    flags = {"--tls-cert-file": "extender.crt", "--tls-key-file": "extender.key", "--client-ca-file": "ca.crt"}
    words = [f"{flag}={authority.path(name)}" for flag, name in flags.items()]
    with Extender(tmp_path / "log", *words, kubeconfig=release.kubeconfig(f"{EXTENDER}-sa")) as extender:
        extender.ca = authority.path("ca.crt")
        extender.certificate = authority.path("tls.crt"), authority.path("tls.key")
        yield extender.until_ready()


class Scheduler(NamedTuple):
    port: int
    log: Path

    def get(self, path: str, *certificate: Path) -> int:
        """The status."""
        context = ssl._create_unverified_context()  # its certificate is made when it starts, as in a pod
        if certificate:
            context.load_cert_chain(*certificate)
        try:
            return urllib.request.urlopen(f"https://127.0.0.1:{self.port}{path}", context=context).status
        except urllib.error.HTTPError as refusal:
            return refusal.code
        except OSError:
            return 0

    def probes(self, container: dict) -> list[int]:
        return [self.get(container[probe]["httpGet"]["path"]) for probe in ("livenessProbe", "readinessProbe")]


@contextmanager
def scheduler(folder: Path, release: Release, authority: Authority, extender: Extender) -> Iterator[Scheduler]:
    [text] = [d["data"]["config.yaml"] for d in of_kind(release.objects, "ConfigMap")
              if d["metadata"]["name"] == f"{SCHEDULER}-config"]
    assert FOLDER in text and f"{EXTENDER}.{NAMESPACE}.svc:8889" in text
    text = text.replace(FOLDER, str(authority.folder)).replace(f"{EXTENDER}.{NAMESPACE}.svc:8889", f"127.0.0.1:{extender.port}")
    kubeconfig = release.kubeconfig(f"{SCHEDULER}-sa")  # where a pod has the token of its account
    configuration = yaml.safe_load(text)
    configuration["clientConnection"]["kubeconfig"] = str(kubeconfig)
    configuration["extenders"][0]["httpTimeout"] = "30s"  # a busy machine would do without the extender
    folder.mkdir()
    found = Scheduler(free_port(), folder / "log")
    (folder / "config.yaml").write_text(yaml.safe_dump(configuration))
    here = {"--config": folder / "config.yaml", "--secure-port": found.port}
    given = (word.partition("=")[::2] for word in release.arguments("kube-scheduler"))
    words = [f"{flag}={here.get(flag, value)}" for flag, value in given]
    words += ["--bind-address=127.0.0.1", *(f"--{what}-kubeconfig={kubeconfig}" for what in ("authentication", "authorization"))]
    tied = ["setpriv", "--pdeathsig", "KILL"]  # it dies with this process, however that ends
    with open(found.log, "wb") as log:
        process = subprocess.Popen([*tied, tools.folder() / "kube-scheduler", *words], stdout=log, stderr=log)
    try:
        yield found
        assert process.poll() is None, found.log.read_text()[-4000:]
    finally:
        process.kill()
        process.wait()


def test_pods_that_name_it_land_on_their_replicas(
        apiserver: ApiServer, release: Release, authority: Authority, objects: Placement, extender: Extender, tmp_path):
    wanted = {f"db-{i}": NODES[i % 2] for i in range(10)}
    for name, node in wanted.items():
        objects.bound(name)
        objects.attachment(name, node, "Attached")
    until(lambda: has_read(extender, {"AzVolumeAttachment": 10}), "reading of the objects")
    with (scheduler(tmp_path / "one", release, authority, extender) as one,
          scheduler(tmp_path / "two", release, authority, extender) as two):
        objects.pod("other", ["db-0"], "default-scheduler")
        for name in wanted:
            objects.pod(name, [name], EXTENDER)
        assert landed(objects, list(wanted)) == wanted
        a_node_is_chosen_for_a_new_volume(objects)
        a_proposed_node_comes_first(objects)
        both_are_well(release, one, two)
        metrics_are_for_those_who_may_read_them(apiserver, one)
    assert objects.node_of("other") is None, "it is the cluster's own scheduler's"
    events = objects.core.list_namespaced_event("default").items
    assert not [e.message for e in events if e.reason == "FailedScheduling" and e.involved_object.name in wanted]
    one_of_them_led(apiserver)
    its_account_suffices(release)


def a_node_is_chosen_for_a_new_volume(objects: Placement) -> None:
    """It writes to the claim, and waits for the provisioner."""
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "azuredisk-premium-ssd-lrs-replicas",
            "resources": {"requests": {"storage": "1Gi"}}}
    objects.core.create_namespaced_persistent_volume_claim("default", {"metadata": {"name": "new"}, "spec": spec})
    objects.pod("new", ["new"], EXTENDER)

    def chosen() -> bool:
        claim = objects.core.read_namespaced_persistent_volume_claim("new", "default")
        return (claim.metadata.annotations or {}).get("volume.kubernetes.io/selected-node") in NODES

    until(chosen, "the choice of a node")


def a_proposed_node_comes_first(objects: Placement) -> None:
    """As with placement.mode: nominate; here it is one that the extender would not have chosen."""
    objects.core.create_namespaced_pod("default", gated("proposed", "db-0"))
    objects.core.patch_namespaced_pod_status("proposed", "default", {"status": {"nominatedNodeName": "e"}})
    objects.core.patch_namespaced_pod("proposed", "default", {"spec": {"schedulingGates": None}})
    assert landed(objects, ["proposed"]) == {"proposed": "e"}


def gated(name: str, claim: str) -> dict:
    made = pod(name, [claim], EXTENDER)
    made["spec"]["schedulingGates"] = [{"name": GATE}]
    return made


def both_are_well(release: Release, one: Scheduler, two: Scheduler) -> None:
    """Also the one that waits: or else an update of the Deployment would not end."""
    [container] = [c for d in of_kind(release.objects, "Deployment") for c in d["spec"]["template"]["spec"]["containers"]
                   if c["name"] == "kube-scheduler"]
    for each in one, two:
        until(lambda: each.probes(container) == [200, 200], "the probes' approval")


def metrics_are_for_those_who_may_read_them(apiserver: ApiServer, one: Scheduler) -> None:
    """Who that is it asks the API server."""
    assert one.get("/metrics") == 403
    admin = (apiserver.authority.path(f"admin.{kind}") for kind in ("crt", "key"))
    assert one.get("/metrics", *admin) == 200


def one_of_them_led(apiserver: ApiServer) -> None:
    [lease] = client.CoordinationV1Api(apiserver.client()).list_namespaced_lease(NAMESPACE).items
    assert lease.metadata.name == EXTENDER and lease.spec.holder_identity and lease.spec.lease_transitions == 0


def its_account_suffices(release: Release) -> None:
    uses = {use: allowed for use, allowed in release.uses().items() if use.account == f"{SCHEDULER}-sa"}
    assert not [str(use) for use, allowed in uses.items() if not allowed]
    for verb in "get", "update":
        lease = Permission(f"{SCHEDULER}-sa", NAMESPACE, "leases.coordination.k8s.io", verb, EXTENDER)
        assert uses[lease], f"it does not {verb} its Lease: the role need not allow that"
    reader = Permission(f"{SCHEDULER}-sa", "kube-system", "configmaps", "get", "extension-apiserver-authentication")
    assert any(reader.covers(use) for use in uses), "it has read nothing there"
