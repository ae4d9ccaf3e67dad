"""Outputs that can't be written: said before anything is simulated, or, if it shows later, beside a report that is printed all the same."""
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import time
import unittest

from harness import SAXPY_LAUNCH, SIMTLAB, SPIN, SPIN_LAUNCH, Case, main, needs_clang

HAS_FULL = pathlib.Path("/dev/full").exists()
KERNEL = ["saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100"]
AREAS = ("all", "timing", "cache", "predict", "probe", "corun", "page")
PROGRAM = """__global__ void k(int* p) { p[threadIdx.x] = 1; }
int main() { int* p; cudaMalloc(&p, 128); k<<<1, 32>>>(p); return cudaDeviceSynchronize(); }
"""


class Early(Case):
    def test_a_mistyped_folder_costs_no_simulation(self):
        self.file("spin.ptx", SPIN)  # it never ends
        for option in ("--json=", "--csv=", "-o", "--timeline=", "--record=", "--checkpoint=", "--live="):
            for place, reason in (
                ("missing/x", "No such file or directory"),
                (".", "Is a directory"),
                ("spin.ptx/x", "Not a directory"),
            ):
                value = [option + place] if option.endswith("=") else [option, place]
                begin = time.monotonic()
                result = self.fails(
                    1, "run", "spin.ptx", *SPIN_LAUNCH, *value, says=["[file-write]", place, reason], timeout=30
                )
                self.assertLess(time.monotonic() - begin, 20, result.stderr)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_without_permission(self):
        self.saxpy()
        (self.folder / "closed").mkdir(mode=0o500)
        self.fails(
            1, "run", "saxpy.ptx", *SAXPY_LAUNCH, "--json=closed/x.json", says=["closed/x.json", "Permission denied"]
        )

    @needs_clang
    def test_the_compilers_output_too(self):
        self.file("app.cu", PROGRAM)
        for flags in ([], ["-c"], ["-ptx"]):
            self.fails(1, "build", "app.cu", *flags, "-o", "missing/app", says=["[file-write]", "missing/app"])
        self.fails(1, "run", "app.cu", "--json=missing/x.json", says="missing/x.json")


# A command line of each command that has -q and --json, in a folder with the kernel and one of its results; what prints its result to
# a file besides is tried with that, too.
QUIET = {
    "run": [[*KERNEL], [*KERNEL, "--csv=q.csv"]],
    "cache": [[*KERNEL], [*KERNEL, "--sweep", "l1.ways=2,4"], [*KERNEL, "--compare", "l1.ways=2", "l1.ways=4"]],
    "predict": [
        [*KERNEL],
        [*KERNEL, "--sweep", "sm.count=2,4"],
        ["saxpy.ptx", "--static", "--grid", "64", "--block", "256"],
    ],
    "check": [KERNEL],
    "dram": [["--generate", "stream", "--requests", "2000", "--dram", "ddr4-3200"]],
    "probe": [["--gpu", "v100", "--only", "shared", "--quick"]],
    "corun": [["--mix", "HW,BH", "--policy", "shark", "--shorten", "500"]],
    "corun interfere": [["HW"]],
    "corun profiles": [[]],
    "sweep": [["--axis", "sm.count=[2]", "--db", "s.db", "--", "run", *KERNEL]],
    "report": [["r.json"], ["r.json", "--html=q.html"], ["r.json", "--csv=q.csv"]],
    "rerun": [["r.json"]],
    "validate dram": [[]],
}
# They need a compiler, a daemon or minutes; what they find goes the same way.
NOT_TRIED = {"suite", "corun profile", "corun live", "validate", *(f"validate {area}" for area in AREAS)}


