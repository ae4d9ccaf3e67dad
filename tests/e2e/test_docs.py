"""Every command that README.md and docs/*.md show is understood, and is run unless there is a reason not to."""
import os
import re
import shutil
import subprocess
import sys
import unittest

import documented
from harness import SIMTLAB, SOURCE, Case, main, needs_clang
from test_guide import has_loops

TEST_CLI = os.environ.get("SIMTLAB_TEST_CLI")

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

# Commands that are parsed and not run here, by what they contain, and why.
NOT_RUN = [
    (r"--device 0", "needs a real GPU"),
    (r"corun (serve|exec|top)", "a daemon that runs until it is stopped, and its clients: test_corun_live.py"),
    (r"built_with_nvcc|opencl_app|clinfo", "programs of other tools: test_run_program.py, test_opencl.py"),
    (r"plugin:", "a memory simulator that is built apart: test_memory_plugin.py"),
    (r"slurm", "needs a Slurm: test_sweep_slurm.py"),
    (r"^validate ", "minutes: test_validate.py, test_corun.py"),
    (r"--mixes 30|--mixes 4 --size 6|saxpy,transpose_naive|interfere kernel\.ptx", "many seconds of what others here do in less"),
    (r"--applications my\.toml|--profiles my\.db", "applications of the reader's own: test_corun_cycle.py, test_corun.py"),
    (r"more\.cu|examples/|transpose\.c .*(--simulate|--emit)", "slower than what others here do; the tests of examples/ and test_loops.py"),
    (r"^view ", "a page that is served until it is stopped: test_view.py"),
    (r"--axis dram=\[hbm2-2000", "28 points; study.toml is smaller"),
    (r"prog\.c|over\.toml|counts\.toml", "needs the reader's counts or loop: test_predict.py, test_loops.py"),
    (r"a\.simt", "two traces of the reader's own: test_trace.py"),
    (r"point 17", "of a study with that many points: test_sweep.py"),
    (r"diff A B|--compare A B", "A and B stand for files"),
]
# Pages whose commands another test follows.
ELSEWHERE = {"docs/guide.md": "test_guide.py"}


def sub_commands(path=()):
    """{path of a command: names of the commands below it}"""
    text = subprocess.run([SIMTLAB, *path, "--help"], capture_output=True, text=True, check=True).stdout
    _, _, below = text.partition("\nSubcommands:\n")
    if not below:
        return {}
    names = set(re.findall(r"(?m)^  ([a-z-]+) ", below.partition("\n\n")[0]))
    out = {path: names}
    for name in names:
        out |= sub_commands((*path, name))
    return out


def reason_not_to_run(command):
    text = " ".join(command.words)
    if command.page in ELSEWHERE:
        return ELSEWHERE[command.page]
    if command.schematic:
        return "not to be typed as it stands"
    return next((why for pattern, why in NOT_RUN if re.search(pattern, text)), None)


