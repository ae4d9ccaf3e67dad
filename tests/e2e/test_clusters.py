"""Clusters of blocks: examples/clusters in both modes and under `check`, and what `check` finds in wrong variants of it."""
import json
import unittest

from harness import SOURCE, Case, main, needs_clang

EXAMPLE = SOURCE / "examples/clusters/exchange.cu"
SYNC = "  cluster.sync();\n"

# Name, what is replaced, by what, the rules of which one has to be found; None: the program's own test fails.
WRONG = (
    (
        "no barrier before the first access",
        SYNC + "  for (int i = blockIdx.x",
        "  for (int i = blockIdx.x",
        {"memory.cluster-start"},
    ),
    (
        "no barrier behind the last access",
        "  cluster.barrier_arrive();  // whose memory is read stays\n  cluster.barrier_wait();\n",
        "",
        {"memory.out-of-bounds"},
    ),
    (
        "a barrier of the block in its place",
        SYNC + "    value = box",
        "    __syncthreads();\n    value = box",
        {"race.shared", "memory.out-of-bounds"},
    ),
    ("a plain sum", "atomicAdd(&there[in[i] % width], 1);", "there[in[i] % width] += 1;", {"race.shared"}),
    (
        "a sum of block scope",
        "atomicAdd(&there[in[i] % width], 1);",
        "atomicAdd_block(&there[in[i] % width], 1);",
        {"race.scope"},
    ),
    ("a block that is not there", "in[i] / width)", "in[i] / width + 3)", {"memory.out-of-bounds"}),
    ("one box for two rounds", "box[round % 2]", "box[0]", {"race.shared"}),
    (
        "a barrier that a part of a block reaches",
        SYNC + "  if (cluster.block_rank() * width",
        "  if (threadIdx.x < 40) cluster.sync();\n  if (cluster.block_rank() * width",
        {"barrier.deadlock", "barrier.divergent"},
    ),
    (
        "a wait that is left out",
        "for (unsigned done = 0; done == 0;)",
        "for (unsigned done = 1; done == 0;)",
        {"race.shared", "init.shared"},
    ),
)

# Every block copies its own shared memory out in bulk.
BULK = """
#include <cooperative_groups.h>
__global__ void out(int* to) {
  __shared__ __align__(16) int line[64];
  line[threadIdx.x] = blockIdx.x * 64 + threadIdx.x;
  FENCE
  cooperative_groups::this_cluster().sync();
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"
                 ::"l"(to + blockIdx.x * 64), "r"((unsigned)__cvta_generic_to_shared(line)) : "memory");
}
int main() {
  int *to, got[4 * 64], wrong = 0;
  cudaMalloc(&to, sizeof got);
  cudaLaunchAttribute size;
  size.id = cudaLaunchAttributeClusterDimension;
  size.val.clusterDim.x = 4, size.val.clusterDim.y = size.val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = BLOCKS, config.blockDim = 64, config.attrs = &size, config.numAttrs = 1;
  if (cudaError_t e = cudaLaunchKernelEx(&config, out, to)) return e == cudaErrorInvalidClusterSize ? 12 : 13;
  if (cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess) return 14;
  for (int i = 0; i < 256; ++i) wrong += got[i] != i;
  cudaFree(to);
  return wrong != 0;
}
"""
FENCE = 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");'


@needs_clang
class Clusters(Case):
    def build(self, text, name):
        self.file("example.h", (SOURCE / "examples/example.h").read_text())
        source = self.file(f"clusters/{name}.cu", text)
        self.ok("build", source, "-arch=sm_90", "-o", self.folder / name)
        return self.folder / name

    def test_results_are_right_in_both_modes(self):
        program = self.build(EXAMPLE.read_text(), "exchange")
        for size in (1, 2, 8):
            for mode in ("functional", "timing"):
                done = self.ok("run", "--gpu", "h100", "--mode", mode, "--", program, size)
                self.assertIn(f"clusters of {size} blocks: 0 wrong", done.stdout)

    def test_remote_accesses_are_counted_and_the_gpu_must_have_clusters(self):
        program = self.build(EXAMPLE.read_text(), "exchange")
        result = self.folder / "r.json"
        self.ok("run", "--gpu", "h100", f"--json={result}", "--", program, 4)
        kernels = json.loads(result.read_text())["kernels"]
        self.assertTrue(all(k["metrics"]["cluster.requests"]["value"] > 0 for k in kernels), kernels)
        done = self.simtlab("run", "--gpu", "a100", "--", program, 4)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("[launch-cluster]", done.stdout + done.stderr)

    def test_other_studies_refuse_them(self):
        program = self.build(EXAMPLE.read_text(), "exchange")
        for study in ("cache", "predict"):
            done = self.simtlab(study, "--gpu", "h100", "--", program, 2)
            self.assertNotEqual(done.returncode, 0, study)
            self.assertIn("[launch-cluster]", done.stdout + done.stderr, study)
        done = self.simtlab("run", "--gpu", "h100", "--record", self.folder / "t.simt", "--", program, 2)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("[launch-cluster]", done.stdout + done.stderr)

    def check(self, program, *args, size=4):
        report = self.folder / "check.json"
        self.simtlab("check", "--gpu", "h100", f"--json={report}", *args, "--", program, size)
        return {f["rule"] for f in json.loads(report.read_text())["check"]["findings"]}

    def test_the_example_is_clean_in_four_orders(self):
        program = self.build(EXAMPLE.read_text(), "exchange")
        for size in (1, 4):
            self.assertEqual(self.check(program, "--explore", "3", size=size), set())

    def test_bulk_copies_of_any_block_are_looked_at(self):
        clean = self.build(BULK.replace("FENCE", FENCE).replace("BLOCKS", "4"), "bulk")
        self.ok("run", "--gpu", "h100", "--mode", "functional", "--", clean)
        self.assertEqual(self.check(clean), set())
        self.assertEqual(
            self.check(self.build(BULK.replace("FENCE", "").replace("BLOCKS", "4"), "bulk2")), {"race.proxy"}
        )

    def test_a_grid_that_is_no_multiple_is_refused(self):
        done = self.simtlab(
            "run", "--gpu", "h100", "--", self.build(BULK.replace("FENCE", "").replace("BLOCKS", "6"), "odd")
        )
        self.assertIn("status 12", done.stdout + done.stderr)
        self.assertIn("[launch-cluster]", done.stdout + done.stderr)

    def test_wrong_variants_are_found(self):
        text = EXAMPLE.read_text()
        for i, (name, old, new, rules) in enumerate(WRONG):
            with self.subTest(name):
                self.assertIn(old, text)
                found = self.check(self.build(text.replace(old, new), f"wrong{i}"), "--explore", "1")
                self.assertTrue(found & rules, f"{name}: {found}")


if __name__ == "__main__":
    main()
