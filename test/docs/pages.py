"""The reference pages, by their file in docs/."""

from . import custom_resources, metrics, options, parameters, tree, values
from .c_tables import TREE

FOLDER = TREE / "docs"

PAGES = {
    "options.md": options.text,
    "metrics.md": metrics.text,
    "parameters.md": parameters.text,
    "custom-resources.md": custom_resources.text,
    "values.md": values.text,
    "tree.md": tree.text,
}
