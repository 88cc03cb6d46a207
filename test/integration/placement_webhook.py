"""The webhook of the scheduler extender, as a release of the chart configures it, and what it is asked about."""

import base64
import itertools
import time
from collections.abc import Iterator
from pathlib import Path

from chart.chart import of_kind
from cluster.authority import Authority
from kubernetes import client
from kubernetes.client.exceptions import ApiException

from .apiserver import ApiServer, free_port
from .extender import Extender
from .placement import Placement, pod
from .release import Release

ACCOUNT = "csi-azuredisk-scheduler-extender-sa"
LEASE = "csi-azuredisk-controller"
PATIENCE_S = 30  # that the API server has with the webhook; after the chart's 2 s a pod of a busy machine would have no gate


class Webhook:
    """A release of the chart, whose webhook is called at a port of this machine."""

    made = itertools.count()  # a namespace stays, as nobody here deletes what is in it

    def __init__(self, apiserver: ApiServer, folder: Path, mode: str):
        self.apiserver, self.folder, self.mode = apiserver, folder, mode
        self.port = free_port()
        self.authority = Authority(folder / "pki", "")
        self.authority.create()
        self.authority.certificate("webhook", "/CN=webhook", usage="serverAuth")
        self.release = Release(apiserver, f"webhook-{mode}-{next(self.made)}", placement__mode=mode,
                               placement__excludedNamespaces=["quiet"])
        self.core = client.CoreV1Api(apiserver.client())
        self.leases = client.CoordinationV1Api(apiserver.client())

    def __enter__(self) -> "Webhook":
        self.release.__enter__()
        self.configure(self.authority)
        self.kubeconfig = self.release.kubeconfig(ACCOUNT)
        return self

    def __exit__(self, *_) -> None:
        self.release.kubectl("delete", "--filename=-", objects=self.configurations())
        self.release.__exit__()

    def configurations(self, authority: Authority | None = None, seconds: int = PATIENCE_S) -> list[dict]:
        found = of_kind(self.release.objects, "MutatingWebhookConfiguration")
        for configuration in found if authority else ():
            bundle = base64.b64encode(authority.path("ca.crt").read_bytes()).decode()
            configuration["webhooks"][0] |= {"timeoutSeconds": seconds, "clientConfig": {
                "url": f"https://localhost:{self.port}/placement", "caBundle": bundle}}
        return found

    def configure(self, authority: Authority, seconds: int = PATIENCE_S) -> None:
        """The API server trusts this one, and waits so long for an answer."""
        self.release.kubectl("apply", "--filename=-", objects=self.configurations(authority, seconds))

    def extender(self, *flags: str, **options: object) -> Extender:
        words = [word for word in self.release.arguments("csi-azuredisk-scheduler-extender")
                 if word.startswith(("--placement-mode", "--placement-scheduler", "--placement-excluded", "--leader"))]
        return Extender(self.folder / "log", *words, *flags, f"--placement-address=127.0.0.1:{self.port}",
                        f"--placement-tls-cert-file={self.authority.path('webhook.crt')}",
                        f"--placement-tls-key-file={self.authority.path('webhook.key')}", kubeconfig=self.kubeconfig, **options)

    def lead(self, holder: str = "leader", seconds: int = 3600) -> None:
        """As the leader renews its Lease."""
        spec = {"holderIdentity": holder, "leaseDurationSeconds": seconds,
                "renewTime": time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime()) + f"{time.time_ns() // 1000 % 10**6:06}Z"}
        place = LEASE, self.release.namespace
        try:
            self.leases.patch_namespaced_lease(*place, {"spec": spec})
        except ApiException:
            self.leases.create_namespaced_lease(place[1], {"metadata": {"name": LEASE}, "spec": spec})


# ---- what it is asked about ----

def attached(apiserver: ApiServer) -> Iterator[Placement]:
    """Claim one, whose disk is on node a and will be on b; and claim lonely, whose disk is nowhere."""
    placement = Placement(apiserver.client())
    placement.install()
    for node in "abc":
        placement.plugin(node)
    for name in "one", "lonely":
        placement.bound(name)
    placement.attachment("one", "a", "Attached")
    placement.attachment("one", "b", "Attaching")
    yield placement
    placement.clear()


def no_pods(apiserver: ApiServer) -> Iterator[client.CoreV1Api]:
    """Afterwards."""
    core = client.CoreV1Api(apiserver.client())
    yield core
    core.delete_collection_namespaced_pod("default", grace_period_seconds=0)


def changed(**spec) -> dict:
    whole = pod("db", ["one"])
    whole["spec"] |= spec
    return whole
