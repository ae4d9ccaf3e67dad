"""How far a command is, on a terminal: the row at its bottom, beside what programs print there; Ctrl-C once and twice, Ctrl-Z, narrow and dumb
terminals, logs."""
import json
import os
import re
import shutil
import unittest

from harness import SAXPY_LAUNCH, SIMTLAB, SPIN, SPIN_LAUNCH, Case, long_test, main, needs_clang
from terminal import Session


class Terminal(Case):
    def spin(self, *more):
        return ["run", self.file("spin.ptx", SPIN), *SPIN_LAUNCH, *more]

    def fifo(self, name):
        os.mkfifo(self.folder / name)
        return lambda: (self.folder / name).write_text("go\n")

    def program(self, text):
        path = self.file("program", "#!/bin/sh\n" + text)
        path.chmod(0o755)
        return ["run", "--", "./program"]

    def assert_clean(self, session, *but):
        text = session.screen().text()
        for word in ("simulating:", "Ctrl-C"):
            self.assertNotIn(word, text)
        for word in but:
            self.assertIn(word, text)


class Row(Terminal):
    def test_what_it_says_and_that_it_goes(self):
        session = Session(self, self.spin("--json=r.json"), columns=120)
        session.until(
            r"simulating: spin 0 of 1 blocks, [0-9.]+ [kM] cycles,[^\r]* \d+ s \(Ctrl-C stops and keeps what was done\)"
        )
        session.press("\x03")
        self.assertEqual(session.end(), 130)
        self.assert_clean(
            session, "INCOMPLETE: the run was interrupted", "[interrupted]", "the result covers what ran until then"
        )
        manifest = json.loads((self.folder / "r.json").read_text())["manifest"]
        self.assertTrue(manifest["interrupted"])

    def test_it_fits_the_screen_whatever_its_width(self):
        session = Session(self, self.spin(), columns=200)
        at = session.until(r"[kM] cycles[^\r]*instructions/s[^\r]*keeps what was done")
        for columns, pattern in (
            (60, r"simulating: spin 0 of 1 blocks,[^\r]*\(Ctrl-C stops\)"),
            (40, r"simulating: spin 0 of 1 blocks"),
            (20, r"simulating: \d+ s"),
        ):
            session.resize(columns, 24)
            # One more than was under way when the screen became narrow.
            at = session.until("\r" + pattern, session.until("\r", session.until("\r", at)))
            row = re.findall(r"\r(simulating[^\r\x1b]*)", session.raw)[-1]
            self.assertLessEqual(len(row), columns - 3, "behind it ^C fits")
        session.resize(11, 24)
        session.until("\x1b\\[J", at)  # nothing would be left of it: it goes
        session.press("\x03")
        self.assertEqual(session.end(), 130)

    def test_a_dumb_terminal_gets_lines(self):
        for term in ("dumb", ""):
            session = Session(self, self.spin("--max-time", "1.3", "--color", "never"), env={"TERM": term})
            self.assertEqual(session.end(), 1)
            self.assertRegex(session.raw, r"(?m)^simulating: kernel spin: 0 of 1 blocks, .* s\r$")
            self.assertNotIn("\x1b", session.raw)

    def test_logs(self):
        result = self.simtlab(*self.spin("--max-time", "1.3", "--progress", "plain"))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"(?m)^simulating: kernel spin: 0 of 1 blocks, .* s$")
        self.assertNotIn(
            "simulating", self.simtlab(*self.spin("--max-time", "1.3")).stderr, "no terminal, nothing asked for"
        )
        for quiet in (["--progress", "none"], ["-q"], ["-q", "--progress", "plain"]):
            session = Session(self, self.spin("--max-time", "1.3", *quiet))
            self.assertEqual(session.end(), 1)
            self.assertNotIn("simulating:", session.raw, quiet)

    def test_data_on_stdout_stays_clean(self):
        session = Session(self, self.spin("--json"), streams="2")
        session.until("simulating:")
        os.killpg(session.process.pid, 2)
        self.assertEqual(session.end(), 130)
        data = session.piped(1)
        self.assertTrue(json.loads(data)["manifest"]["interrupted"])
        self.assertNotIn(b"\x1b", data)


