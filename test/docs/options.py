"""docs/options.md, from what the programs say to --help."""

import re
import subprocess
from typing import NamedTuple

from .c_tables import TREE
from .markdown import code, codes, page, sentence, table

PROGRAMS = ("azdisk-controller", "azdisk-node", "azdisk-scheduler-extender", "azdisk-probe", "azdiskctl",
            "azsim")

HEAD = """\
Flags of every program, as its `--help` prints them. Spell them `--name=value` or `--name value`; one that is true or
false may stand alone. The command line wins over environment variables. A duration is `300ms`, `30s`, `5m`, `1h30m`.
A wrong flag, or a wrong value, ends the program with status 2 and a line that names it; what cannot be used at the
start, such as a file that is missing, with status 1. The Helm chart sets the flags from its values
([values.md](values.md)); `extraArgs` there adds more.
"""


class Flag(NamedTuple):
    name: str
    help: str
    default: str  # empty if there is none
    choices: list[str]
    environment: str  # empty if there is none


def flags(program: str) -> tuple[str, list[Flag]]:
    """What the program is, and its flags."""
    done = subprocess.run([TREE / "build/bin" / program, "--help"], check=True, capture_output=True, text=True)
    first, _, rest = done.stdout.partition("\n\nUsage: ")
    entries = re.findall(r"^  --(\S+)\n      (.+)$", rest, re.MULTILINE)
    assert len(entries) == rest.count("\n  --"), f"{program}: some flags are not understood"
    return first.removeprefix(f"{program} - "), [_flag(name, text) for name, text in entries]


def _flag(name: str, text: str) -> Flag:
    help_, default, choices, environment = text, "", "", ""
    if found := re.fullmatch(r"(.*) \(default (.*)\)", text):
        help_, (default, *more) = found[1], found[2].split("; ")
        for part in more:
            choices = part.removeprefix("one of ") if part.startswith("one of ") else choices
            environment = part.removeprefix("also by ") if part.startswith("also by ") else environment
    return Flag(name, help_, "" if default == '""' else default.strip('"'), choices.split(), environment)


def _meaning(flag: Flag) -> str:
    words = [sentence(flag.help)]
    if flag.choices:
        words.append(f"One of {codes(flag.choices)}.")
    if flag.environment:
        words.append(f"Also by environment variable {code(flag.environment)}.")
    return " ".join(words)


def text() -> str:
    parts = []
    for program in PROGRAMS:
        about, found = flags(program)
        rows = [(code(f"--{flag.name}"), code(flag.default) if flag.default else "", _meaning(flag)) for flag in found]
        parts += [f"## {program}\n", f"{sentence(about[0].upper() + about[1:])}\n",
                  table(["flag", "default", "meaning"], rows)]
    return page("Command lines", HEAD, *parts)
