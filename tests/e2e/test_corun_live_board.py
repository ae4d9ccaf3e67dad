"""simtlab corun profile --device: programs on a board (the mock driver) whose launches are timed one at a time."""
import json
import tomllib

from corun_live_scene import MOCK, Live, OnFake
from harness import main, needs_clang


@needs_clang
class Board(Live):
    """corun profile --device: a board (the mock driver), and programs whose launches are timed one at a time."""

    setUpClass = classmethod(OnFake.setUpClass.__func__)
    launcher_env = OnFake.launcher_env

    def profile(self, *args, expect=0, fault="", **env):
        driver = {"SIMTLAB_CUDA_DRIVER": str(MOCK), "SIMTLAB_MOCK_GPU": "v100", "SIMTLAB_MOCK_FAULT": fault}
        out = self.simtlab(
            "corun", "profile", *args, env=self.environment({**driver, **self.launcher_env(2000000), **env})
        )
        self.assertEqual(out.returncode, expect, out.stdout + out.stderr)
        return out

    def test_times_shapes_and_the_sequence_are_kept(self):
        out = self.profile(
            "--device",
            "0",
            "--database",
            "a.toml",
            "--application",
            "app",
            "--json=r.json",
            "--",
            self.launcher,
            6,
            "launch",
        )
        self.assertIn("| app | test_kernel | 6 |", out.stdout)
        kept = tomllib.loads((self.folder / "a.toml").read_text())
        (kernel,), (application,) = kept["kernel"], kept["application"]
        self.assertEqual(
            (kernel["grid"], kernel["block"], kernel["registers"], kernel["shared"]),
            ([4, 1, 1], [64, 1, 1], 32, "256 B"),
        )
        number, unit = kernel["time"].split()
        self.assertGreaterEqual(
            float(number) * {"s": 1e3, "ms": 1, "us": 1e-3}[unit], 2
        )  # and more, where others have the processors
        self.assertNotIn("l2", kernel)
        self.assertIn("V100", kernel["source"])
        self.assertEqual(application["sequence"], ["test_kernel"] * 6)
        (row,) = json.loads((self.folder / "r.json").read_text())["kernels"]
        self.assertEqual((row["launch"]["grid"], row["launch"]["launches"]), ([4, 1, 1], 6))

    def test_one_launch_runs_at_a_time_whatever_the_program_does(self):
        self.profile("--device", "0", "--database", "a.db", "--", self.launcher, 5, "all", 3)
        spans = sorted(
            tuple(map(int, line.split()[1:3])) for line in (self.folder / "fake.trace").read_text().splitlines()
        )
        self.assertGreater(len(spans), 100)
        for (_, end), (begin, _) in zip(spans, spans[1:]):
            self.assertGreaterEqual(begin, end)
        # What events cannot tell is missing, not made up.
        mixed = self.simtlab(
            "corun", "--profiles", "a.db", "--mix", "launcher,launcher", "--limit", "2", "--policy", "mps"
        )
        self.assertEqual(mixed.returncode, 3)
        self.assertIn("misses ipc, l2, dram, memory_stall", mixed.stderr)
        self.serve("--policy", "shortest-first", "--profiles", "a.db", "--log", "log")
        self.finish(self.start(self.launcher, 2, "launch", env=self.launcher_env()))
        self.stop()
        self.assertRegex(
            (self.folder / "log").read_text().split(" launch ")[0],
            r"kernel 1 known time=\d{7,}[.\d]* name=launcher/test_kernel <<<4, 64, 256>>>",
            "known before it is launched",
        )

    def test_what_was_there_stays_and_what_fails_keeps_nothing(self):
        self.profile("--device", "0", "--database", "a.csv", "--application", "one", "--", self.launcher, 2, "launch")
        self.profile("--device", "0", "--database", "a.csv", "--application", "two", "--", self.launcher, 2, "driver")
        before = (self.folder / "a.csv").read_text()
        self.assertIn("one,", before)
        self.assertRegex(
            before, r'(?m)^two,"driver_kernel <<<4, 64, 256>>>",4x1x1,64x1x1,32,256,.*,launcher,[0-9a-f]{16}$'
        )
        for message, status, args, env in (
            ("ended with status", 5, (self.launcher, 2, "launch"), {"FAKE_FAIL": "1"}),
            ("there is nothing to profile", 3, (self.launcher, 0), {}),
            ("ended by signal 9", 5, ("sh", "-c", "kill -9 $$"), {}),
        ):
            with self.subTest(message):
                self.assertIn(
                    message,
                    self.profile("--device", "0", "--database", "a.csv", "--", *args, expect=status, **env).stderr,
                )
        self.assertEqual((self.folder / "a.csv").read_text(), before)

    def test_without_a_board_or_with_options_of_the_simulator_it_says_so(self):
        self.assertIn(
            "board-none",
            self.profile(
                "--device", "0", "--database", "a.db", "--", self.launcher, 1, expect=7, fault="no-device"
            ).stderr,
        )
        self.assertIn(
            "there is: 0 (",
            self.profile("--device", "7", "--database", "a.db", "--", self.launcher, 1, expect=7).stderr,
        )
        self.assertIn(
            "--gpu has no effect on profiles on a real board",
            self.profile(
                "--device", "0", "--gpu", "v100", "--database", "a.db", "--", self.launcher, 1, expect=2
            ).stderr,
        )
        self.assertIn(
            "compiled already", self.profile("--device", "0", "--database", "a.db", "app.cu", expect=2).stderr
        )
        self.assertFalse((self.folder / "a.db").exists())


if __name__ == "__main__":
    main()
