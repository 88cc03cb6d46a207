"""Helm, in a cluster that has an API server and nothing that runs pods."""

import os
import subprocess

from cluster import tools

from .apiserver import ApiServer


class Helm:
    """What it keeps is in the cluster's folder, not in the home of whoever runs the tests."""

    def __init__(self, cluster: ApiServer, namespace: str = "kube-system"):
        self.cluster, self.namespace = cluster, namespace

    def run(self, *words: object, status: int = 0) -> subprocess.CompletedProcess:
        home = {f"HELM_{kind}_HOME": str(self.cluster.folder / "helm") for kind in ("CACHE", "CONFIG", "DATA")}
        done = subprocess.run([tools.folder() / "helm", *words, f"--kubeconfig={self.cluster.kubeconfig}",
                               f"--namespace={self.namespace}"], capture_output=True, text=True, env=os.environ | home)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    def uninstall(self, release: str) -> None:
        """Without the chart's Job, which nothing would run here."""
        self.run("uninstall", release, "--no-hooks", "--ignore-not-found")
