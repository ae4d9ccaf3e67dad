"""--lowering machine: machine code of PTX is executed and timed; what cannot is said (docs/concepts/assembler.md)."""
import json
import os
import pathlib
import unittest

from harness import Case, main

LIBRARY = pathlib.Path(os.environ.get("SIMTLAB", "simtlab")).resolve().parents[1] / "lib/libsimtlab_optimiser.so"
# Divergent branches in a loop, a division, shared memory: out[t] = the sum of i / (n + 1) for odd i < t.
KERNEL = """.version 7.0
.target sm_70
.address_size 64
.visible .entry work(.param .u64 out, .param .u32 n) {
  .shared .align 4 .b32 kept[65];
  .reg .b64 %d<5>;
  .reg .b32 %r<12>;
  .reg .f32 %f<6>;
  .reg .pred %p<4>;
  ld.param.u64 %d0, [out];
  ld.param.u32 %r9, [n];
  mov.u32 %r0, %tid.x;
  cvt.rn.f32.u32 %f1, %r9;
  add.f32 %f1, %f1, 0f3F800000;
  mov.f32 %f0, 0f00000000;
  mov.u32 %r1, 0;
LOOP:
  setp.ge.u32 %p0, %r1, %r0;
  @%p0 bra DONE;
  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra NEXT;
  cvt.rn.f32.u32 %f2, %r1;
  div.rn.f32 %f3, %f2, %f1;
  add.f32 %f0, %f0, %f3;
NEXT:
  add.u32 %r1, %r1, 1;
  bra LOOP;
DONE:
  TEXT
  mul.wide.u32 %d2, %r0, 4;
  mov.u64 %d3, kept;
  add.u64 %d3, %d3, %d2;
  st.shared.f32 [%d3], %f0;
  bar.sync 0;
  ld.shared.f32 %f4, [%d3];
  add.u64 %d1, %d0, %d2;
  st.global.f32 [%d1], %f4;
  ret;
}
"""
LAUNCH = f"""kernel = "work"
global = 64
block = 64
[[arg]]
name = "out"
type = "f32"
shape = [64]
init = "zero"
[[arg]]
name = "n"
type = "u32"
value = 3
[[expect]]
arg = "out"
values = {[sum(range(1, thread, 2)) / 4 for thread in range(64)]}
"""
CHAIN = (
    """.version 7.0
.target sm_70
.address_size 64
.visible .entry chain(.param .u64 out, .param .u32 rounds, .param .f32 factor, .param .f32 summand) {
  .reg .b64 %d<3>;
  .reg .b32 %r<3>;
  .reg .f32 %f<3>;
  .reg .pred %p<2>;
  ld.param.u64 %d0, [out];
  ld.param.u32 %r0, [rounds];
  ld.param.f32 %f1, [factor];
  ld.param.f32 %f2, [summand];
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f0, %r1;
LOOP:
"""
    + "  fma.rn.f32 %f0, %f0, %f1, %f2;\n" * 64
    + """  sub.u32 %r0, %r0, 1;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra LOOP;
  st.global.f32 [%d0], %f0;
  ret;
}
"""
)
CHAIN_LAUNCH = """kernel = "chain"
grid = 1
block = {threads}
[[arg]]
name = "out"
type = "f32"
shape = [1]
init = "zero"
[[arg]]
name = "rounds"
type = "u32"
value = 20
[[arg]]
name = "factor"
type = "f32"
value = 0.5
[[arg]]
name = "summand"
type = "f32"
value = 1
"""

STEPS = """.version 7.8
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n, .param .u32 m) {
  .shared .align 4 .b32 kept[64];
  .reg .b64 %d<4>;
  .reg .b32 %r<9>;
  .reg .pred %p<3>;
  ld.param.u64 %d0, [out];
  cvta.to.global.u64 %d0, %d0;
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  ld.param.u32 %r3, [m];
  ld.param.u32 %r4, [n];
  mul.wide.u32 %d1, %r2, 4;
  add.s64 %d1, %d0, %d1;
  BODY
  ret;
}
"""


