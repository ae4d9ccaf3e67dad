#!/usr/bin/env python3
"""Runs programs whose times on real boards were published, and prints what the simulated device takes beside them.

The tables are data/measured/board-*.csv, with the programs of examples/boards and examples/textbook, and
data/measured/ladders.csv, with those of examples/ladders. A row says what to run and what the board took; rows of one
run share it. The error is that of the time: above 0 the simulated device is slower than the board.

Programs are compiled by `simtlab build`, and run by the machine code that simtlab makes (ours). With --nvcc that
compiler builds them, and --code vendor runs its machine code. CUDA 13 makes none for V100: then --ptxas names one of
CUDA 12. What has run is kept in the folder, so that a run that was interrupted goes on where it was; --fresh runs again
what is older than simtlab and its device files. Several of these tools may work in one folder.

FAMILY:TEXT takes the rows whose device, group, words and result have the text: "textbook:array add 64".

--keep writes a row for each family and device (of copies, and where a group has an aim of its own, for each group) that
has run whole to data/validation/timing.recorded.csv, beside the error that is aimed at: what `simtlab validate page`
shows.

usage: boards.py [--simtlab PATH] [--folder FOLDER] [--only FAMILY[:TEXT]]... [--jobs N] [--gpu NAME]
                 [--option="--threads 1"]... [--code CODE]... [--nvcc PATH [--ptxas PATH]] [--fresh] [--table]
                 [--rows | --worst N] [--list] [--keep]
Exit codes: 0 all rows ran, 1 some did not, 2 wrong words, 7 a tool is missing.
"""
import argparse
import concurrent.futures
import csv
import dataclasses
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEASURED = ROOT / "data/measured"
OPERATIONS = {"sgemm": lambda n: 2 * n**3, "transpose": lambda n: 8 * n**2}  # of the quantity that was published
GENERATION = {
    "a100": 80,
    "a40": 86,
    "gtx580": 20,
    "h100": 90,
    "h200": 90,
    "k40": 35,
    "rtx2060": 75,
    "rtxa6000": 86,
    "titanx-maxwell": 52,
    "titanxp": 61,
    "v100": 70,
}
OLDEST = 75  # that CUDA 13 makes code for
CODES = {
    "ptx": ("PTX", ["--code", "ptx", "--lowering", "counts"]),
    "ours": ("our machine code", ["--code", "ptx"]),
    "vendor": ("the vendor's", ["--code", "machine"]),
}
BESIDE = "ours beside the vendor's"
RATES = ("GB/s", "GFLOPS", "lanes/cycle")  # of these more is less time
PRINTED = re.compile(r"^([\w.]+) = (\S+) (\S+)$", re.MULTILINE)
FAILED, WRONG_WORDS, MISSING = 1, 2, 7
KEPT = ROOT / "data/validation/timing.recorded.csv"


@dataclasses.dataclass(frozen=True)
class Aim:
    """What the mean error of a family is to be, and the worst one, as shares; None: nothing was aimed at."""

    mean: float | None
    worst: float | None = None
    role: str = "held out"  # as `simtlab validate` has them
    note: str = ""


AIMS = {
    ("strides", ""): Aim(0.03, role="tuned", note="the rule of tags and data was fitted to them"),
    ("sgemm", ""): Aim(0.12, 0.25, note="PTX of nvcc; one clock of 1.8 GHz for the whole ladder"),
    ("reduction", ""): Aim(0.12, role="tuned", note="PTX of nvcc; launch.block_latency was chosen on steps 0 to 3"),
    ("transpose", ""): Aim(0.15, note="PTX of nvcc"),
    ("textbook", ""): Aim(0.12),
    ("launch", "empty"): Aim(0.20, role="tuned", note="what a launch and a block cost was fitted to them"),
    ("launch", ""): Aim(0.20),
    ("small", ""): Aim(0.20),
    ("copies", "stream"): Aim(
        0.05, role="tuned", note="a queue of 64 requests was chosen on Titan X, Titan Xp and GTX 580, not on the K40"
    ),
    ("rules", ""): Aim(0.03, role="tuned", note="the device files have their values from these sources"),
    ("h100-units", ""): Aim(None, role="tuned", note="a run of examples/boards on an H100"),
    ("h100-kernels", ""): Aim(None, note="a run of the ladders and examples on an H100"),
}


