"""simtlab disasm: machine code of our own kernels as text and as JSON; what is damaged or missing is an error."""
import json

from harness import SOURCE, Case, main

DATA = SOURCE / "tests" / "data" / "machine"


class Disasm(Case):
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

    def test_a_cut_off_file_says_where(self):
        whole = (DATA / "variables.sm_80.cubin").read_bytes()
        (self.folder / "cut.cubin").write_bytes(whole[:2000])
        self.assertIn("[cubin]", self.fails(3, "disasm", "cut.cubin").stderr)


if __name__ == "__main__":
    main()
