"""The control plane: a machine `cp` with etcd, the API server, its controllers and the scheduler.

kube-proxy runs here too, as the API server and the scheduler (which calls its extenders by service
address) must reach ClusterIPs.
"""

import json
from pathlib import Path

from . import kube_proxy
from .authority import Authority
from .machine import Machine
from .network import API_SERVICE, SERVICES
from .waiting import until_it_works

NODE_GRACE_SECONDS = 12  # of silence, then a node is NotReady; see also node.REPORT_SECONDS
NODE_CHECK_SECONDS = 1

ETCD = "http://127.0.0.1:2379"


class ControlPlane:
    def __init__(self, machine: Machine, authority: Authority, tools: Path):
        self.machine = machine
        self.authority = authority
        self.tools = tools

    def boot(self) -> None:
        self.machine.boot()
        self._start(
            "etcd",
            data_dir="/var/lib/etcd",
            unsafe_no_fsync=True,
            listen_client_urls=ETCD,
            advertise_client_urls=ETCD,
            listen_peer_urls="http://127.0.0.1:2380",
        )
        self._start_apiserver()
        self._start_controller_manager()
        self.authority.kubeconfig("scheduler", "/CN=system:kube-scheduler")
        self.start_scheduler({})
        self.authority.kubeconfig("kube-proxy", "/CN=system:kube-proxy")
        # It waits half a minute for its Node, which this machine has not; any node will do.
        kube_proxy.start(self.machine, self.authority, self.tools, self.machine.state.nodes[0])

    def _start(self, program: str, **flags) -> None:
        words = []
        for name, value in flags.items():
            text = str(value).lower() if isinstance(value, bool) else value
            words.append(f"--{name.replace('_', '-')}={text}")
        self.machine.start(program, self.tools / program, *words)

    def _start_apiserver(self) -> None:
        address, path = self.machine.network.address("cp"), self.authority.path
        names = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
        alternatives = [f"DNS:{name}" for name in names]
        alternatives += [f"IP:{ip}" for ip in ("127.0.0.1", API_SERVICE, address)]
        self.authority.certificate("apiserver", "/CN=kube-apiserver", ",".join(alternatives))
        self.authority.kubeconfig("admin", "/O=system:masters/CN=admin")
        self._start(
            "kube-apiserver",
            etcd_servers=ETCD,
            bind_address="0.0.0.0",
            advertise_address=address,
            tls_cert_file=path("apiserver.crt"),
            tls_private_key_file=path("apiserver.key"),
            client_ca_file=path("ca.crt"),
            service_account_key_file=path("sa.pub"),
            service_account_signing_key_file=path("sa.key"),
            service_account_issuer="https://kubernetes.default.svc",
            service_cluster_ip_range=SERVICES,
            authorization_mode="Node,RBAC",
            enable_admission_plugins="NodeRestriction",
            allow_privileged=True,
            kubelet_client_certificate=path("admin.crt"),
            kubelet_client_key=path("admin.key"),
            kubelet_preferred_address_types="InternalIP",
        )
        kubectl = [self.tools / "kubectl", "--kubeconfig", path("admin.conf")]
        ready = [*kubectl, "--cache-dir", "/run/kubectl", "get", "--raw", "/readyz"]
        until_it_works(lambda: self.machine.run(*ready), "readiness of the API server")

    def _start_controller_manager(self) -> None:
        subject = "/CN=system:kube-controller-manager"
        self._start(
            "kube-controller-manager",
            kubeconfig=self.authority.kubeconfig("controller-manager", subject),
            leader_elect=False,
            use_service_account_credentials=True,
            service_account_private_key_file=self.authority.path("sa.key"),
            root_ca_file=self.authority.path("ca.crt"),
            **self._times(),
        )

    def _times(self) -> dict[str, str]:
        if self.machine.state.stock_times:
            return {}
        return {"node_monitor_grace_period": f"{NODE_GRACE_SECONDS}s", "node_monitor_period": f"{NODE_CHECK_SECONDS}s"}

    def start_scheduler(self, configuration: dict) -> None:
        """Anew if it runs. `configuration` is a KubeSchedulerConfiguration, or a part of one; how
        to reach the API server, and that there is one scheduler only, is added here."""
        whole = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            **configuration,
            "clientConnection": {"kubeconfig": str(self.authority.path("scheduler.conf"))},
            "leaderElection": {"leaderElect": False},
        }
        path = self.machine.disk / "scheduler.json"
        path.write_text(json.dumps(whole, indent=1))
        self._start("kube-scheduler", config=path)
