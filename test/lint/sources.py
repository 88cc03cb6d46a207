"""The project's own text files, and C without its comments and strings, for the lints.

A lint is a program: it takes the tree's root (the current folder if none is given), prints one line
for each finding, as `file:line: what is wrong; what to do`, and exits 1 if there were any.
"""

import os
import re
import sys
from pathlib import Path

# Comments, strings and characters of C.
NOT_CODE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)


def files(root, *suffixes):
    """Paths relative to the root, sorted; what is built and what is hidden is left out."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith(".") and f != "__pycache__"]
        if Path(folder) == Path(root) and "build" in folders:
            folders.remove("build")
        found += [Path(folder, name).relative_to(root) for name in names]
    return sorted(path for path in found if path.name.endswith(suffixes))


def code(text, keep_strings=False):
    """The text with blanks in place of all that is not code; lines stay where they are."""

    def blank(match):
        if keep_strings and match.group()[0] in "\"'":
            return match.group()
        return re.sub(r"[^\n]", " ", match.group())

    return NOT_CODE.sub(blank, text)


def main(check):
    """Runs check(root), which yields (path, line number, what)."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    findings = list(check(root))
    for path, line, what in findings:
        print(f"{path}:{line}: {what}")
    sys.exit(1 if findings else 0)
