"""simtlab predict program.c: sequential loop nests."""
import json
import os
import pathlib
import re
import unittest

from harness import SOURCE, Case, main

EXAMPLES = SOURCE / "examples/loops"


def available():
    return os.path.exists(os.path.join(os.path.dirname(os.environ["SIMTLAB"]), "simtlab-loops"))


@unittest.skipUnless(available(), "simtlab-loops was not built (no LLVM 19)")
class Loops(Case):
    def predicted(self, file, *args):
        result = json.loads(self.ok("predict", str(EXAMPLES / file), *args, "--gpu", "v100", "--json").stdout)
        return {k: v["value"] for k, v in result["total"].items()}, result

    def table(self, result, name):
        t = result["kernels"][0]["tables"][name]
        return [dict(zip(t["columns"], row)) for row in t["rows"]]

    def c_file(self, body, declarations=""):
        return self.file("nest.c", f"#include <stdlib.h>\n{declarations}\nvoid f(int n, int m, float *restrict a, const float *restrict b, const int *restrict c) {{\n{body}\n}}\n")

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
        self.predicted("transpose.c", "--loop", "transpose.c:9", "--params", "width=1024,height=1024", "--emit-ptx", path)
        text = pathlib.Path(path).read_text()
        self.assertIn(".entry transpose_9", text)
        self.assertIn("%ctaid.y", text)
        self.assertNotIn("debug_info", text)


if __name__ == "__main__":
    main()
