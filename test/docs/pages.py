"""The reference pages, by their file in docs/."""

from . import custom_resources, findings, metrics, options, other_drivers, parameters, security, states, tree, values
from .c_tables import TREE

FOLDER = TREE / "docs"

PAGES = {
    "options.md": options.text,
    "metrics.md": metrics.text,
    "parameters.md": parameters.text,
    "snapshot-parameters.md": parameters.snapshot_text,
    "custom-resources.md": custom_resources.text,
    "states.md": states.text,
    "values.md": values.text,
    "other-drivers.md": other_drivers.text,
    "findings.md": findings.text,
    "security.md": security.text,
    "tree.md": tree.text,
}
