"""A release whose webhook has a certificate of the leader's: the controller and the scheduler extender with the chart's flags, what
kubelet does with the Secret, and who calls the webhook."""

import base64
import socket
import ssl
import threading
import time
from contextlib import contextmanager
from pathlib import Path

from chart.chart import containers, of_kind
from cluster.waiting import until
from kubernetes import client
from kubernetes.client.exceptions import ApiException

from .apiserver import ApiServer, free_port
from .driver_world import Controller, World
from .extender import Extender
from .placement import pod
from .placement_webhook import PATIENCE_S
from .release import Release

GATE = "disk.csi.azure.com/placement"
ACCOUNT = "csi-azuredisk-controller-sa"
SERVICE = "csi-azuredisk-scheduler-extender"
SECRET = f"{SERVICE}-placement"
CONFIGURATION = "azuredisk-placement"
LEASE_OF_THE_TEST = "somebody"
FILES = ("tls.crt", "tls.key")


class Mount(threading.Thread):
    """The Secret's files, as kubelet shows them to the extender: all at once, and sometime after they have changed. What was
    shown stays when the Secret is gone."""

    LATE_S = 1

    def __init__(self, core: client.CoreV1Api, namespace: str, folder: Path):
        super().__init__(daemon=True)
        self.core, self.namespace, self.folder = core, namespace, folder
        self.ended = threading.Event()
        self.shown: dict[str, str] = {}
        folder.mkdir()

    def path(self, name: str) -> Path:
        return self.folder / "data" / name

    def run(self) -> None:
        while not self.ended.wait(0.1):
            try:
                data = self.core.read_namespaced_secret(SECRET, self.namespace).data or {}
            except ApiException:
                continue
            if data != self.shown:
                time.sleep(self.LATE_S)
                self._show(data)

    def _show(self, data: dict[str, str]) -> None:
        version = self.folder / f"v{time.monotonic_ns()}"
        version.mkdir()
        for name in FILES:
            if name in data:
                (version / name).write_bytes(base64.b64decode(data[name]))
        link = self.folder / "new"
        link.symlink_to(version)
        link.rename(self.folder / "data")
        self.shown = data


class Callers:
    """The API server for pods that somebody creates all the time, and a client that connects anew each time and trusts what the
    configuration says. `failed` has what went wrong."""

    def __init__(self, installation: "Installation"):
        self.installation = installation
        self.pods = self.connections = 0
        self.failed: list[str] = []
        self.bundles: list[int] = []  # how many authorities they had
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._repeat, args=(one,), daemon=True) for one in (self._pod, self._connect)]

    def __enter__(self) -> "Callers":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _repeat(self, one) -> None:
        while not self._ended.wait(0.02):
            try:
                one()
            except Exception as failure:  # of whatever kind: it was not served
                self.failed.append(f"{one.__name__}: {failure!r}")

    def _pod(self) -> None:
        assert self.installation.gates(), "a pod without a gate"
        self.pods += 1

    def _connect(self) -> None:
        bundle = self.installation.bundle()
        self.bundles.append(bundle.count("BEGIN CERTIFICATE"))
        self.installation.shown(bundle)
        self.connections += 1


