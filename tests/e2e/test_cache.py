"""simtlab cache: studies of kernels, programs and traces."""
import json
import xml.dom.minidom

from harness import EVERYTHING, SOURCE, SPIN, Case, main, needs_clang

PROBES = SOURCE / "data/probes/cache.ptx"


BULK = """
#include <cuda_runtime.h>
__global__ void k(int* o) {
  __shared__ __align__(16) int s[32];
  s[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;" ::"l"(o), "r"((unsigned)__cvta_generic_to_shared(s)));
}
int main() {
  int *d, h[32];
  cudaMalloc(&d, 128);
  k<<<1, 32>>>(d);
  if (cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost) != cudaSuccess) return 0;
  for (int i = 0; i < 32; ++i)
    if (h[i] != i) return 1;
}
"""


def matmul(n):
    buffer = f"buffer:{n}x{n}:f32"
    return [
        PROBES,
        "--kernel",
        "matmul",
        "--global",
        f"{n}x{n}",
        "--local",
        "16x16",
        "--arg",
        buffer,
        "--arg",
        buffer,
        "--arg",
        buffer,
        "--arg",
        f"u32:{n}",
    ]


def transpose(n):
    buffer = f"buffer:{n}x{n}:f32"
    return [
        PROBES,
        "--kernel",
        "transpose",
        "--global",
        f"{n}x{n}",
        "--local",
        "16x16",
        "--arg",
        buffer,
        "--arg",
        buffer,
        "--arg",
        f"u32:{n}",
        "--arg",
        f"u32:{n}",
    ]


