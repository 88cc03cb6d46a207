"""Lint: an include goes down the list of layers, never up; no program includes another. A layer is a
folder, or the files of one name: controller/metrics is metrics.c and metrics.h."""

import re

from sources import code, files, main

# From the bottom to the top. Folders of one row know nothing of each other.
LAYERS = (
    ("lib/base",),
    ("lib/rt",),
    ("lib/json",),
    ("lib/api",),
    ("lib/http",),
    ("lib/rpc", "lib/kube"),
    ("provisioner-lib",),
    ("lib/program",),
    ("controller/leading",),
    ("controller/controller",),
    ("controller/metrics",),
    ("controller/progress",),
    ("controller/scheduling",),
    ("controller/cache",),
    ("controller/attachment",),
    ("controller/volume", "controller/snapshot", "controller/replica", "controller/node", "controller/audit",
     "controller/failover", "controller/placement", "controller/certificate"),
    ("controller/csi", "controller/recovery"),
    ("controller/routing",),
    ("controller", "node", "scheduler-extender", "probe", "azdiskctl"),
)

# What stands beside the product. Everything else below test/ may include anything.
BESIDE = {
    "test/azsim": ("lib/base", "lib/rt", "lib/json", "lib/api", "lib/http", "lib/rpc", "lib/kube", "lib/program"),
    "test/azsim/model": ("lib/base", "lib/rt", "lib/json", "lib/api"),
    "test": None,
}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def folder_of(path):
    """The folder of the tables above to which a path belongs; None if there is none."""
    known = [folder for row in LAYERS for folder in row] + list(BESIDE)
    above = [folder for folder in known if path.startswith((folder + "/", folder + "."))]
    return max(above, key=len, default=None)


def allowed_in(folder):
    """The folders that a folder may include besides itself; None for all."""
    if folder in BESIDE:
        return BESIDE[folder]
    below = ()
    for row in LAYERS:
        if folder in row:
            return below
        below += row
    raise KeyError(folder)


def check(root):
    for path in files(root, ".c", ".h"):
        here = folder_of(str(path))
        if not here:
            yield path, 1, "its folder is in no layer; add it to LAYERS in test/lint/layers.py"
            continue
        allowed = allowed_in(here)
        text = code((root / path).read_text(), keep_strings=True)
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            there = folder_of(match[1])
            if not there:
                yield path, line, f'"{match[1]}" is no path from the root of the tree; write it out'
            elif not may_include(here, there, allowed):
                only = ", ".join(allowed) or "itself"
                yield path, line, (
                    f'includes "{match[1]}", but {here} may include only {only};'
                    " move what both need down, or pass it in"
                )


def may_include(here, there, allowed):
    if allowed is None or there in allowed:
        return True
    # A part with a row of its own, such as test/azsim/model, belongs to the whole.
    return there == here or there.startswith(here + "/")


if __name__ == "__main__":
    main(check)
