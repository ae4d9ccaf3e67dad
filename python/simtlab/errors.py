"""What went wrong, as the tool's exit codes class it."""
from __future__ import annotations

import json
from typing import Any, NamedTuple


class Place(NamedTuple):
    """One finding. line and column count from 1; 0 and an empty file mean unknown."""

    file: str
    line: int
    column: int
    message: str
    text: str
    hint: str


class Error(Exception):
    """str() is one line; text is what a compiler would print: place, line, caret, remedy."""

    code = 1

    def __init__(
        self,
        code: int,
        id: str,
        message: str,
        text: str,
        places: list[Place],
        partial_json: str = "",
        messages: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.id = id
        self.text = text
        self.places = places
        self.partial_json = partial_json
        self.messages = messages  # notes, and what the simulated program printed
        if self.hint and hasattr(self, "add_note"):  # Python 3.11: a traceback shows it below the message
            self.add_note(f"hint: {self.hint}")

    @property
    def file(self) -> str:
        return self.places[0].file if self.places else ""

    @property
    def line(self) -> int:
        return self.places[0].line if self.places else 0

    @property
    def column(self) -> int:
        return self.places[0].column if self.places else 0

    @property
    def hint(self) -> str:
        return self.places[0].hint if self.places else ""

    @property
    def partial(self) -> dict[str, Any] | None:
        """What there is of the result of a command that was stopped, or whose program failed."""
        from .result import Result

        return Result(json.loads(self.partial_json), self.partial_json, self.messages) if self.partial_json else None

    def __reduce__(self):
        return type(self), (self.code, self.id, str(self), self.text, self.places, self.partial_json, self.messages)


class UsageError(Error):
    """Options that contradict each other, or a value that is none."""


class InputError(Error):
    """A file or a configuration is wrong; file, line and column say where."""


class UnsupportedError(Error):
    """Valid, but simtlab does not have it; places lists all that was found."""


class ProgramError(Error):
    """The simulated program failed: out of bounds, deadlock, wrong result."""


class CheckError(Error):
    """A check that was asked for did not hold."""


class UnavailableError(Error):
    """A device, a compiler or a permission is missing."""


class Interrupted(Error):
    """The progress function returned False; partial has what was done until then."""


_CLASSES = {
    2: UsageError,
    3: InputError,
    4: UnsupportedError,
    5: ProgramError,
    6: CheckError,
    7: UnavailableError,
    130: Interrupted,
}


def make(
    code: int, id: str, message: str, text: str, places: list[dict[str, Any]], partial_json: str, messages: str
) -> Error:
    return _CLASSES.get(code, Error)(code, id, message, text, [Place(**p) for p in places], partial_json, messages)
