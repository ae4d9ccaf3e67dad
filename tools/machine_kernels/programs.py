"""Random PTX programs that end and whose result is defined.

What would leave a result open is not written: registers are set before they are read; threads share memory only
through barriers and through atomics that commute; collectives stand where all lanes of their mask come; bits of
floating values reach memory as floating values alone, since those of NaN are not defined.
"""
import random

from . import kernel as k

THREADS, BLOCKS = 96, 2  # a block has three warps
CELL = 32  # bytes of each thread in global, shared and local memory
INPUT, CONSTANTS, COUNTERS = 1024, 64, 16

WORD_OPS = [
    "add.u32 {d}, {a}, {b}", "sub.s32 {d}, {a}, {b}", "mul.lo.u32 {d}, {a}, {b}", "mad.lo.s32 {d}, {a}, {b}, {c}",
    "mul.hi.u32 {d}, {a}, {b}", "mul.hi.s32 {d}, {a}, {b}", "mad.hi.u32 {d}, {a}, {b}, {c}", "and.b32 {d}, {a}, {b}",
    "or.b32 {d}, {a}, {b}", "xor.b32 {d}, {a}, {b}", "not.b32 {d}, {a}", "neg.s32 {d}, {a}", "abs.s32 {d}, {a}",
    "shl.b32 {d}, {a}, {s}", "shr.u32 {d}, {a}, {s}", "shr.s32 {d}, {a}, {s}", "shl.b32 {d}, {a}, {b}",
    "shr.s32 {d}, {a}, {b}", "min.s32 {d}, {a}, {b}", "max.u32 {d}, {a}, {b}", "lop3.b32 {d}, {a}, {b}, {c}, {byte}",
    "prmt.b32 {d}, {a}, {b}, {c}", "prmt.b32 {d}, {a}, {b}, {half}", "popc.b32 {d}, {a}", "clz.b32 {d}, {a}",
    "brev.b32 {d}, {a}", "bfind.u32 {d}, {a}", "bfind.shiftamt.s32 {d}, {a}", "sad.s32 {d}, {a}, {b}, {c}",
    "bfe.s32 {d}, {a}, {k}, {n}", "bfe.u32 {d}, {a}, {k}, {n}", "bfi.b32 {d}, {a}, {b}, {k}, {n}",
    "shf.l.wrap.b32 {d}, {a}, {b}, {c}", "shf.r.clamp.b32 {d}, {a}, {b}, {c}", "dp4a.u32.s32 {d}, {a}, {b}, {c}",
    "selp.b32 {d}, {a}, {b}, {p}", "slct.u32.s32 {d}, {a}, {b}, {c}", "set.lt.u32.s32 {d}, {a}, {b}",
    "mul24.lo.s32 {d}, {a}, {b}", "cvt.u32.u64 {d}, {A}", "cvt.s32.s16 {d}, {h}", "cvt.rzi.s32.f32 {d}, {f}",
    "cvt.rni.u32.f64 {d}, {g}", "popc.b64 {d}, {A}", "add.sat.s32 {d}, {a}, {b}", "selp.b32 {d}, 1, {a}, {p}",
    "mov.b32 {d}, {a}", "add.u32 {d}, {a}, {half}", "mad.lo.u32 {d}, {a}, {half}, {b}", "xor.b32 {d}, {a}, {word}",
]  # fmt: skip
WIDE_OPS = [
    "add.u64 {D}, {A}, {B}", "sub.s64 {D}, {A}, {B}", "mul.lo.u64 {D}, {A}, {B}", "mul.wide.u32 {D}, {a}, {b}",
    "mul.wide.s32 {D}, {a}, {b}", "mad.wide.s32 {D}, {a}, {b}, {A}", "mad.lo.s64 {D}, {A}, {B}, {C}",
    "and.b64 {D}, {A}, {B}", "xor.b64 {D}, {A}, {B}", "shl.b64 {D}, {A}, {s}", "shr.u64 {D}, {A}, {s}",
    "shr.s64 {D}, {A}, {a}", "min.s64 {D}, {A}, {B}", "max.u64 {D}, {A}, {B}", "cvt.s64.s32 {D}, {a}",
    "cvt.u64.u32 {D}, {a}", "selp.b64 {D}, {A}, {B}, {p}", "mov.b64 {D}, {{{a}, {b}}}", "neg.s64 {D}, {A}",
    "mul.hi.u64 {D}, {A}, {B}", "brev.b64 {D}, {A}", "cvt.rzi.s64.f64 {D}, {g}", "abs.s64 {D}, {A}",
]  # fmt: skip
SINGLE_OPS = [
    "add.rn.f32 {F}, {f}, {e}", "sub.rn.ftz.f32 {F}, {f}, {e}", "mul.rn.f32 {F}, {f}, {e}", "mul.rz.f32 {F}, {f}, {e}",
    "fma.rn.f32 {F}, {f}, {e}, {i}", "fma.rm.f32 {F}, {f}, {e}, {i}", "min.f32 {F}, {f}, {e}", "max.f32 {F}, {f}, {e}",
    "abs.f32 {F}, {f}", "neg.f32 {F}, {f}", "cvt.rn.f32.s32 {F}, {a}", "cvt.rz.f32.u64 {F}, {A}",
    "cvt.rn.f32.f64 {F}, {g}", "selp.f32 {F}, {f}, {e}, {p}", "div.rn.f32 {F}, {f}, {e}", "sqrt.rn.f32 {F}, {f}",
    "rcp.rn.f32 {F}, {f}", "cvt.rni.f32.f32 {F}, {f}", "add.sat.f32 {F}, {f}, {e}", "mul.f32 {F}, {f}, 0f40490FDB",
    "mad.rn.f32 {F}, {f}, 0fBF000000, {e}", "mov.b32 {F}, {a}",
]  # fmt: skip
DOUBLE_OPS = [
    "add.rn.f64 {G}, {g}, {j}", "mul.rn.f64 {G}, {g}, {j}", "fma.rn.f64 {G}, {g}, {j}, {l}", "cvt.f64.f32 {G}, {f}",
    "cvt.rn.f64.s64 {G}, {A}", "max.f64 {G}, {g}, {j}", "sub.rz.f64 {G}, {g}, {j}", "neg.f64 {G}, {g}",
    "div.rn.f64 {G}, {g}, {j}", "sqrt.rn.f64 {G}, {g}", "cvt.rn.f64.u32 {G}, {a}",
]  # fmt: skip
HALF_OPS = [
    "cvt.rn.f16x2.f32 {H}, {f}, {e}", "add.f16x2 {H}, {x}, {y}", "mul.f16x2 {H}, {x}, {y}", "fma.rn.f16x2 {H}, {x}, {y}, {z}",
    "neg.f16x2 {H}, {x}", "sub.sat.f16x2 {H}, {x}, {y}",
]  # fmt: skip
HALF_PAIRS = {"cvt.rn.f16x2.f32": 80}  # instruction: first generation that has it
PREDICATE_OPS = [
    "setp.lt.s32 {q}, {a}, {b}", "setp.ge.u32 {q}, {a}, {b}", "setp.eq.u32 {q}, {a}, {s}", "setp.lt.f32 {q}, {f}, {e}",
    "setp.gtu.f32 {q}, {f}, {e}", "setp.ne.s64 {q}, {A}, {B}", "setp.le.u64 {q}, {A}, {B}", "setp.lt.f64 {q}, {g}, {j}",
    "and.pred {q}, {p}, {r}", "or.pred {q}, {p}, {r}", "xor.pred {q}, {p}, {r}", "not.pred {q}, {p}",
    "setp.gt.and.s32 {q}, {a}, {b}, {p}", "setp.nan.or.f32 {q}, {f}, {e}, {p}", "mov.pred {q}, {p}",
]  # fmt: skip
# Values that are the same for all threads of a block unless a branch writes them, and what reads them
BLOCK_OPS = [
    "add.u32 {u}, {v}, {w}", "sub.u32 {u}, {v}, {w}", "mul.lo.u32 {u}, {v}, {w}", "mad.lo.u32 {u}, {v}, {w}, {o}",
    "and.b32 {u}, {v}, {w}", "or.b32 {u}, {v}, {w}", "xor.b32 {u}, {v}, {w}", "shl.b32 {u}, {v}, {s}",
    "shr.u32 {u}, {v}, {s}", "shr.s32 {u}, {v}, {w}", "lop3.b32 {u}, {v}, {w}, {o}, {byte}", "selp.b32 {u}, {v}, {w}, {m}",
    "add.u32 {u}, {v}, {half}", "and.b32 {u}, {v}, {byte}", "mad.lo.u32 {u}, {v}, {half}, {w}", "mov.u32 {u}, %ctaid.x",
    "mov.u32 {u}, {word}", "mov.u32 {u}, {v}", "min.s32 {u}, {v}, {w}", "prmt.b32 {u}, {v}, {w}, {half}",
    "setp.lt.s32 {m}, {v}, {w}", "setp.eq.u32 {m}, {v}, {s}", "setp.ge.and.u32 {m}, {v}, {w}, {t}", "add.u64 {V}, {W}, {O}",
    "mul.wide.u32 {V}, {v}, {w}", "mad.wide.u32 {V}, {v}, {byte}, {W}", "shl.b64 {V}, {W}, {s}", "cvt.u32.u64 {u}, {V}",
    "mov.b64 {V}, {{{v}, {w}}}", "sub.u64 {V}, {W}, {O}", "ld.const.u32 {u}, [table{number}+{four}]",
]  # fmt: skip
BLOCK_READERS = [
    "add.u32 {d}, {a}, {u}", "sub.u32 {d}, {u}, {a}", "mad.lo.u32 {d}, {a}, {u}, {b}", "mad.lo.s32 {d}, {a}, {b}, {u}",
    "xor.b32 {d}, {u}, {a}", "lop3.b32 {d}, {u}, {a}, {b}, {byte}", "add.u64 {D}, {A}, {V}", "add.u64 {D}, {V}, {W}",
    "mad.wide.u32 {D}, {a}, {u}, {A}", "mad.wide.u32 {D}, {a}, {half}, {V}", "setp.lt.u32 {q}, {a}, {u}",
    "setp.ge.s32 {q}, {u}, {a}", "selp.b32 {d}, {a}, {u}, {p}", "selp.b32 {d}, {a}, {b}, {m}", "shf.l.wrap.b32 {d}, {a}, {b}, {u}",
    "cvt.rn.f32.u32 {F}, {u}", "prmt.b32 {d}, {a}, {u}, {b}", "min.s32 {d}, {u}, {a}", "mov.u32 {d}, {u}",
    "mad.lo.u32 {d}, {u}, {v}, {a}", "shr.u32 {d}, {u}, {a}", "popc.b32 {d}, {u}",
]  # fmt: skip
ACCESSES = [("u8", 1, 1), ("s8", 1, 1), ("u16", 2, 1), ("s16", 2, 1), ("u32", 4, 1), ("u32", 4, 2), ("u32", 4, 4)]


