#!/usr/bin/env python3
"""One GPU, many memories: runs the kernels of examples/ on a simulated GTX 480 under memories from DDR2 to HBM.

    study.py                                all kernels and memories, tables on stdout (minutes)
    study.py --quick                        small inputs, few memories: what the tests run
    study.py --write docs/lab/memory-study.md   replaces the tables of the page

Every result is checked (see check()); one that cannot be is an error, and the exit status says so.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
GPU = "gtx480"


class Kernel(NamedTuple):
    name: str  # of the program in examples/
    size: int  # its argument in the study
    quick: int  # and in the quick mode
    nature: str


KERNELS = [
    Kernel("saxpy", 1 << 20, 1 << 18, "streams: two read, one written"),
    Kernel("reduction", 1 << 22, 1 << 19, "stream, read only"),
    Kernel("scan", 1 << 20, 1 << 16, "prefix sum in two passes"),
    Kernel("stencil3d", 96, 48, "seven-point stencil, neighbours come from caches"),
    Kernel("convolution2d", 512, 128, "5 x 5 window from caches"),
    Kernel("transpose_naive", 1024, 256, "writes by columns"),
    Kernel("transpose_tiled", 1024, 256, "by tiles in shared memory"),
    Kernel("matmul_tiled", 320, 64, "arithmetic on tiles in shared memory"),
    Kernel("histogram", 1 << 22, 1 << 17, "atomics on shared memory"),
    Kernel("bfs", 1 << 16, 1 << 12, "graph: divergent, scattered reads"),
    Kernel("gather", 1 << 18, 1 << 15, "random reads of single words"),
    Kernel("scatter", 1 << 18, 1 << 15, "random writes of single words"),
    Kernel("pointer_chase", 1 << 20, 1 << 16, "60 lone threads, each load needs the one before"),
]
STREAMS = ("saxpy", "gather")  # bound by bandwidth, whatever the memory
QUICK_KERNELS = ("saxpy", "scatter", "pointer_chase")


class Memory(NamedTuple):
    label: str
    technology: str
    channels: int
    made_of: str  # what stands at the place of one 64-bit partition


MEMORIES = [
    Memory("DDR2", "ddr2-800", 6, "a DIMM of 64 bits"),
    Memory("DDR3", "ddr3-1600", 6, "a DIMM of 64 bits"),
    Memory("DDR4", "ddr4-3200", 6, "a DIMM of 64 bits"),
    Memory("GDDR5", "gddr5-gtx480", 6, "two devices of 32 bits, as built"),
    Memory("GDDR6", "gddr6-14000", 24, "four channels of 16 bits (two devices)"),
    Memory("PCM", "pcm-800", 6, "a module of 64 bits"),
    Memory("HBM x6", "hbm-1000", 6, "a channel of 128 bits"),
    Memory("HBM x12", "hbm-1000", 12, "two channels of 128 bits"),
    Memory("HBM x18", "hbm-1000", 18, "three channels of 128 bits"),
]
BASELINE = "GDDR5"
QUICK_MEMORIES = ("GDDR5", "PCM", "HBM x6", "HBM x18")

LOSSES = ("row_miss", "bank_group", "activation", "turnaround", "rank", "refresh", "power_down", "command", "idle")
# What refresh costs where latency counts.
REFRESH_KERNELS = ("histogram", "reduction", "pointer_chase")
REFRESH_MEMORIES = ("DDR3", "DDR4", "GDDR5", "GDDR6", "HBM x12")
NO_REFRESH = "without refresh"  # appended to the label of the memory

# For the imbalance: channels, L2 slices.
SPREADS = [(6, 12), (12, 12), (18, 12), (8, 8)]
SPREAD_KERNELS = ("saxpy", "gather")


class Job(NamedTuple):
    kernel: Kernel
    memory: Memory
    size: int
    settings: tuple = ()


class Result:
    """The numbers of one run: of the program as a whole, and of its longest kernel."""

    def __init__(self, data):
        self.total = {k: v["value"] for k, v in data["total"].items()}
        longest = max(data["kernels"], key=lambda k: k["metrics"]["gpu.cycles"]["value"])
        self.kernel = {k: v["value"] for k, v in longest["metrics"].items()}
        self.configuration = {c["key"]: c["value"] for c in data["manifest"]["configuration"]}

    def __getitem__(self, metric):
        return self.total[metric]

    def row_hits(self):
        hits, others = self["dram.row.hits"], self["dram.row.misses"] + self["dram.row.conflicts"]
        return hits / max(1, hits + others)

    def units(self, key):
        return int(self.configuration[key])

    def classic(self, name):
        """A classic stall counter as a share of the cycles of the parts in which it counts."""
        parts = self.units("sm.count" if name == "shared_memory" else "l2.slices")
        return self[f"gpu.stall.classic.{name}"] / (parts * self["gpu.cycles"])


# The memory of a job: a name, or a file that states what differs.
def technology_of(memory, folder):
    if not memory.label.endswith(NO_REFRESH):
        return memory.technology
    return str(folder / f"{memory.technology}-without-refresh.toml")


def write_technologies(memories, folder):
    for memory in memories:
        if memory.label.endswith(NO_REFRESH):
            pathlib.Path(technology_of(memory, folder)).write_text(
                f'inherits = "{memory.technology}"\n'
                'commands.refresh = { value = "none", estimated = "to see what refresh costs" }\n'
            )


def run_job(job, simtlab, folder):
    technology = technology_of(job.memory, folder)
    name = "-".join(
        [job.kernel.name, str(job.size), pathlib.Path(technology).stem, str(job.memory.channels), *job.settings]
    )
    out = folder / (name.replace("=", "_") + ".json")
    if not out.exists():
        command = [simtlab, "run", "--gpu", GPU, "--dram", technology, "--channels", str(job.memory.channels)]
        for setting in job.settings:
            command += ["--set", setting]
        command += [f"--json={out}", "-q", str(HERE.parent / f"{job.kernel.name}.cu"), "--", str(job.size)]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        except OSError as error:
            raise SystemExit(f"study.py: {simtlab}: {error.strerror}: say where it is (--simtlab or $SIMTLAB)")
        if done.returncode != 0:
            out.unlink(missing_ok=True)
            raise SystemExit(f"study.py: {' '.join(command)}\nended with status {done.returncode}:\n{done.stdout}")
    return Result(json.loads(out.read_text()))


def run_all(jobs, arguments, folder):
    results = {}
    write_technologies({job.memory for job in jobs}, folder)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        pending = {pool.submit(run_job, job, arguments.simtlab, folder): job for job in jobs}
        for number, future in enumerate(concurrent.futures.as_completed(pending), 1):
            try:
                results[pending[future]] = future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
            if sys.stderr.isatty():
                print(f"\r{number} of {len(jobs)}", end="", file=sys.stderr, flush=True)
    return results


# What no result may break, whatever the model.
def check(results, say):
    for job, r in results.items():
        name = f"{job.kernel.name} on {job.memory.label} {' '.join(job.settings)}"
        bus = r["dram.bus.data"] + sum(r[f"dram.loss.{loss}"] for loss in LOSSES)
        say(abs(bus - 1) < 1e-6, f"{name}: shares of the bus add up to {bus}")
        stalls = sum(value for key, value in r.total.items() if key.startswith("stall."))
        say(abs(stalls - 1) < 1e-6, f"{name}: stall reasons add up to {stalls}")
        # What is written into a queued write or read from one moves, but not on the bus; what is queued when the kernel ends
        # has the bus for itself.
        accesses = r["dram.accesses.read"] + r["dram.accesses.write"]
        queued = r.units("controller.queues.write") * r.units("dram.partitions") * r["program.kernels"]
        apart = queued + r["dram.accesses.merged"] + r["dram.accesses.forwarded"]
        say(r["dram.utilisation"] <= 1 + apart / max(1, accesses), f"{name}: more than the peak bandwidth")
        say(
            apart > 0.01 * accesses or abs(r["dram.bus.data"] - r["dram.utilisation"]) < 0.02,
            f"{name}: {r['dram.bus.data']:.3f} of the bus is data, but {r['dram.utilisation']:.3f} of the peak is moved",
        )
    for job, r in results.items():
        if job.settings or job.kernel.name not in STREAMS:
            continue
        other = {
            j.memory.label: q["gpu.cycles"] for j, q in results.items() if j.kernel == job.kernel and not j.settings
        }
        for slow, fast in (
            ("HBM x6", "HBM x12"),
            ("HBM x12", "HBM x18"),
            ("HBM x6", "HBM x18"),
            ("DDR2", "DDR3"),
            ("DDR3", "DDR4"),
            ("PCM", "GDDR5"),
            ("GDDR5", "GDDR6"),
        ):
            if slow in other and fast in other:
                say(other[fast] <= other[slow] * 1.02, f"{job.kernel.name}: {fast} is slower than {slow}")


def table(head, rows):
    numbers = [all(row[i].replace(".", "").isdigit() for row in rows) for i in range(len(head))]
    lines = ["| " + " | ".join(head) + " |", "|" + "".join("---:|" if number else "---|" for number in numbers)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def percent(value):
    return f"{100 * value:.1f}"


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


class Tables:
    def __init__(self, results, kernels, memories):
        self.kernels, self.memories = kernels, memories
        self.of = {(j.kernel.name, j.memory.label): r for j, r in results.items() if not j.settings}
        self.spread = {(j.kernel.name, j.memory.channels, *j.settings): r for j, r in results.items() if j.settings}
        self.labels = [m.label for m in memories]

    def grid(self, cell):
        return [[k.name, *(cell(self.of[k.name, m]) for m in self.labels)] for k in self.kernels]

    def by_kernel(self, cell):
        return table(["kernel", *self.labels], self.grid(cell))

    def memories_table(self):
        rows = []
        for m in self.memories:
            r = self.of[self.kernels[0].name, m.label]
            c = r.configuration
            rate = c["technology.clock.data_rate"]
            width = int(c["technology.organisation.channel_width"].split()[0])
            latency = float(c["dram.latency"].split()[0]) / (float(c["sm.clock"].split()[0]))
            rows.append(
                [
                    m.label,
                    f"`{m.technology}`",
                    f"{m.channels} x {width}",
                    rate,
                    f"{float(c['dram.bandwidth'].split()[0]):.1f}",
                    f"{latency:.0f}",
                    c["dram.access_bytes"].split()[0],
                    m.made_of,
                ]
            )
        return table(
            [
                "memory",
                "technology",
                "channels x bits",
                "rate",
                "peak GB/s",
                "idle latency ns",
                "access B",
                "one partition is",
            ],
            rows,
        )

    def kernels_table(self):
        rows = [[k.name, k.nature, percent(self.of[k.name, BASELINE]["dram.utilisation"])] for k in self.kernels]
        return table(["kernel", "what it does", f"% of {BASELINE}'s peak"], rows)

    def speed_up(self):
        def factor(kernel, memory):
            return self.of[kernel, BASELINE]["gpu.cycles"] / self.of[kernel, memory]["gpu.cycles"]

        rows = [[k.name, *(f"{factor(k.name, m):.2f}" for m in self.labels)] for k in self.kernels]
        mean = [geometric_mean([factor(k.name, m) for k in self.kernels]) for m in self.labels]
        return table(["kernel", *self.labels], rows + [["geometric mean", *(f"{v:.2f}" for v in mean)]])

    def mean(self, memory, metric):
        return sum(self.of[k.name, memory][metric] for k in self.kernels) / len(self.kernels)

    def losses(self):
        shown = [x for x in LOSSES if any(self.mean(m, f"dram.loss.{x}") >= 0.0005 for m in self.labels)]
        rows = [
            [m, percent(self.mean(m, "dram.bus.data")), *(percent(self.mean(m, f"dram.loss.{x}")) for x in shown)]
            for m in self.labels
        ]
        return table(["memory", "data", *shown], rows)

    def losses_of(self, memory):
        shown = [x for x in LOSSES if any(self.of[k.name, memory][f"dram.loss.{x}"] >= 0.0005 for k in self.kernels)]
        rows = []
        for k in self.kernels:
            r = self.of[k.name, memory]
            rows.append([k.name, percent(r["dram.bus.data"]), *(percent(r[f"dram.loss.{x}"]) for x in shown)])
        return table(["kernel", "data", *shown], rows)

    def stalls(self):
        reasons = sorted(
            {key for r in self.of.values() for key in r.total if key.startswith("stall.")},
            key=lambda key: -self.mean(BASELINE, key),
        )
        shown = [x for x in reasons if any(self.mean(m, x) >= 0.01 for m in self.labels)]
        rows = [[m, *(percent(self.mean(m, x)) for x in shown)] for m in self.labels]
        return table(["memory", *(x.removeprefix("stall.") for x in shown)], rows)

    def refresh(self):
        rows = []
        for k in self.kernels:
            if k.name in REFRESH_KERNELS:
                pairs = [
                    (self.of[k.name, m], self.of.get((k.name, f"{m} {NO_REFRESH}")))
                    for m in REFRESH_MEMORIES
                    if m in self.labels
                ]
                rows.append([k.name, *(f"{r['gpu.cycles'] / q['gpu.cycles']:.2f}" if q else "" for r, q in pairs)])
        return table(["kernel", *(m for m in REFRESH_MEMORIES if m in self.labels)], rows)

    def imbalance(self):
        rows = []
        for channels, slices in SPREADS:
            for kernel in SPREAD_KERNELS:
                runs = [
                    self.spread.get((kernel, channels, f"l2.slices={slices}", f"l2.slice_hash={h}"))
                    for h in ("bits", "even")
                ]
                if None in runs:
                    continue
                bits, even = runs
                cells = [
                    f"{r.kernel[metric]:.3f}"
                    for metric in ("l2.slice.imbalance", "dram.partition.imbalance")
                    for r in runs
                ]
                rows.append(
                    [kernel, str(slices), str(channels), *cells, f"{bits['gpu.cycles'] / even['gpu.cycles']:.2f}"]
                )
        return table(
            [
                "kernel",
                "slices",
                "channels",
                "slices, bits",
                "slices, even",
                "channels, bits",
                "channels, even",
                "speed-up of the cure",
            ],
            rows,
        )

    def all(self):
        out = {
            "memories": self.memories_table(),
            "kernels": self.kernels_table(),
            "speed-up": self.speed_up(),
            "ipc": self.by_kernel(lambda r: f"{r['gpu.ipc']:.1f}"),
            "utilisation": self.by_kernel(lambda r: percent(r["dram.utilisation"])),
            "row-hits": self.by_kernel(lambda r: percent(r.row_hits())),
            "losses": self.losses(),
            "losses-gddr5": self.losses_of(BASELINE),
            "stalls": self.stalls(),
        }
        for name in ("dram_full", "icnt_to_sm", "shared_memory"):
            out[name.replace("_", "-")] = self.by_kernel(lambda r, name=name: percent(r.classic(name)))
        out["refresh"] = self.refresh()
        out["imbalance"] = self.imbalance()
        return out


def write_page(path, tables):
    text = path.read_text()
    for name, content in tables.items():
        begin, end = f"<!-- table {name} -->\n", f"\n<!-- end of {name} -->"
        first, last = text.find(begin), text.find(end)
        if first < 0 or last < first:
            raise SystemExit(
                f"study.py: {path} has no place for the table {name}: lines '{begin.strip()}' and '{end.strip()}'"
            )
        text = text[: first + len(begin)] + content + text[last:]
    path.write_text(text)


def jobs_of(quick):
    kernels = [k for k in KERNELS if not quick or k.name in QUICK_KERNELS]
    memories = [m for m in MEMORIES if not quick or m.label in QUICK_MEMORIES]
    jobs = [Job(k, m, k.quick if quick else k.size) for k in kernels for m in memories]
    jobs += [
        Job(k, m._replace(label=f"{m.label} {NO_REFRESH}"), k.quick if quick else k.size)
        for k in kernels
        if k.name in REFRESH_KERNELS
        for m in memories
        if m.label in REFRESH_MEMORIES
    ]
    for channels, slices in SPREADS[:1] if quick else SPREADS:
        memory = Memory(f"HBM x{channels}", "hbm-1000", channels, "")
        jobs += [
            Job(k, memory, k.quick if quick else k.size, (f"l2.slices={slices}", f"l2.slice_hash={h}"))
            for k in kernels
            if k.name in SPREAD_KERNELS
            for h in ("bits", "even")
        ]
    return kernels, memories, jobs


def arguments_of(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--simtlab", default=os.environ.get("SIMTLAB", "simtlab"), help="the program (default $SIMTLAB or simtlab)"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time (default: processors)")
    parser.add_argument("--quick", action="store_true", help="small inputs, few memories")
    parser.add_argument(
        "--results",
        type=pathlib.Path,
        metavar="FOLDER",
        help="keep the JSON results here and repeat none that is there (empty it after a change of simtlab)",
    )
    parser.add_argument(
        "--write", type=pathlib.Path, metavar="PAGE", help="replace the tables of this page instead of printing them"
    )
    return parser.parse_args(argv)


def main(argv):
    arguments = arguments_of(argv)
    kernels, memories, jobs = jobs_of(arguments.quick)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.results or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        results = run_all(jobs, arguments, folder)
    wrong = []
    check(results, lambda right, sentence: right or wrong.append(sentence))
    tables = Tables(results, kernels, memories).all()
    if arguments.write:
        write_page(arguments.write, tables)
    else:
        print("\n\n".join(f"**{name}**\n\n{content}" for name, content in tables.items()))
    for sentence in wrong:
        print(f"study.py: implausible: {sentence}", file=sys.stderr)
    print(f"memory_study: {'FAIL' if wrong else 'PASS'} ({len(results)} runs)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
