"""tools/stall_distances.py: what lies between instructions of committed cubins, with a stand-in for ptxas."""
import os
import re
import subprocess
import sys

from harness import SOURCE, Case, main

DATA = SOURCE / "tests" / "data" / "machine"
# Knows the random programs of tests/data/machine for sm_80, and refuses all else.
ASSEMBLER = f"""#!{sys.executable}
import pathlib, re, shutil, sys
name = re.search(r"[.]entry p(\\d+)", pathlib.Path(sys.argv[-3]).read_text())
if not name or sys.argv[1] != "-arch=sm_80":
    sys.exit("ptxas fatal   : not today")
shutil.copy(f"{DATA}/random_{{name[1]}}.sm_80.cubin", sys.argv[-1])
"""


class Distances(Case):
    def run_tool(self, *words):
        assembler = self.folder / "ptxas"
        assembler.write_text(ASSEMBLER)
        assembler.chmod(0o755)
        command = [sys.executable, "-B", str(SOURCE / "tools/stall_distances.py"), "--ptxas", str(assembler)]
        command += ["--simtlab", os.environ.get("SIMTLAB", "simtlab"), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder)

    def smallest(self, *words):
        """By the names in front of it: the distance in the only column."""
        run = self.run_tool("--markdown", "--least", 2, *words, *sorted(DATA.glob("random_[0-9]*.ptx")))
        self.assertEqual(run.returncode, 0, run.stderr)
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in run.stdout.splitlines()[2:]]
        return {tuple(row[:-1]): int(re.match(r"\d+", row[-1])[0]) for row in rows if row[-1] != "-"}

    def test_results_come_after_the_latency(self):
        found = self.smallest()
        for key, cycles in {
            ("register", "alu", "alu"): 4,
            ("register", "fma", "fma"): 4,
            ("register", "alu", "fma"): 5,
            ("register", "fma", "alu"): 5,
            ("predicate", "alu", "guard"): 13,
        }.items():
            self.assertEqual(found[key], cycles, key)

    def test_instructions_for_one_unit_keep_apart(self):
        found = self.smallest("--pairs")
        self.assertEqual(found["IADD3", "IADD3"], 2)
        self.assertEqual(found["IMAD", "IMAD"], 2)
        self.assertEqual(found["IADD3", "IMAD"], 1)

    def test_what_is_not_assembled_is_left_out(self):
        run = self.run_tool("--arch", "sm_90", DATA / "flow.ptx")
        self.assertEqual((run.returncode, run.stdout.count("\n")), (0, 1), run.stderr)

    def test_a_missing_assembler_is_named(self):
        run = self.run_tool("--ptxas", "no-ptxas", DATA / "flow.ptx")
        self.assertEqual(run.returncode, 7)
        self.assertEqual(run.stderr, "stall_distances.py: no-ptxas is not there\n")


if __name__ == "__main__":
    main()