class Documentation(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tree = sub_commands()
        cls.commands = [command for page in documented.pages() for command in documented.commands_of(page, tree)]

    @unittest.skipUnless(TEST_CLI, "$SIMTLAB_TEST_CLI is not set")
    def test_every_command_is_understood(self):
        self.assertGreater(len(self.commands), 200)
        lines = self.file("commands", "".join("\t".join([c.place, *c.words]) + "\n" for c in self.commands))
        done = subprocess.run([TEST_CLI, "--gtest_filter=Words.OfTheDocumentation*"], cwd=self.folder, env=self.environment({"SIMTLAB_DOCUMENTED_COMMANDS": str(lines)}),
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("[  PASSED  ] 1 test", done.stdout)

    def scene(self):
        """What the pages take for granted: a program, a kernel with its launch, a curve, traces, results."""
        example = lambda name: (SOURCE / "examples" / name).read_text()
        for name in ("app.cu", "other.cu"):
            self.file(name, APP)
        for name in ("kernel.ptx", "k.ptx", "saxpy.ptx"):
            self.file(name, example("saxpy.ptx"))
        for name in ("launch.toml", "l.toml", "k.toml", "saxpy.toml"):
            self.file(name, example("saxpy.toml"))
        (self.folder / "runs").mkdir()
        self.file("transpose.ptx", TRANSPOSE)
        self.file("transpose.c", example("loops/transpose.c"))
        self.file("trace.gz", (SOURCE / "examples/traces/dramsim3.trace.gz").read_bytes())
        shutil.copytree(SOURCE / "tests/data/accelsim", self.folder / "traces")
        for name in ("kernelslist.g", "kernel-1.traceg"):
            shutil.copy(SOURCE / "tests/data/accelsim" / name, self.folder / name)
        self.file("curve.csv", "size_bytes,cycles\n" + "".join(f"{1024 << i},{30 if i < 7 else 200}\n" for i in range(14)))
        self.file("study.toml", 'command = ["run", "k.ptx", "--launch", "k.toml"]\n[axes]\ngpu = ["v100", "k40"]\n')
        for name, more in (("a", []), ("b", ["--set", "l2.latency=400 cycles"])):
            self.ok("run", "k.ptx", "--launch", "k.toml", "--gpu", "v100", *more, f"--json={name}.json")
        for name in ("result", "g"):
            shutil.copy(self.folder / "a.json", self.folder / f"{name}.json")
        self.ok("run", "app.cu", "--mode", "functional", "--record", "run.simt")

    @needs_clang
    def test_commands_run(self):
        self.scene()
        ran, seen = 0, {}
        for command in self.commands:
            if reason_not_to_run(command) is not None or ("transpose.c" in command.words and not has_loops()):
                continue
            key = (command.page, tuple(command.words))
            if key in seen or seen.get(tuple(command.words)):   # once is enough
                continue
            with self.subTest(place=command.place, command=command.text):
                done = self.simtlab(*command.words)
                self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr)
            seen[key] = seen[tuple(command.words)] = True
            ran += 1
        self.assertGreater(ran, 50)

    def test_every_link_leads_somewhere(self):
        for page in documented.pages():
            text = re.sub(r"(?ms)^```.*?^```$", "", (SOURCE / page).read_text())
            for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
                if "://" not in target:
                    self.assertTrue(((SOURCE / page).parent / target).exists(), f"{page} links to {target}")

    def test_every_page_command_exit_code_and_header_is_named(self):
        readme, cli = ((SOURCE / name).read_text() for name in ("README.md", "docs/cli.md"))
        linked = readme + "".join((SOURCE / page).read_text() for page in documented.pages())
        for page in (SOURCE / "docs").glob("*.md"):
            self.assertRegex(linked, rf"\]\((docs/)?{page.name}[)#]")
        for name in sub_commands()[()]:
            self.assertRegex(cli, rf"simtlab {name}\b", f"docs/cli.md has no line for {name}")
        codes = (SOURCE / "docs/exit-codes.md").read_text()
        for row in self.ok("list", "exit-codes", "--markdown").stdout.splitlines()[2:]:
            self.assertIn(row.rstrip("| "), codes, "docs/exit-codes.md is stale")
        for header in (SOURCE / "include/simtlab").glob("*.h"):
            self.assertIn(header.name, (SOURCE / "docs/library.md").read_text() + (SOURCE / "docs/plugins.md").read_text())

    def test_the_page_of_interfaces_is_what_the_headers_say(self):
        page = (SOURCE / "docs/interfaces.md").read_text()
        made = subprocess.run([sys.executable, "-B", SOURCE / "tools/interfaces.py"], check=True, stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(page, made, "stale: python3 tools/interfaces.py > docs/interfaces.md")
        for header in (SOURCE / "include/simtlab").glob("*.h"):
            self.assertIn(f"`include/simtlab/{header.name}`", page)
        for name in ("execute", "commands_json", "Gpu", "Device", "simtlab_memory_plugin", "SIMTLAB_MEMORY_ABI"):
            self.assertIn(f"\n### {name}\n", page)

    def test_every_reason_is_needed(self):
        texts = [" ".join(command.words) for command in self.commands if not command.schematic]
        for pattern, why in NOT_RUN:
            self.assertTrue(any(re.search(pattern, text) for text in texts), f"nothing matches {pattern} ({why})")


if __name__ == "__main__":
    main()
