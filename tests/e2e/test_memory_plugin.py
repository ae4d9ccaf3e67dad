"""run --dram: memory plug-ins and other memories for any GPU."""
import pathlib
import shutil
import subprocess
import unittest

from harness import SAXPY_LAUNCH, SIMTLAB, SOURCE, Case, main, needs_clang

PLUGINS = pathlib.Path(SIMTLAB).parents[1] / "plugins"
PROGRAM = """
#include <cstdio>
#include <cuda_runtime.h>
__global__ void twice(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
int main() {
  float host[4096], *x;
  for (int i = 0; i < 4096; ++i) host[i] = i;
  if (cudaMalloc(&x, sizeof host) != cudaSuccess) { std::puts("no memory"); return 3; }
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  twice<<<16, 256>>>(x, 4096);
  if (cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  std::puts(host[4095] == 8190 ? "right" : "wrong");
}
"""


def plugin(name, config=""):
    return f"plugin:{PLUGINS / name}.so" + (f"?config={config}" if config else "")


class Technologies(Case):
    """run --dram with memory technologies."""

    def run_with(self, *options):
        return self.run_json(self.saxpy(), *SAXPY_LAUNCH, "--gpu", "gtx480", *options)

    def value(self, result, name):
        return result["kernels"][0]["metrics"][name]["value"]

    def test_any_technology_can_be_the_memory_of_a_gpu_and_equal_runs_are_equal(self):
        slow, fast, again = (
            self.run_with("--dram", "ddr2-800"),
            self.run_with("--dram", "hbm3"),
            self.run_with("--dram", "hbm3"),
        )
        self.assertEqual(fast["kernels"], again["kernels"])
        self.assertGreater(self.value(slow, "gpu.cycles"), self.value(fast, "gpu.cycles"))
        for r in (slow, fast):
            metrics = r["kernels"][0]["metrics"]
            self.assertAlmostEqual(
                sum(m["value"] for n, m in metrics.items() if n.startswith("dram.loss."))
                + self.value(r, "dram.bus.data"),
                1,
            )
            self.assertEqual(
                sum(self.value(r, "dram.row." + k) for k in ("hits", "misses", "conflicts")),
                self.value(r, "dram.accesses.read") + self.value(r, "dram.accesses.write"),
            )
            self.assertNotIn("D-TIMING-4", r["kernels"][0]["not_modelled"])
        self.assertGreater(self.value(slow, "dram.energy.total"), 0)
        self.assertNotIn("dram.energy.total", fast["kernels"][0]["metrics"], "no source gives the currents")

    def test_the_manifest_has_every_value_of_the_memory(self):
        r = self.run_with("--dram", "hbm2-2000", "--channels", "12", "--controller", "fcfs")
        shown = {c["key"]: c for c in r["manifest"]["configuration"]}
        self.assertEqual(shown["dram.partitions"]["value"], "12")
        self.assertIn("--channels 12", shown["dram.partitions"]["origin"])
        self.assertEqual(shown["dram.bandwidth"]["value"], "384 GB/s")
        self.assertIn("12 channels of 2 x 64 bits at 2000 MT/s", shown["dram.bandwidth"]["source"])
        self.assertEqual(shown["technology.timing.CL"]["value"], "14 cycles")
        self.assertEqual(shown["controller.schedule.kind"]["value"], "fcfs")

    def test_the_memory_of_the_gpu_itself_in_detail(self):
        r = self.run_with("--dram", "device")
        shown = {c["key"]: c["value"] for c in r["manifest"]["configuration"]}
        self.assertEqual((shown["dram.technology"], shown["dram.partitions"]), ("gddr5-gtx480", "6"))
        simple = self.run_with()
        self.assertLess(abs(self.value(r, "gpu.cycles") / self.value(simple, "gpu.cycles") - 1), 0.15)

    def test_a_file_a_wrong_name_and_a_wrong_controller(self):
        self.file("mine.toml", 'inherits = "ddr4-3200"\ndescription = { value = "mine", source = "me at home" }\n')
        self.assertEqual(
            {c["key"]: c["value"] for c in self.run_with("--dram", "mine.toml")["manifest"]["configuration"]}[
                "technology.timing.CL"
            ],
            "22 cycles",
        )
        base = ["run", self.saxpy(), *SAXPY_LAUNCH]
        self.fails(3, *base, "--dram", "hbm33", says=["--dram hbm33", "[dram-unknown]"])
        self.fails(
            3, *base, "--dram", "hbm3", "--controller", "fcfss", says=["--controller fcfss", "[controller-unknown]"]
        )
        self.file("bad.toml", 'inherits = "gpu"\n[mapping]\npattern = { value = "ro-ba", source = "me at home" }\n')
        self.fails(3, *base, "--dram", "hbm3", "--controller", "bad.toml", says="[dram-mapping]")


