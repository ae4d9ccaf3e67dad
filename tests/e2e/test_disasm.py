"""simtlab disasm: machine code of our own kernels as text and as JSON; what is damaged or missing is an error."""
import json

from harness import SOURCE, Case, main, needs_clang

DATA = SOURCE / "tests" / "data" / "machine"


EXAMPLE = SOURCE / "examples" / "saxpy.ptx"
# Sums over a warp in one instruction are there from sm_80 on.
TWO = """.version 7.0
.target sm_80
.address_size 64
.visible .entry sums(.param .u64 to)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd0, [to];
  ld.global.u32 %r0, [%rd0];
  redux.sync.add.s32 %r1, %r0, 0xffffffff;
  st.global.u32 [%rd0], %r1;
  ret;
}
.visible .entry plain(.param .u64 to)
{
  .reg .b64 %rd<3>;
  ld.param.u64 %rd0, [to];
  mov.u64 %rd1, 1;
  st.global.u64 [%rd0], %rd1;
  ret;
}
"""
STORES = """__global__ void k(float* p) {
#pragma unroll
  for (int i = 0; i < N; ++i) p[i * 99] = 1;
}
"""
TABLE = """.version 7.0
.target sm_20
.address_size 64
.visible .entry table(.param .u64 to, .param .u32 n)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<5>;
  ld.param.u64 %rd1, [to];
  ld.param.u32 %r1, [n];
  rem.u32 %r2, %r1, 3;
ways: .branchtargets A, B, C;
  brx.idx %r2, ways;
A: mov.u32 %r3, 11; bra.uni E;
B: mul.lo.u32 %r3, %r1, 7; bra.uni E;
C: add.u32 %r3, %r1, 5;
E: st.global.u32 [%rd1], %r3;
  ret;
}
"""


