"""Where somebody types what docs/moving.md has, beside the charts and the values that it speaks of."""

import os
import shutil
from pathlib import Path

from cluster import tools
from cluster.cluster import Cluster
from cluster.command import run
from deployment.driver import CHART

from . import version_1, version_2


class Terminal:
    def __init__(self, cluster: Cluster):
        self.cluster = cluster
        self.folder = cluster.directory / "terminal"
        self.programs = self.folder / "bin"
        self.programs.mkdir(parents=True)
        shutil.copytree(CHART, self.folder / "charts" / CHART.name)
        for chart, version in ((version_1.CHART, version_1.VERSION), (version_2.CHART, version_2.VERSION)):
            shutil.copy(tools.microsofts_chart(f"v{version}"), self.folder / chart)
        (self.programs / "kubectl").symlink_to(cluster.tools / "kubectl")
        renderer = self._program("render", version_1.renderer())
        self._program("helm", "#!/bin/sh\n"
                      f'case "$*" in *{version_1.CHART}*) set -- "$@" --post-renderer {renderer} ;; esac\n'
                      f'exec {cluster.tools}/helm "$@"\n')

    def _program(self, name: str, text: str) -> Path:
        path = self.programs / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def type(self, commands: str) -> str:
        """What they print; none may fail."""
        environment = [f"KUBECONFIG={self.cluster.authority.path('admin.conf')}", f"HOME={self.cluster.directory / 'home'}",
                       f"PATH={self.programs}:{os.environ['PATH']}"]
        return run(*self.cluster.network.enter("cp"), "env", f"--chdir={self.folder}", *environment,
                   "bash", "-e", "-o", "pipefail", "-c", commands)
