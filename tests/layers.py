#!/usr/bin/env python3
"""Checks the layer picture of docs/concepts/architecture.md from the #include lines of src/.

A folder may include itself and folders on lines above its own; folders on one line don't include each other.
Also checks the size budgets: no source file above 600 lines unless it says it is pure data.
usage: layers.py SOURCE_DIR
"""
import pathlib
import re
import sys

LAYERS = [
    ["base"],
    ["device", "probe/analysis", "result"],
    ["ptx", "options"],
    ["machine", "optimiser"],
    ["assembler"],
    ["exec"],
    ["stream", "check"],
    ["memory"],
    ["timing", "cache", "memory/traffic", "models/loops"],
    ["models", "models/counts"],
    ["gpu", "compile", "studies/validate"],
    ["gpu/shared"],
    ["hosts", "probe", "corun"],
    ["hosts/cuda", "hosts/opencl", "hosts/static_runtime", "corun/cycle"],
    ["corun/live"],
    ["corun/gate"],
    ["report", "studies/sweep"],
    ["report/viewer", "studies/toolkit"],
    ["studies/common", "studies/suite"],
    [
        "studies/disasm",
        "studies/dram",
        "studies/probe",
        "studies/suite/command",
        "studies/sweep/command",
        "studies/trace",
    ],
    ["studies/run"],
    ["studies/cache", "studies/check", "studies/corun", "studies/explain", "studies/predict"],
    ["studies/validate/areas"],
    ["cli"],
    ["cli/commands"],
    ["api"],
]
LEVEL = {folder: level for level, folders in enumerate(LAYERS) for folder in folders}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
HARD_LINES = 600


def layer_of(path):
    """The layer of a path below src/: its folder, or one below that which is a layer of its own. None: unknown."""
    parts = pathlib.PurePosixPath(path).parts
    folders = ("/".join(parts[:depth]) for depth in (3, 2, 1))
    return next((folder for folder in folders if folder in LEVEL), None)


def problems(source):
    found = []
    for path in sorted((source / "src").rglob("*")):
        if path.suffix not in (".h", ".cpp", ".inc"):
            continue
        folder = layer_of(path.relative_to(source / "src"))
        name = path.relative_to(source)
        if folder is None:
            found.append(f"{name}: its folder is not in the layer picture")
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > HARD_LINES and "pure data" not in "\n".join(lines[:12]):
            found.append(
                f"{name}: {len(lines)} lines; split it (hard budget {HARD_LINES}; tables say 'pure data' in their header)"
            )
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if not match or "/" not in match.group(1):
                continue
            target = layer_of(match.group(1))
            if target is None and not match.group(1).startswith("simtlab/"):
                found.append(f"{name}:{number}: quoted include of an unknown folder: {match.group(1)}")
            if target is None or target == folder:
                continue
            if LEVEL[target] >= LEVEL[folder]:
                found.append(f"{name}:{number}: {folder}/ may not include {target}/")
    return found


def self_test():
    """The checker itself must see a violation, or it proves nothing."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder)
        (source / "src" / "ptx").mkdir(parents=True)
        (source / "src" / "ptx" / "bad.cpp").write_text('#include "exec/executor.h"\n')
        (source / "src" / "gpu").mkdir()
        (source / "src" / "gpu" / "bad.cpp").write_text('#include "gpu/shared/socket.h"\n#include "nowhere/x.h"\n')
        assert problems(source) == [
            "src/gpu/bad.cpp:1: gpu/ may not include gpu/shared/",
            "src/gpu/bad.cpp:2: quoted include of an unknown folder: nowhere/x.h",
            "src/ptx/bad.cpp:1: ptx/ may not include exec/",
        ], problems(source)


def main():
    self_test()
    found = problems(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
