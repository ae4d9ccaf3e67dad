#!/usr/bin/env python3
"""Writes simtlab/commands.py and simtlab/__init__.pyi from the options of the tool (commands_json() of the library), so that the functions of
Python are what the command line is. usage: generate.py FOLDER_OF_THE_PACKAGE [FOLDER_FOR_THE_FILES]"""
import importlib.machinery
import importlib.util
import json
import keyword
import pathlib
import re
import sys
import textwrap

COMMANDS = [
    "run",
    "cache",
    "predict",
    "dram",
    "probe",
    "corun",
    "corun interfere",
    "corun profile",
    "sweep",
    "compare",
    "validate",
]
# Where the result goes and how its text looks: the function returns it.
LEFT_OUT = {
    "--json",
    "--csv",
    "--color",
    "--all",
    "--quiet",
    "--verbose",
    "--help",
    "--help-all",
    "--version",
    "--ndjson",
    "--progress",
}
PATHS = ("FILE", "FOLDER", "DIR", "MEMORY", ".csv", ".toml")
KINDS = {
    "N": "int | str",
    "BYTES": "int | str",
    "CYCLES": "int | str",
    "M": "int | str",
    "SHARE": "float | str",
    "ERROR": "float | str",
    "P": "float | str",
    "X": "float | str",
    "MS": "float | str",
    "SECONDS": "float | str",
    "GB/S": "float | str",
    "TIME": "float | str",
    "SIZE": "int | str",
}
HEAD = '"""Written by python/generate.py from the options of the tool: do not edit."""\n'
PROGRESS = "progress: Callable[[Activity, float], bool | None] | None = None, progress_interval: float = 0.1"
COMMON = """    Other parameters:
        progress: called in this thread while the command runs, with what is being done (an Activity: a str whose detail says how far it is) and for how long; returning False stops the command,
            which then raises Interrupted with the partial result, and an exception stops it and is passed on.
        progress_interval: seconds between two calls, and from Ctrl-C to its effect
    Raises simtlab.Error."""


def package(folder):
    """The extension module alone: the rest of the package is what is being written."""
    found = sorted(folder.glob("_simtlab*.so"))
    if len(found) != 1:
        sys.exit(f"{folder} holds {len(found)} files _simtlab*.so, not one")
    loader = importlib.machinery.ExtensionFileLoader("_simtlab", str(found[0]))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("_simtlab", loader))
    loader.exec_module(module)
    return module


def find(tree, path):
    for name in path.split():
        tree = next(c for c in tree["commands"] if c["name"] == name)
    return tree


def parameter_name(option):
    long = [n for n in option["names"] if n.startswith("--")]
    name = (long or option["names"])[0].lstrip("-").lower().replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def option_name(option):
    return next((n for n in option["names"] if n.startswith("--")), option["names"][0]).lstrip("-")


def type_of(option):
    value = option["value"]
    if option["values"] == 0:
        return "bool"
    if option["choices"]:
        kind = "Literal[" + ", ".join(json.dumps(c) for c in option["choices"]) + "]"
    elif any(word in value for word in PATHS):
        kind = "str | os.PathLike[str]"
    else:
        kind = KINDS.get(re.split(r"[,|]", value)[0].rstrip("."), "str")
    if option["values"] == -1:
        mapping = "Mapping[str, str | int | float] | " if "=" in value else ""
        return f"{mapping}Sequence[{kind}] | {kind}"
    if option["values"] > 1:
        return "tuple[" + ", ".join([kind] * option["values"]) + "]"
    return kind


def options_of(command):
    return [o for o in command["options"] if not o["positional"] and not LEFT_OUT & set(o["names"])]


def behind_dashes(command):
    """The parameter for what stands behind --; None: nothing does."""
    if not command["program"]:
        return None
    return "program" if command["extras"] else "command"


def positionals_of(command):
    """(name, annotation, description, required, starred)"""
    out = [
        (parameter_name(o), type_of(o), o["description"], o["required"], o["values"] == -1)
        for o in command["options"]
        if o["positional"]
    ]
    if command["extras"]:
        out.insert(
            0,
            ("what", "str | os.PathLike[str]", "Sources and flags of the compiler, a kernel, or a trace", False, True),
        )
    return out


