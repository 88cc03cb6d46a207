"""Pages of docs whose commands tests run as they are written there."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def blocks(page: str, heading: str = "", language: str = "sh") -> list[str]:
    """Of a section, block by block: its shell commands, or what is in another language. Without a heading: of what comes
    before the first section."""
    text = (DOCS / page).read_text()
    start = rf"^## {re.escape(heading)}\n" if heading else r"\A"
    [section] = re.findall(rf"{start}(.*?)(?=^## |\Z)", text, re.M | re.S)
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.M | re.S)
