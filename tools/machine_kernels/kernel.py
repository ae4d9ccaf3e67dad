"""One kernel in PTX and how it is launched; modules of many kernels."""
import random

CLASSES = {"b8": ("h", 1), "b16": ("h", 2), "b32": ("r", 4), "b64": ("rd", 8), "f32": ("f", 4), "f64": ("d", 8)}
THREADS, BLOCKS = 128, 4
ELEMENTS = THREADS * BLOCKS

REGISTERS = """  .reg .pred %p<12>;
  .reg .b16 %h<12>;
  .reg .b32 %r<24>;
  .reg .b64 %rd<40>;
  .reg .f32 %f<12>;
  .reg .f64 %d<12>;
"""


def loaded_type(name):
    """The type of a load or store of a value of this PTX type, and its kind in a suite."""
    if name in ("f32", "f64"):
        return name, name
    if name == "tf32":
        return "b32", "f32"
    if name in ("f16", "bf16"):
        return "b16", name
    if name in ("f16x2", "bf16x2"):
        return "b32", name
    if name.endswith("x2"):
        return "b32", "b32"
    bits = {"u8": 16, "s8": 16, "pred": 32}.get(name) or int(name.lstrip("busf"))
    return f"b{bits}", f"b{bits}"


class Kernel:
    """A kernel `name`; `what` says in one line what it is. `body` reads and writes what input() and output() return."""

    def __init__(self, name, what, near=False, seed=0, blocks=BLOCKS, threads=THREADS):
        self.name, self.what, self.near, self.seed = name, what, near, seed
        self.blocks, self.threads, self.shared = blocks, threads, 0
        self.registers, self.head, self.tail = REGISTERS, [], []
        self.parameters, self.inputs, self.outputs, self.body, self.before = [], [], [], [], ""
        self.numbers = {}

    def fresh(self, prefix):
        """A register that nobody has yet; the first ones are the kernel's own."""
        self.numbers[prefix] = self.numbers.get(prefix, 1) + 1
        return f"%{prefix}{self.numbers[prefix]}"

    def parameter(self, ptx_type, launch, output=False):
        name = f"q{len(self.parameters)}"
        self.parameters.append(f".param .{ptx_type} {name}")
        (self.outputs if output else self.inputs).append(launch)
        return name

    def place(self, kind, size, output):
        """The address of this thread's element of a new buffer."""
        name, address = self.parameter("u64", f"{kind}*{self.blocks * self.threads}", output), self.fresh("rd")
        self.head += [f"ld.param.u64 {address}, [{name}];", f"mad.wide.u32 {address}, %r0, {size}, {address};"]
        return address

    def input(self, ptx_type):
        """A register with this thread's value of a new buffer."""
        load, kind = loaded_type(ptx_type)
        prefix, size = CLASSES[load]
        address, register = self.place(kind, size, False), self.fresh(prefix)
        self.head.append(f"ld.global.{load} {register}, [{address}];")
        if ptx_type != "pred":
            return register
        predicate = self.fresh("p")
        self.head += [f"and.b32 {register}, {register}, 1;", f"setp.ne.u32 {predicate}, {register}, 0;"]
        return predicate

    def value(self, ptx_type, bits):
        """A register with a value that is a parameter of the kernel."""
        load, _ = loaded_type(ptx_type)
        register = self.fresh(CLASSES[load][0])
        name = self.parameter(load, f"{load if load[0] == 'f' else load}={bits:x}")
        self.head.append(f"ld.param.{load} {register}, [{name}];")
        return register

    def output(self, ptx_type):
        """A register whose value this thread leaves in a new buffer."""
        load, kind = loaded_type(ptx_type)
        prefix, size = CLASSES[load]
        register = self.fresh("p" if ptx_type == "pred" else prefix)
        self.tail.append((register, load, kind, size, ptx_type))
        return register

    def text(self):
        stores = []
        for register, load, kind, size, ptx_type in self.tail:
            # Outputs come behind all inputs.
            name, address = self.parameter("u64", f"{kind}*{self.blocks * self.threads}", True), self.fresh("rd")
            stores += [f"ld.param.u64 {address}, [{name}];", f"mad.wide.u32 {address}, %r0, {size}, {address};"]
            if ptx_type == "pred":
                stores += [f"selp.b32 %r1, 1, 0, {register};"]
                register = "%r1"
            stores.append(f"st.global.{load} [{address}], {register};")
        self.tail = []
        first = ["mov.u32 %r0, %ctaid.x;", "mov.u32 %r1, %tid.x;", f"mad.lo.u32 %r0, %r0, {self.threads}, %r1;"]
        lines = first + self.head + self.body + stores + ["ret;"]
        return (
            f"// {self.what}\n{self.before}.visible .entry {self.name}({', '.join(self.parameters)})\n{{\n"
            + self.registers
            + "".join(f"  {line}\n" for line in lines)
            + "}\n"
        )

    def launch(self):
        return " ".join(
            ["kernel", self.name, str(self.blocks), str(self.threads), str(self.shared), str(self.seed)]
            + ["near" if self.near else "exact", *self.inputs, "->", *self.outputs]
        )


class Module:
    """Kernels in one file, which ptxas and simtlab read."""

    def __init__(self, kernels, generation):
        self.kernels = kernels
        self.head = f".version 8.0\n.target sm_{generation}\n.address_size 64\n\n"

    def text(self):
        """The file, and the kernel of each of its lines (numbered from 1)."""
        parts, owners = [self.head], [None] * (self.head.count("\n") + 1)
        for kernel in self.kernels:
            text = kernel.ptx + "\n"
            parts.append(text)
            owners += [kernel] * text.count("\n")
        return "".join(parts), owners


def finished(kernels):
    """Their texts and launches, made once."""
    for kernel in kernels:
        kernel.ptx = kernel.text()
        kernel.line = kernel.launch()
    return kernels


def corner(bits, draw: random.Random):
    """A value of an immediate."""
    if draw.random() < 0.3:
        return draw.getrandbits(bits)
    one = 1 << draw.randrange(bits)
    return draw.choice(
        [one, one - 1, one + 1, draw.randrange(40), (1 << bits) - 1, (1 << bits) - draw.randrange(1, 9)]
    ) & ((1 << bits) - 1)


FLOATS = [0x00000000, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0x00000001, 0x007FFFFF, 0x40490FDB, 0x3F000001]
DOUBLES = [0, 1 << 63, 0x3FF0000000000000, 0xBFF8000000000000, 0x7FF0000000000000, 0x400921FB54442D18, 1]


def immediate(ptx_type, draw):
    """The text of an immediate of the type; None: it has none."""
    if ptx_type == "f32":
        return f"0f{draw.choice(FLOATS) if draw.random() < 0.7 else draw.getrandbits(31):08X}"
    if ptx_type == "f64":
        return f"0d{draw.choice(DOUBLES) if draw.random() < 0.7 else draw.getrandbits(63):016X}"
    if ptx_type[0] not in "usb" or ptx_type == "bf16" or ptx_type.endswith("x2"):
        return None
    bits = int(ptx_type.lstrip("usb"))
    value = corner(bits, draw)
    if ptx_type[0] == "s" and value >> (bits - 1):
        value -= 1 << bits
    return str(value)
