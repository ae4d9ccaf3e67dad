#!/usr/bin/env python3
"""Speed of the cycle-level simulation of the example programs, at sizes that fill the GPUs.

    bench/examples.py [--simtlab BINARY] [--gpus gtx480,v100,h100] [--threads 1,2] [--lowering counts,machine]
        [--sample ERROR] [--repeat N] [--cpu] [FILTER]

Prints a Markdown table: million warp instructions a second of wall time in the kernels (host.rate.warp_instructions), the best of
--repeat runs; with several numbers of threads also their ratio, with several lowerings the ratio of the seconds. With --cpu seconds are CPU time
of the whole run, which other work beside changes less. Programs are compiled once, into a scratch folder.
"""
import argparse
import json
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SIZES = {  # argument of the program
    "bfs": 1 << 17,
    "convolution2d": 1024,
    "dynamic_shared": 1 << 21,
    "gather": 1 << 19,
    "histogram": 1 << 22,
    "matmul_naive": 384,
    "matmul_tiled": 512,
    "nbody": 4096,
    "pointer_chase": 1 << 20,
    "reduction": 1 << 22,
    "saxpy": 1 << 22,
    "scan": 1 << 21,
    "scatter": 1 << 19,
    "stencil3d": 96,
    "transpose_naive": 1024,
    "transpose_tiled": 2048,
}


def run(simtlab, program, size, gpu, threads, lowering, sample, cpu):
    """Warp instructions a second in the kernels, the seconds that is, and the simulated cycles."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [simtlab, "run", "--gpu", gpu, "--threads", str(threads), "-q", f"--json={out.name}"]
        command += ["--lowering", lowering]
        if sample:
            command += ["--sample", sample]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*command, "--", program, str(size)], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        total = json.loads(pathlib.Path(out.name).read_text())["total"]
    instructions = total["gpu.instructions.warp"]["value"]
    seconds = instructions / total["host.rate.warp_instructions"]["value"]
    if cpu:
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return instructions / seconds, seconds, total["gpu.cycles"]["value"]


class Table:
    """Rates by column, and ratios between columns: a row an example, at last medians."""

    def __init__(self, gpus, lowerings, threads):
        self.runs = [(gpu, lowering, t) for gpu in gpus for lowering in lowerings for t in threads]
        several = len(lowerings) > 1
        self.names = [
            ", ".join([gpu] + ([lowering] if several else []) + [f"{t} thread{'s' * (t > 1)}"])
            for gpu, lowering, t in self.runs
        ]
        # Of rates by threads; of seconds by lowerings.
        self.ratios = [(gpu, low, t) for gpu, low, t in self.runs if t != threads[0] and t == threads[-1]]
        self.seconds = [(gpu, low, t) for gpu, low, t in self.runs if low != lowerings[0]]
        self.names += [f"{gpu}, {low + ', ' if several else ''}ratio" for gpu, low, _ in self.ratios]
        self.names += [f"{gpu}, {low} over {lowerings[0]}, seconds" for gpu, low, _ in self.seconds]
        self.threads, self.lowerings = threads, lowerings
        self.columns = [[] for _ in self.names]
        print("| example | size | " + " | ".join(self.names) + " |")
        print("|---|" + "---|" * (len(self.names) + 1))

    def add(self, name, size, best):
        """best: by run the best rate and its seconds."""
        values = [best[r][0] / 1e6 for r in self.runs]
        values += [best[r][0] / best[r[0], r[1], self.threads[0]][0] for r in self.ratios]
        values += [best[r][1] / best[r[0], self.lowerings[0], r[2]][1] for r in self.seconds]
        for column, value in zip(self.columns, values):
            column.append(value)
        print(f"| {name} | {size} | " + " | ".join(f"{v:.2f}" for v in values) + " |", flush=True)

    def medians(self):
        if any(self.columns):
            print("| median | | " + " | ".join(f"{statistics.median(c):.2f}" for c in self.columns) + " |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--simtlab", default=str(ROOT / "build/release/bin/simtlab"))
    parser.add_argument("--gpus", default="gtx480,v100,h100")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--lowering", default="machine", help="what PTX runs as, e.g. counts,machine")
    parser.add_argument("--sample")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--cpu", action="store_true", help="CPU seconds of the whole run")
    parser.add_argument("filter", nargs="?", default="")
    o = parser.parse_args()
    table = Table(o.gpus.split(","), o.lowering.split(","), [int(t) for t in o.threads.split(",")])
    with tempfile.TemporaryDirectory() as folder:
        for name, size in SIZES.items():
            if o.filter not in name:
                continue
            program = f"{folder}/{name}"
            subprocess.run([o.simtlab, "build", str(ROOT / f"examples/{name}.cu"), "-o", program], check=True)
            best, cycles = {}, {}
            for gpu, low, t in table.runs:
                runs = [run(o.simtlab, program, size, gpu, t, low, o.sample, o.cpu) for _ in range(o.repeat)]
                best[gpu, low, t] = max(runs)
                cycles.setdefault((gpu, low), set()).update(r[2] for r in runs)
            for (gpu, low), found in cycles.items():
                if len(found) != 1:
                    sys.exit(f"{name} on {gpu} by {low}: cycles differ between runs: {found}")
            table.add(name, size, best)
    table.medians()


if __name__ == "__main__":
    main()
