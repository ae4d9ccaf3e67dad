"""Configuration layers and `config show`."""
import json
import unittest

from harness import SAXPY_LAUNCH, Case, main


class Configuration(Case):
    def value(self, key, *args, **kw):
        shown = json.loads(self.ok("config", "show", "--json", *args, **kw).stdout)
        (entry,) = [v for v in shown["values"] if v["key"] == key]
        return entry

    def test_every_value_of_every_gpu_has_a_source(self):
        names = [line.split()[0] for line in self.ok("list", "gpus").stdout.splitlines()[1:]]
        self.assertGreaterEqual(len(names), 9)
        for name in names:
            shown = json.loads(self.ok("config", "show", "--gpu", name, "--json").stdout)
            self.assertEqual(shown["gpu"], name)
            for v in shown["values"]:
                self.assertTrue(v["layer"], v)
                if v["layer"] == "device":
                    self.assertTrue(v["source"], (name, v))

    def test_facts_of_another_generation_are_told(self):
        head = 'inherits = "a100"\nproduct = { value = "RTX 4090", source = "me" }\n'
        self.file("mine.toml", head + 'compute_capability = { value = "8.9", source = "me" }\n')
        said = self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--gpu", "./mine.toml").stderr
        self.assertRegex(said, r"note: mine has \d+ values of a100, which is of compute capability 8.0, not 8.9; ")
        self.assertIn("config show --gpu ./mine.toml --origin", said)
        self.assertNotIn(
            "note: mine has", self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--gpu=./mine.toml", "-q").stderr
        )
        self.file("mine.toml", head)
        self.assertNotIn("note: mine has", self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--gpu=./mine.toml").stderr)

    def test_a_memory_that_is_none_is_refused_where_it_is_said(self):
        for name in ("gddr6x", "h100"):
            self.fails(
                3, "run", self.saxpy(), *SAXPY_LAUNCH, "--set", f"dram.technology={name}", says="--set dram.technology"
            )
        self.fails(3, "run", self.saxpy(), *SAXPY_LAUNCH, "--set", "dram.technology=/etc/passwd", says="[toml-syntax]")

    def test_every_value_of_every_memory_technology_has_a_source(self):
        names = [line.split()[0] for line in self.ok("list", "drams").stdout.splitlines()[1:]]
        self.assertGreaterEqual(len(names), 20)
        for name in names:
            shown = json.loads(self.ok("config", "show", "--dram", name, "--json").stdout)
            self.assertEqual((shown["dram"], shown["schema"]), (name, 1))
            for v in shown["values"]:
                if v["layer"] == "default":  # rules that most memories do not have
                    continue
                self.assertEqual(v["layer"], "technology", (name, v))
                self.assertTrue(v["source"], (name, v))
        gpu = self.value("dram.technology", "--gpu", "gtx480")
        self.assertIn(gpu["value"], names)

    def test_a_memory_technology_can_be_shown_changed_and_is_told_from_a_device(self):
        out = self.ok("config", "show", "--dram", "ddr4-3200", "--set", "timing.CL=24 cycles", "--origin").stdout
        self.assertRegex(out, r"timing.CL *= 24 cycles +# command line")
        self.assertRegex(out, r"timing.tCCD_S .*ddr4-2400.toml:\d+\): DRAMsim3")
        self.assertNotIn("DRAMsim3", self.ok("config", "show", "--dram", "ddr4-3200").stdout)
        self.fails(3, "config", "show", "--dram", "ddr4-320", says=["[dram-unknown]", "did you mean 'ddr4-3200'?"])
        self.fails(3, "config", "show", "--dram", "ddr4", "--set", "timing.CLL=3 cycles", says="timing.CL")
        self.fails(
            3, "config", "show", "--dram", "ddr4", "--set", "timing.tRAS=90 cycles", says="--set timing.tRAS=90 cycles"
        )
        self.fails(2, "config", "show", "--dram", "ddr4", "--gpu", "h100", says="[option-conflict]")
        self.file("mine.toml", 'inherits = "hbm3"\n[timing]\nCL = { value = 3, source = "me" }\n')
        self.fails(3, "config", "show", "--dram", "mine.toml", says=["mine.toml:3:", "has no unit"])
        self.file("mine.toml", 'inherits = "hbm3"\n')
        self.fails(2, "config", "show", "--dram", "mine.toml", "--json=mine.toml", says="would overwrite")

    def test_memory_controllers_are_listed_shown_and_changed(self):
        names = [line.split()[0] for line in self.ok("list", "controllers").stdout.splitlines()[1:]]
        self.assertLessEqual(
            {"default", "dramsim2", "dramsim3", "ramulator2", "fcfs", "closed_page", "gpu-frfcfs"}, set(names)
        )
        for name in names:
            shown = json.loads(self.ok("config", "show", "--controller", name, "--json").stdout)
            self.assertEqual((shown["controller"], shown["schema"]), (name, 1))
            for v in shown["values"]:
                self.assertEqual(v["layer"], "controller", (name, v))
                self.assertTrue(v["source"], (name, v))
        out = self.ok("config", "show", "--controller", "fcfs", "--set", "queues.read=16", "--origin").stdout
        self.assertRegex(out, r"queues.read *= 16 +# command line")
        self.assertRegex(out, r"schedule.kind *= fcfs .*fcfs.toml:\d+\), estimated")
        self.assertRegex(out, r"queues.write .*default.toml:\d+\)")
        self.fails(
            3,
            "config",
            "show",
            "--controller",
            "ramulator",
            says=["[controller-unknown]", "did you mean 'ramulator2'?"],
        )
        self.fails(
            3,
            "config",
            "show",
            "--controller",
            "default",
            "--set",
            "queues.low=0.9",
            says=["--set queues.low=0.9", "is not below queues.high"],
        )
        self.fails(2, "config", "show", "--controller", "default", "--dram", "ddr4", says="[option-conflict]")
        self.fails(2, "config", "show", "--controller", "default", "--gpu", "h100", says="[option-conflict]")

    def test_later_layers_win_in_the_documented_order(self):
        user = self.file(".config/simtlab/config.toml", 'gpu = "v100"\n[sm]\ncount = 2\n')
        self.assertEqual(self.value("sm.count")["value"], "2")
        self.assertIn(str(user), self.value("sm.count")["where"])
        self.assertEqual(self.value("gpu")["value"], "v100")
        self.file("simtlab.toml", "[sm]\ncount = 3\n")
        self.assertEqual((self.value("sm.count")["value"], self.value("sm.count")["layer"]), ("3", "project"))
        env = {"SIMTLAB_SET": "sm.count=4"}
        self.assertEqual(
            (self.value("sm.count", env=env)["value"], self.value("sm.count", env=env)["layer"]), ("4", "environment")
        )
        self.file("more.toml", "[sm]\ncount = 5\n")
        self.assertEqual(self.value("sm.count", "--config", "more.toml", env=env)["value"], "5")
        last = self.value("sm.count", "--config", "more.toml", "--set", "sm.count=6", env=env)
        self.assertEqual((last["value"], last["layer"]), ("6", "command line"))

    def test_text_shows_origins_on_request(self):
        plain = self.ok("config", "show", "--gpu", "a100", "--set", "sm.count=4").stdout
        self.assertNotIn("command line", plain)
        self.assertIn(
            "command line", self.ok("config", "show", "--gpu", "a100", "--set", "sm.count=4", "--origin").stdout
        )

    def test_an_unknown_key_names_the_nearest_and_its_place(self):
        self.fails(3, "config", "show", "--set", "sm.cuont=4", says="sm.count")
        self.file("bad.toml", "\n[sm]\ncuont = 3\n")
        self.fails(3, "config", "show", "--config", "bad.toml", says=["bad.toml:3", "sm.count"])

    def test_an_unknown_gpu_names_the_nearest(self):
        self.fails(3, "config", "show", "--gpu", "h10", says="h100")
        self.fails(3, "run", "--gpu", "h10", self.saxpy(), says="h100")

    def test_files_that_cannot_be_read_are_errors(self):
        self.fails(3, "config", "show", "--config", "missing.toml", says="missing.toml")
        self.fails(3, "config", "show", "--gpu", "missing.toml", says="missing.toml")
        self.file("broken.toml", 'gpu = "')
        self.fails(3, "config", "show", "--config", "broken.toml", says="broken.toml:1")
        self.file("binary.toml", bytes(range(256)) * 16)
        self.fails(3, "config", "show", "--config", "binary.toml", says="binary.toml")
        self.fails(3, "config", "show", "--gpu", "binary.toml", says="binary.toml")

    def test_impossible_values_are_errors(self):
        for setting in (
            "sm.count=0",
            "sm.count=-1",
            "sm.count=1e30",
            "sm.clock=5",
            "sm.clock=5 GB",
            "dram.bandwidth=0 GB/s",
            "sm.count=",
        ):
            result = self.simtlab("config", "show", "--set", setting)
            self.assertEqual(result.returncode, 3, (setting, result.stdout[:200], result.stderr))


if __name__ == "__main__":
    main()
