#!/usr/bin/env python3
"""Compares the memory that kernels leave when simtlab executes their PTX and when it executes their machine code.

The vendor's assembler (ptxas) makes the machine code; nothing of simtlab needs it, and no GPU is needed. Kinds:
  instructions   one PTX instruction each, over corner values, from simtlab's own opcode table
  random         random programs: loops, divergence, barriers, shuffles, vectors, shared memory, atomics, calls, aliasing
  loops          random loops in loops over arrays, with few values at a time
  tests          kernels of tests/data/machine: control flow, memory, atomics, calls
  examples       the programs of examples/ and tests/cuda, compiled by `simtlab build`: what they print; kernels of
                 examples/opencl
Every byte of every buffer is compared. Where the PTX instruction is an approximation (.approx, .full), values that are
within two units in the last place are counted apart, as "near".

With --optimised the other side is the PTX itself, as simtlab's optimiser leaves it (`simtlab run --lowering optimised`), with
--assembled the machine code that simtlab makes of it (`--lowering machine`). Neither needs ptxas.

usage: machine_trust.py [--optimised | --assembled] [--ptxas PATH]... [--arch sm_80,...] [-O 0,1,3] [--random N] [KIND...]
Exit codes: 0 all equal, 1 some differ, 2 wrong arguments, 7 a tool is missing.
"""
import argparse
import collections
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from machine_kernels import files, instructions, kernel, loops, programs, whole

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = ("instructions", "random", "loops", "tests", "examples")
KIND_OF = {"opencl": "examples"}
ARCHITECTURES = "sm_70,sm_75,sm_80,sm_86,sm_89,sm_90"
OUTCOMES = ("equal", "near", "known", "refused", "failed", "different", "ptx")
MISSING = 7
ERROR = re.compile(r"line (\d+); error")


def missing(what, hint):
    print(f"machine_trust.py: {what} is not there; {hint}", file=sys.stderr)
    sys.exit(MISSING)


def built(name, given):
    """A program of the build folder."""
    if given:
        return given
    found = sorted(ROOT.glob(f"build/*/bin/{name}"), key=lambda p: p.stat().st_mtime)
    if not found:
        missing(name, f"build it: ninja -C build/release {name}")
    return str(found[-1])


def assembler_of(architecture, assemblers, folder):
    """The first assembler that knows the architecture."""
    probe = folder / f"probe.{architecture}.ptx"
    probe.write_text(f".version 8.0\n.target {architecture}\n.address_size 64\n")
    for path in assemblers:
        command = [path, f"-arch={architecture}", str(probe), "-o", str(folder / "probe.cubin")]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return path
    return None


