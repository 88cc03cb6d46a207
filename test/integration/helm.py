"""Helm, in a cluster that has an API server and nothing that runs pods."""

import os
import subprocess

from cluster import tools

from .apiserver import ApiServer

CHANGING = ("install", "upgrade", "uninstall")


class Helm:
    """What it keeps is in the cluster's folder, not in the home of whoever runs the tests."""

    def __init__(self, cluster: ApiServer, namespace: str = "kube-system"):
        self.cluster, self.namespace = cluster, namespace

    def run(self, *words: object, status: int = 0) -> subprocess.CompletedProcess:
        """Without the chart's Jobs, which nothing would run here."""
        words += ("--no-hooks",) if words[0] in CHANGING else ()
        home = {f"HELM_{kind}_HOME": str(self.cluster.folder / "helm") for kind in ("CACHE", "CONFIG", "DATA")}
        done = subprocess.run([tools.folder() / "helm", *words, f"--kubeconfig={self.cluster.kubeconfig}",
                               f"--namespace={self.namespace}"], capture_output=True, text=True, env=os.environ | home)
        assert done.returncode == status, done.stdout + done.stderr
        return done

    def uninstall(self, release: str) -> None:
        self.run("uninstall", release, "--ignore-not-found")
