"""Real boards: doctor, run --device and tools/measure-gpu.sh, with the driver absent and with the mock driver (tests/mockcuda)."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tarfile
import time

from harness import HAS_CLANG, SAXPY, SAXPY_LAUNCH, SIMTLAB, SOURCE, Case, long_test, main, needs_clang

BUILD = pathlib.Path(SIMTLAB).parents[1]
MOCK = BUILD / "mockcuda/libsimtlab-mockcuda.so"
PARTIAL = BUILD / "mockcuda/libsimtlab-mockcuda-partial.so"
ABSENT = {"SIMTLAB_CUDA_DRIVER": "/nonexistent/libcuda.so.1"}


def mock(gpu="v100", fault="", **more):
    return {"SIMTLAB_CUDA_DRIVER": str(MOCK), "SIMTLAB_MOCK_GPU": gpu, "SIMTLAB_MOCK_FAULT": fault, **more}


class Doctor(Case):
    def test_without_a_driver_all_is_well_unless_a_device_was_asked_for(self):
        out = self.ok("doctor", env=ABSENT).stdout
        self.assertRegex(out, r"(?m)^  ok +data +/.*data$")
        self.assertRegex(out, r"(?m)^  none +driver +the CUDA driver cannot be loaded: .* \[board-driver\]$")
        done = self.simtlab("doctor", "--device", "0", env=ABSENT)
        self.assertEqual(done.returncode, 7)
        self.assertIn("[board-driver]", done.stderr)
        self.assertIn("real boards", done.stdout)

    def test_a_board_with_its_clock_measured_and_what_cannot_be(self):
        out = self.ok("doctor", "--device", "0", env=mock()).stdout
        self.assertIn("CUDA 12.2", out)
        highest, measured = map(float, re.search(r"SM at most (\d+) MHz, measured (\d+) MHz", out).groups())
        self.assertLess(abs(measured / highest - 1), 0.005)
        self.assertIn("not measured: counters", out)

    def test_json_has_the_same(self):
        state = json.loads(self.ok("doctor", "--json", env=mock("k40,h100")).stdout)
        self.assertEqual(state["schema"], 1)
        self.assertEqual({f["state"] for f in state["installation"]} - {"ok", "optional"}, set())
        self.assertIn("data", [f["what"] for f in state["installation"]])
        self.assertEqual(
            [(d["index"], d["compute_capability"], d["usable"]) for d in state["devices"]],
            [(0, "3.5", True), (1, "9.0", True)],
        )
        self.assertIsNone(state["driver"]["problem"])
        state = json.loads(self.ok("doctor", "--json", env=ABSENT).stdout)
        self.assertEqual(state["devices"], [])
        self.assertEqual(state["driver"]["problem"]["id"], "board-driver")
        self.ok("doctor", "--json=d.json", "-o", "d.txt", env=ABSENT)
        self.assertIn("installation", (self.folder / "d.txt").read_text())
        self.assertEqual(json.loads((self.folder / "d.json").read_text()), state)

    def test_what_is_wrong_is_named_with_a_remedy(self):
        for env, error, remedy in (
            (mock(fault="no-device"), "board-none", "CUDA_VISIBLE_DEVICES"),
            (mock(fault="busy"), "board-busy", "nvidia-smi -c DEFAULT"),
            (mock(fault="mismatch"), "board-driver", "kernel module"),
            (mock(fault="permission"), "board-permission", "/dev/nvidia"),
            (mock(fault="lost=0"), "board-lost", "dmesg"),
            (mock(fault="jit"), "board-ptx", ""),
            (mock(fault="ptx-version"), "board-driver-old", "newer driver"),
            (mock(SIMTLAB_MOCK_VERSION="8000"), "board-driver-old", "CUDA 9.0"),
            (mock("v100") | {"SIMTLAB_CUDA_DRIVER": str(PARTIAL)}, "board-driver", "has no cuDeviceGetCount"),
            ({"SIMTLAB_CUDA_DRIVER": "libm.so.6"}, "board-driver", "is no CUDA driver"),
        ):
            done = self.simtlab("doctor", "--device", "0", env=env)
            self.assertEqual(done.returncode, 7, done.stdout + done.stderr)
            self.assertIn(f"[{error}]", done.stdout)
            self.assertIn(f"[{error}]", done.stderr)
            self.assertIn(remedy, done.stdout + done.stderr)
            self.ok("doctor", env=env)
        self.assertIn("there is: 0 (", self.simtlab("doctor", "--device", "7", env=mock()).stderr)

    def test_an_old_driver_is_used_for_what_it_can(self):
        out = self.ok("doctor", "--device", "0", env=mock("k40", SIMTLAB_MOCK_VERSION="9010")).stdout
        self.assertIn("not measured: blocks per SM", out)

    def test_others_on_the_device_are_noticed(self):
        self.assertIn("not measured: undisturbed", self.ok("doctor", env=mock(fault="used=4000000000")).stdout)
        self.assertNotIn("undisturbed", self.ok("doctor", env=mock(fault="used=400000000")).stdout)

    def test_permission_is_part_of_the_answer_unless_the_driver_was_named(self):
        out = self.ok("doctor").stdout
        self.assertRegex(out, r"(?m)^  (ok|none) +permission ")
        self.assertEqual(
            [f["what"] for f in json.loads(self.ok("doctor", "--json").stdout)["driver"]["permission"]], ["permission"]
        )
        self.assertNotIn("permission", self.ok("doctor", env=mock()).stdout)

    def test_missing_data_is_an_error_and_a_missing_compiler_is_not(self):
        self.assertEqual(self.simtlab("doctor", env=ABSENT | {"SIMTLAB_DATA": "/nonexistent"}).returncode, 7)
        out = self.ok("doctor", env=ABSENT | {"SIMTLAB_CLANG": "/nonexistent/clang"}).stdout
        self.assertRegex(out, r"(?m)^  optional +clang ")


class RunOnABoard(Case):
    def on_board(self, *args, env=None, **kw):
        return self.simtlab("run", self.saxpy(), *SAXPY_LAUNCH, "--device", "0", *args, env=env or mock(), **kw)

    def test_values_are_compared_and_times_stand_side_by_side(self):
        done = self.on_board("--gpu", "v100", "--repeat", "5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(
            done.stdout,
            r"(?m)^on .*V100.* \(CUDA 12\.2\)\n  time  .* in 5 launches; an empty kernel .* us\n  simulated .*\n  values       32768 elements as simulated\n",
        )
        result = json.loads(self.on_board("--gpu", "v100", "--json").stdout)
        metrics = result["kernels"][0]["metrics"]
        # The mock is the same simulator: its kernel takes what the simulated one takes, and the launch.
        self.assertLess(metrics["gpu.time"]["value"], metrics["board.time"]["value"])
        self.assertLess(
            metrics["board.time"]["value"], metrics["gpu.time"]["value"] + 2 * metrics["board.time.empty"]["value"]
        )
        self.assertEqual(metrics["board.launches"]["value"], 20)
        self.assertEqual(metrics["board.difference"]["value"], 0)
        self.assertAlmostEqual(
            metrics["board.simulated_over_measured"]["value"],
            metrics["gpu.time"]["value"] / metrics["board.time"]["value"],
        )
        self.assertEqual(result["total"]["board.elements"]["value"], 32768)
        # A result file is printed again with its figures.
        (self.folder / "r.json").write_text(json.dumps(result))
        self.ok("report", "r.json")

    def test_without_times_of_the_simulator_the_boards_stand_alone(self):
        metrics = json.loads(self.on_board("--mode", "functional", "--json").stdout)["kernels"][0]["metrics"]
        self.assertIn("board.time", metrics)
        self.assertNotIn("board.simulated_over_measured", metrics)

    def test_a_wrong_value_on_the_board_is_found(self):
        # A race: what the last writer left. The mock's is another GPU than the simulated one.
        racy = self.file(
            "racy.ptx",
            """.version 6.0
