"""tools/machine_trust.py: what it compares and prints, with a stand-in for the vendor's assembler; its generators."""
import os
import pathlib
import subprocess
import sys

from harness import SOURCE, Case, main

COMPARE = pathlib.Path(os.environ.get("SIMTLAB", "simtlab")).with_name("compare_machine")
DATA = SOURCE / "tests" / "data" / "machine"
# Knows the kernels of tests/data/machine, for the architectures of which they have a cubin.
ASSEMBLER = f"""#!{sys.executable}
import pathlib, re, shutil, sys
architecture = sys.argv[1].split("=")[1]
source, out = sys.argv[-3], sys.argv[-1]
text = pathlib.Path(source).read_text()
for name in ("flow", "memory", "calls", "ampere"):
    kernels = re.findall(r"entry (\\w+)", (pathlib.Path("{DATA}") / (name + ".ptx")).read_text())
    if kernels[0] in re.findall(r"entry (\\w+)", text):
        shutil.copy(pathlib.Path("{DATA}") / f"{{name}}.{{architecture}}.cubin", out)
"""


class MachineTrust(Case):
    def run_tool(self, *words):
        command = [sys.executable, "-B", str(SOURCE / "tools/machine_trust.py"), "--compare", str(COMPARE), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder)

    def test_a_missing_assembler_is_named(self):
        run = self.run_tool("--ptxas", "no-ptxas", "--simtlab", os.environ["SIMTLAB"])
        self.assertEqual(run.returncode, 7)
        self.assertIn("nvidia-cuda-nvcc", run.stderr)

    def test_kernels_are_compared_and_counted(self):
        assembler = self.folder / "ptxas"
        assembler.write_text(ASSEMBLER)
        assembler.chmod(0o755)
        words = ["--ptxas", str(assembler), "--simtlab", os.environ["SIMTLAB"], "--arch", "sm_80,sm_90", "-O", "3"]
        run = self.run_tool(*words, "tests")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        rows = [line.split() for line in run.stdout.splitlines()[1:3]]
        self.assertEqual([row[:5] for row in rows], [["tests", f"sm_{g}", "-O3", "14", "14"] for g in (80, 90)])

    def test_a_kernel_that_does_something_else_is_found(self):
        suite = self.folder / "wrong.suite"
        (self.folder / "wrong.ptx").write_text(
            (DATA / "flow.ptx").read_text().replace("mov.u32 t, %tid.x;", "mov.u32 t, %laneid;", 1)
        )
        (self.folder / "flow.cubin").write_bytes((DATA / "flow.sm_80.cubin").read_bytes())
        suite.write_text("ptx wrong.ptx\ncubin O3 flow.cubin\nkernel loops 2 96 0 1 exact b32*4096 -> b32*6144\n")
        run = subprocess.run([COMPARE, suite], capture_output=True, text=True, check=True)
        self.assertIn("\tO3\tloops\tdifferent\t", run.stdout)

    # Nothing is assembled: simtlab takes the texts, which are the same each time.
    def test_generated_kernels_are_executed_as_ptx(self):
        sys.path.insert(0, str(SOURCE / "tools"))
        from machine_kernels import instructions, kernel, programs

        forms = subprocess.run([COMPARE, "forms"], capture_output=True, text=True, check=True).stdout
        kernels = instructions.generate(forms, 1, 1)
        self.assertGreater(len(kernels), 800)
        kernels = [k for i, k in enumerate(kernels) if i % 9 == 0] + programs.generate(6, 1, 80)
        self.assertEqual([k.ptx for k in programs.generate(6, 1, 80)], [k.ptx for k in kernels[-6:]])
        (self.folder / "all.ptx").write_text(kernel.Module(kernels, 90).text()[0])
        lines = ["ptx all.ptx", *(k.line for k in kernels)]
        (self.folder / "all.suite").write_text("\n".join(lines) + "\n")
        run = subprocess.run([COMPARE, self.folder / "all.suite"], capture_output=True, text=True, check=True)
        outcomes = [line.split("\t")[1:4] for line in run.stdout.splitlines()]
        self.assertEqual(outcomes, [["ptx", k.name, "equal"] for k in kernels])


if __name__ == "__main__":
    main()
