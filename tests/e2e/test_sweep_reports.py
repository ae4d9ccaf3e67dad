"""What simtlab sweep and simtlab report say of a study: comparisons, repeats, pages."""
import csv
import io
import json
import re
import statistics
import unittest

try:
    import jsonschema
except ImportError:  # Debian: python3-jsonschema, of ./dev test
    jsonschema = None

import browser
import chrome_trace
from harness import SAXPY, SOURCE, main
from sweep_scene import LAUNCH, Sweep


class Reports(Sweep):
    def test_kernels_are_compared_with_a_baseline(self):
        self.file("saxpy.ptx", SAXPY)
        self.file("l.toml", LAUNCH)
        self.file("short.toml", LAUNCH.replace("grid = 2", "grid = 1"))
        args = (
            "--kernels", "saxpy.ptx --launch l.toml", "saxpy.ptx --launch short.toml",
            "--axis", "dram=[hbm2-2000,ddr2]", "--metric", "gpu.time", "--metric", "gpu.stall.classic.dram_full",
            "--db", "k.db", "--baseline", "dram=ddr2",
        )  # fmt: skip
        out = self.ok("sweep", *args, "--", "run", "--gpu", "gtx480").stdout
        self.assertIn("Speed-up of gpu.time against ddr2", out)
        self.assertIn("Ratio of gpu.stall.classic.dram_full against ddr2", out)
        self.assertIn("geometric mean", out)
        data = json.loads(self.ok("report", "k.db", "--json").stdout)
        times = {tuple(c["values"].values()): c["metrics"]["gpu.time"]["value"] for c in data["combinations"]}
        compared = data["comparisons"][0]
        self.assertEqual((compared["baseline"], compared["ratio"]), ("ddr2", "baseline/value"))
        self.assertEqual(len(compared["kernels"]), 2)
        for row in compared["kernels"]:
            base = times[row["kernel"], "ddr2"]
            expected = [base / times[row["kernel"], dram] for dram in compared["columns"]]
            self.assertEqual(row["ratios"], expected)
        other = json.loads(self.ok("report", "k.db", "--baseline", "dram=hbm2-2000", "--json").stdout)
        self.assertEqual(other["comparisons"][0]["baseline"], "hbm2-2000")
        if jsonschema is not None:
            jsonschema.Draft202012Validator(
                json.loads((SOURCE / "docs/reference/schema/study-1.schema.json").read_text())
            ).validate(data)
        self.assertIn("geometric mean of 2", self.ok("report", "k.db", "--md").stdout)
        self.fails(3, "report", "k.db", "--baseline", "dram=x", says="[sweep-baseline]")
        self.fails(3, "report", "k.db", "--baseline", "x=ddr2", says=["[sweep-baseline]", "its axes"])

    def test_a_points_result_and_the_forms_of_a_report(self):
        self.sweep("--axis", "sm.count=[2,4]")
        point = json.loads(self.ok("report", "sweep.db", "--point", "2", "--json").stdout)
        self.assertEqual(next(c["value"] for c in point["manifest"]["configuration"] if c["key"] == "sm.count"), "4")
        data = json.loads(self.ok("report", "sweep.db", "--json").stdout)
        self.assertEqual([p["state"] for p in data["points"]], ["done", "done"])
        if jsonschema is not None:
            jsonschema.Draft202012Validator(
                json.loads((SOURCE / "docs/reference/schema/study-1.schema.json").read_text())
            ).validate(data)
        self.assertEqual(data["effects"][0]["axis"], "sm.count")
        self.ok("report", "sweep.db", "--html=r.html", "--timeline=t.json", "--md=r.md")
        chrome_trace.check((self.folder / "t.json").read_text())
        self.fails(3, "report", "sweep.db", "--point", "3", says="[sweep-point]")
        self.fails(2, "report", "sweep.db", "--sqlite=x.db", says="it is one")

    def charts(self, page):
        """Of a page: a chart's kind and what it draws."""
        text = (self.folder / page).read_text()
        pattern = r'<figure class="chart" data-kind="(\w+)">.*?<script type="application/json">(.*?)</script>'
        return [(kind, json.loads(data)) for kind, data in re.findall(pattern, text, re.S)]

    def memories(
        self, *metrics, axes=("dram=[ddr2,ddr3-1600,gddr6-14000]",), gpu="gtx480", kernels=("l", "s"), more=()
    ):
        """Sweeps two launches of a kernel; the study as JSON, and the charts of its page."""
        self.file(
            "l.toml", LAUNCH.replace("grid = 2", "grid = 128").replace("128]", "8192]").replace("= 128\n", "= 8192\n")
        )
        self.file("s.toml", LAUNCH)
        self.ok(
            "sweep", "--kernels", *(f"saxpy.ptx --launch {k}.toml" for k in kernels),
            *(word for axis in axes for word in ("--axis", axis)),
            *(word for metric in metrics for word in ("--metric", metric)),
            "--db", "m.db", "--html=m.html", "--json=m.json", *more, "--", "run", "--gpu", gpu,
        )  # fmt: skip
        return json.loads((self.folder / "m.json").read_text()), self.charts("m.html")

    def test_the_page_draws_speed_by_kernel_and_memory(self):
        stalls = [f"gpu.stall.classic.{name}" for name in ("dram_full", "shared_memory", "icnt_to_sm")]
        data, charts = self.memories("gpu.time", *stalls, more=("--baseline", "dram=ddr2"))
        compared = data["comparisons"][0]
        bars = next(c for kind, c in charts if kind == "grouped")
        self.assertEqual(bars["title"], "Speed-up of gpu.time against ddr2 by kernel and dram")
        self.assertEqual(bars["parts"], ["ddr2", "ddr3-1600", "gddr6-14000"])
        drawn = {(row["label"], row["part"]): row["value"] for row in bars["rows"]}
        expected = {
            (row["kernel"], part): ratio
            for row in compared["kernels"] + [{"kernel": "geometric mean", "ratios": compared["geometric_mean"]}]
            for part, ratio in zip(compared["columns"], row["ratios"])
        }
        self.assertEqual(drawn, expected)
        # Stall cycles: each bar is as long as its sum over the baseline's.
        cycles = {
            (c["values"]["kernel"], c["values"]["dram"], name.split(".")[-1]): c["metrics"][name]["value"]
            for c in data["combinations"] for name in stalls
        }  # fmt: skip
        parts = next(c for kind, c in charts if kind == "stacked")
        self.assertEqual(parts["parts"], ["dram_full", "shared_memory", "icnt_to_sm"])
        self.assertEqual(len(parts["rows"]), 2 * 3 * 3)
        for row in parts["rows"]:
            kernel, dram = row["label"].split(", ")
            base = sum(cycles[kernel, "ddr2", part] for part in parts["parts"])
            self.assertAlmostEqual(row["value"], cycles[kernel, dram, row["part"]] / base)
        # The table of the text report.
        text = self.ok("report", "m.db").stdout.split("Speed-up of gpu.time")[1].splitlines()[2].split()
        page = (self.folder / "m.html").read_text()
        section = page[page.index('<section id="baseline"') :]
        table = re.findall(r"<td[^>]*>(.*?)</td>", section[section.index("</figure>") :])
        self.assertEqual(table[2:5], text[-3:])
        links = re.findall(r'href="#(\w+)"', page[page.index("<nav") : page.index("</nav>")])
        self.assertEqual(links, re.findall(r'<section id="(\w+)"', page), "each link leads somewhere")

    def test_the_page_draws_lines_over_an_axis_of_numbers(self):
        axes = ("l2.slices=[4,8,32]", "dram=[hbm2-2000,ddr4-3200]")
        data, charts = self.memories("gpu.time", axes=axes, gpu="v100", more=("--baseline", "l2.slices=8"))
        kind, lines = charts[0]
        self.assertEqual((kind, lines["title"]), ("xy", "Speed-up of gpu.time against 8 hbm2-2000 by l2.slices"))
        times = {tuple(c["values"].values()): c["metrics"]["gpu.time"]["value"] for c in data["combinations"]}
        drawn = {(p["series"], p["x"]): p["y"] for p in lines["points"]}
        for (kernel, slices, dram), time in times.items():
            expected = times[kernel, "8", "hbm2-2000"] / time
            self.assertAlmostEqual(drawn.pop((f"{kernel}, {dram}", float(slices))), expected)
        self.assertEqual({series for series, _ in drawn}, {"geometric mean, hbm2-2000", "geometric mean, ddr4-3200"})
        self.assertEqual(lines["x"]["log"], True, "doublings lie evenly")
        # One axis and no kernels: a bar a value.
        self.ok(
            "sweep", "--axis", "dram=[hbm2-2000,ddr4-3200]", "--baseline", "dram=ddr4-3200",
            "--db", "one.db", "--html=one.html", "--", "run", "saxpy.ptx", "--launch", "s.toml", "--gpu", "v100",
        )  # fmt: skip
        kind, bars = self.charts("one.html")[0]
        self.assertEqual((kind, [row["label"] for row in bars["rows"]]), ("grouped", ["hbm2-2000", "ddr4-3200"]))
        self.assertEqual(bars["rows"][1]["value"], 1)

    def test_repeats_are_reported_by_their_median(self):
        buffers = ["--arg", "buffer:96x96:f32"] * 3
        metrics = ("l1.read.misses", "l1.read.miss_rate")
        out = self.ok(
            "sweep", "--axis", "l1.replacement=[lru,random]", "--repeats", "3", "--db", "r.db", "--html=r.html",
            "--csv=r.csv", "--metric", metrics[0], "--metric", metrics[1], "--", "cache", "--gpu", "gtx480",
            SOURCE / "data/probes/cache.ptx", "--kernel", "matmul", "--global", "96x96", "--local", "16x16",
            *buffers, "--arg", "u32:96",
        ).stdout  # fmt: skip
        self.assertIn("Figures are medians of 3 repeats. Spread is their standard deviation over the median.", out)
        self.assertNotIn("+-", out)
        data = json.loads(self.ok("report", "r.db", "--json").stdout)
        rows = list(csv.DictReader(io.StringIO((self.folder / "r.csv").read_text(), newline="")))
        for combination in data["combinations"]:
            replacement = combination["values"]["l1.replacement"]
            for name in metrics:
                seeds = [p["metrics"][name] for p in data["points"] if p["values"]["l1.replacement"] == replacement]
                self.assertGreater(len(set(seeds)), 1, "seeds differ")
                figure = combination["metrics"][name]
                self.assertEqual(figure["value"], statistics.median(seeds))
                self.assertAlmostEqual(figure["mean"], statistics.mean(seeds))
                self.assertAlmostEqual(figure["deviation"], statistics.stdev(seeds))
                self.assertAlmostEqual(figure["spread"], statistics.stdev(seeds) / statistics.median(seeds))
                self.assertEqual((figure["lowest"], figure["highest"]), (min(seeds), max(seeds)))
                ours = [r for r in rows if r["l1.replacement"] == replacement]
                self.assertEqual([float(r[name]) for r in ours], seeds)
                self.assertEqual({float(r[name + " median"]) for r in ours}, {statistics.median(seeds)})
                self.assertEqual({float(r[name + " spread"]) for r in ours}, {figure["spread"]})
            misses = combination["metrics"][metrics[0]]
            self.assertRegex(out, rf"{replacement} +{misses['value']:,.0f} +{100 * misses['spread']:.1f} %")
        page = (self.folder / "r.html").read_text()
        self.assertTrue("Figures are medians of 3 repeats." in page)
        self.assertTrue(re.search(r"spread</th><th[^>]*>lowest</th><th[^>]*>highest</th>", page))
        if jsonschema is not None:
            jsonschema.Draft202012Validator(
                json.loads((SOURCE / "docs/reference/schema/study-1.schema.json").read_text())
            ).validate(data)

    def test_repeats_that_agree(self):
        out = self.sweep("--axis", "sm.count=[2,4]", "--repeats", "2", "--csv=a.csv").stdout
        self.assertIn("All 2 repeats of each combination have the same figures.", out)
        self.assertNotIn("spread", out)
        self.assertNotIn("median", (self.folder / "a.csv").read_text())

    @unittest.skipIf(browser.MISSING, browser.MISSING)
    def test_the_page_in_a_browser(self):
        self.sweep(
            "--axis",
            "sm.count=[2,4,8]",
            "--axis",
            "l1.ways=[2,4]",
            "--minimise",
            "gpu.time",
            "--minimise",
            "sm.count",
            "--html=r.html",
        )
        b = browser.Browser()
        try:
            b.open(self.folder / "r.html")
            self.assertEqual(b.log(), [])
            figures = b.run("return document.querySelectorAll('figure').length")
            self.assertEqual(figures, 4, "front, sensitivity, two effects")
            self.assertEqual(b.run("return document.querySelectorAll('figure svg').length"), figures)
            self.assertEqual(b.run("return document.querySelectorAll('tr.point-row').length"), 6)
            stalls = [f"gpu.stall.classic.{name}" for name in ("dram_full", "shared_memory", "icnt_to_sm")]
            _, charts = self.memories("gpu.time", *stalls, more=("--baseline", "dram=ddr2"))
            self.assertGreaterEqual({kind for kind, _ in charts}, {"grouped", "stacked"})
            b.open(self.folder / "m.html")
            self.assertEqual(b.log(), [])
            self.assertEqual(b.run("return document.querySelectorAll('figure svg').length"), len(charts))
        finally:
            b.close()


if __name__ == "__main__":
    main()
