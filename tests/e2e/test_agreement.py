"""What is said twice is the same: hit rates in every printer, the verdict of a model, bandwidths and peaks, the bottleneck of run and the gains of explain."""
import concurrent.futures
import json
import re
import unittest

from harness import SAXPY, SAXPY_LAUNCH, SOURCE, Case, main, needs_clang

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
    return re.search(rf"```cuda {re.escape(name)}\n(.*?)```", (SOURCE / "docs/guide.md").read_text(), re.S).group(1)


def share(ratio):
    if 0 < ratio < 0.0005:
        return "<0.1 %"
    return ">99.9 %" if 0.9995 <= ratio < 1 else f"{ratio * 100:.1f} %"


def hits(metrics, level):
    """The text of a level's hit rate, from the counts of the result alone."""
    accesses, found, pending = (metrics[f"{level}.read.{what}"]["value"] for what in ("accesses", "hits", "hits_pending"))
    if accesses == 0:
        return "no reads"
    return share(found / accesses) + " hits" + (f" + {share(pending / accesses)} pending" if pending else "")


def side_by_side(work, items):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(work, items))


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
                printers = {"run": text, "report": self.ok("report", "rows.json").stdout, "explain": self.ok("explain", "rows.json", "--no-rerun").stdout}
                for name, out in printers.items():
                    self.assertEqual(self.found(out), expected, name)
                # In boxes of the page the pending part is a line of its own.
                boxes = {'"' + one.replace(" + ", '","+ ') + '"' for one in expected}
                for box in boxes:
                    self.assertIn(box, page.replace('", "', '","'))
                self.assertTrue(self.found(page) >= {one for one in expected if "pending" not in one})
                caches = re.search(r"Caches: (.*?\.)(?:\s*\n\s*-|\s*\n\s*\n|\Z)", self.ok("compare", "rows.json", "warps.json").stdout, re.S).group(1)
                self.assertLessEqual(self.found(caches), expected | {hits(others, "l1"), hits(others, "l2")})
                if hits(metrics, "l1") != hits(others, "l1"):
                    self.assertIn(f"{hits(metrics, 'l1')} -> {hits(others, 'l1')}", ALL_OUT.sub(" ", caches))
                self.rates(metrics)
                self.series(result["kernels"][0]["series"], metrics)
        self.assertGreater(pending, 0, "no device has pending hits: the test shows nothing")

    def rates(self, metrics):
        for level in ("l1", "l2"):
            value = {what: metrics[f"{level}.read.{what}"]["value"] for what in ("accesses", "hits", "hits_pending", "hit_rate", "pending_rate", "miss_rate")}
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
            self.assertEqual(self.found(text + self.ok("report", "c.json").stdout), {hits(metrics, "l1"), hits(metrics, "l2")} - {"no reads"})


