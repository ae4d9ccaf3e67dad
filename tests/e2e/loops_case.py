"""What the tests of loop nests have in common."""
import json
import os

from harness import SIMTLAB, SOURCE, Case

EXAMPLES = SOURCE / "examples/loops"


def available():
    return os.path.exists(os.path.join(os.path.dirname(SIMTLAB), "simtlab-loops"))


class LoopsCase(Case):
    def predicted(self, file, *args):
        result = json.loads(self.ok("predict", str(EXAMPLES / file), *args, "--gpu", "v100", "--json").stdout)
        return {k: v["value"] for k, v in result["total"].items()}, result

    def refused(self, code, identifier, *args):
        return self.fails(code, *args, says=f"[{identifier}]")

    def table(self, result, name):
        t = result["kernels"][0]["tables"][name]
        return [dict(zip(t["columns"], row)) for row in t["rows"]]

    def c_file(self, body, declarations=""):
        return self.file(
            "nest.c",
            f"#include <stdlib.h>\n{declarations}\nvoid f(int n, int m, float *restrict a, const float *restrict b, const int *restrict c) {{\n{body}\n}}\n",
        )
