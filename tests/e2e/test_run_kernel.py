"""run kernel.ptx: results, reports, determinism, limits, interruption."""
import csv
import io
import json
import os
import re
import signal
import statistics
import subprocess
import time
import unittest
from pathlib import Path

from harness import LOCKED, SAXPY_LAUNCH, SIMTLAB, SPIN, SPIN_LAUNCH, Case, main

FIXED_METRICS = [
    "gpu.cycles",
    "gpu.time",
    "gpu.instructions.warp",
    "gpu.instructions.thread",
    "gpu.ipc",
    "occupancy.theoretical",
    "occupancy.achieved",
    "l1.read.accesses",
    "l1.read.misses",
    "l1.read.miss_rate",
    "l2.read.accesses",
    "l2.read.misses",
    "l2.read.miss_rate",
    "dram.read.bytes",
    "dram.write.bytes",
    "dram.utilisation",
]


def varying_removed(text):
    """A result without what docs/reference/json.md says may differ between equal runs."""
    result = json.loads(text)
    for key in ("start_time", "wall_time_s"):
        del result["manifest"][key]
    result["total"] = {k: v for k, v in result["total"].items() if not k.startswith("host.")}
    return json.dumps(result)


class RunKernel(Case):
    def test_any_number_of_threads_gives_the_same_bytes(self):
        texts = set()
        for threads in ("0", "1", "2", "5"):
            r = self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--gpu", "v100", "--threads", threads, "--json")
            d = json.loads(varying_removed(r.stdout))
            del d["manifest"]["command"]
            d["manifest"]["configuration"] = [c for c in d["manifest"]["configuration"] if c["key"] != "threads"]
            texts.add(json.dumps(d))
        self.assertEqual(len(texts), 1)

    def test_a_series_has_what_each_l2_slice_moved(self):
        for gpu, slices in (("gtx480", 12), ("h100", None)):
            kernel = self.run_json(self.saxpy(), *SAXPY_LAUNCH, "--gpu", gpu, "--series", "200")["kernels"][0]
            value = {k: v["value"] for k, v in kernel["metrics"].items()}
            moved = [row[1] for row in kernel["tables"]["l2_slices"]["rows"]]
            if slices is not None:
                self.assertEqual(len(moved), slices)
            self.assertEqual(sum(moved), value["l2.bytes"] / 32)
            self.assertEqual((min(moved), max(moved)), (value["l2.slice.accesses.min"], value["l2.slice.accesses.max"]))
            self.assertAlmostEqual(statistics.pstdev(moved), value["l2.slice.accesses.deviation"])
            over_time = kernel["tables"]["l2_slices_over_time"]["rows"]
            self.assertEqual(over_time[-1][0], value["gpu.cycles"])
            self.assertAlmostEqual(sum(row[1] for row in over_time) * len(moved), sum(moved))
            self.assertGreater(len(over_time), 3)
        plain = self.run_json(self.saxpy(), *SAXPY_LAUNCH, "--gpu", "gtx480")["kernels"][0]
        self.assertNotIn("l2_slices", plain.get("tables", {}))

    def test_launches_that_are_not_chosen_are_only_executed(self):
        r = self.run_json(self.saxpy(), *SAXPY_LAUNCH, "--kernels", "other*")
        self.assertEqual(r["kernels"], [])
        self.assertEqual(r["total"]["program.kernels.skipped"]["value"], 1)
        self.assertNotIn("program.time", r["total"])
        self.assertEqual(len(self.run_json(self.saxpy(), *SAXPY_LAUNCH, "--kernels", "sax*:1")["kernels"]), 1)
        self.assertIn(
            "no launch was timed: --kernels fits none of the 1 launch that ran",
            self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--kernels", "other*").stdout,
        )
        self.fails(2, "run", self.saxpy(), *SAXPY_LAUNCH, "--kernels", "7-3", says=("[kernel-choice]", "7-3"))

    def test_large_grids_can_be_sampled(self):
        launch = [
            "--kernel",
            "saxpy",
            "--grid",
            "20000",
            "--block",
            "64",
            "--arg",
            "f32:2",
            "--arg",
            "buffer:1280000:f32:iota",
            "--arg",
            "buffer:1280000:f32:iota",
            "--arg",
            "u32:1280000",
        ]
        arguments = (self.saxpy(), *launch, "--gpu", "v100", "--set", "sm.count=4")
        whole = self.run_json(*arguments)
        sampled = self.run_json(*arguments, "--sample", "0.03")
        self.assertNotIn("gpu.cycles.error", whole["total"])
        truth, estimate = (r["total"]["gpu.cycles"]["value"] for r in (whole, sampled))
        error = sampled["total"]["gpu.cycles.error"]["value"]
        self.assertLess(sampled["total"]["sampling.blocks"]["value"], 15000)
        # Blocks that began together drift apart slowly: the rest of the grid may be 5 % faster (D-TIMING-13).
        self.assertLessEqual(abs(truth - estimate), (error + 0.05) * estimate)
        self.assertEqual(whole["total"]["gpu.instructions.warp"], sampled["total"]["gpu.instructions.warp"])
        self.assertIn("estimate, within ", self.ok("run", *arguments, "--sample", "0.03").stdout)
        self.fails(2, "run", *arguments, "--sample", "0.9", says=("--sample",))
        # A trace holds all blocks, whatever was sampled; sampled again it gives the same estimate.
        recorded = self.run_json(*arguments, "--sample", "0.03", "--record", "t.simt")
        replayed = self.run_json("t.simt", *arguments[-4:], "--sample", "0.03")
        self.assertEqual(recorded["total"]["gpu.cycles"], replayed["total"]["gpu.cycles"])
        self.assertEqual(recorded["total"]["gpu.instructions.warp"], replayed["total"]["gpu.instructions.warp"])
        self.assertEqual(recorded["total"]["gpu.cycles"], sampled["total"]["gpu.cycles"])

    def test_the_json_has_the_documented_shape(self):
        r = self.run_json(self.saxpy(), *SAXPY_LAUNCH, "--gpu", "a100")
        self.assertEqual(r["schema"], 1)
        self.assertEqual(r["manifest"]["device"], "a100")
        self.assertEqual(r["manifest"]["mode"], "timing")
        self.assertFalse(r["manifest"]["interrupted"])
        self.assertNotIn("failure", r["manifest"])
        self.assertTrue(
            any(
                i["path"].endswith("saxpy.ptx") and re.fullmatch("[0-9a-f]{16}", i["xxh64"])
                for i in r["manifest"]["inputs"]
            )
        )
        keys = {c["key"] for c in r["manifest"]["configuration"]}
        self.assertTrue({"gpu", "seed", "sm.count", "dram.bandwidth"} <= keys)
        (kernel,) = r["kernels"]
        self.assertEqual(kernel["name"], "saxpy")
        self.assertEqual(kernel["launch"]["grid"], [64, 1, 1])
        self.assertEqual(kernel["launch"]["block"], [256, 1, 1])
        self.assertGreater(kernel["launch"]["registers"], 0)
        self.assertTrue(kernel["bottleneck"])
        for name in FIXED_METRICS:
            self.assertIn(name, kernel["metrics"])
            self.assertIn(name, r["total"])
        for name in ("host.wall_time", "host.rate.warp_instructions", "host.peak_memory"):
            self.assertIn(name, r["total"])
        for metric in kernel["metrics"].values():
            self.assertEqual(set(metric), {"value", "unit"})

    def test_numbers_are_those_of_the_kernel(self):
        def metrics(*words):
            (kernel,) = self.run_json(self.saxpy(), *SAXPY_LAUNCH, *words)["kernels"]
            return {k: v["value"] for k, v in kernel["metrics"].items()}

        # 64 blocks of 8 warps, 18 instructions each of machine code (Hopper loads its constants), 20 of PTX, one of which is the predicated branch.
        self.assertEqual(metrics()["gpu.instructions.warp"], 64 * 8 * 18)
        m = metrics("--lowering", "counts")
        self.assertEqual(m["gpu.instructions.warp"], 64 * 8 * 20)
        self.assertEqual(m["gpu.instructions.thread"], 64 * 256 * 19)
        self.assertAlmostEqual(m["gpu.ipc"], m["gpu.instructions.thread"] / m["gpu.cycles"], places=6)
        # Two arrays of 16384 floats in 32-byte sectors.
        self.assertEqual(m["l1.read.accesses"], 2 * 16384 * 4 / 32)
        self.assertEqual(m["dram.read.bytes"], 2 * 16384 * 4)
        self.assertAlmostEqual(m["l1.read.miss_rate"], m["l1.read.misses"] / m["l1.read.accesses"], places=9)

    def test_every_scheduler_slot_has_exactly_one_reason(self):
        m = self.run_json(self.saxpy(), *SAXPY_LAUNCH)["kernels"][0]["metrics"]
        shares = [v["value"] for k, v in m.items() if k.startswith("stall.")]
        self.assertGreater(len(shares), 5)
        self.assertAlmostEqual(sum(shares), 1.0, places=9)

    def test_the_same_run_gives_the_same_bytes(self):
        args = ["run", self.saxpy(), *SAXPY_LAUNCH, "--seed", "7", "--json"]
        first, second = self.ok(*args).stdout, self.ok(*args).stdout
        self.assertEqual(varying_removed(first), varying_removed(second))
        text = [re.sub(r"Simulation: .*", "", self.ok("run", self.saxpy(), *SAXPY_LAUNCH).stdout) for _ in range(2)]
        self.assertEqual(text[0], text[1])

    def test_the_report_says_what_matters_on_stdout(self):
        result = self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--gpu", "v100")
        self.assertEqual(result.stderr, "")
        for part in (
            "saxpy",
            "grid 64x1x1, block 256x1x1",
            "on v100, simulated at cycle level",
            "Speed of light",
            "Bottleneck:",
            "Why schedulers",
            "Memory:",
            "Occupancy:",
            "Not modelled:",
            "Next:",
        ):
            self.assertIn(part, result.stdout)
        self.assertLessEqual(len(result.stdout.splitlines()), 40)
        self.assertTrue(result.stdout.isascii())
        self.assertNotIn("\x1b", result.stdout)

    def test_colour_and_character_set_follow_the_rules(self):
        args = ["run", self.saxpy(), *SAXPY_LAUNCH, "--what-if", "zero-launch-cost"]  # bars that are not empty
        self.assertIn("\x1b[", self.ok(*args, "--color", "always").stdout)
        self.assertIn("\x1b[", self.ok(*args, env={"CLICOLOR_FORCE": "1"}).stdout)
        self.assertNotIn("\x1b[", self.ok(*args, "--color", "never", env={"CLICOLOR_FORCE": "1"}).stdout)
        self.assertIn("█", self.ok(*args, env={"LC_ALL": "C.UTF-8"}).stdout)

    def test_all_prints_every_metric(self):
        out = self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--all").stdout
        for name in FIXED_METRICS + ["selected"]:
            self.assertIn(name, out)

    def test_outputs_go_where_they_are_sent(self):
        result = self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--json=r.json", "--csv=r.csv", "-o", "r.txt")
        self.assertEqual(result.stdout, "")
        self.assertIn("Speed of light", (self.folder / "r.txt").read_text())
        rows = list(csv.DictReader(io.StringIO((self.folder / "r.csv").read_text())))
        kernel = json.loads((self.folder / "r.json").read_text())["kernels"][0]["metrics"]
        cycles = [r for r in rows if r["launch"] == "0" and r["metric"] == "gpu.cycles"]
        self.assertEqual(int(cycles[0]["value"]), kernel["gpu.cycles"]["value"])
        self.assertEqual(len([r for r in rows if r["launch"] == "0"]), len(kernel))
        again = self.ok("report", "r.json").stdout
        self.assertEqual(again, (self.folder / "r.txt").read_text())
        self.assertEqual(self.ok("report", "r.json", "--json").stdout, (self.folder / "r.json").read_text())
        self.assertEqual(self.ok("report", "-", stdin=(self.folder / "r.json").read_text()).stdout, again)

    def test_functional_mode_counts_the_same_and_claims_no_time(self):
        timing = self.run_json(self.saxpy(), *SAXPY_LAUNCH)["kernels"][0]["metrics"]
        functional = self.run_json(self.saxpy(), *SAXPY_LAUNCH, "--mode", "functional")["kernels"][0]["metrics"]
        for name in ("gpu.instructions.warp", "gpu.instructions.thread"):
            self.assertEqual(timing[name], functional[name])
        self.assertNotIn("gpu.time", functional)
        self.assertNotIn("gpu.cycles", functional)

    def test_a_changed_device_changes_the_time_but_not_the_work(self):
        slow = self.run_json(self.saxpy(), *SAXPY_LAUNCH, "--set", "sm.count=1")["kernels"][0]["metrics"]
        fast = self.run_json(self.saxpy(), *SAXPY_LAUNCH)["kernels"][0]["metrics"]
        self.assertGreater(slow["gpu.time"]["value"], 2 * fast["gpu.time"]["value"])
        self.assertEqual(slow["gpu.instructions.thread"], fast["gpu.instructions.thread"])

    def test_a_register_count_that_was_asked_for_is_used(self):
        kernel = self.run_json(self.saxpy(), *SAXPY_LAUNCH, "--regs", "128")["kernels"][0]
        self.assertEqual(kernel["launch"]["registers"], 128)
        self.assertLess(kernel["metrics"]["occupancy.theoretical"]["value"], 1)
        self.assertEqual(kernel["limiter"], "registers")

    def test_a_byte_order_mark_in_front_is_no_part_of_the_text(self):
        self.file("marked.ptx", "\ufeff" + Path(self.saxpy()).read_text())
        self.assertEqual(self.run_json("marked.ptx", *SAXPY_LAUNCH)["kernels"][0]["name"], "saxpy")

    def test_a_launch_file_runs_and_checks_its_outputs(self):
        self.saxpy()
        launch = """kernel = "saxpy"\ngrid = 1\nblock = 32\n
[[arg]]\ntype = "f32"\nvalue = 2.0\n[[arg]]\nname = "x"\ntype = "f32"\nshape = [32]\ninit = "iota"\n
[[arg]]\nname = "y"\ntype = "f32"\nshape = [32]\ninit = "zero"\n[[arg]]\ntype = "u32"\nvalue = 32\n
[[expect]]\narg = "y"\nvalues = [%s]\n"""
        self.file("good.toml", launch % ", ".join(f"{2.0 * i}" for i in range(32)))
        self.ok("run", "saxpy.ptx", "--launch", "good.toml")
        self.file("bad.toml", launch % ", ".join(f"{3.0 * i}" for i in range(32)))
        result = self.simtlab("run", "saxpy.ptx", "--launch", "bad.toml", "--json=r.json")
        self.assertEqual(result.returncode, 5)
        self.assertIn("[wrong-result]", result.stderr)
        failure = json.loads((self.folder / "r.json").read_text())["manifest"]["failure"]
        self.assertEqual((failure["id"], failure["exit_code"]), ("wrong-result", 5))

    def spin(self, *args):
        return ["run", self.file("spin.ptx", SPIN), *SPIN_LAUNCH, *args]

    def test_a_kernel_that_waits_for_what_nobody_writes_is_stopped_everywhere(self):
        ptx = self.file("locked.ptx", LOCKED)
        for command in (
            ["run"],
            ["run", "--mode", "functional"],
            ["run", "--max-cycles", "20000"],
            ["run", "--record", "r.trace"],
            ["run", "--mode", "functional", "--record", "f.trace"],
            ["cache"],
            ["cache", "--order", "sequential"],
            ["predict"],
            ["predict", "--whole"],
        ):
            result = self.simtlab(*command, ptx, *SPIN_LAUNCH, timeout=60)
            self.assertEqual(result.returncode, 5, (command, result.stderr))
            for part in (
                "[deadlock]",
                "locked.ptx:12",
                "Deadlock in kernel spin",
                "warp 0 of block (0,0,0)",
                "which stay 0x0 (thread (0,0,0))",
            ):
                self.assertIn(part, result.stderr, command)

    def test_a_deadlock_keeps_what_was_done(self):
        result = self.simtlab("run", self.file("locked.ptx", LOCKED), *SPIN_LAUNCH, "--json=r.json", timeout=60)
        self.assertIn("INCOMPLETE", result.stdout)
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["manifest"]["failure"]["id"], "deadlock")

    def test_the_cycle_limit_stops_an_endless_kernel_with_a_partial_result(self):
        counting = self.file("count.ptx", SPIN.replace("setp.eq", "st.global.u32 [%rd2], %r1;\n  setp.eq"))
        result = self.simtlab("run", counting, *SPIN_LAUNCH, "--max-cycles", "20000", "--json=r.json", timeout=120)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("[limit-cycles]", result.stderr)
        self.assertIn("INCOMPLETE", result.stdout)
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["manifest"]["failure"]["id"], "limit-cycles")

    def test_the_time_limit_stops_an_endless_kernel_in_either_mode(self):
        for mode in ("timing", "functional"):
            begin = time.monotonic()
            result = self.simtlab(*self.spin("--max-time", "1", "--mode", mode, "--json=r.json"), timeout=120)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("[limit-time]", result.stderr)
            self.assertLess(time.monotonic() - begin, 60)
            self.assertEqual(
                json.loads((self.folder / "r.json").read_text())["manifest"]["failure"]["id"], "limit-time"
            )

    def test_an_interruption_writes_a_marked_partial_result_and_ends_with_130(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = subprocess.Popen(
                [SIMTLAB, *map(str, self.spin("--json=r.json"))],
                cwd=self.folder,
                env=self.environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            time.sleep(1.5)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, err)
            self.assertIn("INCOMPLETE: the run was interrupted", out)
            self.assertTrue(json.loads((self.folder / "r.json").read_text())["manifest"]["interrupted"])
            os.remove(self.folder / "r.json")


if __name__ == "__main__":
    main()
