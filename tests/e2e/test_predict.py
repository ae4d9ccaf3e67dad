"""simtlab predict: counts in, predictions out; bad counts."""
import json
import unittest

from harness import SAXPY, SAXPY_LAUNCH, SOURCE, SPIN, SPIN_LAUNCH, Case, main, needs_clang

EXAMPLE = """# Worked example of Hong and Kim
blocks = 80
threads_per_block = 128
active_blocks_per_sm = 5
active_sms = 16
comp_insts = 27
uncoal_mem_insts = 6
coal_mem_insts = 0
synch_insts = 6
uncoal_per_mw = 32
load_bytes_per_warp = 128
freq = 1.0
mem_bandwidth = 80
mem_ld = 420
departure_del_uncoal = 10
departure_del_coal = 4
issue_cycles = 4
"""
EXTENSION = """insts = 400
mem_insts = 40
sync_insts = 0
sfu_insts = 0
fp_insts = 200
total_warps = 4480
active_sms = 14
n = 32
avg_inst_lat = 18
fp_lat = 18
ilp = 1.5
mlp = 2
simd_width = 32
sfu_width = 4
dram_lat = 440
hit_lat = 18
miss_ratio = 0.6
avg_trans_warp = 1
delta = 20
mem_peak_bandwidth = 144
freq = 1.15
transaction_size = 128
gamma = 0
o_cfdiv = 0
o_bank = 0
useful_bytes = 13762560
"""

MIX = """blocks = 10000
threads_per_block = 256
active_blocks_per_sm = 8
ilp = 1.5
mlp = 2
l1_bytes = 30720000
l2_bytes = 30720000
dram_bytes = 30720000
flops = 5120000
lines_per_access = 1
l1_miss_ratio = 1
l2_miss_ratio = 1
[class.load]
insts = 2
[class.store]
insts = 1
[class.fp32]
insts = 1
[class.int_alu]
insts = 6
"""


