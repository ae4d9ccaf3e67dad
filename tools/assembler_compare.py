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
load has arrived. Waits are the places of a round where a warp waits for loads (one behind another: the latencies add up).
A kernel without loops is one row of its whole code.

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

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLASSES = ("fma", "float", "int", "global", "shared", "local", "control")
MISSING = 7
NEAR = 1.25  # "within 25 %"
TIME_LIMIT = 600  # of one run of an assembler
DOUBTFUL = 1.3
MNEMONICS = 24  # that are shown

MULTIPLY_ADD = re.compile(r"(FFMA32I|FFMA|DFMA|HFMA2|HMMA|IMMA|DMMA)\b")
FLOAT = re.compile(
    r"(FADD|FADD32I|FMUL|FMUL32I|DADD|DMUL|DSETP|FSETP|FSET|FMNMX|FSEL|FCHK|FSWZADD|MUFU|HADD2|HMUL2|HSET2|HSETP2"
    r"|HMNMX2|F2F|F2FP|F2I|F2IP|I2F|I2FP|FRND)\b"
)
MEMORY = {
    "global": re.compile(
        r"(LDG|STG|LD|ST|ATOM|ATOMG|RED|LDGSTS|CCTL|ERRBAR|TEX|TLD|TLD4|TXQ|SULD|SUST|SURED|SUATOM)\b"
    ),
    "shared": re.compile(r"(LDS|STS|ATOMS|LDSM|ARRIVES|SYNCS)\b"),
    "local": re.compile(r"(LDL|STL)\b"),
}
CONTROL = re.compile(
    r"(BRA|BRX|JMP|JMX|CALL|RET|EXIT|BSSY|BSYNC|BREAK|BMOV|WARPSYNC|YIELD|NOP|NANOSLEEP|BAR|MEMBAR|DEPBAR|LDGDEPBAR|KILL"
    r"|RPCMOV|BPT|WARPSYNC|UBLKCP)\b"
)
# A move by a unit of floating point: nothing is multiplied.
MOVE_BY_HALF = re.compile(r"HFMA2(\.MMA)?(\.BF16)?(_V2)? R\d+, -RZ, RZ,")

# PTX that is one operation of floating point in hardware, and how many it counts.
PTX_FLOAT = re.compile(r"\b(fma|mad|mul|add|sub)(\.(?:rn|rz|rm|rp|ftz|sat|relu))*\.(f32|f64|f16x2|f16|bf16x2|bf16)\b")
MACHINE_FLOAT = re.compile(r"(FFMA|FADD|FMUL|DFMA|DADD|DMUL|HFMA2|HADD2|HMUL2)\b")
PTX_ACCESS = re.compile(
    r"\b(ld|st|ldu|atom|red)((?:\.\w+(?:::\w+)*)*?)\.(global|shared|shared::cta)((?:\.\w+(?:::\w+)*)*)"
)
BYTES_OF_TYPE = re.compile(r"\.[bsuf](8|16|32|64|128)(?!\w)")


class Loop:
    """A natural loop: the nodes of its body, and without those of the loops in it."""

    def __init__(self, header, nodes):
        self.header, self.nodes = header, nodes
        self.own = set(nodes)
        self.parent, self.depth = None, 1


def dominators(successors):
    """The immediate dominator of each node that node 0 reaches (None of others)."""
    order, seen, stack = [], {0}, [(0, iter(successors[0]))]
    while stack:
        node, left = stack[-1]
        following = next((s for s in left if s not in seen), None)
        if following is None:
            order.append(node)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(successors[following])))
    number = {node: i for i, node in enumerate(order)}
    before = collections.defaultdict(list)
    for node in order:
        for s in successors[node]:
            before[s].append(node)
    parent = {0: 0}

    def common(a, b):
        while a != b:
            while number[a] < number[b]:
                a = parent[a]
            while number[b] < number[a]:
                b = parent[b]
        return a

    changed = True
    while changed:
        changed = False
        for node in reversed(order[:-1]):
            new = None
            for p in before[node]:
                if p in parent:
                    new = p if new is None else common(p, new)
            if parent.get(node) != new:
                parent[node] = new
                changed = True
    return parent, before


