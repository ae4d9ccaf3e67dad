"""CUDA programs that use what simtlab does not have: the exit code, and a message that says what is absent."""
from harness import SOURCE, Case, main, needs_clang

PROGRAMS = SOURCE / "tests/cuda/refused"
# Refused by the compiler: exit code 3.
COMPILED = {
    "managed": "__managed__ variables are not supported; allocate with cudaMallocManaged",
    "driver_api": "simtlab has no driver API",
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
    "child_kernel": "reference to __global__ function",
}
# Refused when the kernel is loaded or the function is called: exit code 4.
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

    def check(self, code, programs):
        for name, words in programs.items():
            with self.subTest(name):
                result = self.simtlab("run", str(PROGRAMS / (name + ".cu")), "--gpu", "a100", timeout=120)
                self.assertEqual(result.returncode, code, result.stderr[:2000])
                self.assertIn(words, result.stderr)
                self.assertNotIn("[internal]", result.stderr)

    def test_the_compiler_says_what_is_absent(self):
        self.check(3, COMPILED)

    def test_the_program_ends_where_it_needs_what_is_absent(self):
        self.check(4, RUN)


if __name__ == "__main__":
    main()