class Quiet(Case):
    """-q with a file for the result: nothing is printed, whatever the command."""

    def test_every_command(self):
        self.saxpy()
        self.ok("run", *KERNEL, "--json=r.json")
        sections = self.ok("list", "options", "--markdown").stdout.split("\n## simtlab ")[1:]
        quiet = {s.split("\n")[0] for s in sections if "`-q, --quiet`" in s and "`--json[=FILE]`" in s}
        self.assertEqual(quiet, set(QUIET) | NOT_TRIED, "a command with -q is tried here")
        for command, lines in QUIET.items():
            for words in lines:
                at = words.index("--") if "--" in words else len(words)
                line = [*command.split(), *words[:at], "-q", "--json=q.json", *words[at:]]
                with self.subTest(line=line):
                    done = self.ok(*line)
                    self.assertEqual((done.stdout, done.stderr), ("", ""))
                    json.loads((self.folder / "q.json").read_text())

    def test_without_a_file_the_report_is_the_result(self):
        self.saxpy()
        self.assertIn("Bottleneck", self.ok("run", *KERNEL, "-q").stdout)
        self.assertIn("L1 reads", self.ok("cache", *KERNEL, "--sweep", "l1.ways=2,4", "-q").stdout)
        json.loads(self.ok("run", *KERNEL, "-q", "--json").stdout)
        both = self.ok("run", *KERNEL, "-q", "--json=q.json", "-o", "-").stdout
        self.assertIn("Bottleneck", both, "who names stdout gets it")

    def test_what_else_has_the_result(self):
        self.ok("probe", "--gpu", "v100", "--only", "shared", "--quick", "-q", "-o", "mine.toml")
        for line in (
            ["probe", "--gpu", "v100", "--only", "shared", "--quick", "-o", "mine.toml"],
            ["corun", "profiles", "--into", "mine.db"],
            ["validate", "dram", "--html=page.html"],
        ):
            self.assertEqual(self.ok(*line, "-q").stdout, "", line)

    def test_errors_are_printed(self):
        self.saxpy()
        failed = self.simtlab("run", *KERNEL, "-q", "--json=q.json", "--max-cycles", "10")
        self.assertEqual((failed.returncode, failed.stdout), (1, ""))
        self.assertIn("error:", failed.stderr)