def natural_loops(successors):
    """The loops of a flow graph whose first node is the entry, inner ones first."""
    if not successors:
        return []
    parent, before = dominators(successors)

    def dominates(a, b):
        while b != a and b != 0:
            b = parent[b]
        return a == b

    bodies = {}
    for node in parent:
        for header in successors[node]:
            if not dominates(header, node):
                continue
            body, stack = bodies.setdefault(header, {header}), [node]
            while stack:
                n = stack.pop()
                if n not in body:
                    body.add(n)
                    stack.extend(before[n])
    loops = sorted((Loop(h, b) for h, b in bodies.items()), key=lambda loop: (len(loop.nodes), loop.header))
    for i, loop in enumerate(loops):
        outer = next((o for o in loops[i + 1 :] if loop.header in o.nodes and len(o.nodes) > len(loop.nodes)), None)
        loop.parent = outer
        while outer is not None:
            outer.own -= loop.nodes
            loop.depth += 1
            outer = outer.parent
    return loops


def block_graph(count, targets, falls):
    """Blocks of straight code. targets: {place: where it may go}; falls: whether a place may go on to the next one."""
    leaders = {0}
    for place, where in targets.items():
        leaders.update(w for w in where if 0 <= w < count)
        leaders.add(place + 1)
    leaders.update(i + 1 for i in range(count) if not falls(i))
    starts = sorted(s for s in leaders if s < count)
    number = {s: i for i, s in enumerate(starts)}
    blocks = [range(s, e) for s, e in zip(starts, starts[1:] + [count])]
    successors = []
    for block in blocks:
        last = block[-1]
        out = [number[w] for w in targets.get(last, ()) if w in number]
        if falls(last) and last + 1 in number:
            out.append(number[last + 1])
        successors.append(list(dict.fromkeys(out)))
    return blocks, successors


# PTX


class PtxKernel:
    """The loops of a kernel's text: `innermost` says of a line which one it is in."""

    def __init__(self, name, first, lines):
        self.name = name
        statements, labels, tables = [], {}, {}
        for number, line in enumerate(lines, first):
            text = line.split("//")[0].strip()
            label = re.match(r"([$%\w]+):\s*(.*)", text)
            if label:
                labels[label[1]] = len(statements)
                text = label[2]
            table = re.search(r"\.branchtargets\s+(.*);", text)
            if table and label:
                tables[label[1]] = [t.strip() for t in table[1].split(",")]
            elif re.search(r"\w.*;", text) and not text.startswith("."):
                statements.append((number, text))
        self.text = dict(statements)
        targets, leaves = {}, set()
        for i, (_, text) in enumerate(statements):
            jump = re.search(r"\bbra(?:\.uni)?\s+([$%\w]+)", text)
            indexed = re.search(r"\bbrx\.idx(?:\.uni)?\s+[^,]+,\s*([$%\w]+)", text)
            names = [jump[1]] if jump else tables.get(indexed[1], []) if indexed else []
            if names:
                targets[i] = [labels[n] for n in names if n in labels]
            if (names or re.match(r"(ret|exit|trap)\b", text)) and not text.startswith("@"):
                leaves.add(i)
        blocks, successors = block_graph(len(statements), targets, lambda i: i not in leaves)
        self.loops = natural_loops(successors) if statements else []
        self.innermost, self.lines = {}, {}
        for loop in reversed(self.loops):  # inner ones last
            self.lines[loop] = sorted(statements[i][0] for b in loop.own for i in blocks[b])
            for number in self.lines[loop]:
                self.innermost[number] = loop

    def anchors(self, loop):
        return anchors((self.text[n] for n in self.lines[loop]), ptx_anchor)


def kernels_of(text):
    """The kernels of a module of PTX. Functions may be taken into them: each kernel knows their loops, too."""
    lines, out, functions, at = text.split("\n"), {}, [], 0
    while at < len(lines):
        entry = re.search(r"\.(entry|func)\b(?:\s*\([^)]*\))?\s*([$%\w]+)?", lines[at].split("//")[0])
        if not entry:
            at += 1
            continue
        begin, depth, opened = at, 0, False
        while at < len(lines):
            code = lines[at].split("//")[0]
            depth += code.count("{") - code.count("}")
            opened = opened or "{" in code
            at += 1
            if opened and depth <= 0 or not opened and code.rstrip().endswith(";"):
                break
        one = PtxKernel(entry[2], begin + 2, lines[begin + 1 : at])
        if entry[1] == "func":
            functions.append(one)
        else:
            out[entry[2]] = one
    for kernel in out.values():
        for function in functions:
            kernel.loops.extend(function.loops)
            kernel.lines.update(function.lines)
            kernel.innermost.update(function.innermost)
            kernel.text.update(function.text)
    return out


