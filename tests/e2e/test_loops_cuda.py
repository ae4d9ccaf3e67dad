"""simtlab predict program.c --emit-cuda: the CUDA source of loop nests compiles, computes the same and is staged."""
import json
import pathlib
import re
import unittest

from harness import main
from loops_case import EXAMPLES, LoopsCase, available


@unittest.skipUnless(available(), "simtlab-loops was not built (no LLVM 19)")
class LoopsAsCuda(LoopsCase):
    def test_cuda_source_compiles_and_computes_the_same(self):
        """The port as the file proposes it: the C program calls the function in place of the nest."""
        path = self.file("t.cu", "")
        self.ok("predict", EXAMPLES / "transpose.c", "--run", "100 60", "--emit-cuda", path, "--gpu", "v100")
        text = pathlib.Path(path).read_text()
        name = re.search(r'extern "C" void (\w+)\((.*)\) \{', text)
        names = [re.search(r"(\w+)$", p).group(1) for p in name.group(2).split(",")]
        main_text = f"""
#include <stdio.h>
int main() {{
  static float odata[6000], idata[6000];
  int width = 100, height = 60, bad = 0;
  for (int i = 0; i < 6000; i++) idata[i] = i;
  {name.group(1)}({", ".join(names)});
  for (int y = 0; y < height; y++) for (int x = 0; x < width; x++) bad += odata[x * height + y] != idata[y * width + x];
  printf("bad %d\\n", bad);
  return bad != 0;
}}
"""
        program = self.file("program.cu", text + main_text)
        r = self.ok("run", "--gpu", "v100", program)
        self.assertIn("bad 0", r.stdout)

    def test_staged_cuda_source_computes_the_same_and_is_faster(self):
        main_text = """
#include <stdio.h>
int main() {
  static float ma[128][128], mb[128][128], mc[128][128];
  for (int i = 0; i < 128; i++) for (int j = 0; j < 128; j++) { ma[i][j] = (float)(i + j) / 128; mb[i][j] = (float)(i - j) / 128; }
  CALL;
  double s = 0;
  for (int i = 0; i < 128; i++) for (int j = 0; j < 128; j++) s += mc[i][j] * (1 + i % 7);
  printf("%.9g\\n", s);
  return 0;
}
"""
        seen = []
        for stage in ([], ["--stage"]):
            path = self.file("m.cu", "")
            self.ok("predict", EXAMPLES / "matmul.c", "--run", "", "--emit-cuda", path, "--gpu", "v100", *stage)
            text = pathlib.Path(path).read_text()
            self.assertEqual("__shared__" in text, bool(stage))
            name, parameters = re.search(r'extern "C" void (\w+)\((.*)\) \{', text).groups()
            call = [
                "128" if "int n" in p else {"a": "ma", "b": "mb", "c": "mc"}[re.search(r"\*(\w)\)", p).group(1)]
                for p in parameters.split(", ")
            ]
            program = self.file("program.cu", text + main_text.replace("CALL", f"{name}({', '.join(call)})"))
            # (Machine code has the loads of four rounds under way together; then staging gains less.)
            lowering = ("--lowering", "counts")
            r = self.ok("run", "--gpu", "v100", *lowering, program, f"--json={self.file('r.json', '')}")
            kernel = json.loads(pathlib.Path(self.folder, "r.json").read_text())["kernels"][0]
            seen.append((r.stdout.splitlines()[0], kernel["metrics"]["gpu.time"]["value"]))
        self.assertEqual(seen[0][0], seen[1][0])
        self.assertLess(seen[1][1], 0.6 * seen[0][1])

    def staged(self, source, arguments, main_text, *args):
        """The CUDA source with tiles, and the metrics of its run, whose results are right."""
        path, out = self.file("s.cu", ""), self.file("r.json", "")
        self.ok("predict", source, "--run", arguments, "--emit-cuda", path, "--stage", "--gpu", "titanx-maxwell", *args)
        text = pathlib.Path(path).read_text()
        self.assertIn("__shared__", text)
        name, parameters = re.search(r'extern "C" void (\w+)\((.*)\) \{', text).groups()
        names = [re.search(r"\w+$", p).group(0) for p in parameters.split(", ")]
        main_text = main_text.replace("CALL", f"{name}({', '.join(names)})")
        r = self.ok("run", "--gpu", "v100", self.file("p.cu", text + main_text), f"--json={out}")
        self.assertIn("bad 0", r.stdout)
        return text, {
            k: v["value"] for k, v in json.loads(pathlib.Path(out).read_text())["kernels"][0]["metrics"].items()
        }

    def test_staged_tiles_are_copied_once_and_without_conflicts(self):
        transposed = """
int main() {
  enum { width = W, height = H };
  static float idata[W * H], odata[W * H];
  for (int i = 0; i < W * H; i++) idata[i] = i;
  CALL;
  int bad = 0;
  for (int y = 0; y < H; y++) for (int x = 0; x < W; x++) bad += odata[x * H + y] != idata[y * W + x];
  printf("bad %d\\n", bad);
}
"""
        for width, height, clamps in ((128, 128, False), (100, 72, True)):
            with self.subTest(width=width):
                sizes = f"enum {{ W = {width}, H = {height} }};"
                text, m = self.staged(
                    *(EXAMPLES / "transpose.c", f"{width} {height}", sizes + transposed),
                    *("--nest-block", "32x32", "--nest-map", "y,x"),
                )
                self.assertEqual("from < 0" in text, clamps)
                self.assertEqual(m["shared.bank_conflicts"], 0)
                if not clamps:
                    self.assertEqual(m["instructions.load"], width * height / 32)
        # Rows that lie behind each other: lanes 128 and 160 bytes apart.
        for row in (32, 40):
            with self.subTest(row=row):
                source = self.file(
                    "rows.c",
                    "#include <stdio.h>\n#include <stdlib.h>\n"
                    "void sums(float *restrict out, const float *restrict in, int n) {\n#pragma simtlab kernel\n"
                    f"  for (int i = 0; i < n; i++) {{ float s = 0; for (int k = 0; k < {row}; k++) s += in[i * {row} + k]; out[i] = s; }}\n}}\n"
                    f"int main(void) {{ int n = 8192; float *o = malloc(4 * n), *a = malloc({4 * row} * n);\n"
                    f"  for (int i = 0; i < {row} * n; i++) a[i] = i % 7; sums(o, a, n); return o[5] == 1; }}\n",
                )
                text, m = self.staged(
                    source,
                    "",
                    f"int main() {{ int n = 8192; float *out = (float *)malloc(4 * n), *in = (float *)malloc({4 * row} * n);\n"
                    f"  for (int i = 0; i < {row} * n; i++) in[i] = i % 7; CALL;\n"
                    f"  int bad = 0; for (int i = 0; i < n; i++) {{ float s = 0; for (int k = 0; k < {row}; k++) s += in[i * {row} + k]; bad += s != out[i]; }}\n"
                    '  printf("bad %d\\n", bad); return 0; }\n',
                )
                loads = 8192 * row / 32
                self.assertEqual(m["instructions.load"], loads)
                # A copy that crosses the end of a row meets one bank twice; reads have no conflicts.
                self.assertLessEqual(m["shared.bank_conflicts"], 0 if row % 32 == 0 else loads)

    def test_what_cannot_be_staged_is_refused(self):
        path = self.file("x.cu", "")
        self.fails(2, "predict", EXAMPLES / "matmul.c", "--params", "n=128", "--stage", says="--emit-cuda")
        # Elements of structures are not read as NAME[INDEX].
        r = self.refused(4, "loop-cuda", "predict", EXAMPLES / "nbody.c", "--run", "", "--emit-cuda", path, "--stage")
        self.assertIn("leave out --stage", r.stderr)
        r = self.ok("predict", EXAMPLES / "copy.c", "--run", "", "--emit-cuda", path, "--stage")
        self.assertIn("nothing that shared memory would make faster", " ".join(r.stdout.split()))

    def test_examples_become_cuda_source(self):
        for file in ("saxpy.c", "convolution.c", "matmul.c", "stencil3d.c", "nbody.c"):
            with self.subTest(file=file):
                path = self.file("x.cu", "")
                self.ok("predict", EXAMPLES / file, "--run", "", "--emit-cuda", path)
                pathlib.Path(path).write_text(pathlib.Path(path).read_text() + "int main() { return 0; }\n")
                self.ok("build", path, "-o", self.file("x", ""))


if __name__ == "__main__":
    main()
