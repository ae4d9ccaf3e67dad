"""simtlab check: what streams do beside each other: copies, memsets, memory that comes and goes in their order."""
import json
import re

from harness import Case, main, needs_clang

STREAMS = """
#include <cuda_runtime.h>
#include <vector>
__global__ void twice(int n, int* a) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) a[i] *= 2; }
int main(int argc, char** argv) {
  const int n = 1000, bytes = 4 * n;
  int *a, *b, *h; cudaStream_t s, t, alone; cudaEvent_t e; std::vector<int> pageable(n);
  cudaMalloc(&a, bytes); cudaMalloc(&b, bytes); cudaMallocHost(&h, bytes); for (int i = 0; i < n; ++i) h[i] = i;
  cudaStreamCreate(&s); cudaStreamCreate(&t); cudaStreamCreateWithFlags(&alone, cudaStreamNonBlocking); cudaEventCreate(&e);
  auto in = [&](cudaStream_t to) { cudaMemcpyAsync(a, h, bytes, cudaMemcpyHostToDevice, to); };
  auto out = [&](int* to, cudaStream_t from) { cudaMemcpyAsync(to, a, bytes, cudaMemcpyDeviceToHost, from); };
  auto on = [&](cudaStream_t to, int first = 0) { twice<<<16, 64, 0, to>>>(n - first, a + first); };
  auto set = [&] { cudaMemset(a, 0, bytes); };
  switch (argv[1][0]) {
    case '0': in(s); on(s); out(h, s); break;                                             // none
    case '1': in(s); on(t); break;                                                        // to the device
    case '2': in(s); cudaEventRecord(e, s); cudaStreamWaitEvent(t, e, 0); on(t); break;   // none
    case '3': set(); on(t); out(h, s); break;                                             // to the host
    case '4': set(); on(alone); break;                                                    // memset
    case '5': set(); on(t); cudaMemcpy(h, a, bytes, cudaMemcpyDeviceToHost); break;       // none
    case '6': in(s); in(t); break;                                                        // to the device
    case '7': set(); cudaDeviceSynchronize(); out(pageable.data(), s); on(t); break;      // none
    case '8': set(); cudaDeviceSynchronize(); cudaMemcpyAsync(b, a, bytes, cudaMemcpyDeviceToDevice, s); on(t, 500); break;  // within the device
    case '9': set(); cudaDeviceSynchronize(); cudaMemcpyAsync(b, a, 2000, cudaMemcpyDeviceToDevice, s); on(t, 500); break;   // none
  }
  cudaDeviceSynchronize(); cudaFree(a); cudaFree(b); cudaFreeHost(h);
  cudaStreamDestroy(s); cudaStreamDestroy(t); cudaStreamDestroy(alone); cudaEventDestroy(e);
}
"""
IN_ORDER = """
#include <cuda_runtime.h>
__global__ void use(int* p) { p[threadIdx.x] = 1; }
__global__ void copy(int* p) {
  __shared__ int s[32];
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(&s[threadIdx.x])), "l"(p + threadIdx.x));
  asm volatile("cp.async.wait_all;" ::: "memory");
}
int main(int argc, char** argv) {
  int* p; cudaStream_t s, t; cudaEvent_t e;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  cudaEventCreate(&e); cudaMallocAsync(&p, 4096, s);
  auto on = [&](cudaStream_t to) { use<<<1, 32, 0, to>>>(p); };
  auto then = [&](cudaStream_t a, cudaStream_t b) { cudaEventRecord(e, a); cudaStreamWaitEvent(b, e, 0); };
  auto out = [&] { cudaFreeAsync(p, s); };
  switch (argv[1][0]) {
    case '0': on(s); out(); break;                                          // none
    case '1': then(s, t); on(t); then(t, s); out(); break;                  // none
    case '2': cudaStreamSynchronize(s); on(t); cudaStreamSynchronize(t); out(); break;  // none
    case '3': out(); on(s); break;                                          // write of memory that has been freed
    case '4': then(s, t); on(t); out(); break;                              // freed in a stream that does not wait
    case '5': on(t); then(t, s); out(); break;                              // may not have given yet
    case '6': then(s, t); on(t); on(s); out(); break;                       // freed in a stream that does not wait
    case '7': cudaMemsetAsync(p, 0, 4096, t); then(t, s); out(); break;     // may not have given yet
    case '9': copy<<<1, 32, 0, t>>>(p); then(t, s); out(); break;           // may not have given yet
    case '8': then(s, t); cudaMemsetAsync(p, 0, 64, t); out(); break;       // freed in a stream that does not wait
  }
  cudaDeviceSynchronize(); cudaStreamDestroy(s); cudaStreamDestroy(t); cudaEventDestroy(e);
}
"""


@needs_clang
class Streams(Case):
    def test_copies_beside_kernels_of_other_streams(self):
        self.file("app.cu", STREAMS)
        self.ok("build", "app.cu", "-o", "app")
        for case, expected in re.findall(r"case '(\d)':.* // (.*)", STREAMS):
            with self.subTest(case=case):
                self.simtlab("check", "-q", "--json=r.json", "--", "./app", case)
                result = json.loads((self.folder / "r.json").read_text())["check"]
                if expected == "none":
                    self.assertEqual(result["findings"], [])
                    continue
                (race,) = result["findings"]
                self.assertEqual((race["rule"], race["level"]), ("race.stream", "error"))
                self.assertIn(race["accesses"][0]["launch"] * race["accesses"][1]["launch"], (0,))
                names = " ".join(a["place"]["kernel"] for a in race["accesses"])
                self.assertIn(expected, names)

    def test_memory_comes_and_goes_in_the_order_of_a_stream(self):
        self.file("app.cu", IN_ORDER)
        self.ok("build", "app.cu", "-o", "app")
        for case, expected in re.findall(r"case '(\d)':.* // (.*)", IN_ORDER):
            with self.subTest(case=case):
                self.simtlab("check", "-q", "--json=r.json", "--", "./app", case)
                found = json.loads((self.folder / "r.json").read_text())["check"]["findings"]
                of_memory = [f["message"] for f in found if f["rule"] == "memory.use-after-free"]
                if expected == "none":
                    self.assertEqual(found, [])
                else:
                    self.assertEqual(len(of_memory), 1)
                    self.assertIn(expected, of_memory[0])


if __name__ == "__main__":
    main()
