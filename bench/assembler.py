#!/usr/bin/env python3
"""What making machine code of PTX costs: processor time a thousand instructions, by the size of a kernel.

Kernels of four shapes are written in sizes from 500 to 50,000 instructions: straight code, many small loops, loops in
loops and branches, each with loads, stores, integers and floating point. `simtlab disasm --assemble` reads, optimises
and assembles each one; what it takes for a kernel without instructions is subtracted. PTX files may be named, too: they
are measured whole. Processor time is less at the mercy of other work than wall time; the least of --repeat runs counts.
Where loops are unrolled more instructions are made than there were, and the time is theirs: the last column is the time
over whichever are more.

usage: assembler.py [--simtlab PATH] [--arch sm_80] [--sizes 500,1000,...] [--repeat N] [--markdown] [PTX...]
Target: 100 ms for 1,000 instructions, whatever the size. Exit codes: 0 measured, 2 wrong arguments.
"""
import argparse
import json
import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = 100  # ms for 1,000 instructions
HEAD = """.version 7.8
.target sm_70
.address_size 64
.visible .entry kernel(.param .u64 in, .param .u64 out, .param .u32 n) {
  .reg .pred %p<9999>; .reg .b32 %r<40>, %c<9999>; .reg .f32 %f<40>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x; mul.wide.u32 %rd3, %r2, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
"""
INSTRUCTION = re.compile(r"^\s*(?:@!?%\w+\s+)?[a-z][\w.:]*\s[^;{}]*;|\bret;", re.M)


class Writer:
    """Instructions drawn by a seed; no value is known to the assembler."""

    def __init__(self, seed):
        self.random, self.lines, self.made, self.labels = random.Random(seed), [], 0, 0
        self.add(*(f"mad.lo.u32 %r{k}, %r2, {k}, %r1;" for k in range(8, 32)))
        self.add(*(f"cvt.rn.f32.u32 %f{k}, %r{k};" for k in range(8, 32)))

    def add(self, *lines):
        self.lines += lines
        self.made += len(lines)

    def some(self):
        a, b, c = (self.random.randrange(8, 32) for _ in range(3))
        self.add(
            self.random.choice(
                [
                    f"fma.rn.f32 %f{a}, %f{b}, %f{c}, %f{a};",
                    f"mad.lo.u32 %r{a}, %r{b}, %r{c}, %r{a};",
                    f"add.u32 %r{a}, %r{b}, %r{c};",
                    f"xor.b32 %r{a}, %r{b}, %r{c};",
                    f"shl.b32 %r{a}, %r{b}, 3;",
                    f"ld.global.f32 %f{a}, [%rd1+{4 * self.random.randrange(4096)}];",
                    f"st.global.f32 [%rd2+{4 * self.random.randrange(4096)}], %f{a};",
                ]
            )
        )

    def body(self, count):
        for _ in range(count):
            self.some()

    def label(self):
        self.labels += 1
        return self.labels

    def loop(self, inside):
        k = self.label()
        self.add(f"mov.u32 %c{k}, 0;")
        self.lines.append(f"L{k}:")
        inside()
        self.add(f"add.u32 %c{k}, %c{k}, 1;", f"setp.lt.u32 %p{k}, %c{k}, %r1;", f"@%p{k} bra L{k};")

    def branch(self, count):
        k, value = self.label(), self.random.randrange(8, 32)
        self.add(f"setp.gt.u32 %p{k}, %r{value}, %r2;", f"@%p{k} bra L{k};")
        self.body(count)
        self.lines.append(f"L{k}:")


def nest(writer, depth):
    writer.body(10)
    if depth:
        writer.loop(lambda: nest(writer, depth - 1))


SHAPES = {
    "straight": lambda w: w.body(100),
    "loops": lambda w: w.loop(lambda: w.body(40)),
    "loops in loops": lambda w: nest(w, 3),
    "branches": lambda w: w.branch(12),
}


def kernel_of(shape, size):
    writer = Writer(size)
    while writer.made < size:
        SHAPES[shape](writer)
    sums = [f"st.global.u32 [%rd2+{4 * k}], %r{k}; st.global.f32 [%rd2+{4 * k + 128}], %f{k};" for k in range(8, 32)]
    return HEAD + "\n".join([*writer.lines, *sums]) + "\n  ret;\n}\n"


def instructions_of(text):
    text = re.sub(r"//[^\n]*", "", text)
    return sum(not m[0].lstrip().startswith((".reg", ".param")) for m in INSTRUCTION.finditer(text.replace(";", ";\n")))


class Bench:
    def __init__(self, options):
        self.options = options
        self.start = 0.0
        with tempfile.TemporaryDirectory() as folder:
            empty = pathlib.Path(folder) / "empty.ptx"
            empty.write_text(HEAD + "  ret;\n}\n")
            self.start, _ = self.measured(empty)

    def measured(self, path):
        """Milliseconds beyond the start, and how many machine instructions were made."""
        listing = path.with_suffix(".json")
        command = [self.options.simtlab, "disasm", str(path), "--assemble", self.options.arch, f"--json={listing}"]
        least = float("inf")
        for _ in range(self.options.repeat):
            with tempfile.TemporaryDirectory() as cache:  # else the second one finds the code of the first
                environment = {**os.environ, "SIMTLAB_CACHE": cache}
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if done.returncode:
                sys.exit(f"assembler.py: {path}: {done.stderr.strip()}")
            least = min(least, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        kernels = [kernel for image in json.loads(listing.read_text())["images"] for kernel in image["kernels"]]
        return max(1000 * least - self.start, 0.0), sum(len(kernel["instructions"]) for kernel in kernels)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", metavar="PTX")
    parser.add_argument("--simtlab", help="default: that of the build folder")
    parser.add_argument("--arch", default="sm_80")
    parser.add_argument("--sizes", default="500,1000,2000,5000,10000,20000,50000")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    if not options.simtlab:
        built = sorted(ROOT.glob("build/*/bin/simtlab"), key=lambda p: p.stat().st_mtime)
        options.simtlab = str(built[-1]) if built else "simtlab"
    bench = Bench(options)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "kernel.ptx"
        texts = [(shape, kernel_of(shape, int(size))) for shape in SHAPES for size in options.sizes.split(",")]
        if options.files:
            texts = [(pathlib.Path(file).stem, pathlib.Path(file).read_text()) for file in options.files]
        for name, text in texts:
            path.write_text(text)
            count, (ms, made) = instructions_of(text), bench.measured(path)
            rows.append((name, count, made, ms, 1000 * ms / max(count, made)))
    head = ("kernels", "PTX instructions", "machine instructions", "ms", "ms for 1,000")
    lines = [(name, f"{count}", f"{made}", f"{ms:.0f}", f"{each:.0f}") for name, count, made, ms, each in rows]
    if options.markdown:
        print("| " + " | ".join(head) + " |", "|---" * len(head) + "|", sep="\n")
        print(*("| " + " | ".join(line) + " |" for line in lines), sep="\n")
    else:
        for line in (head, *lines):
            print(line[0].ljust(40), *(cell.rjust(21) for cell in line[1:]))
    over = sum(row[-1] > TARGET for row in rows)
    print(f"{len(rows) - over} of {len(rows)} within {TARGET} ms for 1,000 instructions; {bench.start:.0f} ms to start")
    return 0


if __name__ == "__main__":
    sys.exit(main())
