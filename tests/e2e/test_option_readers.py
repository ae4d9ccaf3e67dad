"""Every option of every study: read, or a usage error. The table is that of `simtlab list options --markdown`."""
import re
import unittest

from harness import Case, main

# What a command can be asked for, and words that ask for it. What they name is not there, so that nothing is simulated:
# options are looked at first.
STUDIES = {
    "a program on the cycle-level GPU": ["run", "--", "./no-program"],
    "a kernel on the cycle-level GPU": ["run", "no.ptx"],
    "a trace on the cycle-level GPU": ["run", "no.simt"],
    "a program in functional mode": ["run", "--mode", "functional", "--", "./no-program"],
    "a kernel in functional mode": ["run", "no.ptx", "--mode", "functional"],
    "the check of a program": ["check", "--", "./no-program"],
    "the check of a kernel": ["check", "no.ptx"],
    "the programs of a suite": ["suite", "no-folder"],
    "the cache study of a program": ["cache", "--", "./no-program"],
    "the cache study of a kernel": ["cache", "no.cl"],
    "the cache study of a trace": ["cache", "no.simt"],
    "the prediction of a program": ["predict", "--", "./no-program"],
    "the prediction of a kernel": ["predict", "no.ptx"],
    "the prediction of a trace": ["predict", "no.simt"],
    "a prediction with --static": ["predict", "no.ptx", "--static"],
    "a prediction from counts alone": ["predict", "--counts", "counts.toml"],
    "the prediction of a sequential C program": ["predict", "no.c"],
    "the prediction of a sequential C program with --simulate": ["predict", "no.c", "--simulate"],
    "mixes on the fast host without --gpu": ["corun", "--mix", "no-application"],
    "mixes on the fast host with --gpu": ["corun", "--gpu", "no-gpu"],
    "mixes on the cycle host": ["corun", "--host", "cycle", "--gpu", "no-gpu"],
    "applications of the profiles": ["corun", "interfere", "no-application"],
    "a kernel that is simulated": ["corun", "interfere", "no.ptx"],
    "a kernel on a real board": ["corun", "interfere", "no.ptx", "--device", "no-board"],
    "profiles on a real board": ["corun", "profile", "--device", "no-board", "--database", "p.toml", "--", "./no"],
    "a simulated GPU": ["probe", "--gpu", "no-gpu"],
    "a real board": ["probe", "--device", "no-board"],
    "a curve that was measured elsewhere": ["probe", "--analyse", "no.csv"],
    "samples that were measured elsewhere": ["probe", "--samples", "no.txt"],
    "two device files that are compared": ["probe", "--compare", "no-a", "no-b"],
}
# Values that the command line takes; all else takes "1".
VALUES = {
    "--mode": "timing",
    "--what-if": "none",
    "--lowering": "counts",
    "--sharing": "leftover",
    "--memory-errors": "stop",
    "--code": "auto",
    "--sample": "0.1",
    "--set": "sm.count=4",
    "--config": "config.toml",
    "--gpu": "v100",
    "--kernels": "*",
    "--model": None,  # by command
    "--rule": "paper",
    "--resios": "memory-units=2",
    "--dram": "hbm2-2000",
    "--timeline": "t.json",
    "--record": "r.simt",
    "--schedule": "s.trace",
    "--checkpoint": "c",
    "--resume": "c",
    "--plot": "plot",
    "--curves": "curves",
    "--emit-ptx": "e.ptx",
    "--emit-cuda": "e.cu",
    "--counts": "counts.toml",
    "--method": "slope",
    "--correction": "none",
    "--detector": "ks",
    "--host": "fast",
    "--timeline-window": "0:10",
    "--order": "gto",
    "--policy": "mps",
    "--results": "late",
    "--cache-control": "all",
    "--stack": "4KiB",
}
# Options that need another one to be understood.
NEEDS = {
    ("run", "--repeat"): "--device",
    ("run", "--tolerance"): "--device",
    ("predict", "--run-limit"): "--run",
    ("predict", "--stage"): "--emit-cuda",
}


