"""The result of a command: a plain dict in the shape of docs/reference/json.md, and ways to look at it."""
from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


def _is_metric(value: Any) -> bool:
    return isinstance(value, dict) and "value" in value and "unit" in value


def _flat(row: dict[str, Any], before: str = "", units: dict[str, str] | None = None) -> dict[str, Any]:
    """{"metrics": {"gpu.time": {"value": 1, "unit": "ns"}}, "launch": {"grid": 4}} to {"gpu.time": 1, "launch.grid": 4}."""
    out: dict[str, Any] = {}
    for key, value in row.items():
        if _is_metric(value):
            out[before + key] = value["value"]
            if units is not None:
                units[before + key] = value["unit"]
        elif isinstance(value, dict):
            out.update(_flat(value, "" if key == "metrics" else f"{before}{key}.", units))
        else:
            out[before + key] = value
    return out


class Result(dict):
    """The JSON result as a dict."""

    def __init__(self, content: dict[str, Any], text: str = "", messages: str = "", report: str = "") -> None:
        super().__init__(content)
        self.text = text  # the JSON text, byte for byte as the tool writes it
        self.messages = messages  # notes, and what the simulated program printed
        self.report = report  # the text for people

    def metric(self, name: str, kernel: int | str | None = None) -> Any:
        """The value of a metric of the whole run, or of one kernel by position or name. KeyError if it is not there."""
        return self._metrics(kernel)[name]["value"]

    def unit(self, name: str, kernel: int | str | None = None) -> str:
        return self._metrics(kernel)[name]["unit"]

    def metrics(self, kernel: int | str | None = None) -> dict[str, Any]:
        """All of them, name to value."""
        return {name: m["value"] for name, m in self._metrics(kernel).items()}

    def _metrics(self, kernel: int | str | None) -> dict[str, Any]:
        if kernel is None:
            return self["total"]
        if isinstance(kernel, int):
            return self["kernels"][kernel]["metrics"]
        for k in self["kernels"]:
            if k["name"] == kernel:
                return k["metrics"]
        raise KeyError(kernel)

    def frame(self, path: str = "kernels") -> pandas.DataFrame:
        """A list of the result as a table: one row each, metrics as columns. path: member names joined by '/', e.g. "kernels", "sms",
        "kernels/0/stalls". Units are in .attrs["units"]."""
        try:
            import pandas
        except ImportError as missing:
            raise ImportError(
                'Result.frame() makes a table of pandas, which is not installed (pip install pandas, or Debian\'s python3-pandas); the result itself has the same values: result["kernels"]'
            ) from missing

        at: Any = self
        for step in path.split("/"):
            at = at[int(step)] if isinstance(at, list) else at[step]
        if isinstance(at, dict):
            at = (
                list(at.values())
                if at and all(isinstance(v, dict) and not _is_metric(v) for v in at.values())
                else [at]
            )
        if not isinstance(at, list):
            raise TypeError(f"{path} is no list and no object, but {type(at).__name__}")
        units: dict[str, str] = {}
        frame = pandas.DataFrame([_flat(row, units=units) if isinstance(row, dict) else {"value": row} for row in at])
        frame.attrs["units"] = units
        return frame

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the result file that report, compare and rerun of the tool read. Complete or not at all."""
        path = os.fspath(path)
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=os.path.basename(path) + ".")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(self.text)
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise


def _umask() -> int:
    """Of the process, without changing it for a moment, which other threads would notice."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        for line in status:
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return 0o077


def _rows(columns: Any, names: list[str], prefix: str) -> list[list[Any]]:
    """Rows of a table whose columns stand beside the file."""
    lists = []
    for name in names:
        key = f"{prefix}.{name}"
        column = columns[key]
        values = [v.decode(errors="replace") for v in column.tolist()] if column.dtype.kind == "S" else column.tolist()
        if f"{key}.absent" in columns:
            values = [None if gone else v for v, gone in zip(values, columns[f"{key}.absent"].tolist())]
        lists.append(values)
    return [list(row) for row in zip(*lists)]


def _put_inside(content: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Takes what stands beside the file into the result."""
    beside = content.pop("beside")
    name = beside["file"]
    file = os.path.join(os.path.dirname(os.path.realpath(path)), name)
    if (
        os.path.basename(name) != name
        or name in ("", ".", "..")
        or not os.path.isfile(file)
        or os.path.getsize(file) != beside["bytes"]
    ):
        raise ValueError(
            f"{os.fspath(path)}: its longest tables stand in {name}, which is not beside it, or is another file"
        )
    import numpy  # here: only these results need it

    with numpy.load(file, allow_pickle=False) as columns:
        for kernel in content["kernels"]:
            for table in [kernel.get("series"), *kernel.get("tables", {}).values()]:
                if table and isinstance(table["rows"], dict):
                    table["rows"] = _rows(columns, table["columns"], table["rows"]["beside"])


def load(path: str | os.PathLike[str]) -> Result:
    """A result file of simtlab, with the long tables that stand beside it (they need NumPy). ValueError if it is none, or if what belongs to it is not there."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    content = json.loads(text)
    if not isinstance(content, dict) or not isinstance(content.get("schema"), int):
        raise ValueError(f"{os.fspath(path)} is no result of simtlab: it has no schema number")
    if "beside" in content:
        _put_inside(content, path)
        text = json.dumps(content)
    return Result(content, text)
