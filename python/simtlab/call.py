"""From the arguments of a function to the words of a command."""
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


def words_of(
    command: list[str], positional: list[tuple[str, Any]], options: list[tuple[str, str, Any, int]], program: Any
) -> list[str]:
    """options: name of the parameter, option, value, how many values (0: a flag, -1: any number)."""
    words = list(command)
    for name, value in positional:
        words += _values(name, value) if value is not None else []
    for name, option, value, values in options:
        if value is None or value is False and values == 0:
            continue
        if values == 0:
            if value is not True:
                raise TypeError(f"{name} takes True or False, not {type(value).__name__}")
            words.append(option)
        elif values == 1:
            words.append(f"{option}={text_of(name, value)}")
        elif values == -1:
            words += [f"{option}={v}" for v in _values(name, value)]
        else:
            several = _values(name, value)
            if len(several) != values:
                raise TypeError(f"{name} takes {values} values, not {len(several)}")
            words += [option, *several]
    if program is not None:
        words += ["--", *_values("program", program)]
    return words


class Activity(str):
    """What is being done ("simulating"), as progress functions are told; detail says how far it is ("kernel scan: 120 of 4096 blocks, ...", may be empty)."""

    detail: str

    def __new__(cls, text: str, detail: str = "") -> "Activity":
        activity = super().__new__(cls, text)
        activity.detail = detail
        return activity


def call(
    command: list[str],
    positional: list[tuple[str, Any]],
    options: list[tuple[str, str, Any, int]],
    program: Any,
    progress: Any,
    interval: float,
) -> Result:
    text, messages = _simtlab.execute(words_of(command, positional, options, program), progress, interval)
    return Result(json.loads(text), text, messages)


def explain(what: str | os.PathLike[str]) -> str:
    """The text of `simtlab explain`: what a metric, parameter, policy, model, option, device or error means, or why the
    kernels of a result file take so long. Nothing is run.

    what: the word ("l2.bytes", "gto", "file-missing"), or the path of a result file
    Raises simtlab.Error: UsageError for a word that nothing has.
    """
    return _simtlab.explain(text_of("what", what))