@dataclasses.dataclass(frozen=True)
class Run:
    """One program with its words on one device."""

    gpu: str
    settings: str  # key=value;key=value
    program: str  # below examples/, without .cu
    words: str
    sample: str  # of --sample; empty: all blocks
    options: str = ""  # more of `simtlab run`


@dataclasses.dataclass(frozen=True)
class Row:
    family: str
    group: str  # of which a mean error is printed
    run: Run
    # A name that the program prints, or a metric of its last kernel; first.METRIC: of its first, all.METRIC: the sum
    result: str
    value: float
    unit: str


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def ladders():
    """Rows of the ladders: steps and sizes, times of a kernel or rates that come of them."""
    for row in read(MEASURED / "ladders.csv"):
        name, size, value = row["ladder"], int(row["size"]), float(row["value"])
        us = value / 1e3 if row["quantity"] == "time" else OPERATIONS[name](size) / value / 1e3
        run = Run(row["gpu"], "", f"ladders/{name}", f"{row['step']} {size}", "0.05")
        yield Row(name, name, run, "gpu.time", us, "us")


def published():
    """Every row of every table."""
    rows = list(ladders())
    for path in sorted(MEASURED.glob("board-*.csv")):
        for row in read(path):
            run = Run(row["gpu"], row["set"], row["program"], row["words"], row["sample"], row.get("options") or "")
            rows.append(Row(row["family"], row["group"], run, row["result"], float(row["value"]), row["unit"]))
    return rows


def chosen(rows, only):
    """FAMILY or FAMILY:TEXT, where the text is whole words of the row's device, group, words and result."""
    if not only:
        return rows
    families = {row.family for row in rows}
    wanted = [text.partition(":")[::2] for text in only]
    for family, _ in wanted:
        if family not in families:
            sys.exit(f"boards.py: no family '{family}'; there are {', '.join(sorted(families))}")

    def named(row, text):
        run = row.run
        return not text or f" {text} " in f" {run.gpu} {row.group} {run.words} {row.result} "

    return [row for row in rows if any(row.family == family and named(row, text) for family, text in wanted)]


def call(command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)


def commands_for(nvcc, ptxas, source, target, generation):
    """What nvcc would do, with the assembler of an older CUDA for a generation that this one has given up."""
    dry = call([nvcc, "--dryrun", "-O3", "-std=c++17", f"-arch=sm_{OLDEST}", "-cudart", "shared", "-o", target, source])
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


