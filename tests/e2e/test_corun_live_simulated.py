"""simtlab corun with real programs on simulated GPUs, of their own and shared; programs and the shared GPU that die."""
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

from corun_live_scene import HERE, LOADER, Live
from harness import main


PROGRAM = r"""
#include <cstdio>
__global__ void scale(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
int main() {
  float *a, *b, h[1024];
  for (int i = 0; i < 1024; ++i) h[i] = 1;
  cudaMalloc(&a, sizeof h); cudaMalloc(&b, sizeof h);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice); cudaMemcpy(b, h, sizeof h, cudaMemcpyHostToDevice);
  cudaStream_t s[2];
  cudaStreamCreate(&s[0]); cudaStreamCreate(&s[1]);
  for (int i = 0; i < 6; ++i) { scale<<<4, 256, 0, s[0]>>>(a, 1024); scale<<<4, 256, 0, s[1]>>>(b, 1024); }
  cudaGraph_t graph; cudaGraphExec_t program;
  cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal);
  scale<<<4, 256, 0, s[0]>>>(a, 1024); scale<<<4, 256, 0, s[0]>>>(a, 1024);
  cudaStreamEndCapture(s[0], &graph);
  cudaGraphInstantiate(&program, graph, 0);
  cudaGraphLaunch(program, s[0]);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
  printf("a %g ", h[1023]);
  cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
  printf("b %g\n", h[0]);
  return 0;
}
"""

SHARED = r"""
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <fcntl.h>
#include <unistd.h>
__global__ void sweep(float* x, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] += 1; }
int main() {
  const int n = 1 << 20;
  float* d;
  std::vector<float> h(n, 0.0f);
  cudaMalloc(&d, n * sizeof(float));
  // So many programs have the GPU before one begins.
  const char* number = getenv("NUMBER");
  const int programs = number ? atoi(getenv("PROGRAMS")) : 0;
  if (number) close(open((std::string("ready-") + number).c_str(), O_CREAT | O_WRONLY, 0600));
  for (int i = 0; i < programs; ++i)
    while (access(("ready-" + std::to_string(i)).c_str(), F_OK) != 0) usleep(1000);
  cudaMemcpy(d, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  for (int i = 0; i < 6; ++i) sweep<<<96, 256>>>(d, n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  cudaMemcpy(h.data(), d, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (float x : h) if (x != 6) return 2;
  puts("fine");
  return 0;
}
"""


