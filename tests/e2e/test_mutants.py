"""Mutants of examples/check: what `simtlab check` finds of some of them is what data/validation/mutants.csv says of all."""
import csv
import subprocess
import sys
import unittest

from harness import SIMTLAB, SOURCE, Case, main, needs_clang

TOOL = SOURCE / "tools/mutants.py"
# Programs, and which of their mutants: about thirty, of many operators.
SOME = ((("last_block", "named_barriers"), 9), (("pipeline",), 5), (("histogram",), 7))


def rows(path):
    with path.open(newline="") as file:
        return {(r["kernel"], r["line"], r["operator"], r["number"]): r for r in csv.DictReader(file)}


class Mutants(Case):
    def tool(self, code, *words):
        done = subprocess.run(
            [sys.executable, str(TOOL), "--simtlab", SIMTLAB, *words],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    @needs_clang
    def test_some_mutants_are_found_as_recorded(self):
        recorded = rows(SOURCE / "data/validation/mutants.csv")
        count = 0
        for programs, every in SOME:
            only = [word for name in programs for word in ("--only", name)]
            said = self.tool(0, *only, "--every", str(every), "--csv", "m.csv")
            self.assertIn("% of those that change anything", said)
            for key, row in rows(self.folder / "m.csv").items():
                self.assertEqual(row, recorded[key])
                count += 1
        self.assertGreater(count, 25)

    def test_the_record_is_of_all_mutants_and_the_page_is_of_the_record(self):
        listed = self.tool(0, "--list").splitlines()
        recorded = rows(SOURCE / "data/validation/mutants.csv")
        self.assertEqual(listed[-1], f"{len(recorded)} mutants")
        names = {f"{k}:{line}:{o}" + ("" if n == "1" else f"#{n}") for k, line, o, n in recorded}
        self.assertEqual(names, {line for line in listed[:-1] if not line.startswith("  ")})
        tables = self.tool(0, "--from", str(SOURCE / "data/validation/mutants.csv"), "--markdown")
        page = (SOURCE / "docs/lab/check.md").read_text()
        for line in tables.splitlines():
            if line.startswith("|"):
                self.assertIn(line, page, "stale: tools/mutants.py --from data/validation/mutants.csv --markdown")

    def test_what_is_asked_for_wrongly(self):
        self.tool(2, "--only", "nothing")
        self.tool(2, "--every", "0")


if __name__ == "__main__":
    main()
