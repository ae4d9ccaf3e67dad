#!/usr/bin/env python3
"""Checks `simtlab check` by mutants of the correct programs of examples/check.

Each mutant is one program with one edit at one place: a barrier deleted, a scope narrowed, a buffer shortened
(tools/mutation/operators.py). It is compiled and run under `simtlab check`, and where that is silent, in three other
orders (--explore 3), too. Verdicts:
  found        there are findings; their rules are named
  test         none, but the program's own test of its results fails
  missed       none, and the results are right; tools/mutation/reasons.toml says why
  equivalent   the edit changes nothing that a program may rely on, for the reason in reasons.toml
  no-build     the mutant is no program

usage: mutants.py [--list] [--only NAME]... [--every N] [--csv FILE] [--markdown] [--from FILE] [-j N]
Exit codes: 0 every mutant is found or has a reason, 1 some are not, 2 wrong arguments, 7 a tool is missing.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

from mutation import operators

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "examples/check"
REASONS = ROOT / "tools/mutation/reasons.toml"
VERDICTS = ("found", "test", "missed", "equivalent", "no-build")
FIELDS = ("kernel", "line", "operator", "number", "verdict", "explored", "rules", "reason")
INCLUDE = '#include "../example.h"\n'
MISSING, LONGEST = 7, 120
TOGETHER = 12  # mutants that are compiled as one program


def built(given):
    """The simtlab of the build folder."""
    if given:
        return given
    found = sorted(ROOT.glob("build/*/bin/simtlab"), key=lambda p: p.stat().st_mtime)
    if not found:
        print("mutants.py: simtlab is not there; build it: ninja -C build/release simtlab", file=sys.stderr)
        sys.exit(MISSING)
    return str(found[-1])


def all_mutants():
    return [m for path in sorted(PROGRAMS.glob("*.cu")) for m in operators.mutants(path.stem, path.read_text())]


def reasons():
    """What is known of mutants that are not found: by program, operator and line of code, as lines move."""
    out = {}
    for entry in tomllib.loads(REASONS.read_text())["mutant"]:
        for number in entry.get("numbers", [1]):
            for operator in entry["operator"].split():
                key = (entry["kernel"], operator, entry["code"].strip(), entry.get("nth", 1), number)
                out[key] = (entry["verdict"], entry["reason"])
    return out


def keys(mutants):
    """The key of each mutant in reasons(): the how manieth line with this code in the program it is counts, too."""
    lines = collections.defaultdict(list)
    out = {}
    for m in mutants:
        known = lines[m.kernel, m.before.strip()]
        if m.line not in known:
            known.append(m.line)
        out[m] = (m.kernel, m.operator, m.before.strip(), known.index(m.line) + 1, m.number)
    return out


class Runner:
    """Compiles mutants of a program several at a time, each in a namespace of its own: most of the time goes to headers."""

    def __init__(self, simtlab, folder):
        self.simtlab, self.folder = simtlab, folder
        (folder / "example.h").write_text((ROOT / "examples/example.h").read_text() + operators.PLAIN)
        self.environment = dict(os.environ, SIMTLAB_CACHE=str(folder / "cache"))

    def build(self, mutants, path):
        """Whether it is a program: its first argument numbers the mutant that runs."""
        text = [INCLUDE, *(f"namespace m{i} {{\n{m.source.replace(INCLUDE, '')}\n}}" for i, m in enumerate(mutants))]
        calls = "".join(f"  if (which == {i}) return m{i}::main();\n" for i in range(len(mutants)))
        text.append(f"int main(int, char** argv) {{\n  const int which = std::atoi(argv[1]);\n{calls}  return 99;\n}}")
        source = path.with_suffix(".cu")
        source.write_text("\n".join(text))
        command = [self.simtlab, "build", str(source), "-o", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment, check=False)
        return done.returncode == 0

    def check(self, path, which, *options):
        """(exit code, rules) of one run."""
        report = path.with_suffix(".json")
        report.unlink(missing_ok=True)
        command = [self.simtlab, "check", "-q", f"--json={report}", *options, "--", str(path), str(which)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=LONGEST, env=self.environment, check=False
            )
        except subprocess.TimeoutExpired:
            return None, []
        rules = []
        if report.exists():
            for finding in json.loads(report.read_text())["check"]["findings"]:
                if finding["rule"] not in rules:
                    rules.append(finding["rule"])
        return done.returncode, rules

    def judge(self, path, which):
        """(verdict, whether other orders were needed, rules)"""
        code = 0
        for explored, options in ((False, ()), (True, ("--explore", "3"))):
            code, rules = self.check(path, which, *options)
            if rules:
                return "found", explored, rules
            if code is None:
                return "missed", explored, ["hangs"]
            if code not in (0, 5):
                return "missed", explored, [f"exit code {code}"]
        return ("missed" if code == 0 else "test"), False, []

    def judge_all(self, part):
        """The judgements of a part of the mutants of one program."""
        number, mutants = part
        folder = self.folder / f"part{number}"
        (folder / "in").mkdir(parents=True)
        (folder / "example.h").symlink_to(self.folder / "example.h")
        path = folder / "in" / mutants[0].kernel
        try:
            if self.build(mutants, path):
                return [self.judge(path, i) for i in range(len(mutants))]
            out = []
            for m in mutants:  # one of them is no program
                out.append(self.judge(path, 0) if self.build([m], path) else ("no-build", False, []))
            return out
        finally:
            shutil.rmtree(folder)


def parts_of(mutants):
    """Lists of mutants of one program each, numbered."""
    parts = []
    for m in mutants:
        if not parts or parts[-1][0].kernel != m.kernel or len(parts[-1]) == TOGETHER:
            parts.append([])
        parts[-1].append(m)
    return list(enumerate(parts))


def markdown(rows):
    """The tables of docs/lab/check.md."""
    by_operator = collections.defaultdict(collections.Counter)
    rules = collections.Counter()
    for row in rows:
        by_operator[row["operator"]][row["verdict"]] += 1
        by_operator[row["operator"]]["explored"] += row["explored"] == "yes"
        if row["verdict"] == "found":
            rules[row["rules"].split()[0]] += 1
    total = collections.Counter()
    lines = ["| operator | what it does | mutants | equivalent | found | in other orders only | own test | missed |"]
    lines.append("|---|---|--:|--:|--:|--:|--:|--:|")
    columns = ("equivalent", "found", "explored", "test", "missed")
    for operator, what in operators.OPERATORS.items():
        counts = by_operator[operator]
        counts["all"] = sum(counts[v] for v in VERDICTS if v != "no-build")
        total += counts
        lines.append(
            f"| `{operator}` | {what} | {counts['all']} | " + " | ".join(str(counts[c]) for c in columns) + " |"
        )
    lines.append(f"| all | | {total['all']} | " + " | ".join(str(total[c]) for c in columns) + " |")
    lines += ["", "| rule | mutants that it is the first to report |", "|---|--:|"]
    lines += [f"| `{rule}` | {count} |" for rule, count in sorted(rules.items(), key=lambda r: (-r[1], r[0]))]
    for verdict in ("equivalent", "missed", "test"):
        lines += ["", f"**{verdict}**", ""]
        by_reason = collections.defaultdict(list)
        for row in rows:
            if row["verdict"] == verdict:
                suffix = "" if row["number"] == "1" else f"#{row['number']}"
                by_reason[row["reason"]].append(f"`{row['kernel']}:{row['line']}:{row['operator']}{suffix}`")
        lines += [f"- {reason or 'No reason is known.'} {', '.join(names)}." for reason, names in by_reason.items()]
    return "\n".join(lines)


def summary(rows):
    counts = collections.Counter(row["verdict"] for row in rows)
    changing = counts["found"] + counts["test"] + counts["missed"]
    share = 100 * counts["found"] / changing if changing else 100
    return (
        f"{len(rows)} mutants: " + ", ".join(f"{counts[v]} {v}" for v in VERDICTS) + "; "
        f"found {share:.1f} % of those that change anything"
    )


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n", maxsplit=1)[0],
        epilog=__doc__.split("\n\n", 1)[1],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--list", action="store_true", help="name the mutants and what they edit, and run nothing")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="programs or mutants whose name begins so"
    )
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th mutant of those")
    parser.add_argument("--csv", type=pathlib.Path, metavar="FILE", help="write the verdicts there")
    parser.add_argument(
        "--from", dest="source", type=pathlib.Path, metavar="FILE", help="verdicts of an earlier --csv: run nothing"
    )
    parser.add_argument("--markdown", action="store_true", help="print the tables of docs/lab/check.md")
    parser.add_argument("--simtlab", metavar="PATH", help="the program to check (default: the newest in build/)")
    parser.add_argument("-j", dest="jobs", type=int, default=2, metavar="N", help="mutants at once (default 2)")
    options = parser.parse_args()
    if options.every < 1 or options.jobs < 1:
        parser.error("N is 1 or more")
    return options


def run(options, chosen, key_of):
    known = reasons()
    if not options.only and options.every == 1:
        for key in known.keys() - set(key_of.values()):
            print(f"reasons.toml: no mutant is {key}", file=sys.stderr)
    rows, bad = [], 0
    with contextlib.ExitStack() as stack:
        writer = None
        if options.csv:
            file = stack.enter_context(options.csv.open("w", newline="", buffering=1))
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="simtlab-mutants-"))
        runner = Runner(built(options.simtlab), pathlib.Path(folder))
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(options.jobs))
        parts = parts_of(chosen)
        judged = (verdict for part in pool.map(runner.judge_all, parts) for verdict in part)
        for m, (verdict, explored, rules) in zip(chosen, judged):
            want, reason = known.get(key_of[m], ("found", ""))
            if verdict in ("test", "missed") and want == "equivalent":
                verdict = "equivalent"
            elif verdict not in (want, "no-build"):
                bad += 1
                print(f"{m.name}: {verdict} {' '.join(rules)} (expected: {want})")
                print(f"  {m.before.strip()}\n  {m.after.strip()}", flush=True)
            values = (m.kernel, m.line, m.operator, m.number, verdict, "yes" if explored else "", " ".join(rules))
            rows.append(dict(zip(FIELDS, map(str, values))) | {"reason": reason if verdict == want else ""})
            if writer:
                writer.writerow(rows[-1])
    return rows, bad


def main():
    options = arguments()
    everything = all_mutants()
    key_of = keys(everything)
    chosen = [
        m
        for m in everything
        if not options.only or any(re.match(re.escape(o) + r"(?![a-z_])", m.name) for o in options.only)
    ]
    chosen = chosen[:: options.every]
    if not chosen:
        print(f"mutants.py: no mutant is called so; --list names all", file=sys.stderr)
        return 2
    if options.list:
        for m in chosen:
            print(f"{m.name}\n  {m.before.strip()}\n  {m.after.strip()}")
        print(f"{len(chosen)} mutants")
        return 0
    bad = 0
    if options.source:
        with options.source.open(newline="") as file:
            rows = list(csv.DictReader(file))
    else:
        rows, bad = run(options, chosen, key_of)
    print(markdown(rows) if options.markdown else summary(rows))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
