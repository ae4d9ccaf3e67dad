"""Foreign names on a terminal, in scripts and in files: no printer obeys them, names that are no UTF-8 are found again."""
import json
import os
import subprocess

from harness import SAXPY, SAXPY_LAUNCH, SIMTLAB, Case, main

EVIL = 'k\x1b]0;title\x07\x1b[2J\x7f\x9b31m\u202egpj\u2066\u2028,|"'
# What a terminal obeys, as characters; line ends and tabs are the printers' own.
COMMANDS = {
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA0)),
    "\u061c",
    "\u200e",
    "\u200f",
    *map(chr, range(0x2028, 0x202F)),
    *map(chr, range(0x2066, 0x206A)),
} - {"\n", "\t", "\r"}


class Printers(Case):
    def setUp(self):
        super().setUp()
        self.saxpy()
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--lines", "--series", "200", "--json=good.json")
        data = json.loads((self.folder / "good.json").read_text())
        manifest, kernel = data["manifest"], data["kernels"][0]
        for name in ("version", "command", "working_directory", "start_time", "host", "device"):
            manifest[name] += EVIL
        manifest["inputs"] = [{"path": EVIL, "xxh64": EVIL}]
        manifest["configuration"] = [
            {name: c[name] + EVIL for name in c} for c in manifest["configuration"]
        ] + manifest["configuration"]
        for name in ("name", "demangled", "limiter", "bottleneck"):
            kernel[name] = EVIL
        kernel["not_modelled"] = [EVIL]
        for line in kernel["profile"]["lines"]:
            line.update(function=EVIL, ptx=EVIL, file=EVIL, text=EVIL, line=7)
        kernel["metrics"]["stall." + EVIL] = {"value": 0.9, "unit": "1"}
        self.file("evil.json", json.dumps(data))

    def raw(self, *words, **env):
        done = subprocess.run(
            [SIMTLAB, *words],
            cwd=self.folder,
            env=self.environment(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=300,
        )
        for stream in (done.stdout, done.stderr):
            text = stream.decode("utf-8")  # strictly: a byte that is none is an error
            self.assertEqual({hex(ord(c)) for c in set(text) & COMMANDS}, set(), words)
        return done

    def test_no_printer_lets_them_through(self):
        for locale in ("C", "C.UTF-8"):
            for words in (
                ["report", "evil.json"],
                ["report", "evil.json", "--all"],
                ["report", "evil.json", "--csv"],
                ["report", "evil.json", "--md"],
                ["report", "evil.json", "--json"],
                ["report", "evil.json", "--timeline"],
                ["report", "evil.json", "--html"],
                ["compare", "good.json", "evil.json", "--all"],
                ["compare", "evil.json", "good.json"],
                ["compare", "good.json", "evil.json", "--json"],
                ["explain", "evil.json"],
                ["explain", "evil.json", "--json"],
                ["config", "diff", "good.json", "evil.json"],
            ):
                with self.subTest(words=words, locale=locale):
                    done = self.raw(*words, LC_ALL=locale)
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_json_keeps_them_exactly(self):
        again = json.loads(self.raw("report", "evil.json", "--json").stdout)
        before = json.loads((self.folder / "evil.json").read_text())
        self.assertEqual(again["kernels"][0]["name"], EVIL)
        self.assertEqual(again["manifest"], before["manifest"])

    def test_errors_do_not_either(self):
        for words in (
            ["explain", EVIL],
            ["report", EVIL],
            ["run", EVIL],
            ["run", "--", EVIL],
            [EVIL],
            ["run", "saxpy.ptx", "--gpu", EVIL],
            ["run", "saxpy.ptx", "--set", EVIL + "=1"],
            ["compare", "good.json", EVIL],
            ["explain", "evil.json", "--rerun"],
            ["explain", "evil.json", "--kernel", EVIL + "x"],
            ["rerun", "evil.json"],
            ["config", "show", "--gpu", EVIL],
            ["trace", "info", EVIL],
            ["run", "saxpy.ptx", *SAXPY_LAUNCH, "--json=none/" + EVIL],
            ["sweep", "--axis", EVIL, "--", "run", "saxpy.ptx"],
            ["view", EVIL],
            ["corun", "replay", EVIL],
            ["build", EVIL + ".cu"],
        ):
            with self.subTest(words=words):
                self.assertNotEqual(self.raw(*words).returncode, 0)


class Names(Case):
    """Bytes that are no UTF-8 in the names of files and folders."""

    def test_a_result_finds_its_input_again(self):
        folder = os.fsencode(self.folder) + b"/caf\xe9"
        os.mkdir(folder)
        with open(folder + b"/na\xefve \x1b.ptx", "wb") as file:
            file.write(SAXPY.encode())
        env = self.environment()

        def simtlab(*words):
            done = subprocess.run(
                [SIMTLAB, *words], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=300
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout.decode(errors="replace")

        simtlab("run", b"na\xefve \x1b.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--lines", "--json=r.json")
        with open(folder + b"/r.json", encoding="utf-8") as file:
            manifest = json.load(file)["manifest"]
        self.assertIn("$'na\\xefve \\x1b.ptx'", manifest["command"])
        self.assertEqual(manifest["inputs"][0]["path"], "$'na\\xefve \\x1b.ptx'")
        self.assertIn("caf\\xe9", manifest["working_directory"])
        self.assertIn("the same: ", simtlab("rerun", "r.json"))
        self.assertIn("saxpy takes", simtlab("explain", "r.json", "--try", "perfect-l1"))
        # What is recorded can be typed.
        typed = " ".join([SIMTLAB, manifest["command"].split(" ", 1)[1].replace("--json=r.json", "--json=typed.json")])
        subprocess.run(["bash", "-c", typed], cwd=folder, env=env, check=True, capture_output=True)
        self.assertIn(b"typed.json", os.listdir(folder))


class Scripts(Case):
    """No name that reaches a script for Slurm can add a line to it."""

    BAD = ("a\nb", "a\rb", "a\x1b[2J", "a\x7f", "a\u0085b", "a\u2028b", "a\u202eb", b"a\xe9")
    HARMLESS = 'it\'s "a" $(touch PWNED) `touch PWNED`; touch PWNED # %j \\ \u00fc'
    POINT = ("--", "run", "saxpy.ptx", *SAXPY_LAUNCH)

    def setUp(self):
        super().setUp()
        self.saxpy()

    def dry(self, *words, cwd=None):
        return subprocess.run(
            [SIMTLAB, "sweep", "--engine", "slurm", "--dry-run", "--axis", "sm.count=[1,2]", *words],
            cwd=cwd or self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=300,
        )

    def test_what_would_end_a_line_is_refused(self):
        for bad in self.BAD:
            name = os.fsencode(bad)
            folder = os.fsencode(self.folder) + b"/in-" + name
            os.mkdir(folder)
            os.link(self.folder / "saxpy.ptx", folder + b"/saxpy.ptx")
            lines = {
                "--db": (["--db", name + b".db", *self.POINT], None),
                "--sbatch": ([b"--sbatch=--comment=" + name, *self.POINT], None),
                "--program": (["--program", b"/opt/" + name, *self.POINT], None),
                "the folder": (self.POINT, folder),
            }
            for what, (words, cwd) in lines.items():
                with self.subTest(bad=bad, what=what):
                    done = self.dry(*words, cwd=cwd)
                    self.assertEqual(done.returncode, 2, done)
                    self.assertIn(b"[sweep-name]", done.stderr)
                    self.assertEqual(done.stdout, b"")
                    self.assertNotIn(b"\x1b", done.stderr)

    def test_what_goes_into_the_list_of_points(self):
        """Lines of JSON: control characters are escaped there, bytes that are no UTF-8 are refused."""
        for bad in self.BAD:
            name = os.fsencode(bad)
            for words in (
                ["--axis", b"regs=[" + name + b"]", *self.POINT],
                ["--kernels", name + b".ptx"],
                [*self.POINT, b"--kernel", name],
                [*self.POINT, b"--config", name],
                ["--metric", name, *self.POINT],
            ):
                with self.subTest(bad=bad, words=words):
                    done = self.dry(*words)
                    self.assertIn(done.returncode, (0, 2, 3), done)
                    lines = done.stdout.decode().split("\n")  # strictly UTF-8
                    for line in lines:
                        self.assertTrue(not line or line[0] in "#{e", line)  # a comment or #SBATCH, JSON, exec

    def test_what_is_accepted_is_a_word(self):
        folder = self.folder / self.HARMLESS.replace("/", "")
        folder.mkdir()
        done = self.dry("--db", str(folder / "s.db"), "--program", str(folder / "no simtlab"), *self.POINT)
        self.assertEqual(done.returncode, 0, done.stderr)
        script = done.stdout.decode().split("\n# ")[0]
        self.assertEqual(
            [line for line in script.splitlines() if not line.startswith(("#", "exec "))],
            [""] if script.endswith("\n\n") else [],
        )
        subprocess.run(["sh", "-c", script], cwd=self.folder, capture_output=True, check=False)
        self.assertFalse((self.folder / "PWNED").exists())


if __name__ == "__main__":
    main()
