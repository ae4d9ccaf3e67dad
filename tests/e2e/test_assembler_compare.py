"""tools/assembler_compare.py and assembler_corpus.py: loops and their rounds, classes of instructions, the tables, with a stand-in for ptxas."""
import json
import os
import subprocess
import sys

from harness import SOURCE, Case, main

sys.path.insert(0, str(SOURCE / "tools"))
sys.dont_write_bytecode = True
import assembler_loops as loops_of  # noqa: E402

DATA = SOURCE / "tests" / "data" / "machine"
# Knows tests/data/machine/flow.ptx for sm_80, and refuses all else.
ASSEMBLER = f"""#!{sys.executable}
import pathlib, shutil, sys
if "two_places" not in pathlib.Path(sys.argv[-3]).read_text() or sys.argv[1] != "-arch=sm_80":
    sys.exit("ptxas fatal   : not today")
shutil.copy("{DATA}/flow.sm_80.cubin", sys.argv[-1])
"""
# Makes PTX of what says "kernel".
COMPILER = f"""#!{sys.executable}
import pathlib, sys
text = pathlib.Path(next(w for w in sys.argv if w.endswith(".cu"))).read_text()
to = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
to.write_text(".visible .entry k()" + " ".join(sys.argv) if text == "kernel" else "")
sys.exit(text == "bad")
"""
NEST = """.version 7.0
.visible .entry nest(.param .u64 a)
{
  mov.u32 %r1, 0;
$outer:
  mov.u32 %r2, 0;
$inner:
  ld.global.v2.f32 {%f1, %f2}, [%rd1];
  fma.rn.f32 %f3, %f1, %f2, %f3;
  @%p1 bra $inner;
  st.shared.f32 [%r3], %f3;
  @%p2 bra $outer;
  ret;
}
"""


def instruction(address, text, line, stall=2, write=None, wait=(), target=None, read=None):
    control = {"stall": stall, "write_barrier": write, "read_barrier": read, "wait": list(wait)}
    mnemonic = loops_of.bare(text).split()[0].split(".")[0]
    out = {"address": address, "text": text, "mnemonic": mnemonic, "control": control, "ptx_line": line}
    return out | ({} if target is None else {"target": target})


