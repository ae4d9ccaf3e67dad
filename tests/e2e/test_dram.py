"""simtlab dram: traces, made traffic, outputs, bad input."""
import gzip
import itertools
import json
import pathlib
import re
import subprocess
import unittest

from harness import SIMTLAB, SOURCE, Case, main

TRACES = SOURCE / "examples/traces"
PLUGIN = pathlib.Path(SIMTLAB).parents[1] / "plugins/behaviours.so"
DDR4 = ("--dram", "ddr4-3200")


class Dram(Case):
    def measured(self, *args, **kw):
        result = json.loads(self.ok("dram", *args, "--json", **kw).stdout)
        return {k: v["value"] for k, v in result["total"].items()}, result

    def losses(self, m):
        return m["dram.bus.data"] + sum(v for k, v in m.items() if k.startswith("dram.loss."))


class Traces(Dram):
    def test_every_example_is_read_in_its_format(self):
        expected = {
            "k6_small.trc": "k6",
            "k6_small.trc.zst": "k6, zstd",
            "mase_small.trc": "mase",
            "misc_small.trc": "misc",
            "dramsim3.trace": "dramsim3",
            "dramsim3.trace.gz": "dramsim3, gzip",
            "ramulator1_dram.trace": "ramulator1-dram",
            "ramulator1_cpu.trace": "ramulator1-cpu",
            "simpleo3.trace": "simpleo3",
            "loadstore.trace": "loadstore",
            "readwrite_ddr4.trace": "readwrite",
        }
        self.assertEqual({p.name for p in TRACES.iterdir()}, set(expected))
        for name, form in expected.items():
            m, result = self.measured(TRACES / name, *DDR4, "--check")
            shown = {c["key"]: c["value"] for c in result["manifest"]["configuration"]}
            self.assertEqual(shown["traffic.format"], form)
            self.assertEqual(m["dram.requests"], m["dram.read.requests"] + m["dram.write.requests"])
            self.assertGreaterEqual(m["dram.requests"], 100)
            self.assertAlmostEqual(self.losses(m), 1)

    def test_one_trace_in_four_formats_is_one_run(self):
        runs = [
            self.measured(TRACES / n, *DDR4)[0]
            for n in ("k6_small.trc", "mase_small.trc", "dramsim3.trace", "dramsim3.trace.gz", "k6_small.trc.zst")
        ]
        for run in runs:
            for key in list(run):
                if key.startswith("host."):
                    del run[key]
            self.assertEqual(run, runs[0])

    def test_standard_input_may_be_a_compressed_trace(self):
        data = (TRACES / "dramsim3.trace.gz").read_bytes()
        r = subprocess.run(
            [SIMTLAB, "dram", "-", *DDR4, "--json"],
            input=data,
            stdout=subprocess.PIPE,
            cwd=self.folder,
            env=self.environment(),
            check=True,
        )
        self.assertEqual(json.loads(r.stdout)["total"]["dram.requests"]["value"], 400)

    def test_a_long_trace_needs_no_more_memory_than_a_short_one(self):
        path = self.folder / "long.gz"
        with gzip.open(path, "wt", compresslevel=1) as out:
            for i in range(20):
                out.write("".join(f"0x{(i * 20000 + k) * 64 % (1 << 30):x} R\n" for k in range(20000)))
        long, _ = self.measured(path, *DDR4)
        short, _ = self.measured(TRACES / "ramulator1_dram.trace", *DDR4)
        self.assertEqual(long["dram.requests"], 400000)
        self.assertLess(long["host.peak_memory"], short["host.peak_memory"] + (8 << 20))

    def test_bad_traces_say_where_and_what(self):
        def bad(text, says, *args, code=3):
            path = self.file("bad.trace", text)
            self.fails(code, "dram", path, *DDR4, *args, says=says)

        good = "0x40 READ 1\n"
        bad(good + "0x80 WRITE x\n", ["bad.trace:2:12: error: 'x' is not a decimal number", "[trace-syntax]", "hint:"])
        bad(good + "0x80 READ -1\n", "a negative number")
        bad(good + "0x80 READ 99999999999999999999\n", "does not fit 64 bits")
        bad(good + "0x80 READ 0\n", ["bad.trace:2:1", "[trace-order]"])
        bad(good + "0x80 RE", "the file ends within this line")
        bad(good + "0xffffffffff READ 2\n", ["bad.trace:2:1", "beyond the memory of 0x", "--wrap"])
        bad("", "[trace-empty]")
        bad("hello\n", "[trace-unknown]")
        bad("0x40 R\n" + "x" * 100000, "[trace-line]")
        bad("R 0,1\n", ["[trace-place]", "channel, rank, bank group, bank, row, column"])
        bad(gzip.compress(good.encode() * 1000)[:-20], "[trace-truncated]")
        bad(b"\x1f\x8b" + bytes(100), "[trace-damaged]")
        bad(b"\x28\xb5\x2f\xfd" + bytes(100), "zstd")
        bad(bytes(range(256)), "error")
        bad(good, "no trace format 'dramsim4'", "--format", "dramsim4", code=2)
        self.fails(3, "dram", "absent.trace", *DDR4, says="[file-missing]")
        self.fails(3, "dram", ".", *DDR4, says="[file-directory]")

    def test_addresses_wrap_when_asked(self):
        path = self.file("far.trace", "0xffffffffffffffc0 R\n")
        m, _ = self.measured(path, *DDR4, "--wrap")
        self.assertEqual(m["dram.requests"], 1)