class Predictions(Case):
    GPUS = ("gtx480", "v100", "h100")
    # What an equation is called says nothing of what bounds the kernel.
    CASE = re.compile(r"(no memory accesses|1: MWP = N and CWP = N|2: CWP >= MWP|2: Comp_cycles > Mem_cycles|3: MWP > CWP|CWP <= MWP|CWP > MWP|T_[\w-]+ is the longest|"
                      r"nothing to do|T_latency > T_throughput|T_throughput >= T_latency|T_issue > T_queues|T_queues >= T_issue)(; less than the floor)?")
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
            section = re.findall(rf"^  {re.escape(p['model'])} \(.*?\)\n    limited by: (.+?)\n    case: (.+?)\n    floor", text, re.M | re.S)
            said = [ALL_OUT.sub(" ", limit) for limit, _ in section]
            self.assertIn(p["limit"], said, name)
            self.assertEqual(sorted(c for c in column), sorted(limit.split(": ")[0] for limit in said), (name, p["model"]))
            self.possible(p, counts)

    def possible(self, p, counts):
        seconds = p["time"] * 1e-9
        for level, peak in (("dram", counts["mem_peak_bandwidth"] * 1e9), ("l2", counts["l2_bytes_per_cycle"] * counts["freq"] * 1e9)):
            self.assertLessEqual(counts[f"{level}_bytes"] / seconds, peak * (1 + 1e-6), (p["model"], level))

    def predicted(self, *args):
        self.ok("predict", *args, "--json=p.json", "-o", "p.txt")
        return json.loads((self.folder / "p.json").read_text()), (self.folder / "p.txt").read_text()

    @needs_clang
    def test_a_model_has_one_verdict_for_every_example_and_device(self):
        models, floors = set(), 0
        self.file("axpy.cu", AXPY)
        for gpu in self.GPUS:
            for program in [*EXAMPLES, "axpy.cu"]:
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
        result, text = self.predicted("saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--rule", "paper", "--model", "mwp-cwp")
        self.one_verdict(result["kernels"][0], text, {"mem_peak_bandwidth": 1e30, "l2_bytes_per_cycle": 1e30, "freq": 1, "dram_bytes": 0, "l2_bytes": 0})

    LOOPS = (("transpose.c", "width=1024,height=1024"), ("saxpy.c", "n=1048576"), ("copy.c", "n=1048576"), ("matmul.c", "n=256"))

    def test_loops_name_their_bytes_and_stay_below_the_peaks(self):
        self.file("axpy.c", "void axpy(int n, float a, const float* restrict x, float* restrict y) {\n#pragma simtlab kernel\n  for (int i = 0; i < n; ++i)\n    y[i] = a * x[i] + y[i];\n}\n")
        for gpu in self.GPUS:
            for rule in ([], ["--rule", "paper"]):
                with self.subTest(gpu=gpu, rule=rule):
                    result, text = self.predicted("axpy.c", "--params", "n=1048576", "--gpu", gpu, *rule)
                    kernel = result["kernels"][0]
                    configuration = {c["key"]: float(c["value"].split()[0]) for c in result["manifest"]["configuration"] if re.match(r"[\d.]", c["value"])}
                    self.one_verdict(kernel, text, configuration)
                    rows = self.rows(kernel, "nest_worth")
                    self.assertEqual({r["model"] for r in rows}, self.MODELS)
                    beyond = 0
                    for r in rows:
                        seconds = r["kernel"] * 1e-9
                        self.assertAlmostEqual(r["bandwidth"] * seconds / (12 << 20), 1, 6)   # x, y, and y again: what is asked for
                        beyond += r["bandwidth"] > configuration["mem_peak_bandwidth"] * 1e9
                        for level, peak in (("dram", configuration["mem_peak_bandwidth"] * 1e9), ("l2", configuration["l2_bytes_per_cycle"] * configuration["freq"] * 1e9)):
                            rate = r[f"{level}_bandwidth"]
                            if rate is None:
                                self.assertTrue(rule, r)
                                continue
                            self.assertLessEqual(rate, peak)
                            self.assertAlmostEqual(rate * seconds / configuration[f"{level}_bytes"], 1, 5)
                    self.assertRegex(text, r"asked for +from DRAM")
                    if gpu == "v100":
                        self.assertGreater(beyond, 0, "caches answer a part: this was once called bandwidth")


