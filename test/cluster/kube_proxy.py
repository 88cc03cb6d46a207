"""kube-proxy, on every machine that must reach ClusterIPs."""

import json
from pathlib import Path

from .authority import Authority
from .machine import Machine


def start(machine: Machine, authority: Authority, tools: Path, node: str) -> None:
    configuration = {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "mode": "nftables",
        "clientConnection": {"kubeconfig": str(authority.path("kube-proxy.conf"))},
        # Connection tracking is sized for the whole kernel, which a namespace may not do.
        "conntrack": {"maxPerCore": 0, "min": 0},
        "healthzBindAddress": "",
        "metricsBindAddress": "",
    }
    path = machine.disk / "kube-proxy.json"
    path.write_text(json.dumps(configuration, indent=1))
    machine.start("kube-proxy", tools / "kube-proxy", "--config", path, "--hostname-override", node)
