#!/usr/bin/env python3
"""Runs the examples of data/measured/gpgpusim.csv at cycle level, at the sizes of that table, for `simtlab validate timing --results RESULTS`.

    bench/cross_check.py RESULTS [--simtlab BINARY] [FILTER]

Writes RESULTS/DEVICE/EXAMPLE.json. Programs are compiled for sm_70, as for that table, into a scratch folder, and each PTX instruction costs one
(--lowering off), as it does in GPGPU-Sim.
"""
import argparse
import csv
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]


def rows(path):
    """The rows of a table of data/measured."""
    with open(path) as file:
        yield from csv.DictReader(line for line in file if line.strip() and not line.startswith("#"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--simtlab", default=str(ROOT / "build/release/bin/simtlab"))
    parser.add_argument("filter", nargs="?", default="")
    options = parser.parse_args()
    runs = dict.fromkeys(
        (r["device"], r["app"], r["size"])
        for r in rows(ROOT / "data/measured/gpgpusim.csv")
        if options.filter in r["app"]
    )
    with tempfile.TemporaryDirectory() as folder:
        for device, app, size in runs:
            program, out = f"{folder}/{app}", options.results / device / f"{app}.json"
            out.parent.mkdir(parents=True, exist_ok=True)
            if not pathlib.Path(program).exists():
                subprocess.run(
                    [options.simtlab, "build", "-arch=sm_70", str(ROOT / f"examples/{app}.cu"), "-o", program],
                    check=True,
                )
            subprocess.run(
                [
                    options.simtlab,
                    "run",
                    "--gpu",
                    device,
                    "--lowering",
                    "off",
                    "-q",
                    f"--json={out}",
                    "--",
                    program,
                    size,
                ],
                check=True,
            )


if __name__ == "__main__":
    main()
