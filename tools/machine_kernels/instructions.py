"""Kernels of one PTX instruction each, from simtlab's opcode table (`compare_machine forms`)."""
import itertools
import random
import re

from . import kernel as k

# Their values are approximations, which the assembler surrounds with scaling of its own.
APPROXIMATE = {"approx", "full"}
SKIPPED = {"mov", "cvta", "isspacep", "createpolicy", "nanosleep", "ld", "ldu", "st", "atom", "red"}
# Where the code that ptxas writes departs from the manual, which simtlab's PTX follows; the machine code is executed
# as it is.
KNOWN = [
    (r"v(add|sub|absdiff|min|max|shl|shr|mad|set)\.", "scalar video instructions where a step needs more than 32 bits"),
    (r"fns\.", "fns by -2^31, which is negated on the way"),
    (r"cvt\.r[mp]\.ftz\.(sat\.)?f16\.f32", "cvt.rm and .rp to f16: .ftz is dropped"),
    (r"(sin|cos)\.approx.*immediate", "sin and cos of constants, which ptxas computes itself"),
    (r"cvt\.rna\.tf32", "cvt.rna.tf32 of NaN whose high bits are none"),
]
# Of code for Maxwell and Pascal
KNOWN_BEFORE_VOLTA = [
    (r"cvt\.r[nzmp]i\.(sat\.)?u(8|16)\.f64", "cvt of f64 to u8 and u16: NaN are clamped as numbers are")
]
WITH_MASK = {"shfl", "vote", "match", "redux", "elect"}
WIDER = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
TYPES = {"pred", "tf32"} | {f"{t}{b}" for t in "usb" for b in (8, 16, 32, 64)}
TYPES |= {"f16", "f32", "f64", "bf16", "f16x2", "bf16x2", "u16x2", "s16x2"}


def groups_of(text):
    groups = []
    for word in text.split():
        optional = "?" in word[:2]
        words = word.lstrip("!?").split("|")
        groups.append(([None] if optional else []) + words)
    return groups


def spellings(base, groups, limit, draw):
    """Words behind the name, `limit` choices of all."""
    count = 1
    for group in groups:
        count *= len(group)
    if count <= limit:
        return [[w for w in choice if w] for choice in itertools.product(*groups)]
    chosen = {}
    # Each word of each group at least once.
    longest = max(len(group) for group in groups)
    for i in range(max(limit, longest)):
        words = [group[i % len(group)] if draw.random() < 0.5 else draw.choice(group) for group in groups]
        chosen.setdefault(tuple(words), [w for w in words if w])
    return list(chosen.values())


class Instruction:
    """A text of the opcode table with its operands."""

    def __init__(self, base, words, operands):
        self.base, self.words, self.operands = base, words, operands.split()
        self.opcode = ".".join([base, *words])
        types = [w for w in words if w in TYPES]
        self.type, self.stype = (types + [None, None])[:2]
        if len(types) == 1:
            self.stype = self.type

    def operand_type(self, word):
        if word == "T":
            return self.type
        if word == "S":
            return self.stype
        if word == "W":
            return WIDER[self.type]
        return {"p": "pred"}.get(word, word)

    def reduced(self):
        """Whether it reads or leaves the carry."""
        return "cc" in self.words or self.base in ("addc", "subc", "madc")


def carry_around(kernel, ins):
    """What sets the carry before an instruction that adds it, and what reads it behind one that leaves it."""
    borrow = ins.base in ("sub", "subc")
    wide = "64" in ins.type
    if ins.base in ("addc", "subc", "madc"):
        a, b = kernel.input(ins.type), kernel.input(ins.type)
        kernel.body.append(f"{'sub' if borrow else 'add'}.cc.{ins.type} {'%rd1' if wide else '%r1'}, {a}, {b};")
    if "cc" not in ins.words:
        return None
    return f"{'subc' if borrow else 'addc'}.u32 {kernel.output('u32')}, 0, 0;"


def operands_text(kernel, ins, variant, draw):
    """The operands; variant: which source is no register, and what it is; None: all are registers."""
    out, source = [], 0
    sources = [o for o in ins.operands if not o.startswith("=")]
    mask_at = len(sources) - 1 if ins.base in WITH_MASK and "sync" in ins.words else None
    for word in ins.operands:
        name = word.lstrip("=").rstrip("~")
        if word.startswith("="):
            first, *second = name.split("|")
            first = "tf32" if "tf32" in ins.words else ins.operand_type(first)
            registers = [kernel.output(first)] + [kernel.output("pred") for _ in second]
            out.append("|".join(registers))
            continue
        at, source = source, source + 1
        if name == "#":
            out.append(str(draw.randrange(256)))
        elif ins.base in ("bfe", "bfi") and name == "u32":
            # Places and lengths beyond 255 are not defined.
            register = source_text(kernel, name, None, draw)
            kernel.body.append(f"and.b32 {register}, {register}, 255;")
            out.append(register)
        elif at == mask_at:
            out.append("-1")
        else:
            out.append(
                source_text(kernel, ins.operand_type(name), variant if variant and variant[0] == at else None, draw)
            )
    return out


