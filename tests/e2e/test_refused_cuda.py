"""CUDA programs that use what simtlab does not have: the exit code, and a message that says what is absent."""
from harness import SOURCE, Case, main, needs_clang

PROGRAMS = SOURCE / "tests/cuda/refused"
# Refused by the compiler.
COMPILED = {
    "managed": "__managed__ variables are not supported; allocate with cudaMallocManaged",
    "driver_api": "simtlab build has no driver API",
    "surface": "surfaces are not simulated",
    "layered": "layered textures are not simulated",
    "gather": "gathered textures are not simulated",
    "thrust": "simtlab has no Thrust",
    "cub": "simtlab has no CUB",
    "curand": "simtlab has no cuRAND",
    "cublas": "simtlab has no cuBLAS",
    "libcu": "simtlab has no libcu++",
    "libcu_std": "simtlab has no libcu++",
    "wmma": "simtlab does not support the WMMA interface",
    "grid_sync": "simtlab cannot synchronise a whole grid",
    "child_kernel": "simtlab does not simulate kernels that launch kernels",
}
# What nvcc's headers make kernels of runs as an executable of nvcc.
WITH_NVCC = {"managed", "thrust", "cub", "curand", "libcu", "libcu_std"}
# Refused when the kernel is loaded or the function is called.
RUN = {
    "bessel": "call of '__nv_j0'",
    "recursion": "recursion is not supported",
    "graph": "cudaGraphExecUpdate is not supported",
    "memory_pool": "cudaMemPoolCreate is not supported",
}


@needs_clang
class RefusedCuda(Case):
    def test_every_program_is_listed(self):
        self.assertEqual({p.stem for p in PROGRAMS.glob("*.cu")}, set(COMPILED) | set(RUN))

    def refused(self, name, words):
        result = self.simtlab("run", str(PROGRAMS / (name + ".cu")), "--gpu", "a100", timeout=120)
        self.assertEqual(result.returncode, 4, result.stderr[:2000])
        self.assertIn(words, result.stderr)
        self.assertNotIn("[internal]", result.stderr)
        return result

    def test_the_compiler_says_what_is_absent(self):
        for name, words in COMPILED.items():
            with self.subTest(name):
                lines = self.refused(name, words).stderr.splitlines()
                self.assertLessEqual(len(lines), 24)
                # The last words are not scrolled away: what is absent, and how much of clang is not shown.
                error = [line for line in lines if "[cuda-absent]" in line]
                self.assertEqual(len(error), 1, lines)
                self.assertIn(words, error[0])
                self.assertIn(error[0], lines[-2:])
                self.assertEqual("nvcc -cudart shared" in error[0], name in WITH_NVCC, error[0])

    def test_a_header_that_is_not_even_refused_is_explained(self):
        self.file("zip.cu", "#include <thrust/iterator/zip_iterator.h>\nint main() {}\n")
        self.fails(
            4,
            "run",
            "zip.cu",
            says=["simtlab has no <thrust/iterator/zip_iterator.h>", "nvcc -cudart shared", "[cuda-absent]"],
        )

    def test_the_rest_of_the_messages_is_shown_when_asked_for(self):
        self.file(
            "sort.cu",
            "#include <thrust/sort.h>\n"
            + "".join(f"int f{i}() {{ return thrust::sort{i}(); }}\n" for i in range(18))
            + "int main() {}\n",
        )
        short, long = self.fails(4, "run", "sort.cu", says="simtlab has no Thrust"), self.fails(
            4, "run", "-v", "sort.cu", says="simtlab has no Thrust"
        )
        self.assertLessEqual(len(short.stderr.splitlines()), 10)
        self.assertGreater(len(long.stderr.splitlines()), 40)
        self.assertIn("-v shows them", short.stderr)
        self.assertNotIn("-v shows them", long.stderr)

    def test_a_screen_of_other_errors_with_the_first_one_at_the_end(self):
        self.file("many.cu", "".join(f"int f{i}() {{ return unknown{i}; }}\n" for i in range(40)) + "int main() {}\n")
        result = self.fails(3, "run", "many.cu", says=["unknown0", "more lines of messages: -v shows them"])
        lines = result.stderr.splitlines()
        self.assertLessEqual(len(lines), 24)
        self.assertRegex("\n".join(lines[-2:]), r"error: .*many.cu:1:[0-9]+: error: .*unknown0.* \[compile-failed\]")

    def test_the_program_ends_where_it_needs_what_is_absent(self):
        for name, words in RUN.items():
            with self.subTest(name):
                self.refused(name, words)


if __name__ == "__main__":
    main()
