"""docs/guide.md is followed from its first line to its last, as a newcomer would in an empty folder."""
import json
import os
import pathlib
import re
import subprocess
import unittest

from harness import SIMTLAB, SOURCE, Case, main, needs_clang

BLOCK = re.compile(r"(?ms)^```(\w+)(?: ([\w.-]+))?\n(.*?)^```$")


def has_loops():
    """Sequential C needs a program of its own, which is built where LLVM 19 is."""
    return (pathlib.Path(SIMTLAB).parent / "simtlab-loops").exists()


@needs_clang
class Guide(Case):
    def shell(self, text):
        env = self.environment({"PATH": f"{pathlib.Path(SIMTLAB).parent}:{os.environ['PATH']}"})
        return subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=self.folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)

    def test_every_block_works(self):
        ran = 0
        outputs = []
        for language, name, body in BLOCK.findall((SOURCE / "docs/guide.md").read_text()):
            if name:
                self.file(name, body)
                continue
            self.assertEqual(language, "sh", "a block of the guide is a file with its name, or commands")
            for command in body.splitlines():
                if "--loop" in command and not has_loops():
                    continue
                with self.subTest(command=command):
                    done = self.shell(command)
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

    def gpu_time(self, name):
        return json.loads((self.folder / name).read_text())["total"]["gpu.time"]["value"]


if __name__ == "__main__":
    main()
