"""A machine: network, mount, process and host name namespaces of its own, and what runs in them.

Its first process (boot.sh, then images/pause.c) holds it together: all that is started on the
machine, pods included, lives in that process's namespace and dies with it, as in a power cut. What
survives is the machine's disk, a folder:

    var-lib/ var-log/   mounted as /var/lib and /var/log
    disk-azure/         mounted as /dev/disk/azure; the simulated Azure puts its links here
    proc-sys/           files mounted over settings below /proc/sys
"""

import os
import signal
import uuid
from pathlib import Path

from . import power, process
from .command import run
from .network import Network
from .process import Process
from .state import State
from .waiting import until

ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}

# $0: log file, $@: command. Prints the number of a process that has nothing of its starter.
BACKGROUND = 'cd /; setsid "$@" >>"$0" 2>&1 </dev/null & echo $!'

# Kernel settings that kubelet demands: it finds them so, and the host keeps its own.
KERNEL_SETTINGS = {
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
}

BOOT_ID = "kernel/random/boot_id"

# Hidden by the machine's own folders, so nothing of ours may be below them.
COVERED = ("/run", "/proc", "/var/lib", "/var/log")

NOBODY = Process(0, 0)  # never alive


class Machine:
    def __init__(self, state: State, network: Network, name: str):
        self.state = state
        self.network = network
        self.name = name
        self.disk = state.directory / name

    def boot(self) -> None:
        if self.network.namespace(self.name).exists():
            raise RuntimeError(f"{self.name} is on already")
        for folder in ("var-lib", "var-log", "disk-azure", "proc-sys"):
            (self.disk / folder).mkdir(parents=True, exist_ok=True)
        # kubelet reports the boot id; a new one is how the cluster learns of a reboot.
        settings = KERNEL_SETTINGS | {BOOT_ID: str(uuid.uuid4())}
        for path, value in settings.items():
            file = self.disk / "proc-sys" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(value + "\n")
        self.network.join(self.name)
        self._start_init()

    def _start_init(self) -> None:
        # The shell's first child becomes the first process of the new process namespace.
        fresh = ["unshare", "--mount", "--propagation", "slave", "--pid", "--uts"]
        boot = [Path(__file__).parent / "boot.sh", self.disk, self.name, self._reaper()]
        answer = run(
            *self.network.enter(self.name), *fresh, "sh", "-c", BACKGROUND, self.log("boot"), *boot,
            env=ENVIRONMENT,
        )
        init = Process.of(int(answer))
        if init:
            self.state.put("machines", self.name, [init.pid, init.started])
        until(self._booted, f"boot of {self.name}")

    def _reaper(self) -> Path:
        return self.state.directory / "pause"

    def _booted(self) -> bool:
        if not self.on():
            raise RuntimeError(f"{self.name} does not boot, see {self.log('boot')}")
        return os.readlink(f"/proc/{self.init.pid}/exe") == str(self._reaper())

    @property
    def init(self) -> Process:
        record = self.state.table("machines").get(self.name)
        return Process(*record) if record else NOBODY

    def boot_id(self) -> str:
        return (self.disk / "proc-sys" / BOOT_ID).read_text().strip()

    def on(self) -> bool:
        return self.init.alive()

    def log(self, program: str) -> Path:
        folder = self.state.directory / "log"
        folder.mkdir(exist_ok=True)
        return folder / f"{self.name}-{program}.log"

    def _enter(self) -> list[str]:
        if not self.on():
            raise RuntimeError(f"{self.name} is powered off")
        return ["nsenter", f"--target={self.init.pid}", "--mount", "--pid", "--uts", "--net"]

    def run(self, *words: str | Path, input: str | None = None) -> str:
        """A command on the machine, to its end; what it printed."""
        return run(*words, within=self._enter(), input=input, env=ENVIRONMENT)

    def start(self, name: str, *command: str | Path) -> "Program":
        program = Program(self, name)
        program.start([str(word) for word in command])
        return program

    def programs(self) -> list["Program"]:
        keys = (key.partition("/") for key in self.state.table("programs"))
        return [Program(self, program) for machine, _, program in keys if machine == self.name]

    def processes(self) -> list[Process]:
        return process.below(self.init.pid) if self.on() else []

    def power_off(self) -> None:
        """A power cut. Afterwards nothing of the machine lives or is mounted, and no unsynced data
        of it will reach a disk. Its own disk keeps what was in the page cache, as if synced."""
        if not self.network.namespace(self.name).exists():
            raise RuntimeError(f"{self.name} is off already")
        self.network.cut(self.name)
        doomed = {*self.processes(), *self.network.processes(self.name)}
        for each in doomed:  # none is to see its file systems die, or to mount another
            each.signal(signal.SIGSTOP)
        devices = power.shut_file_systems(doomed)
        process.kill_all({*doomed, *self.processes()})
        power.wait_for_release(devices)
        self.network.leave(self.name)


class Program:
    """A program that runs on a machine; the state knows its command, so anyone can restart it."""

    def __init__(self, machine: Machine, name: str):
        self.machine = machine
        self.name = name
        self._key = f"{machine.name}/{name}"

    def start(self, command: list[str]) -> None:
        """In place of the one that runs, if one does."""
        if self._key in self._table():
            self.kill()
        log = self.machine.log(self.name)
        number = int(self.machine.run("sh", "-c", BACKGROUND, log, *command))
        started = process.numbered(self.machine.init.pid, number)
        if not started:
            raise RuntimeError(f"{self._key} ended at once, see {log}")
        record = {"command": command, "process": [started.pid, started.started]}
        self.machine.state.put("programs", self._key, record)

    def _table(self) -> dict:
        return self.machine.state.table("programs")

    def _record(self) -> dict:
        table = self._table()
        if self._key not in table:
            raise RuntimeError(f"no program {self._key}; there are {', '.join(table)}")
        return table[self._key]

    @property
    def process(self) -> Process:
        return Process(*self._record()["process"])

    def alive(self) -> bool:
        return self.process.alive()

    def kill(self) -> None:
        process.kill_all([self.process])

    def stop(self) -> None:
        self.process.stop()

    def cont(self) -> None:
        self.process.cont()

    def restart(self) -> None:
        self.start(self._record()["command"])