.target sm_30
.address_size 64
.visible .entry racy(.param .u64 out)
{
  .reg .b32 %r<3>; .reg .b64 %d<2>;
  ld.param.u64 %d1, [out];
  mov.u32 %r1, %nsmid;
  st.global.u32 [%d1], %r1;
  ret;
}
""",
        )
        done = self.simtlab(
            "run",
            racy,
            "--grid",
            "1",
            "--block",
            "32",
            "--arg",
            "buffer:1:u32:zero",
            "--gpu",
            "h100",
            "--device",
            "0",
            "--quiet",
            env=mock("v100"),
        )
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        self.assertIn("[board-result]", done.stderr)
        self.assertRegex(done.stderr, r"\[0\] is \d+ on the board and \d+ simulated")

    def test_errors_of_the_board(self):
        for fault, code, error in (
            ("no-device", 7, "board-none"),
            ("busy", 7, "board-busy"),
            ("lost=0", 7, "board-lost"),
            ("lost=7", 7, "board-lost"),
            ("memory=1000", 1, "board-memory"),
            ("jit", 3, "board-ptx"),
            ("ptx-version", 7, "board-driver-old"),
        ):
            done = self.on_board("--mode", "functional", env=mock(fault=fault))
            self.assertEqual(done.returncode, code, fault + done.stderr)
            self.assertIn(f"[{error}]", done.stderr)
        done = self.on_board("--mode", "functional", env=mock(fault="jit"))
        self.assertIn("the driver's assembler: ptxas fatal   : Ptx assembly aborted", done.stderr)
        self.assertEqual(self.on_board(env=ABSENT).returncode, 7)

    def test_a_board_lost_in_the_middle_leaves_the_simulated_half_marked(self):
        done = self.on_board("--gpu", "v100", "--json=r.json", env=mock(fault="lost=7"))
        self.assertEqual(done.returncode, 7)
        self.assertIn("INCOMPLETE", done.stdout)
        result = json.loads((self.folder / "r.json").read_text())
        self.assertIn(
            "board-lost",
            result["manifest"]["failure"]["text"]
            if isinstance(result["manifest"]["failure"], dict)
            else result["manifest"]["failure"],
        )
        self.assertIn("gpu.time", result["kernels"][0]["metrics"])
        self.assertNotIn("board.time", result["kernels"][0]["metrics"])

    def test_the_page_names_errors_that_exist(self):
        page = (SOURCE / "docs/guide/boards.md").read_text()
        named = re.findall(r"(?m)^\| `(board-[a-z-]+)` \|", page)
        self.assertGreaterEqual(len(named), 10)
        for name in named:
            self.assertIn(name, self.ok("explain", name).stdout)
        for metric in ("board.time", "board.time.empty"):
            self.assertIn(metric, self.ok("explain", metric).stdout)

    def test_options_that_make_no_sense_are_refused(self):
        self.fails(2, "run", "--device", "0", "--", "./app", says="run-what", env=mock())
        self.fails(2, "run", "app.cu", "--device", "0", says="-ptx", env=mock())
        for bad in (("--repeat", "0"), ("--tolerance", "-1"), ("--device=",)):
            self.assertEqual(self.on_board(*bad).returncode, 2)

    def test_ctrl_c_leaves_a_launch_that_never_ends(self):
        """A kernel can't be called back: the wait for it is left, the simulated half is written and marked, and the process ends by itself."""
        # The values take one launch, the fourth timed one hangs.
        process = subprocess.Popen(
            [
                SIMTLAB,
                "run",
                self.saxpy(),
                *SAXPY_LAUNCH,
                "--device",
                "0",
                "--gpu",
                "v100",
                "--json=r.json",
                "-o",
                "r.txt",
            ],
            cwd=self.folder,
            env=self.environment(mock(fault="hang=4", SIMTLAB_MOCK_VERBOSE="1")),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertEqual(process.stderr.readline(), "mock driver: this launch never ends\n")
        time.sleep(0.2)
        self.assertIsNone(process.poll(), "it should still wait for the kernel")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, errors)
        result = json.loads((self.folder / "r.json").read_text())
        self.assertTrue(result["manifest"]["interrupted"])
        self.assertIn("gpu.time", result["kernels"][0]["metrics"])
        self.assertNotIn("board.time", result["kernels"][0]["metrics"])


