"""--lowering optimised: PTX goes through LLVM before it runs; what cannot is said (docs/concepts/optimiser.md)."""
import json
import pathlib
import os
import unittest

from harness import SAXPY_LAUNCH, Case, main

LIBRARY = pathlib.Path(os.environ.get("SIMTLAB", "simtlab")).resolve().parents[1] / "lib/libsimtlab_optimiser.so"
# A sum over a row of 64 whose loop is rolled, with a function that is called.
SUM = """.version 7.0
.target sm_70
.address_size 64
.func (.param .f32 r) add(.param .f32 a, .param .f32 b) {
  .reg .f32 %f<3>;
  ld.param.f32 %f0, [a];
  ld.param.f32 %f1, [b];
  add.f32 %f2, %f0, %f1;
  st.param.f32 [r], %f2;
  ret;
}
.visible .entry sums(.param .u64 in, .param .u64 out) {
  .reg .b64 %d<5>;
  .reg .b32 %r<3>;
  .reg .f32 %f<3>;
  .reg .pred %p;
  ld.param.u64 %d0, [in];
  ld.param.u64 %d1, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d2, %r0, 256;
  add.u64 %d0, %d0, %d2;
  mov.u32 %r1, 0;
  mov.f32 %f0, 0f00000000;
CLOCK
LOOP:
  ld.global.f32 %f1, [%d0];
  { .param .f32 pa; .param .f32 pb; .param .f32 pr;
    st.param.f32 [pa], %f0;
    st.param.f32 [pb], %f1;
    call (pr), add, (pa, pb);
    ld.param.f32 %f0, [pr]; }
  add.u64 %d0, %d0, 4;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p, %r1, 64;
  @%p bra LOOP;
  mul.wide.u32 %d2, %r0, 4;
  add.u64 %d1, %d1, %d2;
  st.global.f32 [%d1], %f0;
  ret;
}
"""
LAUNCH = f"""kernel = "sums"
global = 32
block = 32
[[arg]]
name = "in"
type = "f32"
shape = [2048]
init = "iota"
[[arg]]
name = "out"
type = "f32"
shape = [32]
init = "zero"
[[expect]]
arg = "out"
values = {[64 * 64 * thread + 2016 for thread in range(32)]}
"""


@unittest.skipUnless(LIBRARY.exists(), "built without LLVM 19")
class Optimiser(Case):
    def run_sums(self, text, *words):
        self.file("sums.ptx", text)
        self.file("sums.toml", LAUNCH)
        self.ok("run", "sums.ptx", "--launch", "sums.toml", "--gpu", "a100", "--json=r.json", *words)
        (kernel,) = json.loads((self.folder / "r.json").read_text())["kernels"]
        return kernel, {name: metric["value"] for name, metric in kernel["metrics"].items()}

    def test_a_loop_that_calls_a_function_becomes_straight_code(self):
        text = SUM.replace("CLOCK", "")
        _, plain = self.run_sums(text, "--lowering", "counts")
        _, better = self.run_sums(text, "--lowering", "optimised")
        self.assertNotIn("code.optimised", plain)
        self.assertEqual(better["code.optimised"], 1)
        self.assertLess(better["gpu.instructions.warp"] * 3, plain["gpu.instructions.warp"])
        self.assertLess(better["gpu.cycles"], plain["gpu.cycles"])

    def test_what_reads_the_clock_stays_and_says_so(self):
        kernel, metrics = self.run_sums(SUM.replace("CLOCK", "  mov.u32 %r2, %clock;"), "--lowering", "optimised")
        self.assertNotIn("code.optimised", metrics)
        self.assertIn("it reads the clock", json.dumps(kernel["tables"]))

    # A sum whose parts are sums of common parts has as many ways through it as there are Fibonacci numbers.
    def test_addresses_of_shared_parts_take_no_time(self):
        steps = "".join(f"  add.u64 %d{2 + i % 2}, %d2, %d3;\n" for i in range(80))
        text = (
            SUM.replace("%d<5>", "%d<7>")
            .replace("CLOCK", "")
            .replace(
                "  mul.wide.u32 %d2, %r0, 4;\n  add.u64 %d1",
                "  .shared .align 4 .f32 cell[32];\n  cvt.u64.u32 %d2, %r1;\n  sub.u64 %d2, %d2, 64;\n"
                f"  mov.u64 %d3, %d2;\n{steps}"
                "  mov.u64 %d4, cell;\n  cvta.shared.u64 %d4, %d4;\n  mad.wide.u32 %d4, %r0, 4, %d4;\n"
                "  add.u64 %d5, %d2, %d4;\n  add.u64 %d5, %d5, %d3;\n"
                "  st.f32 [%d5], %f0;\n  ld.f32 %f0, [%d5];\n"
                "  mul.wide.u32 %d2, %r0, 4;\n  add.u64 %d1",
            )
        )
        _, metrics = self.run_sums(text, "--lowering", "optimised")
        self.assertEqual(metrics["code.optimised"], 1)

    def test_chains_of_values_may_be_long(self):
        step = "  mad.lo.u32 %r2, %r2, %r1, %r0;\n"
        text = (
            SUM.replace("CLOCK", "")
            .replace(
                "  add.u32 %r1, %r1, 1;\n",
                f"  mov.u32 %r2, %r1;\n{step * 16000}  st.global.u32 [%d1], %r2;\n  add.u32 %r1, %r1, 1;\n",
            )
            .replace("%r1, 64;", "%r1, 2;")
        )
        self.file("sums.ptx", text)
        self.file("sums.toml", LAUNCH.split("[[expect]]")[0])
        for lowering in ("optimised", "machine"):
            self.ok("run", "sums.ptx", "--launch", "sums.toml", "--mode", "functional", "--lowering", lowering)

    # What is known of the values behind a loop is worked out anew when it is changed: with all passes some minutes.
    def test_thousands_of_loops_are_left_as_they_are(self):
        loop = "  add.u32 %r3, %r2, 5;\nL{0}:\n  add.u32 %r2, %r2, 2;\n  setp.lt.u32 %p, %r2, %r3;\n  @%p bra L{0};\n"
        loops = "".join(loop.format(i) for i in range(3000))
        text = SUM.replace("%r<3>", "%r<4>").replace(
            "CLOCK", f"  mov.u32 %r2, %r0;\n{loops}  st.global.u32 [%d1], %r2;"
        )
        kernel, metrics = self.run_sums(text, "--lowering", "optimised")
        self.assertEqual(metrics["code.optimised"], 1)
        self.assertIn("too many loops for its size", json.dumps(kernel["tables"]))

    def test_other_code_is_not_what_a_checkpoint_holds(self):
        self.saxpy()
        launch = ("saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100")
        self.ok("run", *launch, "--checkpoint", "c.simtck")
        run = self.simtlab("run", *launch, "--lowering", "optimised", "--resume", "c.simtck")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("lowering = machine, this one has optimised", run.stderr)


if __name__ == "__main__":
    main()