class AssemblerCompare(Case):
    def test_loops_are_nested_and_inner_ones_come_first(self):
        inner, outer = loops_of.natural_loops([[1], [2], [2, 3], [1, 4], []])
        self.assertEqual((inner.header, inner.own, inner.depth), (2, {2}, 2))
        self.assertEqual((outer.header, outer.own, outer.depth), (1, {1, 3}, 1))
        self.assertEqual(loops_of.natural_loops([[1], []]), [])

    def test_what_a_ptx_loop_holds_is_counted_without_the_loop_in_it(self):
        kernel = loops_of.kernels_of(NEST)["nest"]
        inner, outer = kernel.loops
        self.assertEqual((kernel.lines[inner], kernel.lines[outer]), ([8, 9, 10], [6, 11, 12]))
        self.assertEqual((kernel.anchors(inner), kernel.anchors(outer)), ([2, 8, 0], [0, 0, 4]))

    def test_a_lone_warp_waits_for_scoreboards(self):
        code = [
            instruction(0, "LDS R1, [R2]", 1, 1, write=0),
            instruction(16, "LDS R3, [R4]", 2, 1, write=1),
            instruction(32, "FADD R5, R1, R1", 3, 4, wait=[0]),
            instruction(48, "STS [R2], R5", 4, 1, read=2),
            instruction(64, "IADD3 R5, R3, 1, RZ", 5, 5, wait=[1, 2]),
        ]
        # The load answers after 24 cycles, the sum takes 4, the store has read its operands 12 later.
        self.assertEqual(loops_of.lone_cycles(code, False), 24 + 4 + 12 + 5)
        # In a loop what a round leaves is waited for in the next one.
        late = [instruction(0, "FADD R5, R1, R1", 1, 4, wait=[0]), instruction(16, "LDS R1, [R2]", 2, 6, write=0)]
        self.assertEqual(loops_of.lone_cycles(late, False), 10)
        self.assertEqual(loops_of.lone_cycles(late, True), 24 + 4)
        # Three of four loads may still be under way.
        some = [instruction(16 * n, f"LDS R{n}, [R9]", n, 1, write=3) for n in range(4)]
        some.append(instruction(64, "DEPBAR.LE SB3, 0x3", 5, 1))
        self.assertEqual(loops_of.lone_cycles(some, False), 24 + 1)

    def test_instructions_have_classes(self):
        for text, kind in {
            "FFMA R1, R2, R3, R1": "fma",
            "HFMA2.MMA R5, -RZ, RZ, 0, 0": "int",  # a move
            "IMAD.WIDE R2, R0, R3, c[0x0][0x160]": "int",
            "MUFU.RCP R1, R2": "float",
            "LDG.E.64 R2, [R4.64]": "global",
            "ATOMS.ADD R1, [R2], R3": "shared",
            "STL [R1], R3": "local",
            "BSSY B0, `(.L_1)": "control",
        }.items():
            self.assertEqual(loops_of.class_of(text), kind, text)

    def test_figures_are_those_of_one_round_of_the_ptx_loop(self):
        ptx = loops_of.kernels_of(NEST)["nest"]
        code = [
            instruction(0, "LDG.E.128 R0, [R8]", 8, write=0),
            instruction(16, "FFMA R4, R0, R1, R4", 9, stall=4, wait=[0]),
            instruction(32, "FFMA R4, R2, R3, R4", 9, stall=4),
            instruction(48, "@P0 BRA `(.L_1)", 10, stall=5, target=0),
            instruction(64, "EXIT", 13),
        ]
        listed = {"registers": 9, "stack_bytes": 0, "shared_bytes": 0, "instructions": code}
        row = loops_of.MachineKernel(listed, ptx).main_loop(ptx.loops[0]).row()
        wanted = {"rounds": 2, "fma": 1, "global": 0.5, "control": 0.5, "all": 2, "cycles": 7.5, "waits": 0.5}
        self.assertEqual({name: row[name] for name in wanted}, wanted)

    def run_tool(self, *words):
        assembler = self.folder / "ptxas"
        assembler.write_text(ASSEMBLER)
        assembler.chmod(0o755)
        command = [sys.executable, "-B", str(SOURCE / "tools/assembler_compare.py"), "--ptxas", str(assembler)]
        command += ["--simtlab", os.environ.get("SIMTLAB", "simtlab"), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder)

    def test_both_sides_are_tabulated(self):
        run = self.run_tool("--markdown", "--json", "rows.json", str(DATA / "flow.ptx"))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("| sm_80 | all |", run.stdout)
        self.assertRegex(run.stdout, r"\| sm_80 \| flow: two_places \|")
        rows = json.loads((self.folder / "rows.json").read_text())["rows"]
        self.assertTrue(all(r["ours"]["registers"] and r["theirs"]["registers"] for r in rows))

    def test_a_refusal_is_given_with_its_reason(self):
        run = self.run_tool(str(SOURCE / "examples" / "saxpy.ptx"))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"ptxas +1 +not today")

    def test_a_missing_assembler_is_named(self):
        run = self.run_tool("--ptxas", "no-ptxas", str(DATA / "flow.ptx"))
        self.assertEqual((run.returncode, run.stderr), (7, "assembler_compare.py: no-ptxas is not there\n"))

    def corpus(self, *words):
        command = [sys.executable, "-B", str(SOURCE / "tools/assembler_corpus.py"), "--to", "corpus", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder)

    def test_a_corpus_has_a_folder_for_each_origin(self):
        compiler = self.folder / "bin" / "nvcc"
        compiler.parent.mkdir()
        compiler.write_text(COMPILER)
        compiler.chmod(0o755)
        sources = {"a.cu": "kernel", "deep/a.cu": "kernel", "bad.cu": "bad", "host.cu": "host", "k.ptx": ".entry k()"}
        for name, text in sources.items():
            file = self.folder / "suite" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        run = self.corpus("--compiler", str(compiler), "--option=-DN=4", "suite")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("suite, nvcc: 2 of 4 (1 no kernel, 1 not compiled)", run.stdout)
        made = sorted(str(f.relative_to(self.folder / "corpus")) for f in (self.folder / "corpus").rglob("*.ptx"))
        self.assertEqual(made, ["suite, PTX/k.ptx", "suite, nvcc/a.ptx", "suite, nvcc/deep-a.ptx"])
        words = (self.folder / "corpus" / "suite, nvcc" / "deep-a.ptx").read_text()
        for word in ("-DN=4", "-ptx", "-arch=sm_75", f"-I{(self.folder / 'suite').resolve()}"):
            self.assertIn(word, words)
        self.assertEqual(self.corpus("--compiler", "no-nvcc", "suite").returncode, 7)
        self.assertEqual(self.corpus("--compiler", str(compiler), "bin").returncode, 3)
        self.assertEqual(self.corpus("nowhere").returncode, 2)


if __name__ == "__main__":
    main()
