"""The command line itself: help, unknown words, conflicts, exit codes."""
import re
import unittest

from harness import Case, main


class Options(Case):
    def test_help_and_version_go_to_stdout_with_status_0(self):
        for args in (
            ["--help"],
            ["run", "--help"],
            ["list", "--help"],
            ["list", "gpus", "--help"],
            ["config", "show", "--help"],
            ["explain", "--help"],
            ["build", "--help"],
            ["report", "--help"],
            ["version"],
            ["--version"],
        ):
            result = self.ok(*args)
            self.assertTrue(result.stdout, args)
            self.assertEqual(result.stderr, "", args)

    def test_no_command_prints_the_help_on_stderr_with_status_2(self):
        for args in ([], ["list"], ["config"]):
            result = self.simtlab(*args)
            self.assertEqual((result.returncode, result.stdout), (2, ""), args)
            self.assertIn("Subcommands:", result.stderr)

    def test_an_unknown_option_names_the_nearest(self):
        self.fails(2, "run", "--gpus", "h100", says=["--gpus", "did you mean --gpu?"])
        self.fails(2, "run", "--max-cycle=3", "x.ptx", says="did you mean --max-cycles?")
        self.fails(2, "list", "gpus", "--markdwon", says="did you mean --markdown?")
        self.fails(2, "explain", "--zzzzzzzz", "x", says="--help")

    def test_an_unknown_command_names_the_nearest(self):
        self.fails(2, "rnu", "x.cu", says="did you mean 'run'?")
        self.fails(2, "list", "gpu", says="did you mean 'gpus'?")
        self.fails(2, "config", "shwo", says="did you mean 'show'?")
        self.fails(2, "surgeon", says="no command 'surgeon'")

    def test_a_file_instead_of_a_command_is_answered_with_the_line_to_type(self):
        program = self.file("app", "#!/bin/sh\n")
        program.chmod(0o755)
        for args, line in (
            (["app.cu"], "simtlab run app.cu"),
            (["./app"], "simtlab run -- ./app"),
            (["app"], "simtlab run -- ./app"),
            (["k.ptx"], "simtlab run k.ptx --launch FILE"),
            (["k.cl"], "simtlab run k.cl --global"),
            (["t.simt"], "simtlab run t.simt"),
            (["r.json"], "simtlab report r.json"),
            (["run", "./app"], "simtlab run -- ./app"),
            (["run", "./app", "1", "2"], "simtlab run -- ./app 1 2"),
            (["cache", "./app"], "simtlab cache -- ./app"),
        ):
            self.fails(2, *args, says="hint: " + line)

    def test_an_argument_too_many_is_an_error(self):
        self.fails(2, "version", "x", says="'x'")
        self.fails(2, "explain", "gpu.time", "x", says="'x'")

    def test_values_that_are_no_values_are_errors(self):
        for args in (
            ["--seed", "x"],
            ["--seed", "-1"],
            ["--regs", "9999"],
            ["--threads", "0"],
            ["--mode", "fast"],
            ["--max-time", "soon"],
            ["--max-memory", "3 parsec"],
            ["--max-cycles", "1e99"],
            ["--set", "novalue"],
            ["--set", "=3"],
            ["--color", "pink"],
        ):
            result = self.simtlab("run", *args, "x.ptx")
            self.assertIn(result.returncode, (2, 3), (args, result.stderr))
            self.assertRegex(result.stderr, r"error: .+ \[[a-z0-9-]+\]")
            self.assertEqual(result.stdout, "")

    def test_two_outputs_cannot_share_stdout(self):
        self.fails(2, "run", self.saxpy(), "--json", "--csv", says="share stdout")
        self.fails(2, "run", self.saxpy(), "--json", "-o", "-", says="share stdout")

    def test_nothing_to_run_is_a_usage_error(self):
        self.fails(2, "run", says="nothing to run")
        self.fails(2, "run", "--", says="nothing to run")
        self.fails(2, "run", "app.exe", says="cannot run 'app.exe'")
        self.fails(2, "run", "--kernel", "k", "--", "./app", says="--kernel has no effect on a program")

    def test_exit_codes_of_the_documentation_are_those_of_the_tool(self):
        rows = re.findall(r"^(\d+) +(\w+) ", self.ok("list", "exit-codes").stdout, re.M)
        self.assertEqual([int(code) for code, _ in rows], [0, 1, 2, 3, 4, 5, 6, 7, 8, 130])


if __name__ == "__main__":
    main()