def ptx_anchor(text):
    """(operations of floating point, bytes of global memory, bytes of shared memory) of a line."""
    flops = PTX_FLOAT.search(text)
    if flops:
        return (2 if flops[1] in ("fma", "mad") else 1) * (2 if "x2" in flops[3] else 1), 0, 0
    access = PTX_ACCESS.search(text)
    if not access:
        return 0, 0, 0
    modifiers = access[2] + access[4]
    size = BYTES_OF_TYPE.findall(modifiers)
    count = re.search(r"\.v([248])\b", modifiers)
    total = (int(size[-1]) // 8 if size else 4) * (int(count[1]) if count else 1)
    return (0, total, 0) if access[3] == "global" else (0, 0, total)


# Machine code


def class_of(text):
    """text: without the guard."""
    if MOVE_BY_HALF.match(text):
        return "int"
    if MULTIPLY_ADD.match(text):
        return "fma"
    if FLOAT.match(text):
        return "float"
    for name, pattern in MEMORY.items():
        if pattern.match(text):
            return name
    return "control" if CONTROL.match(text) else "int"


def machine_anchor(text):
    kind = class_of(text)
    flops = MACHINE_FLOAT.match(text)
    if flops and kind != "int":
        return (2 if "FMA" in flops[1] else 1) * (2 if flops[1].startswith("H") else 1), 0, 0
    if kind not in ("global", "shared"):
        return 0, 0, 0
    opcode = text.split()[0]
    size = re.search(r"\.[US]?(8|16|64|128)\b", opcode)
    total = int(size[1]) // 8 if size else 4
    return (0, total, 0) if kind == "global" else (0, 0, total)


def anchors(texts, of):
    return [sum(column) for column in zip((0, 0, 0), *(of(t) for t in texts))]


def bare(text):
    return re.sub(r"^@!?U?P\w+ ", "", text)


def memory_waits(instructions):
    """How often an instruction waits for values that loads bring, the scoreboards of a whole round in order."""
    pending, waits = set(), 0
    for i in instructions:
        control = i["control"]
        waited = pending.intersection(control["wait"])
        waits += bool(waited)
        pending -= waited
        if control["write_barrier"] is not None and class_of(bare(i["text"])) in MEMORY:
            pending.add(control["write_barrier"])
    return waits


class MachineLoop:
    def __init__(self, instructions, depth=0):
        self.instructions, self.depth = instructions, depth
        self.counts = collections.Counter(class_of(bare(i["text"])) for i in instructions)
        self.mnemonics = collections.Counter(i["mnemonic"] for i in instructions)
        self.size = len(instructions)
        self.cycles = sum(i["control"]["stall"] for i in instructions)
        self.waits = memory_waits(instructions)
        self.rounds, self.global_rounds = 1.0, None

    def normalise(self, ptx, loop):
        """How many rounds of the PTX loop it holds."""
        lines = set(ptx.lines[loop])
        mine = [i for i in self.instructions if i.get("ptx_line") in lines]
        have = anchors((bare(i["text"]) for i in mine), machine_anchor)
        wanted = ptx.anchors(loop)
        simple = {n for n in lines if PTX_FLOAT.search(ptx.text[n])}
        have[0] = anchors((bare(i["text"]) for i in mine if i["ptx_line"] in simple), machine_anchor)[0]
        if wanted[1]:
            self.global_rounds = have[1] / wanted[1]
        for has, wants in zip(have, wanted):
            if wants and has:
                self.rounds = has / wants
                return
        copies = collections.Counter(i["ptx_line"] for i in mine)
        self.rounds = max(1.0, statistics.median(copies.values())) if copies else 1.0

    def row(self):
        out = {name: self.counts[name] / self.rounds for name in CLASSES}
        return (
            out
            | {"all": self.size / self.rounds, "cycles": self.cycles / self.rounds}
            | {"waits": self.waits / self.rounds, "rounds": self.rounds}
        )


class MachineKernel:
    def __init__(self, listed, ptx):
        self.facts = {k: listed[k] for k in ("registers", "stack_bytes", "shared_bytes")}
        code = [i for i in listed["instructions"] if "text" in i]
        while code and (code[-1]["text"] == "NOP" or code[-1].get("target") == code[-1]["address"]):
            code.pop()  # padding
        self.facts["instructions"] = len(code)
        place = {i["address"]: n for n, i in enumerate(code)}
        targets, leaves = {}, set()
        for n, i in enumerate(code):
            name = bare(i["text"])
            always = bare(i["text"]) == i["text"] and not re.match(r"BRA(\.\w+)* !?U?P\d", name)
            if re.match(r"(BRA|JMP|CALL|WARPSYNC)", name) and "target" in i and i["target"] in place:
                targets[n] = [place[i["target"]]]
            if re.match(r"(BRA|JMP|BRX|JMX|EXIT|RET|KILL)\b", name) and always:
                leaves.add(n)
        blocks, successors = block_graph(len(code), targets, lambda n: n not in leaves)
        self.whole = MachineLoop(code)
        self.by_ptx = collections.defaultdict(list)
        self.other = []  # loops that no loop of the PTX has: made of one instruction
        for loop in natural_loops(successors) if code else []:
            machine = MachineLoop(self.hot(code, [n for b in sorted(loop.own) for n in blocks[b]]), loop.depth)
            votes = collections.Counter(ptx.innermost.get(i.get("ptx_line")) for i in machine.instructions)
            of, most = votes.most_common(1)[0] if votes else (None, 0)
            if of is None and len(votes) > 1:
                of, second = votes.most_common(2)[1]
                of = of if 3 * second >= most else None
            if of is None:
                self.other.append(machine)
                continue
            machine.normalise(ptx, of)
            self.by_ptx[of].append(machine)

    @staticmethod
    def hot(code, places):
        """Without what was put behind the end of the kernel: slow paths. ptxas has functions for those."""
        end = next((n for n in range(places[0], len(code)) if code[n]["text"].startswith("EXIT")), len(code))
        hot = [code[n] for n in places if n < end]
        return hot if 10 * len(hot) >= len(places) else [code[n] for n in places]

    def main_loop(self, of):
        return max(self.by_ptx.get(of, ()), key=lambda m: (m.rounds, -m.size), default=None)


# Both


def tool(given):
    found = shutil.which(given)
    if found is None:
        print(f"assembler_compare.py: {given} is not there", file=sys.stderr)
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


def worst(rows, count):
    """By cycles; of instances of a template, and of a kernel for several architectures, the worst."""
    seen = {}
    for r in sorted((r for r in rows if r["hottest"]), key=lambda r: -ratio(r, "cycles")):
        seen.setdefault((r["file"], short(r["kernel"])), r)
    return list(seen.values())[:count]


def by_mnemonic(rows, markdown):
    """Which instructions simtlab has more of in loops, or fewer, in percent of the vendor's loop: mean of kernels."""
    some = [r for r in rows if r["hottest"] and r["depth"]]
    more, kernels = collections.Counter(), collections.Counter()
    for r in some:
        for mnemonic, count in r["more"].items():
            more[mnemonic] += 100 * count / r["loop_theirs"]["all"] / len(some)
            kernels[mnemonic] += count > 0.01
    shown = sorted(more, key=lambda m: -abs(more[m]))[:MNEMONICS]
    lines = [[m, f"{more[m]:+.1f} %", str(kernels[m])] for m in sorted(shown, key=lambda m: -more[m])]
    return table(["instruction", "more in loops", "in kernels"], lines, markdown)


def summary(rows, refused, markdown):
    """Medians of simtlab over ptxas, and the share of kernels that are at most 25 % above."""
    head = ["arch", "origin", "kernels", "registers", "within 25 %", "with loops"]
    for what in ("loop instructions", "loop cycles", "straight instructions"):
        head += [what, "within 25 %"]
    lines = []
    for arch in sorted({r["arch"] for r in rows}):
        origins = sorted({r["origin"] for r in rows if r["arch"] == arch})
        for origin in [*origins, "all"] if len(origins) > 1 else ["all"]:
            some = [r for r in rows if r["arch"] == arch and r["hottest"] and origin in (r["origin"], "all")]
            looping, straight = [r for r in some if r["depth"]], [r for r in some if not r["depth"]]
            line = [
                arch,
                origin,
                str(len(some)),
                middle(some, "registers"),
                share(some, "registers"),
                str(len(looping)),
            ]
            for group, what in ((looping, "all"), (looping, "cycles"), (straight, "instructions")):
                line += [middle(group, what), share(group, what)]
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
