"""Writes the reference pages: make docs."""

from .pages import FOLDER, PAGES

for name, text in PAGES.items():
    (FOLDER / name).write_text(text())
    print(f"docs/{name}")
