#!/usr/bin/env python3
"""Records what a wide set of runs prints, and compares two records: has a change of the code changed a result?

    baseline.py record FOLDER [--binary SIMTLAB] [--only PATTERN] [--jobs N]     run everything in runs.toml
    baseline.py compare OLD NEW                                                  exit status 6 if a result differs
    baseline.py count FILE [--binary SIMTLAB] [--only PATTERN]                   host instructions of the runs marked `count`
    baseline.py compare-counts OLD NEW [--within PERCENT]                        exit status 6 if one grew by more

Two records are the same if every output is the same byte by byte, but for host.* metrics, times of day, the version, and the
folders in which the runs were made. Counts come from valgrind's cachegrind with one thread; they don't depend on the load of
the machine. Python 3.11 and the standard library.
"""
import argparse
import concurrent.futures
import fnmatch
import hashlib
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
# Members of a result that tell when, where and how fast, not what.
VOLATILE = re.compile(r"(^|\.)(host(\.|$)|start_time$|wall_time_s$|working_directory$|version$|command$|xxh64$)")
# Parts of text lines that do so: a trace holds when it was recorded, so its compressed size varies.
VOLATILE_TEXT = re.compile(
    r'simtlab-[A-Za-z0-9]{6}|"file_bytes": \d+|"bytes_per_warp_instruction": [0-9.]+|^\| started \|.*'
)


def rows(only):
    """The runs of runs.toml, `each` expanded: an entry with lists becomes one run for every combination."""
    with open(HERE / "runs.toml", "rb") as file:
        table = tomllib.load(file)["run"]
    names = set()
    for row in table:
        axes = row.get("each", {})
        for values in itertools.product(*axes.values()):
            point = dict(zip(axes, values))
            name = row["name"].format(**point)
            if name in names:
                raise SystemExit(f"runs.toml: the name {name} stands twice")
            names.add(name)
            if fnmatch.fnmatch(name, only):
                yield {"name": name, "command": row["command"].format(**point), "count": row.get("count", False)}


def execute(binary, row, prefix=()):
    """Runs a row in a folder of its own. Returns the exit status, stdout, stderr and the files that it left, by name."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="simtlab-baseline-"))
    try:
        # Relative names, so that nothing of this machine gets into a result.
        for name in ("examples", "data", "tests"):
            (folder / name).symlink_to(SOURCE / name)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "SIMTLAB_CACHE": os.environ.get("SIMTLAB_CACHE", "/tmp/simtlab-baseline-cache"),
        }
        (folder / "simtlab").symlink_to(binary)
        script = "simtlab() { " + " ".join([*prefix, "./simtlab"]) + ' "$@"; }\n' + row["command"]
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=folder,
            env=environment,
            capture_output=True,
            timeout=1800,
            stdin=subprocess.DEVNULL,
        )
        files = {
            str(p.relative_to(folder)): p.read_bytes()
            for p in sorted(folder.rglob("*"))
            if p.is_file() and not p.is_symlink() and not p.name.startswith(".") and "/." not in str(p)
        }
        return done.returncode, done.stdout, done.stderr, files, str(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def without_volatile(value, path=""):
    if isinstance(value, dict):
        return {k: without_volatile(v, f"{path}.{k}") for k, v in value.items() if not VOLATILE.search(f"{path}.{k}")}
    if isinstance(value, list):
        return [without_volatile(v, path) for v in value]
    return value


def normalised(data, folder):
    """JSON without what is volatile, other text without folders and host times; other files as a hash."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return {"xxh": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    text = text.replace(folder, "FOLDER")
    try:
        return without_volatile(json.loads(text))
    except ValueError:
        pass
    lines = [
        VOLATILE_TEXT.sub("...", line)
        for line in text.splitlines()
        if not re.search(r"host[. ]|[Ss]imulated in|wall|instructions/s|peak memory|\bMiB of memory", line)
    ]
    return lines


