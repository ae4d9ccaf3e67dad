"""What changes when stderr or stdout is a terminal: progress after one second, colour, width."""
import os
import pty
import select
import subprocess
import time
import unittest

from harness import SAXPY_LAUNCH, SIMTLAB, SPIN, SPIN_LAUNCH, Case, main


class Terminal(Case):
    def on_terminal(self, args, stdout, stderr, env=None, timeout=60):
        """Runs with a pseudo terminal as stdout or stderr (the other one is dropped) and returns what was shown on it."""
        try:
            ours, theirs = pty.openpty()
        except OSError as reason:  # a bare chroot or container without /dev/pts
            self.skipTest(f"no pseudo terminal: {reason}")
        process = subprocess.Popen(
            [SIMTLAB, *map(str, args)],
            cwd=self.folder,
            env=self.environment({"TERM": "xterm", **(env or {})}),
            stdin=subprocess.DEVNULL,
            stdout=theirs if stdout else subprocess.DEVNULL,
            stderr=theirs if stderr else subprocess.DEVNULL,
        )
        os.close(theirs)
        shown, end = b"", time.monotonic() + timeout
        while time.monotonic() < end:
            ready, _, _ = select.select([ours], [], [], 1)
            if not ready:
                continue
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the last writer has gone
                break
            if not piece:
                break
            shown += piece
        os.close(ours)
        process.wait(timeout=10)
        return shown.decode(errors="replace")

    def test_progress_shows_after_a_second_and_is_removed(self):
        spin = ["run", self.file("spin.ptx", SPIN), *SPIN_LAUNCH, "--max-time", "2.5"]
        shown = self.on_terminal(spin, stdout=False, stderr=True)
        self.assertIn("simulating: ", shown)
        self.assertIn("\r\x1b[J", shown)
        self.assertNotIn("simulating", self.on_terminal([*spin, "-q"], stdout=False, stderr=True))

    def test_a_short_run_shows_no_progress(self):
        shown = self.on_terminal(["run", self.saxpy(), *SAXPY_LAUNCH], stdout=False, stderr=True)
        self.assertNotIn("simulating", shown)

    def test_a_terminal_gets_colour_unless_asked_otherwise(self):
        run = ["run", self.saxpy(), *SAXPY_LAUNCH]
        self.assertIn("\x1b[1m", self.on_terminal(run, stdout=True, stderr=False))
        self.assertNotIn("\x1b[", self.on_terminal(run, stdout=True, stderr=False, env={"NO_COLOR": "1"}))
        self.assertNotIn("\x1b[", self.on_terminal(run, stdout=True, stderr=False, env={"TERM": "dumb"}))
        self.assertNotIn("\x1b[", self.on_terminal([*run, "--color", "never"], stdout=True, stderr=False))

    def test_colour_in_a_pipe_only_when_forced(self):
        run = ["run", self.saxpy(), *SAXPY_LAUNCH]
        self.assertNotIn("\x1b[", self.ok(*run).stdout)
        self.assertIn("\x1b[1m", self.ok(*run, env={"CLICOLOR_FORCE": "1"}).stdout)
        self.assertIn("\x1b[1m", self.ok(*run, "--color", "always").stdout)
        self.assertNotIn("\x1b[", self.ok(*run, "--color", "never", env={"CLICOLOR_FORCE": "1"}).stdout)
        self.assertNotIn("\x1b[", self.ok(*run, env={"CLICOLOR_FORCE": "0"}).stdout)
        self.assertNotIn(
            "\x1b[", self.ok(*run, env={"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}).stdout, "who wants none is heard first"
        )
        self.assertIn("\x1b[1m", self.ok(*run, "--color", "always", env={"NO_COLOR": "1"}).stdout)
        self.assertNotIn("\x1b[", self.on_terminal(run, stdout=True, stderr=False, env={"CLICOLOR": "0"}))

    def test_errors_are_in_colour_on_a_terminal_only(self):
        wrong = ["run", "nothing.ptx", "--launch", "none"]
        self.assertIn("\x1b[31merror:\x1b[0m", self.on_terminal(wrong, stdout=False, stderr=True))
        for quiet in (dict(env={"NO_COLOR": "1"}), dict(env={"TERM": "dumb"})):
            self.assertNotIn("\x1b", self.on_terminal(wrong, stdout=False, stderr=True, **quiet))
        self.assertNotIn("\x1b", self.on_terminal([*wrong, "--color=never"], stdout=False, stderr=True))
        self.assertNotIn("\x1b", self.simtlab(*wrong).stderr)
        self.assertIn("\x1b[31merror:", self.simtlab(*wrong, "--color", "always").stderr)

    def test_bars_are_ascii_where_the_locale_is_not_utf_8(self):
        run = ["run", self.saxpy(), *SAXPY_LAUNCH, "--what-if", "zero-launch-cost"]  # bars that are not empty
        self.assertIn("#", self.ok(*run).stdout)
        self.assertTrue(self.ok(*run).stdout.isascii())
        self.assertIn("\u2588", self.ok(*run, env={"LC_ALL": "C.UTF-8"}).stdout)

    def test_how_much_is_said(self):
        run = ["run", self.saxpy(), *SAXPY_LAUNCH]
        self.assertEqual(self.ok(*run).stderr, "")
        said = self.ok(*run, "-v")
        self.assertRegex(
            said.stderr, r"\Asimtlab: timing on simulated .*h100.*, seed 0\n\Z|\Asimtlab: timing on simulated "
        )
        self.assertIn("gpu.cycles", said.stdout)
        self.assertRegex(self.ok(*run, "-vv").stderr, r"(?m)^simtlab: read .*saxpy\.ptx \(xxh64 [0-9a-f]+\)$")
        self.assertEqual(self.ok(*run, "-vv", "-q").stderr, "")
        program = self.file("p.sh", "#!/bin/sh\necho done\n")
        program.chmod(0o755)
        self.assertIn("its environment: SIMTLAB_RESULT=", self.simtlab("run", "-vv", "--", program).stderr)

    def test_streams_that_are_closed(self):
        run = [SIMTLAB, "run", str(self.saxpy()), *SAXPY_LAUNCH]
        shell = lambda words: subprocess.run(
            ["sh", "-c", words, "sh", *run],
            cwd=self.folder,
            env=self.environment(),
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
        closed = shell('exec "$@" --json=r.json >&-')
        self.assertEqual(closed.returncode, 1)
        self.assertIn("[file-write]", closed.stderr)
        self.assertTrue((self.folder / "r.json").read_text().startswith("{"), "nothing else went into it")
        self.assertEqual(shell('exec "$@" -o r.txt <&- >&- 2>&-').returncode, 0)
        self.assertIn("saxpy", (self.folder / "r.txt").read_text())
        full = shell('exec "$@" > /dev/full')
        self.assertEqual(full.returncode, 1)
        self.assertIn("No space left on device", full.stderr)
        self.assertIn("saxpy", self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "-o", "-").stdout)

    def test_what_is_read_again_follows_the_same_rules(self):
        self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--json=a.json")
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--set", "dram.latency=900 cycles", "--json=b.json")
        for command in (["report", "a.json"], ["compare", "a.json", "b.json"]):
            self.assertIn("\x1b[", self.on_terminal(command, stdout=True, stderr=False))
            self.assertNotIn("\x1b[", self.on_terminal(command, stdout=True, stderr=False, env={"NO_COLOR": "1"}))
            self.assertNotIn("\x1b[", self.ok(*command).stdout)
        for form in ("--md", "--html", "--csv", "--json", "--timeline"):
            self.assertNotIn("\x1b", self.on_terminal(["report", "a.json", form], stdout=True, stderr=False), form)

    def test_a_reader_that_leaves_is_no_error(self):
        self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--lines", "--json=a.json")
        for form in ("--html", "--json", "--md", "--sqlite"):
            process = subprocess.Popen(
                [SIMTLAB, "report", "a.json", form],
                cwd=self.folder,
                env=self.environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            process.stdout.read(10)
            process.stdout.close()
            self.assertEqual((process.wait(timeout=30), process.stderr.read()), (0, b""), form)
            process.stderr.close()


if __name__ == "__main__":
    main()
