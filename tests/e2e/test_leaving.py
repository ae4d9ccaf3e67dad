"""Programs that end in every way there is: what was simulated is in the report, and what is lost is said."""
import ctypes.util
import json
import shutil
import subprocess
import unittest

from harness import Case, main, needs_clang

CUDA = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
__global__ void first(int* out) { out[threadIdx.x] = 3 * threadIdx.x; }
__global__ void second(int* out) { out[threadIdx.x] += 1; }
int main(int argc, char** argv) {
  const char* what = argv[1];
  int *d = nullptr, h[32];
  if (!strcmp(what, "before")) raise(SIGKILL);
  if (!strcmp(what, "fork-only")) {
    if (fork() != 0) { int status; wait(&status); return status != 0; }
  }
  cudaMalloc(&d, sizeof h);
  if (!strcmp(what, "memory-only")) _exit(0);
  first<<<1, 32>>>(d);
  second<<<1, 32>>>(d);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  if (h[5] != 16) return 9;
  if (!strcmp(what, "unwaited")) { first<<<1, 32>>>(d); first<<<1, 32>>>(d); _exit(0); }
  if (!strcmp(what, "fork-and-go-on")) {
    const pid_t child = fork();
    if (child == 0) { second<<<1, 32>>>(d); cudaDeviceSynchronize(); _exit(0); }
    int status; waitpid(child, &status, 0);
    first<<<1, 32>>>(d);
    cudaDeviceSynchronize();
    return status != 0;
  }
  if (!strcmp(what, "fork-killed")) {
    const pid_t child = fork();
    if (child == 0) { second<<<1, 32>>>(d); cudaDeviceSynchronize(); raise(SIGKILL); }
    int status; waitpid(child, &status, 0);
    return 0;
  }
#include "leave.h"
  return 0;
}
"""
# The same in C, for both.
LEAVE = r"""
  if (!strcmp(what, "return")) return 0;
  if (!strcmp(what, "exit")) exit(0);
  if (!strcmp(what, "_exit")) _exit(0);
  if (!strcmp(what, "_Exit")) _Exit(0);
  if (!strcmp(what, "_exit3")) _exit(3);
  if (!strcmp(what, "quick_exit")) quick_exit(0);
  if (!strcmp(what, "abort")) abort();
  if (!strcmp(what, "segv")) raise(SIGSEGV);
  if (!strcmp(what, "kill")) raise(SIGKILL);
  if (!strcmp(what, "term")) { signal(SIGTERM, SIG_DFL); raise(SIGTERM); }
  if (!strcmp(what, "exec")) execl("/bin/true", "true", (char*)0);