def record(arguments):
    out = pathlib.Path(arguments.folder)
    out.mkdir(parents=True, exist_ok=True)
    binary = pathlib.Path(arguments.binary).resolve()

    def one(row):
        status, stdout, stderr, files, folder = execute(binary, row)
        state = {
            "command": row["command"],
            "exit": status,
            "stdout": normalised(stdout, folder),
            "stderr": normalised(stderr, folder),
            "files": {k: normalised(v, folder) for k, v in files.items()},
        }
        (out / (row["name"] + ".json")).write_text(json.dumps(state, indent=1, sort_keys=True) + "\n")
        return row["name"], status

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for name, status in pool.map(one, rows(arguments.only)):
            if status:
                print(f"{name}: exit status {status}")
                failed += 1
    print(f"{len(list(out.glob('*.json')))} runs in {out}, {failed} of them with another exit status than 0")


def differences(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            if key not in a or key not in b:
                yield f"{path}.{key}: only in the {'new' if key not in a else 'old'} record"
            else:
                yield from differences(a[key], b[key], f"{path}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{path}[{i}]")
    elif isinstance(a, list) and isinstance(b, list):
        yield f"{path}: {len(a)} entries became {len(b)}"
    elif a != b:
        yield f"{path}: {a!r} became {b!r}"


def compare(arguments):
    old, new = pathlib.Path(arguments.old), pathlib.Path(arguments.new)
    names = sorted({p.name for p in [*old.glob("*.json"), *new.glob("*.json")]})
    if not names:
        raise SystemExit(f"neither {old} nor {new} holds a record")
    changed = 0
    for name in names:
        if not (old / name).exists() or not (new / name).exists():
            found = ["only in one of the records"]
        else:
            found = list(differences(json.loads((old / name).read_text()), json.loads((new / name).read_text())))
        if found:
            changed += 1
            print(f"{name[:-5]}: {len(found)} differences")
            for line in found[: arguments.most]:
                print("   ", line[:300])
    print(f"{len(names)} runs compared, {changed} differ")
    sys.exit(6 if changed else 0)


def count(arguments):
    binary = pathlib.Path(arguments.binary).resolve()
    counts = {}
    for row in rows(arguments.only):
        if not row["count"]:
            continue
        prefix = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
        status, _, stderr, _, _ = execute(binary, row, prefix)
        found = re.findall(r"I +refs: +([0-9,]+)", stderr.decode(errors="replace"))
        if status or not found:
            raise SystemExit(
                f"{row['name']}: exit status {status}, no count\n{stderr.decode(errors='replace')[-2000:]}"
            )
        counts[row["name"]] = int(found[-1].replace(",", ""))
        print(f"{row['name']}: {counts[row['name']]:,} instructions", flush=True)
    pathlib.Path(arguments.file).write_text(json.dumps(counts, indent=1) + "\n")


def compare_counts(arguments):
    old, new = (json.loads(pathlib.Path(f).read_text()) for f in (arguments.old, arguments.new))
    slower = 0
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            print(f"{name}: only in one of the files")
            continue
        change = 100 * (new[name] / old[name] - 1)
        slower += change > arguments.within
        print(f"{name}: {change:+.2f} %{' (too much)' if change > arguments.within else ''}")
    sys.exit(6 if slower else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    default = SOURCE / "build/release/bin/simtlab"
    for name, function, words in (("record", record, ["folder"]), ("count", count, ["file"])):
        command = commands.add_parser(name)
        for word in words:
            command.add_argument(word)
        command.add_argument("--binary", default=default)
        command.add_argument("--only", default="*", help="names that match this pattern, e.g. 'run-*'")
        command.add_argument("--jobs", type=int, default=os.cpu_count())
        command.set_defaults(function=function)
    command = commands.add_parser("compare")
    command.add_argument("old")
    command.add_argument("new")
    command.add_argument("--most", type=int, default=5, help="differences shown of a run")
    command.set_defaults(function=compare)
    command = commands.add_parser("compare-counts")
    command.add_argument("old")
    command.add_argument("new")
    command.add_argument("--within", type=float, default=1.0, help="allowed growth in percent")
    command.set_defaults(function=compare_counts)
    arguments = parser.parse_args()
    arguments.function(arguments)


main()