class Program:
    # How many registers of each kind there are; of those of a block: the same for all its threads
    WORDS, WIDES, SINGLES, DOUBLES, HALVES, PREDICATES = 8, 4, 5, 3, 3, 5
    BLOCK_WORDS, BLOCK_WIDES, BLOCK_PREDICATES = 5, 3, 2

    open_rounding = True  # products and sums that an assembler may fuse; ptxas -O0 does not

    def __init__(self, number, seed, generation):
        self.draw, self.generation = random.Random(f"{seed}/{number}"), generation
        self.name, self.number, self.seed = f"p{number}", number, seed
        self.what = f"random program {number} of seed {seed}"
        self.lines, self.labels, self.counters, self.depth = [], 0, 0, 0
        self.functions = []
        self.in_function = False

    # ---- names ----
    def pick(self, prefix, count):
        return f"%{prefix}{self.draw.randrange(count)}"

    def word(self):
        return self.pick("a", self.WORDS)

    def label(self):
        self.labels += 1
        return f"L{self.number}_{self.labels}"

    def emit(self, text):
        self.lines.append("  " * (self.depth + 1) + text)

    def operands(self):
        d = self.draw
        names = {n: self.word() for n in "abcd"}
        names |= {n: self.pick("b", self.WIDES) for n in "ABCD"}
        names |= {n: self.pick("f", self.SINGLES) for n in "feiF"}
        names |= {n: self.pick("g", self.DOUBLES) for n in "gjlG"}
        names |= {n: self.pick("x", self.HALVES) for n in "xyzH"}
        names |= {n: self.pick("p", self.PREDICATES) for n in "pqr"}
        names["s"], names["byte"], names["half"] = d.randrange(40), d.randrange(256), d.randrange(65536)
        # From -O1 on ptxas folds bfe.s32 at constant places beyond 31 to -1 and bfi of constant lengths from 32 on to
        # shorter ones; at -O0 it does not.
        names["k"], names["n"] = d.randrange(32), d.randrange(32)
        names["word"], names["h"] = d.getrandbits(32), "%h0"
        names |= {n: self.pick("u", self.BLOCK_WORDS) for n in "uvwo"}
        names |= {n: self.pick("v", self.BLOCK_WIDES) for n in "VWO"}
        names |= {n: self.pick("z", self.BLOCK_PREDICATES) for n in "mt"}
        names["number"], names["four"] = self.number, 4 * d.randrange(CONSTANTS)
        return names

    # ---- statements of one instruction ----
    def simple(self):
        d = self.draw
        pools = [(WORD_OPS, 10), (WIDE_OPS, 4), (PREDICATE_OPS, 3)]
        if not self.in_function:
            pools += [(SINGLE_OPS, 4), (DOUBLE_OPS, 1), (HALF_OPS, 1)]
        pool = d.choices([p for p, _ in pools], [w for _, w in pools])[0]
        text = d.choice(pool)
        if self.in_function and any(n in text for n in ("{f}", "{g}")):
            text = WORD_OPS[0]
        if HALF_PAIRS.get(text.split()[0], 0) > self.generation:
            text = "add.f16x2 {H}, {x}, {y}"
        names = self.operands()
        if text.startswith("lop3"):
            # From -O1 on ptxas joins lop3 of equal sources with logic behind it wrongly: lop3(a, b, b, 110) & a.
            names["a"], names["b"], names["c"] = (f"%a{i}" for i in d.sample(range(self.WORDS), 3))
        if "{h}" in text:
            self.emit(f"cvt.u16.u32 %h0, {names['a']};")
        # Not in front of setp: from -O1 on ptxas drops branches on a predicate that it saw false before a loop, though
        # a guarded setp in the loop may change it.
        guarded = d.random() < 0.15 and pool is not PREDICATE_OPS
        guard = f"@{d.choice(['', '!'])}{self.pick('p', self.PREDICATES)} " if guarded else ""
        self.emit(guard + text.format(**names) + ";")

    def of_block(self):
        """Some of these stand together: addresses, bounds."""
        d = self.draw
        for _ in range(d.randrange(1, 5)):
            names = self.operands()
            text = d.choice(d.choice([BLOCK_OPS, BLOCK_OPS, BLOCK_READERS]))
            if text.startswith("lop3.b32 {u}"):
                names["v"], names["w"], names["o"] = (f"%u{i}" for i in d.sample(range(self.BLOCK_WORDS), 3))
            self.emit(text.format(**names) + ";")
        if d.random() < 0.3:
            self.emit(f"and.b32 %t0, {self.pick('u', self.BLOCK_WORDS)}, {INPUT - 1};")
            self.emit("mad.wide.u32 %w0, %t0, 4, %in;")
            self.emit(f"ld.global.u32 {self.word()}, [%w0];")

    def predicate(self):
        of_block = not self.in_function and self.draw.random() < 0.3
        return self.pick("z", self.BLOCK_PREDICATES) if of_block else self.pick("p", self.PREDICATES)

    def chain(self):
        """A sum of 96 bits."""
        a = [self.word() for _ in range(9)]
        op = self.draw.choice(["add", "sub"])
        self.emit(f"{op}.cc.u32 {a[0]}, {a[1]}, {a[2]};")
        self.emit(f"{op}c.cc.u32 {a[3]}, {a[4]}, {a[5]};")
        self.emit(f"{op}c.u32 {a[6]}, {a[7]}, {a[8]};")

    def product_and_sum(self):
        """With the rounding left open: a fused multiply-add, but of ptxas -O0, which has two operations."""
        d, names = self.draw, self.operands()
        kind, first, second, third, result = d.choice(
            [("f32", "f", "e", "i", "F"), ("f64", "g", "j", "l", "G"), ("f16x2", "x", "y", "z", "H")]
        )
        register = "b32" if kind == "f16x2" else kind
        a, b, c, out = (names[n] for n in (first, second, third, result))
        terms = d.choice([f"{c}, %product", f"%product, {c}"])
        self.emit(f"{{ .reg .{register} %product;")
        self.emit(f"mul.{kind} %product, {a}, {b};")
        self.emit(f"{d.choice(['add', 'sub'])}.{kind} {out}, {terms};")
        if d.random() < 0.2 and kind == "f32":
            self.emit(f"{d.choice(['add', 'max'])}.f32 {names['F']}, %product, {b};")
        self.emit("}")

    def division(self):
        op, sign = self.draw.choice(["div", "rem"]), self.draw.choice(["u32", "s32", "u64", "s64"])
        if sign[1:] == "32":
            self.emit(f"or.b32 %t0, {self.word()}, 1;")
            self.emit(f"shr.{sign} %t0, %t0, {self.draw.randrange(12)};")
            self.emit("or.b32 %t0, %t0, 1;")
            self.emit(f"{op}.{sign} {self.word()}, {self.word()}, %t0;")
            return
        self.emit(f"shr.{sign} %w0, {self.pick('b', self.WIDES)}, {self.draw.randrange(50)};")
        self.emit("or.b64 %w0, %w0, 1;")
        self.emit(f"{op}.{sign} {self.pick('b', self.WIDES)}, {self.pick('b', self.WIDES)}, %w0;")

    # ---- memory of this thread ----
    def address(self, size):
        """An offset in a cell, and whether it is in %t1."""
        if self.draw.random() < 0.5:
            return self.draw.randrange(CELL // size) * size
        self.emit(f"and.b32 %t1, {self.word()}, {CELL - size & ~(size - 1)};")
        self.emit("cvt.u64.u32 %w1, %t1;")
        return None

    def own_memory(self):
        d = self.draw
        ptx_type, size, count = d.choice(ACCESSES)
        space = d.choice(["global", "shared", "local", "generic", "generic"])
        base = {"global": "%cg", "shared": "%cs", "local": "%cl"}.get(space)
        if space == "generic":
            first, second = d.sample(["%cg", "%gs", "%gl"], 2)
            self.emit(f"selp.b64 %w2, {first}, {second}, {self.pick('p', self.PREDICATES)};")
            base = "%w2"
        offset = self.address(size * count)
        if offset is None:
            self.emit(f"add.u64 %w1, {base}, %w1;")
            place = "[%w1]"
        else:
            place = f"[{base}+{offset}]"
        registers = d.sample(range(self.WORDS), count)
        text = ", ".join(f"%a{r}" for r in registers)
        vector = "" if count == 1 else f".v{count}"
        text = text if count == 1 else "{" + text + "}"
        where = "" if space == "generic" else "." + space
        if d.random() < 0.5:
            self.emit(f"st{where}{vector}.{ptx_type} {place}, {text};")
        else:
            self.emit(f"ld{where}{vector}.{ptx_type} {text}, {place};")

    def read_only(self):
        if self.draw.random() < 0.5:
            self.emit(f"and.b32 %t0, {self.word()}, {CONSTANTS - 1};")
            self.emit("mul.wide.u32 %w0, %t0, 4;")
            self.emit(f"mov.u64 %w1, table{self.number};")
            self.emit("add.u64 %w0, %w0, %w1;")
            self.emit(f"ld.const.u32 {self.word()}, [%w0];")
            return
        self.emit(f"and.b32 %t0, {self.word()}, {INPUT - 1};")
        self.emit("mad.wide.u32 %w0, %t0, 4, %in;")
        to = self.pick("f", self.SINGLES) if self.draw.random() < 0.3 else self.word()
        self.emit(f"ld.global{self.draw.choice(['', '.nc', '.ca', '.cg'])}.{'f' if '%f' in to else 'u'}32 {to}, [%w0];")

    # ---- memory of all threads ----
    def commutative(self):
        op = self.draw.choice(["add", "xor", "max"])
        ptx_type = "b32" if op == "xor" else "u32"
        at = ["add", "xor", "max"].index(op) * COUNTERS * 4
        self.emit(f"and.b32 %t0, {self.word()}, {COUNTERS - 1};")
        if self.draw.random() < 0.5:
            self.emit("mad.wide.u32 %w0, %t0, 4, %counters;")
            self.emit(f"red.global.{op}.{ptx_type} [%w0+{at}], {self.word()};")
        else:
            self.emit("mad.wide.u32 %w0, %t0, 4, %shared;")
            self.emit(f"red.shared.{op}.{ptx_type} [%w0+{at}], {self.word()};")

    def own_atomic(self):
        d = self.draw
        op = d.choice(["add.u32", "exch.b32", "min.s32", "max.u32", "and.b32", "or.b32", "inc.u32", "cas.b32"])
        space, base = d.choice([(".global", "%cg"), (".shared", "%cs"), ("", "%cg"), ("", "%gs")])
        sources = f"{self.word()}, {self.word()}" if op[:3] == "cas" else self.word()
        self.emit(f"atom{space}.{op} {self.word()}, [{base}+{d.randrange(CELL // 4) * 4}], {sources};")

    def exchange(self):
        """Where all threads are: each reads what another one wrote."""
        d = self.draw
        offset = d.randrange(CELL // 4) * 4
        self.emit(f"st.shared.u32 [%cs+{offset}], {self.word()};")
        self.emit("bar.sync 0;")
        self.emit(f"add.u32 %t0, %me, {d.randrange(1, THREADS)};")
        self.emit(f"rem.u32 %t0, %t0, {THREADS};")
        self.emit(f"mad.wide.u32 %w0, %t0, {CELL}, %cells;")
        self.emit(f"ld.shared.u32 {self.word()}, [%w0+{offset}];")
        self.emit("bar.sync 0;")

    def collective(self, mask):
        """Where all lanes of the mask are."""
        d = self.draw
        kind = d.randrange(6 if self.generation >= 80 else 5)
        if kind == 0:
            mode = d.choice(["up", "down", "bfly", "idx"])
            clamp = 0 if mode == "up" else 31
            self.emit(f"and.b32 %t0, {self.word()}, 31;")
            lane = d.choice(["%t0", str(d.randrange(32))])
            if mask != "-1":  # stays among the lanes of the mask
                mode, lane, clamp = "bfly", str(d.randrange(16)), 31
            self.emit(
                f"shfl.sync.{mode}.b32 {self.word()}|{self.pick('p', self.PREDICATES)}, {self.word()}, {lane}, {clamp}, {mask};"
            )
        elif kind == 1:
            self.emit(f"vote.sync.ballot.b32 {self.word()}, {self.pick('p', self.PREDICATES)}, {mask};")
        elif kind == 2:
            mode = d.choice(["all", "any", "uni"])
            self.emit(
                f"vote.sync.{mode}.pred {self.pick('p', self.PREDICATES)}, {self.pick('p', self.PREDICATES)}, {mask};"
            )
        elif kind == 3:
            self.emit(f"and.b32 %t0, {self.word()}, 7;")
            self.emit(f"match.any.sync.b32 {self.word()}, %t0, {mask};")
        elif kind == 4:
            self.emit(f"bar.warp.sync {mask};")
        else:
            op = d.choice(["add.u32", "max.s32", "min.u32", "and.b32", "xor.b32"])
            self.emit(f"redux.sync.{op} {self.word()}, {self.word()}, {mask};")

    def halves(self):
        """The lower and the upper lanes of a warp go their own ways, and stay together on them."""
        other, end = self.label(), self.label()
        self.emit("and.b32 %t0, %me, 16;")
        self.emit("setp.ne.u32 %s0, %t0, 0;")
        self.emit(f"@%s0 bra {other};")
        self.depth += 1
        for mask in ("0x0000ffff", "0xffff0000"):
            for _ in range(self.draw.randrange(1, 4)):
                self.simple()
                self.collective(mask)
            if mask == "0x0000ffff":
                self.emit(f"bra {end};")
                self.lines.append(f"{other}:")
        self.depth -= 1
        self.lines.append(f"{end}:")

    def barrier_result(self):
        p = self.pick("p", self.PREDICATES)
        if self.draw.random() < 0.5:
            self.emit(f"bar.red.popc.u32 {self.word()}, 0, {p};")
        else:
            # The result goes to a register at once: ptxas for sm_90 repeats the barrier where a predicate is used, and be
            # it in a loop of some lanes.
            self.emit(f"bar.red.{self.draw.choice(['and', 'or'])}.pred %s0, 0, {p};")
            self.emit(f"selp.b32 {self.word()}, {self.word()}, 7, %s0;")

    # ---- control ----
    def branch(self, budget, together):
        other, end = self.label(), self.label()
        self.emit(f"@{self.draw.choice(['', '!'])}{self.predicate()} bra {other};")
        self.depth += 1
        self.block(budget // 2, False)
        self.emit(f"bra {end};")
        self.lines.append(f"{other}:")
        if self.draw.random() < 0.6:
            self.block(budget // 2, False)
        self.depth -= 1
        self.lines.append(f"{end}:")

    def loop(self, budget, together):
        d = self.draw
        start, end, again = self.label(), self.label(), self.label()
        counter = f"%n{self.counters}"
        self.counters += 1
        if together and d.random() < 0.6:
            self.emit(f"mov.u32 {counter}, {d.randrange(1, 5)};")
        else:
            together = False
            of_block = not self.in_function and d.random() < 0.4
            bound = self.pick("u", self.BLOCK_WORDS) if of_block else self.word()
            self.emit(f"and.b32 {counter}, {bound}, 3;")
        self.lines.append(f"{start}:")
        self.depth += 1
        self.emit(f"setp.eq.u32 %s1, {counter}, 0;")
        self.emit(f"@%s1 bra {end};")
        self.emit(f"sub.u32 {counter}, {counter}, 1;")
        self.block(budget // 2, together)
        if not together and d.random() < 0.5:
            self.emit(f"@{self.predicate()} bra {d.choice([end, again])};")
            self.block(budget // 4, False)
        self.lines.append(f"{again}:")
        self.emit(f"bra {start};")
        self.depth -= 1
        self.lines.append(f"{end}:")

    def switch(self, budget):
        targets, end = [self.label() for _ in range(4)], self.label()
        name = self.label()
        self.emit(f"and.b32 %t0, {self.word()}, 3;")
        self.emit(f"{name}: .branchtargets {', '.join(targets)};")
        self.emit(f"brx.idx %t0, {name};")
        self.depth += 1
        for target in targets:
            self.lines.append(f"{target}:")
            self.block(budget // 4, False)
            if self.draw.random() < 0.7:
                self.emit(f"bra {end};")
        self.depth -= 1
        self.lines.append(f"{end}:")

    def call(self):
        name = self.draw.choice(self.functions)
        result, a, b = self.word(), self.word(), self.word()
        self.emit("{")
        self.emit("  .param .b32 r0, q0, q1;")
        self.emit(f"  st.param.b32 [q0], {a};")
        self.emit(f"  st.param.b32 [q1], {b};")
        self.emit(f"  call.uni (r0), {name}, (q0, q1);")
        self.emit(f"  ld.param.b32 {result}, [r0];")
        self.emit("}")

    def statement(self, budget, together):
        d = self.draw
        kinds = {"simple": 12, "chain": 1, "division": 0.3}
        if self.open_rounding and not self.in_function:
            kinds["product_and_sum"] = 0.6
        if not self.in_function:
            kinds |= {"of_block": 3, "own_memory": 4, "read_only": 1, "commutative": 1, "own_atomic": 1}
        if budget > 2 and self.depth < 4:
            kinds |= {"branch": 2, "loop": 1.5, "switch": 0.4}
        if self.functions:
            kinds["call"] = 1
        if together:
            kinds |= {"exchange": 1.5, "whole": 2, "halves": 0.6, "barrier_result": 0.6}
        kind = d.choices(list(kinds), list(kinds.values()))[0]
        if kind == "whole":
            self.collective("-1")
        elif kind in ("branch", "loop"):
            getattr(self, kind)(budget, together)
        elif kind == "switch":
            self.switch(budget)
        else:
            getattr(self, kind)()

    def block(self, budget, together):
        for _ in range(self.draw.randrange(1, max(2, budget))):
            self.statement(budget, together)

    # ---- the whole ----
    def function(self, index):
        name = f"f{self.number}_{index}"
        self.lines, self.in_function = [], True
        self.block(8, False)
        text = (
            f".func (.param .b32 r) {name}(.param .b32 x, .param .b32 y)\n{{\n" + self.registers()
            + "  ld.param.b32 %a0, [x];\n  ld.param.b32 %a1, [y];\n"
            + "".join(f"  xor.b32 %a{i}, %a{i % 2}, {self.draw.getrandbits(32)};\n" for i in range(2, self.WORDS))
            + "".join(f"  mul.wide.u32 %b{i}, %a{i}, %a{i + 1};\n" for i in range(self.WIDES))
            + "".join(f"  setp.lt.s32 %p{i}, %a{i}, %a{i + 2};\n" for i in range(self.PREDICATES))
            + "\n".join(self.lines) + "\n  st.param.b32 [r], %a0;\n  ret;\n}\n"
        )  # fmt: skip
        self.lines, self.in_function = [], False
        return name, text

    def registers(self):
        return (
            f"  .reg .b32 %a<{self.WORDS}>, %t<4>, %n<64>, %x<{self.HALVES}>, %me, %all;\n  .reg .b16 %h<2>;\n"
            f"  .reg .b64 %b<{self.WIDES}>, %w<6>, %cg, %cs, %cl, %gs, %gl, %in, %counters, %shared, %cells;\n"
            f"  .reg .b32 %u<{self.BLOCK_WORDS}>;\n  .reg .b64 %v<{self.BLOCK_WIDES}>;\n  .reg .pred %z<{self.BLOCK_PREDICATES}>;\n"
            f"  .reg .f32 %f<{self.SINGLES}>;\n  .reg .f64 %g<{self.DOUBLES}>;\n  .reg .pred %p<{self.PREDICATES}>, %s<2>;\n"
        )

    def text(self):
        d = self.draw
        before = ".const .align 4 .u32 table{}[{}] = {{{}}};\n".format(
            self.number, CONSTANTS, ", ".join(str(d.getrandbits(32)) for _ in range(CONSTANTS))
        )
        for i in range(d.randrange(3)):
            name, text = self.function(i)
            before += text
            self.functions.append(name)
        self.block(14, True)
        self.block(14, True)
        body = self.lines
        self.lines = []
        self.begin()
        begin, self.lines = self.lines, []
        self.end()
        return (
            f"// {self.what}\n{before}.visible .entry {self.name}(.param .u64 in, .param .u64 cells, .param .u64 counters, "
            ".param .u64 words, .param .u64 wides, .param .u64 singles, .param .u64 doubles, .param .u64 halves)\n{\n"
            + self.registers()
            + f"  .shared .align 16 .b8 cells{self.number}[{CELL * THREADS}];\n"
            + f"  .shared .align 16 .b8 sums{self.number}[{3 * 4 * COUNTERS}];\n"
            + f"  .local .align 16 .b8 own[{CELL}];\n"
            + "\n".join(begin + body + self.lines)
            + "\n}\n"
        )

    def begin(self):
        self.emit("mov.u32 %me, %tid.x;")
        self.emit("mov.u32 %t0, %ctaid.x;")
        self.emit(f"mad.lo.u32 %all, %t0, {THREADS}, %me;")
        self.emit("ld.param.u64 %in, [in];")
        self.emit("ld.param.u64 %counters, [counters];")
        self.emit("ld.param.u64 %cg, [cells];")
        self.emit(f"mad.wide.u32 %cg, %all, {CELL}, %cg;")
        self.emit(f"mov.u64 %cells, cells{self.number};")
        self.emit(f"mad.wide.u32 %cs, %me, {CELL}, %cells;")
        self.emit(f"mov.u64 %shared, sums{self.number};")
        self.emit("mov.u64 %cl, own;")
        self.emit("cvta.shared.u64 %gs, %cs;")
        self.emit("cvta.local.u64 %gl, %cl;")
        for i in range(self.WORDS):
            self.emit(f"mad.wide.u32 %w0, %all, 4, %in;")
            self.emit(f"ld.global.u32 %a{i}, [%w0+{4 * 97 * i % 1024}];")
        for i in range(self.WIDES):
            self.emit(f"mul.wide.s32 %b{i}, %a{i}, %a{i + 2};")
        for i in range(self.SINGLES):
            self.emit(f"cvt.rn.f32.s32 %f{i}, %a{i};" if i % 2 else f"mov.b32 %f{i}, %a{i};")
        for i in range(self.DOUBLES):
            self.emit(f"cvt.f64.f32 %g{i}, %f{i};")
        for i in range(self.HALVES):
            self.emit(f"mov.b32 %x{i}, %a{i + 3};")
        for i in range(self.PREDICATES):
            self.emit(f"setp.lt.s32 %p{i}, %a{i}, %a{i + 1};")
        self.emit("mov.u32 %u0, %ctaid.x;")
        for i in range(1, self.BLOCK_WORDS):
            self.emit(f"mad.lo.u32 %u{i}, %u{i - 1}, {self.draw.getrandbits(16)}, {self.draw.getrandbits(16)};")
        for i in range(self.BLOCK_WIDES):
            self.emit(f"mul.wide.u32 %v{i}, %u{i + 1}, {self.draw.getrandbits(16)};")
        for i in range(self.BLOCK_PREDICATES):
            self.emit(f"setp.lt.u32 %z{i}, %u{i + 2}, {self.draw.getrandbits(16)};")
        for i in range(0, CELL, 4):
            self.emit(f"st.shared.u32 [%cs+{i}], %a{i // 4 % self.WORDS};")
            self.emit(f"st.local.u32 [%cl+{i}], %a{i // 4 % self.WORDS};")
        self.emit(f"setp.lt.u32 %s0, %me, {3 * COUNTERS};")
        self.emit("mad.wide.u32 %w0, %me, 4, %shared;")
        self.emit("mov.u32 %t0, 0;")
        self.emit("@%s0 st.shared.u32 [%w0], %t0;")
        self.emit("bar.sync 0;")

    def end(self):
        for i in range(self.BLOCK_WORDS):
            self.emit(f"xor.b32 %a{i}, %a{i}, %u{i};")
        for i in range(self.BLOCK_WIDES):
            self.emit(f"xor.b64 %b{i}, %b{i}, %v{i};")
        for i in range(self.BLOCK_PREDICATES):
            self.emit(f"selp.b32 %t0, %a{i}, 7, %z{i};")
            self.emit(f"add.u32 %a{self.WORDS - 1 - i}, %a{self.WORDS - 1 - i}, %t0;")
        for name, prefix, count, kind, size in (
            ("words", "a", self.WORDS, "u32", 4),
            ("wides", "b", self.WIDES, "u64", 8),
            ("singles", "f", self.SINGLES, "f32", 4),
            ("doubles", "g", self.DOUBLES, "f64", 8),
            ("halves", "x", self.HALVES, "b32", 4),
        ):
            self.emit(f"ld.param.u64 %w0, [{name}];")
            self.emit(f"mad.wide.u32 %w0, %all, {count * size}, %w0;")
            for i in range(count):
                self.emit(f"st.global.{kind} [%w0+{i * size}], %{prefix}{i};")
        # What is in this thread's shared and local memory, and the sums, joins global memory.
        self.emit("bar.sync 0;")
        for i in range(0, CELL, 4):
            self.emit(f"ld.shared.u32 %t0, [%cs+{i}];")
            self.emit(f"ld.local.u32 %t1, [%cl+{i}];")
            self.emit("mad.lo.u32 %t0, %t0, 31, %t1;")
            self.emit(f"red.global.add.u32 [%cg+{i}], %t0;")
        self.emit(f"setp.lt.u32 %s0, %me, {3 * COUNTERS};")
        self.emit("mad.wide.u32 %w0, %me, 4, %shared;")
        self.emit("mad.wide.u32 %w1, %me, 4, %counters;")
        self.emit("@%s0 ld.shared.u32 %t0, [%w0];")
        self.emit(f"@%s0 red.global.add.u32 [%w1+{3 * 4 * COUNTERS}], %t0;")
        self.emit("ret;")

    def launch(self):
        n = THREADS * BLOCKS
        return (
            f"kernel {self.name} {BLOCKS} {THREADS} 0 {self.seed * 1000 + self.number} exact b32*{INPUT} b32*{n * CELL // 4} "
            f"b32*{6 * COUNTERS} -> b32*{n * self.WORDS} b64*{n * self.WIDES} f32*{n * self.SINGLES} f64*{n * self.DOUBLES} f16x2*{n * self.HALVES}"
        )


class Finished:
    def __init__(self, program):
        self.name, self.what = program.name, program.what
        self.ptx, self.line = program.text(), program.launch()


def generate(count, seed, generation, kind=Program):
    return [Finished(kind(number, seed, generation)) for number in range(count)]
