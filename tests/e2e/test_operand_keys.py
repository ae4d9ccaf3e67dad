"""operands.* and shared.interval of a device file: a longer time holds machine code, or shared memory, longer."""
import json

from harness import SOURCE, Case, main

CUBIN = SOURCE / "tests" / "data" / "machine" / "memory.sm_80.cubin"
LAUNCH = ("--grid", "1", "--block", "64", "--arg", "buffer:4096:u32:random", "--arg", "buffer:8192:u32")
LOADS = 64
SHARED = (
    ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
    ".reg .b32 %r<9>; .reg .b64 %d<2>; .shared .align 4 .b8 s[4096];\n"
    "ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r2, %r2, %r3;\n"
    "st.shared.u32 [%r2], %r1; bar.sync 0; mov.u32 %r4, 0;\n"
    + "ld.volatile.shared.u32 %r5, [%r2]; add.u32 %r4, %r4, %r5;\n" * LOADS
    + "st.global.u32 [%d1], %r4; ret; }\n"
)


class OperandKeys(Case):
    def cycles(self, *words):
        return self.run_json(*words)["total"]["gpu.cycles"]["value"]

    def test_a_store_holds_its_operands(self):
        run = (CUBIN, "--kernel", "sizes", *LAUNCH, "--gpu", "a100")
        late = ("--set", "operands.global_store=900 cycles")
        self.assertGreater(self.cycles(*run, *late), self.cycles(*run) + 500)

    def test_loads_that_share_a_scoreboard_are_under_way_together(self):
        code = SOURCE / "tests" / "data" / "machine" / "reduce_unrolled.sm_86.cubin"
        (kernel,) = json.loads(self.ok("disasm", code, "--json").stdout)["images"][0]["kernels"]
        loads = [i["control"]["write_barrier"] for i in kernel["instructions"] if i["mnemonic"] == "LDG"]
        self.assertEqual(len(loads), 2)
        self.assertEqual(loads[0], loads[1])
        run = (code, "--grid", "1", "--block", "256", "--gpu", "a40")
        arguments = ("--arg", "buffer:512:f32:iota", "--arg", "buffer:1:f32", "--arg", "u32:2")
        each = [self.cycles(*run, *arguments, "--set", f"dram.latency={n} cycles") for n in (1000, 3000)]
        self.assertAlmostEqual(each[1] - each[0], 2000, delta=200)

    def test_shared_memory_takes_an_instruction_in_so_many_cycles(self):
        self.file("k.ptx", SHARED)
        run = ("k.ptx", "--grid", "1", "--block", "1024", "--arg", "buffer:1024:u32", "--gpu", "a40")
        each = [self.cycles(*run, "--set", f"shared.interval={n} cycles") for n in (2, 8, 16)]
        more = 32 * LOADS  # instructions of shared memory
        self.assertGreater(each[1], each[0] + 5 * more)
        self.assertAlmostEqual(each[2] - each[1], 8 * more, delta=more * 0.2)


if __name__ == "__main__":
    main()
