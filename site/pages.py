"""What the site has other than docs/: its first page is README.md, and what is outside of docs/ is named, not linked to."""

import re
from pathlib import Path

from mkdocs.structure.files import File

README = Path(__file__).parents[1] / "README.md"
OUTSIDE = re.compile(r"\[([^]]*)\]\((?!https?:|#)((?:\.\./)+|(?=test/|CONTRIBUTING))([^)]*)\)")


def on_files(files, config):
    text = README.read_text().replace("](docs/", "](")
    files.append(File.generated(config, "index.md", content=text))
    return files


def on_page_markdown(markdown, **_):
    return OUTSIDE.sub(r"\1 (`\3`)", markdown)
