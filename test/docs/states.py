"""docs/states.md, from the table of controller/attachment/states.c and the texts of its enums."""

import re
from typing import NamedTuple

from .c_tables import TREE, initializer
from .markdown import code, page, table

FILE = "controller/attachment/states.c"

HEAD = """\
An AzVolumeAttachment is one disk on one node: either the *primary*, which a pod uses, or a *replica*, which is attached
but not mounted, so that it is ready when a pod moves to the node. This page shows what each event does to an attachment in
each of its states. The controller acts according to this table, and a test checks every cell.

*Done* is the immediate effect of the event. *Then* is the controller's next step, and *leads to* is the state after it; the
controller takes one step after another until there is nothing left to do. If nothing is done, the current operation
continues. Every step may fail or be interrupted. The next step is always decided from the observed state, so a new leader
continues where the previous one stopped: no state is kept except the records and what Azure reports.
"""

RECORDS = {
    "PENDING": "empty or `Pending`",
    "ATTACHING": "`Attaching`; `AttachmentFailed` until the next attempt",
    "ATTACHED": "`Attached`",
    "PROMOTING": "`Attached`, `spec.role` Primary, `status.detail.role` Replica",
    "DEMOTING": "`Attached`, `spec.role` Replica, `status.detail.role` Primary",
    "LEAVING": "`Detaching` with a deletion timestamp; `DetachmentFailed` until the next attempt",
    "DELETED_WHILE_PUBLISHED": "a deletion timestamp, no detach request",
    "ABSENT": "no object",
}


class Cell(NamedTuple):
    event: str
    phase: str
    answer: str
    step: str
    after: str


def cells() -> list[Cell]:
    return [Cell(*row) for row in initializer(FILE, "static const struct attachment_transition rows[]")]


def texts(header: str, prefix: str) -> dict[str, str]:
    """The comment of each enumerator with this prefix, in the header's order."""
    source = (TREE / header).read_text()
    found = re.findall(rf"^    ({prefix}\w+),\s*/\* (.*?) \*/", source, re.DOTALL | re.MULTILINE)
    return {name: re.sub(r"\s+", " ", text) for name, text in found}


def _word(name: str) -> str:
    return re.sub(r"\bvm\b", "VM", name.split("_", 1)[1].lower().replace("_", " "))


def _record(phase: str) -> str:
    return next(text for end, text in RECORDS.items() if phase.endswith(end))


def _then(cell: Cell, steps: dict[str, str]) -> str:
    if cell.step == "STEP_NONE":
        return "-"
    return f"**{_word(cell.step)}**: {steps[cell.step]}"


def _event(event: str, text: str, answers: dict[str, str], steps: dict[str, str]) -> list[str]:
    rows = [
        (_word(c.phase), "-" if c.answer == "ANSWER_NOTHING" else answers[c.answer], _then(c, steps),
         "-" if c.after == c.phase else _word(c.after))
        for c in cells() if c.event == event
    ]
    return [f"## {_word(event).capitalize()}\n", f"{text[0].upper()}{text[1:]}.\n",
            table(["state", "done", "then", "leads to"], rows)]


def text() -> str:
    phases = texts("controller/attachment/states.h", "PHASE_")
    answers = texts("controller/attachment/states.h", "ANSWER_")
    steps = texts("controller/attachment/plan.h", "STEP_")
    events = texts("controller/attachment/states.h", "ON_")
    states = [(_word(phase), text, _record(phase)) for phase, text in phases.items()]
    sections = [part for event, text in events.items() for part in _event(event, text, answers, steps)]
    return page("States of an attachment", HEAD, "## States\n",
                table(["state", "meaning", "on record"], states), *sections)
