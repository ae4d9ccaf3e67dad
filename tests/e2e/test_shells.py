"""Completion and man pages: written from the option tree, understood by the shells and by mandoc."""
import os
import re
import shutil
import subprocess
import unittest

from harness import SIMTLAB, Case, main

COMMANDS = [
    "run",
    "cache",
    "build",
    "nvcc",
    "toolkit",
    "suite",
    "dram",
    "predict",
    "probe",
    "trace",
    "report",
    "compare",
    "rerun",
    "list",
    "config",
    "explain",
    "validate",
    "doctor",
    "corun",
    "completion",
    "man",
    "version",
]


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed (./dev test installs it)")


class Shell(Case):
    def shell(self, *command, text=None):
        env = self.environment({"PATH": f"{os.path.dirname(SIMTLAB)}:{os.environ['PATH']}"})
        result = subprocess.run(
            command, cwd=self.folder, env=env, input=text, capture_output=True, text=True, timeout=120
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        return result.stdout


@needs("bash")
class Bash(Shell):
    def complete(self, line):
        """What bash offers where the cursor stands at the end of the line."""
        self.file("script", self.ok("completion", "bash").stdout)
        words = re.findall(r"=|[^ =]+", line) + ([""] if line.endswith((" ", "=")) else [])
        quoted = " ".join("'" + w + "'" for w in words)
        return self.shell(
            "bash",
            "--norc",
            "-c",
            f"source ./script; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _simtlab; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        ).split()

    def test_commands(self):
        self.assertLessEqual(set(COMMANDS), set(self.complete("simtlab ")))
        self.assertEqual(self.complete("simtlab rer"), ["rerun"])
        self.assertEqual(set(self.complete("simtlab config ")), {"show", "diff", "init"})

    def test_options_are_those_of_the_help(self):
        for command in COMMANDS:
            known = set(re.findall(r"(?m)^  (?:-\w,)?(--[a-z0-9-]+)", self.ok(command, "--help").stdout))
            self.assertLessEqual(known, set(self.complete(f"simtlab {command} -")), command)
        self.assertIn("--origin", self.complete("simtlab config show --or"))

    def test_values(self):
        self.assertEqual(self.complete("simtlab run --gpu h10"), ["h100"])
        self.assertEqual(self.complete("simtlab run --gpu=h10"), ["h100"])
        self.assertIn("ddr4-3200", self.complete("simtlab dram --dram ddr4"))
        self.assertEqual(self.complete("simtlab run --color "), ["auto", "always", "never"])
        self.assertIn("l1.read.miss_rate", self.complete("simtlab explain l1.read.mi"))

    def test_files(self):
        self.file("kernel.ptx", "")
        self.assertEqual(self.complete("simtlab run ker"), ["kernel.ptx"])
        self.assertEqual(self.complete("simtlab run -- ker"), ["kernel.ptx"])


class OtherShells(Shell):
    @needs("zsh")
    def test_zsh(self):
        self.file("_simtlab", self.ok("completion", "zsh").stdout)
        self.shell("zsh", "-f", "-n", "_simtlab")
        # The script is loaded as zsh does it, and asked for its commands and options.
        out = self.shell(
            "zsh",
            "-f",
            "-c",
            """
fpath=($PWD $fpath); autoload -Uz compinit; compinit -D -u
_describe() { print -l -- ${(P)2} }
_arguments() { print -l -- "$@" }
words=(simtlab ''); CURRENT=2; _simtlab
words=(simtlab run ''); CURRENT=3; _simtlab
words=(simtlab config ''); CURRENT=3; _simtlab
""",
        )
        for command in COMMANDS:
            self.assertRegex(out, f"(?m)^{command}:")
        self.assertIn("*--gpu=[The simulated GPU", out)
        self.assertRegex(out, r"(?m)^diff:")

    @needs("fish")
    def test_fish(self):
        self.file("simtlab.fish", self.ok("completion", "fish").stdout)
        out = self.shell(
            "fish",
            "--no-config",
            "-c",
            "source simtlab.fish; complete -C 'simtlab '; complete -C 'simtlab run --gp'; complete -C 'simtlab run --gpu h10'; complete -C 'simtlab config '",
        )
        for command in COMMANDS:
            self.assertRegex(out, f"(?m)^{command}\t")
        self.assertRegex(out, r"(?m)^--gpu\t")
        self.assertRegex(out, r"(?m)^h100")
        self.assertRegex(out, r"(?m)^diff\t")

    def test_another_shell(self):
        self.fails(2, "completion", "tcsh")


class Man(Shell):
    PAGES = (
        [[]] + [[c] for c in COMMANDS] + [["config", "show"], ["config", "diff"], ["trace", "info"], ["list", "stats"]]
    )

    def test_pages_have_every_option(self):
        for page in self.PAGES:
            text = self.ok("man", *page).stdout.replace("\\-", "-")
            self.assertTrue(text.startswith(f".TH {'-'.join(['SIMTLAB', *[p.upper() for p in page]])} 1"), page)
            for option in re.findall(r"(?m)^  (?:-\w,)?(--[a-z0-9-]+)", self.ok(*page, "--help").stdout):
                self.assertIn(f"\\fB{option}\\fR", text, page)

    @needs("mandoc")
    def test_mandoc_finds_no_fault(self):
        for page in self.PAGES:
            text = self.ok("man", *page).stdout
            out = subprocess.run(
                ["mandoc", "-Tlint", "-Wwarning"], input=text, capture_output=True, text=True, timeout=60
            )
            faults = [
                line for line in (out.stdout + out.stderr).splitlines() if "missing date" not in line
            ]  # a version has no date
            self.assertEqual(faults, [], page)

    def test_an_unknown_page(self):
        self.fails(2, "man", "rum", says="did you mean 'run'?")


if __name__ == "__main__":
    main()
