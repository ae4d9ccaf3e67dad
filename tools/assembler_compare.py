#!/usr/bin/env python3
"""Compares the machine code that simtlab makes of PTX with that of the vendor's assembler, kernel by kernel.

Each PTX file is assembled for each architecture by both: by `simtlab disasm FILE --assemble SM`, and by ptxas, whose
cubin `simtlab disasm` reads. Of each kernel come registers, bytes of stack (spilled registers lie there) and of shared
memory, and of each loop the instructions by class and the cycles of a round:

  fma      multiply-add of floating point          global   loads, stores and atomics of global or generic addresses
  float    other floating point, conversions       shared   of shared memory
  int      integers, addresses, moves, predicates  local    of the stack: spills
  control  branches, barriers, convergence

Loops. Both assemblers say which line of the PTX an instruction comes from (ptxas with -lineinfo). Machine loops are
natural loops: bodies of back edges, without the loops inside. A loop belongs to the innermost loop of the PTX that most
of its instructions come from. Where one side has several of them (main loop and remainder), the one that was unrolled
most counts.

Unrolling. Figures are those of one round of the loop in the PTX. How many such rounds a machine loop holds is what it
has of a class that both sides must have alike, over what the PTX loop has: floating-point operations (a multiply-add is
two) of lines that are one operation in hardware; where there are none bytes of global memory, then of shared memory,
else how often a line of the loop occurs (median). A row is marked ~ if the bytes of global memory, counted like
this, differ by more than 30 % between the sides: then work was moved out of the loop, or saved, on one of them.

Slow paths (of divisions, roots) that lie behind the kernel's end do not count, nor do the functions that ptxas calls for
them.

Cycles are the sum of the stall counts in the control information: what the loop takes if a warp issues alone and every
load has arrived. Lone cycles count scoreboards, too: what it takes if loads, conversions and functions answer after 24
cycles, as loads of shared memory and L1 do. Waits are the places of a round where a warp waits for loads (one behind
another: the latencies add up). A kernel without loops is one row of its whole code.

usage: assembler_compare.py [--simtlab PATH] --ptxas PATH... [--arch sm_80,...] [--markdown] [--json FILE] PTX|FOLDER...
Exit codes: 0 compared, 2 wrong arguments, 7 a tool is missing.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from assembler_loops import CLASSES, MachineKernel, kernels_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
MISSING = 7
NEAR = 1.25  # "within 25 %"
TIME_LIMIT = 600  # of one run of an assembler
DOUBTFUL = 1.3
MNEMONICS = 24  # that are shown


def tool(given):
    found = shutil.which(given)
    if found is None:
        print(f"{pathlib.Path(sys.argv[0]).name}: {given} is not there", file=sys.stderr)
        sys.exit(MISSING)
    return found


def run(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"more than {TIME_LIMIT} s")


def first_line(text):
    """The first message, without the file and the kind that stand in front of it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return re.sub(r"^.*?\b(?:error|fatal)\s*:\s*", "", lines[0]) if lines else "no message"


def target_text(text, architecture):
    """The same module for an older target than its own, which assemblers refuse, and not for a debugger."""
    text = re.sub(r"^(\s*\.target\s[^\n]*?),\s*debug\b", r"\1", text, flags=re.M)
    number = int(re.sub(r"\D", "", architecture))
    have = re.search(r"^\s*\.target\s+sm_(\d+)", text, re.M)
    if have and int(have[1]) > number:
        text = text[: have.start()] + f".target sm_{number}" + text[have.end() :]
    return text


