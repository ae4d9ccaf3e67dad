#!/usr/bin/env python3
"""Speed of the cycle-level simulation of the example programs, at sizes that fill the GPUs.

    bench/examples.py [--simtlab BINARY] [--gpus gtx480,v100,h100] [--threads 1,2] [--sample ERROR] [FILTER]

Prints a Markdown table: million warp instructions a second of wall time in the kernels (host.rate.warp_instructions), the best of
--repeat runs; with several numbers of threads also their ratio. Programs are compiled once, into a scratch folder.
"""
import argparse
import json
import pathlib
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


def run(simtlab, program, size, gpu, threads, sample):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [simtlab, "run", "--gpu", gpu, "--threads", str(threads), "-q", f"--json={out.name}"]
        if sample:
            command += ["--sample", sample]
        subprocess.run([*command, "--", program, str(size)], check=True, stdout=subprocess.DEVNULL)
        total = json.loads(pathlib.Path(out.name).read_text())["total"]
    return (
        total["host.rate.warp_instructions"]["value"],
        total["occupancy.achieved"]["value"],
        total["gpu.cycles"]["value"],
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--simtlab", default=str(ROOT / "build/release/bin/simtlab"))
    parser.add_argument("--gpus", default="gtx480,v100,h100")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--sample")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("filter", nargs="?", default="")
    options = parser.parse_args()
    threads = [int(t) for t in options.threads.split(",")]
    gpus = options.gpus.split(",")
    columns = [f"{gpu}, {t} thread{'s' * (t > 1)}" for gpu in gpus for t in threads]
    ratios = [f"{gpu}, ratio" for gpu in gpus] if len(threads) > 1 else []
    print("| example | size | " + " | ".join(columns + ratios) + " |")
    print("|---|" + "---|" * (len(columns) + len(ratios) + 1))
    rates = {c: [] for c in columns + ratios}
    with tempfile.TemporaryDirectory() as folder:
        for name, size in SIZES.items():
            if options.filter not in name:
                continue
            program = f"{folder}/{name}"
            subprocess.run([options.simtlab, "build", str(ROOT / f"examples/{name}.cu"), "-o", program], check=True)
            cells, ratio_cells = [], []
            for gpu in gpus:
                best, cycles = [], set()
                for t in threads:
                    runs = [run(options.simtlab, program, size, gpu, t, options.sample) for _ in range(options.repeat)]
                    best.append(max(r[0] for r in runs))
                    cycles |= {r[2] for r in runs}
                    rates[f"{gpu}, {t} thread{'s' * (t > 1)}"].append(best[-1])
                    cells.append(f"{best[-1] / 1e6:.2f}")
                if len(cycles) != 1:
                    sys.exit(f"{name} on {gpu}: cycles differ between runs: {cycles}")
                if ratios:
                    rates[f"{gpu}, ratio"].append(best[-1] / best[0])
                    ratio_cells.append(f"{best[-1] / best[0]:.2f}")
            print(f"| {name} | {size} | " + " | ".join(cells + ratio_cells) + " |", flush=True)
    if any(rates.values()):
        medians = [statistics.median(rates[c]) / (1 if c in ratios else 1e6) for c in columns + ratios]
        print("| median | | " + " | ".join(f"{m:.2f}" for m in medians) + " |")


if __name__ == "__main__":
    main()