class Disasm(Case):
    def listed(self, *words):
        return json.loads(self.ok("disasm", *words, "--json").stdout)["images"]

    def test_every_generation_is_printed_with_labels(self):
        for generation in (70, 75, 80, 86, 89, 90):
            text = self.ok("disasm", str(DATA / f"variables.sm_{generation}.cubin")).stdout
            self.assertIn(f"machine code for sm_{generation}", text)
            self.assertIn("CALL.REL.NOINC `($variables$scaled)", text)
            self.assertIn("$variables$scaled:", text)

    def test_json_has_every_field(self):
        (image,) = json.loads(self.ok("disasm", str(DATA / "variables.sm_80.cubin"), "--json").stdout)["images"]
        (kernel,) = image["kernels"]
        self.assertEqual((image["generation"], kernel["name"]), (80, "variables"))
        self.assertEqual([p["bytes"] for p in kernel["parameters"]], [8, 8])
        first = kernel["instructions"][0]
        self.assertEqual(first["text"], "MOV R1, c[0x0][0x28]")
        self.assertEqual(set(first["control"]), {"stall", "yield", "write_barrier", "read_barrier", "wait", "reuse"})

    def test_one_kernel_is_asked_for(self):
        file = str(DATA / "variables.sm_80.cubin")
        self.assertEqual(self.ok("disasm", file).stdout, self.ok("disasm", file, "--kernel", "variab").stdout)
        self.assertIn("[disasm-nothing]", self.fails(3, "disasm", file, "--kernel", "other").stderr)
        self.assertIn("[disasm-nothing]", self.fails(3, "disasm", file, "--arch", "sm_90").stderr)

    def test_ptx_is_assembled(self):
        text = self.ok("disasm", str(EXAMPLE), "--assemble", "sm_80").stdout
        self.assertRegex(text, r"@!?P\d EXIT")  # who has nothing to do goes; the others are not guarded
        self.assertNotRegex(text, r"@!?P\d LDG")
        self.assertIn("machine code for sm_80", text)
        self.assertRegex(text, r"\nsaxpy: \d+ registers, 24 bytes of parameters\n")
        self.assertRegex(text, r"// PTX \d+: fma.rn.f32 .*\n.*FFMA ")
        for generation in (70, 75, 86, 89, 90):
            (image,) = self.listed(str(EXAMPLE), "--assemble", str(generation))
            (kernel,) = image["kernels"]
            self.assertEqual((image["generation"], kernel["name"]), (generation, "saxpy"))
            self.assertEqual([p["bytes"] for p in kernel["parameters"]], [4, 4, 8, 8])
            self.assertEqual(kernel["instructions"][-1]["mnemonic"], "EXIT")
            self.assertIn("fma.rn.f32", " ".join(i.get("ptx", "") for i in kernel["instructions"]))

    def test_ptx_needs_to_be_asked_for_with_a_generation(self):
        self.assertIn("`--assemble sm_80`", self.fails(3, "disasm", str(EXAMPLE)).stderr)
        self.assertIn("[option-value]", self.fails(2, "disasm", str(EXAMPLE), "--assemble", "sm_13").stderr)
        cubin = str(DATA / "variables.sm_80.cubin")
        self.assertIn("holds no PTX [disasm-nothing]", self.fails(3, "disasm", cubin, "--assemble", "sm_80").stderr)
        self.assertIn(
            "[disasm-nothing]", self.fails(3, "disasm", str(EXAMPLE), "--assemble", "80", "--kernel", "other").stderr
        )

    def test_a_kernel_that_is_not_assembled_is_named_with_the_reason(self):
        (self.folder / "two.ptx").write_text(TWO)
        said = self.simtlab("disasm", "two.ptx", "--assemble", "sm_75")
        self.assertEqual(said.returncode, 4)
        self.assertIn("kernel sums was not assembled: redux on this generation [not-assembled]", said.stderr)
        self.assertIn("\nsums: not assembled: redux on this generation\n", said.stdout)
        self.assertIn("\nplain: ", said.stdout)
        (image,) = json.loads(self.simtlab("disasm", "two.ptx", "--assemble", "sm_75", "--json").stdout)["images"]
        self.assertEqual(image["not_assembled"], [{"name": "sums", "reason": "redux on this generation"}])
        self.assertEqual([k["name"] for k in image["kernels"]], ["plain"])

    @needs_clang
    def test_ptx_in_an_executable_is_found(self):
        self.ok("build", str(SOURCE / "examples" / "saxpy.cu"), str(SOURCE / "examples" / "scan.cu"), "-c")
        for name, kernel in (("saxpy", "saxpy"), ("scan", "scan_blocks")):
            (image,) = self.listed(f"{name}.o", "--assemble", "sm_86")
            self.assertIn(kernel, " ".join(k["name"] for k in image["kernels"]))

    @needs_clang
    def test_a_source_is_compiled_first(self):
        for name, kernel in (("saxpy.cu", "saxpy"), ("opencl/transpose.cl", "transpose")):
            file = str(SOURCE / "examples" / name)
            text = self.ok("disasm", file, "--assemble", "sm_80").stdout
            self.assertIn("machine code for sm_80", text)
            self.assertIn(kernel, text)
            self.assertRegex(text, r"// PTX \d+: ")
            self.assertEqual(self.ok("build", "--machine", file, "-arch=sm_80").stdout, text)
            self.assertEqual(self.ok("build", f"--machine={file}", "-arch", "sm_80", "-o", "code.txt").stdout, "")
            self.assertEqual((self.folder / "code.txt").read_text(), text)
            self.assertIn("machine code for sm_70", self.ok("build", "-m", file).stdout)
            self.assertIn("`--assemble sm_80` compiles it", self.fails(3, "disasm", file).stderr)
            self.assertIn(
                "[disasm-nothing]", self.fails(3, "disasm", file, "--assemble", "80", "--kernel", "no").stderr
            )
        (self.folder / "host.cu").write_text("int main() { return 0; }\n")
        self.assertIn("holds no kernel", self.fails(3, "disasm", "host.cu", "--assemble", "sm_80").stderr)
        (self.folder / "wrong.cu").write_text("__global__ void k() { x; }\n")
        self.assertIn("[compile-failed]", self.fails(3, "disasm", "wrong.cu", "--assemble", "sm_80").stderr)

    @needs_clang
    def test_options_of_a_build_change_its_machine_code(self):
        (self.folder / "k.cu").write_text(STORES)
        for n in (3, 5):
            self.assertEqual(self.ok("build", "--machine", "k.cu", f"-DN={n}").stdout.count(" STG"), n)

    @needs_clang
    def test_a_machine_is_a_width_or_a_source(self):
        file = str(SOURCE / "examples" / "saxpy.cu")
        kernel = str(SOURCE / "examples" / "opencl" / "transpose.cl")
        self.assertEqual(self.ok("build", "--machine", "64", "-m64", "-ptx", file).stdout, "")
        self.assertIn("32-bit programs", self.fails(4, "build", "--machine", "32", file).stderr)
        for words in (("--machine", "nosuch.cu", file), ("-m=16", file)):
            said = self.fails(2, "build", *words).stderr
            self.assertIn("takes 64", said)
            self.assertIn("or a source file", said)
        self.assertIn("one file", self.fails(2, "build", "--machine", file, file).stderr)
        self.assertIn("[build-option]", self.fails(2, "build", "--machine", str(EXAMPLE)).stderr)
        self.assertIn("-arch: no machine code", self.fails(2, "build", "--machine", kernel, "-arch=sm_13").stderr)

    def test_a_jump_table_is_assembled(self):
        (self.folder / "table.ptx").write_text(TABLE)
        for generation in (20, 50, 80):
            self.assertIn("EXIT", self.ok("disasm", "table.ptx", "--assemble", str(generation)).stdout)

    def test_a_fat_binary_without_a_header_is_damaged(self):
        (self.folder / "bad.fatbin").write_bytes(bytes.fromhex("50ed55ba0100") + bytes(40))
        self.assertIn("[fatbin]", self.fails(3, "disasm", "bad.fatbin", "--assemble", "sm_80").stderr)

    def test_a_cut_off_file_says_where(self):
        whole = (DATA / "variables.sm_80.cubin").read_bytes()
        (self.folder / "cut.cubin").write_bytes(whole[:2000])
        self.assertIn("[cubin]", self.fails(3, "disasm", "cut.cubin").stderr)


if __name__ == "__main__":
    main()