@unittest.skipUnless((PLUGINS / "behaviours.so").exists(), "the test plug-ins are not built")
class MemoryPlugin(Case):
    def run_with(self, dram, *more):
        return self.run_json(self.saxpy(), *SAXPY_LAUNCH, "--gpu", "gtx480", "--dram", dram, *more)

    def value(self, result, name):
        return result["kernels"][0]["metrics"][name]["value"]

    def test_a_kernel_runs_on_a_plugin_and_its_statistics_are_metrics(self):
        r = self.run_with(plugin("fixed_latency", "latency=40,room=32"))
        # 2 x 16384 floats are read, in accesses of 64 bytes.
        self.assertEqual(self.value(r, "dram.plugin.reads"), 2048)
        self.assertEqual(self.value(r, "dram.read.bytes"), 2048 * 64)
        self.assertGreater(self.value(r, "dram.utilisation"), 0)
        self.assertNotIn("dram.row_misses", r["kernels"][0]["metrics"])
        shown = {c["key"]: c for c in r["manifest"]["configuration"]}
        self.assertEqual(shown["dram.model"]["value"], plugin("fixed_latency", "latency=40,room=32"))
        self.assertEqual(shown["dram.technology"]["value"], "fixed_latency.so")
        self.assertIn("D-DRAM-1", r["kernels"][0]["not_modelled"])

    def test_equal_runs_are_equal_and_a_slow_memory_is_slower(self):
        fast, again, slow = (
            self.run_with(plugin("fixed_latency", c)) for c in ("latency=40", "latency=40", "latency=900,room=1")
        )
        self.assertEqual(fast["kernels"], again["kernels"])
        self.assertGreater(self.value(slow, "gpu.cycles"), 2 * self.value(fast, "gpu.cycles"))

    def test_the_hint_about_the_next_event_changes_nothing(self):
        hinted, polled = (self.run_with(plugin("behaviours", c)) for c in ("fixed", "polled"))
        self.assertEqual(self.value(hinted, "gpu.cycles"), self.value(polled, "gpu.cycles"))
        self.assertEqual(self.value(hinted, "dram.plugin.energy.pJ"), 2.5 * self.value(hinted, "dram.plugin.accesses"))

    def test_channels_are_even_whatever_their_number(self):
        for channels in (1, 5, 6, 12, 17, 18):
            r = self.run_with(plugin("fixed_latency"), "--channels", str(channels))
            self.assertLess(self.value(r, "l2.slice.imbalance"), 1.05)
            self.assertLess(self.value(r, "dram.partition.imbalance"), 1.1, channels)
            self.assertEqual(self.value(r, "dram.read.bytes"), 131072)

    def test_a_peak_that_is_unknown_gives_no_utilisation(self):
        r = self.run_with(plugin("behaviours", "unknown-peak"))
        metrics = r["kernels"][0]["metrics"]
        for name in ("dram.utilisation", "peak.bandwidth.dram", "peak.bandwidth.dram.sustained"):
            self.assertNotIn(name, metrics)

    def test_the_name_of_a_simulator_leads_to_its_plugin(self):
        for name in ("dramsim3", "DRAMSim2", "ramulator", "Ramulator-2.1"):
            self.fails(
                3,
                "run",
                self.saxpy(),
                *SAXPY_LAUNCH,
                "--dram",
                name,
                says=["[dram-unknown]", "joins as a plug-in", "plugin:FOLDER/", "simtlab list plugins"],
            )
        self.fails(3, "dram", "--generate", "random", "--dram", "dramsim3", says="joins as a plug-in")

    def test_plugins_are_listed_with_what_is_missing(self):
        folder = self.folder / "mine"
        folder.mkdir()
        for name in ("wrong_version", "no_symbol", "behaviours"):
            shutil.copy(PLUGINS / f"{name}.so", folder / f"{name}.so")
        shutil.copy(PLUGINS / "behaviours.so", folder / "dramsim3.so")
        (folder / "text.so").write_text("no library")
        env = self.environment({"SIMTLAB_PLUGINS": str(folder)})
        out = self.ok("list", "plugins", env=env).stdout
        self.assertRegex(out, r"wrong_version +wrong_version +the plug-in .* has version \d+ of the interface")
        self.assertRegex(out, r"no_symbol .*is no memory plug-in")
        self.assertRegex(out, r"text .*cannot be loaded")
        self.assertRegex(out, r"dramsim3 +DRAMsim3 +ok +" + str(folder))
        self.assertRegex(out, r"ramulator1 +Ramulator 1 +not here")
        self.assertIn("git clone https://github.com/CMU-SAFARI/ramulator FOLDER", out)
        self.assertIn(f'--dram "plugin:{folder}/dramsim3.so?config=', out)
        doctor = self.ok("doctor", env=env).stdout
        self.assertRegex(doctor, r"memory plug-ins +.*DRAMsim3.*not here: .*Ramulator 1")

    def test_what_a_plugin_does_wrong_is_an_error_with_its_code(self):
        for dram, code, name in [
            ("plugin:/nowhere/x.so", 3, "plugin-missing"),
            (f"plugin:{__file__}", 3, "plugin-missing"),
            (plugin("no_symbol"), 3, "plugin-symbol"),
            (plugin("wrong_version"), 4, "plugin-version"),
            (plugin("no_function"), 1, "plugin-fault"),
            (plugin("behaviours", "create-fails"), 3, "plugin-create"),
            (plugin("behaviours", "silent"), 1, "plugin-stalled"),
            (plugin("behaviours", "refuses"), 1, "plugin-stalled"),
            (plugin("behaviours", "twice"), 1, "plugin-fault"),
            (plugin("behaviours", "advance-throws"), 1, "plugin-fault"),
            (plugin("behaviours", "odd-access"), 4, "dram-access"),
            ("plugin:", 3, "config-value"),
            ("plugin:x.so?speed=9", 3, "config-value"),
        ]:
            with self.subTest(dram=dram):
                self.fails(
                    code,
                    "run",
                    self.saxpy(),
                    *SAXPY_LAUNCH,
                    "--gpu",
                    "gtx480",
                    "--dram",
                    dram,
                    says=[f"[{name}]", "hint:"],
                )

    def test_options_that_would_do_nothing_are_errors(self):
        base = ["run", self.saxpy(), *SAXPY_LAUNCH, "--gpu", "gtx480"]
        self.fails(3, *base, "--channels", "4", says=["--channels 4", "no effect on the simple memory"])
        self.fails(3, *base, "--controller", "default", says="no effect on the simple memory")
        self.fails(
            3,
            *base,
            "--dram",
            plugin("fixed_latency"),
            "--controller",
            "default",
            says="a plug-in has a controller of its own",
        )
        self.fails(3, *base, "--dram", plugin("fixed_latency"), "--set", "dram.bandwidth=1 GB/s", says="no effect")
        self.fails(
            3,
            *base,
            "--dram",
            plugin("fixed_latency"),
            "--channels",
            "4",
            "--set",
            "dram.partitions=6",
            says="--channels",
        )
        self.fails(2, *base, "--dram", plugin("fixed_latency"), "--channels", "0x", says="--channels")
        self.fails(2, *base, "--dram", plugin("fixed_latency"), "--mode", "functional", says="[option-conflict]")

    def test_a_relative_path_is_that_of_the_command_or_of_the_file_that_names_it(self):
        shutil.copy(PLUGINS / "fixed_latency.so", self.folder / "mine.so")
        self.run_with("plugin:mine.so?config=latency=50")
        (self.folder / "sub").mkdir()
        (self.folder / "sub" / "c.toml").write_text('[dram]\nmodel = "plugin:../mine.so"\n')
        r = self.run_json(self.saxpy(), *SAXPY_LAUNCH, "--gpu", "gtx480", "--config", "sub/c.toml")
        self.assertEqual(self.value(r, "dram.plugin.reads"), 2048)

    @needs_clang
    def test_programs_run_on_it_too_and_failures_come_before_the_program(self):
        (self.folder / "p.cu").write_text(PROGRAM)
        r = self.run_json("p.cu", "--gpu", "gtx480", "--dram", plugin("fixed_latency"))
        self.assertEqual(self.value(r, "dram.plugin.reads"), 256)
        self.fails(
            3, "run", "p.cu", "--gpu", "gtx480", "--dram", plugin("behaviours", "create-fails"), says="[plugin-create]"
        )
        stalled = self.simtlab("run", "p.cu", "--gpu", "gtx480", "--dram", plugin("behaviours", "silent"))
        self.assertEqual(stalled.returncode, 1)
        self.assertIn("[plugin-stalled]", stalled.stderr)

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_the_example_is_compiled_by_the_line_in_its_header(self):
        source = SOURCE / "examples/memory_plugin/fixed_latency.c"
        line = (
            next(l for l in source.read_text().splitlines() if " cc " in l)
            .strip(" *")
            .replace("/path/to/simtlab", str(SOURCE))
        )
        subprocess.run(line.replace("fixed_latency.c", str(source)), shell=True, check=True, cwd=self.folder)
        r = self.run_with("plugin:./fixed_latency.so?config=latency=40,room=32")
        self.assertEqual(self.value(r, "dram.plugin.reads"), 2048)
        self.assertIn("fixed_latency.c", (SOURCE / "docs/guide/plugins.md").read_text())


if __name__ == "__main__":
    main()