@unittest.skipUnless(LIBRARY.exists(), "built without LLVM 19")
class Assembler(Case):
    def test_a_chain_leaves_its_scheduler_to_other_warps(self):
        """64 dependent multiply-adds a round, each of which waits four cycles: as many warps have theirs as fit the pipeline."""
        self.file("chain.ptx", CHAIN)
        for gpu, full in (("v100", 256), ("a100", 256), ("a40", 512), ("h100", 512)):  # 16 or 32 lanes a scheduler
            cycles = {}
            for threads in (32, full, 2 * full):
                self.file("c.toml", CHAIN_LAUNCH.format(threads=threads))
                result = self.ok("run", "chain.ptx", "--launch", "c.toml", "--gpu", gpu, "--json").stdout
                cycles[threads] = json.loads(result)["kernels"][0]["metrics"]["gpu.cycles"]["value"]
            with self.subTest(gpu=gpu, cycles=cycles):
                rounds = 20 * 64 * 4
                self.assertLess(abs(cycles[full] - cycles[32]), 0.1 * rounds, "nobody waits")
                self.assertAlmostEqual(cycles[2 * full] - cycles[32], rounds, delta=0.2 * rounds)

    def run_work(self, gpu, *words, text=""):
        self.file("work.ptx", KERNEL.replace("TEXT", text))
        self.file("work.toml", LAUNCH)
        self.ok("run", "work.ptx", "--launch", "work.toml", "--gpu", gpu, "--json=r.json", *words)
        (kernel,) = json.loads((self.folder / "r.json").read_text())["kernels"]
        return kernel, {name: metric["value"] for name, metric in kernel["metrics"].items()}

    def test_each_generation_runs_code_of_its_own_that_does_the_same(self):
        for lowering in ("counts", "off", "optimised"):
            self.assertNotIn("code.assembled", self.run_work("a100", "--lowering", lowering)[1])
        for gpu, generation in (
            ("gtx580", 20),
            ("gtx460", 21),
            ("k40", 35),
            ("titanx-maxwell", 52),
            ("titanxp", 61),
            ("v100", 70),
            ("rtx2060", 75),
            ("a100", 80),
            ("rtxa6000", 86),
            ("h100", 90),
        ):
            with self.subTest(gpu):
                _, metrics = self.run_work(gpu)
                self.assertEqual((1, generation), (metrics["code.assembled"], metrics["code.generation"]))

    def test_what_stays_ptx_says_why(self):
        text = "mov.u32 %r3, %smid; mov.u32 %r3, %clusterid.x; add.u32 %r4, %r3, 1; st.shared.b32 [kept+256], %r4;"
        for mode in ("timing", "functional"):
            kernel, metrics = self.run_work("a100", "--mode", mode, text=text)
            self.assertNotIn("code.assembled", metrics)
            warnings = json.dumps(kernel["tables"]["warnings"])
            self.assertIn("not-assembled", warnings)
            self.assertIn("special register", warnings)

    def machine_code(self, body, generation):
        """The kernel's instructions as disasm prints them, without places and control information."""
        self.file("k.ptx", STEPS.replace("BODY", body.replace("; ", ";\n  ")))
        text = self.ok("disasm", "k.ptx", "--assemble", f"sm_{generation}").stdout
        lines = [line.split("---  ", 1)[-1].strip() for line in text.splitlines() if "---  " in line]
        self.assertIn("EXIT", lines)
        return lines

    def test_hopper_reads_constants_by_loads_of_their_own(self):
        body = "mul.lo.u32 %r4, %r2, %r1; add.u32 %r4, %r4, %r3; st.global.u32 [%d1], %r4;"
        for generation, direct in ((70, True), (80, True), (86, True), (90, False)):
            reads = [line.split()[0] for line in self.machine_code(body, generation) if "c[0x0]" in line]
            with self.subTest(generation, reads=reads):
                self.assertEqual(
                    direct, any(not name.startswith(("LDC", "ULDC", "@", "MOV", "IMAD.MOV")) for name in reads)
                )
                self.assertEqual(not direct, all(name.startswith(("LDC", "ULDC")) for name in reads))
        code = self.machine_code(body, 90)
        self.assertTrue(any("UR" in line and line.startswith("IMAD") for line in code), "a factor of all lanes")

    def test_a_step_that_is_a_product_stands_in_the_loop(self):
        body = "mul.lo.u32 %r5, %r3, %r4;\nL: st.global.u32 [%d1], %r2; add.u32 %r2, %r2, %r5;"
        body += " setp.lt.u32 %p0, %r2, 1000; @%p0 bra L;"
        for generation in (70, 75, 80, 86, 90):
            code = self.machine_code(body.replace("mul", "ld.param.u32 %r4, [m]; mul"), generation)
            (end,) = [n for n, line in enumerate(code) if "BRA" in line and n + 1 < len(code)][:1]
            loop = code[code.index(next(line for line in code if line.startswith("STG"))) : end]
            with self.subTest(generation, code=code):
                self.assertTrue(any(line.startswith("IMAD ") for line in code[end - 5 : end]), loop)

    def test_lanes_that_wait_for_each_other_yield(self):
        spin = "L: atom.global.cas.b32 %r4, [%d0], 0, 1; setp.ne.u32 %p0, %r4, 0; @%p0 bra L;"
        count = "L: red.global.add.u32 [%d1], 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, %r1; @%p0 bra L;"
        plain = count.replace("red.global.add.u32 [%d1], 1", "st.global.u32 [%d1], %r2")
        volatile = spin.replace("atom.global.cas.b32 %r4, [%d0], 0, 1", "ld.volatile.global.u32 %r4, [%d0]")
        for body, yields in ((spin, (80, 86, 90)), (count, (80, 86)), (volatile, ()), (plain, ())):
            for generation in (70, 75, 80, 86, 90):
                with self.subTest(body, generation=generation):
                    self.assertEqual(generation in yields, "YIELD" in self.machine_code(body, generation))

    def test_lanes_that_count_in_shared_memory_are_counted(self):
        for generation in (70, 75, 80, 86, 90):
            for operation, counts in (
                ("red.shared.add.u32 [%r6], 1;", generation >= 80),
                ("red.shared.add.u32 [%r6], 2;", False),
                ("red.shared.add.s32 [%r6], 1;", False),
                ("atom.shared.add.u32 %r5, [%r6], 1; st.global.u32 [%d1], %r5;", False),
            ):
                with self.subTest(operation, generation=generation):
                    code = self.machine_code("mov.u32 %r6, kept; " + operation, generation)
                    self.assertEqual(counts, any("ATOMS.POPC.INC.32 RZ" in line for line in code))

    def test_one_lane_does_what_all_do_in_one_place(self):
        """Sums of one number are counts of lanes from Volta on, other values are reduced from Ampere on."""
        mine, all_of_them = "[%d1]", "[%d0]"
        for place in (mine, all_of_them):
            for operation, counts, reduces in (
                (f"red.global.add.u32 {place}, 3;", 70, None),
                (f"red.global.add.s32 {place}, %r2;", None, 80),
                (f"red.global.max.s32 {place}, %r2;", None, 80),
                (f"red.global.add.f32 {place}, 0f3F800000;", None, None),
            ):
                for generation in (70, 75, 80, 86, 90):
                    code = self.machine_code(operation, generation)
                    with self.subTest(operation, generation=generation, code=code):
                        one = place == all_of_them
                        self.assertEqual(one and counts is not None, any(line.startswith("POPC") for line in code))
                        self.assertEqual(
                            one and reduces is not None and generation >= reduces,
                            any(line.startswith("REDUX") for line in code),
                        )


if __name__ == "__main__":
    main()
