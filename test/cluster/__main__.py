"""python3 -m cluster: a Kubernetes cluster on this machine.

    up [--nodes a,b,c]          build the tools if need be, start a cluster
    down                        remove it and everything of it, also after a crash
    status                      nodes, processes, memory
    cut MACHINE, heal MACHINE   take a node (or cp, azure) off the network, and back
    power-off NODE, power-on NODE
    kubectl ARGUMENTS...        any kubectl command; likewise helm ARGUMENTS...
    tools                       build the tools; prints their folder

--dir DIR names the cluster's folder (for kubectl and helm: before the command); without it, `up`
makes a fresh one and the others take the only one there is.
"""

import argparse
import os
import signal
import subprocess
import sys
from pathlib import Path

from . import state, tools
from .cluster import NODES, Cluster

ON_A_MACHINE = ("cut", "heal", "power-off", "power-on")
PASSED_THROUGH = ("kubectl", "helm")


def main(arguments: list[str]) -> None:
    options = _parse(arguments)
    directory = Path(options.dir) if options.dir else None
    if options.command == "tools":
        tools.build()
        print(tools.folder())
    elif os.geteuid() != 0:
        raise RuntimeError("only root can make namespaces and mounts")
    elif options.command == "up":
        nodes = options.nodes.split(",")
        cluster = Cluster.up(nodes, directory, lambda line: print(line, flush=True))
        print(f"python3 -m cluster --dir {cluster.directory} kubectl get nodes")
    else:
        cluster = Cluster.open(directory or _only_one())
        if options.command in PASSED_THROUGH:
            command = cluster.command(options.command, *options.arguments)
            os.execvp(command[0], command)
        elif options.command == "status":
            _status(cluster)
        elif options.command == "down":
            cluster.down()
        else:
            getattr(cluster, options.command.replace("-", "_"))(options.machine)


def _parse(arguments: list[str]) -> argparse.Namespace:
    # Everything after a tool's name is the tool's.
    cut = next((i for i, word in enumerate(arguments, 1) if word in PASSED_THROUGH), len(arguments))
    parser = argparse.ArgumentParser(
        prog="python3 -m cluster",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="python3 -m cluster [--dir DIR] COMMAND ...",
    )
    parser.add_argument("--dir", metavar="DIR")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in ("up", "down", "status", "tools", *ON_A_MACHINE):
        command = commands.add_parser(name)
        command.add_argument("--dir", metavar="DIR", default=argparse.SUPPRESS)
        if name == "up":
            command.add_argument("--nodes", default=",".join(NODES))
        elif name in ON_A_MACHINE:
            command.add_argument("machine")
    for name in PASSED_THROUGH:
        commands.add_parser(name, add_help=False)
    return parser.parse_args(arguments[:cut], argparse.Namespace(arguments=arguments[cut:]))


def _only_one() -> Path:
    found = state.find()
    if len(found) != 1:
        names = ", ".join(map(str, found)) or "none"
        raise RuntimeError(f"name the cluster's folder by --dir; in {state.parent()}: {names}")
    return found[0]


def _status(cluster: Cluster) -> None:
    print(f"{cluster.directory}")
    memory = cluster.memory()
    for machine in cluster.machines():
        address = cluster.network.address(machine.name)
        power = "on" if machine.on() else "off"
        mib = memory[machine.name] / 1024
        print(f"  {machine.name:<12} {address:<14} {power:<4}{mib:6.0f} MiB")
        for program in machine.programs():
            alive = f"pid {program.process.pid}" if program.alive() else "dead"
            print(f"    {program.name:<26} {alive}")
    print(f"  {sum(memory.values()) / 1024:.0f} MiB in all")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that `up` clears up what it began
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"cluster: {error}")