class Runner:
    def __init__(self, tools):
        self.tools = tools
        self.folder = pathlib.Path(tools.folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        newest = 0.0
        if tools.fresh:
            for path in (pathlib.Path(tools.simtlab), *ROOT.glob("data/devices/*.toml")):
                newest = max(newest, path.stat().st_mtime)
        self.oldest = newest  # kept runs from before this are made again

    def device(self, run):
        return self.tools.gpu or run.gpu

    def program(self, run):
        """The executable; None: it was not built."""
        generation = GENERATION.get(self.device(run))
        if generation is None:
            print(f"boards.py: {self.device(run)}: its generation is not known to this tool", file=sys.stderr)
            return None
        name = f"{run.program.replace('/', '-')}.sm_{generation}" + (".nvcc" if self.tools.nvcc else "")
        source, target = ROOT / "examples" / f"{run.program}.cu", self.folder / name
        if target.exists() and target.stat().st_mtime > source.stat().st_mtime:
            return target
        part = self.folder / f"{name}.{os.getpid()}"
        if self.tools.nvcc is None:
            done = call([self.tools.simtlab, "build", "-O3", f"-arch=sm_{generation}", source, "-o", part])
        elif generation >= OLDEST:
            done = call(
                [
                    self.tools.nvcc,
                    "-O3",
                    "-std=c++17",
                    f"-arch=sm_{generation}",
                    "-cudart",
                    "shared",
                    "-o",
                    part,
                    source,
                ]
            )
        elif self.tools.ptxas is None:
            print(f"boards.py: {run.program} for sm_{generation} needs --ptxas of CUDA 12", file=sys.stderr)
            return None
        else:
            script = commands_for(self.tools.nvcc, self.tools.ptxas, source, part, generation)
            done = call(["bash", "-c", script], cwd=self.folder)
        if done.returncode != 0:
            print(f"boards.py: {source} was not built:\n{done.stderr}", file=sys.stderr)
            return None
        part.replace(target)
        return target

    def kept(self, run, code):
        # The number of threads changes no result.
        options = [option for option in self.tools.option if not option.startswith("--threads")]
        words = [self.device(run), run.settings, run.program, run.words, run.sample, run.options, code, *options]
        return self.folder / ("-".join(re.sub(r"[^\w.=]+", "_", word) for word in words if word) + ".json")

    def results(self, run, code, program):
        """Values by name; None: it failed, or has not run and must not."""
        kept = self.kept(run, code)
        if kept.exists() and kept.stat().st_mtime >= self.oldest:
            return json.loads(kept.read_text())
        if self.tools.table or program is None:
            return None
        begin = time.monotonic()
        part = kept.with_suffix(f".{os.getpid()}")
        command = [self.tools.simtlab, "run", "-q", "--gpu", self.device(run), *CODES[code][1], f"--json={part}"]
        for setting in filter(None, run.settings.split(";")):
            command += ["--set", setting]
        command += ["--sample", run.sample] if run.sample else []
        command += [word for option in (run.options, *self.tools.option) for word in option.split()]
        done = call([*command, "--", program, *run.words.split()])
        if done.returncode != 0:
            print(f"{kept.stem}: exit code {done.returncode}\n{done.stderr[-2000:]}", file=sys.stderr)
            part.unlink(missing_ok=True)
            return None
        kernels = json.loads(part.read_text())["kernels"]
        found = {name: [float(value), unit] for name, value, unit in PRINTED.findall(done.stdout)}
        for name, unit, scale in (("gpu.time", "us", 1e-3), ("gpu.cycles", "cycles", 1)):
            found[name] = [kernels[-1]["metrics"][name]["value"] * scale, unit]
            found["first." + name] = [kernels[0]["metrics"][name]["value"] * scale, unit]
            found["all." + name] = [sum(kernel["metrics"][name]["value"] for kernel in kernels) * scale, unit]
        print(f"{kept.stem}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
        part.write_text(json.dumps(found))
        part.replace(kept)
        return found


def error_of(row, value):
    """Of the time, in percent."""
    return (row.value / value - 1 if row.unit in RATES else value / row.value - 1) * 100


def both_of(codes):
    return "ours" in codes and "vendor" in codes


def apart_of(row, values):
    """By how much our machine code takes longer than the vendor's, in percent."""
    ours, vendor = values.get((row, "ours")), values.get((row, "vendor"))
    if ours is None or vendor is None:
        return None
    return (vendor / ours - 1 if row.unit in RATES else ours / vendor - 1) * 100


def line(cells):
    return "| " + " | ".join(cells) + " |"


def table_of_rows(rows, values, codes):
    heads = ["family", "device", "what", "measured"]
    for code in codes:
        heads += [CODES[code][0], "error"]
    heads += [BESIDE] if both_of(codes) else []
    out = [line(heads), "|---" * len(heads) + "|"]
    for row in rows:
        what = row.group if "gpu." in row.result else f"{row.group}, {row.result}"
        cells = [row.family, row.run.gpu, f"{what}: {row.run.words}", f"{row.value:.5g} {row.unit}"]
        for code in codes:
            got = values.get((row, code))
            cells += ["", ""] if got is None else [f"{got:.5g}", f"{error_of(row, got):+.0f} %"]
        if both_of(codes):
            apart = apart_of(row, values)
            cells.append("" if apart is None else f"{apart:+.0f} %")
        out.append(line(cells))
    return "\n".join(out)


def table_of_groups(rows, values, codes):
    """Mean and worst error by family, device and group."""
    heads = ["family", "device", "group", "rows"]
    for code in codes:
        heads += [f"{CODES[code][0]}: mean error", "mean with sign", "worst"]
    heads += [f"{BESIDE}: mean"] if both_of(codes) else []
    out = [line(heads), "|---" * len(heads) + "|"]
    keys = [(row.family, row.run.gpu, row.group) for row in rows]
    of_family = [(family, gpu, "all") for family, gpu in dict.fromkeys(key[:2] for key in keys)]
    of_family = [key for key in of_family if len({k[2] for k in keys if k[:2] == key[:2]}) > 1]
    for key in (*dict.fromkeys(keys), *of_family):
        of_key = [row for row, k in zip(rows, keys) if k == key or (key[2] == "all" and k[:2] == key[:2])]
        cells = [*key, str(len(of_key))]
        for code in codes:
            errors = [error_of(row, values[row, code]) for row in of_key if values.get((row, code)) is not None]
            if errors:
                mean, signed = statistics.mean(map(abs, errors)), statistics.mean(errors)
                cells += [f"{mean:.1f} %", f"{signed:+.1f} %", f"{max(errors, key=abs):+.0f} %"]
            else:
                cells += ["", "", ""]
            if len(errors) < len(of_key):
                cells[3] = f"{len(errors)} of {len(of_key)}"
        if both_of(codes):
            apart = [abs(found) for row in of_key if (found := apart_of(row, values)) is not None]
            cells.append(f"{statistics.mean(apart):.1f} %" if apart else "")
        out.append(line(cells))
    return "\n".join(out)


def kept_rows(rows, values, code):
    """Of each family and device that has run whole, and of each group with an aim of its own: its errors as a row of
    the validation."""

    def key_of(row):
        own = (row.family, row.group) in AIMS or (row.family, "") not in AIMS
        return row.family, row.run.gpu, row.group if own else ""

    out = []
    for key in dict.fromkeys(map(key_of, rows)):
        family, gpu, group = key
        of_key = [row for row in rows if key_of(row) == key]
        errors = [error_of(row, values[row, code]) / 100 for row in of_key if (row, code) in values]
        if len(errors) < len(of_key):
            continue
        aim = AIMS.get((family, group)) or AIMS.get((family, "")) or Aim(None)
        out.append(
            {
                "group": "boards",
                "device": gpu,
                "quantity": f"{family}, {group}" if group else family,
                "over": f"mean of {len(errors)} times" if len(errors) > 1 else "",
                "unit": "times",
                "source": "data/measured/"
                + ("ladders.csv" if family in OPERATIONS or family == "reduction" else "board-*.csv"),
                "low": 1,
                "high": 1,
                "ours": f"{statistics.geometric_mean(1 + error for error in errors):.6g}",
                "error": f"{statistics.mean(map(abs, errors)):.6f}",
                "worst": f"{max(map(abs, errors)):.6f}",
                "target": "" if aim.mean is None else aim.mean,
                "worst_target": "" if aim.worst is None else aim.worst,
                "role": aim.role,
                "note": aim.note,
            }
        )
    return out


def keep(rows):
    """Puts them into the kept rows in the place of those of the same name."""
    text = KEPT.read_text(encoding="utf-8")
    comments = [line for line in text.splitlines() if line.startswith("#")]
    old = read(KEPT)
    name = lambda row: (row["group"], row["device"], row["quantity"])
    new = {name(row): row for row in rows}
    merged = [new.pop(name(row), row) for row in old] + list(new.values())
    part = KEPT.with_suffix(f".{os.getpid()}")
    with open(part, "w", encoding="utf-8", newline="") as file:
        file.write("".join(line + "\n" for line in comments))
        writer = csv.DictWriter(file, old[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(merged)
    part.replace(KEPT)


def words_of_the_command():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simtlab", default="simtlab")
    parser.add_argument("--nvcc", help="compiles the programs instead of `simtlab build`")
    parser.add_argument("--ptxas", help="of CUDA 12, for generations before sm_75")
    parser.add_argument("--folder", default="boards", help="for executables and results")
    parser.add_argument("--only", action="append", default=[], metavar="FAMILY[:TEXT]")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time")
    parser.add_argument("--gpu", help="another device than the one that was measured")
    parser.add_argument("--option", action="append", default=[], help='of `simtlab run`: "--threads 1"')
    parser.add_argument("--code", action="append", default=[], choices=CODES)
    parser.add_argument("--fresh", action="store_true", help="not what is older than simtlab")
    parser.add_argument("--table", action="store_true", help="only print what the folder has")
    parser.add_argument("--rows", action="store_true", help="print every row")
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="print the N rows that are off most")
    parser.add_argument("--list", action="store_true", help="only print families, devices and groups")
    parser.add_argument("--keep", action="store_true", help="write the errors of what has run to data/validation")
    tools = parser.parse_args()
    if tools.jobs < 1 or tools.worst < 0:
        parser.error("--jobs is at least 1, --worst at least 0")
    if "vendor" in tools.code and not tools.nvcc and not tools.table:
        parser.error("--code vendor needs --nvcc")
    if tools.keep and (
        tools.gpu
        or any(not option.startswith("--threads") for option in tools.option)
        or tools.code not in ([], ["ours"])
    ):
        parser.error("--keep is for the boards that were measured, by our machine code and without other options")
    return tools


def main():
    tools = words_of_the_command()
    rows = chosen(published(), tools.only)
    if not rows:
        print("boards.py: no row is so named", file=sys.stderr)
        return WRONG_WORDS
    if tools.list:
        for key, count in table_of_counts(rows):
            print(*key, f"({count})")
        return 0
    for name in ("simtlab", "nvcc"):
        word = getattr(tools, name)
        found = shutil.which(word) if word else None
        if word and found is None and not tools.table:
            print(f"boards.py: {name} is not there ({word})", file=sys.stderr)
            return MISSING
        setattr(tools, name, str(pathlib.Path(found).resolve()) if found else None)
    runner, codes = Runner(tools), tools.code or ["ours"]
    runs = [(run, code) for run in dict.fromkeys(row.run for row in rows) for code in codes]
    programs = {}
    if not tools.table:
        for run, _ in runs:
            key = (run.program, GENERATION.get(runner.device(run)))
            if key not in programs:
                programs[key] = runner.program(run)

    def results(of):
        run, code = of
        return runner.results(run, code, programs.get((run.program, GENERATION.get(runner.device(run)))))

    with concurrent.futures.ThreadPoolExecutor(tools.jobs) as pool:
        found = dict(zip(runs, pool.map(results, runs)))
    values, failed = {}, False
    for row in rows:
        for code in codes:
            got = found[row.run, code]
            if got is not None and row.result not in got:
                print(f"boards.py: {row.run.program} {row.run.words} prints no '{row.result}'", file=sys.stderr)
            elif got is not None and got[row.result][1] != row.unit:
                print(f"boards.py: {row.run.program}: {row.result} is not in {row.unit}", file=sys.stderr)
            elif got is not None:
                values[row, code] = got[row.result][0]
            failed = failed or (row, code) not in values
    shown = rows if tools.rows else []
    if tools.worst:
        ran = [row for row in rows if (row, codes[0]) in values]
        shown = sorted(ran, key=lambda row: -abs(error_of(row, values[row, codes[0]])))[: tools.worst]
    if shown:
        print(table_of_rows(shown, values, codes) + "\n")
    print(table_of_groups(rows, values, codes))
    if tools.keep:
        keep(kept_rows(rows, values, "ours"))
    return FAILED if failed and not tools.table else 0


def table_of_counts(rows):
    keys = [(row.family, row.run.gpu, row.group) for row in rows]
    return [(key, keys.count(key)) for key in dict.fromkeys(keys)]


if __name__ == "__main__":
    sys.exit(main())
