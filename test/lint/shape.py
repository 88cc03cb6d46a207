"""Lint: headers say what they are, files are of a size that one can hold in mind, nothing is left
unfinished."""

import re

from sources import files, main

MOST_LINES = 800
SIZED = (".c", ".h", ".py", ".sh", ".mk")
READ = SIZED + (".proto", ".yaml", ".yml", ".md", ".go", "Makefile")

# In two pieces each, so that this file passes.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|for" r" now|not" r" implemented)\b")


def check(root):
    for path in files(root, *READ):
        lines = (root / path).read_text().splitlines()
        if path.suffix == ".h" and not (lines and lines[0].startswith(f"/* {path.name} - ")):
            yield path, 1, f'does not begin with "/* {path.name} - "; say what it is, in a sentence'
        if path.name.endswith(SIZED) and len(lines) > MOST_LINES:
            what = f"has {len(lines)} lines, {MOST_LINES} is the most; cut it by noun"
            yield path, MOST_LINES + 1, what
        for number, line in enumerate(lines, 1):
            if match := UNFINISHED.search(line):
                yield path, number, f'"{match[1]}": finish it, or take it out'


if __name__ == "__main__":
    main(check)