"""
OPENCL = r"""
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char** argv) {
  const char* what = argv[1];
  const char* source = "__kernel void first(__global int* o) { o[get_global_id(0)] = 3 * get_global_id(0); }"
                       "__kernel void second(__global int* o) { o[get_global_id(0)] += 1; }";
  cl_platform_id p; cl_device_id d; int h[32]; size_t n = 32;
  if (!strcmp(what, "before")) raise(SIGKILL);
  if (clGetPlatformIDs(1, &p, 0) || clGetDeviceIDs(p, CL_DEVICE_TYPE_GPU, 1, &d, 0)) return 8;
  cl_context c = clCreateContext(0, 1, &d, 0, 0, 0);
  cl_command_queue q = clCreateCommandQueue(c, d, 0, 0);
  cl_program g = clCreateProgramWithSource(c, 1, &source, 0, 0);
  if (clBuildProgram(g, 1, &d, "", 0, 0)) return 7;
  cl_mem m = clCreateBuffer(c, CL_MEM_READ_WRITE, sizeof h, 0, 0);
  const char* names[2] = {"first", "second"};
  for (int i = 0; i < 2; ++i) {
    cl_kernel k = clCreateKernel(g, names[i], 0);
    clSetKernelArg(k, 0, sizeof m, &m);
    clEnqueueNDRangeKernel(q, k, 1, 0, &n, &n, 0, 0, 0);
  }
  if (clEnqueueReadBuffer(q, m, CL_TRUE, 0, sizeof h, h, 0, 0, 0) || h[5] != 16) return 9;
#include "leave.h"
  return 0;
}
"""
# How it leaves: the exit code of simtlab, words of the report.
WAYS = {
    "return": (0, []),
    "exit": (0, []),
    "_exit": (0, []),
    "_Exit": (0, []),
    "quick_exit": (0, []),
    "exec": (0, []),
    "_exit3": (5, ["ended with status 3"]),
    "abort": (5, ["INCOMPLETE", "signal 6"]),
    "segv": (5, ["INCOMPLETE", "signal 11"]),
    "kill": (5, ["INCOMPLETE", "signal 9 (Killed): what had been simulated until then is in the report"]),
    "term": (5, ["INCOMPLETE", "signal 15"]),
}
HAS_OPENCL = ctypes.util.find_library("OpenCL") is not None and shutil.which("cc") is not None


def kernels(result):
    return [k["name"] for k in result["kernels"]]


@needs_clang
class Leaving(Case):
    def setUp(self):
        super().setUp()
        self.file("leave.h", LEAVE)

    def cuda(self):
        self.file("app.cu", CUDA)
        self.ok("build", "app.cu", "-o", "app")

    def opencl(self):
        self.file("app.c", OPENCL)
        built = subprocess.run(
            ["cc", "app.c", "-o", "app", "-lOpenCL"], cwd=self.folder, capture_output=True, text=True
        )
        if built.returncode != 0:
            self.skipTest("OpenCL's headers are not installed")

    def leaves(self, command, way, code, says=(), **kw):
        """Runs `command ... -- ./app way`; returns its result file."""
        with self.subTest(command=command, way=way):
            (self.folder / "r.json").unlink(missing_ok=True)
            result = self.simtlab(*command, "--json=r.json", "--", "./app", way, **kw)
            self.assertEqual(result.returncode, code, result.stdout + result.stderr)
            for text in says:
                self.assertIn(text, result.stdout + result.stderr)
            if code == 0:
                self.assertNotIn("INCOMPLETE", result.stderr)
            return json.loads((self.folder / "r.json").read_text())
        return None

    def every_way(self):
        whole = None
        for way, (code, says) in WAYS.items():
            r = self.leaves(["run", "--gpu", "v100"], way, code, says)
            if r is None:
                continue
            whole = whole or r
            self.assertEqual(len(r["kernels"]), 2, way)
            # What was simulated is the same, however the program left.
            self.assertEqual(r["kernels"], whole["kernels"], way)
            own = {k: v for k, v in r["total"].items() if not k.startswith("host.")}
            self.assertEqual(own, {k: v for k, v in whole["total"].items() if not k.startswith("host.")}, way)
            self.assertEqual(bool(r["manifest"].get("failure")), "INCOMPLETE" in says, way)

    def every_command(self):
        for command in (["cache"], ["predict"], ["run", "--mode", "functional"], ["run", "--lines"]):
            # The reports of `predict` and `cache` are of the kernels, too.
            whole = self.leaves([*command, "--gpu", "v100"], "return", 0)
            for way in ("_exit", "kill"):
                r = self.leaves([*command, "--gpu", "v100"], way, WAYS[way][0])
                if whole and r:
                    self.assertEqual(r["kernels"], whole["kernels"], (command, way))

    def test_cuda_programs(self):
        self.cuda()
        self.every_way()
        self.every_command()

    @unittest.skipUnless(HAS_OPENCL, "needs a C compiler and OpenCL's loader")
    def test_opencl_programs(self):
        self.opencl()
        self.every_way()
        self.every_command()

    def test_profiles_are_those_of_a_program_that_leaves_by_exit(self):
        self.cuda()
        for way in ("return", "_exit"):
            self.ok(
                "corun",
                "profile",
                "--gpu",
                "v100",
                "--database",
                way + ".toml",
                "--application",
                "a",
                "--",
                "./app",
                way,
            )
        self.assertEqual((self.folder / "return.toml").read_text(), (self.folder / "_exit.toml").read_text())

    def test_what_is_lost_is_said(self):
        self.cuda()
        r = self.leaves(
            ["run", "--gpu", "v100"],
            "unwaited",
            5,
            ["INCOMPLETE", "[program-left]", "2 launches had not been simulated to the end"],
        )
        self.assertEqual(len(r["kernels"]), 2)
        for option, what in (("--record=t.simt", "trace t.simt"), ("--timeline=t.json", "timeline t.json")):
            for before in (False, True):
                if before:
                    self.leaves(
                        ["run", "--gpu", "v100", option], "return", 0
                    )  # an old file is not taken for this run's
                r = self.leaves(
                    ["run", "--gpu", "v100", option],
                    "_exit",
                    5,
                    ["INCOMPLETE", "[program-left]", what.split()[0], "was not completed"],
                )
                self.assertEqual(len(r["kernels"]), 2)
                self.leaves(["run", "--gpu", "v100", option], "kill", 5, ["signal 9", "was not completed"])

    def test_before_the_gpu_is_before_the_gpu(self):
        self.cuda()
        for way, words in (("before", "was ended by signal 9 before it used the GPU"),):
            result = self.simtlab("run", "--gpu", "v100", "--", "./app", way)
            self.assertEqual(result.returncode, 5)
            self.assertIn(words, result.stderr)
        r = self.leaves(["run", "--gpu", "v100"], "memory-only", 0, ["no kernel was launched"])
        self.assertEqual(r["kernels"], [])

    def test_children(self):
        self.cuda()
        self.assertEqual(len(self.leaves(["run", "--gpu", "v100"], "fork-only", 0)["kernels"]), 2)
        for way in ("fork-and-go-on", "fork-killed"):
            names = kernels(self.leaves(["run", "--gpu", "v100"], way, 0))
            self.assertEqual(sum("second" in n for n in names), 2, names)  # the parent's and the child's
            self.assertEqual(sum("first" in n for n in names), 2 if way == "fork-and-go-on" else 1, names)


if __name__ == "__main__":
    main()
