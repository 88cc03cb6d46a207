"""Running other programs to their end."""

import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path


class CommandFailed(RuntimeError):
    """Says which command, and what it said."""


def run(
    *words: str | Path,
    within: Sequence[str] = (),
    input: str | None = None,
    env: dict[str, str] | None = None,
) -> str:
    """What the command printed. `within` is what it runs in, such as nsenter and its options; a failure does not
    repeat that."""
    words = [str(word) for word in words]
    done = subprocess.run(
        [*within, *words], input=input, env=env, capture_output=True, text=True, errors="replace"
    )
    if done.returncode:
        said = done.stderr.strip() or f"status {done.returncode}"
        raise CommandFailed(f"{shlex.join([Path(words[0]).name, *words[1:]])}: {said}")
    return done.stdout
