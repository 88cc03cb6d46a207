"""azdiskctl as a person runs it, sanitized, against a World."""

import json
import os
import subprocess
from pathlib import Path

from .driver_world import World

PROGRAM = Path(__file__).parents[2] / "build/checked/bin/azdiskctl"


class Calls:
    """Of the program, with these flags."""

    def __init__(self, kubeconfig: Path, object_namespace: str, *flags: str, **environment: str):
        self._flags = [f"--kubeconfig={kubeconfig}", f"--object-namespace={object_namespace}", *flags]
        self._environment = {"PATH": os.environ["PATH"], "ASAN_OPTIONS": "detect_stack_use_after_return=0"} | environment

    def start(self, *words: str, stdout=subprocess.PIPE) -> subprocess.Popen:
        return subprocess.Popen([PROGRAM, *self._flags, *words], stdout=stdout, stderr=subprocess.PIPE,
                                text=True, env=self._environment)

    def outputs(self, *words: str, status: int = 0) -> tuple[str, str]:
        """What it prints, and its errors and steps."""
        process = self.start(*words)
        output, errors = process.communicate(timeout=120)
        assert process.returncode == status, f"status {process.returncode}: {output}{errors}"
        return output, errors

    def ask(self, *words: str, status: int = 0):
        """What it prints as data."""
        return json.loads(self.outputs(*words, "-o", "json", status=status)[0])


class Azdiskctl(Calls):
    """With `azure` it has credentials, and looks at Azure as well."""

    def __init__(self, world: World, azure: bool = False):
        flags = []
        if azure:
            config = world.folder / "azure.json"
            config.write_text(world.cloud_config())
            flags.append(f"--cloud-config={config}")
        super().__init__(world.apiserver.kubeconfig, world.namespace, *flags, SSL_CERT_FILE=world.azure.ca)

    def run(self, *words: str, status: int = 0) -> str:
        """What it prints; its errors if the status says that there are some."""
        output, errors = self.outputs(*words, status=status)
        return errors if status == 2 else output
