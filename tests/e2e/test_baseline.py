"""tools/baseline/baseline.py: two records of one binary are the same, a changed result is found."""
import json
import pathlib
import subprocess
import sys
import unittest

import harness

TOOL = harness.SOURCE / "tools/baseline/baseline.py"


class Baseline(harness.Case):
    def tool(self, *arguments):
        return subprocess.run(
            [sys.executable, "-B", TOOL, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120
        )

    def record(self, folder):
        done = self.tool("record", folder, "--binary", harness.SIMTLAB, "--only", "dram-ddr3-1600-*")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 runs", done.stdout)

    def test_a_changed_result_is_found_and_nothing_else(self):
        self.record("old")
        self.record("new")
        same = self.tool("compare", "old", "new")
        self.assertEqual(same.returncode, 0, same.stdout)
        self.assertIn("2 runs compared, 0 differ", same.stdout)
        file = pathlib.Path(self.folder) / "new/dram-ddr3-1600-random.json"
        record = json.loads(file.read_text())
        self.assertEqual(record["exit"], 0)
        record["files"]["r.json"]["total"]["dram.cycles"]["value"] += 1
        file.write_text(json.dumps(record))
        (pathlib.Path(self.folder) / "new/dram-ddr3-1600-stream.json").unlink()
        changed = self.tool("compare", "old", "new")
        self.assertEqual(changed.returncode, 6)
        self.assertIn("dram.cycles.value", changed.stdout)
        self.assertIn("only in one of the records", changed.stdout)

    def test_every_run_has_a_name_of_its_own(self):
        listed = self.tool("record", "none", "--binary", harness.SIMTLAB, "--only", "no such run")
        self.assertEqual(listed.returncode, 0, listed.stderr)

    def test_counts_that_grew_are_told(self):
        folder = pathlib.Path(self.folder)
        (folder / "old.json").write_text('{"a": 1000, "b": 1000}')
        (folder / "new.json").write_text('{"a": 1009, "b": 1011}')
        done = self.tool("compare-counts", "old.json", "new.json")
        self.assertEqual(done.returncode, 6)
        self.assertIn("b: +1.10 % (too much)", done.stdout)
        self.assertNotIn("a: +0.90 % (too much)", done.stdout)


if __name__ == "__main__":
    unittest.main()
