"""run --results: code of a compiler passes, a gap in control information is found, PTX is refused."""
import json
import struct

from harness import SOURCE, Case, main

DATA = SOURCE / "tests" / "data" / "machine"
WAIT_BITS = 0x3F << 52  # of the upper half of a word


class LateResults(Case):
    def metrics(self, generation, gpu, *options):
        file = DATA / f"variables.sm_{generation}.cubin"
        total = self.run_json(file, "--launch", DATA / "variables.toml", "--gpu", gpu, *options)["total"]
        return {name: value for name, value in total.items() if not name.startswith("host.")}

    def test_code_of_a_compiler_passes_and_takes_the_same_time(self):
        for generation, gpu in ((70, "v100"), (75, "rtx2060"), (80, "a100"), (86, "a40"), (90, "h100")):
            with self.subTest(generation=generation):
                self.assertEqual(self.metrics(generation, gpu), self.metrics(generation, gpu, "--results", "checked"))

    def test_a_wait_that_is_missing_ends_the_kernel_with_its_place(self):
        cubin = bytearray((DATA / "variables.sm_80.cubin").read_bytes())
        # The words of the kernel begin with the first one that the disassembler prints.
        first = self.ok("disasm", str(DATA / "variables.sm_80.cubin"), "--json").stdout
        begin = cubin.find(self.first_word(first))
        self.assertGreater(begin, 0)
        for at in range(begin, begin + 64 * 16, 16):
            (high,) = struct.unpack_from("<Q", cubin, at + 8)
            struct.pack_into("<Q", cubin, at + 8, high & ~WAIT_BITS)
        (self.folder / "gap.cubin").write_bytes(cubin)
        launch = ("--launch", str(DATA / "variables.toml"), "--gpu", "a100")
        self.ok("run", "gap.cubin", *launch)
        for mode in ("timing", "functional"):
            done = self.simtlab("run", "gap.cubin", *launch, "--mode", mode, "--results", "checked")
            self.assertEqual(done.returncode, 5)
            self.assertIn("[machine-hazard]", done.stderr)
            self.assertIn("without waiting for scoreboard", done.stderr)

    def first_word(self, text):
        instruction = json.loads(text)["images"][0]["kernels"][0]["instructions"][0]
        return struct.pack("<QQ", *(int(instruction["word"][i : i + 16], 16) for i in (18, 2)))

    def test_ptx_is_refused(self):
        ptx = SOURCE / "examples" / "saxpy.ptx"
        run = ("run", str(ptx), "--launch", str(SOURCE / "examples" / "saxpy.toml"), "--results", "late")
        self.assertIn("[results-ptx]", self.fails(4, *run, "--lowering", "counts").stderr)

    def test_machine_code_of_ptx_has_them(self):
        ptx = SOURCE / "examples" / "saxpy.ptx"
        launch = ("--launch", str(SOURCE / "examples" / "saxpy.toml"))
        for when in ("late", "checked"):
            self.ok("run", str(ptx), *launch, "--results", when)


if __name__ == "__main__":
    main()
