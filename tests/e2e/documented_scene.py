"""What the documentation takes for granted: the files that its commands name, the programs that must be running, what stands for a reader's own words."""
import contextlib
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request

import slurm_cluster
from harness import SIMTLAB, SOURCE
from test_predict import EXAMPLE as COUNTS

BUILD = pathlib.Path(SIMTLAB).parents[1]
MOCK = BUILD / "mockcuda/libsimtlab-mockcuda.so"
HAS_OPENCL = os.path.exists("/usr/include/CL/cl.h") and shutil.which("gcc") is not None

APP = """
#include <cstdio>
__global__ void one(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
int main() {
  float *x, y[4096];
  cudaMalloc(&x, sizeof y);
  cudaMemset(x, 0, sizeof y);
  for (int i = 0; i < 3; ++i) one<<<16, 256>>>(x);
  cudaMemcpy(y, x, sizeof y, cudaMemcpyDeviceToHost);
  return y[5] != 3;
}
"""
TRANSPOSE = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry transpose(.param .u64 in, .param .u64 out, .param .u32 n) { ret; }
"""
# Line 9 is the loop; its counts are known.
LOOP = """#include <stdio.h>

static float a[4096], b[4096];

int main(void) {
  for (int i = 0; i < 4096; i++)
    b[i] = i;

  for (int i = 0; i < 4096; i++)
    a[i] = 2 * b[i];
  printf("%g\\n", a[4095]);
}
"""
APPLICATIONS = """
[[application]]
name = "a"
run = "saxpy.ptx"
launch = "saxpy.toml"
iterations = 3
[[application]]
name = "b"
run = "app.cu"
"""

# Words that stand for something of the reader's.
STAND_FOR = {
    "RESULT.json": "a.json",
    "A.json": "a.json",
    "B.json": "b.json",
    "STUDY.toml": "study.toml",
    "STUDY.db": "study.db",
    "TRACE.simt": "run.simt",
    "CURVE.csv": "curve.csv",
    "TIMES": "times.txt",
    "CLOCK": "clock.txt",
    "COMMANDS": "commands.txt",
    "RESULTS": "results",
    "ARGUMENTS": "1",
    "RESULT...": "a.json",
    "DIR": "results",
}
# The same for whole commands: what is typed in place of these words.
TYPED = {
    "corun interfere kernel.ptx --launch l.toml --device 0": "corun interfere kernel.ptx --launch l.toml --device 0 --steps 2",
    "corun interfere kernel.ptx --launch l.toml --device 0 --steps 8": "corun interfere kernel.ptx --launch l.toml --device 0 --steps 2",
    "corun set": "corun set --policy fair --limit 2",
    "corun live --applications apps.toml --mix a,b,b --limit 2": "corun live --applications apps.toml --mix heartwall,srad --policy mps,shark --limit 1 --device sim:titanx",
    "corun live --applications apps.toml --mix a,b --limit 1": "corun live --applications apps.toml --mix heartwall,srad --policy mps,shark --limit 1 --device sim:titanx",
    "corun live --applications apps.toml --mix heartwall,srad,srad --policy mps,shark --limit 2 --profiles my.db": "corun live --applications apps.toml --mix heartwall,srad --policy mps,shark --limit 1 --device sim:titanx",
    "corun live --applications apps.toml --mixes 10 --size 4,8,16 --limit 2,4,8,16 --policy mps,shark --profiles my.db --csv=mixes.csv": "corun live --applications apps.toml --mixes 1 --size 2 --limit 1 --policy mps --device sim:titanx --csv=mixes.csv",
    "corun live --applications apps.toml --mixes 10 --size 4,8 --limit 2,4,8 --policy mps,shark --profiles my.db --csv=mixes.csv": "corun live --applications apps.toml --mixes 1 --size 2 --limit 1 --policy mps --device sim:titanx --csv=mixes.csv",
    "corun live --applications apps.toml --device sim:titanx --mix heartwall,srad --policy mps": "corun live --applications apps.toml --mix heartwall,srad --policy mps,shark --limit 1 --device sim:titanx",
    "corun --host cycle --gpu titanx-maxwell --mix saxpy,bfs,matmul_tiled --limit 2": "corun --host cycle --gpu titanx-maxwell --mix saxpy,saxpy_large,scan --limit 2",
    "corun --host cycle --gpu titanx-maxwell --mix saxpy,transpose_naive,matmul_tiled --limit 2 --policy mps,shark": "corun --host cycle --gpu titanx-maxwell --mix saxpy,saxpy_large,scan --limit 2",
    "corun --host cycle --gpu titanx-maxwell --mixes 4 --size 6 --limit 3 --seed 2 --policy mps,fair --all --json=r.json": "corun --host cycle --gpu titanx-maxwell --mixes 1 --size 3 --limit 2 --seed 2 --policy mps,fair --all --json=r.json",
    "corun --mixes 30 --size 4,8,16 --limit 2,4,8,16 --policy mps,shark,fair --seed 7": "corun --mixes 3 --size 4,8 --limit 2,4,8 --policy mps,shark,fair --seed 7",
    "corun --mixes 30 --size 4,8,16 --limit 2,4,8,16 --policy mps,shark": "corun --mixes 3 --size 4,8,16 --limit 2,4,8,16 --policy mps,shark",
    "run app.cu MORE SOURCES AND NVCC FLAGS -- ARGUMENTS": "run app.cu -O2 -- 1",
    "run kernel.cl -D -I -cl-... --global 160x160 --local 16x16 --arg u32:1": "run kernel.cl -DX=1 -Iinclude -cl-fast-relaxed-math --global 160x160 --local 16x16 {mm}",
    "cache kernel.cl --kernel mm --global 160x160 --local 16x16 --arg buffer:160x160:f32:iota --arg u32:160": "cache kernel.cl --kernel mm --global 160x160 --local 16x16 {mm}",
    "predict kernel.ptx --global 160x160 --local 16x16 --arg --explain": "predict kernel.ptx --global 16384 --local 256 {saxpy} --explain",
    "predict kernel.cl --global 1048576 --sweep block=32:1024 --arg u32:1": "predict scale.cl --global 1048576 --sweep block=32:1024 --arg buffer:1048576:f32",
    "cache kernel.cl": "cache kernel.cl --global 160x160 --local 16x16 {mm}",
    "dram TRACE": "dram trace.gz --dram ddr4-3200",
    "dram --generate NAME --dram NAME": "dram --generate stream --dram ddr4-3200",
    "dram TRACE --dram ddr4-3200 --channels 1 --controller NAME --set l2.ways=8": "dram trace.gz --dram ddr4-3200 --channels 1 --controller fcfs --set 'timing.tRC=80 cycles'",
    "dram TRACE --dram plugin:/path/library.so?config=TEXT": "dram trace.gz --dram plugin:./mine.so?config=latency=40",
    "predict app.cu ./app --gpu A,B --sweep l2.ways=8:16 --model all --explain": "predict app.cu --gpu v100,k40 --sweep l2.ways=8:16 --model all --explain",
    "compare A.json B.json --fail-above 5": "compare a.json b.json --fail-above 50",
    "run app.cu --gpu gtx480 --dram plugin:build/release/plugins/dramsim3.so?config=GDDR5.ini": "run app.cu --gpu gtx480 --dram plugin:build/release/plugins/dramsim3.so?config=latency=40",
    "corun --profiles my.db --gpu titanx-maxwell --mix a,b --limit 2": "corun --profiles my.db --gpu titanx-maxwell --mix app,app --limit 2",
    "predict --counts FILE --model all --rule order --gpu NAME --explain": "predict --counts counts.toml --model all --rule order --gpu v100 --explain",
    "predict program.c --loop program.c:9 --gpu A,B --sweep l2.ways=8:16 --run ARGUMENTS --simulate": "predict prog.c --loop prog.c:9 --gpu v100 --run 1 --simulate",
    "sweep --axis unroll=[1,2,4] --axis regs=[20,24] --axis order=[lrr,gto] --repeats 3 --db mm.db --metric l1.read.miss_rate.median -- cache examples/opencl/matmul.cl --kernel mm --gpu gtx480 --global 144x144 --local 16x16 --arg buffer:144x144:f32 --arg buffer:144x144:f32 --arg buffer:144x144:f32 --arg s32:144 -unroll={unroll}": "sweep --axis unroll=[1,4] --axis regs=[20] --axis order=[lrr,gto] --repeats 2 --db mm.db --metric l1.read.miss_rate.median -- cache examples/opencl/matmul.cl --kernel mm --gpu gtx480 --global 96x96 --local 16x16 --arg buffer:96x96:f32 --arg buffer:96x96:f32 --arg buffer:96x96:f32 --arg s32:96 -unroll={{unroll}}",
    "sweep --axis dram=[hbm2-2000,gddr6-14000] --axis sm.count=[60:132:12] --kernels app.cu other.cu": "sweep --axis dram=[hbm2-2000,gddr6-14000] --axis sm.count=[60:72:12] --kernels app.cu other.cu",
    "sweep --axis l2.ways=[8,16] --kernels FILE... -- COMMAND": "sweep --axis l2.ways=[8,16] --kernels app.cu",
    "trace info TRACE": "trace info run.simt",
    "trace cut TRACE -o FILE": "trace cut run.simt -o cut.simt",
    "trace diff A B": "trace diff run.simt run.simt",
    "trace convert FROM -o TO": "trace convert run.simt -o converted",
    "config diff A B": "config diff v100 k40",
    "config init FILE --gpu NAME": "config init mine-too.toml --gpu v100",
    "man COMMAND": "man run",
    "config show --gpu NAME --set l2.ways=8 --origin": "config show --gpu v100 --set l2.ways=8 --origin",
    "config show --dram NAME --set l2.ways=8 --origin": "config show --dram ddr4-3200 --set 'timing.tRC=80 cycles' --origin",
    "config show --controller NAME --set l2.ways=8": "config show --controller fcfs --set queues.read=32",
    "validate timing --gpu NAME --quick --check": "validate timing --gpu rtx2060 --quick --check",
    "validate predict --quick --gpu NAME --results DIR --check": "validate predict --quick --gpu k40 --examples programs",
    "validate page -o FILE": "validate page -o page.md",
    "validate --update --html=FILE": "validate probe --update --rows kept --html=v.html",
    "validate timing --quick --update": "validate probe --update --rows kept",
    "validate timing --results RESULTS": "validate timing --gpu gtx480 --results results",
    "probe --compare A B": "probe --compare v100 k40",
    "probe --compare A B --json --csv": "probe --compare v100 k40 --json=c.json --csv",
    "probe --analyse CURVE.csv --detector rank --json --csv": "probe --analyse curve.csv --detector rank --json=c.json --csv",
    "probe --method thesis --gpu NAME": "probe --method thesis --gpu k40",
    "suite FOLDER --gpu a100": "suite programs --gpu a100",
    "suite FOLDER --jobs 4 --limit 60 s --json=suite.json --html=suite.html": "suite programs --jobs 2 --limit '60 s' --json=suite.json --html=suite.html",
    "suite FOLDER --only PATTERN --build-only --jobs 1": "suite programs --only 'a*' --build-only --jobs 2",
    "disasm FILE --kernel NAME --arch SM --json": "disasm variables.cubin --arch sm_80 --json",
    "disasm kernel.cubin": "disasm variables.cubin",
    "disasm ./app --kernel matmul --arch sm_80": "disasm variables.cubin --arch sm_80",
    "disasm libcurand.so --json=code.json": "disasm variables.cubin --json=code.json",
    "run kernel.cubin --launch launch.toml --gpu a100": "run variables.cubin --launch variables.toml --gpu a100",
    "run kernel.cubin --link other.cubin --link library.a --launch launch.toml --gpu a100": "run objects_main.cubin --link objects_other.cubin --launch objects.toml --gpu a100",
    "run --code machine -- ./app": "run --code auto -- ./app",
    "run --results late --code machine --mode functional -- ./app": "run --mode functional -- ./app",
    "run -q examples/ladders/sgemm.cu --gpu v100 --set sm.count=1 -- STEP 256": "run -q examples/ladders/sgemm.cu --gpu v100 --set sm.count=1 -- 10 128",
    "run -q examples/ladders/reduction.cu --gpu v100 -- STEP 4194304": "run -q examples/ladders/reduction.cu --gpu v100 -- 7 65536",
    "run -q examples/ladders/transpose.cu --gpu v100 -- STEP 1024": "run -q examples/ladders/transpose.cu --gpu v100 -- 5 128",
    "run examples/ladders/reduction.cu --gpu v100 --lines -- 0 4194304": "run examples/ladders/reduction.cu --gpu v100 --lines -- 0 65536",
    "run examples/ladders/sgemm.cu --gpu v100 --set sm.count=1 --lines --json=sgemm-1.json -- 1 256": "run examples/ladders/sgemm.cu --gpu v100 --set sm.count=1 --lines --json=sgemm-1.json -- 1 128",
    "run --results checked kernel.cubin --launch launch.toml --gpu a100": "run --results checked variables.cubin --launch variables.toml --gpu a100",
    "run --results late --code machine --mode functional -- ./app": "run --mode functional -- ./app",
    "check kernel.ptx --launch FILE": "check kernel.ptx --launch launch.toml",
    "check tests.cu": "check app.cu",
    "check -- ./tests": "check -- ./app",
    "nvcc FLAGS": "nvcc -c app.cu -o by_nvcc.o",
    "toolkit --prefix DIR": "toolkit --prefix toolkit",
    "build app.cu -o app": "build app.cu -o app",
    "build kernel.cl -o kernel.ptx": "build kernel.cl -o by_build.ptx",
    "validate corun --host cycle --gpu titanx-maxwell --applications MIXES/rodinia.toml --mixes 30": "validate corun --host cycle --gpu titanx-maxwell --applications my.toml --mixes 1 --size 2 --policy mps,shark",
    "corun interfere kernel.ptx --launch FILE": "corun interfere kernel.ptx --launch launch.toml --gpu titanx-maxwell --steps 2",
    "explain NAME": "explain gpu.ipc",
    "run saxpy.ptx --gpu v100 --json=a.json": "run saxpy.ptx --launch saxpy.toml --gpu v100 --json=a.json",
    "run saxpy.ptx --gpu v100 --set l2.latency=300 cycles --json=b.json": "run saxpy.ptx --launch saxpy.toml --gpu v100 --set 'l2.latency=300 cycles' --json=b.json",
    "probe --device 1 --quick": "probe --device 0 --quick --only shared",
}
ARGUMENTS = {
    "mm": "--arg buffer:160x160:f32:iota --arg buffer:160x160:f32:random --arg buffer:160x160:f32 --arg s32:160",
    "saxpy": "--arg u32:16384 --arg f32:2 --arg buffer:16384:f32:iota --arg buffer:16384:f32",
}
# Much work, which a smaller case shows as well: what is added to the words.
LESS = [
    (r"^probe --(device 0|gpu gtx480 .*--curves)", "--quick --only shared"),
    (r"^probe .*--correction", "--quick --only shared"),
    (r"^probe --method thesis", "--quick"),
    (r"^validate (timing|cache|predict) --quick|^validate cache$|^validate predict", "--quick"),
    (r"^validate corun --host cycle", "--mixes 1 --size 2 --policy mps,shark"),
]


LIVE = {"serve", "exec", "set", "top"}  # of corun: they share a daemon


def typed(words):
    """What a reader types for the words of a command."""
    text = " ".join(words)
    if text in TYPED:
        words = shlex.split(TYPED[text].format(**ARGUMENTS))
    words = [STAND_FOR.get(word, word) for word in words]
    for pattern, more in LESS:
        if re.search(pattern, " ".join(words)):
            words += [word for word in shlex.split(more) if word not in words]
            break
    return words


class Scene:
    """In the folder of a test case."""

    def __init__(self, case):
        self.case, self.folder = case, case.folder
        self.stack = contextlib.ExitStack()
        case.addCleanup(self.stack.close)
        self.cluster = None

    def file(self, *args):
        return self.case.file(*args)

    def set_up(self):
        self.sources()
        self.made()
        self.programs()

    def sources(self):
        example = lambda name: (SOURCE / "examples" / name).read_text()
        (self.folder / "examples").symlink_to(SOURCE / "examples")
        (self.folder / "tests/data").mkdir(parents=True)
        (self.folder / "tests/data/machine").symlink_to(SOURCE / "tests/data/machine")
        for name in ("app.cu", "other.cu"):
            self.file(name, APP)
        self.file("more.cu", '#include "more.h"\n__global__ void more(int* x) { *x = 1; }\n')
        self.file("include/more.h", "// of more.cu\n")
        for name in ("kernel.ptx", "k.ptx", "saxpy.ptx"):
            self.file(name, example("saxpy.ptx"))
        for name in ("launch.toml", "l.toml", "k.toml", "saxpy.toml"):
            self.file(name, example("saxpy.toml"))
        self.file("kernel.cl", example("opencl/matmul.cl").partition("__kernel void mm_tiled")[0])
        self.file("scale.cl", "__kernel void scale(__global float* x) { x[get_global_id(0)] *= 2; }\n")
        self.file("accesses.trace", "1 2\n0x1000 R 0 0 1\n0x1080 W 1 0 2\n")
        self.file("transpose.ptx", TRANSPOSE)
        self.file("variables.toml", (SOURCE / "tests/data/machine/variables.toml").read_text())
        self.file("objects.toml", (SOURCE / "tests/data/machine/objects.toml").read_text())
        for name in ("objects_main", "objects_other"):
            self.file(f"{name}.cubin", (SOURCE / f"tests/data/machine/{name}.sm_80.cubin").read_bytes())
        self.file("variables.cubin", (SOURCE / "tests/data/machine/variables.sm_80.cubin").read_bytes())
        self.file("transpose.c", example("loops/transpose.c"))
        self.file("prog.c", LOOP)
        self.file("counts.toml", COUNTS)
        self.file("over.toml", "ilp = 1\n")
        self.file("p.toml", 'inherits = "gtx480"\n')
        self.file("my.toml", APPLICATIONS)
        self.file("trace.gz", (SOURCE / "examples/traces/dramsim3.trace.gz").read_bytes())
        self.file("times.txt", "".join(f"{60 + i % 3 + 200 * (i % 64 > 31)}\n" for i in range(640)))
        self.file("clock.txt", "".join(f"{20 + i % 32 % 2}\n" for i in range(640)))
        self.file(
            "curve.csv", "size_bytes,cycles\n" + "".join(f"{1024 << i},{30 if i < 7 else 200}\n" for i in range(14))
        )
        self.file(
            "study.toml",
            'command = ["run", "k.ptx", "--launch", "k.toml"]\n[axes]\ngpu = ["v100", "k40"]\n"l2.ways" = [4, 8, 16]\n"sm.count" = [1, 2, 4]\n',
        )
        shutil.copytree(SOURCE / "tests/data/accelsim", self.folder / "traces")
        for name in ("kernelslist.g", "kernel-1.traceg"):
            shutil.copy(SOURCE / "tests/data/accelsim" / name, self.folder / name)
        shutil.copytree(SOURCE / "data/validation", self.folder / "kept")
        for name in ("runs", "results", "docs/lab", "programs"):
            (self.folder / name).mkdir(parents=True)
        self.file("programs/app.cu", APP)

    def made(self):
        """What earlier commands of a reader have left."""
        ok = self.case.ok
        for name, more in (("a", []), ("b", ["--set", "l2.latency=400 cycles"])):
            ok("run", "k.ptx", "--launch", "k.toml", "--gpu", "v100", *more, f"--json={name}.json")
        for name in ("result.json", "g.json", "runs/a.json", "results/a.json"):
            shutil.copy(self.folder / "a.json", self.folder / name)
        ok("run", "app.cu", "--mode", "functional", "--record", "run.simt")
        ok("corun", "profile", "--database", "my.db", "--gpu", "titanx-maxwell", "app.cu")
        for name in ("a.simt", "b.simt", "app.simt"):
            shutil.copy(self.folder / "run.simt", self.folder / name)
        ok(
            "dram",
            "--generate",
            "stream",
            "--requests",
            "100",
            "--dram",
            "ddr4-2400",
            "--command-trace",
            "commands.txt",
        )

    def programs(self):
        self.case.ok("build", "app.cu", "-o", "app")
        for name in ("built_with_nvcc", "heartwall", "srad"):
            shutil.copy(self.folder / "app", self.folder / name)
        self.case.file(
            "apps.toml",
            "".join(f'[[application]]\nname = "{name}"\nrun = "{name}"\n' for name in ("heartwall", "srad")),
        )
        if HAS_OPENCL:
            subprocess.run(
                [
                    "gcc",
                    "-O1",
                    "-w",
                    str(SOURCE / "tests/opencl/threads.c"),
                    "-o",
                    str(self.folder / "opencl_app"),
                    "-lOpenCL",
                    "-lpthread",
                ],
                check=True,
            )
        shutil.copy(BUILD / "plugins/fixed_latency.so", self.folder / "mine.so")
        plugin = self.folder / "build/release/plugins/dramsim3.so"
        plugin.parent.mkdir(parents=True)
        shutil.copy(BUILD / "plugins/fixed_latency.so", plugin)

    def environment(self, words):
        """For one command."""
        more = {}
        if "--device" in words and not words[words.index("--device") + 1].startswith("sim:"):
            more = {
                "SIMTLAB_CUDA_DRIVER": str(MOCK),
                "SIMTLAB_MOCK_GPU": {"probe": "gtx480", "corun": "titanx-maxwell"}.get(words[0], "v100"),
            }  # a board of the tests
        if words[0] == "sweep" and "slurm" in words and "--dry-run" not in words:
            more = self.slurm().environment
        if words[0] == "corun" and set(words[1:2]) & LIVE:
            more = {"XDG_RUNTIME_DIR": str(self.runtime)}
        return self.case.environment(more)

    @property
    def runtime(self):
        folder = self.folder / "runtime"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def slurm(self):
        if self.cluster is None:
            home = tempfile.mkdtemp(prefix="simtlab-slurm-")  # its sockets have short names
            self.stack.callback(shutil.rmtree, home, ignore_errors=True)
            self.cluster = slurm_cluster.Cluster(home, partitions=("all", "long"))
            self.stack.callback(self.cluster.stop)
            self.cluster.start()
        return self.cluster

    def run(self, words):
        """As subprocess.run. What runs until it is stopped is asked something, and stopped."""
        if words[0] == "view":
            return self.until_stopped(words, self.look_at)
        if words[:2] == ["corun", "serve"]:
            return self.until_stopped(words, lambda server: self.corun(server, ["corun", "exec", "--", "./app"]))
        if words[:2] in (["corun", "exec"], ["corun", "set"], ["corun", "top"]):
            daemon = self.start(["corun", "serve", "--policy", "shark"])
            self.wait_for_daemon(daemon)
            done = (
                self.until_stopped(words, lambda table: table.stdout.readline())
                if words[1] == "top" and "--json" not in words
                else self.foreground(words)
            )
            self.assert_stops(daemon)
            return done
        if words[0] == "sweep" and "--db" not in words and "--axis" in words:
            (self.folder / "sweep.db").unlink(missing_ok=True)  # of another study
        return self.foreground(words)

    def foreground(self, words):
        return subprocess.run(
            [SIMTLAB, *words],
            cwd=self.folder,
            env=self.environment(words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=600,
        )

    def start(self, words):
        process = subprocess.Popen(
            [SIMTLAB, *words],
            cwd=self.folder,
            env=self.environment(words),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.stack.callback(lambda: process.poll() is None and process.kill())
        return process

    def until_stopped(self, words, ask):
        process = self.start(words)
        ask(process)
        return self.assert_stops(process)

    def assert_stops(self, process):
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.case.assertIn(process.returncode, (0, 130), out + err)
        return subprocess.CompletedProcess(process.args, 0, out, err)

    def look_at(self, process):
        with urllib.request.urlopen(process.stdout.readline().strip(), timeout=60) as page:
            self.case.assertEqual(page.status, 200)

    def wait_for_daemon(self, process):
        end = time.time() + 60
        while not any(path.is_socket() for path in self.runtime.rglob("*")):
            self.case.assertIsNone(process.poll(), "the daemon ended")
            self.case.assertLess(time.time(), end, "no daemon after a minute")
            time.sleep(0.02)

    def corun(self, daemon, words):
        self.wait_for_daemon(daemon)
        done = self.foreground(words)
        self.case.assertEqual(done.returncode, 0, done.stdout + done.stderr)
