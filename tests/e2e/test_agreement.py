"""What is said twice is the same: hit rates in every printer, the verdict of a model, bandwidths and peaks."""
import json
import re
import unittest

from harness import EVERYTHING, SAXPY, SAXPY_LAUNCH, SOURCE, Case, main, needs_clang

EXAMPLES = sorted(p for p in (SOURCE / "examples").glob("*.cu"))
HITS = re.compile(r"(?:no reads|[<>]?[\d.]+\s%\shits(?:\s\+\s[<>]?[\d.]+\s%\spending)?)")
ALL_OUT = re.compile(r"\s+")

# Moves more than it computes: some models give less than the bytes alone take.
AXPY = """
__global__ void axpy(float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = a * x[i] + y[i];
}
int main() {
  float* x;
  cudaMalloc(&x, 8 << 20);
  axpy<<<4096, 256>>>(2.f, x, x + (1 << 20));
  return cudaDeviceSynchronize();
}
"""


def guide(name):
    """A program of the guide."""
    return re.search(
        rf"```cuda {re.escape(name)}\n(.*?)```", (SOURCE / "docs/guide/first-hours.md").read_text(), re.S
    ).group(1)


def share(ratio):
    if 0 < ratio < 0.0005:
        return "<0.1 %"
    return ">99.9 %" if 0.9995 <= ratio < 1 else f"{ratio * 100:.1f} %"


def hits(metrics, level):
    """The text of a level's hit rate, from the counts of the result alone."""
    accesses, found, pending = (
        metrics[f"{level}.read.{what}"]["value"] for what in ("accesses", "hits", "hits_pending")
    )
    if accesses == 0:
        return "no reads"
    return share(found / accesses) + " hits" + (f" + {share(pending / accesses)} pending" if pending else "")


@needs_clang
class HitRates(Case):
    GPUS = ("a100", "gtx480", "k40")

    def found(self, text):
        return {ALL_OUT.sub(" ", one) for one in HITS.findall(text)}

    def test_every_printer_of_a_run_says_the_same(self):
        self.file("rows.cu", guide("rows.cu"))
        self.file("warps.cu", guide("warps.cu"))
        pending = 0
        for gpu in self.GPUS:
            with self.subTest(gpu=gpu):
                text = self.ok("run", "rows.cu", "--gpu", gpu, "--lines", "--series", "200", "--json=rows.json").stderr
                result = json.loads((self.folder / "rows.json").read_text())
                metrics = result["kernels"][0]["metrics"]
                expected = {hits(metrics, "l1"), hits(metrics, "l2")}
                pending += any("pending" in one for one in expected)
                self.ok("run", "warps.cu", "--gpu", gpu, "--json=warps.json")
                others = json.loads((self.folder / "warps.json").read_text())["kernels"][0]["metrics"]
                self.ok("report", "rows.json", "--html=rows.html")
                page = (self.folder / "rows.html").read_text()
                printers = {
                    "run": text,
                    "report": self.ok("report", "rows.json").stdout,
                    "explain": self.ok("explain", "rows.json").stdout,
                }
                for name, out in printers.items():
                    self.assertEqual(self.found(out), expected, name)
                # In boxes of the page the pending part is a line of its own.
                boxes = {'"' + one.replace(" + ", '","+ ') + '"' for one in expected}
                for box in boxes:
                    self.assertIn(box, page.replace('", "', '","'))
                self.assertTrue(self.found(page) >= {one for one in expected if "pending" not in one})
                caches = re.search(
                    r"Caches: (.*?\.)(?:\s*\n\s*-|\s*\n\s*\n|\Z)",
                    self.ok("compare", "rows.json", "warps.json").stdout,
                    re.S,
                ).group(1)
                self.assertLessEqual(self.found(caches), expected | {hits(others, "l1"), hits(others, "l2")})
                if hits(metrics, "l1") != hits(others, "l1"):
                    self.assertIn(f"{hits(metrics, 'l1')} -> {hits(others, 'l1')}", ALL_OUT.sub(" ", caches))
                self.rates(metrics)
                self.series(result["kernels"][0]["series"], metrics)
        self.assertGreater(pending, 0, "no device has pending hits: the test shows nothing")

    def rates(self, metrics):
        for level in ("l1", "l2"):
            value = {
                what: metrics[f"{level}.read.{what}"]["value"]
                for what in ("accesses", "hits", "hits_pending", "hit_rate", "pending_rate", "miss_rate")
            }
            if value["accesses"]:
                self.assertAlmostEqual(value["hit_rate"] * value["accesses"], value["hits"], 3)
                self.assertAlmostEqual(value["pending_rate"] * value["accesses"], value["hits_pending"], 3)
                self.assertAlmostEqual(value["hit_rate"] + value["pending_rate"] + value["miss_rate"], 1, 9)

    def series(self, series, metrics):
        rows = [dict(zip(series["columns"], row)) for row in series["rows"]]
        for level in ("l1", "l2"):
            for rate, count in (("hit_rate", "hits"), ("pending_rate", "hits_pending")):
                total = sum(row[f"{level}.{rate}"] * row[f"{level}.read.accesses"] for row in rows)
                self.assertAlmostEqual(total, metrics[f"{level}.read.{count}"]["value"], 2)

    def test_the_cache_study(self):
        self.file("rows.cu", guide("rows.cu"))
        for gpu in self.GPUS:
            text = self.ok("cache", "rows.cu", "--gpu", gpu, "--json=c.json").stderr
            metrics = json.loads((self.folder / "c.json").read_text())["kernels"][0]["metrics"]
            self.rates(metrics)
            self.assertEqual(
                self.found(text + self.ok("report", "c.json").stdout),
                {hits(metrics, "l1"), hits(metrics, "l2")} - {"no reads"},
            )