class Installation:
    def __init__(self, world: World, apiserver: ApiServer, folder: Path):
        self.world, self.apiserver, self.folder = world, apiserver, folder
        self.port = free_port()
        self.release = Release(
            apiserver, f"{world.namespace}-release", driver__objectNamespace=world.namespace, placement__mode="nominate",
            placement__port=self.port, controller__cloudConfigSecretName="cloud",
            controller__cloudConfigSecretNamespace=world.namespace)
        self.host = f"{SERVICE}.{self.release.namespace}.svc"
        self.core = client.CoreV1Api(apiserver.client())
        self.leases = client.CoordinationV1Api(apiserver.client())
        self.hooks = client.AdmissionregistrationV1Api(apiserver.client())
        self.mount = Mount(client.CoreV1Api(apiserver.client()), self.release.namespace, folder / "mount")

    def __enter__(self) -> "Installation":
        self.release.__enter__()
        self.apply()
        self.core.create_namespaced_service(self.release.namespace, {
            "metadata": {"name": SERVICE}, "spec": {"type": "ExternalName", "externalName": "localhost"}})
        self.leases.create_namespaced_lease(self.release.namespace, self._lease())
        self.kubeconfig = self.release.kubeconfig(ACCOUNT)
        self.mount.start()
        return self

    def __exit__(self, *_) -> None:
        self.mount.ended.set()
        self.mount.join()
        self.release.kubectl("delete", "--filename=-", objects=self.configurations())
        self.release.__exit__()

    def configurations(self) -> list[dict]:
        found = of_kind(self.release.objects, "MutatingWebhookConfiguration")
        for configuration in found:
            configuration["webhooks"][0]["timeoutSeconds"] = PATIENCE_S
        return found

    def apply(self, *words: str) -> None:
        """As somebody who renders the chart and applies what comes out."""
        self.release.kubectl("apply", "--filename=-", *words, objects=self.configurations())

    def _lease(self) -> dict:
        """Of which the extender believes that it is the controllers': gates do not end when those are restarted."""
        now = time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime()) + f"{time.time_ns() // 1000 % 10**6:06}Z"
        return {"metadata": {"name": LEASE_OF_THE_TEST},
                "spec": {"holderIdentity": "somebody", "leaseDurationSeconds": 3600, "renewTime": now}}

    # ---- programs ----

    def _flags(self, program: str, *beginnings: str) -> list[str]:
        [found] = [c["args"] for c in containers(self.release.objects) if c.get("command") == [f"/bin/{program}"]]
        return [flag for flag in found if flag.startswith(beginnings)]

    def controller(self, *flags: str) -> Controller:
        return Controller(self.world, "one", f"--kubeconfig={self.kubeconfig}",
                          f"--leader-election-namespace={self.release.namespace}",
                          *self._flags("azdisk-controller", "--placement-webhook", "--placement-certificate"), *flags)

    def extender(self) -> Extender:
        return Extender(self.folder / "extender.log",
                        *self._flags("azdisk-scheduler-extender", "--placement-mode", "--placement-scheduler", "--placement-excluded"),
                        f"--leader-election-namespace={self.release.namespace}",
                        f"--leader-election-name={LEASE_OF_THE_TEST}", f"--placement-address=localhost:{self.port}",
                        f"--placement-tls-cert-file={self.mount.path('tls.crt')}",
                        f"--placement-tls-key-file={self.mount.path('tls.key')}", "--tls-reload-interval=100ms",
                        kubeconfig=self.apiserver.kubeconfig)

    # ---- what can be seen ----

    def gates(self) -> bool:
        self.leases.patch_namespaced_lease(LEASE_OF_THE_TEST, self.release.namespace, self._lease())
        made = self.core.create_namespaced_pod("default", pod("asking", ["one"]), dry_run="All")
        return GATE in [gate.name for gate in made.spec.scheduling_gates or []]

    def secret(self) -> client.V1Secret:
        return self.core.read_namespaced_secret(SECRET, self.release.namespace)

    def text(self, key: str) -> str:
        return base64.b64decode((self.secret().data or {}).get(key, "")).decode()

    def bundle(self) -> str:
        [hook] = self.hooks.read_mutating_webhook_configuration(CONFIGURATION).webhooks
        return base64.b64decode(hook.client_config.ca_bundle or "").decode()

    def shown(self, bundle: str) -> bytes:
        """The certificate by which the extender answers who trusts these."""
        context = ssl.create_default_context(cadata=bundle)
        with socket.create_connection(("localhost", self.port), timeout=20) as link, \
                context.wrap_socket(link, server_hostname=self.host) as tls:
            return tls.getpeercert(binary_form=True)

    def is_used(self, certificate: str) -> bool:
        try:
            return self.shown(self.bundle()) == ssl.PEM_cert_to_DER_cert(certificate)
        except (ssl.SSLError, ValueError):
            return False  # it is not trusted yet, or is none

    def until_another_is_used(self, certificate: str, seconds: float = 90) -> str:
        """Than this one; the new one."""
        def another() -> str | None:
            made = self.text("tls.crt")
            return made if made not in ("", certificate) and self.is_used(made) else None

        return until(another, "another certificate", seconds)


@contextmanager
def running(installation: Installation, *flags: str):
    with installation.controller(*flags) as controller:
        until(controller.leads, "it leads")
        yield controller
