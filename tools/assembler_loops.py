"""Loops of kernels, as PTX and as machine code: what they hold, and which of both belong together.

assembler_compare.py says in its documentation what is counted, and how.
"""
import collections
import re
import statistics

CLASSES = ("fma", "float", "int", "global", "shared", "local", "control")

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
DEPBAR = re.compile(r"DEPBAR\.LE SB(\d), (0x[0-9a-f]+)")
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


ANSWER = 24  # cycles from a load, a conversion or a function to its result: what loads of shared memory and L1 take
READ = 12  # to its operands having been read


def lone_cycles(instructions, again):
    """Cycles of a pass by a warp that is alone: stall counts, and scoreboards with answers after ANSWER cycles.

    again: of a round in the steady state, where what a round loads may be awaited in the next one.
    """
    pending = collections.defaultdict(list)  # when what a scoreboard stands for will be there
    now, ends = 0, []
    for _ in range(3 if again else 1):
        for i in instructions:
            control = i["control"]
            for board in control["wait"]:
                now = max([now, *pending.pop(board, ())])
            some = DEPBAR.match(i["text"])
            if some:
                left = int(some[2], 16)
                there = sorted(pending[int(some[1])])
                pending[int(some[1])] = there[len(there) - left :] if left else []
                now = max([now, *there[: len(there) - left]])
            for board, cycles in ((control["write_barrier"], ANSWER), (control["read_barrier"], READ)):
                if board is not None:
                    pending[board].append(now + cycles)
            now += control["stall"]
        ends.append(now)
    return ends[-1] - ends[-2] if again else now


class MachineLoop:
    def __init__(self, instructions, depth=0):
        self.instructions, self.depth = instructions, depth
        self.counts = collections.Counter(class_of(bare(i["text"])) for i in instructions)
        self.mnemonics = collections.Counter(i["mnemonic"] for i in instructions)
        self.size = len(instructions)
        self.cycles = sum(i["control"]["stall"] for i in instructions)
        self.waits = memory_waits(instructions)
        self.lone = lone_cycles(instructions, depth > 0)
        self.rounds, self.global_rounds = 1.0, None
        self.certain = False  # the rounds are not those of the median

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
                self.rounds, self.certain = has / wants, True
                return
        copies = collections.Counter(i["ptx_line"] for i in mine)
        self.rounds = max(1.0, statistics.median(copies.values())) if copies else 1.0

    def row(self):
        out = {name: self.counts[name] / self.rounds for name in CLASSES}
        return (
            out
            | {"all": self.size / self.rounds, "cycles": self.cycles / self.rounds}
            | {"lone cycles": self.lone / self.rounds}
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
        """Without what was put behind an end of the kernel: slow paths. ptxas has functions for those."""
        own = set(places)
        exits = (n for n in range(places[0], len(code)) if n not in own and bare(code[n]["text"]).startswith("EXIT"))
        end = next(exits, len(code))
        hot = [code[n] for n in places if n < end]
        return hot if 10 * len(hot) >= len(places) else [code[n] for n in places]

    def main_loop(self, of):
        return max(self.by_ptx.get(of, ()), key=lambda m: (m.certain, m.rounds, -m.size), default=None)
