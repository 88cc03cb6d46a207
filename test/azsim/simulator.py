"""azsim as a process: started from a description of Azure, asked through its control interface.

For tests and demonstrations. The program is taken from the environment variable AZSIM, else from
build/checked/bin, which `make checked-programs` makes.
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence

TENANT = "11111111-1111-1111-1111-111111111111"
SUBSCRIPTION = "22222222-2222-2222-2222-222222222222"
CLIENT = "33333333-3333-3333-3333-333333333333"
SECRET = "a secret / with + and ="
GROUP = "rg"
LOCATION = "eastus"

_ROOT = pathlib.Path(__file__).resolve().parents[2]


def program() -> str:
    return os.environ.get("AZSIM", str(_ROOT / "build/checked/bin/azsim"))


def describe(vms: list[dict]) -> dict:
    """The configuration of a subscription with these VMs (see README.md)."""
    return {
        "tenantId": TENANT,
        "subscriptionId": SUBSCRIPTION,
        "resourceGroup": GROUP,
        "location": LOCATION,
        "clients": [{"clientId": CLIENT, "clientSecret": SECRET}],
        "vms": vms,
    }


def disk_id(name: str) -> str:
    return (f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{GROUP}"
            f"/providers/Microsoft.Compute/disks/{name}")


class Azsim:
    """One azsim with its state folder; it can be stopped, killed and started again.

    It may run in a network namespace: `enter` is how a command gets there, `inside` how this thread
    does, `address` where it listens then.
    """

    def __init__(self, folder: pathlib.Path, config: dict, *flags: str, address: str = "127.0.0.1",
                 enter: Sequence[str] = (), inside: Callable = contextlib.nullcontext):
        self.state = folder / "state"
        self._address, self._enter, self._inside = address, enter, inside
        self._config = folder / "vms.json"
        self._config.write_text(json.dumps(config))
        self._log = folder / "azsim.log"
        self._flags = flags
        self._process: subprocess.Popen | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"https://{self._address}:{self.port}"

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def ca(self) -> str:
        return str(self.state / "ca.pem")

    def start(self) -> "Azsim":
        """On the port of the last time, if there was one."""
        command = [*self._enter, program(), f"--config={self._config}", f"--state-dir={self.state}",
                   f"--address={self._address}:{self.port}", *self._flags]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        ready = self._process.stdout.readline()
        found = re.search(r"\(port (\d+)\)", ready)
        if not found:
            self._process.wait()
            raise RuntimeError(f"azsim does not start: {self._log.read_text()}")
        self.port = int(found.group(1))
        return self

    def stop(self, how: int = signal.SIGTERM) -> int:
        """Ends the process, by SIGKILL if wished; its exit status."""
        self._process.send_signal(how)
        status = self._process.wait(timeout=30)
        self._process.stdout.close()
        self._process = None
        return status

    def remove_devices(self) -> None:
        subprocess.run([program(), f"--state-dir={self.state}", "--remove-devices"], check=True)

    def __enter__(self) -> "Azsim":
        return self.start()

    def __exit__(self, *_) -> None:
        if self._process:
            status = self.stop()
            assert status == 0, self._log.read_text()

    def control(self, method: str, path: str, body=None, expect: int = 200):
        """A request to the control interface; what it answers, as data."""
        request = urllib.request.Request(
            f"{self.url}/azsim/{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {(self.state / 'control.key').read_text().strip()}"})
        context = ssl.create_default_context(cafile=self.ca)
        try:
            with self._inside(), urllib.request.urlopen(
                    request, context=context, timeout=30) as response:
                status, text = response.status, response.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        assert status == expect, f"{method} {path}: {status} {text.decode()}"
        return json.loads(text)

    def fault(self, name: str, **rule) -> int:
        """From now on something goes wrong, as a rule of README.md says; the rule's id."""
        return self.control("POST", "faults", {"fault": name, **rule}, expect=201)["id"]

    def journal(self, after: int = 0) -> list[dict]:
        return self.control("GET", f"journal?after={after}&limit=100000")["entries"]