class Trust:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.counts = collections.defaultdict(collections.Counter)  # by kind, architecture, level
        self.refusals = collections.defaultdict(lambda: collections.defaultdict(set))  # by reason: kernels
        self.unwanted = collections.Counter()  # kernels that ptxas refuses
        self.bad = []

    def assemble(self, ptxas, architecture, level, ptx, cubin):
        command = [ptxas, f"-arch={architecture}", f"-O{level}", str(ptx), "-o", str(cubin)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def accepted(self, ptxas, architecture, kernels, path):
        """Writes a module of the kernels that the assembler takes for this architecture."""
        left = list(kernels)
        for _ in range(20):
            text, owners = kernel.Module(left, architecture[3:]).text()
            path.write_text(text)
            run = self.assemble(ptxas, architecture, 0, path, path.with_suffix(".cubin"))
            if run.returncode == 0:
                break
            bad = {owners[int(line)] for line in ERROR.findall(run.stdout + run.stderr)} - {None}
            if not bad:
                print(f"{path}: {run.stderr.strip()[:400]}", file=sys.stderr)
                return []
            self.unwanted[architecture] += len(bad)
            left = [k for k in left if k not in bad]
        return left

    def module(self, kind, ptxas, architecture, number, kernels):
        path = self.folder / f"{kind}_{architecture}_{number}.ptx"
        if self.options.own:
            path.write_text(kernel.Module(kernels, architecture[3:]).text()[0])
        else:
            kernels = self.accepted(ptxas, architecture, kernels, path)
        if not kernels:
            return []
        suite = [f"ptx {path.name}"]
        if self.options.own:
            suite.append(
                "optimised optimised" if self.options.own == "optimised" else f"assembled assembled {architecture}"
            )
        for level in [] if self.options.own else self.options.levels:
            cubin = path.with_suffix(f".O{level}.cubin")
            run = self.assemble(ptxas, architecture, level, path, cubin)
            if run.returncode != 0:
                print(f"{path} -O{level}: {run.stderr.strip()[:400]}", file=sys.stderr)
                continue
            suite.append(f"cubin {level} {cubin.name}")
        suite += [k.line for k in kernels]
        path.with_suffix(".suite").write_text("\n".join(suite) + "\n")
        command = [self.options.compare, str(path.with_suffix(".suite"))]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            print(f"{path}: compare_machine ends with {run.returncode}: {run.stderr.strip()[:400]}", file=sys.stderr)
            self.bad.append((kind, architecture, "?", path.name, "", "compare_machine failed"))
        what = {k.name: k.what for k in kernels}
        found = [line.split("\t", 4)[1:] for line in run.stdout.splitlines()]
        if not self.options.keep:
            for file in self.folder.glob(path.stem + ".*"):
                file.unlink()
        return [(level, name, outcome, text, what[name]) for level, name, outcome, text in found]

    def note(self, kind, architecture, level, name, outcome, text, what):
        if outcome == "different" and instructions.known(what, architecture):
            outcome, text = "known", instructions.known(what, architecture)
        self.counts[kind, architecture, level][outcome] += 1
        if outcome == "near":
            text = "approximations: " + re.split(r"[ (]", what)[0]
        if outcome in ("near", "known", "refused", "failed", "ptx"):
            reason = re.sub(r" at 0x[0-9a-f]+ of kernel \S+", "", text)
            reason = re.sub(r"\b(U?R|U?P)\d+\b|0x[0-9a-f]+", r"\1_", reason)
            self.refusals[outcome, reason][architecture].add(what)
        if outcome in ("different", "failed"):
            self.bad.append((kind, architecture, level, name, what, text))

    def compare(self, kind, ptxas, architecture, kernels):
        if self.options.only:
            kernels = [k for k in kernels if self.options.only in k.name or self.options.only in k.what]
        size = self.options.module
        parts = [kernels[i : i + size] for i in range(0, len(kernels), size)]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            runs = [pool.submit(self.module, kind, ptxas, architecture, i, part) for i, part in enumerate(parts)]
            for run in runs:
                for level, name, outcome, text, what in run.result():
                    self.note(kind, architecture, level, name, outcome, text, what)

    def report(self):
        rows = [("kind", "generation", "level", "kernels", *OUTCOMES)]
        for (kind, architecture, level), counts in self.counts.items():
            row = [kind, architecture, level if level == self.options.own else f"-O{level}", sum(counts.values())] + [
                counts[o] for o in OUTCOMES
            ]
            rows.append(tuple(str(c) for c in row))
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        for row in rows:
            print("  ".join(c.rjust(w) if i > 2 else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths))).rstrip())
        for architecture, count in self.unwanted.items():
            print(f"{architecture}: {count} kernels left out, ptxas does not take them for it")
        for (outcome, reason), by_architecture in sorted(self.refusals.items()):
            whats = set().union(*by_architecture.values())
            print(f"{outcome}: {reason} [{', '.join(sorted(by_architecture))}; {len(whats)}: {sorted(whats)[0]}]")
        for kind, architecture, level, name, what, text in self.bad[: self.options.show]:
            print(f"DIFFERENT {kind} {architecture} -O{level} {name}: {what}\n  {text}")
            print(
                f"  again: machine_trust.py --arch {architecture} -O {level} {self.options.again} --only {name} {kind}"
            )
        if len(self.bad) > self.options.show:
            print(f"... and {len(self.bad) - self.options.show} more")


