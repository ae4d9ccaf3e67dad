"""Files that are read and written: outputs never destroy inputs, pipes never hang, limits bound memory."""
import json
import os
import resource
import subprocess
import threading
import time
import unittest

from harness import SAXPY, SAXPY_LAUNCH, SIMTLAB, Case, main, needs_clang

LAUNCH = """kernel = "saxpy"
grid = 1
block = 32
[[arg]]
type = "f32"
value = 2
[[arg]]
type = "f32"
shape = 32
file = "x.bin"
[[arg]]
type = "f32"
shape = 32
[[arg]]
type = "u32"
value = 32
"""

STORE = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 x)
{
  .reg .b64 %d<2>; .reg .b32 %r<2>;
  ld.param.u64 %d1, [x];
  st.global.u32 [%d1], %r1;
  ret;
}
"""


class Outputs(Case):
    def setUp(self):
        super().setUp()
        self.saxpy()
        self.file("l.toml", LAUNCH)
        self.file("x.bin", bytes(128))
        self.file("mine.toml", 'inherits = "v100"\n')
        self.file("c.toml", "seed = 3\n")
        self.before = {p: p.read_bytes() for p in self.folder.iterdir()}

    def conflict(self, *args, says=()):
        self.fails(2, *args, says=["[option-conflict]", *([says] if isinstance(says, str) else says)])
        self.assertEqual({p: p.read_bytes() for p in self.folder.iterdir()}, self.before)

    def test_an_output_is_never_an_input(self):
        run = ["run", "saxpy.ptx", "--launch", "l.toml", "--gpu", "./mine.toml", "--config", "c.toml"]
        for name in ("saxpy.ptx", "l.toml", "x.bin", "mine.toml", "c.toml", "./saxpy.ptx", str(self.folder / "l.toml")):
            for option in ("--json=", "--csv=", "--report="):
                self.conflict(*run, option + name, says="would overwrite")
        self.conflict("config", "show", "--config", "c.toml", "--json=c.toml")
        self.conflict("config", "show", "--gpu", "./mine.toml", "--json=mine.toml")

    def test_links_are_followed(self):
        (self.folder / "soft").symlink_to("saxpy.ptx")
        os.link(self.folder / "l.toml", self.folder / "hard")
        self.before = {p: p.read_bytes() for p in self.folder.iterdir()}
        self.conflict("run", "saxpy.ptx", "--launch", "l.toml", "--json=soft")
        self.conflict("run", "saxpy.ptx", "--launch", "l.toml", "--csv=hard")

    def test_two_outputs_never_share_a_file(self):
        run = ["run", "saxpy.ptx", "--launch", "l.toml"]
        self.conflict(*run, "--json=a", "--csv=a", says="--json=a and --csv=a")
        self.conflict(*run, "--json=a", "-o", "./a")
        self.conflict(*run, "--json=/dev/stdout", "--csv=/dev/stdout", says="share stdout")
        self.conflict(*run, "--json", "-o", "/dev/stdout", says="share stdout")
        self.ok(*run, "--json=/dev/null", "--csv=/dev/null")

    def test_an_output_is_not_the_file_that_the_shell_opened(self):
        with open(self.folder / "out", "w") as out:
            result = subprocess.run(
                [SIMTLAB, "run", "saxpy.ptx", "--launch", "l.toml", "--json=out"],
                cwd=self.folder,
                env=self.environment(),
                stdout=out,
                stderr=subprocess.PIPE,
                text=True,
            )
        self.assertEqual(result.returncode, 2, result.stderr)

    def test_a_report_does_not_replace_its_result(self):
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--json=r.json")
        self.before = {p: p.read_bytes() for p in self.folder.iterdir()}
        self.conflict("report", "r.json", "--csv=r.json")

    @needs_clang
    def test_a_source_is_an_input(self):
        self.file("app.cu", "int main() {}\n")
        self.before = {p: p.read_bytes() for p in self.folder.iterdir()}
        result = self.fails(2, "run", "app.cu", "--json=app.cu", says="would overwrite app.cu")
        self.assertEqual((self.folder / "app.cu").read_text(), "int main() {}\n", result.stderr)

    @needs_clang
    def test_building_does_not_replace_the_source(self):
        self.file("app.cu", "int main() {}\n")
        self.before = {p: p.read_bytes() for p in self.folder.iterdir()}
        self.conflict("build", "app.cu", "-o", "./app.cu", says="would overwrite app.cu")

    def test_the_name_of_a_gpu_is_no_file(self):
        self.ok("run", "saxpy.ptx", "--launch", "l.toml", "--gpu", "v100", "--json=v100")

    @needs_clang
    def test_a_program_that_gives_the_gpu_nothing_to_do_is_no_error(self):
        self.file("app.cu", "int main() { void* p; return cudaMalloc(&p, 0) == cudaSuccess ? 0 : 1; }\n")
        result = self.ok("run", "app.cu", "--json=r.json")
        self.assertIn("no kernel was launched", result.stderr)
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["kernels"], [])
        self.ok("report", "r.json")

    def test_empty_values_are_usage_errors(self):
        run = ["run", "saxpy.ptx", "--launch", "l.toml"]
        for args in (
            ["--dram", ""],
            ["-o", ""],
            ["--kernel", ""],
            ["--config", ""],
            ["--json="],
            ["--csv="],
            ["--json=", "x.ptx"],
            ["--set", ""],
        ):
            self.fails(2, *run, *args)
        self.fails(2, "run", "saxpy.ptx", "--launch", "")

    def test_a_kernel_that_faults_was_launched(self):
        self.file("k.ptx", STORE.replace("ld.param.u64 %d1, [x]", "mov.u64 %d1, 0"))
        result = self.simtlab("run", "k.ptx", "--grid", "1", "--block", "1", "--arg", "buffer:1:u32")
        self.assertEqual(result.returncode, 5)
        self.assertIn("stopped before its end", result.stdout)
        functional = self.simtlab(
            "run", "k.ptx", "--grid", "1", "--block", "1", "--arg", "buffer:1:u32", "--mode", "functional"
        )
        self.assertIn("no kernel completed", functional.stdout)

    def test_a_nested_command_without_its_parent_is_recognised(self):
        self.fails(2, "show", says="did you mean 'simtlab config show'?")

    def test_foreign_text_is_short_and_printable(self):
        self.file("l.toml", 'kernel = "\\u001b[31mEVIL\\u0007"\ngrid = 1\nblock = 1\n')
        result = self.fails(3, "run", "saxpy.ptx", "--launch", "l.toml", says="?[31mEVIL?")
        self.assertNotRegex(result.stderr, "[\x1b\x07]")
        for args in (
            ["explain", "x" * 100000],
            ["run", "x" * 100000],
            ["run", "--" + "x" * 100000],
            ["x" * 100000],
            ["run", "--seed", "x" * 100000],
            ["run", "saxpy.ptx", "--grid", "y" * 100000],
            ["run", "saxpy.ptx", "--gpu", "z" * 100000],
            ["run", "--mode", "\x1b" * 100000],
        ):
            result = self.simtlab(*args)
            self.assertIn(result.returncode, (2, 3))
            self.assertLess(len(result.stderr), 5000, args[0])
            self.assertNotIn("\x1b", result.stderr)


class Pipes(Case):
    def test_named_pipes_are_read_and_never_waited_for_without_end(self):
        os.mkfifo(self.folder / "in.ptx")
        begin = time.monotonic()
        self.fails(
            3, "run", "in.ptx", *SAXPY_LAUNCH, "--max-time", "2", says="nobody writes into the pipe in.ptx", timeout=30
        )
        self.assertLess(time.monotonic() - begin, 20)
        writer = threading.Thread(target=lambda: (self.folder / "in.ptx").write_text(SAXPY))
        writer.start()
        self.ok("run", "in.ptx", *SAXPY_LAUNCH, timeout=60)
        writer.join()

    @unittest.skipUnless(os.path.exists("/bin/bash"), "needs bash")
    def test_process_substitution(self):
        self.saxpy()
        command = f"{SIMTLAB} run <(cat saxpy.ptx) {' '.join(SAXPY_LAUNCH)} --json | {SIMTLAB} report -"
        result = subprocess.run(
            ["/bin/bash", "-o", "pipefail", "-c", command],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("saxpy", result.stdout)


class Limits(Case):
    def test_an_endless_result_file_is_refused_early(self):
        self.fails(3, "report", "/dev/zero", says="[file-too-large]", timeout=60)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, 2 << 30)

    def test_the_time_limit_holds_while_buffers_are_filled(self):
        self.file("k.ptx", STORE)
        begin = time.monotonic()
        result = self.simtlab(
            "run",
            "k.ptx",
            "--grid",
            "1",
            "--block",
            "1",
            "--arg",
            "buffer:500000000:f32:random",
            "--max-time",
            "1",
            timeout=60,
        )
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("stopped after the time limit of 1 s at the contents of argument 0 [limit-time]", result.stderr)
        self.assertLess(time.monotonic() - begin, 6)

    def test_zeros_cost_nothing(self):
        self.file("k.ptx", STORE)
        self.ok(
            "run",
            "k.ptx",
            "--grid",
            "1",
            "--block",
            "1",
            "--arg",
            "buffer:1500000000:f32:zero",
            "--mode",
            "functional",
            "--json=r.json",
            timeout=60,
        )
        peak = json.loads((self.folder / "r.json").read_text())["total"]["host.peak_memory"]["value"]
        self.assertLess(peak, 1 << 30)

    def test_a_device_cannot_ask_for_all_the_memory_of_the_host(self):
        self.saxpy()
        for more in ("l2.bytes=16000 MiB", "constant.bytes=16 MiB", "l1.unified_bytes=64 MiB"):
            self.fails(
                3,
                "run",
                "saxpy.ptx",
                *SAXPY_LAUNCH,
                "--set",
                "sm.count=4096",
                "--set",
                more,
                says=["[device-value]", "lower sm.count"],
            )


if __name__ == "__main__":
    main()
