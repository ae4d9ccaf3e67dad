"""simtlab suite: which programs of a folder build, run and pass; simtlab nvcc and toolkit, which it builds them with."""
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from harness import SIMTLAB, Case, main, needs_clang

GOOD = r"""
#include <cstdio>
#include "../common/value.h"
__global__ void k(int* x) { *x = VALUE; }
int main() {
  int *d, h = 0;
  cudaMalloc(&d, 4);
  k<<<1, 1>>>(d);
  cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
  std::fclose(std::fopen("left.txt", "w"));
  std::printf("Test %s\n", h == 42 ? "PASSED" : "FAILED");
}
"""
NOTHING = "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n"
PART = '#include "part.h"\n__global__ void k(int* x) { *x = seven(); }\nvoid run(int* x) { k<<<1, 1>>>(x); }\n'
MAIN = r"""
#include <cstdio>
#include "part.h"
int main() {
  int *d, h = 0;
  cudaMalloc(&d, 4);
  run(d);
  cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
  std::puts(h == 7 ? "PASS" : "FAIL");
  return h != 7;
}
"""
CMAKE = """cmake_minimum_required(VERSION 3.18)
project(demo LANGUAGES CXX CUDA)
add_library(part STATIC part.cu)
add_executable(app main.cu)
target_link_libraries(app part)
"""
needs_make = unittest.skipUnless(shutil.which("make"), "make is not installed")
needs_cmake = unittest.skipUnless(shutil.which("cmake") and shutil.which("make"), "CMake is not installed")


