"""Where somebody types what a page of docs has (page.py)."""

import os
from pathlib import Path

from cluster.cluster import Cluster
from cluster.command import run
from image.driver import BUILD


class Terminal:
    """As administrator of the cluster, in a folder of its own."""

    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        self.folder = cluster.directory / "terminal"
        self.programs = self.folder / "bin"
        self.programs.mkdir(parents=True)
        for program in (cluster.tools / "kubectl", cluster.tools / "helm", BUILD / "bin" / "azdiskctl"):
            (self.programs / program.name).symlink_to(program)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.unlink(missing_ok=True)
        path.write_text(text)
        return path

    def type(self, commands: str) -> str:
        """What they print; none may fail."""
        environment = [f"KUBECONFIG={self.cluster.authority.path('admin.conf')}", f"HOME={self.cluster.directory / 'home'}",
                       f"PATH={self.programs}:{os.environ['PATH']}"]
        return run(*self.cluster.network.enter("cp"), "env", f"--chdir={self.folder}", *environment,
                   "bash", "-e", "-o", "pipefail", "-c", commands)
