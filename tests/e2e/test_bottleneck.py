"""The bottleneck sentence of run, the gains that explain measures, and what perfect coalescing means."""
import concurrent.futures
import json

from harness import EVERYTHING, SOURCE, Case, main, needs_clang
from test_agreement import ALL_OUT, EXAMPLES, guide


def side_by_side(work, items):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(work, items))


@needs_clang
class Bottleneck(Case):
    """The sentence of `run` against what the model itself says when limits are lifted."""

    GPUS = ("rtx2060", "a100", "k40", "gtx480")
    LIMITS = (
        "none",
        "perfect-l1",
        "infinite-dram-bandwidth",
        "perfect-coalescing",
        "no-bank-conflicts",
        "double-occupancy",
        "double-math",
    )
    ESTIMATE = "This is an estimate: `simtlab explain` of the result measures what gains most."
    # Sentences and the limits that are the same cause. What lies below L1 is not needed by a load that hits L1.
    CAUSES = (
        ("Bound by uncoalesced", {"perfect-coalescing"}),
        ("Bound by bank conflicts", {"no-bank-conflicts"}),
        ("Bound by the latency of memory", {"perfect-l1"}),
        ("Bound by DRAM bandwidth", {"perfect-l1", "infinite-dram-bandwidth"}),
        ("Bound by L2 bandwidth", {"perfect-l1"}),
        ("Bound by the network", {"perfect-l1"}),
    )
    WORTH = 0.2  # of the time: where no limit saves so much, the busiest part or latency is named, and no limit
    NEAR = 0.8  # of the greatest gain: as good as the greatest

    def times(self, program, gpu, limit):
        file = self.folder / f"{program.stem}-{gpu}-{limit}.json"
        self.ok("run", program, "--gpu", gpu, "--what-if", limit, f"--json={file}", "-o", "/dev/null")
        out = {}
        for kernel in json.loads(file.read_text())["kernels"]:
            name, time = kernel["name"], kernel["metrics"]["gpu.time"]["value"]
            longest = max(out.get(name, (0, 0, ""))[1], time)
            out[name] = (
                out.get(name, (0, 0, ""))[0] + time,
                longest,
                kernel["bottleneck"] if longest == time else out[name][2],
            )
        return out

    def test_the_sentence_names_what_gains_most(self):
        # Every third example on one GPU, in turns; all of them on all where there is time (some minutes).
        programs = [(p, self.GPUS[i % len(self.GPUS)]) for i, p in enumerate(EXAMPLES[::3])]
        if EVERYTHING:
            programs = [(p, gpu) for gpu in self.GPUS for p in EXAMPLES]
        # The first limit compiles each program, once; the others find it in the cache.
        answers = {}
        for limits in (self.LIMITS[:1], self.LIMITS[1:]):
            jobs = [(p, gpu, limit) for p, gpu in programs for limit in limits]
            answers.update(zip(jobs, side_by_side(lambda job: self.times(*job), jobs)))
        named = estimates = 0
        for program, gpu in programs:
            runs = {limit: answers[program, gpu, limit] for limit in self.LIMITS}
            for kernel, (before, _, sentence) in runs["none"].items():
                gains = {limit: 1 - runs[limit][kernel][0] / before for limit in self.LIMITS[1:]}
                most = max(gains.values())
                causes = next((c for start, c in self.CAUSES if sentence.startswith(start)), set())
                with self.subTest(
                    gpu=gpu, kernel=kernel, sentence=sentence, gains={k: round(v, 2) for k, v in gains.items()}
                ):
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
        line = 1 + next(
            i
            for i, code in enumerate((SOURCE / "examples/transpose_naive.cu").read_text().splitlines())
            if "out[" in code
        )
        self.assertRegex(
            kernel["bottleneck"],
            rf"^Bound by uncoalesced stores \(transpose_naive\.cu:{line}\): .* 12\.5 % \(global\.store\.efficiency\)",
        )
        self.assertRegex(
            text,
            rf"Coalescing: of the sectors that they touch, threads use 12\.5 % in stores\s+\(transpose_naive\.cu:{line}\)",
        )
        (row,) = kernel["tables"]["coalescing"]["rows"]
        row = dict(zip(kernel["tables"]["coalescing"]["columns"], row))
        self.assertEqual((row["kind"], row["line"], row["use"]), ("store", line, 0.125))
        self.assertEqual(row["sectors"], kernel["metrics"]["global.store.sectors"]["value"])
        remedies = json.loads(self.ok("explain", "t.json", "--json", "--rerun").stdout)["remedies"]
        self.assertEqual(remedies[0]["what_if"], "perfect-coalescing")

    def test_loads_stores_and_atomics_are_told_apart(self):
        self.file(
            "strided.cu",
            """
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
""",
        )
        text = ALL_OUT.sub(" ", self.ok("run", "strided.cu", "--gpu", "v100", "--json=s.json").stderr)
        self.assertIn(
            "threads use 12.5 % in loads (strided.cu:4), 12.5 % in stores (strided.cu:5), 12.5 % in atomics (strided.cu:6)",
            text,
        )
        metrics = json.loads((self.folder / "s.json").read_text())["kernels"][0]["metrics"]
        self.assertEqual(
            [metrics[f"atomic.{what}"]["value"] for what in ("requests", "sectors", "bytes", "efficiency")],
            [256, 8192, 32768, 0.125],
        )

    def test_a_limit_that_loses_is_no_advice(self):
        """Whatever the model makes of it: a loss stands apart, has a reason and no remedy."""
        losses = 0
        for program, gpu in (
            ("bfs", "k40"),
            ("histogram", "h100"),
            *((("matmul_naive", "gtx480"), ("matmul_tiled", "h100")) if EVERYTHING else ()),
        ):
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
                packed = self.run_json("rows.cu", "--gpu", gpu, "--what-if", "perfect-coalescing")["kernels"][0][
                    "metrics"
                ]
                self.assertLess(packed["gpu.time"]["value"], plain["gpu.time"]["value"])
                # As much of the matrix; without L1's thrashing it may be less.
                self.assertLessEqual(packed["dram.read.bytes"]["value"], plain["dram.read.bytes"]["value"])
                self.assertGreaterEqual(packed["dram.read.bytes"]["value"], 4 * 4096 * 64)


if __name__ == "__main__":
    main()
