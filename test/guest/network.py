"""What guests have around them: a network namespace of the machine with a bridge, which each of them is connected to.

What the machine has on its loopback is at MACHINE for them, as far as it is made so.
"""

import subprocess
from itertools import count

from integration.node.machine import Machine

MACHINE = "10.99.0.1"


class Network:
    def __init__(self):
        self.around = Machine()
        self._numbers = count(2)
        self._reached: set[int] = set()
        # Where guests have their memory, too: what a container has there may be too small.
        self._run(f"""
            ip link add guests type bridge && ip address add {MACHINE}/24 dev guests && ip link set guests up &&
            mount -t tmpfs tmpfs /dev/shm""")

    def _run(self, script: str) -> None:
        done = subprocess.run(self.around.command("sh", "-c", script), capture_output=True, text=True)
        if done.returncode:
            self.close()
            raise RuntimeError(f"no network or memory for guests here: {done.stderr.strip()}")

    def join(self) -> tuple[str, str]:
        """Of one guest: the machine's end of its wire, and the address that is its own."""
        number = next(self._numbers)
        wire = f"tap{number}"
        self._run(f"ip tuntap add {wire} mode tap && ip link set {wire} master guests up")
        return wire, f"10.99.0.{number}"

    def reach(self, port: int) -> None:
        """Makes a port of the machine's loopback one of MACHINE."""
        if port not in self._reached:
            self._reached.add(port)
            self.around.reach(port, MACHINE)

    def close(self) -> None:
        self.around.close()