class Everywhere(Terminal):
    """Every command that may take long shows a row, stops at Ctrl-C with 130, and leaves the terminal in order."""

    def test_commands(self):
        self.file("spin.ptx", SPIN)
        self.saxpy()
        commands = {
            "cache": ["cache", "spin.ptx", *SPIN_LAUNCH],
            "predict": ["predict", "spin.ptx", *SPIN_LAUNCH],
            "functional": ["run", "spin.ptx", *SPIN_LAUNCH, "--mode", "functional"],
            "dram": ["dram", "--generate", "random", "--requests", "4000000000", "--dram", "ddr4-3200"],
            "corun": ["corun", "--mixes", "30000", "--policy", "mps,shark"],
            "probe": ["probe", "--gpu", "v100"],
            "validate": ["validate", "timing"],
            "interfere": ["corun", "interfere", "saxpy.ptx", *SAXPY_LAUNCH],
        }
        sessions = {
            name: Session(self, [*words, f"--json={name}.json"], columns=120) for name, words in commands.items()
        }
        for name, session in sessions.items():
            said = {"dram": r"\d+ of 4000000000 requests, \d+ clocks, ", "probe": r"\w+, probe \d+ of \d+, "}.get(
                name, r"[^\r]*"
            )
            session.until(rf"\r(simulating|predicting|measuring|validating): {said}[^\r]*\d s \(Ctrl-C stops")
            session.press("\x03")
            self.assertEqual(session.end(), 130, (name, session.raw[-500:]))
            self.assertNotIn("Ctrl-C", session.screen().text(), name)
        for name in ("cache", "functional", "dram", "probe"):
            self.assertTrue(json.loads((self.folder / f"{name}.json").read_text())["manifest"]["interrupted"], name)

    @long_test
    def test_mixes_that_were_done_are_reported(self):
        session = Session(
            self,
            [
                "corun",
                "--mixes",
                "30",
                "--size",
                "64",
                "--policy",
                "mps,shark",
                "--limit",
                ",".join(str(i) for i in range(1, 65)),
                "--json=c.json",
            ],
            columns=120,
        )
        session.until(r"\rsimulating: [1-9]\d\d+ of \d+ runs of mixes")
        session.press("\x03")
        self.assertEqual(session.end(), 130)
        self.assert_clean(session, "INCOMPLETE: ", "[interrupted]")
        result = json.loads((self.folder / "c.json").read_text())
        self.assertTrue(result["manifest"]["interrupted"])
        self.assertTrue(result["kernels"])


class Programs(Terminal):
    def test_a_row_beside_what_a_program_prints(self):
        finish, leave = self.fifo("finish"), self.fifo("leave")
        session = Session(
            self,
            self.program('echo first\nprintf half\nread x < finish\necho " and half"\nread x < leave\necho last >&2\n'),
            columns=100,
        )
        session.until("half")
        # Nothing is drawn behind half a line; as soon as it is whole, the row is there.
        finish()
        session.until("and half")
        session.until(r"\rsimulating: \d+ s")
        self.assertRegex(session.screen().text(), r"first\nhalf and half\nsimulating: \d+ s \(Ctrl-C stops")
        leave()
        self.assertEqual(session.end(), 3, "it did not use the GPU")
        self.assert_clean(session, "first\nhalf and half\nlast\nerror: ./program ran, but")
        self.assertNotIn("simulating", session.raw[: session.raw.index("and half")])

    def test_the_program_has_the_terminal_that_it_would_have(self):
        session = Session(
            self,
            self.program(
                "test -t 0 && test -t 1 && test -t 2 && echo a terminal\nstty size <&1\ntput cols 2> /dev/null\n"
            ),
            columns=93,
            rows=31,
        )
        session.end()
        self.assertIn("a terminal\r\n31 93\r\n", session.raw)
        mixed = Session(self, self.program("echo data\necho talk >&2\ntest -t 1 || echo a pipe\n"), streams="02")
        mixed.end()
        self.assertEqual(mixed.piped(1), b"data\na pipe\n")
        self.assertIn("talk\r\n", mixed.raw)
        self.assertNotIn("data", mixed.raw)

    def test_it_can_ask_the_user(self):
        session = Session(self, self.program('printf "how many? "\nread n\necho "$n it is"\n'))
        session.until(r"how many\? ")
        session.press("seven\n")
        session.end()
        self.assertIn("seven it is", session.screen().text())

    def test_much_output_is_whole(self):
        session = Session(self, self.program("seq 20000\n"))
        session.end()
        self.assertIn("\n".join(str(i) for i in range(1, 20001)), session.raw.replace("\r\n", "\n"))

    def test_two_times_ctrl_c(self):
        session = Session(self, self.program("trap '' INT\necho deaf\nwhile :; do sleep 0.05; done\n"), columns=100)
        session.until(r"\(Ctrl-C stops")
        session.press("\x03")
        session.until(r"\(stopping; Ctrl-C again leaves at once\)")
        session.press("\x03")
        self.assertEqual(session.end(), 130)
        self.assert_clean(session, "deaf")