class Readers(Case):
    def setUp(self):
        super().setUp()
        self.file("config.toml", "seed = 3\n")
        self.file("counts.toml", "")

    def table(self):
        """{command: {option: (takes a value, names of the studies that read it)}}, restricted options only."""
        out = {}
        for section in re.split(r"^## simtlab ?", self.ok("list", "options", "--markdown").stdout, flags=re.M)[1:]:
            name, _, text = section.partition("\n")
            for row in re.findall(r"^\| `(-[^`]*)` \| (?:.*) \| (.+) \|$", text, re.M):
                spelled, readers = row
                option = re.search(r"--[a-z0-9-]+", spelled).group(0)
                takes_value = bool(re.search(r"--[a-z0-9-]+(\[=| [^-])", spelled))
                out.setdefault(name, {})[option] = (takes_value, readers.split(", "))
        return out

    @staticmethod
    def command_of(words, table):
        two = " ".join(words[:2])
        return two if two in table else words[0]

    def words_for(self, option, takes_value, command):
        if not takes_value:
            return [option]
        value = VALUES.get(option, "1")
        if option == "--model":
            value = "mwp-cwp" if command == "predict" else "model.toml"
        if option == "--compare":
            return [option, "a", "b"]
        if option == "--device":
            value = "no-board"
        return [f"{option}={value}"]

    def test_an_option_that_a_study_does_not_read_is_a_usage_error_there(self):
        table = self.table()
        refused = 0
        for study, words in STUDIES.items():
            command = self.command_of(words, table)
            for option, (takes_value, readers) in table.get(command, {}).items():
                if study in readers or option in words:
                    continue
                added = self.words_for(option, takes_value, command)
                if NEEDS.get((command, option)):
                    continue  # the option that it needs is refused itself
                at = words.index("--") if "--" in words else len(words)
                said = self.simtlab(*words[:at], *added, *words[at:])
                if option == "--device" and command == "run":
                    self.assertEqual(said.returncode, 2, (study, option, said.stderr))
                    continue
                if self.asks_for_another(option, study):
                    continue
                self.assertEqual(said.returncode, 2, (study, option, said.stderr))
                self.assertIn(f"has no effect on {study} [option-conflict]", said.stderr, (study, option))
                self.assertIn(option, said.stderr)
                refused += 1
        self.assertGreater(refused, 250)

    @staticmethod
    def asks_for_another(option, study):
        """The option itself makes it another study."""
        return (
            option in ("--static", "--simulate", "--analyse", "--compare", "--samples", "--device", "--trace", "--mode")
            or (option == "--gpu" and study.startswith("mixes"))
            or (option == "--gpu" and study.startswith("a real board"))
        ) and study != "profiles on a real board"

    def test_an_option_that_a_study_reads_is_none(self):
        table = self.table()
        for study, words in STUDIES.items():
            command = self.command_of(words, table)
            for option, (takes_value, readers) in table.get(command, {}).items():
                if study not in readers or option in words or self.asks_for_another(option, study):
                    continue
                if NEEDS.get((command, option)):
                    continue
                at = words.index("--") if "--" in words else len(words)
                said = self.simtlab(*words[:at], *self.words_for(option, takes_value, command), *words[at:])
                self.assertNotIn(f"has no effect on {study}", said.stderr, (study, option))
                self.assertNotIn("[option-unknown]", said.stderr, (study, option))
                self.assertNotEqual(said.returncode, 0, (study, option))

    def test_known_liars_tell_the_truth(self):
        program = self.file("n.c", "int main() { return 0; }\n")
        for option in (["--regs", "200"], ["--kernels", "nothing"], ["--seed", "9"]):
            self.fails(2, "predict", program, "--run", "", "--simulate", *option, says=f"{option[0]} has no effect on")
        self.fails(2, "predict", program, "--max-memory", "1 KiB", says="--max-memory has no effect on")
        self.fails(
            3,
            "predict",
            self.saxpy(),
            "--grid=64",
            "--block=256",
            "--arg=f32:2",
            "--arg=buffer:16384:f32:iota",
            "--arg=buffer:16384:f32:random",
            "--arg=u32:16384",
            "--max-memory",
            "1 KiB",
            says="raise --max-memory",
        )


if __name__ == "__main__":
    main()
