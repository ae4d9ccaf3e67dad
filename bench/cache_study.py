#!/usr/bin/env python3
"""Speed of cache studies: thread accesses per processor second, executed and replayed, for the kernels of data/probes/cache.ptx.

    bench/cache_study.py [--simtlab BINARY] [--gpu gtx480] [--repeat 3] [FILTER]

The best of the repeats. `l1 exact` is --no-l2 --zero-latency, `l1` is --no-l2, `all` the defaults with L2; `sampled` follows 1 % of the reuse distances.
Replays leave out execution: the trace was recorded before. The last row is the stencil of the dissertation that took 45 minutes.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
MODES = {
    "all": [],
    "l1": ["--no-l2"],
    "l1 exact": ["--no-l2", "--zero-latency"],
    "sampled": ["--no-l2", "--reuse-sample", "0.01"],
}


def kernel(name, n):
    buffer = f"buffer:{n}x{n}:f32"
    shape = ["--kernel", name, "--global", f"{n}x{n}", "--local", "16x16", "--arg", buffer, "--arg", buffer]
    return shape + (
        ["--arg", buffer, "--arg", f"u32:{n}"] if name == "matmul" else ["--arg", f"u32:{n}", "--arg", f"u32:{n}"]
    )


def stencil():
    buffer = "buffer:524288:f32"
    return [
        "--kernel",
        "stencil",
        "--global",
        "128x126x30",
        "--local",
        "64x1",
        "--arg",
        buffer,
        "--arg",
        buffer,
        *(a for v in ("u32:128", "u32:128", "u32:32", "f32:0.5", "f32:0.1") for a in ("--arg", v)),
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--simtlab", default=str(ROOT / "build/release/bin/simtlab"))
    parser.add_argument("--gpu", default="gtx480")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("filter", nargs="?", default="")
    options = parser.parse_args()
    ptx = ROOT / "data/probes/cache.ptx"

    def rate(arguments, mode):
        best, wall = 0, 1e9
        for _ in range(options.repeat):
            out = subprocess.run(
                [options.simtlab, "cache", *map(str, arguments), "--gpu", options.gpu, *mode, "--json"],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
            total = json.loads(out)["total"]
            best, wall = max(best, total["host.rate.thread_accesses"]["value"]), min(
                wall, total["host.wall_time"]["value"]
            )
        return best / 1e6, wall

    cases = {
        "matmul 512": kernel("matmul", 512),
        "transpose 512": kernel("transpose", 512),
        "transpose 2048": kernel("transpose", 2048),
        "stencil 128x128x32": stencil(),
    }
    print(f"{'M thread accesses/s':<22}" + "".join(f"{m:>12}" for m in [*MODES, "replayed", "wall s"]))
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in cases.items():
            if options.filter not in name:
                continue
            rates = [rate([ptx, *arguments], mode) for mode in MODES.values()]
            trace = pathlib.Path(folder) / "trace.simt"
            subprocess.run(
                [
                    options.simtlab,
                    "run",
                    ptx,
                    *arguments,
                    "--mode",
                    "functional",
                    "--record",
                    trace,
                    "-q",
                    "-o",
                    "/dev/null",
                ],
                check=True,
            )
            replayed = rate([trace], MODES["l1 exact"])
            trace.unlink()
            print(
                f"{name:<22}" + "".join(f"{r:>12.1f}" for r, _ in rates) + f"{replayed[0]:>12.1f}{rates[0][1]:>12.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
