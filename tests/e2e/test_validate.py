"""validate timing: figures, JSON, checks, and what it says when something is missing."""
import json
import shutil

from harness import SAXPY, SAXPY_LAUNCH, SOURCE, Case, main


class Validate(Case):
    def data(self, file, old, new):
        """A copy of the data files with one change."""
        folder = self.folder / "data"
        shutil.copytree(SOURCE / "data", folder)
        path = folder / "measured" / file
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))
        return {"SIMTLAB_DATA": str(folder)}

    def test_predictions_beside_what_was_published_of_them(self):
        out = self.ok("validate", "predict", "--gpu", "gtx480").stdout
        self.assertIn("| R067 | 4.3.1 | delay_madd, TLP=12 | 2.1667 | 2.16667 | met |", out)
        for kernel in ("mul", "madd", "memcpy", "transpose"):
            self.assertRegex(out, rf"(?m)^\| {kernel} .*\| met \|$")
        result = json.loads(self.ok("validate", "predict", "--json", "--gpu", "gtx480").stdout)
        self.assertEqual([k["name"] for k in result["kernels"]], ["mul", "madd", "memcpy", "transpose", "convolution"])
        env = self.data("resios.csv", "TLP=12,2.1667", "TLP=12,2.2667")
        done = self.simtlab("validate", "predict", "--check", env=env)
        self.assertEqual(done.returncode, 6)
        self.assertIn("R067 (delay_madd; TLP=12)".replace(";", ","), done.stderr)

    def test_levels_of_a_device_are_compared_and_meet_their_targets(self):
        out = self.ok("validate", "timing", "--gpu", "rtx2060", "--check").stdout
        self.assertRegex(out, r"\| rtx2060 \| Turing \(ppt19\) \| latency of levels \| L2 \| 1 \| 234\.0 cycles \| 23[34]\.\d cycles \|")
        self.assertIn("All targets are met.", out)

    def test_the_json_has_every_level_and_the_total(self):
        result = json.loads(self.ok("validate", "timing", "--gpu", "rtx2060", "--json").stdout)
        names = [k["name"] for k in result["kernels"]]
        self.assertIn("rtx2060: latency of levels: DRAM", names)
        self.assertLess(result["total"]["validate.error.worst"]["value"], 0.02)
        self.assertEqual(result["total"]["validate.targets.missed"]["value"], 0)

    def test_a_missed_target_is_said_and_ends_with_6_only_with_check(self):
        env = self.data("levels.csv", "Turing (ppt19),,1024,234", "Turing (ppt19),,1024,334")
        out = self.ok("validate", "timing", "--gpu", "rtx2060", env=env).stdout
        self.assertIn("- rtx2060, latency of levels, L2: median error 29.9 % above 5 %", out)
        done = self.simtlab("validate", "timing", "--gpu", "rtx2060", "--check", env=env)
        self.assertEqual(done.returncode, 6)
        self.assertEqual(done.stdout, out)
        self.assertIn("validate-target", done.stderr)

    def test_a_device_without_measurements_is_refused_with_those_that_have_some(self):
        self.fails(3, "validate", "timing", "--gpu", "gtx480", says="v100")
        self.fails(3, "validate", "timing", "--gpu", "nothing", says="nothing")

    def test_a_broken_table_is_named_with_its_line(self):
        env = self.data("levels.csv", "Turing (ppt19),,1024,234", "Turing (ppt19),,1024,x")
        self.fails(3, "validate", "timing", "--gpu", "rtx2060", env=env, says="levels.csv:")

    def test_programs_that_were_not_run_are_left_out_with_a_note(self):
        done = self.simtlab("validate", "timing", "--gpu", "titanx-maxwell", "--results", "nowhere")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the kernels of srad are left out", done.stderr)

    def test_another_simulators_figures_are_printed_beside_ours_and_have_no_target(self):
        (self.folder / "saxpy.ptx").write_text(SAXPY)
        (self.folder / "results/gtx480").mkdir(parents=True)
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "gtx480", "--json=results/gtx480/saxpy.json")
        env = self.data("gpgpusim.csv", "_Z5saxpyifPKfPf,time_us,", "saxpy,time_us,1")   # far off
        arguments = ("validate", "timing", "--gpu", "gtx480", "--results", "results", "--check")
        out = self.ok(*arguments, env=env).stdout
        self.assertRegex(out, r"\| gtx480 \| saxpy \| saxpy \| time_us \| 1\d+\.\d+ \| \d\.\d+ \| -\d+\.\d % \|")
        self.assertIn("All targets are met.", out)
        kernels = json.loads(self.ok(*arguments, "--json", env=env).stdout)["kernels"]
        self.assertEqual([k["name"] for k in kernels], ["gtx480: GPGPU-Sim: saxpy: saxpy: time_us"])
        self.assertLess(kernels[0]["metrics"]["validate.peer.difference"]["value"], -0.5)


if __name__ == "__main__":
    main()
