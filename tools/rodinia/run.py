#!/usr/bin/env python3
"""Builds, runs and checks the CUDA applications of Rodinia on a simulated GPU, and prints a Markdown table.

usage: run.py SUITE_DIR [--work DIR] [--simtlab PATH] [--gpu NAME] [--mode functional|timing|predict] [--apps a,b,...] [--keep]

SUITE_DIR is a checkout of the suite (folders cuda/ and openmp/); it is copied, never changed. Needs gcc and g++ for the
OpenMP versions that serve as references. Exit status 0 if every application passes.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import apps
import checks

HERE = pathlib.Path(__file__).resolve().parent


class Failed(Exception):
    pass


def call(command, cwd, timeout, env=None, tolerate=False):
    try:
        done = subprocess.run(
            command, cwd=cwd, timeout=timeout, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, input=b"\n" * 64
        )
    except subprocess.TimeoutExpired:
        raise Failed(f"{pathlib.Path(command[0]).name} ran over {timeout} s") from None
    stdout, stderr = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    if done.returncode != 0 and not tolerate:
        lines = [line for line in stderr.splitlines() if "error" in line.lower()] or stderr.splitlines()[-3:]
        raise Failed(f"{' '.join(map(str, command))[:80]}: exit {done.returncode}: {' / '.join(lines[:2])[:300]}")
    return stdout, stderr


def copy_suite(suite, work, folders=("cuda", "common")):
    for folder in folders:
        if (suite / folder).is_dir() and not (work / folder).exists():
            shutil.copytree(suite / folder, work / folder, symlinks=True)


def build_hooks(work):
    for hook in ("d2h_dump", "fixed_time"):
        call(
            [
                "gcc",
                "-shared",
                "-fPIC",
                "-O1",
                "-o",
                str(work / f"{hook}.so"),
                str(HERE / "hooks" / f"{hook}.c"),
                "-ldl",
            ],
            work,
            60,
        )


class Context:
    def __init__(self, app, options, work):
        self.app, self.options, self.work = app, options, work
        self.cuda = work / "cuda" / (app.folder or app.name)
        self.openmp = work / "openmp" / (app.reference[0][0] if app.reference else app.name)
        self.data = work / "data" / (app.data or app.folder.split("/")[0] or app.name)
        self.dump = work / f"{app.name}.dump"
        self.json = work / f"{app.name}.json"
        self.stdout = self.reference_stdout = ""
        self.extra = []  # more options of simtlab run

    def fill(self, words):
        return [w.replace("{hooks}", str(HERE / "hooks")).replace("{stubs}", str(HERE / "stubs")) for w in words]

    def build(self):
        objects = []
        for source in self.app.c:
            target = str(pathlib.Path(source).with_suffix(".c.o"))
            call(
                [
                    "gcc",
                    "-std=gnu89" if self.app.name == "backprop" else "-std=gnu99",
                    "-O2",
                    "-w",
                    "-c",
                    source,
                    "-o",
                    target,
                ]
                + self.fill(self.app.cflags),
                self.cuda,
                120,
            )
            objects.append(target)
        call(
            [self.options.simtlab, "build", "-w", "-O2"]
            + self.app.cu
            + objects
            + self.fill(self.app.flags)
            + ["-o", "app"],
            self.cuda,
            900,
        )

    def run_program(self, arguments):
        env = dict(os.environ)
        preload = []
        if self.app.dump:
            env["D2H_DUMP"] = str(self.dump)
            self.dump.unlink(missing_ok=True)
            preload.append(str(self.work / "d2h_dump.so"))
        if self.app.fixed_time:
            preload.append(str(self.work / "fixed_time.so"))
        program = ["./app"] + arguments
        if preload:
            # Through env, so that only the program is preloaded.
            program = ["env", "LD_PRELOAD=" + ":".join(preload)] + program
        what = ["predict"] if self.options.mode == "predict" else ["run", "--mode", self.options.mode]
        command = (
            [self.options.simtlab]
            + what
            + ["--gpu", self.options.gpu, f"--json={self.json}"]
            + self.extra
            + ["--"]
            + program
        )
        stdout, _ = call(command, self.cuda, self.options.timeout, env)
        return stdout

    def make_input(self):
        if self.app.make_input:
            self.data.mkdir(parents=True, exist_ok=True)
            self.app.make_input(self.data)

    def edit(self, file, old, new):
        path = self.cuda / file
        text = path.read_text()
        if old not in text:
            raise Failed(f"{file} has no '{old}'")
        path.write_text(text.replace(old, new))

    def reference(self):
        for folder, commands in self.app.reference:
            for command in commands:
                self.reference_stdout, _ = call(self.fill(command), self.work / "openmp" / folder, 300)

    def totals(self):
        result = json.loads(self.json.read_text())
        total = result["total"]
        launches = total.get("gpu.launches", {}).get("value") or sum(k.get("launches", 1) for k in result["kernels"])
        return launches, total.get("gpu.instructions.warp", {}).get("value", 0)


def run_app(app, options, work):
    context = Context(app, options, work)
    row = {"app": app.name, "build": "no", "run": "no", "check": "", "launches": "", "instructions": "", "seconds": ""}
    try:
        context.make_input()
        context.build()
        row["build"] = "yes"
        context.reference()
        begin = time.monotonic()
        context.stdout = context.run_program(app.run)
        row["seconds"] = f"{time.monotonic() - begin:.1f}"
        row["run"] = "yes"
        launches, instructions = context.totals()
        row["launches"], row["instructions"] = str(launches), f"{instructions / 1e6:.2f}"
        row["check"] = "equal: " + app.check(context)
        row["ok"] = True
    except (Failed, checks.Mismatch) as problem:
        row["check"] = f"FAILED: {problem}"
        row["ok"] = False
    except Exception as problem:  # a check that stumbles over missing output is a failed check
        row["check"] = f"FAILED: {type(problem).__name__}: {problem}"
        row["ok"] = False
    return row


def build_meschach(work):
    """The matrix library that leukocyte links."""
    library = work / "cuda" / "leukocyte" / "meschach_lib"
    if (library / "meschach.a").exists():
        return
    objects = [s for s in sorted(library.glob("*.c")) if b"main(" not in s.read_bytes()]
    for source in objects:
        call(["gcc", "-O2", "-w", "-c", source.name, "-o", source.stem + ".lib.o"], library, 120, tolerate=True)
    call(["ar", "rcs", "meschach.a"] + [o.name for o in sorted(library.glob("*.lib.o"))], library, 60)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path)
    parser.add_argument("--simtlab", default=str(HERE.parent.parent / "build" / "release" / "bin" / "simtlab"))
    parser.add_argument("--gpu", default="v100")
    parser.add_argument("--mode", choices=["functional", "timing", "predict"], default="functional")
    parser.add_argument("--apps", default="")
    parser.add_argument("--timeout", type=int, default=900)
    options = parser.parse_args()
    work = (options.work or pathlib.Path(tempfile.mkdtemp(prefix="rodinia-"))).resolve()
    copy_suite(options.suite, work, ("cuda", "openmp", "common"))
    build_hooks(work)
    chosen = [a for a in apps.APPS if not options.apps or a.name in options.apps.split(",")]
    if any(a.name == "leukocyte" for a in chosen):
        build_meschach(work)
    print(f"Device {options.gpu}, mode {options.mode}.\n")
    print("| application | builds | runs | launches | M warp instructions | s | result | compared with |")
    print("|---|---|---|---|---|---|---|---|")
    good = 0
    for app in chosen:
        row = run_app(app, options, work)
        good += row["ok"] and not app.note.startswith("second")
        note = f" ({app.note})" if app.note else ""
        print(
            f"| {row['app']} | {row['build']} | {row['run']} | {row['launches']} | {row['instructions']} | {row['seconds']} | {row['check']} | {app.how}{note} |",
            flush=True,
        )
    print(f"\n{good} of {sum(not a.note.startswith('second') for a in chosen)} applications correct.")
    return 0 if good == sum(not a.note.startswith("second") for a in chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
