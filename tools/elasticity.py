#!/usr/bin/env python3
"""Moves every estimated number of device files by 20 % and says how much kernels move: data/devices/elasticity.csv.

Limits that no device file states and that have no source, whose defaults the reference has, are moved as well.

usage: elasticity.py [--gpu NAME,...] [--kinds KIND,...] [--simtlab PATH] [-j JOBS] [-o FILE]
       elasticity.py --top 10 [FILE]       the rows that move kernels most, as a Markdown table

A row is the largest change of the cycles of one of the kernels, up or down. Rows of devices that are not named stay as
they are. Values that are no numbers (policies, true and false) have no row, nor have those of which a step either way
makes a device that contradicts itself. Powers of two are doubled and halved.
"""
import argparse
import concurrent.futures
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEVICES = "v100,rtx2060,a40,a100,h100,h200"
KERNELS = (
    "bfs dynamic_shared gather histogram matmul_tiled nbody pointer_chase reduction saxpy scan stencil3d transpose_tiled"
).split()
UNSTATED = ("sm.unit_backlog", "sm.held_accesses", "sm.stores_in_flight", "interconnect.sm_backlog")
HEAD = "device,key,change,kernel"
STEP = 0.2


def output(command):
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(run.stderr.strip() or f"{command[0]} ended with {run.returncode}")
    return run.stdout


def number(value):
    """The number and the rest of "1.41 GHz"; None of what is no number."""
    match = re.fullmatch(r"(-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)( .*)?", value)
    return (float(match[1]), match[2] or "", "." not in match[1] and "e" not in match[1]) if match else None


def moved(value, factor):
    """The value moved by the factor, as --set takes it; whole numbers by one at least."""
    amount, unit, whole = number(value)
    there = amount * factor
    if not unit and whole:
        there = math.ceil(there) if factor > 1 else math.floor(there)
    if there == amount or there < 0:
        return None
    return f"{there:.10g}{unit}"


class Measurement:
    def __init__(self, simtlab, folder, gpu):
        self.simtlab, self.folder, self.gpu = simtlab, folder, gpu
        self.base = {kernel: self.cycles(kernel) for kernel in KERNELS}

    def cycles(self, kernel, setting=None):
        command = [self.simtlab, "run", f"{self.folder}/{kernel}.ptx", "--launch", f"{self.folder}/{kernel}.toml"]
        command += ["--gpu", self.gpu, "--json"] + (["--set", setting] if setting else [])
        return sum(k["metrics"]["gpu.cycles"]["value"] for k in json.loads(output(command))["kernels"])

    def change(self, kernel, setting, base):
        return abs(self.cycles(kernel, setting) / base[kernel] - 1)

    def base_of(self, key, value):
        """A device to compare with: setting a value of the simple memory chooses it, so that both sides have it."""
        if not key.startswith("dram."):
            return self.base
        return {kernel: self.cycles(kernel, f"{key}={value}") for kernel in KERNELS}

    def of(self, key, value):
        """The largest change and its kernel; None if the device cannot be moved in either direction."""
        largest = None
        base = self.base_of(key, value)
        for factors in ((1 + STEP, 2), (1 - STEP, 0.5)):
            for factor in factors:
                there = moved(value, factor)
                if there is None:
                    continue
                setting = f"{key}={there}"
                try:
                    changes = [(self.change(kernel, setting, base), kernel) for kernel in KERNELS]
                except RuntimeError:
                    continue  # a number of sets that is not whole, no power of two: the next factor
                largest = max(changes + ([largest] if largest else []))
                break
        return largest


def default_of(key):
    """What a device has that does not state the key, by the reference."""
    text = (ROOT / "docs/reference/devices.md").read_text()
    return re.search(rf"^\| `{re.escape(key)}` .*\(default ([^()]+)\) \|$", text, re.MULTILINE)[1]


def rows_of(simtlab, folder, gpu, kinds, jobs):
    listed = json.loads(output([simtlab, "list", "gpus", gpu, "--sources", "--json"]))["gpus"][0]["doubtful"]
    wanted = [v for v in listed if v["kind"] in kinds and number(v["value"])]
    wanted += [{"key": key, "value": default_of(key)} for key in UNSTATED]
    measurement = Measurement(simtlab, folder, gpu)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = pool.map(lambda v: measurement.of(v["key"], v["value"]), wanted)
        for value, largest in zip(wanted, found):
            if largest is None:
                print(f"{gpu} {value['key']}: cannot be moved", file=sys.stderr)
                continue
            change, kernel = largest
            print(f"{gpu} {value['key']} {change:.4f} {kernel}", file=sys.stderr, flush=True)
            yield [gpu, value["key"], f"{change:.5f}", kernel if change > 0 else ""]


def read(file):
    lines = file.read_text().splitlines() if file.is_file() else []
    return [line.split(",") for line in lines if line and not line.startswith("#") and line != HEAD]


def write(file, rows, command):
    text = f"# How much the kernels of the examples move with an estimated value: the largest change of the cycles of one of\n"
    text += f"# them when the value moves by {STEP:.0%}. Made by: {command}\n{HEAD}\n"
    file.write_text(text + "".join(",".join(row) + "\n" for row in sorted(rows)))


def top(file, count):
    print("| GPU | value | moves | kernel |\n|---|---|---|---|")
    for gpu, key, change, kernel in sorted(read(file), key=lambda row: -float(row[2]))[:count]:
        print(f"| `{gpu}` | `{key}` | {float(change):.1%} | `{kernel}` |".replace("%", " %"))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--gpu", default=DEVICES)
    parser.add_argument("--kinds", default="estimated")
    parser.add_argument("--simtlab", default=str(ROOT / "build/release/bin/simtlab"))
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", default=str(ROOT / "data/devices/elasticity.csv"))
    parser.add_argument("--top", type=int)
    options = parser.parse_args()
    file = pathlib.Path(options.output)
    if options.top:
        return top(file, options.top)
    gpus = options.gpu.split(",")
    with tempfile.TemporaryDirectory() as folder:
        output([sys.executable, "-B", str(ROOT / "tools/measure/launches.py"), folder, "--medium"])
        for kernel in KERNELS:
            source = str(ROOT / "examples" / f"{kernel}.cu")
            output([options.simtlab, "build", source, "-ptx", "-O3", "-arch=sm_70", "-o", f"{folder}/{kernel}.ptx"])
        for gpu in gpus:
            rows = [row for row in read(file) if row[0] != gpu]
            rows += rows_of(options.simtlab, folder, gpu, options.kinds.split(","), options.jobs)
            write(file, rows, f"tools/elasticity.py --kinds {options.kinds}")
    return None


if __name__ == "__main__":
    sys.exit(main())
