"""Every command that README.md and the pages of docs/ show is understood, and is run: as it stands, or with the files that its words stand for."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import documented
import slurm_cluster
from documented_scene import HAS_OPENCL, LESS, TYPED, Scene, typed
from harness import SIMTLAB, SOURCE, Case, main, needs_clang
import test_guide
from test_guide import has_loops

TEST_CLI = os.environ.get("SIMTLAB_TEST_CLI")

# Commands that are only parsed where something is missing on the machine, by what they contain, and what that is.
NEEDED = [
    (r"slurm", slurm_cluster.missing()),
    (r"clinfo", "" if shutil.which("clinfo") else "clinfo is not installed"),
    (r"opencl_app", "" if HAS_OPENCL else "OpenCL's headers are not installed"),
    (r"(transpose|prog|program)\.c ", "" if has_loops() else "simtlab-loops was not built"),
]
# What another test types word for word, which takes long.
TYPED_BY = {
    "validate --quick --gate": ("test_validate.py", '"validate", "--quick", "--gate"'),
    "validate timing --quick --gate": ("test_validate.py", '"validate", "--quick", "--gate"'),
    "validate timing --quick --check": ("test_validate.py", '"validate", "timing", "--gpu", "rtx2060", "--check"'),
    "probe --gpu gtx480 --quick -o p.toml": ("test_probe.py", "test_a_simulated_board_is_measured"),
    "probe --method thesis --gpu k40 --quick": ("test_probe.py", '"probe", "--method", "thesis", "--gpu", "k40"'),
    "validate probe --check": ("test_probe.py", '"validate", "probe", "--check"'),
    "validate cache --quick": ("test_cache.py", '"validate", "cache", "--check", "--gate"'),
}
# Pages whose commands another test follows.
ELSEWHERE = dict.fromkeys(test_guide.PAGES, "test_guide.py") | {"docs/guide/check.md": "test_check.py"}


def sub_commands(path=()):
    """{path of a command: names of the commands below it}"""
    text = subprocess.run([SIMTLAB, *path, "--help"], capture_output=True, text=True, check=True).stdout
    _, _, below = text.partition("\nSubcommands:\n")
    if not below:
        return {}
    names = set(re.findall(r"(?m)^  ([a-z-]+) ", below.partition("\n\n")[0]))
    out = {path: names}
    for name in names:
        out |= sub_commands((*path, name))
    return out


def reason_not_to_run(command):
    if command.page in ELSEWHERE:
        return ELSEWHERE[command.page]
    words = " ".join(typed(command.words))
    return next((why for pattern, why in NEEDED if why and re.search(pattern, words)), None)


def without_code(text):
    return re.sub(r"(?ms)^```.*?^```$", "", text)


def headings(text):
    """The places of a page that links may name, as GitHub makes them of its headings."""
    out = set()
    for heading in re.findall(r"(?m)^#+ (.*)$", without_code(text)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        place = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        out.add(next(name for n in range(1000) if (name := f"{place}-{n}" if n else place) not in out))
    return out


class Documentation(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tree = sub_commands()
        cls.commands = [command for page in documented.pages() for command in documented.commands_of(page, tree)]

    @unittest.skipUnless(TEST_CLI, "$SIMTLAB_TEST_CLI is not set")
    def test_every_command_is_understood(self):
        self.assertGreater(len(self.commands), 200)
        lines = self.file("commands", "".join("\t".join([c.place, *c.words]) + "\n" for c in self.commands))
        done = subprocess.run(
            [TEST_CLI, "--gtest_filter=Words.OfTheDocumentation*"],
            cwd=self.folder,
            env=self.environment({"SIMTLAB_DOCUMENTED_COMMANDS": str(lines)}),
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("[  PASSED  ] 1 test", done.stdout)

    @needs_clang
    def test_commands_run(self):
        scene = Scene(self)
        scene.set_up()
        ran = set()
        for command in self.commands:
            words = typed(command.words)
            text = " ".join(words)
            if text in ran or text in TYPED_BY or reason_not_to_run(command) is not None:  # once is enough
                continue
            with self.subTest(place=command.place, typed=text):
                done = scene.run(words)
                # Targets of validations that are known to be missed (docs/lab/validation.md) have an exit code of their own.
                self.assertIn(
                    done.returncode,
                    (0, 6) if words[0] == "validate" and "--check" in words else (0,),
                    done.stdout[-2000:] + done.stderr,
                )
            ran.add(text)
        self.assertGreater(len(ran), 150)

    def test_every_link_leads_somewhere(self):
        for page in documented.pages():
            for target, place in re.findall(
                r"\]\(([^)#\s]*)(?:#([^)]*))?\)", without_code((SOURCE / page).read_text())
            ):
                if "://" in target:
                    continue
                there = (SOURCE / page).parent / target if target else SOURCE / page
                self.assertTrue(there.exists(), f"{page} links to {target}")
                if place:
                    self.assertIn(place, headings(there.read_text()), f"{page} links to {target}#{place}")

    def test_paths_of_pages_in_sources_exist(self):
        for folder in ("src", "include", "python", "tests", "tools", "cmake", "data", "examples", "bench", "adapters"):
            for path in (SOURCE / folder).rglob("*"):
                if path.suffix not in (
                    ".cpp",
                    ".h",
                    ".py",
                    ".sh",
                    ".cmake",
                    ".txt",
                    ".toml",
                    ".csv",
                    ".ptx",
                    ".cu",
                    ".cl",
                    ".c",
                ):
                    continue
                for page in set(
                    re.findall(r"\bdocs/[A-Za-z0-9_./-]+\.(?:md|json)\b", path.read_text(errors="replace"))
                ):
                    self.assertTrue((SOURCE / page).exists(), f"{path.relative_to(SOURCE)} names {page}")

    def test_every_page_command_exit_code_and_header_is_named(self):
        readme, cli = ((SOURCE / name).read_text() for name in ("README.md", "docs/reference/cli.md"))
        linked = readme + "".join((SOURCE / page).read_text() for page in documented.pages())
        for page in documented.pages():
            if pathlib.Path(page).name == "README.md":  # where a reader begins
                continue
            self.assertRegex(
                linked, rf"\]\(([a-z./-]+/)?{re.escape(pathlib.Path(page).name)}[)#]", f"nothing links to {page}"
            )
        for name in sub_commands()[()]:
            self.assertRegex(cli, rf"simtlab {name}\b", f"docs/reference/cli.md has no line for {name}")
        codes = (SOURCE / "docs/reference/exit-codes.md").read_text()
        for row in self.ok("list", "exit-codes", "--markdown").stdout.splitlines()[2:]:
            self.assertIn(row.rstrip("| "), codes, "docs/reference/exit-codes.md is stale")
        for header in (SOURCE / "include/simtlab").glob("*.h"):
            self.assertIn(
                header.name,
                (SOURCE / "docs/guide/library.md").read_text() + (SOURCE / "docs/guide/plugins.md").read_text(),
            )

    def test_the_page_of_interfaces_is_what_the_headers_say(self):
        page = (SOURCE / "docs/reference/interfaces.md").read_text()
        made = subprocess.run(
            [sys.executable, "-B", SOURCE / "tools/interfaces.py"], check=True, stdout=subprocess.PIPE, text=True
        ).stdout
        self.assertEqual(page, made, "stale: python3 tools/interfaces.py > docs/reference/interfaces.md")
        for header in (SOURCE / "include/simtlab").glob("*.h"):
            self.assertIn(f"`include/simtlab/{header.name}`", page)
        for name in ("study", "commands_json", "Gpu", "Device", "simtlab_memory_plugin", "SIMTLAB_MEMORY_ABI"):
            self.assertIn(f"\n### {name}\n", page)

    def test_every_exception_is_of_use(self):
        raw = {" ".join(command.words) for command in self.commands}
        all_typed = {" ".join(typed(command.words)) for command in self.commands}
        for pattern, _ in NEEDED:
            self.assertTrue(any(re.search(pattern, text) for text in all_typed), pattern)
        for text, (name, line) in TYPED_BY.items():
            self.assertIn(text, all_typed)
            self.assertIn(line, (SOURCE / "tests/e2e" / name).read_text())
        self.assertEqual([], sorted(set(TYPED) - raw), "no page has these")
        for pattern, more in LESS:
            self.assertTrue(any(re.search(pattern, text) and more in text for text in all_typed), pattern)


if __name__ == "__main__":
    main()