class Generated(Dram):
    def test_each_pattern_runs_and_every_command_keeps_the_rules(self):
        for name in ("stream", "copy", "random", "stride", "conflict", "pointer-chase"):
            for dram in ("ddr4-3200", "hbm2-2000", "lpddr4-3200"):
                m, _ = self.measured(
                    "--generate", name, "--dram", dram, "--requests", 2000, "--check", "--read-share", 0.8
                )
                self.assertEqual(m["dram.requests"], 2000)
                self.assertAlmostEqual(self.losses(m), 1)

    def test_patterns_are_what_their_names_say(self):
        run = lambda name: self.measured("--generate", name, *DDR4, "--requests", 20000)[0]
        stream, random, conflict, chase = (run(n) for n in ("stream", "random", "conflict", "pointer-chase"))
        self.assertGreater(stream["dram.bandwidth.share"], 0.9)
        self.assertGreater(stream["dram.bandwidth"], random["dram.bandwidth"])
        # A row each: tRC of 74 clocks and the share of refreshes.
        self.assertAlmostEqual(conflict["dram.cycles"] / 20000, 74 / (1 - 560 / 12480), delta=1)
        self.assertEqual(conflict["dram.row.hits"], 0)
        self.assertGreaterEqual(chase["dram.read.latency.min"], 22 + 4)
        self.assertEqual(run("copy")["dram.write.requests"], 10000)

    def test_random_reads_keep_the_order_of_the_technologies(self):
        chains = (
            ("pcm", "ddr2", "gddr5-gtx480", "gddr5", "gddr6"),
            ("pcm", "ddr3-1600", "ddr4-2400", "ddr4-3200"),
            ("ddr2", "gddr5-k40", "gddr6"),
            ("ddr2", "gddr5-titanx", "gddr6"),
            ("ddr2", "gddr5x-12000", "gddr6"),
            ("hbm-1000", "hbm2-2000", "hbm2-2400", "hbm3-6400"),
        )
        traffic = ("--generate", "random", "--requests", 5000)
        names = {name for chain in chains for name in chain}
        for controller in ("default", "closed_page", "gpu-frfcfs", "gpu"):
            run = lambda name: self.measured(*traffic, "--controller", controller, "--dram", name)[0]
            reached = {name: run(name)["dram.bandwidth"] for name in names}
            for chain in chains:
                for low, high in itertools.combinations(chain, 2):
                    self.assertLess(reached[low], reached[high] * 1.02, (controller, low, high))

    def test_a_memory_that_is_faster_in_each_number_is_not_slower_on_random_reads(self):
        """Over all pairs of the catalogue: lines a second of the bus, of tRRD and tFAW, of the banks, and of one row."""

        def numbers(name):
            m, run = self.measured(*random_reads, "--dram", name)
            has = {e["key"]: e["value"].split()[0] for e in run["manifest"]["configuration"]}
            value = lambda key: float(has[key])
            halves = value("organisation.pseudo_channels")
            burst = value("organisation.channel_width") / 8 / halves * value("organisation.burst_length")
            clocks = value("timing.burst") * max(64 / burst, 1)  # of a line on the bus
            row = max(value("timing.tRC"), value("timing.tRAS") + value("timing.tRP"))
            banks = halves * value("organisation.bank_groups") * value("organisation.banks_per_group")
            four = max(value("timing.tFAW"), 4 * value("timing.tRRD_S"))
            hertz = m["dram.cycles"] / m["dram.time"]
            bounds = (halves / clocks, 4 * halves / four, banks / row, 1 / (row + clocks))
            return m["dram.bandwidth"], [bound * hertz for bound in bounds]

        random_reads = ("--generate", "random", "--requests", 5000)
        names = [line.split()[0] for line in self.ok("list", "drams").stdout.splitlines()[1:] if line[:1].isalpha()]
        known = {name: numbers(name) for name in names}
        pairs = 0
        for low, high in itertools.permutations(names, 2):
            if all(a <= b for a, b in zip(known[low][1], known[high][1])):
                pairs += 1
                self.assertLess(known[low][0], known[high][0] * 1.02, (low, high))
        self.assertGreater(pairs, 60)

    def test_equal_seeds_are_equal_runs(self):
        runs = []
        for seed in (1, 1, 2):
            self.ok(
                "dram",
                "--generate",
                "random",
                *DDR4,
                "--requests",
                5000,
                "--read-share",
                0.5,
                "--seed",
                seed,
                "--csv=out.csv",
            )
            text = (self.folder / "out.csv").read_text()
            runs.append([row for row in text.splitlines() if "host." not in row])
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0], runs[2])

    def test_an_idle_memory_costs_nothing(self):
        m, _ = self.measured("--generate", "random", *DDR4, "--requests", 100, "--interval", 100000000)
        self.assertGreater(m["dram.cycles"], 9.8e9)
        self.assertGreater(m["dram.loss.idle"], 0.99)

    def test_the_load_sweep_is_a_curve_that_bends(self):
        result = json.loads(
            self.ok("dram", "--generate", "random", *DDR4, "--requests", 5000, "--sweep-load", "--json").stdout
        )
        points = [{k: v["value"] for k, v in p["metrics"].items()} for p in result["kernels"]]
        self.assertGreater(len(points), 8)
        first, last = points[0], points[-1]
        self.assertAlmostEqual(first["dram.bandwidth"] / first["dram.load.offered"], 1, delta=0.02)
        self.assertLess(last["dram.bandwidth"], last["dram.load.offered"])
        self.assertGreater(last["dram.read.latency.mean"], 3 * first["dram.read.latency.mean"])
        text = self.ok("dram", "--generate", "stream", *DDR4, "--requests", 2000, "--sweep-load").stdout
        self.assertIn("offered", text)
        self.assertEqual(len(re.findall(r"(?m)^ +[\d.]+ .B/s", text)), len(points))

    def test_wrong_options_are_refused(self):
        for args, says in (
            ([], "[dram-what]"),
            (["x.trace"], "no memory is named"),
            (DDR4, "no traffic"),
            (["x.trace", "--generate", "random", *DDR4], "[dram-what]"),
            (["--generate", "randon", *DDR4], "did you mean random?"),
            (["--generate", "random", *DDR4, "--read-share", "2"], "[generate-option]"),
            (["--generate", "random", *DDR4, "--footprint", "1 PiB"], "error"),
            (["--generate", "random", *DDR4, "--line", "48"], "[dram-line]"),
            (["--generate", "pointer-chase", *DDR4, "--sweep-load"], "[sweep-load]"),
            (["-", *DDR4, "--sweep-load"], "[option-conflict]"),
            (["x.trace", *DDR4, "--stride", "64"], "[option-conflict]"),
            (["--generate", "random", *DDR4, "--channels", "0"], "error"),
            (["--generate", "random", *DDR4, "--requests", "0"], "error"),
            (["--generate", "random", *DDR4, "--command-trace", "c", "--command-format", "vcd"], "[command-format]"),
            (["--generate", "random", *DDR4, "--timeline", "t", "--from", "9", "--to", "9"], "window"),
            (["--generate", "random", *DDR4, "--json=a", "--command-trace", "a"], "same file"),
        ):
            result = self.simtlab("dram", *args)
            self.assertIn(result.returncode, (2, 3), args)
            self.assertIn(says, result.stderr, args)
            self.assertEqual(list(self.folder.glob("*")), [], args)
        self.fails(3, "dram", "--generate", "random", "--dram", "ddr9", says="[dram-unknown]")
        self.fails(
            3, "dram", "--generate", "random", *DDR4, "--set", "timing.CLL=3 cycles", says="[config-unknown-key]"
        )
        self.fails(
            3, "dram", "--generate", "random", *DDR4, "--set", "mapping.pattern=ro-ba-bg-ra", says="[dram-mapping]"
        )

    def test_settings_reach_technology_and_controller(self):
        base = ("--generate", "pointer-chase", *DDR4, "--requests", 500)
        plain = self.measured(*base)[0]
        slow = self.measured(*base, "--set", "timing.CL=40 cycles", "--set", "page.policy=closed")[0]
        self.assertGreater(slow["dram.read.latency.mean"], plain["dram.read.latency.mean"] - 60)
        self.assertEqual(slow["dram.row.conflicts"], 0)
        self.assertGreater(plain["dram.row.conflicts"], 0)
        two = self.measured("--generate", "stream", *DDR4, "--channels", 2, "--requests", 20000)[0]
        self.assertGreater(two["dram.bandwidth"], 25.6e9 * 1.6)