class Predictions(Case):
    GPUS = ("gtx480", "v100", "h100")
    # What an equation is called says nothing of what bounds the kernel.
    CASE = re.compile(
        r"(no memory accesses|1: MWP = N and CWP = N|2: CWP >= MWP|2: Comp_cycles > Mem_cycles|3: MWP > CWP|CWP <= MWP|CWP > MWP|T_[\w-]+ is the longest|"
        r"nothing to do|T_latency > T_throughput|T_throughput >= T_latency|T_idle > T_compute|T_compute >= T_idle)(; less than the floor)?"
    )
    MODELS = {"throughput", "mwp-cwp", "mwp-cwp-2012", "resios", "roofline"}

    def rows(self, kernel, name):
        table = kernel["tables"][name]
        return [dict(zip(table["columns"], row)) for row in table["rows"]]

    def one_verdict(self, kernel, text, counts):
        name = kernel.get("demangled") or kernel["name"]
        predictions = self.rows(kernel, "predictions")
        self.assertEqual(kernel["bottleneck"], f"{predictions[0]['limit']} ({predictions[0]['model']})")
        for p in predictions:
            self.assertRegex(p["case"], rf"\A{self.CASE.pattern}\Z")
            self.assertEqual("the floor" in p["limit"], "less than the floor" in p["case"], p)
            column = re.findall(rf"^  {re.escape(p['model'])} +[\d,]+ +[\d.]+ [num]?s  (.+)$", text, re.M)
            section = re.findall(
                rf"^  {re.escape(p['model'])} \(.*?\)\n    limited by: (.+?)\n    case: (.+?)\n    floor",
                text,
                re.M | re.S,
            )
            said = [ALL_OUT.sub(" ", limit) for limit, _ in section]
            self.assertIn(p["limit"], said, name)
            self.assertEqual(
                sorted(c for c in column), sorted(limit.split(": ")[0] for limit in said), (name, p["model"])
            )
            self.possible(p, counts)

    def possible(self, p, counts):
        seconds = p["time"] * 1e-9
        for level, peak in (
            ("dram", counts["mem_peak_bandwidth"] * 1e9),
            ("l2", counts["l2_bytes_per_cycle"] * counts["freq"] * 1e9),
        ):
            self.assertLessEqual(counts[f"{level}_bytes"] / seconds, peak * (1 + 1e-6), (p["model"], level))

    def predicted(self, *args):
        self.ok("predict", *args, "--json=p.json", "-o", "p.txt")
        return json.loads((self.folder / "p.json").read_text()), (self.folder / "p.txt").read_text()

    @needs_clang
    def test_a_model_has_one_verdict_for_every_example_and_device(self):
        models, floors = set(), 0
        self.file("axpy.cu", AXPY)
        for g, gpu in enumerate(self.GPUS):
            # Each example on one GPU, in turns; on all of them where there is time.
            programs = EXAMPLES if EVERYTHING else EXAMPLES[g :: len(self.GPUS)]
            for program in [*programs, "axpy.cu"]:
                with self.subTest(gpu=gpu, program=str(program)):
                    result, text = self.predicted(program, "--gpu", gpu)
                    self.assertTrue(result["kernels"])
                    for kernel in result["kernels"]:
                        counts = {row["key"]: row["value"] for row in self.rows(kernel, "counts")}
                        models |= {p["model"] for p in self.rows(kernel, "predictions")}
                        floors += sum("the floor" in p["limit"] for p in self.rows(kernel, "predictions"))
                        if len(result["kernels"]) == 1:
                            self.one_verdict(kernel, text, counts)
                        else:
                            for p in self.rows(kernel, "predictions"):
                                self.assertRegex(p["case"], rf"\A{self.CASE.pattern}\Z")
                                self.possible(p, counts)
        self.assertEqual(models, self.MODELS)
        self.assertGreater(floors, 0, "no prediction is its floor: the test shows less than it should")

    def test_rule_paper_reports_the_impossible_and_says_so(self):
        self.file("saxpy.ptx", SAXPY)
        result, text = self.predicted(
            "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--rule", "paper", "--model", "mwp-cwp"
        )
        self.one_verdict(
            result["kernels"][0],
            text,
            {"mem_peak_bandwidth": 1e30, "l2_bytes_per_cycle": 1e30, "freq": 1, "dram_bytes": 0, "l2_bytes": 0},
        )

    LOOPS = (
        ("transpose.c", "width=1024,height=1024"),
        ("saxpy.c", "n=1048576"),
        ("copy.c", "n=1048576"),
        ("matmul.c", "n=256"),
    )

    def test_loops_name_their_bytes_and_stay_below_the_peaks(self):
        self.file(
            "axpy.c",
            "void axpy(int n, float a, const float* restrict x, float* restrict y) {\n#pragma simtlab kernel\n  for (int i = 0; i < n; ++i)\n    y[i] = a * x[i] + y[i];\n}\n",
        )
        for gpu in self.GPUS:
            for rule in ([], ["--rule", "paper"]):
                with self.subTest(gpu=gpu, rule=rule):
                    result, text = self.predicted("axpy.c", "--params", "n=1048576", "--gpu", gpu, *rule)
                    kernel = result["kernels"][0]
                    configuration = {
                        c["key"]: float(c["value"].split()[0])
                        for c in result["manifest"]["configuration"]
                        if re.match(r"[\d.]", c["value"])
                    }
                    self.one_verdict(kernel, text, configuration)
                    rows = self.rows(kernel, "nest_worth")
                    self.assertEqual({r["model"] for r in rows}, self.MODELS)
                    beyond = 0
                    for r in rows:
                        seconds = r["kernel"] * 1e-9
                        self.assertAlmostEqual(
                            r["bandwidth"] * seconds / (12 << 20), 1, 6
                        )  # x, y, and y again: what is asked for
                        beyond += r["bandwidth"] > configuration["mem_peak_bandwidth"] * 1e9
                        for level, peak in (
                            ("dram", configuration["mem_peak_bandwidth"] * 1e9),
                            ("l2", configuration["l2_bytes_per_cycle"] * configuration["freq"] * 1e9),
                        ):
                            rate = r[f"{level}_bandwidth"]
                            if rate is None:
                                self.assertTrue(rule, r)
                                continue
                            self.assertLessEqual(rate, peak)
                            self.assertAlmostEqual(rate * seconds / configuration[f"{level}_bytes"], 1, 5)
                    self.assertRegex(text, r"asked for +from DRAM")
                    if gpu == "v100":
                        self.assertGreater(beyond, 0, "caches answer a part: this was once called bandwidth")


if __name__ == "__main__":
    main()
