"""Micro-benchmarks whose intervals hold loads that nothing waits for: run says so, with the places; correct ones pass without a word."""
import json

from harness import Case, main

HEAD = """#include <cstdio>
#include <cuda_runtime.h>
#define CLOCK(t) asm volatile("mov.u32 %0, %%clock;" : "=r"(t) :: "memory")
"""

TAIL = """
int main() {
  unsigned *t, *out, *in;
  cudaMallocManaged(&t, 4096); cudaMallocManaged(&out, 4096); cudaMallocManaged(&in, 4096);
  for (int i = 0; i < 1024; ++i) in[i] = (i + 1) % 32;
  for (int i = 0; i < 3; ++i) { k<<<1, 32>>>(in, t, out); cudaDeviceSynchronize(); }
  printf("%u\\n", t[0]);
}
"""


def program(body):
    return HEAD + "__global__ void k(const unsigned* in, unsigned* t, unsigned* out) {\n" + body + "}\n" + TAIL


LITERAL = program(
    """  unsigned a, b, v;
  CLOCK(a);
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(in + threadIdx.x));
  CLOCK(b);
  t[threadIdx.x] = b - a;
  out[threadIdx.x] = v;
"""
)

RIGHT = {
    "used": program(
        """  unsigned a, b, v, w;
  CLOCK(a);
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(in + threadIdx.x));
  asm volatile("add.u32 %0, %1, 1;" : "=r"(w) : "r"(v));
  CLOCK(b);
  t[threadIdx.x] = b - a;
  out[threadIdx.x] = w;
"""
    ),
    "with a fence": program(
        """  unsigned a, b, v;
  CLOCK(a);
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(in + threadIdx.x));
  __threadfence();
  CLOCK(b);
  t[threadIdx.x] = b - a;
  out[threadIdx.x] = v;
"""
    ),
    "chase": program(
        """  unsigned a, b, j = threadIdx.x;
  CLOCK(a);
  for (int i = 0; i < 100; ++i) j = __ldcg(in + j);
  CLOCK(b);
  t[threadIdx.x] = b - a;
  out[threadIdx.x] = j;
"""
    ),
    "whole kernel": program(
        """  long long a = clock64();
  unsigned sum = 0;
  for (int i = 0; i < 64; ++i) sum += in[(threadIdx.x * 7 + i) % 1024];
  out[threadIdx.x] = sum;
  __syncthreads();
  t[threadIdx.x] = (unsigned)(clock64() - a);
"""
    ),
    "time-out": program(
        """  long long a = clock64();
  while (*(volatile const unsigned*)in == 7 && clock64() - a < 1000) {}
  out[threadIdx.x] = in[threadIdx.x];
  t[threadIdx.x] = 1;
"""
    ),
}


class ClockWarnings(Case):
    def run_program(self, text, gpu="k40", lowering="counts"):
        source = self.file("k.cu", text)
        result = self.folder / "r.json"
        run = self.ok("run", source, "--gpu", gpu, "--lowering", lowering, f"--json={result}")
        return run, json.loads(result.read_text())

    def rows(self, result):
        out = []
        for kernel in result["kernels"]:
            table = kernel.get("tables", {}).get("warnings")
            out += [dict(zip(table["columns"], row)) for row in table["rows"]] if table else []
        return out

    def test_a_load_that_nothing_waits_for_is_named_once(self):
        run, result = self.run_program(LITERAL)
        lines = LITERAL.splitlines()
        clocks = [n for n, line in enumerate(lines, 1) if line.strip().startswith("CLOCK(")]
        load = next(n for n, line in enumerate(lines, 1) if "ld.global" in line)
        rows = self.rows(result)
        self.assertEqual(len(rows), 1, rows)  # of three launches
        self.assertEqual(rows[0]["id"], "unwaited-load")
        self.assertTrue(rows[0]["file"].endswith("k.cu"))
        self.assertEqual(rows[0]["line"], load)
        self.assertEqual((rows[0]["begin"], rows[0]["end"]), tuple(f"k.cu:{n}" for n in clocks))
        text = " ".join((run.stdout + run.stderr).split())
        self.assertEqual(text.count("Warning:"), 1, text)
        self.assertIn(f"nothing waits for the load at k.cu:{load}", text)
        self.assertIn(f"between the clock reads at k.cu:{clocks[0]} and k.cu:{clocks[1]}", text)
        self.assertIn("Use the value before the second clock read", text)
        # It is what it says: a few cycles.
        self.assertLess(int(run.stdout.splitlines()[0]), 40)
        again = self.ok("report", self.folder / "r.json").stdout
        self.assertEqual(again.count("Warning:"), 1)
        page = self.ok("report", self.folder / "r.json", "--html").stdout
        self.assertIn("nothing waits for the load at k.cu", page)

    def test_machine_code_of_it_is_warned_of_too(self):
        _, result = self.run_program(LITERAL, "a100", "machine")
        self.assertEqual(result["kernels"][0]["metrics"]["code.assembled"]["value"], 1)
        self.assertEqual(sorted(row["id"] for row in self.rows(result)), ["not-optimised", "unwaited-load"])
        _, result = self.run_program(RIGHT["used"], "a100", "machine")
        self.assertEqual([row["id"] for row in self.rows(result)], ["not-optimised"])

    def test_what_measures_something_passes_without_a_word(self):
        for name, text in RIGHT.items():
            with self.subTest(name):
                run, result = self.run_program(text)
                self.assertEqual(self.rows(result), [])
                self.assertNotIn("Warning:", run.stdout + run.stderr)
                if name in ("used", "chase"):
                    self.assertGreater(int(run.stdout.splitlines()[0]), 200)


if __name__ == "__main__":
    main()