@needs_clang
class Suite(Case):
    def project(self, **files):
        for name, content in files.items():
            self.file("user/" + name, content)

    def snapshot(self):
        found = {}
        for path in sorted((self.folder / "user").rglob("*")):
            stat = path.lstat()
            data = (
                os.readlink(path)
                if path.is_symlink()
                else path.read_bytes()
                if path.is_file() and not path.is_fifo()
                else ""
            )
            found[str(path)] = (
                stat.st_mode,
                hashlib.sha256(data if isinstance(data, bytes) else data.encode()).hexdigest(),
            )
        return found

    def suite(self, *args, code=0, **kw):
        """Rows by name; the folder is as it was before."""
        before = self.snapshot()
        done = self.simtlab("suite", "user", "--gpu", "v100", "--work", "work", "--json=out.json", *args, **kw)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(self.snapshot(), before, "the user's folder has changed")
        result = json.loads((self.folder / "out.json").read_text())
        return {p["name"]: p for p in result["programs"]}, done, result

    def row(self, programs, name):
        p = programs[name]
        return p["built"], p["ran"], p["passed"], p["check"]

    def test_single_sources(self):
        self.project(
            **{
                "common/value.h": "#define VALUE 42\n",
                "a/good.cu": GOOD,
                "a/wrong.cu": GOOD.replace("VALUE;", "VALUE + 1;"),
                "a/broken.cu": "int main() { return nowhere; }\n",
                "a/part.cu": "__device__ int f() { return 1; }\n",
                "a/exit.cu": NOTHING.replace("return cuda", "return 3 + cuda"),
                "a/fault.cu": "__global__ void k(int* p) { p[1 << 30] = 1; }\nint main() { int* d; cudaMalloc(&d, 4); k<<<1, 1>>>(d); return cudaDeviceSynchronize() != 0; }\n",
                "a/an odd 'name'.cu": NOTHING,
                "cl/alone.cl": "kernel void k(global int* x) { x[0] = 1; }\n",
                "cl/wrong.cl": "kernel void k() { nowhere; }\n",
                "cl/ready.cl": "kernel void k(global int* x) { x[get_global_id(0)] = 1; }\n",
                "cl/ready.toml": 'kernel = "k"\nglobal = 32\nblock = 32\n[[arg]]\nname = "x"\ntype = "s32"\nshape = [32]\ninit = "zero"\n[[expect]]\narg = "x"\nvalue = 1\n',
            }
        )
        programs, done, result = self.suite("--html=page.html", "--csv=table.csv", code=6)
        self.assertEqual(self.row(programs, "a/good.cu"), ("yes", "yes", "yes", "PASSED"))
        self.assertGreater(programs["a/good.cu"]["simulated_ns"], 0)
        self.assertEqual(programs["a/good.cu"]["kernels"], 1)
        self.assertEqual(self.row(programs, "a/wrong.cu"), ("yes", "yes", "no", "FAILED"))
        self.assertEqual(self.row(programs, "a/exit.cu"), ("yes", "yes", "no", "exit 3"))
        self.assertEqual(programs["a/exit.cu"]["reason"], "ended with status 3")
        self.assertEqual(self.row(programs, "a/an odd 'name'.cu"), ("yes", "yes", "yes", "exit 0"))
        self.assertEqual(self.row(programs, "a/broken.cu")[:2], ("no", "-"))
        self.assertTrue(
            programs["a/broken.cu"]["reason"].startswith("a/broken.cu:1:21: error: "), programs["a/broken.cu"]
        )
        self.assertEqual(self.row(programs, "a/fault.cu")[:2], ("yes", "no"))
        self.assertIn("Invalid global write", programs["a/fault.cu"]["reason"])
        self.assertEqual(self.row(programs, "cl/alone.cl")[:3], ("yes", "none", "none"))
        self.assertEqual(self.row(programs, "cl/wrong.cl")[:2], ("no", "-"))
        self.assertEqual(self.row(programs, "cl/ready.cl")[:3], ("yes", "yes", "yes"))
        self.assertEqual(result["skipped"], [{"file": "a/part.cu", "why": "has no main(): no program of its own"}])
        self.assertEqual([p["name"] for p in result["programs"]], sorted(programs))
        self.assertIn("[suite-failed]", done.stderr)
        for name, text in (
            ("stdout", done.stdout),
            ("page", (self.folder / "page.html").read_text()),
            ("table", (self.folder / "table.csv").read_text()),
        ):
            self.assertIn("a/broken.cu", text, name)
        self.assertIn("nowhere", pathlib.Path(programs["a/broken.cu"]["log"]).read_text())

    def test_it_goes_on_and_sees_what_changed(self):
        self.project(
            **{"common/value.h": "#define VALUE 42\n", "a/one.cu": GOOD, "a/two.cu": NOTHING, "a/three.cu": NOTHING}
        )
        self.suite()
        work = self.folder / "work"
        stamps = lambda: {p.parent.name.split("-")[0]: p.stat().st_mtime_ns for p in work.glob("*/build.txt")}
        first = stamps()
        self.assertEqual(len(first), 3)
        programs, _, _ = self.suite("--jobs", "2", "--threads", "2")
        self.assertEqual(stamps(), first, "nothing has changed, yet something was built")
        self.assertEqual(self.row(programs, "a/one.cu")[:3], ("yes", "yes", "yes"))
        self.project(**{"a/two.cu": NOTHING + "// changed\n"})
        self.suite()
        changed = [name for name, stamp in stamps().items() if stamp != first[name]]
        self.assertEqual(changed, ["a_two_cu"])
        self.project(**{"common/value.h": "#define VALUE 43\n"})  # belongs to no program: to all
        programs, _, _ = self.suite(code=6)
        self.assertEqual(self.row(programs, "a/one.cu")[2:], ("no", "FAILED"))
        again = stamps()
        self.suite("--retry-failed", code=6)
        self.assertEqual([n for n, s in stamps().items() if s != again[n]], ["a_one_cu"])
        self.suite("--set", "sm.count=2", code=6)
        self.assertEqual([n for n, s in stamps().items() if s == again[n]], [])
        self.assertEqual(
            sorted(p.name for p in work.iterdir() if not p.name.startswith("a_")), ["lock", "state.json", "toolkit"]
        )

    def test_interrupted_and_continued(self):
        self.project(
            **{
                "a.cu": NOTHING,
                "b.cu": '#include <unistd.h>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); if (access("never", F_OK)) sleep(2); return 0; }\n',
                "c.cu": NOTHING,
            }
        )
        process = subprocess.Popen(
            [SIMTLAB, "suite", "user", "--work", "work", "--json=out.json"],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(1200):
            if list((self.folder / "work").glob("b_cu-*/run-1.err.txt")):
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, out + err)
        left = {p["name"]: p["built"] for p in json.loads((self.folder / "out.json").read_text())["programs"]}
        self.assertEqual(left, {"a.cu": "yes", "b.cu": "-", "c.cu": "-"})
        self.assertIn("2 of 3 programs left", err)
        stamp = next((self.folder / "work").glob("a_cu-*/build.txt")).stat().st_mtime_ns
        done = self.ok("suite", "user", "--work", "work")
        self.assertIn("3 built, 3 ran, 3 passed", done.stdout)
        self.assertEqual(next((self.folder / "work").glob("a_cu-*/build.txt")).stat().st_mtime_ns, stamp)

    @needs_make
    def test_makefiles(self):
        """Paths of a toolkit of NVIDIA's, rules that delete, a script with arguments, several programs, one that is no GPU program."""
        wanted = "-O2 -gencode arch=compute_70,code=sm_70 -I$(CUDA_PATH)/include -L$(CUDA_PATH)/lib64"
        self.project(
            **{
                "common/value.h": "#define VALUE 42\n",
                "apps/one.cu": GOOD,
                "delete/Makefile": f"CUDA_PATH ?= /usr/local/cuda-11.8\nNVCC := $(CUDA_PATH)/bin/nvcc\nall:\n\t$(NVCC) {wanted} -o app app.cu\n\trm -rf ../common ../apps ../cpu app.cu Makefile\n",
                "delete/app.cu": GOOD.replace("../common", "../common"),
                "path/Makefile": "NVCC=/usr/local/cuda/bin/nvcc -O2\nall: a.out b.out\n%.out: app.cu\n\t$(NVCC) -o $@ $<\n",
                "path/app.cu": NOTHING,
                "script/Makefile": "app: app.cu\n\tnvcc -o app app.cu\n",
                "script/app.cu": NOTHING.replace("main()", "main(int n, char**)").replace(
                    "return cuda", "return n != 3 || cuda"
                ),
                "script/run": "#!/bin/sh\n./app 1 2\n",
                "cpu/Makefile": "# CUDA comes later\napp: app.c\n\tcc -o app app.c\n",
                "cpu/app.c": "int main() { return 0; }\n",
                "broken/GNUmakefile": "app: none.cu\n\tnvcc -o app none.cu\n",
            }
        )
        programs, _, _ = self.suite(code=6)
        self.assertEqual(
            sorted(programs), ["apps/one.cu", "broken", "cpu", "delete", "path: a.out", "path: b.out", "script"]
        )
        for name in ("apps/one.cu", "delete"):
            self.assertEqual(self.row(programs, name), ("yes", "yes", "yes", "PASSED"), name)
        for name in ("path: a.out", "path: b.out", "script"):
            self.assertEqual(self.row(programs, name), ("yes", "yes", "yes", "exit 0"), name)
        self.assertIn("No rule to make target 'none.cu'", programs["broken"]["reason"])
        self.assertEqual(programs["cpu"]["reason"], "the build made no program that uses CUDA or OpenCL")

    @needs_cmake
    def test_cmake(self):
        """CMake asks the compiler for its version, tests it, links by itself and follows headers."""
        self.project(
            **{
                "CMakeLists.txt": CMAKE,
                "part.cu": PART,
                "main.cu": MAIN,
                "part.h": "void run(int* x);\n__host__ __device__ inline int seven() { return 7; }\n",
            }
        )
        programs, _, _ = self.suite()
        self.assertEqual(self.row(programs, "user"), ("yes", "yes", "yes", "PASS"))
        # By hand: the same with a toolkit of its own; an old object is not taken for a new header.
        self.ok("toolkit", "--prefix", "tk")
        run = lambda *words: subprocess.run(
            words, cwd=self.folder, env=self.environment(), capture_output=True, text=True, timeout=300
        )
        done = run("cmake", "-S", "user", "-B", "built", f"-DCMAKE_CUDA_COMPILER={self.folder}/tk/bin/nvcc")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("The CUDA compiler identification is NVIDIA 12.0", done.stdout)
        self.assertEqual(run("cmake", "--build", "built").returncode, 0)
        self.assertIn("PASS", self.ok("run", "--gpu", "v100", "--", "built/app").stdout)
        self.project(**{"part.h": "void run(int* x);\n__host__ __device__ inline int seven() { return 8; }\n"})
        self.assertIn("part.cu", run("cmake", "--build", "built").stdout)
        self.fails_to_pass("built/app")

    def fails_to_pass(self, program):
        done = self.simtlab("run", "--gpu", "v100", "--", program)
        self.assertEqual(done.returncode, 5)
        self.assertIn("FAIL", done.stdout)

    def test_nvcc(self):
        for words in (["nvcc", "--version"], ["nvcc", "-V"]):
            self.assertRegex(self.ok(*words).stdout, r"Cuda compiler driver\n.*release 12\.0, V12\.0\.0\n")
        self.file("a b.h", "#define N 1\n")
        self.file(
            "a.cu",
            '#include <cstdio>\n#include "a b.h"\n#ifndef __NVCC__\n#error no nvcc\n#endif\nint main() { return N - 1 + __CUDACC_VER_MAJOR__ - 12; }\n',
        )
        for _ in range(2):  # compiled, then from the cache
            self.ok("nvcc", "-c", "a.cu", "-o", "a.o", "-MMD", "-MP", "-MF", "rule.d", "-MT", "target")
            rule = (self.folder / "rule.d").read_text()
            self.assertEqual(
                rule,
                f"target: a.cu \\\n  {self.folder}/a\\ b.h\n\n{self.folder}/a\\ b.h:\n".replace(
                    str(self.folder), str(self.folder.resolve())
                ),
            )
            (self.folder / "rule.d").unlink()
        self.assertIn("cstdio", self.ok("nvcc", "-M", "a.cu").stdout)
        self.assertRegex(self.ok("nvcc", "-MM", "a.cu").stdout, r"^a\.o: a\.cu \\\n  \S+a\\ b\.h\n$")
        self.file("words.txt", "-c a.cu '-DTEXT=\"a b\"' -o words.o\n")
        self.ok("nvcc", "--options-file", "words.txt")
        self.assertTrue((self.folder / "words.o").exists())

    def test_opencl_is_built(self):
        self.file("k.cl", "kernel void k(global int* x) { x[0] = N; }\n")
        self.ok("build", "k.cl", "-D", "N=3", "-o", "made.ptx")
        self.assertIn(".entry k", (self.folder / "made.ptx").read_text())
        self.ok("build", "k.cl", "-DN=3")
        self.assertTrue((self.folder / "k.ptx").exists())
        self.fails(3, "build", "k.cl", says="[compile-failed]")
        self.fails(2, "build", "k.cl", "other.cl", says="one OpenCL C file")

    def test_limits(self):
        endless = "#include <unistd.h>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); if (fork() == 0) { setsid(); for (;;) pause(); } for (;;) {} }\n"
        flood = '#include <cstdio>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); for (;;) std::puts("a line that is printed again and again"); }\n'
        greedy = "#include <vector>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); std::vector<std::vector<char>> all; for (;;) all.emplace_back(1 << 20, 'x'); }\n"
        self.project(**{"endless.cu": endless, "flood.cu": flood, "greedy.cu": greedy})
        programs, _, _ = self.suite(
            "--limit", "3 s", "--print-limit", "1 MiB", "--memory-limit", "600 MiB", "--only", "endless*", code=6
        )
        self.assertEqual(programs["endless.cu"]["reason"], "not finished within 3 s")
        programs, _, _ = self.suite(
            "--limit",
            "60 s",
            "--print-limit",
            "1 MiB",
            "--memory-limit",
            "600 MiB",
            "--only",
            "flood.cu",
            "--only",
            "gr?edy.cu",
            "--jobs",
            "2",
            code=6,
        )
        self.assertEqual(programs["flood.cu"]["reason"], "printed more than 1 MiB")
        self.assertEqual(programs["greedy.cu"]["reason"], "more than 600 MiB of memory")
        left = [
            p
            for p in pathlib.Path("/proc").glob("[0-9]*/environ")
            if str(self.folder).encode() in self.content(p) and b"SIMTLAB_SUITE_STEP" in self.content(p)
        ]
        self.assertEqual(left, [])

    @staticmethod
    def content(path):
        try:
            return path.read_bytes()
        except OSError:
            return b""

    def test_a_list_of_programs(self):
        self.project(
            **{
                "sub/app.cu": NOTHING.replace("main()", "main(int n, char**)")
                .replace("k<<<", 'puts(n > 1 ? "right" : "none"); k<<<')
                .replace("__global__", "#include <cstdio>\n__global__", 1),
                "simtlab-suite.toml": '[[program]]\nname = "with"\nfolder = "sub"\nbuild = "nvcc -o app app.cu"\nrun = "./app 1"\nexpect = "right"\n'
                '[[program]]\nname = "without"\nfolder = "sub"\nbuild = "nvcc -o app app.cu"\nrun = "./app"\nexpect = "right"\n'
                '[[program]]\nname = "slow"\nrun = "sleep 30"\nlimit = "1 s"\n',
            }
        )
        programs, _, _ = self.suite(code=6)
        self.assertEqual(self.row(programs, "with"), ("yes", "yes", "yes", "expected text"))
        self.assertEqual(programs["without"]["reason"], "did not print 'right'")
        self.assertEqual(programs["slow"]["reason"], "not finished within 1 s")
        self.assertEqual(programs["slow"]["built"], "none")
        self.file("other.toml", '[[program]]\nrun = "true"\nspeed = 1\n')
        self.fails(
            3,
            "suite",
            "user",
            "--work",
            "work",
            "--list",
            "other.toml",
            says=["other.toml:3:1", "speed", "[suite-list]"],
        )

    def test_what_is_no_suite(self):
        self.file("empty/readme.txt", "")
        self.fails(3, "suite", "empty", says="[suite-empty]")
        self.fails(3, "suite", "none", says="[suite-folder]")
        self.fails(3, "suite", "empty/readme.txt", says="[suite-folder]")
        self.project(**{"a.cu": NOTHING})
        self.fails(2, "suite", "user", "--work", "user/work", says="[suite-work]")
        self.fails(2, "suite", "user", "--work", "work", "--only", "b*", says="[suite-only]")
        self.fails(3, "suite", "user", "--gpu", "none", says="none")
        self.fails(3, "suite", "user", "--limit", "fast", says="fast")
        self.fails(2, "suite", "user", "--limit", "0 s", says="--limit")
        self.fails(3, "toolkit", "--prefix", "user", says="[toolkit-folder]")
        self.assertEqual([p.name for p in (self.folder / "user").iterdir()], ["a.cu"])
        for name in ("x", "y"):
            (self.folder / "user" / name).symlink_to("y" if name == "x" else "x")
        (self.folder / "user/round").symlink_to(".")
        os.mkfifo(self.folder / "user/pipe.cu")
        programs, done, _ = self.suite("--build-only")
        self.assertEqual(self.row(programs, "a.cu")[:2], ("yes", "-"))
        self.assertIn("left out: pipe.cu", done.stdout)


if __name__ == "__main__":
    main()
