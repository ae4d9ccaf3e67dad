"""simtlab predict program.c: sequential loop nests."""
import json
import pathlib
import shutil
import subprocess
import unittest

from harness import SIMTLAB, main
from loops_case import EXAMPLES, LoopsCase, available


@unittest.skipUnless(available(), "simtlab-loops was not built (no LLVM 19)")
class Loops(LoopsCase):
    def test_a_store_is_not_blamed_for_arithmetic(self):
        path = self.file(
            "chain.c",
            """#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  float *out = malloc(n * sizeof(float));
  for (int t = 0; t < n; ++t) {
    float x = t;
    for (int i = 0; i < 1000; ++i) x = x * 0.999f;
    out[t] = x;
  }
  return out[1] > 1;
}
""",
        )
        self.ok("predict", path, "--loop", "chain.c:5", "--run", "1024", "--gpu", "gtx460", "--json=c.json")
        k = json.loads((self.folder / "c.json").read_text())["kernels"][0]
        (store,) = (dict(zip(k["tables"]["nest_accesses"]["columns"], r)) for r in k["tables"]["nest_accesses"]["rows"])
        self.assertLess(store["idle"], 0.05)
        _, copy = self.predicted("copy.c", "--run", "100000")
        t = copy["kernels"][0]["tables"]["nest_accesses"]
        self.assertGreater(sum(dict(zip(t["columns"], r))["idle"] for r in t["rows"]), 0.5)

    def test_transpose(self):
        m, result = self.predicted("transpose.c", "--loop", "transpose.c:9", "--params", "width=1024,height=1024")
        self.assertEqual(m["predict.nest.iterations"], 1024 * 1024)
        self.assertGreater(m["predict.throughput.time"], 0)
        mappings = self.table(result, "nest_mappings")
        self.assertEqual({(r["x"], r["y"]) for r in mappings}, {("x", "y"), ("y", "x"), ("x", None), ("y", None)})
        strides = {(r["array"]): r["stride"] for r in self.table(result, "nest_accesses")}
        self.assertEqual(sorted(strides.values()), [4, 4096])

    def test_ptx_of_the_nest(self):
        path = self.file("k.ptx", "")
        self.predicted(
            "transpose.c", "--loop", "transpose.c:9", "--params", "width=1024,height=1024", "--emit-ptx", path
        )
        text = pathlib.Path(path).read_text()
        self.assertIn(".entry transpose_9", text)
        self.assertIn("%ctaid.y", text)
        self.assertNotIn("debug_info", text)

    def simulated(self, file, arguments=""):
        m, result = self.predicted(file, "--run", arguments, "--simulate")
        self.assertGreater(m["predict.nest.simulated.time"], 0)
        self.assertGreater(m["predict.nest.sequential.time"], 0)
        rows = self.table(result, "nest_worth")
        self.assertEqual(rows[0]["model"], "simulation")
        self.assertTrue(all(r["speedup"] > r["speedup_overhead"] > r["speedup_context"] for r in rows))
        # LLVM's instructions before the optimiser, and those of the PTX: neither far from the other.
        ratio = m["predict.nest.instructions"] / m["predict.nest.simulated.instructions"]
        self.assertTrue(0.4 < ratio < 2.2, ratio)
        return m, result

    def test_examples_are_simulated_on_their_own_data(self):
        for file, equal in (
            ("copy.c", True),
            ("saxpy.c", True),
            ("transpose.c", True),
            ("convolution.c", True),
            ("mandelbrot.c", True),
            ("stencil3d.c", False),
            ("nbody.c", False),
            ("black_scholes.c", False),
        ):
            with self.subTest(file=file):
                m, _ = self.simulated(file, "64 48" if file in ("transpose.c", "convolution.c") else "")
                if equal:
                    self.assertEqual(m["predict.nest.difference"], 0)
                else:
                    self.assertLess(m["predict.nest.difference"], 1e-4)

    def test_caches_find_what_they_find_in_the_simulation(self):
        """Warps, iterations and members of one structure reuse lines together, as far as L1 holds them."""
        for gpu in ("v100", "gtx460"):
            for file, run in (("nbody.c", "1024"), ("convolution.c", ""), ("stencil3d.c", ""), ("copy.c", "")):
                with self.subTest(file=file, gpu=gpu):
                    r = self.ok(
                        *("predict", EXAMPLES / file, "--run", run, "--simulate", "--gpu", gpu),
                        *("--model", "mwp-cwp-2012", "--json", "--lowering", "counts"),
                    )
                    result = json.loads(r.stdout)
                    worth = {row["model"]: row for row in self.table(result, "nest_worth")}["simulation"]
                    simulated = worth["l2_bandwidth"] * worth["kernel"] * 1e-9
                    ratio = result["total"]["predict.nest.bytes.l2"]["value"] / simulated
                    self.assertTrue(0.5 < ratio < 2, ratio)
                    if file != "nbody.c":
                        continue
                    # Four members, each loaded by itself: 15 of 16 loads of V100's sectors hit L1.
                    requests = sum(row["requests"] for row in self.table(result, "nest_accesses"))
                    self.assertGreaterEqual(requests, 4 * 1024 * 1024 / 32)
                    terms = {row["name"]: row["value"] for row in self.table(result, "terms")}
                    self.assertLess(terms["AMAT"], 120)

    def test_matmul(self):
        m, result = self.simulated("matmul.c")
        self.assertEqual(m["predict.nest.flops"], 2 * 128**3)
        self.assertEqual(m["predict.nest.bytes.h2d"], 2 * 128 * 128 * 4)
        self.assertEqual(m["predict.nest.bytes.d2h"], 128 * 128 * 4)
        best = self.table(result, "nest_mappings")[0]
        self.assertEqual((best["x"], best["y"]), ("j", "i"))
        strides = {(r["kind"], r["array"]): r["stride"] for r in self.table(result, "nest_accesses")}
        self.assertEqual(strides, {("load", "a"): 0, ("load", "b"): 4, ("store", "c"): 4})

    def test_three_dimensions(self):
        m, result = self.simulated("stencil3d.c", "20")
        self.assertEqual(len(self.table(result, "nest_mappings")), 3 + 6 + 6)
        cube, result = self.predicted(
            "stencil3d.c", "--run", "20", "--nest-map", "x,y,z", "--nest-block", "16x4x2", "--simulate"
        )
        self.assertEqual(cube["predict.nest.threads"], 18**3)
        self.assertEqual(result["kernels"][0]["launch"]["block"], [16, 4, 2])
        self.assertEqual(result["kernels"][0]["launch"]["grid"], [2, 5, 9])
        self.refused(
            2, "option-value", "predict", EXAMPLES / "stencil3d.c", "--params", "n=20", "--nest-block", "16x4x2x2"
        )

    def test_listing_7_2(self):
        _, result = self.predicted(
            "convolution.c",
            "--params",
            "width=1024,height=1024,size=5,row=3072,half=2",
            "--nest-map",
            "px,py",
            "--nest-block",
            "32x8",
        )
        by_array = {}
        for r in self.table(result, "nest_accesses"):
            by_array.setdefault((r["kind"], r["array"]), []).append(r)
        self.assertEqual({r["stride"] for r in by_array["load", "in"]}, {3})
        self.assertEqual({r["stride"] for r in by_array["store", "out"]}, {3})
        self.assertEqual({r["stride"] for r in by_array["load", "filter"]}, {0})
        self.assertEqual({r["passes"] for r in by_array["load", "in"]}, {1})
        _, result = self.predicted(
            "convolution.c", "--params", "width=1024,height=1024,size=5,row=3072,half=2", "--nest-map", "py,px"
        )
        row = [r for r in self.table(result, "nest_accesses") if r["array"] == "in"][0]
        self.assertEqual(row["stride"], 3072)
        self.assertGreater(row["sectors"], 31)  # 1020 rows: the last warp is cut off
        self.assertEqual(row["sectors"], row["lines"])

    def test_the_histogram_is_refused_with_the_reason(self):
        r = self.refused(3, "loop-unproven", "predict", EXAMPLES / "histogram.c", "--params", "n=1000")
        self.assertIn("a histogram", r.stderr)
        self.assertRegex(r.stderr, r"histogram\.c:7:\d+: error")
        # Said to be parallel, it is simulated, and found out.
        r = self.simtlab("predict", EXAMPLES / "histogram.c", "--run", "", "--simulate", "--assume-parallel")
        self.assertEqual(r.returncode, 5, r.stderr)
        self.assertIn("[loop-result]", r.stderr)

    def test_a_trip_count_of_data_needs_a_run(self):
        r = self.refused(
            3, "loop-trip-count", "predict", EXAMPLES / "mandelbrot.c", "--params", "width=96,height=64,most=200"
        )
        self.assertRegex(r.stderr, r"mandelbrot\.c:11:7: error")

    def test_bad_nests(self):
        cases = [
            ("for (int i = 0; i < n; i++) { if (b[i] > 0) break; a[i] = 1; }", "loop-form", 4),
            ("float s = 0; for (int i = 0; i < n; i++) s += b[i]; a[0] = s;", "loop-carried", 4),
            ("for (int i = 1; i < n; i++) a[i] = a[i - 1] + b[i];", "loop-dependence", 4),
            ("for (int i = 0; i < n; i++) a[i] = (float)rand();", "loop-call", 4),
            ("for (int i = 0; i < n; i++) a[i] = g(b[i]);", "loop-call", 4),
            ("for (int i = 0; i < n; i++) a[i] = (float)down(i);", "loop-recursion", None),
            ("for (int i = 0; i < n; i++) a[c[i]] = b[i];", "loop-unproven", 4),
            ("for (int i = 0; i < n; i++) list[i][0] = b[i];", "loop-pointer", 4),
            ("for (int i = 0; i < n; i *= 2) a[i] = 0;", "loop-form", 4),
            ("for (int i = 0; i < m; i++) a[i] = 0;", "loop-parameters", 4),
            ("for (int i = 0; i < n - 100; i++) a[i] = b[i];", "loop-empty", 4),
        ]
        for body, identifier, line in cases:
            with self.subTest(body=body):
                path = self.c_file(
                    body,
                    "static float (*g)(float); float **list; static int down(int n) { return n > 0 ? down(n - 1) * n + down(n / 2) : 0; } "
                    "void set(float (*f)(float)) { g = f; }",
                )
                r = self.refused(3, identifier, "predict", path, "--loop", f"{path}:4", "--params", "n=100")
                if line is not None:
                    self.assertRegex(r.stderr, rf"nest\.c:{line}:\d+: error: ")
                self.assertIn("hint: ", r.stderr)

    def test_bad_input(self):
        good = EXAMPLES / "transpose.c"
        path = self.file("broken.c", "void f(float *a) { for (int i = 0; i < 10; i++) a[i] = ; }\n")
        r = self.refused(3, "compile-failed", "predict", path, "--loop", f"{path}:1")
        self.assertIn("broken.c:1:", r.stderr)
        self.assertIn("expected expression", r.stderr)
        self.refused(3, "file-missing", "predict", "nothing.c", "--loop", "nothing.c:1")
        r = self.refused(3, "loop-missing", "predict", good, "--loop", f"{good}:11")
        self.assertIn("lines 9, 10, 19", r.stderr)
        self.refused(3, "loop-missing", "predict", self.file("none.c", "int x;\n"))
        # Whoever names no loop is told all of them, however he does not name it.
        marked_none = self.file("unmarked.c", good.read_text().replace("#pragma simtlab kernel", ""))
        for words in (
            [marked_none],
            [marked_none, "--loop"],
            ["--loop", marked_none],
            [marked_none, "--loop", marked_none],
            [marked_none, "--loop", "--gpu", "v100"],
        ):
            self.assertIn(
                "loops begin at the lines 9, 10, 19", self.refused(3, "loop-missing", "predict", *words).stderr, words
            )
        self.refused(2, "option-value", "predict", good, "--loop", "transpose.c:x")
        self.refused(2, "option-value", "predict", good, "--params", "width=64,height=64", "--nest-block", "64x64")
        self.refused(2, "option-value", "predict", good, "--params", "width=64,height=64", "--nest-map", "x,z")
        self.refused(2, "option-value", "predict", good, "--params", "width")
        self.refused(2, "option-value", "predict", good, "--params", "width=many")
        self.refused(3, "loop-parameters", "predict", good, "--params", "depth=3")
        self.refused(3, "loop-data", "predict", good, "--params", "width=8,height=8", "--simulate")
        self.refused(2, "option-conflict", "predict", "app.cu", "--params", "n=3")

    def test_runs_that_fail(self):
        spin = "#include <unistd.h>\nint main(int argc, char **argv) {\n  float a[100];\n  for (int i = 0; i < 100; i++) a[i] = argc;\n  "
        for text, word in (
            ("for (volatile int k = 1; k;) ; return (int)a[3]; }", "did not end"),
            ("return a[3] < 9 ? 7 : 0; }", "status 7"),
            ("return *(volatile char *)0 + (int)a[0]; }", "status 139"),
        ):
            path = self.file("run.c", spin + text + "\n")
            r = self.simtlab("predict", path, "--loop", f"{path}:4", "--run", "", "--run-limit", "0.5")
            self.assertEqual(r.returncode, 5, r.stderr)
            self.assertIn("[loop-run]", r.stderr)
            self.assertIn(word, r.stderr)
        path = self.file(
            "run.c",
            "int main(int argc, char **argv) {\n  static float a[100];\n  if (argc > 1)\n    for (int i = 0; i < 100; i++) a[i] = argc;\n  return a[5] > 100; }\n",
        )
        r = self.simtlab("predict", path, "--loop", f"{path}:4", "--run", "")
        self.assertIn("without reaching the loop", r.stderr)
        self.assertEqual(self.simtlab("predict", path, "--loop", f"{path}:4", "--run", "x").returncode, 0)

    def test_without_the_part_that_uses_llvm(self):
        alone = pathlib.Path(self.folder) / "simtlab"
        shutil.copy(SIMTLAB, alone)
        r = subprocess.run(
            [alone, "predict", EXAMPLES / "copy.c"], env=self.environment(), capture_output=True, text=True
        )
        self.assertEqual(r.returncode, 7, r.stderr)
        self.assertIn("llvm-19-dev", r.stderr)
        self.assertIn("[loops-missing]", r.stderr)

    def test_of_several_calls_the_one_with_most_to_do_is_measured(self):
        path = self.file(
            "run.c",
            "static float a[500];\nvoid f(int n) {\n  for (int i = 0; i < n; i++) a[i] = i;\n}\nint main(void) {\n"
            "  for (int k = 0; k < 30; k++) f(k < 20 ? 25 * k : 3);\n  return 0; }\n",
        )
        r = json.loads(self.ok("predict", path, "--loop", f"{path}:3", "--run", "", "--simulate", "--json").stdout)
        self.assertEqual(r["total"]["predict.nest.iterations"]["value"], 475)
        t = r["kernels"][0]["tables"]["nest_notes"]
        self.assertTrue(any("30 times" in row[1] and "number 20" in row[1] for row in t["rows"]), t)

    def test_forms_of_loops(self):
        forms = [
            "for (int i = n - 1; i >= 0; i--) a[i] = i * 3;",
            "for (int i = n; i > 0; i -= 3) a[i] = i * 3;",
            "for (unsigned i = 0; i < (unsigned)n; i++) a[i] = i;",
            "for (size_t i = 0; i < 200; i += 7) a[i] = i;",
            "for (int i = 0; i != n; i++) a[i] = i;",
            "for (int i = n; i != 0; --i) a[i] = i;",
            "for (int i = 0; i + 1 < n; i++) a[i] = i;",
            "for (int i = 0; i < n; i++) { if (i % 3 == 0) continue; a[i] = i; }",
            "for (int i = 0; i < 20; i++) for (int j = i + 1; j < 30; j++) g[i][j] = i * 100 + j;",
            "for (int i = 0; i < 20; i++) for (int j = 0; j < 30; j++) { if (j == 5) break; g[i][j] = i + j; }",
            "for (int i = 0; i < n; i++) { float t[8]; for (int k = 0; k < 8; k++) t[k] = k * i; a[i] = t[i % 8] + t[(i + 3) % 8]; }",
            "for (int i = 0; i < n; i++) switch (i % 5) { case 0: a[i] = 1; break; case 3: a[i] = -1; break; default: a[i] = i; }",
            "for (int i = 0; i < n; i++) { int k = i, c = 0; do { k /= 2; c++; } while (k > 0); a[i] = c + twice(k); }",
        ]
        for form in forms:
            with self.subTest(form=form):
                path = self.file(
                    "form.c",
                    "#include <stdlib.h>\nstatic float a[300], g[20][30];\nstatic int twice(int x) { return 2 * x; }\n"
                    f"int main(void) {{ int n = 200;\n{form}\n return twice(0); }}\n",
                )
                r = json.loads(
                    self.ok(
                        "predict",
                        path,
                        "--loop",
                        f"{path}:5",
                        "--run",
                        "",
                        "--simulate",
                        "--json",
                        "--emit-cuda",
                        self.file("f.cu", ""),
                    ).stdout
                )
                self.assertEqual(r["total"]["predict.nest.difference"]["value"], 0)

    def test_unknown_parameters_are_asked_for(self):
        path = self.file(
            "stride.c",
            "void f(int *a, int N, int s) {\n  for (int i = 0; i < N; i++) {\n    int j = s * i;\n    a[j] = j + i;\n  }\n}\n",
        )
        words = ["predict", path, "--loop", f"{path}:2", "--gpu", "gtx460"]
        r = self.refused(3, "loop-unproven", *words, "--params", "N=4096")
        self.assertIn("depends on 's'", r.stderr)
        self.assertIn("--params s=VALUE", r.stderr)
        self.ok(*words, "--params", "N=4096,s=3")
        self.refused(3, "loop-dependence", *words, "--params", "N=4096,s=0")
        # Nobody says what s is: 32 requests a warp, all of them from DRAM.
        result = json.loads(self.ok(*words, "--params", "N=4096", "--assume-parallel", "--json").stdout)
        (row,) = self.table(result, "nest_accesses")
        self.assertEqual((row["lines"], row["evaluated"]), (32, 0))
        one, three = (
            json.loads(self.ok(*words, "--params", f"N=4096,s={s}", "--json").stdout)["total"] for s in (1, 3)
        )
        worst = result["total"]["predict.resios.time"]["value"]
        self.assertGreater(worst, three["predict.resios.time"]["value"])
        self.assertGreater(three["predict.resios.time"]["value"], one["predict.resios.time"]["value"])
        self.assertTrue(any("copies are left out" in row["text"] for row in self.table(result, "nest_notes")))

    def test_more_registers_than_a_thread_may_have_are_spilled(self):
        n = 87
        loads = " ".join(f"float v{k} = a[i + {k} * n];" for k in range(n))
        sums = " + ".join(f"v{k} * v{n - 1 - k}" for k in range(n))
        sums += " + " + " + ".join(f"v{k} / (v{(k + 40) % n} + 2)" for k in range(n))
        path = self.file(
            "spill.c",
            "#include <stdlib.h>\nint main(void) {\n  int n = 512;\n  float *restrict a = malloc(n * 4 * 87), *restrict o = malloc(n * 4);\n"
            f"  for (int i = 0; i < n * 87; i++) a[i] = i % 7;\n  for (int i = 0; i < n; i++) {{ {loads} o[i] = {sums}; }}\n  return o[3] < 0; }}\n",
        )
        words = ["predict", path, "--loop", f"{path}:6", "--run", "", "--simulate"]
        result = json.loads(self.ok(*words, "--gpu", "gtx460", "--json").stdout)
        m = {k: v["value"] for k, v in result["total"].items()}
        self.assertEqual(m["predict.nest.registers"], 63)  # of compute capability 2.x
        self.assertGreater(m["predict.nest.spills"], 0)
        self.assertGreater(m["predict.nest.simulated.time"], 0)
        self.assertTrue(any("spills and reloads" in row["text"] for row in self.table(result, "nest_notes")))
        large = json.loads(self.ok(*words, "--gpu", "v100", "--json").stdout)["total"]
        self.assertEqual(large["predict.nest.spills"]["value"], 0)
        # A block that no SM takes is refused before anything is simulated, with what helps.
        r = self.refused(3, "launch-resources", *words, "--gpu", "gtx460", "--nest-block", "1024")
        self.assertIn("--nest-block", r.stderr)
        self.fails(2, *words, "--regs", "20", says="no effect")

    def test_members_of_structures_have_their_names(self):
        path = self.file(
            "s.c",
            "#include <stdlib.h>\ntypedef struct { float *m, *x; int n; } S;\nint main(void) {\n  S s = {malloc(400), malloc(400), 100};\n"
            "  for (int i = 0; i < 100; i++) s.m[i] = i;\n  for (int i = 0; i < s.n; i++) s.x[i] = 2 * s.m[i];\n  return s.x[3] < 0; }\n",
        )
        words = ["predict", path, "--loop", f"{path}:6", "--run", ""]
        result = json.loads(self.ok(*words, "--json").stdout)
        self.assertEqual({r["array"] for r in self.table(result, "nest_accesses")}, {"s.m", "s.x"})
        text = self.ok(*words).stdout
        self.assertNotRegex(text, r"\b0 per byte of DRAM")
        self.refused(4, "loop-cuda", *words, "--emit-cuda", self.file("s.cu", ""))

    def test_what_shared_memory_could_hold(self):
        """Two arrays that every block reads whole, of which one fits beside nothing else."""
        path = self.file(
            "big.c",
            "#include <stdlib.h>\nint main(void) {\n  int n = 2048, A = 10240, B = 6144;\n"
            "  float *restrict x = malloc(A * 4), *restrict y = malloc(B * 4), *restrict o = malloc(n * 4);\n"
            "  for (int i = 0; i < A; i++) x[i] = i;\n  for (int i = 0; i < B; i++) y[i] = i;\n"
            "  for (int t = 0; t < n; t++) {\n    float s = 0;\n    for (int k = 0; k < A; k++) s += x[k] * t;\n"
            "    for (int r = 0; r < 3; r++) for (int k = 0; k < B; k++) s -= y[k] * r;\n    o[t] = s;\n  }\n  return o[5] == 1; }\n",
        )
        r = json.loads(self.ok("predict", path, "--loop", f"{path}:7", "--run", "", "--gpu", "gtx460", "--json").stdout)
        rows = {row["array"]: row for row in self.table(r, "nest_staging")}
        mean = 2048 / r["kernels"][0]["launch"]["grid"][0]  # threads of a block
        self.assertEqual({a: row["bytes"] for a, row in rows.items()}, {"x": 40960, "y": 24576})
        self.assertAlmostEqual(rows["x"]["reuse"], mean, delta=1)
        self.assertAlmostEqual(rows["y"]["reuse"], 3 * mean, delta=3)
        self.assertEqual({a: row["chosen"] for a, row in rows.items()}, {"x": 0, "y": 1})
        self.assertEqual({a: row["fits"] for a, row in rows.items()}, {"x": 1, "y": 1})
        self.assertLess(
            r["total"]["predict.nest.staging.after"]["value"], r["total"]["predict.nest.staging.before"]["value"]
        )

    def test_several_gpus_blocks_and_sizes(self):
        nest = EXAMPLES / "transpose.c"
        sizes = ["--params", "width=1024,height=512"]
        alone = {
            gpu: json.loads(self.ok("predict", nest, *sizes, "--gpu", gpu, "--json").stdout)["total"][
                "predict.throughput.time"
            ]["value"]
            for gpu in ("v100", "gtx480")
        }
        both = json.loads(self.ok("predict", nest, *sizes, "--gpu", "v100,gtx480", "--json").stdout)["sweep"]
        self.assertEqual({p["point"]["gpu"]: p["total"]["predict.throughput.time"]["value"] for p in both}, alone)
        rows = self.ok(
            "predict", nest, "--gpu", "v100", "--params", "height=512", "--sweep", "width=256:1024", "--csv"
        ).stdout.splitlines()
        self.assertEqual([row.split(",")[0] for row in rows], ["width", "256", "512", "1024"])
        self.assertEqual(float(rows[3].split(",")[1]), alone["v100"])
        table = self.ok(
            "predict", nest, *sizes, "--gpu", "v100", "--sweep", "block=32:128", "map=x+y,y+x", "sm.count=40,80"
        ).stdout.splitlines()
        self.assertEqual(len(table), 1 + 3 * 2 * 2)
        # The program runs once, however many devices there are.
        r = self.ok("predict", nest, "--run", "64 64", "--gpu", "v100,a100,h100")
        self.assertEqual(r.stderr.count("running"), 1)
        self.fails(2, "predict", nest, "--run", "64 64", "--sweep", "width=32,64", says="one value of it")
        self.fails(3, "predict", nest, *sizes, "--sweep", "depth=1,2", says="no parameter 'depth'")
        self.fails(2, "predict", nest, *sizes, "--gpu", "v100,a100", "--emit-cuda", "x.cu", says="--emit-cuda")
        self.fails(2, "predict", nest, *sizes, "--nest-block", "32", "--sweep", "block=32,64", says="--nest-block")
        self.fails(2, "predict", nest, *sizes, "--whole", says="no effect on the prediction of a sequential C program")

    def test_counts_by_hand_take_precedence(self):
        nest = EXAMPLES / "transpose.c"
        words = ["predict", nest, "--params", "width=1024,height=1024", "--gpu", "v100", "--json"]
        as_it_is, slow = (
            json.loads(self.ok(*words, *more).stdout)
            for more in ([], ["--counts", self.file("c.toml", "dram_bytes = 1e9\nh2d_bytes = 4e9\n")])
        )
        time = slow["total"]["predict.roofline.time"]["value"]
        self.assertAlmostEqual(time, 1e9 / 900e9 * 1e9, delta=0.01 * time)
        self.assertLess(as_it_is["total"]["predict.roofline.time"]["value"], time / 50)
        self.fails(3, *words, "--counts", self.file("bad.toml", "dram_bytes = -1\n"), says="bad.toml:1:")

    def test_other_sources_of_the_program(self):
        other = self.file("other.c", "int size(void) { return SIZE; }\n")
        path = self.file(
            "run.c",
            "int size(void);\nstatic float a[SIZE];\nint main(void) {\n  int n = size();\n  for (int i = 0; i < n; i++) a[i] = i;\n  return 0; }\n",
        )
        r = self.ok("predict", path, "--loop", f"{path}:5", "--run", "", "--cflags", f"-DSIZE=700 {other}", "--json")
        self.assertEqual(json.loads(r.stdout)["total"]["predict.nest.iterations"]["value"], 700)

    def test_a_run_is_announced_and_keeps_to_itself(self):
        r = self.ok("predict", EXAMPLES / "copy.c", "--run", "1000")
        self.assertIn("running", r.stderr)
        self.assertNotIn("999", r.stdout.splitlines()[0])

    def test_pointers_that_may_overlap(self):
        path = self.file(
            "overlap.c", "void f(int n, float *a, float *b) {\n  for (int i = 0; i < n; i++) a[i] = b[i];\n}\n"
        )
        r = self.refused(3, "loop-unproven", "predict", path, "--loop", f"{path}:2", "--params", "n=100")
        self.assertIn("may overlap", r.stderr)
        self.ok("predict", path, "--loop", f"{path}:2", "--params", "n=100", "--assume-parallel")

    def test_the_floor_is_one(self):
        """Counts are those of the optimised kernel: no simulation is faster than the roofline of them."""
        bodies = [
            "float s = 0; for (int k = 0; k < 200; k++) s = s * b[i] + 0.5f; a[i] = s;",
            "float s = 0; for (int k = 0; k < 64; k++) s += b[i * 64 + k]; a[i] = s;",
            "float s = 0; for (int k = i; k < 96; k++) s += b[k] * b[96 + k]; a[i] = s;",
            "int s = i; for (int k = 0; k < 100; k++) s = s * 5 + (s >> 3); a[i] = s;",
            "float s = 0; for (int k = 0; k < 9; k++) for (int l = 0; l < 11; l++) s += b[k * 11 + l] / (i + l + 1); a[i] = s;",
            "a[i] = i % 3 == 0 ? b[i] * 2 : b[2 * i] + b[2 * i + 1];",
            "double s = 1; for (int k = 1; k < 30; k++) s += b[i] / (s + k); a[i] = s;",
        ]
        for body in bodies:
            with self.subTest(body=body):
                path = self.file(
                    "floor.c",
                    "#include <stdlib.h>\nint main(void) {\n  float *restrict a = malloc(4 * 6000), *restrict b = malloc(4 * 6000 * 64);\n"
                    "  for (int i = 0; i < 6000 * 64; i++) b[i] = 1 + i % 3;\n"
                    f"  for (int i = 0; i < 6000; i++) {{ {body} }}\n  return a[3] == 77; }}\n",
                )
                result = json.loads(
                    self.ok(
                        *("predict", path, "--loop", f"{path}:5", "--run", "", "--simulate", "--gpu", "v100", "--json"),
                        *("--lowering", "counts"),  # as the nest's instructions are counted
                    ).stdout
                )
                m = {k: v["value"] for k, v in result["total"].items()}
                self.assertLessEqual(m["predict.roofline.time"], m["predict.nest.simulated.time"])
                notes = " ".join(row["text"] for row in self.table(result, "nest_notes"))
                self.assertNotIn("before the optimiser", notes)
                if "k = i" in body or "?" in body:
                    continue  # a warp executes what any of its lanes does
                ratio = m["predict.nest.instructions"] / m["predict.nest.simulated.instructions"]
                self.assertTrue(0.8 < ratio < 1.25, ratio)


if __name__ == "__main__":
    main()