class Compared:
    """One file for one architecture."""

    def __init__(self, options, file, origin, architecture):
        self.options, self.file, self.origin, self.architecture = options, file, origin, architecture
        self.rows, self.refused = [], []  # rows of loops; (kernel, side, reason)

    def listed(self, command):
        said = run([self.options.simtlab, "disasm", *command, "--json"])
        try:
            images = json.loads(said.stdout)["images"]
        except (ValueError, KeyError):
            return None, first_line(said.stderr)
        return images, ""

    def vendor(self, path):
        text = path.read_text(encoding="utf-8", errors="replace")
        cubin = path.with_suffix(".cubin")
        reason = "no assembler for it"
        for ptxas in self.options.ptxas:
            for version in (None, "8.8", "8.4"):
                if version:
                    path.write_text(re.sub(r"^(\s*\.version\s+)[\d.]+", rf"\g<1>{version}", text, flags=re.M))
                said = run([ptxas, f"-arch={self.architecture}", "-lineinfo", str(path), "-o", str(cubin)])
                path.write_text(text)
                if said.returncode == 0:
                    return self.listed([str(cubin)])
                message = said.stderr + said.stdout
                if "is not defined for option" not in message:
                    reason = first_line(message)
                if "Unsupported .version" not in message:
                    break
        return None, reason

    def compare(self, folder):
        text = target_text(self.file.read_text(encoding="utf-8", errors="replace"), self.architecture)
        path = pathlib.Path(tempfile.mkdtemp(dir=folder)) / self.file.name
        path.write_text(text)
        kernels = kernels_of(text)
        if self.options.kernel:
            kernels = {k: v for k, v in kernels.items() if self.options.kernel in k}
        ours, why = self.listed([str(path), "--assemble", self.architecture])
        own = {k["name"]: k for image in ours or [] for k in image["kernels"]}
        reasons = {k["name"]: k["reason"] for image in ours or [] for k in image.get("not_assembled", [])}
        theirs, refusal = self.vendor(path)
        other = {k["name"]: k for image in theirs or [] for k in image["kernels"]}
        shutil.rmtree(path.parent)
        for name, ptx in kernels.items():
            if name not in own:
                self.refused.append((name, "simtlab", reasons.get(name, why or "not listed")))
            if name not in other:
                self.refused.append((name, "ptxas", refusal or "not listed"))
            if name in own and name in other:
                self.kernel(ptx, MachineKernel(own[name], ptx), MachineKernel(other[name], ptx))
        return self

    def kernel(self, ptx, ours, theirs):
        base = {
            "origin": self.origin,
            "file": self.file.name,
            "kernel": ptx.name,
            "arch": self.architecture,
            "ours": ours.facts,
            "theirs": theirs.facts,
        }
        loops = [loop for loop in ptx.loops if ours.main_loop(loop) and theirs.main_loop(loop)]
        # The hottest: the innermost, then that with most lines.
        loops.sort(key=lambda loop: (-loop.depth, -len(ptx.lines[loop]), loop.header))
        one_sided = [loop for loop in ptx.loops if bool(ours.main_loop(loop)) != bool(theirs.main_loop(loop))]
        base["one_sided"] = len(one_sided)
        for rank, loop in enumerate(loops):
            a, b = ours.main_loop(loop), theirs.main_loop(loop)
            doubtful = False
            if a.global_rounds and b.global_rounds:
                ratio = a.global_rounds / a.rounds * b.rounds / b.global_rounds
                doubtful = not 1 / DOUBTFUL < ratio < DOUBTFUL
            where = {"line": min(ptx.lines[loop]), "depth": loop.depth, "hottest": rank == 0, "doubtful": doubtful}
            self.rows.append(base | where | self.sides(a, b))
        if not loops:
            where = {"line": 0, "depth": 0, "hottest": True, "doubtful": bool(ptx.loops)}
            self.rows.append(base | where | self.sides(ours.whole, theirs.whole))

    @staticmethod
    def sides(ours, theirs):
        more = {
            m: ours.mnemonics[m] / ours.rounds - theirs.mnemonics[m] / theirs.rounds
            for m in sorted({*ours.mnemonics, *theirs.mnemonics})
        }
        return {"loop_ours": ours.row(), "loop_theirs": theirs.row(), "more": more}


# What is printed


def ratio(row, what):
    if what in ("registers", "instructions"):
        return row["ours"][what] / max(1, row["theirs"][what])
    return row["loop_ours"][what] / max(1e-9, row["loop_theirs"][what])