@unittest.skipUnless(HAS_FULL, "there is no /dev/full")
class Full(Case):
    """/dev/full can be opened and takes nothing."""

    def full(self, *args, words, **kw):
        result = self.simtlab(*args, **kw)
        self.assertEqual(result.returncode, 1, f"{args}\n{result.stdout}\n{result.stderr}")
        self.assertIn("/dev/full", result.stderr)
        self.assertIn("[file-write]", result.stderr)
        self.assertIn(words, result.stdout + result.stderr, f"{args}: no report")
        self.assertEqual([p.name for p in self.folder.iterdir() if ".tmp" in p.name], [])
        return result

    def test_kernels(self):
        self.saxpy()
        for option in ("--json=", "--csv=", "-o=", "--timeline=", "--record=", "--report="):
            value = ["-o", "/dev/full"] if option == "-o=" else [option + "/dev/full"]
            self.full("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", *value, words="saxpy")
        for command in (["cache"], ["predict"]):
            for option in ("--json=", "--csv=", "--report="):
                self.full(*command, "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", option + "/dev/full", words="saxpy")
        for more in (["--sweep", "l1.ways=2,4"], ["--compare", "l1.ways=2", "l1.ways=4"]):
            for option in ("--json=", "--csv=", "--report="):
                self.full(
                    "cache", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", *more, option + "/dev/full", words="l1.ways"
                )
        self.full("predict", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100,a100", "--json=/dev/full", words="a100")

    def test_one_that_fails_loses_none_of_the_others(self):
        self.saxpy()
        self.full(
            "run",
            "saxpy.ptx",
            *SAXPY_LAUNCH,
            "--gpu",
            "v100",
            "--json=/dev/full",
            "--csv=r.csv",
            "-o",
            "r.txt",
            words="",
        )
        self.assertIn("saxpy", (self.folder / "r.txt").read_text())
        self.assertIn("gpu.time", (self.folder / "r.csv").read_text())

    def test_a_quiet_run_whose_report_fails_prints_it(self):
        self.saxpy()
        self.full("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "-q", "-o", "/dev/full", words="Bottleneck")
        result = self.full(
            "run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--json", "-o", "/dev/full", words="Bottleneck"
        )
        json.loads(result.stdout)  # the report does not get between the data

    def test_other_commands(self):
        self.saxpy()
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--json=r.json")
        for option in ("--json=", "--csv=", "--report="):
            self.full("report", "r.json", option + "/dev/full", words="saxpy")
        self.full("compare", "r.json", "r.json", "--json=/dev/full", words="gpu.time")
        self.full("compare", "r.json", "r.json", "-o", "/dev/full", words="gpu.time")
        self.full("rerun", "r.json", "--json=/dev/full", words="the same")
        for option in ("--json=", "--command-trace=", "--timeline=", "--csv=", "--report="):
            self.full(
                "dram",
                "--generate",
                "stream",
                "--requests",
                "20000",
                "--dram",
                "ddr4-3200",
                option + "/dev/full",
                words="ddr4-3200",
            )
        for option in ("--json=", "--html=", "--csv="):
            self.full("validate", "dram", option + "/dev/full", words="|")
        for option in ("--json=", "--csv=", "--html=", "--timeline="):
            self.full(
                "sweep",
                "--axis",
                "gpu=[v100]",
                "--db",
                "s.db",
                option + "/dev/full",
                "--",
                "run",
                "saxpy.ptx",
                *SAXPY_LAUNCH,
                words="v100",
            )

    @needs_clang
    def test_programs(self):
        self.file("app.cu", PROGRAM)
        for option in ("--json=", "--csv=", "--report=", "--timeline=", "--record="):
            self.full("run", "app.cu", "--gpu", "v100", option + "/dev/full", words="k(int*)")
        self.full(
            "corun", "profile", "app.cu", "--gpu", "v100", "--database", "p.toml", "--json=/dev/full", words="k(int*)"
        )


class SizeLimit(Case):
    """ulimit -f: writing more is an error of the file, not the end of simtlab."""

    def limited(self, kib, *args):
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (kib * 1024, kib * 1024))
        return subprocess.run(
            [SIMTLAB, *args],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=120,
            preexec_fn=limit,
        )

    def test_a_kernel(self):
        self.saxpy()
        result = self.limited(1, "run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--json=big.json")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("[file-write]", result.stderr)
        self.assertIn("big.json", result.stderr)
        self.assertIn("Bottleneck", result.stdout)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["saxpy.ptx"])

    @needs_clang
    def test_a_program_is_not_killed_by_what_simtlab_writes(self):
        self.file("app.cu", PROGRAM)
        self.ok("build", "app.cu", "-o", "app")
        result = self.limited(16, "run", "--gpu", "v100", "--json=big.json", "--", "./app")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("[file-write]", result.stderr)
        self.assertNotIn("signal", result.stderr)


@needs_clang
class FullCache(Case):
    def test_no_room_for_the_compiler(self):
        self.file("app.cu", PROGRAM)
        self.file("k.cl", "__kernel void k(__global int* p) { p[get_global_id(0)] = 1; }\n")
        with tempfile.TemporaryDirectory() as disk:
            if (
                subprocess.run(
                    ["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", disk], capture_output=True
                ).returncode
                != 0
            ):
                self.skipTest("may not mount a small disk")
            try:
                full = pathlib.Path(disk, "ballast")
                with open(full, "wb", buffering=0) as ballast:
                    try:
                        while True:
                            ballast.write(bytes(4096))
                    except OSError:
                        pass
                full.write_bytes(bytes(max(0, full.stat().st_size - 8192)))  # two pages are left
                for command in (
                    ["run", "app.cu"],
                    ["run", "k.cl", "--global", "32", "--local", "32", "--arg", "buffer:32:u32"],
                ):
                    result = self.fails(
                        1, *command, env={"SIMTLAB_CACHE": disk}, says=["[cache-full]", disk, "SIMTLAB_CACHE"]
                    )
                    self.assertLess(len(result.stderr.splitlines()), 8, result.stderr)
                    self.assertNotIn("bug report", result.stderr)
            finally:
                subprocess.run(["umount", disk], capture_output=True)


if __name__ == "__main__":
    main()
