"""Three pages of docs/guide are followed from the first line to the last, as a newcomer would in an empty folder."""
import json
import os
import pathlib
import re
import subprocess
import unittest

from harness import SIMTLAB, SOURCE, Case, main, needs_clang

BLOCK = re.compile(r"(?ms)^```(\w+)(?: ([\w./-]+))?\n(.*?)^```$")
PAGES = ["docs/guide/first-hours.md", "docs/guide/own-devices.md", "docs/guide/extending.md"]  # in the order of reading
EXTENDED = os.environ.get("SIMTLAB_EXTENDED")  # the same with the policies that the last page adds


def has_loops():
    """Sequential C needs a program of its own, which is built where LLVM 19 is."""
    return (pathlib.Path(SIMTLAB).parent / "simtlab-loops").exists()


@needs_clang
class Guide(Case):
    def shell(self, text, extended):
        folder = pathlib.Path(SIMTLAB).parent
        if extended:
            folder = self.folder / "extended"
            folder.mkdir(exist_ok=True)
            if not (folder / "simtlab").exists():
                (folder / "simtlab").symlink_to(EXTENDED)
        env = self.environment({"PATH": f"{folder}:{os.environ['PATH']}"})
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=self.folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def test_every_block_works(self):
        ran = 0
        outputs = []
        for page in PAGES:
            last = page == PAGES[-1]
            for language, name, body in BLOCK.findall((SOURCE / page).read_text()):
                if name:
                    self.file(name, body)
                    continue
                if language == "console":  # a build with further files: test_extend.py
                    self.assertIn("-DSIMTLAB_EXTENSIONS=", body)
                    continue
                self.assertEqual(language, "sh", "a block of the guide is a file with its name, or commands")
                if last and not EXTENDED:
                    continue
                for command in body.splitlines():
                    if "--loop" in command and not has_loops():
                        continue
                    with self.subTest(command=command):
                        done = self.shell(command, last)
                        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}\n{done.stderr}")
                        outputs.append((command, done.stdout, done.stderr))
                    ran += 1
        self.assertGreater(ran, 14)
        said = {command: (out, err) for command, out, err in outputs}
        # What the page says of them.
        self.assertEqual(said["simtlab run warps.cu --gpu a100 --json=warps.json"][0], "right\n")
        for page in ("rows.html", "study.html"):
            self.assertGreater((self.folder / page).stat().st_size, 100_000)
        times = [self.gpu_time(f"{name}.json") for name in ("rows", "warps")]
        self.assertGreater(times[0], times[1])
        if EXTENDED:
            hits = [
                json.loads((self.folder / f"{name}.json").read_text())["total"]["l1.read.hits"]["value"]
                for name in ("lru", "lip")
            ]
            self.assertEqual(hits, [0, 7200])

    def test_the_code_of_the_guide_is_the_code_that_is_built(self):
        shown = {
            name.removeprefix("mine/"): body
            for language, name, body in BLOCK.findall((SOURCE / PAGES[-1]).read_text())
            if language == "cpp"
        }
        built = {
            str(path.relative_to(SOURCE / "examples/extend")): path.read_text()
            for path in (SOURCE / "examples/extend").rglob("*.cpp")
        }
        self.assertEqual(shown, {name: text for name, text in built.items() if name in shown})
        self.assertEqual(len(shown), 9)
        for name in built.keys() - shown.keys():  # too long for a page: named there
            self.assertIn(f"examples/extend/{name}", (SOURCE / "docs/guide/extending.md").read_text())

    def gpu_time(self, name):
        return json.loads((self.folder / name).read_text())["total"]["gpu.time"]["value"]


if __name__ == "__main__":
    main()
