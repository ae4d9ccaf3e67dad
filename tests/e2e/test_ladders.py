"""The ladders of examples/ladders: every step is right, a wrong one is found out, and machine code of some of them does the same."""
import array
import random

from harness import SOURCE, Case, main, needs_clang

LADDERS = SOURCE / "examples/ladders"
CUBINS = SOURCE / "tests/data/machine"
STEPS = {"sgemm": range(1, 11), "reduction": range(8), "transpose": range(1, 6)}
SIZES = {"sgemm": 128, "reduction": 16384, "transpose": 128}
# A device that runs the machine code of a generation.
DEVICES = {70: ["--gpu", "v100"], 86: ["--gpu", "a100", "--set", "compute_capability=8.6"]}


@needs_clang
class Programs(Case):
    def built(self, source):
        self.ok("build", source, "-o", source.stem)
        return f"./{source.stem}"

    def run_step(self, program, *words):
        return self.simtlab("run", "-q", "--mode", "functional", "--", program, *words)

    def test_every_step_is_right(self):
        for name, steps in STEPS.items():
            program = self.built(LADDERS / f"{name}.cu")
            for step in steps:
                with self.subTest(f"{name} {step}"):
                    done = self.run_step(program, step, SIZES[name])
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertRegex(done.stdout, rf"^{name} step {step}, (\w+), size {SIZES[name]}: .*\n\1: PASS\n$")

    def test_a_time_is_that_of_the_device(self):
        """It is between two events, so the launch is part of it."""
        done = self.ok("run", LADDERS / "transpose.cu", "--gpu", "v100", "--json=t.json", "--", 1, 128, 1)
        said = float(done.stdout.partition("size 128: ")[2].partition(" us")[0])
        self.assertGreater(said, 1)
        self.assertLess(said, 100)

    def test_a_wrong_kernel_is_found_out(self):
        """A row, a lane or an element is taken for another: the check of each ladder sees it."""
        mistakes = {
            ("sgemm", 10): ("lane / 4 * 8", "lane / 4 * 8 % 56"),
            ("reduction", 7): ("half = 16; half > 0; half /= 2) sum", "half = 16; half > 1; half /= 2) sum"),
            ("transpose", 5): ("threadIdx.y + i * kTile];", "threadIdx.y + (i ^ 1) * kTile];"),
        }
        self.file("example.h", (LADDERS / "../example.h").read_text())
        self.file("ladders/ladder.h", (LADDERS / "ladder.h").read_text())
        for (name, step), (right, wrong) in mistakes.items():
            text = (LADDERS / f"{name}.cu").read_text()
            self.assertEqual(text.count(right), 1, right)
            program = self.built(self.file(f"ladders/{name}.cu", text.replace(right, wrong)))
            done = self.run_step(program, step, SIZES[name])
            self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
            self.assertIn("ended with status 1", done.stderr)
            self.assertIn("FAIL", done.stdout)

    def test_wrong_words_are_a_usage_error(self):
        program = self.built(LADDERS / "sgemm.cu")
        for words in ((), (0,), (11,), (1, 100), (1, -128), (1, 128, -1), (1, 128, 0, 0), ("x",)):
            done = self.run_step(program, *words)
            self.assertEqual(done.returncode, 5, words)
            self.assertIn("ended with status 2", done.stderr)
            self.assertIn("STEP  from 1 to 10", done.stderr)


class MachineCode(Case):
    """Cubins of nvcc (sm_86) and of ptxas (sm_70), against what they must leave in memory."""

    def numbers(self, name, values):
        self.file(name, array.array("f", values).tobytes())

    def launch(self, grid, block, arguments, expected):
        text = f"grid = {grid}\nblock = {block}\n"
        for argument in arguments:
            text += "[[arg]]\n" + "".join(f"{key} = {value}\n" for key, value in argument.items())
        self.file("launch.toml", text + f'[[expect]]\narg = "out"\nfile = "{expected}"\n')

    def buffer(self, name, count, file=None):
        return {"name": f'"{name}"', "type": '"f32"', "shape": f"[{count}]"} | ({"file": f'"{file}"'} if file else {})

    def runs(self, kernel, *generations):
        for generation in generations:
            for mode in ("functional", "timing"):
                with self.subTest(f"{kernel}, sm_{generation}, {mode}"):
                    result = self.run_json(
                        CUBINS / f"{kernel}.sm_{generation}.cubin",
                        "--launch",
                        "launch.toml",
                        "--mode",
                        mode,
                        *DEVICES[generation],
                    )
                    (ran,) = result["kernels"]
                    self.assertEqual(ran["metrics"]["code.generation"]["value"], generation)

    def sgemm(self, block):
        """C = A B / 2 + 3 C0 in whole numbers, which no order of additions rounds."""
        n = 128
        chance = random.Random(1)
        a, b, c = ([[chance.randrange(-2, 3) for _ in range(n)] for _ in range(n)] for _ in range(3))
        columns = list(zip(*b))
        want = [
            0.5 * sum(x * y for x, y in zip(a[row], columns[column])) + 3 * c[row][column]
            for row in range(n)
            for column in range(n)
        ]
        for name, values in (("a", sum(a, [])), ("b", sum(b, [])), ("c", sum(c, [])), ("want", want)):
            self.numbers(name, values)
        size = {"type": '"s32"', "value": n}
        alpha, beta = ({"type": '"f32"', "value": value} for value in (0.5, 3.0))
        buffers = [self.buffer(name, n * n, name) for name in ("a", "b", "c")]
        buffers[2]["name"] = '"out"'
        self.launch([1, 1], [block], [size, alpha, buffers[0], buffers[1], beta, buffers[2]], "want")

    def test_sgemm_of_vectors(self):
        self.sgemm(256)
        self.runs("sgemm_vectors", 70, 86)

    def test_sgemm_of_warp_tiles(self):
        self.sgemm(128)
        self.runs("sgemm_warps", 86)

    def test_unrolled_reduction(self):
        blocks = 8
        values = [i * 7919 % 201 - 100 for i in range(512 * blocks)]
        self.numbers("in", values)
        self.numbers("want", [sum(values[512 * i : 512 * (i + 1)]) for i in range(blocks)])
        each = {"type": '"s32"', "value": 2}
        self.launch([blocks], [256], [self.buffer("in", 512 * blocks, "in"), self.buffer("out", blocks), each], "want")
        self.runs("reduce_unrolled", 70, 86)

    def test_padded_transposition(self):
        n = 64
        self.numbers("in", range(n * n))
        self.numbers("want", [x * n + y for y in range(n) for x in range(n)])
        size = {"type": '"s32"', "value": n}
        self.launch([2, 2], [32, 32], [size, self.buffer("in", n * n, "in"), self.buffer("out", n * n)], "want")
        self.runs("transpose_padded", 70, 86)


if __name__ == "__main__":
    main()
