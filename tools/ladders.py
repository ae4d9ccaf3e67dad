#!/usr/bin/env python3
"""Runs the ladders of examples/ladders and prints each step's time beside the one that a board was measured to take.

Each step runs by the machine code that simtlab makes of its PTX (ours) and by that of the vendor's compiler (vendor); with
--code ptx also by PTX as it stands. What two differ by is what the code is worth; what is left of the error by the vendor's
is the core's.
Finished steps are kept in the folder, so that a run that was interrupted goes on where it was.

The vendor's compiler is needed (nvcc). CUDA 13 no longer makes code for V100: then --ptxas names one of CUDA 12 (the
package nvidia-cuda-nvcc-cu12 has it), which assembles the PTX of nvcc.

usage: ladders.py [--simtlab PATH] [--nvcc PATH] [--ptxas PATH] [--folder FOLDER] [--sources FOLDER] [--only LADDER[:STEP]]...
                  [--code CODE]... [--gpu NAME] [--option="--sample 0.05"]... [--table]
Exit codes: 0 all steps ran, 1 some did not, 7 a tool is missing.
"""
import argparse
import csv
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PUBLISHED = ROOT / "data/measured/ladders.csv"
SOURCES = ROOT / "examples/ladders"
OPERATIONS = {"sgemm": lambda n: 2 * n**3, "transpose": lambda n: 8 * n**2}  # of the quantity that was published
GENERATION = {"rtxa6000": 86, "a40": 86, "v100": 70, "a100": 80, "h100": 90, "h200": 90, "rtx2060": 75}
OLDEST = 75  # that CUDA 13 makes code for
CODES = {
    "ptx": ("PTX", ["--code", "ptx", "--lowering", "counts"]),
    "ours": ("our machine code", ["--code", "ptx"]),
    "vendor": ("the vendor's", ["--code", "machine"]),
}
MISSING = 7


