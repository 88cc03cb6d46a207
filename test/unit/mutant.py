"""One mutant of the unit tests."""

from dataclasses import dataclass

import mutation


@dataclass(frozen=True)
class Mutant(mutation.Mutant):
    test: str = ""  # which is tried first; "": the one that is named after the file