class Outputs(Dram):
    def test_commands_are_checked_again_from_their_trace(self):
        args = ("--generate", "random", "--dram", "ddr4-2400", "--requests", 3000, "--read-share", 0.5)
        self.ok("dram", *args, "--command-trace", "c.txt")
        self.assertRegex(
            self.ok("dram", "--check-commands", "c.txt", "--dram", "ddr4-2400").stdout, r"commands keep the rules"
        )
        self.fails(
            6, "dram", "--check-commands", "c.txt", "--dram", "ddr4-3200", says=["c.txt:", "tRCD", "[dram-rule]"]
        )
        self.ok(
            "dram",
            *args,
            "--command-trace",
            "d3.txt",
            "--command-format",
            "dramsim3",
            "--set",
            "upkeep.precharge_all=false",
        )
        self.assertRegex((self.folder / "d3.txt").read_text(), r"(?m)^\d+ +activate +0 +0 +\d +\d +0x")
        self.ok("dram", "--check-commands", "d3.txt", "--dram", "ddr4-2400")
        self.fails(
            3, "dram", "--check-commands", self.file("empty.txt", ""), "--dram", "ddr4-2400", says="[trace-empty]"
        )

    def test_the_timeline_is_a_picture_of_its_window(self):
        self.ok(
            "dram",
            "--generate",
            "random",
            *DDR4,
            "--requests",
            3000,
            "--timeline",
            "t.json",
            "--from",
            1000,
            "--to",
            1500,
        )
        events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        slices = [e for e in events if e["ph"] == "X"]
        self.assertGreater(len(slices), 100)
        for e in slices:
            self.assertGreaterEqual(e["ts"], 1000 * 0.000625)
        names = {e["args"]["name"] for e in events if e["ph"] == "M"}
        self.assertIn("data bus", names)
        self.assertIn("group 0 bank 0", names)

    def test_the_result_file_is_printed_again(self):
        text = self.ok("dram", "--generate", "random", *DDR4, "--requests", 1000, "--json=r.json", "-o", "-").stdout
        self.assertEqual(self.ok("report", "r.json").stdout, text)
        self.assertIn("Where the time of the data bus went", text)

    def test_a_stopped_run_is_reported_and_marked(self):
        r = self.simtlab(
            "dram", "--generate", "random", *DDR4, "--requests", 100000, "--max-cycles", 5000, "--json=r.json"
        )
        self.assertEqual(r.returncode, 1)
        self.assertIn("[limit-cycles]", r.stderr)
        result = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(result["manifest"]["failure"]["id"], "limit-cycles")
        self.assertEqual(result["total"]["dram.cycles"]["value"], 5000)
        r = self.simtlab(
            "dram", "--generate", "random", *DDR4, "--requests", 10**10, "--max-time", "0.5 s", timeout=30
        )
        self.assertEqual(r.returncode, 1)
        self.assertIn("[limit-time]", r.stderr)
        self.assertIn("INCOMPLETE", r.stdout)

    def test_a_pipe_that_stays_silent_can_be_stopped(self):
        process = subprocess.Popen(
            [SIMTLAB, "dram", "-", *DDR4, "--max-time", "0.5 s"],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertEqual(process.wait(20), 1)
        self.assertIn("[limit-time]", process.stderr.read())
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()

    @unittest.skipUnless(PLUGIN.exists(), "the test plug-ins are not built")
    def test_a_plugin_is_driven_and_what_it_does_wrong_is_said(self):
        model = f"plugin:{PLUGIN}?config=fixed"
        m, _ = self.measured("--generate", "random", "--dram", model, "--requests", 1000, "--channels", 2)
        self.assertEqual(m["dram.requests"], 1000)
        self.assertNotIn("dram.bus.data", m)
        self.assertNotIn("dram.commands.read", m)
        self.assertTrue(any(k.startswith("dram.plugin.") for k in m))
        self.fails(
            2, "dram", "--generate", "random", "--dram", model, "--set", "timing.CL=3 cycles", says="[option-conflict]"
        )
        self.fails(4, "dram", "--generate", "random", "--dram", model, "--check", says="[plugin-commands]")
        self.fails(3, "dram", "--generate", "random", "--dram", "plugin:/absent.so", says="[plugin-missing]")


class Documentation(Dram):
    def test_every_option_and_format_is_documented(self):
        page = (SOURCE / "docs/guide/dram-command.md").read_text() + (SOURCE / "docs/reference/cli.md").read_text()
        help_text = self.ok("dram", "--help-all").stdout
        options = set(re.findall(r"--[a-z][a-z-]+", help_text)) - {
            "--help",
            "--help-all",
            "--output",
            "--quiet",
            "--verbose",
        }
        self.assertGreater(len(options), 25)
        self.assertEqual([o for o in sorted(options) if o not in page], [])
        formats = re.search(r"not to be detected:(.*?)--generate", help_text, re.S).group(1)
        names = re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)*", formats)
        self.assertEqual(len(names), 9)
        self.assertEqual([n for n in names if f"| `{n}` |" not in page], [])


if __name__ == "__main__":
    main()