@needs_clang
class Bottleneck(Case):
    """The sentence of `run` against what the model itself says when limits are lifted."""
    GPUS = ("rtx2060", "a100", "k40", "gtx480")
    LIMITS = ("none", "perfect-l1", "infinite-dram-bandwidth", "perfect-coalescing", "no-bank-conflicts", "double-occupancy", "double-math")
    ESTIMATE = "This is an estimate: `simtlab explain` of the result measures what gains most."
    # Sentences and the limits that are the same cause. What lies below L1 is not needed by a load that hits L1.
    CAUSES = (("Bound by uncoalesced", {"perfect-coalescing"}), ("Bound by bank conflicts", {"no-bank-conflicts"}),
              ("Bound by the latency of memory", {"perfect-l1"}), ("Bound by DRAM bandwidth", {"perfect-l1", "infinite-dram-bandwidth"}),
              ("Bound by L2 bandwidth", {"perfect-l1"}), ("Bound by the network", {"perfect-l1"}))
    WORTH = 0.2    # of the time: where no limit saves so much, the busiest part or latency is named, and no limit
    NEAR = 0.8     # of the greatest gain: as good as the greatest

    def times(self, program, gpu, limit):
        file = self.folder / f"{program.stem}-{gpu}-{limit}.json"
        self.ok("run", program, "--gpu", gpu, "--what-if", limit, f"--json={file}", "-o", "/dev/null")
        out = {}
        for kernel in json.loads(file.read_text())["kernels"]:
            name, time = kernel["name"], kernel["metrics"]["gpu.time"]["value"]
            longest = max(out.get(name, (0, 0, ""))[1], time)
            out[name] = (out.get(name, (0, 0, ""))[0] + time, longest, kernel["bottleneck"] if longest == time else out[name][2])
        return out

    def test_the_sentence_names_what_gains_most(self):
        programs = [(p, gpu) for gpu in self.GPUS for p in EXAMPLES]
        answers = side_by_side(lambda job: self.times(*job), [(p, gpu, limit) for p, gpu in programs for limit in self.LIMITS])
        named = estimates = 0
        for i, (program, gpu) in enumerate(programs):
            runs = dict(zip(self.LIMITS, answers[i * len(self.LIMITS):]))
            for kernel, (before, _, sentence) in runs["none"].items():
                gains = {limit: 1 - runs[limit][kernel][0] / before for limit in self.LIMITS[1:]}
                most = max(gains.values())
                causes = next((c for start, c in self.CAUSES if sentence.startswith(start)), set())
                with self.subTest(gpu=gpu, kernel=kernel, sentence=sentence, gains={k: round(v, 2) for k, v in gains.items()}):
                    if self.ESTIMATE in sentence:
                        estimates += 1
                        continue
                    named += 1
                    if causes:
                        self.assertGreaterEqual(max(gains[c] for c in causes), self.NEAR * most)
                    else:
                        self.assertLess(most, self.WORTH)
        self.assertGreater(named, estimates, "most sentences are sure of themselves")

    def test_strided_stores(self):
        text = self.ok("run", SOURCE / "examples/transpose_naive.cu", "--gpu", "rtx2060", "--json=t.json").stderr
        kernel = json.loads((self.folder / "t.json").read_text())["kernels"][0]
        line = 1 + next(i for i, code in enumerate((SOURCE / "examples/transpose_naive.cu").read_text().splitlines()) if "out[" in code)
        self.assertRegex(kernel["bottleneck"], rf"^Bound by uncoalesced stores \(transpose_naive\.cu:{line}\): .* 12\.5 % \(global\.store\.efficiency\)")
        self.assertRegex(text, rf"Coalescing: of the sectors that they touch, threads use 12\.5 % in stores\s+\(transpose_naive\.cu:{line}\)")
        (row,) = kernel["tables"]["coalescing"]["rows"]
        row = dict(zip(kernel["tables"]["coalescing"]["columns"], row))
        self.assertEqual((row["kind"], row["line"], row["use"]), ("store", line, 0.125))
        self.assertEqual(row["sectors"], kernel["metrics"]["global.store.sectors"]["value"])
        remedies = json.loads(self.ok("explain", "t.json", "--json").stdout)["remedies"]
        self.assertEqual(remedies[0]["what_if"], "perfect-coalescing")

    def test_loads_stores_and_atomics_are_told_apart(self):
        self.file("strided.cu", """
__global__ void k(const int* in, int* out, int* bins) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[i * 16];
  out[i * 8] = v;
  atomicAdd(&bins[i * 32], v);
}
int main() {
  int* p;
  cudaMalloc(&p, 64 << 20);
  k<<<64, 128>>>(p, p + (4 << 20), p + (8 << 20));
  return cudaDeviceSynchronize();
}
""")
        text = ALL_OUT.sub(" ", self.ok("run", "strided.cu", "--gpu", "v100", "--json=s.json").stderr)
        self.assertIn("threads use 12.5 % in loads (strided.cu:4), 12.5 % in stores (strided.cu:5), 12.5 % in atomics (strided.cu:6)", text)
        metrics = json.loads((self.folder / "s.json").read_text())["kernels"][0]["metrics"]
        self.assertEqual([metrics[f"atomic.{what}"]["value"] for what in ("requests", "sectors", "bytes", "efficiency")], [256, 8192, 32768, 0.125])

    def test_a_limit_that_loses_is_no_advice(self):
        """Whatever the model makes of it: a loss stands apart, has a reason and no remedy."""
        losses = 0
        for program, gpu in (("bfs", "k40"), ("matmul_naive", "gtx480"), ("histogram", "h100"), ("matmul_tiled", "h100")):
            self.ok("run", SOURCE / f"examples/{program}.cu", "--gpu", gpu, "--json=l.json")
            tried = [word for limit in self.LIMITS[1:] for word in ("--try", limit)]
            remedies = json.loads(self.ok("explain", "l.json", "--json", *tried).stdout)["remedies"]
            text = self.ok("explain", "l.json", *tried).stdout
            apart = text.partition("Limits whose lifting makes it slower: no advice\n")[2]
            for r in remedies:
                loses = r["after_ns"] > r["before_ns"] * 1.005
                losses += loses
                self.assertEqual(loses, "why_it_loses" in r, r)
                self.assertEqual(loses, f"  {r['what_if']} " in apart, text)
                if loses:
                    self.assertIn(ALL_OUT.sub(" ", f"Why it loses: {r['why_it_loses']}."), ALL_OUT.sub(" ", apart))
            self.assertNotIn("To come near it", apart)
        self.assertGreater(losses, 0)

    def test_perfect_coalescing_takes_no_hits_away(self):
        """Threads that walk along rows: packed accesses touch new sectors each time, which once cost more than it gained."""
        self.file("rows.cu", guide("rows.cu"))
        for gpu in ("a100", "v100", "h100", "rtx2060", "gtx480", "k40"):
            with self.subTest(gpu=gpu):
                plain = self.run_json("rows.cu", "--gpu", gpu)["kernels"][0]["metrics"]
                packed = self.run_json("rows.cu", "--gpu", gpu, "--what-if", "perfect-coalescing")["kernels"][0]["metrics"]
                self.assertLess(packed["gpu.time"]["value"], plain["gpu.time"]["value"])
                # As much of the matrix; without L1's thrashing it may be less.
                self.assertLessEqual(packed["dram.read.bytes"]["value"], plain["dram.read.bytes"]["value"])
                self.assertGreaterEqual(packed["dram.read.bytes"]["value"], 4 * 4096 * 64)


if __name__ == "__main__":
    main()
