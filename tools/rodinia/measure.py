#!/usr/bin/env python3
"""Runs the Rodinia applications of data/measured/kernels.csv at cycle level with the published arguments, for `simtlab validate timing --results`, or
through the analytical models (--predict) for `simtlab validate predict --results`.

usage: measure.py SUITE_DIR RESULTS_DIR [--simtlab PATH] [--apps a,b,...] [--timeout SECONDS] [--predict]

SUITE_DIR is a checkout of the suite; it is copied, never changed. Writes RESULTS_DIR/DEVICE/APP.json (APP.predict.json). Inputs that the suite's repository
lacks are made from a seed in the published sizes (inputs.py). Nothing is checked here: run.py does that.
"""
import argparse
import dataclasses
import pathlib
import random
import sys
import tempfile
import time

import apps
import inputs
import run

# Table 5.1 of SHARK: instructions / (instructions per cycle x time) is 1.0 GHz, the base clock; the device file has the boost clock.
TITAN_X = 'inherits = "titanx-maxwell"\n[sm]\nclock = { value = "1 GHz", source = "instructions / (IPC x time) of the published profile" }\n'


def hotspot_1024(data):
    inputs.hotspot(data, side=1024)


def btree_million(data):
    inputs.btree(data, count=1000000)
    (data / "command.txt").write_text("j 6000 3000\nk 10000\nq\n")


def kmeans_819200(data, points=819200, features=34):
    """Values do not matter for the time of an iteration, and one is enough (-t): a mean over launches is compared."""
    rng = random.Random(10)
    rows = [" ".join(f"{rng.random():.2f}" for _ in range(features)) for _ in range(256)]
    with open(data / "points.txt", "w") as f:
        for i in range(points):
            f.write(f"{i} {rows[i % 256]}\n")


def leukocyte_36(data):
    inputs.leukocyte(data, grid=(12, 3))


# Application, device, changes of its entry in apps.py. edit: in the copy of the suite. lavaMD: in 0.67 ms a Titan X (96 fp64 lanes) cannot
# do the published work in double precision, so single was measured. leukocyte: 11 thousand threads are 36 cells (blocks of 320); 3 M instructions are
# an iteration or two of the 500 that one launch of the public source makes at most; one is run.
RUNS = [
    ("b+tree", "v100", {"make_input": btree_million}),
    ("backprop", "v100", {"run": ["65536"]}),
    (
        "hotspot",
        "v100",
        {
            "run": ["1024", "2", "2", "../../data/hotspot/temp", "../../data/hotspot/power", "output.out"],
            "make_input": hotspot_1024,
        },
    ),
    (
        "kmeans",
        "v100",
        {"run": ["-o", "-t", "900000", "-i", "../../data/kmeans/points.txt"], "make_input": kmeans_819200},
    ),
    ("srad", "v100", {"run": ["4", "0.5", "502", "458"]}),
    ("srad", "titanx-maxwell", {"run": ["4", "0.5", "502", "458"]}),
    (
        "lavaMD",
        "titanx-maxwell",
        {"run": ["-boxes1d", "5"], "edit": ("main.h", "#define fp double", "#define fp float")},
    ),
    (
        "leukocyte",
        "titanx-maxwell",
        {
            "make_input": leukocyte_36,
            "run": ["../../../data/leukocyte/testfile.avi", "1"],
            "edit": ("track_ellipse.c", "int iterations = 500;", "int iterations = 1;"),
        },
    ),
    ("heartwall", "titanx-maxwell", {"run": ["../../data/heartwall/test.avi", "2"]}),
]


def measure(name, device, changes, options, work):
    edit = changes.pop("edit", None)
    app = dataclasses.replace(next(a for a in apps.APPS if a.name == name), dump=False, fixed_time=False, **changes)
    options.gpu, options.mode = device, "predict" if options.predict else "timing"
    if device == "titanx-maxwell":
        options.gpu = str(work / "titanx.toml")
        pathlib.Path(options.gpu).write_text(TITAN_X)
    context = run.Context(app, options, work)
    if edit:
        context.edit(*edit)
    if name == "leukocyte":
        run.build_meschach(work)
    context.make_input()
    context.build()
    target = options.results / device / (f"{name}.predict.json" if options.predict else f"{name}.json")
    target.parent.mkdir(parents=True, exist_ok=True)
    context.json = target.resolve()
    begin = time.monotonic()
    context.run_program(app.run)
    print(f"{name} on {device}: {time.monotonic() - begin:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--simtlab", default=str(run.HERE.parent.parent / "build" / "release" / "bin" / "simtlab"))
    parser.add_argument("--apps", default="")
    parser.add_argument("--timeout", type=int, default=3600)
    parser.add_argument("--predict", action="store_true")
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="rodinia-") as folder:
        work = pathlib.Path(folder).resolve()
        run.copy_suite(options.suite, work)
        for name, device, changes in RUNS:
            if options.apps and name not in options.apps.split(","):
                continue
            try:
                measure(name, device, changes, options, work)
            except run.Failed as problem:
                failed += 1
                print(f"{name} on {device}: FAILED: {problem}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