class Cache(Case):
    def study(self, *arguments):
        return json.loads(self.ok("cache", *arguments, "--json").stdout)

    def value(self, result, name):
        return result["total"][name]["value"]

    def test_counts_add_up_over_sms_instructions_and_buffers(self):
        kernel = self.study(*matmul(96), "--gpu", "gtx480")["kernels"][0]
        metric = lambda name: kernel["metrics"][name]["value"]
        self.assertEqual(metric("l1.read.accesses"), 3 * 96 * 96 * 96 // 32)
        self.assertEqual(
            metric("l1.read.misses"),
            sum(metric("l1.read.misses." + c) for c in ("cold", "partial", "capacity", "conflict", "invalidated")),
        )
        self.assertEqual(sum(sm["l1.read.accesses"] for sm in kernel["sms"]), metric("l1.read.accesses"))
        for name in ("instructions", "buffers"):
            table = kernel["tables"][name]
            at = table["columns"].index("l1.read.misses")
            self.assertEqual(sum(row[at] for row in table["rows"]), metric("l1.read.misses"))
        self.assertEqual(len(kernel["tables"]["buffers"]["rows"]), 3)
        ratios = [row[3] for row in kernel["tables"]["miss_ratio"]["rows"] if row[0] == "l1"]
        self.assertEqual(ratios, sorted(ratios, reverse=True))

    def test_two_runs_are_byte_for_byte_the_same(self):
        strip = lambda r: {k: v for k, v in r.items() if k != "manifest"} | {
            "total": {k: v for k, v in r["total"].items() if not k.startswith("host.")}
        }
        first, second = (strip(self.study(*matmul(64), "--gpu", "v100", "--order", "random")) for _ in range(2))
        self.assertEqual(first, second)

    def test_a_result_file_prints_the_same_report(self):
        direct = self.ok("cache", *transpose(96), "--gpu", "gtx480", f"--json={self.folder / 'r.json'}").stdout
        again = self.ok("report", self.folder / "r.json").stdout
        self.assertIn("What stands out", direct)
        self.assertIn("conflict" if "conflict" in direct else "L1 reads", again)
        self.assertEqual(
            [line for line in direct.splitlines() if "Study:" not in line],
            [line for line in again.splitlines() if "Study:" not in line],
        )

    def test_the_report_names_buffers_and_bad_strides(self):
        text = " ".join(self.ok("cache", *transpose(160), "--gpu", "v100").stdout.split())
        self.assertIn("parameter 1", text)
        self.assertRegex(
            text,
            r"parameter 1 is written with stride 640 B between threads, 16 sectors a request, 25 % of their bytes used",
        )

    def test_orders_differ_and_all_of_them_see_the_same_threads(self):
        seen = {}
        for order in ("lrr", "gto", "oldest", "two_level", "sequential", "round_robin", "random"):
            r = self.study(*matmul(96), "--gpu", "gtx480", "--order", order)
            self.assertEqual(self.value(r, "access.threads"), 96 * 96 * (2 * 96 + 1))
            seen[order] = self.value(r, "l1.read.misses")
        self.assertGreater(len(set(seen.values())), 2)

    def test_without_an_order_warps_take_turns_as_on_the_device(self):
        for gpu, scheduler in (("gtx480", "gto"), ("v100", "lrr")):
            text = self.ok("cache", *matmul(96), "--gpu", gpu, f"--json={self.folder / 'own.json'}").stdout
            self.assertIn(f"accesses in the order {scheduler}: the device's warp scheduler", text)
            own = json.loads((self.folder / "own.json").read_text())
            self.assertEqual(own["kernels"][0]["order"], scheduler)
            named = self.study(*matmul(96), "--gpu", gpu, "--order", scheduler)
            self.assertEqual(own["kernels"][0]["metrics"], named["kernels"][0]["metrics"])
        other = self.study(*matmul(96), "--gpu", "gtx480", "--set", "sm.scheduler=two_level")
        self.assertEqual(other["kernels"][0]["order"], "two_level")
        self.assertIn(
            "the device's warp scheduler is gto",
            self.ok("cache", *matmul(96), "--gpu", "gtx480", "--order", "random").stdout,
        )

    def test_single_threads_have_no_time(self):
        for order in ("sequential", "round_robin", "random"):
            r = self.study(*matmul(64), "--gpu", "gtx480", "--order", order)
            self.assertEqual(self.value(r, "l1.read.hits_pending"), 0)
            self.assertEqual(self.value(r, "l1.read.stalled"), 0)
            at_once = self.study(*matmul(64), "--gpu", "gtx480", "--order", order, "--zero-latency")
            self.assertEqual(r["kernels"][0]["metrics"], at_once["kernels"][0]["metrics"])
        for option in ("--jitter=5", "--skew=5", "--wait=use", "--turn=access", "--allocate=on-fill"):
            self.fails(
                2,
                "cache",
                *matmul(32),
                "--gpu",
                "gtx480",
                "--order",
                "random",
                option,
                says="no meaning where single threads",
            )

    def test_geometry_is_the_devices(self):
        small = self.study(*matmul(96), "--gpu", "gtx480", "--set", "l1.bytes=4KiB", "--set", "l1.set_index=hash")
        large = self.study(*matmul(96), "--gpu", "gtx480", "--set", "l1.bytes=64KiB", "--set", "l1.set_index=hash")
        self.assertGreater(self.value(small, "l1.read.misses"), self.value(large, "l1.read.misses"))
        for policy in ("lru", "plru", "fifo", "lfu", "mfu", "random"):
            self.study(*matmul(32), "--gpu", "gtx480", "--set", f"l1.replacement={policy}")
        self.study(*matmul(32), "--gpu", "gtx480", "--set", "l1.set_index=bits", "--set", "l1.set_bits=7 8 9 10 13")

    def test_geometry_that_cannot_be_is_refused(self):
        for setting, says in (
            ("l1.ways=3", "no whole number of sets"),
            ("l1.ways=1000", "no whole number of sets"),
            ("l1.bytes=48KiB", "32 or 64 sets"),
            ("l1.line_bytes=96B", "power of two"),
            ("l1.bytes=nan", "'nan'"),
            ("l1.replacement=belady", "unknown value"),
            ("l1.set_index=bits", "do not number"),
            ("l1.set_bits=7 7", ""),
        ):
            if says:
                self.fails(3, "cache", *matmul(32), "--gpu", "gtx480", "--set", setting, says=says)
        self.fails(
            3,
            "cache",
            *matmul(32),
            "--gpu",
            "gtx480",
            "--set",
            "l1.set_index=bits",
            "--set",
            "l1.set_bits=7 7 8 9 10",
            says="twice",
        )
        self.fails(
            3,
            "cache",
            *matmul(32),
            "--gpu",
            "gtx480",
            "--set",
            "l1.set_index=bits",
            "--set",
            "l1.set_bits=2 7 8 9 10",
            says="within a line",
        )

    def test_options_that_cannot_be_are_refused(self):
        for option, value in (
            ("--order", "fastest"),
            ("--prefetch", "all"),
            ("--allocate", "never"),
            ("--sms", "3-1"),
            ("--sms", "a"),
            ("--sms", "0-99"),
            ("--groups", "-1"),
            ("--reuse-sample", "0"),
            ("--reuse-sample", "nan"),
            ("--jitter", "-4"),
            ("--wait", "x"),
            ("--turn", "x"),
        ):
            self.fails(2, "cache", *matmul(32), "--gpu", "gtx480", f"{option}={value}")
        self.fails(2, "cache", *matmul(32), "--mode", "timing")

    @needs_clang
    def test_warps_that_wait_in_shared_memory_let_the_others_go(self):
        self.ok("cache", SOURCE / "examples/check/phases.cu", "--gpu", "v100", "--order", "gto")

    @needs_clang
    def test_bulk_copies_are_refused(self):
        self.file("bulk.cu", BULK)
        self.fails(4, "cache", "bulk.cu", "--gpu", "h100", says="are executed by `run` and `check` alone")
        self.fails(4, "run", "bulk.cu", "--gpu", "h100", "--record", "k.trace", says="are not recorded")
        self.ok("build", "-ptx", "-arch=sm_90", "bulk.cu", "-o", "bulk.ptx")
        shape = ("--kernel", "_Z1kPi", "--global", "32", "--local", "32", "--static")
        self.fails(4, "predict", "bulk.ptx", "--gpu", "h100", *shape, says="counted wrongly")
        self.ok("run", "bulk.cu", "--gpu", "h100")

    def test_a_program_is_studied_kernel_by_kernel(self):
        run = self.ok(
            "cache", SOURCE / "examples/saxpy.cu", "--gpu", "a100", f"--json={self.folder / 's.json'}", "--", "10000"
        )
        result = json.loads((self.folder / "s.json").read_text())
        self.assertEqual(result["manifest"]["mode"], "cache")
        self.assertGreater(self.value(result, "l1.read.misses.cold"), 0)
        self.assertIn("saxpy", run.stderr)

    def test_a_recorded_trace_gives_what_the_kernel_gave(self):
        self.ok("run", *transpose(96), "--gpu", "gtx480", "--record", self.folder / "t.simt")
        direct = self.study(*transpose(96), "--gpu", "gtx480")
        replayed = self.study(self.folder / "t.simt", "--gpu", "gtx480")
        for name in ("l1.read.accesses", "l1.read.misses", "l2.read.misses", "access.threads", "access.sectors"):
            self.assertEqual(self.value(replayed, name), self.value(direct, name), name)

    def test_pictures_are_well_formed(self):
        folder = self.folder / "pictures"
        self.ok("cache", *matmul(64), "--gpu", "gtx480", "--plot", folder)
        names = {p.name for p in folder.iterdir()}
        self.assertEqual(
            names,
            {
                "accesses.svg",
                "accesses_sms.svg",
                "sets.svg",
                "set_map.svg",
                "reuse.svg",
                "miss_ratio.svg",
                "cache.html",
            },
        )
        for name in names - {"cache.html"}:
            document = xml.dom.minidom.parse(str(folder / name))
            self.assertTrue(document.getElementsByTagName("title"))
        for name in ("accesses.svg", "accesses_sms.svg"):  # a panel for each buffer
            self.assertEqual(len(xml.dom.minidom.parse(str(folder / name)).getElementsByTagName("desc")), 3)
        page = (folder / "cache.html").read_text()
        self.assertIn("<h1>matmul</h1>", page)
        self.assertNotIn("http-equiv", page)
        self.assertNotIn("src=", page)

    def test_a_sweep_is_a_table_over_all_combinations(self):
        text = self.ok(
            "cache",
            *matmul(64),
            "--gpu",
            "gtx480",
            "--sweep",
            "size=16K:64K",
            "ways=4,3",
            "policy=lru,fifo",
            f"--csv={self.folder / 's.csv'}",
        ).stdout
        rows = text.splitlines()
        hints = [row for row in rows if row.startswith("hint: ")]
        self.assertEqual(len(rows), 1 + 3 * 2 * 2 + len(hints))
        self.assertIn(
            "hint: l1.set_index=hash takes any number of sets (of sizes and ways varied: index=hash), "
            "and so does modulo",
            hints,
        )
        any_size = self.ok("cache", *matmul(64), "--gpu", "gtx480", "--sweep", "size=4K:64K", "ways=1:8", "index=hash")
        self.assertEqual(len(any_size.stdout.splitlines()), 1 + 5 * 4)
        self.assertNotIn("Fermi", any_size.stdout)
        self.assertIn("Fermi", text)  # 48 KiB and more are no 32 or 64 sets: said, and the sweep goes on
        self.assertEqual(len((self.folder / "s.csv").read_text().splitlines()), 13)
        document = json.loads(
            self.ok("cache", *matmul(32), "--gpu", "v100", "--sweep", "order=lrr,sequential", "--json").stdout
        )
        self.assertEqual([p["point"] for p in document["sweep"]], [{"order": "lrr"}, {"order": "sequential"}])
        for bad in ("size", "size=", "size=K:4K", "size=8K:4K", "size=1,,2"):
            self.fails(2, "cache", *matmul(32), "--sweep", bad)
        self.fails(3, "cache", *matmul(32), "--sweep", "l1.nothing=1,2", says="l1.nothing")

    def test_a_comparison_has_both_sides(self):
        self.ok("cache", *matmul(64), "--gpu", "gtx480", f"--json={self.folder / 'a.json'}")
        text = self.ok(
            "cache", *matmul(64), "--gpu", "gtx480", "--compare", self.folder / "a.json", "order=gto,l1.mshr_entries=8"
        ).stdout
        self.assertIn("L1 miss rate", text)
        document = json.loads(
            self.ok("cache", *matmul(64), "--gpu", "gtx480", "--compare", "order=lrr", "order=lrr", "--json").stdout
        )
        self.assertTrue(all(m["a"] == m["b"] for m in document["metrics"].values()))
        self.fails(3, "cache", *matmul(64), "--compare", self.folder / "none.json", "order=gto")

    def test_heads_of_a_comparison_say_what_differs(self):
        both = "l1.write_policy=write_through,l1.write_allocate="
        for a, b, heads in (
            (both + "true", both + "false", ("true", "false")),
            ("l1.write_policy=write_back", "l1.write_policy=write_evict", ("write_back", "write_evict")),
            ("order=lrr", "order=gto", ("order=lrr", "order=gto")),
        ):
            text = self.ok("cache", *matmul(32), "--gpu", "gtx480", "--compare", a, b).stdout
            self.assertEqual(text.splitlines()[0].split(), [*heads, "change"])

    def test_stores_are_in_the_report_and_in_a_comparison(self):
        once = self.ok("cache", *transpose(64), "--gpu", "gtx480").stdout
        self.assertRegex(
            once, r"L1 stores  2\.05 k: 0\.0 % find their line, 100\.0 % do not \(write_evict, no allocation\)"
        )
        self.assertRegex(once, r"L2 stores  2\.05 k: .*\(write_back, allocates\)")
        document = json.loads(
            self.ok(
                "cache",
                *transpose(256),
                "--gpu",
                "gtx480",
                "--compare",
                "l1.write_policy=write_evict",
                "l1.write_policy=write_back,l1.write_allocate=true",
                "--json",
            ).stdout
        )["metrics"]
        self.assertEqual(document["l1.write.accesses"], {"a": 256 * 256 / 2, "b": 256 * 256 / 2})
        self.assertEqual(document["l1.writebacks"]["a"], 0)  # what is evicted is no one's to write back
        self.assertGreater(document["l1.writebacks"]["b"], 1000)

    def test_a_store_fetches_what_it_does_not_fill_if_asked_to(self):
        # A column of the transposed matrix: one word of each line.
        kernel = [*transpose(64), "--gpu", "gtx480", "--set", "l1.write_allocate=true"]
        kernel += ["--set", "l1.write_policy=write_back"]
        kept = self.study(*kernel)
        self.assertNotIn("l1.write.fetched.bytes", kept["total"])
        fetched = self.study(*kernel, "--fetch-on-write")
        self.assertGreater(self.value(fetched, "l1.write.fetched.bytes"), 64 * 64 * 4)
        # All that is stored is a line that L1 completed: nothing is left for L2.
        self.assertEqual(self.value(fetched, "l2.write.fetched.bytes"), 0)
        self.assertGreater(self.value(fetched, "dram.read.bytes"), self.value(kept, "dram.read.bytes"))
        text = self.ok("cache", *kernel, "--fetch-on-write").stdout
        self.assertRegex(text, r"L1 stores .* KiB fetched to complete them \(write_back, allocates\)")
        both = json.loads(
            self.ok("cache", *kernel, "--compare", "fetch_on_write=0", "fetch_on_write=1", "--json").stdout
        )["metrics"]
        self.assertEqual(
            both["dram.read.bytes"],
            {"a": self.value(kept, "dram.read.bytes"), "b": self.value(fetched, "dram.read.bytes")},
        )

    def test_blocks_alternate(self):
        # Two blocks beside each other and two below: 16 threads of a row each.
        kernel = [*transpose(32), "--gpu", "gtx480", "--set", "sm.count=1", "--order", "round_robin"]
        order = {}
        for name, more in (("apart", []), ("alternate", ["--alternate-blocks"])):
            self.study(*kernel, *more, "--schedule", f"{name}.trace")
            lines = (self.folder / f"{name}.trace").read_text().splitlines()
            order[name] = [int(line.split()[2]) for line in lines[1:1025]]
        self.assertEqual(order["apart"], [block for block in range(4) for _ in range(256)])
        rows = [[0, 1]] * 16 + [[2, 3]] * 16
        self.assertEqual(order["alternate"], [block for row in rows for block in row for _ in range(16)])
        self.study(*kernel, "--warp-size", "32", "--alternate-blocks", "--schedule", "warps.trace")
        warps = [line.split()[2:4] for line in (self.folder / "warps.trace").read_text().splitlines()[1:1025:32]]
        self.assertEqual(warps, [[str(block), str(warp)] for warp in range(8) for block in range(4)])
        for other in ("lrr", "random"):
            self.fails(
                2,
                "cache",
                *matmul(32),
                "--gpu",
                "gtx480",
                "--order",
                other,
                "--alternate-blocks",
                says="by their numbers",
            )

    @needs_clang
    def test_buffers_have_the_names_of_the_source(self):
        source = self.folder / "names.cu"
        source.write_text(
            "__global__ void copy(const float* in, /* (a, b) */ float* out) {\n"
            "  out[threadIdx.x] = in[threadIdx.x];  // copy(\n}\n"
            "int main() { float *a, *b; cudaMalloc(&a, 256); cudaMalloc(&b, 256); copy<<<1, 64>>>(a, b);"
            " return cudaDeviceSynchronize(); }\n"
        )
        kernel = self.study(source, "--gpu", "v100")["kernels"][0]
        self.assertEqual({row[0] for row in kernel["tables"]["buffers"]["rows"]}, {"in", "out"})

    def test_a_schedule_is_written_and_read_again(self):
        kernel = [*matmul(48), "--gpu", "gtx480", "--set", "sm.count=1"]
        for order in (["--order", "lrr"], ["--order", "round_robin", "--warp-size", "16"], ["--order", "random"]):
            whole = self.study(*kernel, *order, "--zero-latency", "--schedule", "s.trace")
            width = {"lrr": 32, "round_robin": 16, "random": 1}[order[1]]
            lines = (self.folder / "s.trace").read_text().splitlines()
            self.assertEqual(lines[0], f"{width} 9")
            self.assertEqual(len(lines) - 1, self.value(whole, "access.threads"))
            accesses = [line.split() for line in lines[1:]]
            self.assertEqual({a[1] for a in accesses}, {"R", "W"})
            self.assertEqual({int(a[2]) for a in accesses}, set(range(9)))
            self.assertEqual({int(a[3]) for a in accesses}, set(range(256 // width)))
            again = self.study("s.trace", "--gpu", "gtx480", "--set", "sm.count=1", *order, "--zero-latency")
            for name in ("access.threads", "l1.write.accesses"):
                self.assertEqual(self.value(again, name), self.value(whole, name), order)
            if order[1] == "lrr":  # the same warps, and the same instructions of each
                self.assertEqual(self.value(again, "l1.read.accesses"), self.value(whole, "l1.read.accesses"))
        self.assertFalse([p.name for p in self.folder.iterdir() if p.name.startswith("s.trace.")])
        self.fails(2, "cache", *kernel, "--schedule", "s.trace", "--json=s.trace")
        self.fails(2, "cache", *kernel, "--schedule", "s.trace", "--sweep", "ways=1:4", says="--schedule")
        self.fails(2, "cache", *kernel, "--order", "lrr", "--warp-size", "16", says="goes with an order of threads")
        self.fails(2, "cache", *kernel, "--order", "random", "--warp-size", "3", says="a power of two")
        self.fails(2, "cache", *kernel, "--fetch-group", "4", says="no fetch groups")

    def test_a_text_of_accesses_is_a_trace(self):
        # Two threads of two groups, as an instrumented kernel wrote them down: neighbours of one line.
        text = "local size:16 16 1\n" + "".join(
            f"0x9CAE0{4 * i:02X}F0000319|0x{t:x}|0x{i + 1:x}0000000000\n" for i in range(4) for t in (0, 1, 16)
        )
        file = self.file("threads.trace", text + "0x1|0x0|0x0\n0x1|0x1|0x0\n0x1|0x10|0x0\n-----\n")
        study = self.study(file, "--gpu", "gtx480")
        self.assertIn("grid 2x1x1, block 16x16x1", self.ok("cache", file, "--gpu", "gtx480").stdout)
        self.assertEqual(self.value(study, "access.threads"), 12)
        self.assertEqual(self.value(study, "access.requests"), 8)  # threads 0 and 1 together
        self.assertEqual(self.value(study, "l1.read.misses.cold"), 2)
        self.ok("trace", "convert", file, "-o", "threads.simt")
        self.assertEqual(self.study("threads.simt", "--gpu", "gtx480")["kernels"], study["kernels"])
        self.ok("run", file, "--gpu", "gtx480")
        wrong = self.file("wrong.trace", text + "0x9CAE000B0000319|0x0|0x0\n")
        self.fails(3, "cache", wrong, "--gpu", "gtx480", says="wrong.trace:14")

    def test_limits_leave_a_partial_result(self):
        stopped = self.simtlab(
            "cache", *matmul(256), "--gpu", "gtx480", "--max-cycles", "2000", f"--json={self.folder / 'p.json'}"
        )
        self.assertEqual(stopped.returncode, 1)
        self.assertIn("[limit-cycles]", stopped.stderr)
        result = json.loads((self.folder / "p.json").read_text())
        self.assertTrue(result["kernels"][0]["partial"])
        self.assertGreater(self.value(result, "l1.read.accesses"), 0)

    def test_the_histories_of_lines_are_within_the_memory_limit(self):
        stopped = self.simtlab(
            "cache", *transpose(1024), "--gpu", "gtx480", "--max-memory", "16 MiB", f"--json={self.folder / 'm.json'}"
        )
        self.assertEqual(stopped.returncode, 1, stopped.stderr)
        self.assertIn("[limit-memory]", stopped.stderr)
        self.assertTrue(json.loads((self.folder / "m.json").read_text())["kernels"][0]["partial"])
        self.ok("cache", *transpose(1024), "--gpu", "gtx480", "--max-memory", "200 MiB")

    def test_single_threads_take_turns_without_cycles(self):
        refused = self.simtlab("cache", *matmul(64), "--gpu", "gtx480", "--order", "random", "--max-cycles", "2000")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("[option-conflict]", refused.stderr)
        # A limit of the configuration is for commands that count cycles.
        configuration = self.file("limit.toml", "max-cycles = 1\n")
        self.ok("cache", *matmul(64), "--gpu", "gtx480", "--order", "random", "--config", configuration)

    def test_the_seed_is_that_of_every_command(self):
        refused = self.simtlab("cache", *matmul(64), "--seed", "abc")
        self.assertIn("[option-value]", refused.stderr)
        seeded = self.file("seed.toml", "seed = 5\n")
        order = [*matmul(96), "--gpu", "gtx480", "--order", "random"]
        misses = [
            self.value(self.study(*order, *more), "l1.read.misses")
            for more in ([], ["--seed", "5"], ["--config", seeded])
        ]
        self.assertEqual(misses[1], misses[2])
        self.assertNotEqual(misses[0], misses[1])

    def test_hints_name_the_command_that_was_given(self):
        self.assertIn("simtlab cache app.cu", self.simtlab("cache").stderr)
        self.assertIn("simtlab run app.cu", self.simtlab("run").stderr)

    def test_a_loop_without_end_can_be_stopped_in_every_order(self):
        ptx = self.file("endless.ptx", SPIN)
        for order in ("lrr", "sequential", "random"):
            stopped = self.simtlab(
                "cache",
                ptx,
                "--grid",
                "1",
                "--block",
                "32",
                "--arg",
                "buffer:4:u32",
                "--order",
                order,
                "--max-time",
                "1",
                timeout=60,
            )
            self.assertEqual(stopped.returncode, 1, stopped.stderr)
            self.assertIn("[limit-time]", stopped.stderr)

    @needs_clang
    def test_what_is_validated_is_what_a_user_gets(self):
        table = (SOURCE / "docs/lab/cache.md").read_text()
        source, buffer = SOURCE / "data/probes/cache.cl", "buffer:144x144:f32"
        r = self.study(
            *(source, "--kernel", "matmul", "--gpu", "gtx480", "--global", "144x144", "--local", "16x16"),
            *("--arg", buffer, "--arg", buffer, "--arg", buffer, "--arg", "s32:144"),
        )
        rate = [100 * self.value(r, f"l1.read.miss_rate.{what}") for what in ("median", "min", "max")]
        reads = [self.value(r, f"l1.read.accesses.{what}") for what in ("median", "min", "max")]
        self.assertIn(
            f"| matmul | 16x9 | - | - | {reads[0]:.0f} | {reads[1]:.0f} to {reads[2]:.0f} | 11.7 % | 6.4 % | "
            f"{rate[0]:.2f} % | {rate[1]:.2f} to {rate[2]:.2f} % |",
            table,
        )

    @needs_clang
    def test_beside_published_counters(self):
        # The published cases; all that fit beside the cycle level, which take five times as long, with --all.
        checked = self.simtlab("validate", "cache", "--check", "--gate", *([] if EVERYTHING else ["--quick"]))
        text = checked.stdout
        self.assertEqual(checked.returncode, 6)
        self.assertIn("[validate-target]", checked.stderr)  # and not the gate, which comes first
        self.assertIn("No row is worse or gone.", text)
        self.assertIn("| stencil | 64x1 | 11778 |", text)
        self.assertIn("| transpose | 16x10 | 96 | 112 | 96 |", text)
        missed = [line for line in text.splitlines() if line.startswith("- missed")]
        self.assertTrue(all("matmul" in line for line in missed), missed)
        table = (SOURCE / "docs/lab/cache.md").read_text()
        for line in text.partition("## Gate")[0].splitlines():
            if line.startswith("| ") and "none" not in line:
                self.assertIn(line, table, "stale: simtlab validate cache, into docs/lab/cache.md")


if __name__ == "__main__":
    main()
