"""Lint: what is borrowed of a store is good until the next yield, and is not used after one.

A watch may put another version of the object in its place meanwhile, and frees the former. Whoever
has `self` yields where he hands it on. What is told of elsewhere, by a structure or an output
argument, this does not see; the simulation under sanitizers does.
"""

import re

from sources import code, files, main

# Functions whose results are borrowed of a store.
LENDERS = (
    "store_get|store_find|kubernetes_pv|pv_of_disk|pvs_of_name|volume_of_name|volumes_of_disk|"
    "node_attachment|attachments_of_volume|snapshot_of_id|adoption_disk|informers_find_attachment"
)
KEEPERS = "kube_object_ref|mem_strdup|mem_copy"  # their results are not

FUNCTION = re.compile(r"^[\w ][\w *]*?\b\w+\(([^;{}]*)\)\n\{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
LOAN = re.compile(rf"\b(\w+)\s*=\s*([^;]*\b(?:{LENDERS})\([^;]*);")
YIELD = re.compile(r"\(self\b")


def used_after(body, name, start):
    """Where the name stands first after a statement that yields, unless it is given another value; None: nowhere."""
    yields = YIELD.search(body, start)
    if not yields:
        return None
    end = body.index(";", yields.start())
    begin = max(body.rfind(mark, 0, yields.start()) for mark in ";{}")
    if re.search(r"\breturn\b", body[begin + 1:yields.start()]):
        return used_after(body, name, end)
    if re.search(rf"\bkube_object_ref\({name}\)", body[start:begin + 1]):
        return None
    use = re.compile(rf"(?<![\w.])(?<!->){name}\b(?!\s*=[^=])").search(body, end)
    again = re.compile(rf"(?<![\w.])(?<!->){name}\s*=[^=]").search(body, end)
    return use.start() if use and not (again and again.start() < use.start()) else None


def check(root):
    for path in files(root, ".c"):
        text = code((root / path).read_text())
        for function in FUNCTION.finditer(text):
            parameters, body = function.groups()
            if not re.search(r"\bstruct task \*self\b", parameters):
                continue
            for loan in LOAN.finditer(body):
                if re.search(rf"\b(?:{KEEPERS})\(", loan[2]):
                    continue
                use = used_after(body, loan[1], loan.end())
                if use is not None:
                    line = text.count("\n", 0, function.start(2) + use) + 1
                    yield path, line, (f"{loan[1]} is borrowed of a store, and the task has yielded since; "
                                       "keep it by kube_object_ref, or look it up again")


if __name__ == "__main__":
    main(check)
