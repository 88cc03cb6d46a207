"""docs/tree.md: what each file is, in its own words, from the programs down the layers."""

import re
import sys
from pathlib import Path

from .c_tables import TREE
from .markdown import code, page, sentence, table

sys.path.insert(0, str(TREE / "test" / "lint"))
from layers import BESIDE, LAYERS  # noqa: E402

HEAD = """\
The first sentence of every header and message file, and of the C files without a header, in the order of the layers: a
file may include only files of its own folder or from further down this page.
"""
FIRST_SENTENCE = re.compile(r"/\* (?:\S+\.h - )?(.*?)(?:\.\s|\.$|:\s*$|\*/)", re.DOTALL)


def _about(file: Path) -> str:
    text = file.read_text()
    if file.suffix == ".proto":
        text = "/* " + re.sub(r"^// ?", "", text, flags=re.MULTILINE)
    comment = FIRST_SENTENCE.match(text)
    if not comment:
        return ""
    return sentence(re.sub(r"\s*\n( \* *)?", " ", comment[1]).strip())


def _files(folder: Path) -> list[Path]:
    headers = [*folder.glob("*.h"), *folder.glob("*.proto")]
    alone = [c for c in sorted(folder.glob("*.c")) if not c.with_suffix(".h").exists()]
    return sorted([*headers, *(c for c in alone if _about(c))])


def _folders(top: str, tops: list[str]) -> list[Path]:
    """With those below it that have no layer of their own."""
    below = [folder for folder in sorted((TREE / top).rglob("*/")) if str(folder.relative_to(TREE)) not in tops]
    return [folder for folder in (TREE / top, *below) if _files(folder)]


def text() -> str:
    tops = [folder for row in reversed(LAYERS) for folder in row] + [f for f in BESIDE if f.count("/") == 1]
    parts = []
    for folder in (folder for top in tops for folder in _folders(top, tops)):
        rows = [(code(file.name), _about(file)) for file in _files(folder)]
        parts += [f"## {folder.relative_to(TREE)}/\n", table(["file", "what it is"], rows)]
    return page("What each file is", HEAD, *parts)