def pair(row, what):
    if what in row["ours"]:
        return f"{row['theirs'][what]} {row['ours'][what]}"
    return f"{row['loop_theirs'][what]:.4g} {row['loop_ours'][what]:.4g}"


HEAD = ("arch", "kernel", "loop", "registers", "stack", "shared bytes", "rounds", *CLASSES, "all", "cycles", "waits")


def short(name, most=44):
    """The name without what mangling and templates put behind it."""
    found = re.match(r"_ZN?K?(\d+)(.*)", name)
    if found and len(found[2]) >= int(found[1]):
        rest = found[2][int(found[1]) :]
        nested = re.match(r"(\d+)(.*)", rest)
        inner = nested[2][: int(nested[1])] if nested and name.startswith("_ZN") else ""
        name = found[2][: int(found[1])] + ("::" + inner if inner else "")
    return name if len(name) <= most else name[: most - 1] + "…"


def cells(row):
    if row["depth"] == 0:
        loop = "whole"
    else:
        loop = f"{row['line']}{'' if row['depth'] == 1 else '/' + str(row['depth'])}"
    return [
        row["arch"],
        f"{row['file'].removesuffix('.ptx')}: {short(row['kernel'])}",
        loop + ("~" if row["doubtful"] else ""),
        pair(row, "registers"),
        pair(row, "stack_bytes"),
        pair(row, "shared_bytes"),
        *(pair(row, what) for what in ("rounds", *CLASSES, "all", "cycles", "waits")),
    ]


def table(head, lines, markdown):
    if markdown:
        out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        return "\n".join(out + ["| " + " | ".join(line) + " |" for line in lines])
    widths = [max(map(len, column)) for column in zip(head, *lines)]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in [head, *lines])


def middle(rows, what):
    return f"{statistics.median(ratio(r, what) for r in rows):.2f}" if rows else "-"


def share(rows, what, near=NEAR):
    """Of those that are at most that much above."""
    return f"{100 * sum(ratio(r, what) <= near for r in rows) / len(rows):.0f} %" if rows else "-"


def off(rows, what):
    """By how much the two differ, whichever has more: the median."""
    return f"{100 * statistics.median(abs(ratio(r, what) - 1) for r in rows):.0f} %" if rows else "-"


