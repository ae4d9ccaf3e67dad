"""run app.cu and run -- ./app: streams, exit statuses, executables that can't be run."""
import json
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

from harness import SIMTLAB, SOURCE, Case, main, needs_clang

PROGRAM = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
__global__ void fill(int* out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = 3 * i; }
__global__ void outside(int* out) { out[1 << 28] = 1; }
__global__ void forever(volatile int* flag) { unsigned n = 0; while (*flag == 0 && ++n != 0) { } }
int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  int* d = nullptr;
  if (!strcmp(what, "early")) return 9;
  cudaMalloc(&d, 4096 * sizeof(int));
  cudaMemset(d, 0, 4096 * sizeof(int));
  fill<<<16, 256>>>(d, 4096);
  if (!strcmp(what, "outside")) outside<<<1, 1>>>(d);
  if (!strcmp(what, "forever")) { cudaMemset(d, 0, 4); puts("waiting"); fflush(stdout); forever<<<1, 1>>>(d); }
  int last = 0;
  cudaMemcpy(&last, d + 4095, sizeof last, cudaMemcpyDeviceToHost);
  printf("last %d\n", last);
  fprintf(stderr, "program talks\n");
  if (!strcmp(what, "status")) return 7;
  if (!strcmp(what, "crash")) { fflush(stdout); abort(); }
  return last == 3 * 4095 ? 0 : 1;
}
"""


@needs_clang
class Programs(Case):
    def program(self):
        return self.file("app.cu", PROGRAM)

    def executable(self):
        self.program()
        self.ok("build", "app.cu", "-o", "app")
        return "./app"

    def test_a_register_limit_of_the_compiler_counts_for_occupancy(self):
        self.file(
            "many.cu",
            """__global__ void k(float* p) {
          float v[64];
          for (int i = 0; i < 64; ++i) v[i] = p[i * 32 + threadIdx.x];
          __syncthreads();
          for (int i = 0; i < 64; ++i) p[i * 32 + threadIdx.x] = v[63 - i] * v[(i * 7) % 64];
        }
        int main() { float* p; cudaMalloc(&p, 8192); k<<<1, 32>>>(p); return cudaDeviceSynchronize(); }""",
        )
        free = self.run_json("many.cu")["kernels"][0]
        self.assertGreater(free["launch"]["registers"], 24)
        limited = self.run_json("many.cu", "-maxrregcount=10")["kernels"][0]
        self.assertEqual(limited["launch"]["registers"], 24)  # the assembler's least
        self.assertGreater(limited["metrics"]["local.load.sectors"]["value"], 0)
        self.assertNotIn("D-PTX-8", limited["not_modelled"])
        limited = self.run_json("many.cu", "--lowering", "counts", "-maxrregcount=10")["kernels"][0]
        self.assertEqual(limited["launch"]["registers"], 24)
        self.assertIn("D-PTX-8", limited["not_modelled"])

    def test_a_simtlab_that_is_killed_takes_its_program_along(self):
        process = subprocess.Popen(
            [SIMTLAB, "run", "--", self.executable(), "forever"],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.assertEqual(process.stdout.readline(), "waiting\n")
        process.kill()
        # The pipe closes when the last process that holds it is gone.
        self.assertEqual(process.communicate(timeout=10)[0], "")

    def test_a_program_started_without_simtlab_takes_its_settings_from_the_environment(self):
        executable, library = self.executable(), Path(SIMTLAB).parent.parent / "lib"

        def start(**settings):
            environment = self.environment(
                {"LD_LIBRARY_PATH": str(library), "SIMTLAB_RESULT": "direct.json", **settings}
            )
            return subprocess.run(
                [executable], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=60
            )

        self.assertEqual(start(SIMTLAB_GPU="gtx480", SIMTLAB_SET="sm.count=3").returncode, 0)
        manifest = json.loads((self.folder / "direct.json").read_text())["manifest"]
        self.assertEqual(manifest["device"], "gtx480")
        self.assertIn("3", [c["value"] for c in manifest["configuration"] if c["key"] == "sm.count"])
        self.assertIn("sm.count", start(SIMTLAB_SET="sm.count=0").stderr)

    def test_a_folder_of_libraries_without_libcudart_is_refused(self):
        self.fails(
            3, "run", "--", self.executable(), env={"SIMTLAB_LIBRARY_DIR": str(self.folder)}, says="SIMTLAB_LIBRARY_DIR"
        )

    def test_a_run_that_is_stopped_says_where_it_was(self):
        for mode in ("timing", "functional"):
            result = self.simtlab("run", "--mode", mode, "--max-time", "1", "--", self.executable(), "forever")
            self.assertEqual(result.returncode, 1, result.stderr)
            for part in ("time limit of 1 s", "warp 0 of block (0,0,0) in kernel _Z7foreverPVi", "app.cu:7"):
                self.assertIn(part, result.stderr)
        self.fails(2, "run", "--mode", "functional", "--max-cycles", "5", "--", self.executable(), says="functional")

    def test_stdout_is_the_programs_and_the_report_goes_to_stderr(self):
        for command in (["run", self.program(), "--gpu", "a100"], ["run", "--gpu", "a100", "--", self.executable()]):
            result = self.ok(*command)
            self.assertEqual(result.stdout, "last 12285\n")
            for part in ("fill(int*, int)", "on a100, simulated at cycle level", "Bottleneck", "program talks"):
                self.assertIn(part, result.stderr)
            self.assertNotIn("Speed of light", self.ok(*command, "-q").stderr if command[-1] != "./app" else "")

    def test_the_report_goes_where_it_is_sent(self):
        result = self.ok("run", self.program(), "-o", "r.txt", "--json=r.json")
        self.assertEqual(result.stderr, "program talks\n")
        self.assertIn("fill(int*, int)", (self.folder / "r.txt").read_text())
        r = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(r["manifest"]["program"], {"exit_status": 0})
        self.assertEqual([k["demangled"] for k in r["kernels"]], ["fill(int*, int)"])
        self.assertEqual(r["kernels"][0]["launch"]["grid"], [16, 1, 1])
        self.assertGreater(r["total"]["copy.d2h.bytes"]["value"], 0)
        self.assertGreaterEqual(r["total"]["program.time"]["value"], r["total"]["gpu.time"]["value"])

    def test_json_on_stdout_is_only_json(self):
        result = self.ok("run", self.program(), "--json")
        self.assertEqual(json.loads(result.stdout)["schema"], 1)
        self.assertIn("last 12285", result.stderr)

    def test_arguments_after_the_dashes_are_the_programs(self):
        result = self.simtlab("run", self.program(), "--json=r.json", "--", "status")
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertIn("ended with status 7", result.stderr)
        self.assertIn("fill(int*, int)", result.stderr)
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["manifest"]["program"]["exit_status"], 7)

    def test_a_program_that_fails_before_it_uses_the_gpu_is_5(self):
        result = self.simtlab("run", self.program(), "--", "early")
        self.assertEqual(result.returncode, 5)
        self.assertIn("status 9", result.stderr)

    def test_a_program_that_crashes_is_5(self):
        result = self.simtlab("run", self.program(), "--", "crash")
        self.assertEqual(result.returncode, 5)
        self.assertIn("signal 6", result.stderr)

    def test_a_fault_of_a_kernel_is_5_and_names_kernel_thread_and_address(self):
        result = self.simtlab("run", self.program(), "--json=r.json", "--", "outside")
        self.assertEqual(result.returncode, 5, result.stderr)
        for part in ("[illegal-address]", "outside", "thread (0,0,0)", "0x"):
            self.assertIn(part, result.stderr)
        r = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(r["manifest"]["failure"]["id"], "illegal-address")
        self.assertIn("fill(int*, int)", [k["demangled"] for k in r["kernels"]])

    def test_an_endless_kernel_is_stopped_by_the_time_limit(self):
        begin = time.monotonic()
        result = self.simtlab("run", self.program(), "--max-time", "3", "--json=r.json", "--", "forever", timeout=120)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("[limit-time]", result.stderr)
        self.assertLess(time.monotonic() - begin, 60)
        r = json.loads((self.folder / "r.json").read_text())
        self.assertIn("fill(int*, int)", [k["demangled"] for k in r["kernels"]])

    def test_ctrl_c_keeps_what_was_done(self):
        process = subprocess.Popen(
            [SIMTLAB, "run", "--json=r.json", "--", self.executable(), "forever"],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertEqual(process.stdout.readline(), "waiting\n")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        r = json.loads((self.folder / "r.json").read_text())
        self.assertTrue(r["manifest"]["interrupted"])
        self.assertIn("fill(int*, int)", [k["demangled"] for k in r["kernels"]])

    def test_a_source_that_does_not_compile_is_3_with_the_compilers_words(self):
        self.file("bad.cu", "__global__ void k() { oops; }\nint main() {}\n")
        self.fails(3, "run", "bad.cu", says=["oops", "[compile-failed]"])

    def test_fast_functions_of_powers_of_two_are_constants(self):
        source = (
            "__global__ void sum(float* x, float a, float b) {\n"
            "  __shared__ float row[32];\n"
            "  const int t = threadIdx.x;\n"
            "  row[t] = x[t];\n"
            "  for (int i = 1; i <= __log2f(32); ++i) {\n"
            "    const int step = __powf(2, i);\n"
            "    __syncthreads();\n"
            "    if (t % step == 0) row[t] += row[t + step / 2];\n"
            "  }\n"
            "  x[t] = row[t]ANY;\n"
            "}\n"
            "#include <cstdio>\n"
            "int main() {\n"
            "  float *x, h[32];\n"
            "  for (int i = 0; i < 32; ++i) h[i] = i;\n"
            "  cudaMalloc(&x, sizeof h);\n"
            "  cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);\n"
            "  sum<<<1, 32>>>(x, 8, 2);\n"
            "  cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost);\n"
            '  printf("%g\\n", h[0]);\n'
            "}\n"
        )
        for more, result, approximate in (("", "496", False), (" + __log2f(a) + __powf(a, b)", "563", True)):
            self.file("sum.cu", source.replace("ANY", more))
            self.ok("build", "-ptx", "sum.cu", "-o", "sum.ptx")
            ptx = (self.folder / "sum.ptx").read_text()
            self.assertEqual("lg2.approx" in ptx, approximate)
            self.assertNotIn("rem.", ptx, "a remainder by a constant power of two is a mask")
            self.assertEqual(self.ok("run", "-q", "sum.cu").stdout.split()[0], result)

    def test_flags_reach_the_compiler(self):
        self.file(
            "flag.cu",
            '#include <cstdio>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); printf("%d\\n", VALUE); return cudaDeviceSynchronize(); }\n',
        )
        self.assertEqual(self.ok("run", "-DVALUE=42", "flag.cu", "-std=c++17", "-O3").stdout, "42\n")

    def test_a_value_of_nvccs_options_stays_with_its_option(self):
        self.file("flag.cu", "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n")
        for flags in (
            ["-Xptxas", "-v"],
            ["-Xptxas=-v"],
            ["--ptxas-options", "-v"],
            ["--ptxas-options=-v"],
            ["-Xptxas", "-q"],
            ["-Xptxas", "--gpu"],
            ["-Xlinker", "--as-needed"],
            ["-ccbin", "g++"],
            ["-Xcompiler", "-O1"],
            ["-t", "4"],
        ):
            with self.subTest(flags):
                noted = "-X" if "ptxas" in flags[0] else ""
                result = self.ok("run", "flag.cu", *flags, "--gpu", "v100")
                self.assertIn("k()", result.stderr)  # -q and -v were none of simtlab's
                self.assertNotIn("clang", result.stderr)
                if noted:
                    self.assertIn("has no effect", result.stderr)
                built = self.ok("build", "flag.cu", *flags, "-o", "flag")
                self.assertNotIn("clang", built.stderr)
        self.assertIn(
            "clang version", self.ok("build", "flag.cu", "-Xcompiler", "-v", "-o", "other").stderr
        )  # clang's -v

    def test_the_same_program_gives_the_same_bytes(self):
        results = []
        for _ in range(2):
            r = self.run_json(self.program())
            r["manifest"] = None
            r["total"] = {k: v for k, v in r["total"].items() if not k.startswith("host.")}
            results.append(r)
        self.assertEqual(results[0], results[1])


class Executables(Case):
    def test_a_missing_program_is_3(self):
        self.fails(3, "run", "--", "./nothing", says="./nothing")
        self.fails(3, "run", "--", "no-such-program-anywhere", says="PATH")

    def test_a_file_that_is_not_executable_is_3(self):
        self.file("data", "hello")
        self.fails(3, "run", "--", "./data", says=["not executable", "chmod"])
        self.fails(3, "run", "--", "./", says="directory")

    def test_a_file_that_the_system_refuses_is_3(self):
        path = self.file("broken", b"\x7fELF" + bytes(60))
        path.chmod(0o755)
        self.fails(3, "run", "--", "./broken", says="cannot be executed")

    def test_a_program_without_cuda_is_told_so(self):
        self.fails(3, "run", "--", "true", says="[program-no-cuda]")

    @unittest.skipUnless(shutil.which("g++") and shutil.which("objcopy"), "needs g++ and objcopy")
    def test_a_program_with_a_static_runtime_is_told_to_be_rebuilt(self):
        source = self.file("main.cpp", "int main() {}\n")
        subprocess.run(["g++", source, "-o", self.folder / "app"], check=True)
        self.file("fat", bytes(64))
        subprocess.run(
            ["objcopy", "--add-section", f".nv_fatbin={self.folder / 'fat'}", self.folder / "app"], check=True
        )
        self.fails(4, "run", "--", "./app", says=["-cudart shared", "[program-static-cudart]"])


@needs_clang
class Examples(Case):
    def test_every_example_checks_its_result(self):
        examples = sorted((SOURCE / "examples").glob("*.cu"))
        self.assertGreaterEqual(len(examples), 13)
        for example in examples:
            with self.subTest(example.name):
                # What ctest's example.NAME compiles, so that it is compiled once.
                result = self.ok("run", example, "--gpu", "v100", "--json=r.json")
                self.assertIn("PASS", result.stdout)
                r = json.loads((self.folder / "r.json").read_text())
                self.assertGreaterEqual(len(r["kernels"]), 1)
                for kernel in r["kernels"]:
                    shares = [v["value"] for k, v in kernel["metrics"].items() if k.startswith("stall.")]
                    self.assertAlmostEqual(sum(shares), 1.0, places=9)


if __name__ == "__main__":
    main()
