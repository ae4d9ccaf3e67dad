"""From the arguments of a function to what is asked of a study."""
from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _simtlab
from .result import Result


def text_of(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float, os.PathLike)):
        raise TypeError(f"{name} takes text, a number or a path, not {type(value).__name__}")
    text = os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    if not isinstance(text, str):
        raise TypeError(f"{name} takes a path of text, not of bytes")
    if "\0" in text:
        raise ValueError(f"{name} has a NUL character")
    return text


def _values(name: str, value: Any) -> list[str]:
    """Of an option that may be repeated."""
    if isinstance(value, Mapping):
        return [f"{text_of(name, k)}={text_of(name, v)}" for k, v in value.items()]
    if isinstance(value, (str, int, float, os.PathLike)) or not isinstance(value, Iterable):
        return [text_of(name, value)]
    return [text_of(name, v) for v in value]


def options_of(options: list[tuple[str, str, Any, int]]) -> list[tuple[str, str]]:
    """options: name of the parameter, of the option, value, how many values (0: a flag, -1: any number)."""
    out = []
    for name, option, value, values in options:
        if value is None or value is False and values == 0:
            continue
        if values == 0:
            if value is not True:
                raise TypeError(f"{name} takes True or False, not {type(value).__name__}")
            out.append((option, "true"))
        elif values == 1:
            out.append((option, text_of(name, value)))
        else:
            several = _values(name, value)
            if values > 1 and len(several) != values:
                raise TypeError(f"{name} takes {values} values, not {len(several)}")
            out += [(option, v) for v in several]
    return out


class Activity(str):
    """What is being done ("simulating"), as progress functions are told; detail says how far it is ("kernel scan: 120 of 4096 blocks, ...", may be empty)."""

    detail: str

    def __new__(cls, text: str, detail: str = "") -> "Activity":
        activity = super().__new__(cls, text)
        activity.detail = detail
        return activity


def call(
    study: str, inputs: Any, options: list[tuple[str, str, Any, int]], program: Any, progress: Any, interval: float
) -> Result:
    words = None if program is None else _values("program", program)
    text, messages, report = _simtlab.study(
        study, _values("what", inputs), options_of(options), words, progress, interval
    )
    return Result(json.loads(text), text, messages, report)


def explain(what: str | os.PathLike[str]) -> str:
    """The text of `simtlab explain`: what a metric, parameter, policy, model, option, device or error means, or why the
    kernels of a result file take so long. Nothing is run.

    what: the word ("l2.bytes", "gto", "file-missing"), or the path of a result file
    Raises simtlab.Error: UsageError for a word that nothing has.
    """
    return _simtlab.explain(text_of("what", what))
