"""azdiskctl as a person runs it, sanitized, against a World."""

import json
import os
import subprocess
from pathlib import Path

from .driver_world import World

PROGRAM = Path(__file__).parents[2] / "build/checked/bin/azdiskctl"


class Azdiskctl:
    """Calls of the program. With `azure` it has credentials, and looks at Azure as well."""

    def __init__(self, world: World, azure: bool = False):
        self._world = world
        self._flags = [f"--kubeconfig={world.apiserver.kubeconfig}", f"--object-namespace={world.namespace}"]
        if azure:
            config = world.folder / "azure.json"
            config.write_text(world.cloud_config())
            self._flags.append(f"--cloud-config={config}")

    def start(self, *words: str) -> subprocess.Popen:
        environment = {"SSL_CERT_FILE": self._world.azure.ca, "PATH": os.environ["PATH"],
                       "ASAN_OPTIONS": "detect_stack_use_after_return=0"}
        return subprocess.Popen([PROGRAM, *self._flags, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env=environment)

    def run(self, *words: str, status: int = 0) -> str:
        """What it prints; its errors if the status says that there are some."""
        process = self.start(*words)
        output, errors = process.communicate(timeout=120)
        assert process.returncode == status, f"status {process.returncode}: {output}{errors}"
        return errors if status == 2 else output

    def ask(self, *words: str, status: int = 0):
        """The same as data."""
        return json.loads(self.run(*words, "-o", "json", status=status))