class MeasureGpu(Case):
    """tools/measure-gpu.sh: a step that fails leaves its log, and the others go on."""

    def measure(self, *args, env, timeout=500):
        return subprocess.run(
            [str(SOURCE / "tools/measure-gpu.sh"), "--simtlab", SIMTLAB, "--quick", *args],
            cwd=self.folder,
            env=self.environment(env | {"TMPDIR": str(self.folder)}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
        )

    def archive(self, name):
        with tarfile.open(self.folder / name) as tar:
            return {m.name: tar.extractfile(m).read().decode(errors="replace") for m in tar.getmembers() if m.isfile()}

    def steps(self, files):
        return {row[0]: int(row[1]) for row in (line.split("\t") for line in files["board/steps.tsv"].splitlines()[1:])}

    def test_without_a_driver_every_step_says_so_and_the_archive_is_there(self):
        done = self.measure("-o", "a.tar.gz", "--limit", "100", env=ABSENT)
        self.assertEqual(done.returncode, 7, done.stdout)
        files = self.archive("a.tar.gz")
        self.assertIn("[board-driver]", files["board/logs/doctor.log"])
        self.assertIn("board-driver", files["board/doctor.json"])
        steps = self.steps(files)
        self.assertEqual(steps["version"], 0)
        self.assertEqual(steps["doctor"], 7)
        self.assertNotEqual(steps["probe"], 0)
        if HAS_CLANG:
            self.assertEqual(steps["run-saxpy"], 7)

    @needs_clang
    @long_test
    def test_the_mock_is_measured(self):
        done = self.measure("-o", "a.tar.gz", env=mock())
        files = self.archive("a.tar.gz")
        steps = self.steps(files)
        runs = {name: status for name, status in steps.items() if name.startswith("run-")}
        self.assertGreaterEqual(len(runs), 14)
        self.assertEqual(
            {name: status for name, status in runs.items() if status != 0},
            {},
            done.stdout + "".join(files[f"board/logs/{n}.log"] for n, s in runs.items() if s != 0),
        )
        self.assertEqual(steps["doctor"], 0)
        self.assertIn("board.time", files["board/examples/matmul_tiled.json"])
        rows = {row[0]: row[1:] for row in (line.split("\t") for line in files["board/examples.tsv"].splitlines()[1:])}
        self.assertEqual(set(rows), {name.removeprefix("run-") for name in runs})
        for name, row in rows.items():
            self.assertGreater(float(row[0]), float(row[1]), name)
        self.assertEqual(done.returncode, 0 if set(steps.values()) == {0} else 1, done.stdout)

    @needs_clang
    def test_a_bundle_measures_without_the_source_tree(self):
        done = self.measure("--bundle", "carried", env={})
        self.assertEqual(done.returncode, 0, done.stdout)
        moved = self.folder / "elsewhere"
        (self.folder / "carried").rename(moved)
        done = subprocess.run(
            [str(moved / "measure-gpu.sh"), "-o", "b.tar.gz", "--limit", "20"],
            cwd=self.folder,
            env=self.environment(mock(fault="busy") | {"TMPDIR": str(self.folder)}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        self.assertEqual(done.returncode, 7, done.stdout)
        files = self.archive("b.tar.gz")
        self.assertIn("elsewhere/share/simtlab/data", files["board/logs/version.log"])
        self.assertIn("board-busy", files["board/doctor.txt"])

    def test_wrong_options(self):
        for bad in (("--what",), ("--limit", "soon"), ("-o",)):
            self.assertEqual(self.measure(*bad, env=ABSENT).returncode, 2)


if __name__ == "__main__":
    main()
