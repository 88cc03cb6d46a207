"""docs/options.md, from what the programs say to --help."""

import re
import subprocess
from typing import NamedTuple

from .c_tables import TREE
from .markdown import code, codes, page, sentence, table

PROGRAMS = ("azdisk-controller", "azdisk-node", "azdisk-scheduler-extender", "azdisk-probe", "azdiskctl",
            "azsim")

HEAD = """\
Flags of every program, as printed by `--help`. Write a flag as `--name=value` or `--name value`; a boolean flag may be
written without a value. Flags take precedence over environment variables. Durations are written as `300ms`, `30s`, `5m`
or `1h30m`. If a flag or its value is invalid, the program names it and exits with status 2; if something that it needs to
start is missing, such as a file, with status 1. The Helm chart sets the flags from its values ([values.md](values.md));
use its value `extraArgs` to add flags.
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
            environment = part.removeprefix("environment variable ") if part.startswith("environment variable ") else environment
    return Flag(name, help_, "" if default == '""' else default.strip('"'), choices.split(), environment)


def _meaning(flag: Flag) -> str:
    words = [sentence(flag.help)]
    if flag.choices:
        words.append(f"One of {codes(flag.choices)}.")
    if flag.environment:
        words.append(f"Can also be set by environment variable {code(flag.environment)}.")
    return " ".join(words)


def text() -> str:
    parts = []
    for program in PROGRAMS:
        about, found = flags(program)
        rows = [(code(f"--{flag.name}"), code(flag.default) if flag.default else "", _meaning(flag)) for flag in found]
        parts += [f"## {program}\n", f"{sentence(about[0].upper() + about[1:])}\n",
                  table(["flag", "default", "meaning"], rows)]
    return page("Command lines", HEAD, *parts)
