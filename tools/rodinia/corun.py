#!/usr/bin/env python3
"""Records Rodinia applications, sized for mixes, and writes an applications file of them and the example programs (docs/lab/corun.md).

usage: corun.py SUITE_DIR OUT_DIR [--simtlab PATH] [--gpu NAME] [--apps a,b,...] [--examples FILE]

SUITE_DIR is a checkout of the suite; it is copied, never changed. Writes OUT_DIR/NAME.simt, each application's trace, and OUT_DIR/rodinia.toml, for

    simtlab validate corun --host cycle --applications OUT_DIR/rodinia.toml --mixes 30 [--update]

Inputs that the suite's repository lacks are made from a seed (inputs.py), and times and random seeds are fixed: `simtlab trace diff` finds no difference to another recording.
Nothing is checked here: run.py does that. Exit status 1 if an application could not be recorded; rodinia.toml is then not written.
"""
import argparse
import dataclasses
import functools
import os
import pathlib
import re
import sys
import tempfile

import apps
import inputs
import run


def sized(make, **sizes):
    return functools.partial(make, **sizes)


# Name, changes of its entry in apps.py, iterations in a mix. Sizes are such that some fill the simulated Titan X and some do not, and that each lasts between 20 and
# 500 us alone there: a mix of four then takes seconds. Names have a prefix, because the examples have a bfs, too.
APPLICATIONS = [
    ("b+tree", {}, 2),
    ("backprop", {"run": ["16384"], "dump": False}, 1),
    ("bfs", {"make_input": sized(inputs.bfs, nodes=16384)}, 1),
    (
        "dwt2d",
        {
            "run": ["image.bmp", "-d", "384x384", "-c", "1", "-f", "-5", "-l", "3"],
            "make_input": sized(inputs.dwt2d, width=384, height=384),
            "dump": False,
        },
        1,
    ),
    ("gaussian", {"run": ["-s", "32"], "dump": False}, 1),
    (
        "hotspot",
        {
            "run": ["256", "2", "2", "../../data/hotspot/temp", "../../data/hotspot/power", "output.out"],
            "make_input": sized(inputs.hotspot, side=256),
        },
        2,
    ),
    (
        "hotspot3D",
        {
            "run": ["128", "8", "4", "../../data/hotspot3D/power", "../../data/hotspot3D/temp", "output.out"],
            "make_input": sized(inputs.hotspot3d, side=128),
        },
        1,
    ),
    ("kmeans", {"make_input": sized(inputs.kmeans, points=16000)}, 1),
    ("lavaMD", {"run": ["-boxes1d", "2"]}, 1),
    ("lud", {}, 1),
    ("nn", {"make_input": sized(inputs.nn, records=16000)}, 8),
    ("nw", {}, 1),
    ("pathfinder", {"run": ["32768", "20", "4"]}, 2),
    ("srad", {"run": ["2", "0.5", "256", "256"], "make_input": sized(inputs.srad, rows=256, cols=256)}, 1),
    ("streamcluster", {"run": ["2", "3", "16", "128", "128", "20", "none", "output.txt", "1"]}, 1),
]
PREFIX = "rodinia-"


# In the copy of the suite, as measure.py does it: a Titan X would spend milliseconds on the double precision of these few boxes.
EDITS = {"lavaMD": ("main.h", "#define fp double", "#define fp float")}


def record(name, changes, options, work):
    context = run.Context(dataclasses.replace(next(a for a in apps.APPS if a.name == name), **changes), options, work)
    if name in EDITS:
        context.edit(*EDITS[name])
    context.make_input()
    context.build()
    trace = options.out / f"{name}.simt"
    trace.unlink(missing_ok=True)
    context.extra = ["--record", str(trace)]
    context.run_program(context.app.run)
    if not trace.exists():
        raise run.Failed("nothing was launched")
    launches, instructions = context.totals()
    print(
        f"{name}: {launches} launches, {instructions / 1e6:.2f} M warp instructions, {trace.stat().st_size / 1024:.0f} KiB",
        flush=True,
    )


def with_paths(text, folder):
    """The entries of an applications file, as seen from elsewhere."""

    def absolute(match):
        return f'{match.group(1)}"{(folder / match.group(2)).resolve()}"'

    return re.sub(r'^((?:run|launch)\s*=\s*)"([^"]*)"', absolute, text[text.index("[[application]]") :], flags=re.M)


def entry(name, iterations):
    return f'[[application]]\nname = "{PREFIX}{name}"\nrun = "{name}.simt"\niterations = {iterations}\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = run.HERE.parent.parent
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--simtlab", default=str(root / "build" / "release" / "bin" / "simtlab"))
    parser.add_argument("--gpu", default="titanx-maxwell")
    parser.add_argument("--apps", default="")
    parser.add_argument("--examples", type=pathlib.Path, default=root / "examples" / "corun.toml")
    parser.add_argument("--timeout", type=int, default=900)
    options = parser.parse_args()
    options.mode = "functional"
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    target = options.out / "rodinia.toml"
    target.unlink(missing_ok=True)
    names = [name for name, _, _ in APPLICATIONS]
    wanted = options.apps.split(",") if options.apps else names
    for name in wanted:
        if name not in names:
            parser.error(f"there is no application '{name}'; there are {', '.join(names)}")
    chosen = [a for a in APPLICATIONS if a[0] in wanted]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="rodinia-") as folder:
        work = pathlib.Path(folder).resolve()
        run.copy_suite(options.suite, work)
        run.build_hooks(work)
        for name, changes, _ in chosen:
            try:
                record(name, changes, options, work)
            except (run.Failed, OSError) as problem:
                failed += 1
                print(f"{name}: FAILED: {problem}", flush=True)
    if failed:
        return 1
    examples = with_paths(options.examples.read_text(), options.examples.parent)
    partial = target.with_suffix(".part")
    partial.write_text(
        "# Written by tools/rodinia/corun.py: Rodinia applications, recorded, and the examples.\n\n"
        + "\n".join(entry(n, i) for n, _, i in chosen)
        + "\n"
        + examples
    )
    os.replace(partial, target)
    print(f"{target}: {len(chosen)} applications of Rodinia, {examples.count('[[application]]')} examples")
    return 0


if __name__ == "__main__":
    sys.exit(main())
