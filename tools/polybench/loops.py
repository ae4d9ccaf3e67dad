#!/usr/bin/env python3
"""Every loop of PolyBench/C's kernels through `simtlab predict --simulate`: which are accepted, which refused and why, and the models beside the
simulation. PolyBench/C 4.2.1 is not part of simtlab: give the folder that it was unpacked into.
usage: loops.py FOLDER [--simtlab build/release/bin/simtlab] [--gpu v100] [--dataset SMALL]
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess

MODELS = ("throughput", "resios", "mwp-cwp-2012", "mwp-cwp")
SHORT = {
    "loop-dependence": "dependence",
    "loop-carried": "scalar carried",
    "loop-unproven": "unproven",
    "loop-empty": "does not run",
}


def loops_of(text):
    """Lines of the for statements between #pragma scop and #pragma endscop."""
    begin = next(i for i, line in enumerate(text) if "#pragma scop" in line)
    end = next(i for i, line in enumerate(text) if "#pragma endscop" in line)
    return [i + 1 for i in range(begin, end) if re.match(r"\s*for\s*\(", text[i])]


def predict(options, root, path, line):
    flags = f"-I{root}/utilities -D{options.dataset}_DATASET {root}/utilities/polybench.c"
    command = [
        options.simtlab,
        "predict",
        str(path),
        "--loop",
        f"{path}:{line}",
        "--cflags",
        flags,
        "--run",
        "",
        "--simulate",
        "--gpu",
        options.gpu,
        "--json",
    ]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        reason = re.search(r"\[([a-z-]+)\]", result.stderr)
        return {
            "line": line,
            "refused": reason.group(1) if reason else "?",
            "status": result.returncode,
            "text": result.stderr,
        }
    metrics = {k: v["value"] for k, v in json.loads(result.stdout)["total"].items()}
    simulated = metrics["predict.nest.simulated.time"]
    return {
        "line": line,
        "ratio": {m: metrics[f"predict.{m}.time"] / simulated for m in MODELS if f"predict.{m}.time" in metrics},
    }


def row(name, found):
    taken = [f for f in found if "ratio" in f]
    refused = {}
    for f in found:
        if "refused" in f:
            refused.setdefault(SHORT.get(f["refused"], f["refused"]), []).append(str(f["line"]))
    reasons = "; ".join(f"{reason} ({', '.join(lines)})" for reason, lines in refused.items())
    ratios = ", ".join(f"{f['ratio']['throughput']:.2f}" for f in taken if "throughput" in f["ratio"])
    return f"| {name} | {', '.join(str(f['line']) for f in taken)} | {ratios} | {reasons} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--simtlab", default="build/release/bin/simtlab")
    parser.add_argument("--gpu", default="v100")
    parser.add_argument("--dataset", default="SMALL")
    options = parser.parse_args()
    root = options.folder.resolve()
    everything = []
    print("| kernel | accepted (lines) | throughput / simulation | refused (lines) |\n|---|---|---|---|")
    for name in (root / "utilities/benchmark_list").read_text().split():
        path = root / name
        found = [predict(options, root, path, line) for line in loops_of(path.read_text().splitlines())]
        everything += found
        print(row(path.stem, found), flush=True)
    taken = [f for f in everything if "ratio" in f]
    print(f"\n{len(taken)} of {len(everything)} loops accepted.")
    for model in MODELS:
        ratios = [f["ratio"][model] for f in taken if model in f["ratio"]]
        if ratios:
            print(
                f"{model}: median {statistics.median(ratios):.2f}, mean absolute error {statistics.mean(abs(r - 1) for r in ratios):.0%}"
            )


if __name__ == "__main__":
    main()
