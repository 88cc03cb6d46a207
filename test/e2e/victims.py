"""The programs that an accident ends: found beforehand, killed at once, and seen to come back."""

import signal

from cluster import process
from cluster.waiting import until
from deployment.driver import NAMESPACE, Driver

from .phases import Phase

# In the pods' images; what is killed of the controller is the leader, of the others every process.
PROGRAMS = {
    "node plug-in": "/bin/azdisk-node",
    "scheduler extender": "/bin/azdisk-scheduler-extender",
    "external-provisioner": "/csi-provisioner",
    "external-attacher": "/csi-attacher",
    "external-resizer": "/csi-resizer",
    "controller": "/bin/azdisk-controller",
}


class Victims:
    """Who runs now. Finding them takes longer than a promotion does, so it is done before."""

    def __init__(self, driver: Driver):
        self.driver = driver
        self.running = {program: driver.processes(path) for program, path in PROGRAMS.items()}
        self.leader = self._leader()
        pods = driver.pods("controller")
        self.leading_node = next(
            pod["spec"]["nodeName"] for pod in pods if self.leader.startswith(pod["metadata"]["name"]))

    def kill(self, phase: Phase) -> bool:
        """Azure, too, which starts again at once, and the others by kubelet. If it is being asked, they live until they have
        asked it again; if not, what they do is short, and nobody waits for Azure to start. Whether all died before the phase
        was over."""
        if phase.asks_azure:
            self._kill_azure()
            last = self.driver.azure.last_request()
            until(lambda: self.driver.azure.last_request() > last, "the leader asks Azure again", 30)
        self._kill_all()
        in_time = not phase.done()
        if not phase.asks_azure:
            self._kill_azure()
        return in_time

    def _kill_azure(self) -> None:
        self.driver.azure.stop(signal.SIGKILL)
        self.driver.azure.start()

    def _kill_all(self) -> None:
        """Who was killed later would end meanwhile what the accident is to happen in."""
        doomed = {program: self._alive(program) for program in self.running}
        process.kill_all(each for alive in doomed.values() for each in alive)
        for program, running in self.running.items():
            self.running[program] = {p: m for p, m in running.items() if p in doomed[program] or p.alive()}

    def _alive(self, program: str) -> list[process.Process]:
        """Those that are to be killed; one may have lost its node meanwhile."""
        alive = [p for p, machine in self.running[program].items()
                 if (program != "controller" or machine.name == self.leading_node) and p.alive()]
        assert alive, f"no {program} is left to be killed"
        return alive

    def _leader(self) -> str:
        """Of the controllers: the name of its pod, and a mark of its process."""
        lease = self.driver.cluster.get("lease", "csi-azuredisk-controller", "-n", NAMESPACE)
        return lease["spec"]["holderIdentity"]

    def missing(self) -> list[str]:
        """What is not as it was before: programs of which fewer run, and a leader."""
        fewer = [p for p, path in PROGRAMS.items() if len(self.driver.processes(path)) < len(self.running[p])]
        return fewer + ["leader"] * (self._leader() in ("", self.leader))
