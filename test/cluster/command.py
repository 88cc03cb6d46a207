"""Running other programs to their end."""

import shlex
import subprocess
from pathlib import Path


class CommandFailed(RuntimeError):
    """Says which command, and what it said."""


def run(*words: str | Path, input: str | None = None, env: dict[str, str] | None = None) -> str:
    """What the command printed."""
    words = [str(word) for word in words]
    done = subprocess.run(
        words, input=input, env=env, capture_output=True, text=True, errors="replace"
    )
    if done.returncode:
        raise CommandFailed(
            f"{shlex.join(words)}: {done.stderr.strip() or f'status {done.returncode}'}"
        )
    return done.stdout
