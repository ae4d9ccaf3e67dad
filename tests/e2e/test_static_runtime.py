"""Executables with a CUDA runtime linked in: ours takes its place. The runtime inside is one of the test's own."""
import json
import shutil
import subprocess
import unittest

from corun_live_scene import Live
from harness import main

# Names of a runtime, as nvcc's default links it in; each fails. Which of them there are tells the version.
RUNTIME = """
extern "C" {
#define INSIDE(name) __attribute__((noinline)) int name() { inside = #name; return 999; }
volatile const char* inside;
INSIDE(__cudaRegisterFatBinary) INSIDE(__cudaRegisterFunction) INSIDE(cudaMalloc) INSIDE(cudaMemcpy)
INSIDE(cudaLaunchKernel) INSIDE(cudaStreamSetAttribute) INSIDE(cudaRuntimeGetVersion) %s
__attribute__((noinline)) int cudaIsMine() { return 7; }
}
"""

PROGRAM = r"""
#include <cstdio>
extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
int cudaMalloc(void**, unsigned long), cudaMemcpy(void*, const void*, unsigned long, int), cudaRuntimeGetVersion(int*);
struct Dim { unsigned x, y, z; };
int cudaLaunchKernel(const void*, Dim, Dim, void**, unsigned long, void*), cudaIsMine();
}
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry triple(.param .u64 p)\n"
  "{ .reg .b32 %r<3>; .reg .b64 %a<3>; ld.param.u64 %a1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %a2, %r1, 4;\n"
  "add.s64 %a1, %a1, %a2; mul.lo.u32 %r1, %r1, 3; st.global.u32 [%a1], %r1; ret; }\n";
struct { unsigned magic, version; const void* data; void* extra; } wrapper = {0x466243b1, 1, ptx, nullptr};
[[gnu::section(".nv_fatbin"), gnu::used]] int marker = 1;
static char stub;
[[gnu::constructor]] static void begin() {
  void** image = __cudaRegisterFatBinary(&wrapper);
  if (image == (void**)999) return;
  __cudaRegisterFunction(image, &stub, nullptr, "triple", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
}
int main() {
  void* d = nullptr;
  int h[32] = {}, version = 0;
  void* arguments[] = {&d};
  int code = cudaMalloc(&d, sizeof h);
  code |= cudaLaunchKernel(&stub, {1, 1, 1}, {32, 1, 1}, arguments, 0, nullptr);
  code |= cudaMemcpy(h, d, sizeof h, 2);
  code |= cudaRuntimeGetVersion(&version);
  std::printf("code %d value %d version %d mine %d\n", code, h[5], version / 1000, cudaIsMine());
  return code != 0 || h[5] != 15;
}
"""


@unittest.skipUnless(shutil.which("g++") and shutil.which("strip"), "needs g++ and strip")
class StaticRuntime(Live):
    def build(self, *names):
        self.file("runtime.cpp", RUNTIME % " ".join(f"INSIDE({name})" for name in names))
        self.file("main.cpp", PROGRAM)
        subprocess.run(["g++", "-O1", "main.cpp", "runtime.cpp", "-o", "app"], cwd=self.folder, check=True)

    def test_the_runtime_inside_is_replaced(self):
        for names, version in ((["cudaBindTexture"], 11), (["cudaGetDeviceProperties_v2"], 12), ([], 13)):
            with self.subTest(version):
                self.build(*names)
                result = self.simtlab("run", "--json", "--gpu", "a100", "--", "./app")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(f"code 0 value 15 version {version} mine 7", result.stdout + result.stderr)
                self.assertIn('"triple', result.stdout)

    def test_a_script_may_start_it(self):
        self.build()
        self.file("go.sh", "#!/bin/sh\nexec ./app\n").chmod(0o755)
        result = self.simtlab("run", "--gpu", "a100", "--", "./go.sh")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("value 15 version 13", result.stdout)
        self.assertIn("triple", result.stderr)

    def test_a_suite_runs_it_as_it_is_and_by_a_shell(self):
        self.build()
        self.file("user/own/simtlab-suite.toml", '[[program]]\nname = "listed"\nrun = "echo && ./app"\n')
        for folder in ("user", "user/own"):
            shutil.copy(self.folder / "app", self.folder / folder)
        for folder, name in (("user", "app"), ("user/own", "listed")):
            result = self.ok("suite", folder, "--gpu", "a100", "--only", name, "--work", "work", "--fresh", "--json")
            program = json.loads(result.stdout)["programs"][0]
            self.assertEqual(
                [program[key] for key in ("name", "built", "ran", "passed", "kernels")], [name, "none", "yes", "yes", 1]
            )

    def test_its_launches_are_gated_on_a_simulated_gpu(self):
        self.build()
        self.serve("--policy", "mps")
        for command in (["./app"], ["sh", "-c", "echo; ./app; exit"]):
            process = self.start(*command, options=["--gpu", "a100"])
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
            self.assertIn("code 0 value 15 version 13 mine 7", out)
            self.assertEqual(err, "simtlab corun exec: 1 launches gated, 0 not\n")

    def test_without_its_names_it_is_refused(self):
        self.build()
        subprocess.run(["strip", "app"], cwd=self.folder, check=True)
        self.fails(4, "run", "--", "./app", says=["do not strip it", "-cudart shared", "[program-static-cudart]"])
        result = self.simtlab("run", "--gpu", "a100", "--", "sh", "-c", "./app; echo $?")
        self.assertEqual(result.stdout, "4\n")
        self.assertIn("app: the CUDA runtime that is linked in cannot be replaced: its functions", result.stderr)

    def test_an_old_runtime_is_refused(self):
        self.file("runtime.cpp", RUNTIME.replace("INSIDE(cudaStreamSetAttribute)", "") % "INSIDE(cudaBindTexture)")
        self.file("main.cpp", PROGRAM)
        subprocess.run(["g++", "-O1", "main.cpp", "runtime.cpp", "-o", "app"], cwd=self.folder, check=True)
        self.fails(4, "run", "--", "./app", says="[program-static-cudart]")


if __name__ == "__main__":
    main()
