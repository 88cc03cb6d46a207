"""Pages in Markdown."""

from collections.abc import Iterable


def code(text: object) -> str:
    return f"`{text}`"


def codes(texts: Iterable[object]) -> str:
    return ", ".join(code(text) for text in texts)


def table(head: list[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def sentence(text: str) -> str:
    """With its full stop."""
    return text if text.endswith(".") else f"{text}."


def page(title: str, *parts: str) -> str:
    note = "<!-- Made by `make docs`; a test compares it with what it is made of. -->"
    return "\n".join([f"# {title}\n", f"{note}\n", *parts])
