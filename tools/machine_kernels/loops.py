"""Random loops in loops over arrays, for steps of the assembler that need room in registers."""
from . import programs


class Few(programs.Program):
    """Few values at a time, and loops in loops over arrays: for steps that keep what a loop needs in registers as long
    as there is room for it."""

    WORDS, WIDES, SINGLES, DOUBLES, HALVES, PREDICATES = 4, 1, 1, 1, 1, 2
    BLOCK_WORDS, BLOCK_WIDES, BLOCK_PREDICATES = 3, 1, 1
    OPS = [t for t in programs.WORD_OPS if not any("{" + n + "}" in t for n in "AfghH")]

    def predicate(self):
        return self.pick("p", self.PREDICATES)

    def simple(self):
        names = self.operands()
        text = self.draw.choice(self.OPS + programs.PREDICATE_OPS[:3])
        if text.startswith("lop3"):
            names["a"], names["b"], names["c"] = (f"%a{i}" for i in self.draw.sample(range(self.WORDS), 3))
        self.emit(text.format(**names) + ";")

    def element(self):
        """An element of this thread's part of an array."""
        self.emit(f"and.b32 %t0, {self.word()}, {programs.CELL // 4 - 1};")
        self.emit(f"mad.lo.u32 %t0, %all, {programs.CELL // 4}, %t0;")
        self.emit("mul.wide.u32 %w0, %t0, 4;")
        self.emit("add.u64 %w0, %cg, %w0;")
        if self.draw.random() < 0.5:
            self.emit(f"st.global.u32 [%w0], {self.word()};")
        else:
            self.emit(f"ld.global.u32 {self.word()}, [%w0];")

    def statement(self, budget, together):
        kinds = {"simple": 5, "element": 6, "read_only": 3}
        if budget > 2 and self.depth < 4:
            kinds |= {"branch": 1.5, "loop": 4}
        kind = self.draw.choices(list(kinds), list(kinds.values()))[0]
        if kind in ("branch", "loop"):
            getattr(self, kind)(budget, together)
        else:
            getattr(self, kind)()

    def begin(self):
        self.emit("mov.u32 %me, %tid.x;")
        self.emit("mov.u32 %t0, %ctaid.x;")
        self.emit(f"mad.lo.u32 %all, %t0, {programs.THREADS}, %me;")
        self.emit("ld.param.u64 %in, [in];")
        self.emit("ld.param.u64 %cg, [cells];")
        for i in range(self.WORDS):
            self.emit("mad.wide.u32 %w0, %all, 4, %in;")
            self.emit(f"ld.global.u32 %a{i}, [%w0+{4 * 97 * i % 1024}];")
        for i in range(self.PREDICATES):
            self.emit(f"setp.lt.s32 %p{i}, %a{i}, %a{i + 1};")
        self.emit("mov.u32 %u0, %ctaid.x;")
        for i in range(1, self.BLOCK_WORDS):
            self.emit(f"mad.lo.u32 %u{i}, %u{i - 1}, 77, {i};")

    def end(self):
        self.emit("ld.param.u64 %w0, [words];")
        self.emit(f"mad.wide.u32 %w0, %all, {self.WORDS * 4}, %w0;")
        for i in range(self.WORDS):
            self.emit(f"st.global.u32 [%w0+{i * 4}], %a{i};")
        self.emit("ret;")