def signature(command):
    parts, starred = [], False
    for name, kind, _, required, many in positionals_of(command):
        starred = starred or many
        kind = "str | os.PathLike[str]" if many else kind
        parts.append(f"*{name}: {kind}" if many else f"{name}: {kind}" if required else f"{name}: {kind} | None = None")
    if not starred:
        parts.append("*")
    if behind_dashes(command):
        parts.append(f"{behind_dashes(command)}: Sequence[str | os.PathLike[str]] | None = None")
    for option in options_of(command):
        kind = type_of(option)
        name = parameter_name(option)
        parts.append(
            f"{name}: {kind}"
            if option["required"]
            else f"{name}: bool = False"
            if kind == "bool"
            else f"{name}: {kind} | None = None"
        )
    return parts + [PROGRESS]


def docstring(path, command):
    lines = [command["description"] + ".", "", f"simtlab {path}, with the options:"]
    entries = [(n, d) for n, _, d, _, _ in positionals_of(command)]
    if behind_dashes(command):
        text = "A program and its arguments; with sources, the arguments alone"
        if not command["extras"]:
            text = "The command that runs at each point: ['run', 'kernel.ptx', ...]"
        entries.append((behind_dashes(command), text))
    entries += [
        (parameter_name(o), o["description"] + (f" ({o['value']})" if o["value"] else "")) for o in options_of(command)
    ]
    for name, text in entries:
        lines += textwrap.wrap(
            f"{name}: {text}",
            132,
            initial_indent="    ",
            subsequent_indent="        ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    return textwrap.indent("\n".join(lines), "    ", lambda line: True).rstrip() + "\n" + COMMON


def function(path, command, body):
    head = f"def {path.replace(' ', '_')}(" + ",\n        ".join(signature(command)) + ") -> Result:"
    if not body:
        return head + " ...\n"
    text = docstring(path, command).strip().replace("\\", "\\\\").replace('"""', "'''")
    arguments = [o for o in command["options"] if o["positional"]]
    options = "".join(
        f'        ("{parameter_name(o)}", "{option_name(o)}", {parameter_name(o)}, {o["values"]}),\n'
        for o in arguments + options_of(command)
    )
    inputs = "what" if command["extras"] else "()"
    program = behind_dashes(command)
    return f'{head}\n    """{text}\n    """\n    return call("{path}", {inputs}, [\n{options}    ], {program}, progress, progress_interval)\n'


def names():
    return [c.replace(" ", "_") for c in COMMANDS]


def commands_py(tree):
    out = (
        HEAD
        + "from __future__ import annotations\n\nimport os\nfrom collections.abc import Callable, Mapping, Sequence\nfrom typing import Literal\n\n"
    )
    out += "from .call import Activity, call\nfrom .result import Result\n\n__all__ = " + json.dumps(names()) + "\n"
    return out + "".join("\n\n" + function(c, find(tree, c), True) for c in COMMANDS)


def stub(tree, folder):
    """Functions as generated; classes as simtlab/errors.py and result.py have them, which carry their types."""
    out = HEAD + "import os\nfrom collections.abc import Callable, Mapping, Sequence\nfrom typing import Literal\n\n"
    classes = [
        "CheckError",
        "Error",
        "InputError",
        "Interrupted",
        "Place",
        "ProgramError",
        "UnavailableError",
        "UnsupportedError",
        "UsageError",
    ]
    out += "".join(f"from .errors import {c} as {c}\n" for c in classes)
    out += "from .call import Activity as Activity, explain as explain\n"
    out += "from .result import Result as Result, load as load\n\n__version__: str\n\n"
    return out + "\n".join(function(c, find(tree, c), False) for c in COMMANDS)


def main():
    folder = pathlib.Path(sys.argv[1])
    target = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else folder
    tree = json.loads(package(folder).commands_json())
    for name, text in (("commands.py", commands_py(tree)), ("__init__.pyi", stub(tree, folder))):
        (target / (name + ".new")).write_text(text, encoding="utf-8")
        (target / (name + ".new")).replace(target / name)


if __name__ == "__main__":
    main()
