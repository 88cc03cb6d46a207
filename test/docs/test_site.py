"""The site can be made, every page is in it, every link leads somewhere, and nothing in it is fetched from elsewhere."""

import os
import re
import subprocess
import sys

import pytest

from .c_tables import TREE
from .pages import FOLDER


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", TREE / "site/mkdocs.yml",
                           "--site-dir", folder], capture_output=True, text=True,
                          env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode == 0, done.stderr
    return folder


def test_it_has_every_page(site):
    assert {page.stem for page in FOLDER.glob("*.md")} | {"index", "404"} == {page.stem for page in site.glob("*.html")}


def test_it_needs_nobody_else(site):
    """Links that a reader may follow may lead elsewhere."""
    loaded = re.compile(r'<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*"')
    assert not [found for page in site.glob("*.html") for found in loaded.findall(page.read_text())]