class Simulated(Live):
    def test_programs_on_simulated_gpus_of_their_own_are_gated(self):
        self.file("app.cu", PROGRAM)
        self.ok("build", "app.cu", "-o", "app")
        for policy in ("mps", "exclusive"):
            with self.subTest(policy):
                self.serve("--policy", policy, "--limit", 1 if policy == "exclusive" else 8, "--log", "log")
                for process in [self.start("./app", options=["--gpu", "rtx2060"]) for _ in range(2)]:
                    self.assertEqual(self.finish(process), "a 256 b 64\n")
                self.assertIn("26 launches asked for, 26 granted, 26 ended", self.stop())
                log = (self.folder / "log").read_text()
                self.assertIn("name=app/_Z5scalePfi <<<4, 256, 0>>>", log)
                ends = [line for line in log.splitlines() if len(line.split()) > 1 and line.split()[1] == "end"]
                self.assertTrue(
                    ends and all(int(line.split("gpu=")[1].split()[0]) > 0 for line in ends), "simulated time of each"
                )

    def kernel_times(self):
        log = (self.folder / "log").read_text()
        return [
            int(line.split("gpu=")[1].split()[0])
            for line in log.splitlines()
            if len(line.split()) > 1 and line.split()[1] == "end"
        ]

    def test_programs_share_one_simulated_gpu_and_slow_each_other(self):
        self.file("app.cu", SHARED)
        self.ok("build", "app.cu", "-o", "app")
        means = {}
        for name, programs, limit in (("alone", 1, 8), ("together", 2, 8), ("in turns", 2, 1)):
            self.serve(
                "--policy", "mps", "--limit", limit, "--device", "sim:titanx", "--log", "log", "--patience", "60"
            )
            for ready in self.folder.glob("ready-*"):
                ready.unlink()
            for process in [
                self.start("./app", env={"NUMBER": str(i), "PROGRAMS": str(programs)}) for i in range(programs)
            ]:
                self.assertEqual(self.finish(process), "fine\n")
            out = self.stop()
            self.assertIn(
                f"device titanx: {6 * programs} launches, {6 * programs} ended, 0 of them for nobody, 0 failed", out
            )
            times = self.kernel_times()
            self.assertEqual(len(times), 6 * programs)
            means[name] = sum(times) / len(times)
        self.assertGreater(means["together"], 1.2 * means["alone"])
        self.assertLess(means["in turns"], 1.1 * means["alone"])

    def test_a_killed_program_leaves_the_shared_gpu_to_the_others(self):
        self.file("app.cu", SHARED)
        self.ok("build", "app.cu", "-o", "app")
        self.serve("--policy", "mps", "--limit", 8, "--device", "sim:titanx")
        victim, other = self.start("./app"), self.start("./app")
        time.sleep(0.7)
        victim.kill()
        victim.communicate()
        self.assertEqual(self.finish(other), "fine\n")
        self.assertEqual(self.finish(self.start("./app")), "fine\n")
        self.fails(2, "corun", "exec", "--gpu", "h100", "--", "./app", says=["titanx", "[corun-options]"])

    def test_an_extension_of_python_is_gated_and_its_values_are_right(self):
        self.file(
            "ext.cu",
            """
__global__ void add(int* x) { *x += 1; }
extern "C" int go(int n) {
  int *d, h = 0;
  cudaMalloc(&d, sizeof h); cudaMemset(d, 0, sizeof h);
  for (int i = 0; i < n; ++i) add<<<1, 1>>>(d);
  const cudaError_t code = cudaGetLastError();
  cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
  return code != cudaSuccess ? -static_cast<int>(code) : h;
}
""",
        )
        self.ok("build", "ext.cu", "-o", "libext.so", "-shared", "-Xcompiler", "-fPIC")
        script = "import ctypes; print('value', ctypes.CDLL('./libext.so').go(5))"
        for options, serve, env, says in (
            (["--gpu", "titanx"], (), None, "5 launches gated, 0 not"),
            ([], ("--device", "sim:titanx"), None, "5 launches gated, 0 not"),
            (["--gpu", "titanx"], (), {"SIMTLAB_CORUN": "off"}, "0 launches gated, 5 not"),
        ):
            with self.subTest(serve=serve, env=env):
                self.serve("--policy", "mps", *serve)
                process = self.start(sys.executable, "-c", script, options=options, env=env)
                out, err = process.communicate(timeout=120)
                self.assertEqual((process.returncode, out), (0, "value 5\n"), err)
                self.assertIn(says, err)
                self.stop()

    @unittest.skipUnless(shutil.which("nvcc"), "nvcc is not installed")
    def test_nvidias_static_runtime_behind_a_script_is_replaced_or_noticed(self):
        self.file(
            "s.cu",
            "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return cudaDeviceSynchronize() == cudaSuccess; }\n",
        )
        subprocess.run(
            ["nvcc", "-cudart", "static", "s.cu", "-o", "static"],
            cwd=self.folder,
            env={**os.environ, "HOME": str(self.folder)},
            check=True,
            capture_output=True,
        )
        self.file("wrapper.sh", "#!/bin/sh\n./static\n").chmod(0o755)
        self.serve("--policy", "mps")
        for options, says in (
            ([], "the CUDA runtime is linked in statically"),
            (["--gpu", "h100"], "1 launches gated, 0 not"),
        ):
            _, err = self.start("./wrapper.sh", options=options).communicate(timeout=60)
            self.assertRegex(err, r"static \(process \d+\): .*" + says if not options else says)

    def lost(self, command, *args, kill_after=0.3):
        """Codes by call of a program whose shared GPU is killed; what it said."""
        for sign in ("ready", "go"):
            (self.folder / sign).unlink(missing_ok=True)
        self.serve("--policy", "mps", "--device", "sim:titanx", "--patience", "60")
        process = self.start(command, *args)
        deadline = time.monotonic() + 60
        while not (self.folder / "ready").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertTrue((self.folder / "ready").exists(), process.stderr.read() if process.poll() is not None else "")
        time.sleep(kill_after)
        self.stop(signal.SIGKILL)
        self.file("go", "")
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, "it ignores its errors, and its status is its own: " + err)
        return [(call, int(code)) for call, _, code in (line.rpartition("=") for line in out.splitlines())], err

    def test_a_lost_shared_gpu_fails_every_call(self):
        self.file("lost.cu", (HERE / "lost.cu").read_text())
        self.ok("build", "lost.cu", "-o", "lost")
        for when in ("idle", "busy"):
            with self.subTest(when):
                codes, err = self.lost("./lost", when)
                self.assertGreater(len(codes), 40)
                # cudaErrorMpsRpcFailure: the server of a shared GPU is gone. Nothing brings it back, a reset neither.
                self.assertEqual([c for c in codes if c[1] != 806], [])
                self.assertIn("the shared GPU: it is gone with its daemon", err)
                self.assertIn("[corun-device]", err)

    def test_a_lost_shared_gpu_fails_every_call_of_opencl(self):
        if not (
            LOADER and os.path.exists("/usr/include/CL/cl.h") and os.path.exists("/usr/lib/clc/nvptx64--nvidiacl.bc")
        ):
            self.skipTest("OpenCL's loader, its headers or libclc are not installed")
        subprocess.run(["gcc", "-O1", "-w", HERE / "lost.c", "-o", self.folder / "lost-opencl", "-lOpenCL"], check=True)
        for when in ("idle", "busy"):
            with self.subTest(when):
                codes, err = self.lost("./lost-opencl", when)
                self.assertGreater(len(codes), 15)
                self.assertEqual([c for c in codes if c[1] == 0], [])
                self.assertIn("the shared GPU: it is gone with its daemon", err)
                self.assertRegex(err, r"0 launches gated, \d not\n")
                self.assertIn("launches of OpenCL are not gated", err)


if __name__ == "__main__":
    main()
