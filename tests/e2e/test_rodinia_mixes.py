"""tools/rodinia/corun.py, with a suite of our own in the place of Rodinia, which is not in the tree: what it records and writes, and that mixes run."""
import re
import subprocess
import sys

from harness import SIMTLAB, SOURCE, Case, main, needs_clang

# Folders, files and arguments are those of apps.py.
PROGRAM = """
#include <cstdio>
#include <cstdlib>
__global__ void touch(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * 2 + 1;
}
int main(int count, char** words) {
  if (count < 2) return 1;
  FILE* input = INPUT;
  if (!input) return 2;
  const int n = 4096;
  float* data;
  cudaMalloc(&data, n * sizeof(float));
  for (int i = 0; i < LAUNCHES; ++i) touch<<<(n + 255) / 256, 256>>>(data, n);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""
SCRIPT = SOURCE / "tools/rodinia/corun.py"


@needs_clang
class RodiniaMixes(Case):
    def setUp(self):
        super().setUp()
        self.file("suite/cuda/bfs/bfs.cu", PROGRAM.replace("INPUT", 'fopen(words[1], "r")').replace("LAUNCHES", "3"))
        self.file("suite/cuda/pathfinder/pathfinder.cu", PROGRAM.replace("INPUT", "stdin").replace("LAUNCHES", "2"))
        self.file(
            "few.toml", '# more\n[[application]]\nname = "bfs"\nrun = "folder/own.cu"\narguments = ["run = \'x\'"]\n'
        )
        self.file("folder/own.cu", PROGRAM.replace("INPUT", "stdin").replace("LAUNCHES", "1"))

    def script(self, *arguments):
        return subprocess.run(
            [
                sys.executable,
                "-B",
                str(SCRIPT),
                "suite",
                "out",
                "--simtlab",
                SIMTLAB,
                "--examples",
                "few.toml",
                *arguments,
            ],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=300,
        )

    def test_traces_and_an_applications_file_with_the_examples(self):
        done = self.script("--apps", "pathfinder,bfs")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"bfs: 3 launches, ")
        self.assertIn("2 applications of Rodinia, 1 examples", done.stdout)
        self.assertEqual(
            sorted(p.name for p in (self.folder / "out").iterdir()), ["bfs.simt", "pathfinder.simt", "rodinia.toml"]
        )
        self.assertFalse((self.folder / "suite/cuda/bfs/app").exists(), "the checkout is not touched")
        text = (self.folder / "out/rodinia.toml").read_text()
        self.assertEqual(re.findall(r'^name = "(.*)"', text, re.M), ["rodinia-bfs", "rodinia-pathfinder", "bfs"])
        self.assertIn(f'run = "{self.folder.resolve() / "folder/own.cu"}"', text)
        self.assertIn("""arguments = ["run = 'x'"]""", text)
        out = self.ok(
            "corun",
            "--host",
            "cycle",
            "--gpu",
            "titanx-maxwell",
            "--applications",
            "out/rodinia.toml",
            "--mix",
            "rodinia-bfs,rodinia-pathfinder,bfs",
            "--limit",
            "2",
            "--policy",
            "mps",
        ).stdout
        self.assertRegex(out, r"\| 1 \| rodinia-bfs \| 2 \| mps \| 1\.\d+ \|")

    def test_what_can_not_be_recorded_is_said_and_no_file_is_written(self):
        done = self.script("--apps", "bfs,nw")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"nw: FAILED: .+")
        self.assertFalse((self.folder / "out/rodinia.toml").exists())
        done = self.script("--apps", "nothing")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no application 'nothing'", done.stderr)

    def test_every_application_is_one_of_apps_py(self):
        sys.path.insert(0, str(SCRIPT.parent))
        import apps
        import corun

        known = {a.name for a in apps.APPS}
        names = [name for name, _, _ in corun.APPLICATIONS]
        self.assertGreaterEqual(len(names), 6)
        self.assertEqual(len(names), len(set(names)))
        self.assertLessEqual(set(names) | set(corun.EDITS), known)
        fields = {f for f in apps.App.__dataclass_fields__}
        for name, changes, iterations in corun.APPLICATIONS:
            self.assertLessEqual(set(changes), fields, name)
            self.assertGreater(iterations, 0)


if __name__ == "__main__":
    main()
