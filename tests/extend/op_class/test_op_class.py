"""An operation class is added in two places: a row of the table, and a form of PTX that has it (docs/guide/extending.md).

Builds simtlab's libraries a second time with a made-up class, which takes minutes; ctest runs it with -C Extended only:
    ctest -C Extended -R extend.op_class
usage: test_op_class.py SOURCE_DIR BUILD_DIR [unittest options]
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

SOURCE, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
TREE = BUILD / "op_class" / "tree"
OUT = BUILD / "op_class" / "build"

ROW = """SIMTLAB_OP_CLASS(toy, {.operations = "made-up fused product and sum",
                       .pipe = Pipe::xu,
                       .wait = Wait::short_scoreboard,
                       .precision = Precision::fp32,
                       .flops = 8,
                       .counted_as = Counted::floating,
                       .like = OpClass::sfu,
                       .sass = "TOY"})
"""
FORM = '    ok("toy", Op::fma, OpClass::toy, "f32", "=T T T T"),\n'
PROGRAM = """
add_executable(made_up ${CMAKE_SOURCE_DIR}/tests/extend/op_class/made_up.cpp)
target_link_libraries(made_up PRIVATE simtlab_gpu)
"""


def put(path, text):
    """Writes only what has changed, so that a second build is short."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def changed(name, text):
    """The source with the new class; each place is one insertion."""
    if name == "op_class_rows.inc":
        return re.sub(r"#endif\s*\Z", ROW + "#endif\n", text)
    if name == "opcodes.cpp":
        return re.sub(r'^ *ok\("add",', lambda first: FORM + first.group(), text, count=1, flags=re.M)
    return text


def make_tree():
    """A copy of src/, and links to everything else. Returns the files that differ."""
    TREE.mkdir(parents=True, exist_ok=True)
    for entry in SOURCE.iterdir():
        link = TREE / entry.name
        if entry.name in ("src", "build", ".git", "CMakeLists.txt") or link.is_symlink():
            continue
        link.symlink_to(entry)
    different = []
    for path in (SOURCE / "src").rglob("*"):
        if not path.is_file():
            continue
        text = path.read_text()
        copy = changed(path.name, text)
        if copy != text:
            different.append(path.name)
        put(TREE / path.relative_to(SOURCE), copy)
    kept = {path.relative_to(SOURCE) for path in (SOURCE / "src").rglob("*")}
    for path in list((TREE / "src").rglob("*")):
        if path.is_file() and path.relative_to(TREE) not in kept:
            path.unlink()
    put(TREE / "CMakeLists.txt", (SOURCE / "CMakeLists.txt").read_text() + PROGRAM)
    return sorted(different)


def run(*command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return done.stdout


class MadeUpClass(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.places = make_tree()
        run(
            "cmake",
            "-S",
            TREE,
            "-B",
            OUT,
            "-DCMAKE_BUILD_TYPE=Debug",
            "-DCMAKE_CXX_FLAGS=-O0 -g0",
            "-DSIMTLAB_TESTS=OFF",
            "-DSIMTLAB_BENCH=OFF",
            "-DSIMTLAB_UNITY=ON",
            # Precompiled headers, which the build uses with clang, halve the time.
            *(["-DCMAKE_CXX_COMPILER=clang++-19"] if shutil.which("clang++-19") else []),
        )
        run("cmake", "--build", OUT, "--target", "made_up", "-j", os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", "2"))
        folder = BUILD / "op_class" / "out"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        cls.lines = run(
            OUT / "bin/made_up", folder, env={**os.environ, "SIMTLAB_DATA": str(SOURCE / "data")}
        ).splitlines()

    def values(self, kind):
        rows = (line.split() for line in self.lines if line.startswith(kind + " "))
        return {row[1]: float(row[2]) for row in rows}

    def test_the_guide_shows_this_row_and_form(self):
        guide = [line.strip() for line in (SOURCE / "docs/guide/extending.md").read_text().splitlines()]
        for line in ROW.splitlines():
            self.assertIn(line.strip(), guide)
        self.assertIn(FORM.strip().rstrip(","), " ".join(guide))

    def test_two_places_were_changed(self):
        self.assertEqual(self.places, ["op_class_rows.inc", "opcodes.cpp"])

    def test_it_computes_in_every_mode(self):
        for mode in ("timing", "predict", "functional"):
            self.assertIn(f"{mode} value 38", self.lines)

    def test_a_device_file_without_it_gives_it_the_values_of_the_class_that_it_is_like(self):
        v100 = (SOURCE / "data/devices/v100.toml").read_text()
        sfu = [re.match(r"[\d.]+", value).group() for value in re.findall(r'^sfu = \{ value = "([^"]+)"', v100, re.M)]
        self.assertIn(f"device latency {sfu[0]} throughput {sfu[1]}", self.lines)

    def test_a_run_counts_it(self):
        metrics = self.values("metric")
        self.assertEqual(metrics["instructions.toy"], 2)
        self.assertEqual(metrics["gpu.flops.fp32"], 16)  # eight a thread and instruction, as the row says
        self.assertGreater(metrics["pipe.xu"], 0)  # the pipeline of the row
        # A warp waits for it as the row says.
        self.assertGreater(metrics["stall.short_scoreboard"], 0)

    def test_the_models_count_it(self):
        counts = self.values("counts")
        self.assertEqual(counts["class.toy.insts"], 2)
        self.assertEqual(counts["fp_insts"], 2)

    def test_a_trace_holds_it(self):
        self.assertEqual(sum(line == "trace toy" for line in self.lines), 2)

    def test_machine_code_has_its_opcode(self):
        self.assertEqual(sum(line.startswith("accelsim ") for line in self.lines), 2)
        self.assertIn("sass toy true", self.lines)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