# Clang as somebody with a slow disk knows it: the first compilation says something and takes its time.
SLOW_CLANG = """#!/bin/sh
case "$*" in *slow.cu*) [ -e waited ] || { : > waited; echo a word of the compiler >&2; read x < finish; };; esac
exec CLANG "$@"
"""


@needs_clang
class Compiling(Terminal):
    def start(self, *words):
        self.file("slow.cu", "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return cudaDeviceSynchronize(); }\n")
        path = self.file(
            "slow-clang", SLOW_CLANG.replace("CLANG", shutil.which("clang++-19") or shutil.which("clang-19"))
        )
        path.chmod(0o755)
        return Session(
            self, words, columns=100, env={"SIMTLAB_CLANG": str(path), "SIMTLAB_CACHE": str(self.folder / "cache")}
        )

    def test_a_row_beside_what_the_compiler_says(self):
        for words in (("run", "slow.cu", "--gpu", "v100"), ("build", "slow.cu", "-o", "slow")):
            finish = self.fifo("finish")
            session = self.start(*words)
            session.until(r"\rcompiling: \d+ s \(Ctrl-C stops")
            finish()  # what the compiler says is shown then: it may be more than a screen
            self.assertEqual(session.end(), 0, session.raw[-500:])
            self.assertNotIn("Ctrl-C", session.screen().text())
            self.assertIn("a word of the compiler", session.screen().text())
            for left in ("finish", "waited"):
                (self.folder / left).unlink()
            shutil.rmtree(self.folder / "cache")

    def test_ctrl_c(self):
        self.fifo("finish")
        session = self.start("run", "slow.cu")
        session.until(r"\rcompiling: \d+ s")
        session.press("\x03")
        self.assertEqual(session.end(), 130, session.raw[-500:])
        self.assert_clean(session, "[interrupted]")
        self.assertNotIn("compiling", session.screen().text())


class Jobs(Terminal):
    def test_ctrl_z_background_and_back(self):
        shell = Session(
            self,
            ["--norc", "--noprofile", "--noediting", "-i"],
            program="/bin/bash",
            env={"PS1": "$ ", "S": SIMTLAB},
            columns=100,
        )
        self.file("spin.ptx", SPIN)
        shell.press("$S run spin.ptx " + " ".join(SPIN_LAUNCH) + " -o r.txt\n")
        at = shell.until(r"\(Ctrl-C stops")
        shell.press("\x1a")
        at = shell.until("Stopped", at)
        self.assertNotIn("simulating", shell.screen().text(), "the row does not stand in the shell's way")
        shell.press("bg; read line; echo got $line\n")
        at = shell.until(r"\] ?\+ ?\$S|\[1\]\+", at)
        before = len(shell.raw)
        shell.press("something\n")
        shell.until("got something", before)
        # In the background nothing is drawn: three looks of the shell later there is still none.
        shell.press("for i in 1 2 3; do sleep 0.4; done; echo waited\n")
        at = shell.until(r"\nwaited|\$ waited", before)
        self.assertNotIn("simulating", shell.raw[before:])
        shell.press("fg\n")
        at = shell.until(r"\(Ctrl-C stops", at)
        shell.press("\x03")
        at = shell.until(r"\[interrupted\]", at)
        shell.press("echo code $?; exit\n")
        shell.until("code 130", at)
        shell.end()


if __name__ == "__main__":
    main()