def representatives(rows):
    """The hottest loops; of the instances of a template the middle one."""
    groups = collections.defaultdict(list)
    for r in rows:
        if r["hottest"]:
            groups[r["arch"], r["origin"], r["file"], short(r["kernel"])].append(r)
    return [sorted(g, key=lambda r: ratio(r, "cycles"))[(len(g) - 1) // 2] for g in groups.values()]


def worst(rows, count):
    """By cycles; of instances of a template, and of a kernel for several architectures, the worst."""
    seen = {}
    for r in sorted((r for r in rows if r["hottest"]), key=lambda r: -ratio(r, "cycles")):
        seen.setdefault((r["file"], short(r["kernel"])), r)
    return list(seen.values())[:count]


def by_mnemonic(rows, markdown):
    """Which instructions simtlab has more of in loops, or fewer, in percent of the vendor's loop: mean of kernels."""
    some = [r for r in representatives(rows) if r["depth"]]
    more, kernels = collections.Counter(), collections.Counter()
    for r in some:
        for mnemonic, count in r["more"].items():
            more[mnemonic] += 100 * count / r["loop_theirs"]["all"] / len(some)
            kernels[mnemonic] += count > 0.01
    shown = sorted(more, key=lambda m: -abs(more[m]))[:MNEMONICS]
    lines = [[m, f"{more[m]:+.1f} %", str(kernels[m])] for m in sorted(shown, key=lambda m: -more[m])]
    return table(["instruction", "more in loops", "in kernels"], lines, markdown)


def summary(rows, refused, markdown):
    """Medians of simtlab over ptxas, by how much they differ, and how many are at most 25 % above. Templates count once."""
    rows = representatives(rows)
    head = ["arch", "origin", "kernels", "registers", "off by", "within 25 %", "with loops"]
    for what in (
        "loop instructions",
        "loop cycles",
        "lone cycles",
        "waits",
        "straight instructions",
        "straight cycles",
    ):
        head += [what, "off by", "within 25 %"]
    lines = []
    for arch in sorted({r["arch"] for r in rows}):
        origins = sorted({r["origin"] for r in rows if r["arch"] == arch})
        for origin in [*origins, "all"] if len(origins) > 1 else ["all"]:
            some = [r for r in rows if r["arch"] == arch and origin in (r["origin"], "all")]
            looping, straight = [r for r in some if r["depth"]], [r for r in some if not r["depth"]]
            loading = [r for r in looping if r["loop_theirs"]["waits"] > 0]
            line = [
                arch,
                origin,
                str(len(some)),
                middle(some, "registers"),
                off(some, "registers"),
                share(some, "registers"),
                str(len(looping)),
            ]
            columns = ((looping, "all"), (looping, "cycles"), (looping, "lone cycles"), (loading, "waits"))
            for group, what in (*columns, (straight, "instructions"), (straight, "cycles")):
                line += [middle(group, what), off(group, what), share(group, what)]
            lines.append(line)
    out = table(head, lines, markdown)
    reasons = collections.Counter((side, re.sub(r"line \d+|'[^']*'|%\w+", "...", why)) for _, _, side, why in refused)
    if reasons:
        out += "\n\n" + table(
            ["refused by", "kernels", "reason"],
            [[side, str(n), why.replace("|", "\\|")[:160]] for (side, why), n in reasons.most_common()],
            markdown,
        )
    return out


def ptx_files(paths):
    """(file, origin): the origin is the folder it was named by, or its own."""
    for path in map(pathlib.Path, paths):
        if path.is_dir():
            yield from ((file, path.name) for file in sorted(path.rglob("*.ptx")))
        else:
            yield path, path.resolve().parent.name


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", metavar="PTX|FOLDER")
    parser.add_argument("--simtlab", help="default: that of the build folder")
    parser.add_argument("--ptxas", action="append", default=[], help="may be given twice: each knows other generations")
    parser.add_argument("--arch", default="sm_80", help="with commas between: sm_75,sm_80")
    parser.add_argument("--kernel", default="", help="only kernels whose name contains this")
    parser.add_argument("--loops", action="store_true", help="every loop, not only the hottest of a kernel")
    parser.add_argument("--worst", type=int, default=20, help="rows of the list of worst kernels")
    parser.add_argument("--brief", action="store_true", help="no row for each kernel")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--json", metavar="FILE", help="every row, with every figure")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if not options.simtlab:
        built = sorted(ROOT.glob("build/*/bin/simtlab"), key=lambda p: p.stat().st_mtime)
        options.simtlab = str(built[-1]) if built else "simtlab"
    missing = [p for p in options.paths if not pathlib.Path(p).exists()]
    if missing:
        parser.error(f"{missing[0]}: no such file or folder")
    options.simtlab = tool(options.simtlab)
    options.ptxas = [tool(p) for p in options.ptxas or ["ptxas"]]
    return options


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = [
            Compared(options, file, origin, arch)
            for file, origin in ptx_files(options.paths)
            for arch in options.arch.split(",")
        ]
        done = list(pool.map(lambda c: c.compare(folder), work))
    rows = [row for c in done for row in c.rows]
    refused = [(c.file.name, *r) for c in done for r in c.refused]
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"rows": rows, "refused": refused}, indent=1))
    if not rows:
        print("no kernel was assembled by both\n")
    else:
        shown = [r for r in rows if options.loops or r["hottest"]]
        if not options.brief:
            print("Each cell: ptxas, then simtlab.\n")
            print(table(list(HEAD), [cells(r) for r in shown], options.markdown) + "\n")
        print("Most cycles over ptxas, each kernel once:\n")
        print(table(list(HEAD), [cells(r) for r in worst(rows, options.worst)], options.markdown) + "\n")
        print(by_mnemonic(rows, options.markdown) + "\n")
    print(summary(rows, refused, options.markdown))
    return 0


if __name__ == "__main__":
    sys.exit(main())
