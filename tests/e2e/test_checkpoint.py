"""run --checkpoint and --resume: a resumed run has the result and the output of the uninterrupted one."""
import json
import unittest

from harness import SAXPY_LAUNCH, Case, main, needs_clang

# Kernels that need what the ones before left, managed memory that the host looks into, printf, malloc in kernels.
PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
__global__ void step(float* a, const float* b, int n, int round) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = a[i] * 0.5f + b[(i * 7 + round) % n];
  if (i == 0 && round == 1) printf("round %d\n", round);
}
__global__ void count(int* seen, const float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && a[i] > 1) atomicAdd(seen, 1);
}
__device__ int* kept;
__global__ void take() { kept = new int[8]; kept[3] = 5; }
__global__ void give(int* seen) { *seen += kept[3]; delete[] kept; }
int main(int argc, char** argv) {
  const int n = argc > 1 ? atoi(argv[1]) : 20000;
  float *a, *b, *host = new float[n];
  int* seen;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMallocManaged(&seen, 4);
  *seen = 0;
  for (int i = 0; i < n; ++i) host[i] = i % 13;
  cudaMemcpy(b, host, n * 4, cudaMemcpyHostToDevice);
  cudaMemset(a, 0, n * 4);
  take<<<1, 1>>>();
  for (int round = 0; round < 4; ++round) {
    step<<<(n + 255) / 256, 256>>>(a, b, n, round);
    count<<<(n + 255) / 256, 256>>>(seen, a, n);
    cudaDeviceSynchronize();
    *seen += round;
  }
  give<<<1, 1>>>(seen);
  if (cudaMemcpy(host, a, n * 4, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += host[i];
  printf("seen %d sum %g\n", *seen, sum);
  return 0;
}
"""

# While a kernel works on one buffer, the other one is fetched and filled anew.
PIPELINE = r"""
#include <cstdio>
__global__ void work(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 50 && i < n; ++k) a[i] = a[i] * 0.5f + (i + k) % n;
}
int main() {
  const int n = 8192, rounds = 4;
  float *in, *out, *d[2];
  cudaStream_t s[2];
  cudaHostAlloc(&in, n * 4, 0);
  cudaHostAlloc(&out, n * 4, 0);
  for (int i = 0; i < 2; ++i) cudaMalloc(&d[i], n * 4), cudaStreamCreateWithFlags(&s[i], cudaStreamNonBlocking);
  float sum = 0;
  for (int i = 0; i < n; ++i) in[i] = i % 5;
  cudaMemcpy(d[0], in, n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(d[1], in, n * 4, cudaMemcpyHostToDevice);
  for (int r = 0; r < rounds; ++r) {
    work<<<n / 256, 256, 0, s[r % 2]>>>(d[r % 2], n);
    float* other = d[(r + 1) % 2];
    cudaMemcpyAsync(out, other, n * 4, cudaMemcpyDeviceToHost, s[(r + 1) % 2]);
    cudaMemcpyAsync(other, in, n * 4, cudaMemcpyHostToDevice, s[(r + 1) % 2]);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; ++i) sum += out[i] * (r + 1);
  }
  printf("sum %g\n", sum);
  return 0;
}
"""


def comparable(result):
    result = json.loads(json.dumps(result))
    del result["manifest"]
    for metrics in [result["total"]] + [k["metrics"] for k in result["kernels"]]:
        for name in [n for n in metrics if n.startswith("host.")]:
            del metrics[name]
    return result


@needs_clang
class Programs(Case):
    def setUp(self):
        super().setUp()
        self.file("app.cu", PROGRAM)
        self.ok("build", "app.cu", "-o", "app")

    def program(self, *options, words=(), code=0):
        """Result, output of the program, stderr."""
        done = self.simtlab("run", "--gpu", "gtx480", "--json=r.json", *options, "--", "./app", *words)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads((self.folder / "r.json").read_text()), done.stdout, done.stderr

    def test_a_resumed_program_has_the_result_of_the_whole_run(self):
        whole, output, _ = self.program()
        self.assertEqual(len(whole["kernels"]), 10)
        longest = max(k["metrics"]["gpu.cycles"]["value"] for k in whole["kernels"][:-1])
        for options in ((), ("--dram", "device"), ("--mode", "functional"), ("--kernels", "count*")):
            whole, output, _ = self.program(*options)
            checkpointed, same, _ = self.program(*options, "--checkpoint", "c")
            self.assertEqual((comparable(whole), output), (comparable(checkpointed), same))
            threads = () if "functional" in options else ("--threads", "2")
            resumed, same, _ = self.program(*options, "--resume", "c", *threads)
            self.assertEqual((comparable(whole), output), (comparable(resumed), same))
        self.assertGreater(longest, 0)

    def test_copies_beside_kernels_find_what_they_found(self):
        self.file("app.cu", PIPELINE)
        self.ok("build", "app.cu", "-o", "app")
        written, output, _ = self.program("--checkpoint", "c")
        resumed, same, _ = self.program("--resume", "c")
        self.assertEqual((comparable(written), output), (comparable(resumed), same))

    def test_a_program_that_a_limit_stopped_goes_on(self):
        whole, output, _ = self.program()
        cycles = [k["metrics"]["gpu.cycles"]["value"] for k in whole["kernels"]]
        limit = max(cycles[:3]) + 1
        if max(cycles) <= limit:
            limit = max(cycles) * 3 // 4
        self.program("--checkpoint", "c", "--max-cycles", int(limit), code=1)
        resumed, same, _ = self.program("--resume", "c")
        self.assertEqual((comparable(whole), output), (comparable(resumed), same))

    def test_another_run_is_refused_with_the_first_difference(self):
        self.program("--checkpoint", "c")
        for options, words, text in (
            (("--set", "sm.count=4"), (), "sm.count"),
            ((), ("19999",), "launch 1, kernel '_Z4takev': device memory holds something else"),
            (("--lowering", "off"), (), "lowering = machine, this one has off"),
            (("--regs", "40"), (), "regs = 0, this one has 40"),
        ):
            *_, said = self.program("--resume", "c", *options, words=words, code=3)
            self.assertIn("[checkpoint-mismatch]", said)
            self.assertIn(text, said)

    def test_damaged_files(self):
        self.program("--checkpoint", "c")
        good = (self.folder / "c").read_bytes()
        self.file("bad", good[:1000])
        self.assertIn("[checkpoint-damaged]", self.fails(3, "run", "--resume", "bad", "--", "./app").stderr)
        self.file("bad", b"PK" + good[2:])
        self.assertIn("[checkpoint-file]", self.fails(3, "run", "--resume", "bad", "--", "./app").stderr)

    def test_traces_go_on_too(self):
        self.ok("run", "--gpu", "gtx480", "--record", "t.simt", "-q", "--", "./app")
        whole = self.run_json("t.simt", "--gpu", "gtx480")
        self.ok("run", "t.simt", "--gpu", "gtx480", "--checkpoint", "c", "-q")
        self.assertEqual(comparable(whole), comparable(self.run_json("t.simt", "--gpu", "gtx480", "--resume", "c")))


class Kernels(Case):
    def test_one_kernel(self):
        whole = self.run_json(self.saxpy(), *SAXPY_LAUNCH)
        self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--checkpoint", "c", "-q")
        self.assertEqual(comparable(whole), comparable(self.run_json("saxpy.ptx", *SAXPY_LAUNCH, "--resume", "c")))
        self.fails(
            3, "run", "saxpy.ptx", *SAXPY_LAUNCH, "--seed", "3", "--resume", "c", says=("checkpoint-mismatch", "seed")
        )

    def test_what_does_not_go_together(self):
        saxpy = self.saxpy()
        self.fails(2, "run", saxpy, *SAXPY_LAUNCH, "--checkpoint", "c", "--record", "t.simt", says="option-conflict")
        self.fails(2, "run", saxpy, *SAXPY_LAUNCH, "--checkpoint-every", "2", says="option-conflict")
        self.fails(2, "run", saxpy, *SAXPY_LAUNCH, "--checkpoint", "c", "--checkpoint-every", "0", says="option-value")
        self.fails(2, "run", saxpy, *SAXPY_LAUNCH, "--checkpoint", "c", "--json=c", says="option-conflict")
        self.fails(3, "run", saxpy, *SAXPY_LAUNCH, "--resume", "nothing", says="checkpoint-file")


if __name__ == "__main__":
    main()