def published(only):
    """Rows of the table of measurements, with the time in microseconds."""
    with open(PUBLISHED, encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    for row in rows:
        value, size = float(row["value"]), int(row["size"])
        if row["quantity"] == "time":
            row["us"] = value / 1e3
        else:  # GFLOPS or GB/s
            row["us"] = OPERATIONS[row["ladder"]](size) / value / 1e3
    wanted = [tuple(text.split(":")) for text in only]
    return [row for row in rows if not wanted or any((row["ladder"], row["step"])[: len(w)] == w for w in wanted)]


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def commands_for(nvcc, ptxas, source, target, generation):
    """What nvcc would do, with the assembler of an older CUDA for a generation that this one has given up."""
    dry = run([nvcc, "--dryrun", "-O3", "-std=c++17", f"-arch=sm_{OLDEST}", "-cudart", "shared", "-o", target, source])
    script = ["set -e"]
    for line in dry.stderr.splitlines():
        command = line.removeprefix("#$ ")
        if command == line:
            continue
        made = re.match(r'ptxas -arch=sm_\d+ -m64\s+("[^"]+")\s+-o ("[^"]+")', command)
        if made:
            ptx, cubin = made.groups()
            script.append(
                f"sed -i 's/^.target sm_{OLDEST}/.target sm_{generation}/; s/^.version .*/.version 8.7/' {ptx}"
            )
            command = f'"{ptxas}" -arch=sm_{generation} -m64 {ptx} -o {cubin}'
        elif command.startswith("fatbinary") and " -link " not in command:
            command = command.replace(f"sm={OLDEST},", f"sm={generation},")
        if command.startswith("rm "):
            command = "rm -f " + command[3:]
        if re.match(r"_SPACE_=|INCLUDES=|SYSTEM_INCLUDES=|LIBRARIES=", command):
            continue  # only for reading
        script.append(command if not re.match(r"\w+=", command) else "export " + command.strip())
    return "\n".join(script)


def build(tools, ladder, generation, folder):
    """The executable of a ladder with machine code and PTX of one generation."""
    target = folder / f"{ladder}.sm_{generation}"
    source = pathlib.Path(tools.sources).resolve() / f"{ladder}.cu"
    if target.exists() and target.stat().st_mtime > source.stat().st_mtime:
        return target
    if generation >= OLDEST:
        done = run(
            [tools.nvcc, "-O3", "-std=c++17", f"-arch=sm_{generation}", "-cudart", "shared", "-o", target, source]
        )
    else:
        if tools.ptxas is None:
            print(f"ladders.py: {ladder} for sm_{generation} needs --ptxas of CUDA 12", file=sys.stderr)
            sys.exit(MISSING)
        done = run(["bash", "-c", commands_for(tools.nvcc, tools.ptxas, source, target, generation)], cwd=folder)
    if done.returncode != 0:
        print(f"ladders.py: {source} was not built:\n{done.stderr}", file=sys.stderr)
        sys.exit(MISSING)
    return target


def simulate(tools, program, row, code, folder):
    """One step: its time in microseconds, and the seconds of the host. None: it failed."""
    gpu = tools.gpu or row["gpu"]
    options = [word for option in tools.option for word in option.split()]
    name = "-".join([gpu, row["ladder"], row["step"], code] + [re.sub(r"\W+", "_", o) for o in options])
    kept = folder / f"{name}.json"
    if not kept.exists():
        begin = time.monotonic()
        part = folder / f"{name}.part"
        command = [tools.simtlab, "run", "--gpu", gpu, *CODES[code][1], f"--json={part}", *options, "--", program]
        done = run([*command, row["step"], row["size"]])
        if done.returncode != 0:
            print(f"{name}: exit code {done.returncode}\n{done.stderr[-2000:]}", file=sys.stderr)
            return None
        print(f"{name}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
        part.rename(kept)
    data = json.loads(kept.read_text())
    kernel = data["kernels"][-1]["metrics"]
    return {
        "us": kernel["gpu.time"]["value"] / 1e3,
        "host": data["total"]["host.wall_time"]["value"],
        "sampled": "sampling.error" in kernel or "gpu.sampled" in kernel,
    }


def error_of(got, want):
    return "" if got is None else f"{(got / want - 1) * 100:+.0f} %"


def table(rows, results):
    """Markdown: a line a step, and the mean error of each ladder."""
    codes = [code for code in CODES if any(key[2] == code for key in results)]
    both = "ours" in codes and "vendor" in codes
    heads = [cell for code in codes for cell in (f"{CODES[code][0]}, us", "error")]
    heads += ["ours beside the vendor's"] if both else []
    lines = ["| ladder | step | kernel | measured, us | " + " | ".join(heads) + " |", "|---" * (4 + len(heads)) + "|"]
    errors = {}  # by ladder and what is compared
    for row in rows:
        ladder = f"{row['gpu']}, {row['ladder']}"
        cells = [ladder, row["step"], row["kernel"], f"{row['us']:.0f}"]
        found = {code: results.get((row["ladder"], row["step"], code)) for code in codes}
        pairs = [(code, found[code], row["us"]) for code in codes]
        for what, got, want in pairs:
            cells += ["", ""] if got is None else [f"{got['us']:.0f}", error_of(got["us"], want)]
        if both and found["ours"] and found["vendor"]:
            pairs.append(("both", found["ours"], found["vendor"]["us"]))
            cells.append(error_of(found["ours"]["us"], found["vendor"]["us"]))
        elif both:
            cells.append("")
        for what, got, want in pairs:
            if got is not None:
                errors.setdefault((ladder, what), []).append(abs(got["us"] / want - 1) * 100)
        lines.append("| " + " | ".join(cells) + " |")
    whats = codes + (["both"] if both else [])
    heads = [heads[2 * i].removesuffix(", us") if what != "both" else heads[-1] for i, what in enumerate(whats)]
    lines += [
        "",
        "| ladder | " + " | ".join(f"{h}: mean, worst" for h in heads) + " |",
        "|---" * (1 + len(heads)) + "|",
    ]
    for ladder in dict.fromkeys(f"{row['gpu']}, {row['ladder']}" for row in rows):
        of = [errors.get((ladder, what)) for what in whats]
        lines.append(
            f"| {ladder} | "
            + " | ".join("" if e is None else f"{statistics.mean(e):.0f} %, {max(e):.0f} %" for e in of)
            + " |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simtlab", default="simtlab")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--ptxas", help="of CUDA 12, for generations before sm_75")
    parser.add_argument("--folder", default="ladders", help="for executables and results")
    parser.add_argument("--sources", default=SOURCES, help="the folder of the ladders")
    parser.add_argument("--only", action="append", default=[], metavar="LADDER[:STEP]")
    parser.add_argument("--code", action="append", default=[], choices=CODES)
    parser.add_argument("--gpu", help="another device than the one that was measured")
    parser.add_argument("--option", action="append", default=[], help='of `simtlab run`: "--sample 0.05"')
    parser.add_argument("--table", action="store_true", help="only print what the folder has")
    tools = parser.parse_args()
    for name in ("simtlab", "nvcc"):
        found = shutil.which(getattr(tools, name))
        if found is None and not tools.table:
            print(f"ladders.py: {name} is not there ({getattr(tools, name)})", file=sys.stderr)
            return MISSING
        setattr(tools, name, str(pathlib.Path(found).resolve()) if found else None)
    folder = pathlib.Path(tools.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    rows, results, failed = published(tools.only), {}, False
    for row in rows:
        for code in tools.code or ("ours", "vendor"):
            program = None
            if not tools.table:
                program = build(tools, row["ladder"], GENERATION[tools.gpu or row["gpu"]], folder)
            elif not list(folder.glob(f"{tools.gpu or row['gpu']}-{row['ladder']}-{row['step']}-{code}*.json")):
                continue
            found = simulate(tools, program, row, code, folder)
            failed = failed or found is None
            if found is not None:
                results[row["ladder"], row["step"], code] = found
    print(table(rows, results))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