def run(options, folder):
    trust = Trust(options, folder)
    forms = ""
    if "instructions" in options.kinds:
        forms = subprocess.run([options.compare, "forms"], capture_output=True, text=True, check=True).stdout
    for architecture in options.architectures:
        ptxas = None if options.own else assembler_of(architecture, options.assemblers, folder)
        if ptxas is None and not options.own:
            print(f"{architecture}: no assembler knows it; left out", file=sys.stderr)
            continue
        if "instructions" in options.kinds:
            kernels = instructions.generate(forms, options.limit, options.seed)
            trust.compare("instructions", ptxas, architecture, kernels)
        programs.Program.open_rounding = options.own or "0" not in options.levels
        for kind, shape in (("random", programs.Program), ("loops", loops.Few)):
            if kind in options.kinds:
                of_kind = programs.generate(options.random, options.seed, int(architecture[3:]), shape)
                trust.compare(kind, ptxas, architecture, of_kind)
        if "tests" in options.kinds:
            for kernels in files.tests(int(architecture[3:])):
                trust.compare("tests", ptxas, architecture, kernels)
        if "examples" in options.kinds and not options.own:
            trust.compare("opencl", ptxas, architecture, files.opencl(options, folder))
            for level, *found in whole.compare(options, ptxas, architecture, options.levels, folder):
                trust.note("examples", architecture, level, *found)
    trust.report()
    return 1 if trust.bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS) + " (default: all)")
    parser.add_argument("--ptxas", action="append", default=[], help="more than one: each knows other generations")
    parser.add_argument("--arch", default=ARCHITECTURES, help=f"default: {ARCHITECTURES}")
    parser.add_argument("-O", dest="levels", default="0,1,3", help="levels of ptxas, default 0,1,3")
    parser.add_argument("--random", type=int, default=300, metavar="N", help="random programs, default 300")
    parser.add_argument("--limit", type=int, default=24, metavar="N", help="spellings of an instruction form")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="TEXT", help="kernels whose name or instruction contains it")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--module", type=int, default=200, metavar="N", help="kernels in one module")
    parser.add_argument(
        "--optimised", dest="own", action="store_const", const="optimised", help="compare with simtlab's optimised PTX"
    )
    parser.add_argument(
        "--assembled", dest="own", action="store_const", const="assembled", help="compare with simtlab's machine code"
    )
    parser.add_argument("--show", type=int, default=20, metavar="N", help="differences that are printed")
    parser.add_argument("--keep", metavar="FOLDER", help="keeps PTX, cubins and suites there")
    parser.add_argument("--compare", help="the program compare_machine")
    parser.add_argument("--simtlab", help="the program simtlab")
    options = parser.parse_args()
    for kind in options.kinds:
        if kind not in KINDS:
            parser.error(f"'{kind}' is none of {', '.join(KINDS)}")
    options.kinds = options.kinds or list(KINDS)
    options.architectures, options.levels = options.arch.split(","), options.levels.split(",")
    options.assemblers = options.ptxas or [p for p in (shutil.which("ptxas"), "/usr/local/cuda/bin/ptxas") if p]
    options.assemblers = [p for p in options.assemblers if shutil.which(p)]
    if not options.assemblers and not options.own:
        missing("ptxas", "pip install nvidia-cuda-nvcc-cu12 has it, --ptxas names it")
    options.compare, options.simtlab = built("compare_machine", options.compare), built("simtlab", options.simtlab)
    options.again = f"--seed {options.seed} --random {options.random} --limit {options.limit}"
    if options.keep:
        pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
        return run(options, pathlib.Path(options.keep))
    with tempfile.TemporaryDirectory(prefix="machine_trust.") as folder:
        return run(options, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