class Predict(Case):
    def predicted(self, text, *args):
        path = self.file("kernel.toml", text)
        result = json.loads(self.ok("predict", "--counts", path, *args, "--json").stdout)
        return {k: v["value"] for k, v in result["total"].items()}, result

    def table(self, result, name):
        t = result["kernels"][0]["tables"][name]
        return [dict(zip(t["columns"], row)) for row in t["rows"]]

    def test_the_worked_example_in_json(self):
        m, result = self.predicted(EXAMPLE)
        self.assertAlmostEqual(m["predict.mwp-cwp.cycles"], 50728.1875, 6)
        self.assertAlmostEqual(m["predict.mwp-cwp.time"], 50728.1875, 6)
        self.assertEqual(result["manifest"]["mode"], "predict")
        self.assertEqual(result["kernels"][0]["name"], "kernel")
        self.assertEqual(result["kernels"][0]["launch"]["grid"], [80, 1, 1])
        self.assertIn("D-PREDICT-1", result["kernels"][0]["not_modelled"])
        (p,) = self.table(result, "predictions")
        self.assertEqual(p["case"][:2], "2:")
        terms = {t["name"]: t["value"] for t in self.table(result, "terms")}
        self.assertEqual((terms["MWP"], terms["CWP"], terms["N"]), (2.28125, 20, 20))
        # The other model lacks its counts: it says so instead of being silently absent.
        self.assertTrue(
            any(r["model"] == "mwp-cwp-2012" and "avg_inst_lat" in r["text"] for r in self.table(result, "remarks"))
        )
        self.assertNotIn("predict.mwp-cwp-2012.cycles", m)

    def test_the_report_is_the_same_from_the_result_file(self):
        path = self.file("kernel.toml", EXAMPLE)
        direct = self.ok("predict", "--counts", path, f"--json={self.folder / 'r.json'}").stdout
        self.assertIn("50,728", direct)
        self.assertIn("departure", direct)
        self.assertEqual(self.ok("report", self.folder / "r.json").stdout, direct)
        piped = self.ok("predict", "--counts", "-", stdin=EXAMPLE).stdout
        self.assertEqual(piped.replace("counts:", "kernel:", 1), direct)

    def test_explain_shows_values_and_origins(self):
        text = EXAMPLE.replace("freq = 1.0\n", "").replace("mem_ld = 420\n", "")
        path = self.file("kernel.toml", text)
        plain = self.ok("predict", "--counts", path, "--gpu", "v100").stdout
        out = self.ok("predict", "--counts", path, "--gpu", "v100", "--explain").stdout
        for says in ("Exec_case_3", "verified", "gpu v100 (sm.clock)", "gpu v100 (dram.latency)", "kernel.toml:2"):
            self.assertIn(says, out)
            self.assertNotIn(says, plain)

    def test_rules_differ_where_the_paper_is_impossible(self):
        text = EXAMPLE.replace("comp_insts = 27", "comp_insts = 2000").replace(
            "uncoal_mem_insts = 6", "uncoal_mem_insts = 0"
        )
        text = text.replace("\ncoal_mem_insts = 0", "\ncoal_mem_insts = 6").replace(
            "synch_insts = 6", "synch_insts = 0"
        )
        order, _ = self.predicted(text)
        paper, result = self.predicted(text, "--rule", "paper")
        self.assertAlmostEqual(order["predict.mwp-cwp.cycles"], 160900)
        self.assertAlmostEqual(paper["predict.mwp-cwp.cycles"], 23675.291667, 5)
        self.assertEqual(paper["predict.mwp-cwp.floor.cycles"], 160480)
        self.assertTrue(any("impossible" in r["text"] for r in self.table(result, "remarks")))

    def test_the_extension_has_benefits_and_says_what_is_recalled(self):
        m, result = self.predicted(EXTENSION, "--model", "mwp-cwp-2012")
        self.assertAlmostEqual(m["predict.mwp-cwp-2012.cycles"], 132000, 6)
        self.assertAlmostEqual(m["predict.mwp-cwp-2012.benefit.fp"], 64000, 6)
        self.assertEqual(m["predict.mwp-cwp-2012.benefit.serial"], 0)
        evidence = {t["name"]: t["evidence"] for t in self.table(result, "terms")}
        self.assertEqual((evidence["T_exec"], evidence["AMAT"]), ("recalled", "secondary"))

    def test_a_mix_and_a_device_answer_with_every_model(self):
        m, result = self.predicted(MIX, "--gpu", "v100")
        for model in ("throughput", "mwp-cwp", "mwp-cwp-2012", "roofline"):
            self.assertGreater(m[f"predict.{model}.cycles"], 0)
            self.assertGreaterEqual(m[f"predict.{model}.cycles"] * (1 + 1e-9), m["predict.roofline.cycles"])
        origins = {c["key"]: c["origin"] for c in result["manifest"]["configuration"]}
        self.assertIn("kernel.toml", origins["class.load.insts"])
        self.assertEqual(origins["class.fp32.throughput"], "gpu v100 (throughput.fp32)")
        self.assertTrue(origins["departure_del_coal"].startswith("derived: "))
        self.assertTrue(
            any(r["parameter"] == "mem_peak_bandwidth" and r["change"] < 0 for r in self.table(result, "sensitivity"))
        )

    def test_the_time_with_copies_launch_and_context_stands_beside_the_kernels(self):
        mix = MIX.replace("active_blocks_per_sm = 8", "active_blocks_per_sm = 6")
        text = "h2d_bytes = 1e8\nd2h_bytes = 0\ncontext_init = 65\n" + mix
        m, _ = self.predicted(text, "--gpu", "gtx460", "--model", "resios")
        self.assertAlmostEqual(m["predict.resios.time.total"] - m["predict.resios.time"], 65e6 + 4e3 + 2e7, -1)
        out = self.ok(
            "predict", "--counts", self.file("kernel.toml", text), "--gpu", "gtx460", "--model", "resios"
        ).stdout
        self.assertRegex(out, r"with overhead: .*context 65\.0 ms, launch 4\.00 us, copy to the GPU 20\.0 ms")
        plain = self.ok(
            "predict", "--counts", self.file("kernel.toml", mix), "--gpu", "gtx460", "--model", "throughput"
        ).stdout
        self.assertNotIn("with overhead", plain)

    CHAIN = """blocks = 7
threads_per_block = 352
active_blocks_per_sm = 1
ilp = 1
[class.fp32]
insts = 1000
latency = 22
throughput = 16
"""

    def test_the_thesis_through_counts(self):
        chain, result = self.predicted(self.CHAIN, "--gpu", "gtx460", "--model", "resios")
        self.assertAlmostEqual(chain["predict.resios.cycles"], 22000, 6)  # 11 warps share 22 cycles
        self.assertEqual(self.table(result, "hotspots"), [])
        # Nothing says that these are fused multiply-adds.
        same, result = self.predicted(self.CHAIN, "--gpu", "gtx460", "--model", "resios", "--resios", "fma=two")
        self.assertEqual(same["predict.resios.cycles"], chain["predict.resios.cycles"])
        self.assertTrue(any("fma_insts is not known" in r["text"] for r in self.table(result, "remarks")))
        two, _ = self.predicted(
            "fma_insts = 1000\n" + self.CHAIN, "--gpu", "gtx460", "--model", "resios", "--resios", "fma=two"
        )
        self.assertAlmostEqual(two["predict.resios.cycles"], 44000, 6)

    def test_parameters_of_the_thesis_are_options(self):
        def formula(*resios):
            mix = MIX.replace("active_blocks_per_sm = 8", "active_blocks_per_sm = 6")
            m, _ = self.predicted(mix, "--gpu", "gtx460", "--model", "resios", *resios)
            return m["predict.resios.formula.cycles"]

        plain = formula()
        for one in ("memory-units=4", "resident-warps=8", "resident-blocks=1", "warps=8", "max-p=100", "max-i=2"):
            self.assertNotEqual(formula("--resios", one), plain, one)
        path = self.file("kernel.toml", MIX)
        for bad, says in (
            ("thesis", "has no parameter thesis"),
            ("memory-unit=2", "did you mean 'memory-units'?"),
            ("memory-units", "has no value"),
            ("memory-units=0", "1 to 1024"),
            ("queue=random", "fifo (default)"),
        ):
            r = self.fails(2, "predict", "--counts", path, "--gpu", "gtx460", "--resios", bad, says=says)
            self.assertIn("[predict-option]", r.stderr)
        self.fails(
            2, "predict", "--counts", path, "--model", "roofline", "--resios", "warps=8", says="--resios has parameters"
        )

    def test_counts_are_swept(self):
        path = self.file("chain.toml", self.CHAIN)
        args = ("predict", "--counts", path, "--model", "resios", "--json")
        r = json.loads(self.ok(*args, "--gpu", "gtx460", "--sweep", "class.fp32.latency=11,22,44").stdout)
        times = [p["total"]["predict.resios.time"]["value"] for p in r["sweep"]]
        self.assertAlmostEqual(times[1], 22000 / 1.35, 2)
        self.assertAlmostEqual(times[2], 2 * times[1], 2)
        r = json.loads(self.ok(*args, "--gpu", "gtx460,v100", "--sweep", "threads_per_block=32,64").stdout)
        self.assertEqual([p["point"]["gpu"] for p in r["sweep"]], ["gtx460", "gtx460", "v100", "v100"])
        example = self.file("kernel.toml", EXAMPLE)
        r = json.loads(self.ok("predict", "--counts", example, "--sweep", "mem_ld=420,840", "--json").stdout)
        cycles = [p["total"]["predict.mwp-cwp.time"]["value"] for p in r["sweep"]]
        self.assertAlmostEqual(cycles[0], 50728.1875, 6)
        self.assertGreater(cycles[1], cycles[0])
        self.fails(3, *args, "--gpu", "gtx460", "--sweep", "nonsense=1", says="unknown symbol 'nonsense'")
        self.fails(3, *args, "--gpu", "gtx460", "--sweep", "freq=-1", says="is not from")
        self.fails(2, *args, "--sweep", "l1.bytes=16K", says="add --gpu NAME")
        self.fails(2, *args, "--gpu", "gtx460", "--sweep", "resios.queue=random", says="no value of queue")

    def test_the_thesis_names_the_instructions_of_a_kernel(self):
        result = self.kernel("--gpu", "gtx460", "--model", "resios", "--lowering", "counts")
        places = [(h["place"], h["class"]) for h in self.table(result, "hotspots")]
        self.assertEqual(sorted(c for _, c in places), ["load", "load", "store"])
        self.assertTrue(all(p.startswith("PTX line ") for p, _ in places), places)
        idle = sum(h["idle_share"] for h in self.table(result, "hotspots"))
        self.assertGreater(idle, 0.5)
        self.assertLessEqual(idle, 1)
        self.assertIn("compute units idle during: PTX line", self.ok("report", self.folder / "p.json").stdout)
        self.ok(
            "predict",
            "saxpy.ptx",
            *SAXPY_LAUNCH,
            "--gpu",
            "gtx460",
            "--sweep",
            "resios.memory-units=1,2",
            "--json=s.json",
        )
        sweep = json.loads((self.folder / "s.json").read_text())["sweep"]
        one, two = (p["total"]["predict.resios.time"]["value"] for p in sweep)
        self.assertLess(two, one)

    def kernel(self, *args):
        """Result of a prediction of saxpy over 16384 elements."""
        path = self.file("saxpy.ptx", SAXPY)
        self.ok("predict", path, *SAXPY_LAUNCH, "--json=p.json", *args)
        return json.loads((self.folder / "p.json").read_text())

    def test_a_kernel_is_executed_for_its_counts(self):
        r = self.kernel("--gpu", "v100")
        counts = {c["key"]: c for c in self.table(r, "counts")}
        self.assertEqual(counts["blocks"]["value"], 64)
        self.assertEqual(counts["class.load.insts"]["value"], 2)
        self.assertEqual(counts["class.store.insts"]["value"], 1)
        self.assertEqual(counts["flops"]["value"], 2 * 16384)
        self.assertEqual(counts["l1_bytes"]["value"], 3 * 4 * 16384)
        self.assertEqual(counts["coal_mem_insts"]["value"], 3)
        self.assertTrue(counts["insts"]["origin"].startswith("executed"))
        self.assertEqual(counts["freq"]["origin"], "gpu v100 (sm.clock)")
        for model in ("throughput", "resios", "mwp-cwp", "mwp-cwp-2012", "roofline"):
            self.assertGreater(r["total"][f"predict.{model}.time"]["value"], 0)
        # As far from the simulation as a model may be.
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--json=t.json")
        cycles = json.loads((self.folder / "t.json").read_text())["total"]["gpu.cycles"]["value"]
        self.assertLess(abs(r["total"]["predict.throughput.cycles"]["value"] / cycles - 1), 0.4)

    def test_counts_of_a_file_take_precedence(self):
        over = self.file("over.toml", "dram_bytes = 1e9\n")
        slow, fast = self.kernel("--gpu", "v100", "--counts", over), self.kernel("--gpu", "v100")
        counts = {c["key"]: c for c in self.table(slow, "counts")}
        self.assertIn("over.toml:1", counts["dram_bytes"]["origin"])
        self.assertGreater(
            slow["total"]["predict.throughput.time"]["value"], 100 * fast["total"]["predict.throughput.time"]["value"]
        )
        self.fails(
            3,
            "predict",
            "saxpy.ptx",
            *SAXPY_LAUNCH,
            "--counts",
            self.file("bad.toml", "blocks = x\n"),
            says="bad.toml:1",
        )

    def test_several_devices_and_launches_make_a_table(self):
        path = self.file("saxpy.ptx", SAXPY)
        launch = ["--global", "16384"] + SAXPY_LAUNCH[4:]
        out = self.ok(
            "predict",
            path,
            *launch,
            "--gpu",
            "h100,gtx480",
            "--sweep",
            "block=64:256",
            "l1.bytes=16K,48K",
            "--json=s.json",
            "--csv=s.csv",
        ).stdout
        sweep = json.loads((self.folder / "s.json").read_text())["sweep"]
        self.assertEqual(len(sweep), 2 * 3 * 2)
        self.assertEqual(sweep[1]["point"], {"gpu": "h100", "block": "64", "l1.bytes": "48K"})
        self.assertEqual(len((self.folder / "s.csv").read_text().splitlines()), 13)
        # A launch that a device does not take is a row that says so.
        self.ok("predict", path, *launch, "--gpu", "h100", "--sweep", "block=1024,2048", "-o", "t.txt")
        rows = (self.folder / "t.txt").read_text().splitlines()
        self.assertIn("exceeds 1024 threads", rows[2])
        self.fails(2, "predict", path, *launch, "--sweep", "block", says="[predict-sweep]")
        self.fails(
            2, "predict", path, *SAXPY_LAUNCH, "--sweep", "block=64,128", says="--global XxYxZ in place of --grid"
        )
        self.assertIn("mwp-cwp-2012", out)

    def test_without_arguments_a_kernel_is_followed(self):
        path = self.file("saxpy.ptx", SAXPY)
        out = self.ok(
            "predict", path, "--static", "--global", "65536", "--block", "256", "--gpu", "v100", "--json=p.json"
        ).stdout
        r = json.loads((self.folder / "p.json").read_text())
        counts = {c["key"]: c for c in self.table(r, "counts")}
        self.assertEqual((counts["class.load.insts"]["value"], counts["blocks"]["value"]), (2, 256))
        self.assertTrue(any("1 branches not taken" in t["text"] for t in self.table(r, "remarks")))
        self.assertIn(
            "The kernel was not executed",
            out or self.ok("predict", path, "--static", "--global", "65536", "--block", "256").stdout,
        )
        self.fails(
            2, "predict", path, "--static", *SAXPY_LAUNCH, says="--arg has no effect on a prediction with --static"
        )
        self.fails(2, "predict", "--static", "--", "/bin/true", says="--static")
        self.fails(3, "predict", path, "--static", "--block", "256", says="the size of the grid is missing")
        self.fails(3, "predict", path, "--static", "--grid", "4", "--block", "2048", says="exceeds 1024 threads")

    def test_the_memory_of_the_study_is_bounded(self):
        path = self.file("saxpy.ptx", SAXPY)
        big = [
            "--grid",
            "4096",
            "--block",
            "256",
            "--arg",
            "f32:2",
            "--arg",
            "buffer:1048576:f32",
            "--arg",
            "buffer:1048576:f32",
            "--arg",
            "u32:1048576",
        ]
        self.ok("predict", path, *big, "--gpu", "v100")
        self.fails(1, "predict", path, *big, "--gpu", "v100", "--whole", "--max-memory", "10MiB", says="[limit-memory]")

    def test_a_kernel_that_never_ends_is_stopped(self):
        self.fails(1, "predict", self.file("spin.ptx", SPIN), *SPIN_LAUNCH, "--max-time", "1", says="[limit-time]")

    @needs_clang
    def test_programs_are_predicted_launch_by_launch(self):
        source = str(SOURCE / "examples" / "scan.cu")
        self.ok("predict", source, "--gpu", "gtx480", "--json=p.json")
        r = json.loads((self.folder / "p.json").read_text())
        self.assertEqual(len(r["kernels"]), 3)
        total = sum(k["metrics"]["predict.throughput.time"]["value"] for k in r["kernels"])
        self.assertAlmostEqual(r["total"]["predict.throughput.time"]["value"], total, 3)

    @needs_clang
    def test_a_program_prints_once_however_many_points_a_study_has(self):
        source = str(SOURCE / "examples" / "saxpy.cu")
        alone = self.ok("run", source, "--mode", "functional", "-o", "r.txt", "--", "4096").stdout
        self.assertEqual(len(alone.splitlines()), 1)
        for words in (
            ["predict", source, "--gpu", "h100,a100,gtx480"],
            ["predict", source, "--gpu", "v100", "--sweep", "l2.ways=8:16"],
            ["cache", source, "--gpu", "gtx480", "--sweep", "ways=2,4"],
            ["cache", source, "--gpu", "gtx480", "--compare", "l1.ways=4", "l1.ways=2"],
        ):
            out = self.ok(*words, "-o", "table.txt", "--", "4096").stdout
            self.assertEqual(out.count(alone), 1, f"{words}: {out}")

    def test_bad_counts_say_where_and_what(self):
        def bad(text, says, *args):
            self.fails(3, "predict", "--counts", self.file("bad.toml", text), *args, says=says)

        bad(
            EXAMPLE.replace("mem_ld = 420", "mem_ld = -420"),
            ["bad.toml:14:10: error: mem_ld: -420", "[counts-file]", "hint:"],
        )
        bad(EXAMPLE.replace("mem_ld", "mem_lt"), ["unknown symbol 'mem_lt'", "did you mean 'mem_ld'?"])
        bad(
            EXAMPLE.replace("mem_ld = 420\n", ""),
            ["mem_ld is missing", "[counts-missing]", "or give --gpu NAME"],
            "--model",
            "mwp-cwp",
        )
        bad(EXAMPLE.replace("freq = 1.0", "freq = nan"), "no finite number")
        bad(EXAMPLE.replace("active_sms = 16", "active_sms = 81"), ["[counts-contradiction]", "only 80 blocks"])
        bad("", ["[counts-missing]", "model mwp-cwp:", "model mwp-cwp-2012:"])
        bad("freq = 1\n[", "[toml-syntax]")
        self.fails(3, "predict", "--counts", "none.toml", says="[file-missing]")

    def test_wrong_command_lines_are_usage_errors(self):
        path = self.file("kernel.toml", EXAMPLE)
        self.fails(2, "predict", says="[predict-what]")
        self.fails(2, "predict", "--counts", path, "--model", "rooflines")
        self.fails(2, "predict", "--counts", path, "--rule", "other")
        self.fails(2, "predict", "--counts", path, "--set", "sm.count=4", says="--gpu")
        self.fails(
            2, "predict", "--counts", path, "--model", "mwp-cwp-2012", "--rule", "paper", says="[option-conflict]"
        )
        self.fails(2, "predict", "--counts", path, f"--json={path}", says="would overwrite")
        self.fails(3, "predict", "--counts", path, "--gpu", "v1000", says="v100")
        # Nothing is ignored silently.
        self.fails(
            2, "predict", "--counts", path, "--static", says="--static has no effect on a prediction from counts"
        )
        self.fails(
            2, "predict", "--counts", path, "--grid", "4", says="--grid has no effect on a prediction from counts"
        )
        self.fails(2, "predict", "--counts", path, "--trips", "4", says="what reads it: a prediction with --static")
        self.fails(
            2,
            "predict",
            self.file("saxpy.ptx", SAXPY),
            "--static",
            "--whole",
            "--grid",
            "4",
            "--block",
            "32",
            says="has no effect on",
        )
        self.fails(2, "validate", "predict", "--results", ".", "--quick", says="[option-conflict]")


if __name__ == "__main__":
    main()