def source_text(kernel, ptx_type, variant, draw):
    if variant and variant[1] == "immediate":
        text = k.immediate(ptx_type, draw)
        if text is not None:
            return text
    if variant and variant[1] == "constant" and ptx_type != "pred":
        load, _ = k.loaded_type(ptx_type)
        bits = draw.getrandbits(int(load[1:])) if draw.random() < 0.5 else k.corner(int(load[1:]), draw)
        return kernel.value(ptx_type, bits)
    return kernel.input(ptx_type)


def one(name, ins, variant, draw):
    near = bool(APPROXIMATE & set(ins.words))
    kernel = k.Kernel(name, ins.opcode, near, seed=draw.getrandbits(30))
    behind = carry_around(kernel, ins) if ins.reduced() else None
    operands = operands_text(kernel, ins, variant, draw)
    kernel.body.append(f"{ins.opcode} {', '.join(operands)};")
    if behind:
        kernel.body.append(behind)
    kernel.what = kernel.body[-2 if behind else -1] + (f" ({variant[1]})" if variant else "")
    return kernel


def video(name, base, words, draw):
    """vadd and the like: parts of registers, a third source where an operation joins it."""
    kernel = k.Kernel(name, base, seed=draw.getrandbits(30))
    d, a, b, c = kernel.output("u32"), kernel.input("u32"), kernel.input("u32"), kernel.input("u32")
    vector = base[-1] in "24"
    joined = words[-1] in ("add", "min", "max")
    if not vector:
        a += draw.choice(["", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"])
        b += draw.choice(["", ".b0", ".b3", ".h0", ".h1"])
    sources = [a, b] + ([c] if vector or joined or base == "vmad" else [])
    kernel.body.append(f"{'.'.join([base, *words])} {d}, {', '.join(sources)};")
    kernel.what = kernel.body[-1]
    return kernel


def safe(text):
    return "".join(c if c.isalnum() else "_" for c in text)


def arithmetic(forms, limit, draw):
    """forms: lines of `compare_machine forms`. limit: spellings of a form."""
    out = []
    for line in forms.splitlines():
        base, groups, operands = line.split("\t")
        if base in SKIPPED or (operands != "<video>" and "=" not in operands):
            continue
        for words in spellings(base, groups_of(groups), limit, draw):
            name = f"i{len(out)}_{safe('_'.join([base, *words]))}"
            if operands == "<video>":
                out.append(video(name, base, words, draw))
                continue
            ins = Instruction(base, words, operands)
            count = sum(not o.startswith("=") for o in ins.operands)
            out.append(one(name, ins, None, draw))
            for kind in ("immediate", "constant") if count else ():
                out.append(one(f"{name}_{kind[0]}", ins, (draw.randrange(count), kind), draw))
    return out


# ---- memory ----

LOADS = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64", "b8", "b16", "b32", "b64"]
VECTORS = {"": 1, ".v2": 2, ".v4": 4}
ATOMICS = (
    [("add", t) for t in ("u32", "s32", "u64", "f32", "f64")]
    + [(op, t) for op in ("min", "max") for t in ("u32", "s32", "u64", "s64")]
    + [(op, t) for op in ("and", "or", "xor", "exch", "cas") for t in ("b32", "b64")]
    + [("inc", "u32"), ("dec", "u32"), ("cas", "b16"), ("add.noftz", "f16"), ("add.noftz", "f16x2")]
    + [("add.noftz", "bf16"), ("add.noftz", "bf16x2")]
)


def own_bytes(kernel, space):
    """%rd1: 16 bytes of this thread in shared or local memory, aligned."""
    count = k.THREADS if space == "shared" else 1
    kernel.registers += f"  .{space} .align 16 .b8 m[{16 * count}];\n"
    kernel.body += ["mov.u64 %rd1, m;", "mov.u32 %r1, %tid.x;"]
    if space == "shared":
        kernel.body.append("mad.wide.u32 %rd1, %r1, 16, %rd1;")


def register_type(ptx_type):
    """Of a register that holds a value of the type, at least 32 bits wide, so that its extension is seen."""
    return ptx_type if ptx_type[0] == "f" else "b64" if ptx_type[1:] == "64" else "b32"


def braces(registers):
    return "{" + ", ".join(registers) + "}" if len(registers) > 1 else registers[0]


def load(name, space, how, ptx_type, vector, draw):
    """Bytes of the input come back as values, through shared or local memory where it is said."""
    count, size = VECTORS[vector], int(ptx_type[1:]) // 8
    if size * count > 16:
        return None
    kernel = k.Kernel(name, f"ld.{space}{how}{vector}.{ptx_type}", seed=draw.getrandbits(30))
    source = kernel.place("b64", 8, False)
    if space in ("shared", "local"):
        own_bytes(kernel, space)
        kernel.body += [f"ld.global.b64 %rd0, [{source}];", f"st.{space}.b64 [%rd1], %rd0;"]
        kernel.body += ["not.b64 %rd0, %rd0;", f"st.{space}.b64 [%rd1+8], %rd0;"]
        source = "%rd1"
    elif size * count > 8:
        kernel.body.append(f"and.b64 {source}, {source}, -16;")
    outputs = [kernel.output(register_type(ptx_type)) for _ in range(count)]
    kernel.body.append(f"ld.{space}{how}{vector}.{ptx_type} {braces(outputs)}, [{source}];")
    return kernel


def store(name, space, how, ptx_type, vector, draw):
    """To global memory, where each thread has 8 bytes, or to shared and local memory, which is then read."""
    count, size = VECTORS[vector], int(ptx_type[1:]) // 8
    is_global = space in ("global", "generic")
    if size * count > (8 if is_global else 16):
        return None
    kernel = k.Kernel(name, f"st.{space}{how}{vector}.{ptx_type}", seed=draw.getrandbits(30))
    values = braces([kernel.input(register_type(ptx_type)) for _ in range(count)])
    if is_global:
        where = ".global" if space == "global" else ""
        kernel.body.append(f"st{where}{how}{vector}.{ptx_type} [{kernel.place('b64', 8, False)}], {values};")
        return kernel
    own_bytes(kernel, space)
    kernel.body += ["mov.u64 %rd0, 0x1122334455667788;", f"st.{space}.b64 [%rd1], %rd0;"]
    kernel.body += [f"st.{space}.b64 [%rd1+8], %rd0;", f"st.{space}{vector}.{ptx_type} [%rd1], {values};"]
    for offset in (0, 8):
        kernel.body.append(f"ld.{space}.b64 {kernel.output('b64')}, [%rd1+{offset}];")
    return kernel


def atomic(name, space, op, ptx_type, order, result, draw):
    """Each thread has a cell of its own."""
    what = f"{'atom' if result else 'red'}{order}{space}.{op}.{ptx_type}"
    kernel = k.Kernel(name, what, seed=draw.getrandbits(30))
    load_type, kind = k.loaded_type(ptx_type)
    size = k.CLASSES[load_type][1]
    cell = kernel.place(kind, size, False)
    values = [kernel.input(ptx_type) for _ in range(2 if op == "cas" else 1)]
    out = kernel.output(ptx_type) if result else None
    if space == ".shared":
        kernel.registers += f"  .shared .align 16 .b8 m[{size * k.THREADS}];\n"
        register = kernel.fresh(k.CLASSES[load_type][0])
        kernel.body += ["mov.u64 %rd1, m;", "mov.u32 %r1, %tid.x;", f"mad.wide.u32 %rd1, %r1, {size}, %rd1;"]
        kernel.body += [f"ld.global.{load_type} {register}, [{cell}];", f"st.shared.{load_type} [%rd1], {register};"]
    address = "%rd1" if space == ".shared" else cell
    operands = ([out] if result else []) + [f"[{address}]"] + values
    kernel.body.append(f"{what} {', '.join(operands)};")
    if space == ".shared":
        kernel.body += [f"ld.shared.{load_type} {register}, [%rd1];", f"st.global.{load_type} [{cell}], {register};"]
    return kernel


def memory(draw):
    out = []

    def add(kernel):
        if kernel is not None:
            out.append(kernel)

    ways = {"global": ["", ".ca", ".cg", ".cs", ".cv", ".nc"], "shared": [""], "local": [""]}
    for space, hows in ways.items():
        for how in hows:
            for ptx_type in LOADS:
                for vector in VECTORS:
                    name = f"ld{len(out)}_{safe(space + how + vector)}_{ptx_type}"
                    add(load(name, space, how, ptx_type, vector, draw))
    for space in ("global", "shared", "local", "generic"):
        for ptx_type in LOADS:
            for vector in VECTORS:
                for how in ("", ".wb", ".cg", ".wt") if space == "global" else ("",):
                    add(store(f"st{len(out)}_{space}_{ptx_type}", space, how, ptx_type, vector, draw))
    for op, ptx_type in ATOMICS:
        for space in (".global", ".shared", ""):
            for order in ("", ".relaxed.gpu", ".acq_rel.sys"):
                add(atomic(f"atom{len(out)}_{safe(op)}_{ptx_type}", space, op, ptx_type, order, True, draw))
            if op not in ("exch", "cas"):
                add(atomic(f"red{len(out)}_{safe(op)}_{ptx_type}", space, op, ptx_type, "", False, draw))
    return out


def known(what, architecture):
    """Why PTX and machine code may differ; None: they may not."""
    old = KNOWN_BEFORE_VOLTA if architecture < "sm_70" else []
    return next((reason for pattern, reason in KNOWN + old if re.match(pattern, what)), None)


def generate(forms, limit, seed):
    draw = random.Random(seed)
    return k.finished(arithmetic(forms, limit, draw) + memory(draw))
