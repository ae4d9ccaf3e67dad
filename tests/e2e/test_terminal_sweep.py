"""The live table of a sweep on a terminal, and databases that can't be written."""
import os
import pathlib
import time
import unittest

from harness import SAXPY, SIMTLAB, Case, main
from terminal import Session

LAUNCH = """kernel = "saxpy"
grid = 2
block = 64
arg = [{type = "f32", value = 2.0}, {type = "f32", shape = [128], init = "iota"}, {type = "f32", shape = [128], init = "zero"}, {type = "u32", value = 128}]
"""
# Every point waits until the test lets it go on.
GATE = """#!/bin/sh
while [ ! -e "$GATE" ]; do sleep 0.05; done
exec "$REAL" "$@"
"""


class Sweep(Case):
    def setUp(self):
        super().setUp()
        self.file("saxpy.ptx", SAXPY)
        self.file("l.toml", LAUNCH)
        self.file("gate", GATE).chmod(0o755)

    def sweep(self, *more, axis="sm.count=[1:8:1]", **kw):
        env = {"REAL": SIMTLAB, "GATE": str(self.folder / "open"), **kw.pop("env", {})}
        return Session(
            self,
            [
                "sweep",
                "--axis",
                axis,
                "-j",
                "4",
                "--program",
                "./gate",
                *more,
                "--",
                "run",
                "saxpy.ptx",
                "--launch",
                "l.toml",
            ],
            env=env,
            **kw,
        )


class Table(Sweep):
    def test_it_is_drawn_and_goes(self):
        session = self.sweep(columns=100)
        session.until(r"0 of 8 points done, 0 failed, 4 running, \d+ s \(Ctrl-C stops, the same command goes on\)")
        session.until("sm.count=4\x1b")
        screen = session.screen()
        self.assertRegex(
            screen.text(),
            r"\A0 of 8 points done.*\n  point 1 for \d s  sm\.count=1\n  point 2 .*\n  point 3 .*\n  point 4 .*\Z",
        )
        self.assertFalse(screen.wrapped or screen.above)
        self.file("open", "")
        self.assertEqual(session.end(), 0)
        screen = session.screen()
        self.assertTrue(screen.text().startswith("study sweep: 8 points, 8 done"), screen.text())
        self.assertFalse(screen.wrapped or screen.above)

    def test_small_screens(self):
        for columns, rows in ((40, 24), (100, 3), (30, 2)):
            session = self.sweep("--db", f"{columns}.db", columns=columns, rows=rows)
            at = session.until("points done")
            at = session.until("points done", at)  # it is drawn again over itself
            screen = session.screen()
            self.assertFalse(screen.wrapped or screen.above, (columns, rows))
            self.assertEqual(screen.text().count("points done"), 1, (columns, rows, screen.text()))
            self.assertLessEqual(len(screen.lines), rows)
            session.press("\x03")
            self.assertEqual(session.end(), 130)
            self.assertNotIn("running", session.screen().text())

    def test_failed_points_are_in_it_and_listed(self):
        session = self.sweep("--verbose", axis="gpu=[v100,nosuch]", columns=120)
        session.until("2 running")
        self.file("open", "")
        self.assertEqual(session.end(), 1)
        text = session.screen().text()
        self.assertRegex(
            text,
            r"point 2: failed in .* gpu=nosuch: error: no device file for 'nosuch'|point 2: failed in .* gpu=nosuch: ",
        )
        self.assertIn("1 failed", text)
        self.assertIn("[sweep-failed]", text)

    def test_plain_and_none(self):
        self.file("open", "")
        for how in (["--progress", "none"], ["-q"]):
            session = self.sweep("--db", f"{len(how)}.db", *how)
            self.assertEqual(session.end(), 0)
            self.assertNotIn("points done", session.raw)
        os.remove(self.folder / "open")
        session = self.sweep("--progress", "plain", env={"TERM": "dumb"})
        session.until(r"\A0 of 8 points done, 0 failed, 4 running, \d+ s\r\n")
        self.file("open", "")
        self.assertEqual(session.end(), 0)
        self.assertNotIn("\x1b", session.raw)

    def states(self):
        """Of the points' processes, as the system shows them: T is stopped."""
        out = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
                if any(w.startswith(str(self.folder)) and w.endswith("/gate") for w in words[:2]):
                    out.append((folder / "stat").read_text().rpartition(")")[2].split()[0])
            except OSError:
                pass  # it has ended
        return out

    def test_ctrl_z_stops_the_points_too(self):
        shell = Session(
            self,
            ["--norc", "--noprofile", "--noediting", "-i"],
            program="/bin/bash",
            columns=120,
            env={"PS1": "$ ", "S": SIMTLAB, "REAL": SIMTLAB, "GATE": str(self.folder / "open")},
        )
        shell.press(
            "$S sweep --axis sm.count=[1:4:1] -j 2 --timeout '60 s' --program ./gate -- run saxpy.ptx --launch l.toml -v\n"
        )
        at = shell.until("2 running")
        shell.press("\x1a")
        at = shell.until("Stopped", at)
        self.assertNotIn("running", shell.screen().text())
        deadline = time.monotonic() + 20  # a process that waits for a processor stops when it has one
        # D: a shell whose child was stopped between vfork and exec
        while not (set(self.states()) <= {"T", "D"}) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertLessEqual(set(self.states()), {"T", "D"})
        self.assertIn("T", self.states())
        self.file("open", "")
        shell.press("fg\n")
        at = shell.until("4 points, 4 done", at)
        shell.press("exit\n")
        shell.end()


class Databases(Sweep):
    """What the disk refuses is said, and nothing is lost: the same command goes on."""

    def run_sweep(self, *more, **kw):
        self.file("open", "")
        return self.simtlab(
            "sweep", "--axis", "sm.count=[1:3:1]", *more, "--", "run", "saxpy.ptx", "--launch", "l.toml", **kw
        )

    def refused(self, result, *says):
        self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
        for text in says:
            self.assertIn(text, result.stderr)

    def test_no_folder_of_that_name_and_a_folder_in_its_place(self):
        self.refused(self.run_sweep("--db", "nowhere/x.db"), "[file-write]", "nowhere/x.db")
        (self.folder / "taken.db").mkdir()
        result = self.run_sweep("--db", "taken.db")
        self.assertEqual(result.returncode, 1)
        self.assertIn("[file-write]", result.stderr)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_that_can_not_be_written(self):
        (self.folder / "locked").mkdir(mode=0o555)
        self.refused(self.run_sweep("--db", "locked/x.db"), "[file-write]", "locked/x.db")

    @unittest.skipUnless(os.path.isdir("/proc/self"), "no /proc")
    def test_a_file_system_that_takes_no_files(self):
        self.refused(self.run_sweep("--db", "/proc/x.db"), "[file-write]", "/proc/x.db")

    def test_reading_does_not_write(self):
        self.assertEqual(self.run_sweep("--db", "x.db").returncode, 0)
        before = (self.folder / "x.db").read_bytes()
        os.chmod(self.folder / "x.db", 0o444)
        self.assertIn("3 points, 3 done", self.ok("report", "x.db").stdout)
        self.assertEqual((self.folder / "x.db").read_bytes(), before)


if __name__ == "__main__":
    main()
