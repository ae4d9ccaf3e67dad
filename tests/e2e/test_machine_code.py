"""Machine code of our own kernels goes through every command as PTX does: traces, checkpoints, lines, studies."""
import json

from harness import SOURCE, Case, main
from test_trace import comparable

DATA = SOURCE / "tests" / "data" / "machine"

# One word of input and eight of output a thread.
LAUNCH = """
kernel = "{kernel}"
grid = {blocks}
block = {threads}

[[arg]]
name = "in"
type = "s32"
shape = [{words}]
init = "iota"

[[arg]]
name = "out"
type = "s32"
shape = [{results}]
init = "zero"
"""

GPU = {75: "rtx2060", 80: "a100", 90: "h100"}
# Kernels whose lanes part, wait for each other, take atomics and sleep at barriers.
KERNELS = {
    "flow": ("loops", "shuffles", "two_places", "locks", "lock_behind", "barriers", "barrier_apart"),
    "memory": ("sizes", "global_atomics", "shared_atomics", "generic_atomics", "specials", "votes"),
    "calls": ("constants", "calls", "driver"),
    "recursion": ("recursion",),
}


class MachineCode(Case):
    def command(self, file, kernel, generation=80, blocks=4, threads=96):
        """What follows `simtlab run`: a kernel of a committed cubin on a GPU of its generation."""
        # Blocks of these kernels share their words.
        words = 32 * threads
        text = LAUNCH.format(kernel=kernel, blocks=blocks, threads=threads, words=words, results=words)
        launch = self.file(f"{kernel}.toml", text)
        return [str(DATA / f"{file}.sm_{generation}.cubin"), "--launch", str(launch), "--gpu", GPU[generation]]


class Traces(MachineCode):
    def replays_alike(self, command, gpu, name):
        recorded = self.ok("run", *command, "--json", "--record", "t.simt").stdout
        replayed = self.ok("run", "t.simt", "--json", "--gpu", gpu).stdout
        self.assertEqual(comparable(recorded), comparable(replayed), name)

    def test_a_replay_has_every_metric_of_the_run(self):
        for file, kernels in KERNELS.items():
            for kernel in kernels:
                self.replays_alike(self.command(file, kernel), "a100", kernel)
        for generation in (75, 90):
            for kernel in ("locks", "barrier_apart"):
                self.replays_alike(self.command("flow", kernel, generation), GPU[generation], f"{kernel} {generation}")

    def test_recording_changes_nothing(self):
        command = self.command("flow", "barrier_apart")
        plain = self.ok("run", *command, "--json").stdout
        self.assertEqual(comparable(plain), comparable(self.ok("run", *command, "--json", "--record", "t.simt").stdout))
        self.ok("run", *command, "--mode", "functional", "--record", "f.simt")
        self.assertEqual(comparable(plain), comparable(self.ok("run", "f.simt", "--json", "--gpu", "a100").stdout))

    def test_info_names_the_code_and_its_instructions(self):
        self.ok("run", *self.command("flow", "locks", 90), "--record", "t.simt")
        info = json.loads(self.ok("trace", "info", "t.simt", "--mix", "--json").stdout)
        (kernel,) = info["kernels"]
        self.assertEqual(kernel["code"], "machine code for sm_90")
        self.assertEqual(kernel["unknown_opcodes"], {})
        self.assertEqual(sum(kernel["opcodes"].values()), kernel["warp_instructions"])
        self.assertIn("BSYNC", kernel["opcodes"])
        self.assertLess(info["trace"]["bytes_per_warp_instruction"], 5)

    def test_a_part_and_a_copy_are_equal(self):
        self.ok("run", *self.command("flow", "loops"), "--record", "t.simt")
        self.ok("trace", "cut", "t.simt", "-o", "part.simt", "--blocks", "1-2")
        self.assertIn("2 of 4 blocks", self.ok("trace", "info", "part.simt").stdout)
        self.ok("trace", "cut", "t.simt", "-o", "copy.simt")
        self.ok("trace", "diff", "t.simt", "copy.simt")
        self.ok("run", *self.command("flow", "locks"), "--record", "other.simt")
        differs = self.simtlab("trace", "diff", "t.simt", "other.simt")
        self.assertEqual((differs.returncode, "first difference" in differs.stdout), (6, True))


class Checkpoints(MachineCode):
    def test_a_resumed_run_has_the_result_of_the_run(self):
        command = self.command("flow", "barrier_apart")
        plain = self.ok("run", *command, "--json").stdout
        written = self.ok("run", *command, "--json", "--checkpoint", "c").stdout
        resumed = self.ok("run", *command, "--json", "--resume", "c").stdout
        self.assertEqual(comparable(plain), comparable(written))
        self.assertEqual(comparable(plain), comparable(resumed))

    def test_other_machine_code_is_another_run(self):
        command = self.command("flow", "loops")
        cubin = self.folder / "k.cubin"
        content = (DATA / "flow.sm_80.cubin").read_bytes()
        cubin.write_bytes(content)
        self.ok("run", str(cubin), *command[1:], "--checkpoint", "c")
        listing = json.loads(self.ok("disasm", str(cubin), "--kernel", "loops", "--json").stdout)
        word = int(listing["images"][0]["kernels"][0]["instructions"][0]["word"], 16)
        changed = (word ^ 1 << 106).to_bytes(16, "little")  # a bit of the stall count
        cubin.write_bytes(content.replace(word.to_bytes(16, "little"), changed, 1))
        self.fails(3, "run", str(cubin), *command[1:], "--resume", "c", says="checkpoint-mismatch")


class AccelSim(MachineCode):
    """Traces of Accel-Sim with the machine code beside: ours written in its format stand for those of its tracer."""

    def traced(self, file, kernel):
        command = self.command(file, kernel)
        self.ok("run", *command, "--record", "t.simt")
        self.ok("trace", "convert", "t.simt", "-o", "traced")
        return command, ["run", self.folder / "traced" / "kernelslist.g", "--gpu", "a100"]

    def test_with_the_cubin_a_trace_is_timed_as_the_machine_code(self):
        for file, kernel in (
            ("flow", "loops"),
            ("memory", "votes"),
            ("memory", "global_atomics"),
            ("ampere", "copies"),
        ):
            command, trace = self.traced(file, kernel)
            cubin = DATA / f"{file}.sm_80.cubin"
            ran = self.run_json(*command)["kernels"][0]["metrics"]
            replayed = self.run_json(*trace[1:], "--cubin", cubin)["kernels"][0]["metrics"]
            alone = self.run_json(*trace[1:])["kernels"][0]["metrics"]
            for name in ("gpu.cycles", "gpu.instructions.warp", "stall.wait", "stall.short_scoreboard"):
                self.assertEqual(ran[name], replayed[name], f"{kernel}: {name}")
            self.assertEqual(replayed["code.generation"]["value"], 80)
            self.assertNotIn("code.generation", alone)

    def test_code_that_was_not_traced_is_an_error(self):
        _, trace = self.traced("flow", "loops")
        other = self.folder / "other.cubin"
        content = (DATA / "flow.sm_80.cubin").read_bytes()
        other.write_bytes(content.replace(b"loops\0", b"lOops\0"))
        self.assertIn("machine code of 0 of 1 kernels", self.ok(*trace, "--cubin", other).stderr)
        text = (self.folder / "traced" / "kernel-1.traceg").read_text()
        (self.folder / "traced" / "kernel-1.traceg").write_text(text.replace(" S2R ", " S2UR ", 1))
        says = ("accelsim-cubin", "has S2R at 0x", "where S2UR was traced", "kernel-1.traceg:")
        self.fails(3, *trace, "--cubin", DATA / "flow.sm_80.cubin", says=says)

    def test_the_option_is_for_such_traces_and_files_with_code(self):
        command, trace = self.traced("flow", "loops")
        self.fails(2, "run", "t.simt", "--cubin", command[0], says="option-conflict")
        self.fails(2, "run", *command, "--cubin", command[0], says="--cubin")
        self.fails(3, *trace, "--cubin", self.file("no.cubin", "nothing"), says="accelsim-cubin")
        self.ok("trace", "convert", trace[1], "-o", "c.simt", "--cubin", command[0])
        self.assertIn("machine code for sm_80", self.ok("trace", "info", "c.simt").stdout)


PRODUCTS = """.version 7.8
.target sm_70
.address_size 64
.visible .entry products(.param .u64 out, .param .u32 by) {
  .reg .b32 %r<9>; .reg .b64 %rd<9>;
  mov.u32 %r1, %tid.x; ld.param.u32 %r2, [by]; ld.param.u64 %rd1, [out];
STEPS
  mul.wide.u32 %rd3, %r1, 0; add.u64 %rd4, %rd1, %rd3; st.global.u32 [%rd4], %r1;
  ret;
}
"""
PRODUCTS_LAUNCH = """
kernel = "products"
grid = 2
block = 1024

[[arg]]
name = "out"
type = "u32"
shape = [1024]
init = "zero"

[[arg]]
name = "by"
type = "u32"
value = 1234567
"""


class Multipliers(MachineCode):
    def cycles(self, steps, gpu):
        file = self.file("products.ptx", PRODUCTS.replace("STEPS", steps))
        launch = self.file("products.toml", PRODUCTS_LAUNCH)
        done = self.ok("run", file, "--launch", launch, "--gpu", gpu, "--json")
        return json.loads(done.stdout)["kernels"][0]["metrics"]["gpu.cycles"]["value"]

    def of_a_step(self, step, gpu):
        return self.cycles(400 * step, gpu) - self.cycles(200 * step, gpu)

    WIDE = "mul.wide.u32 %rd2, %r1, %r2; mov.b64 {%r3, %r4}, %rd2; xor.b32 %r1, %r3, %r4;\n"
    NARROW = "mul.lo.u32 %r3, %r1, %r2; xor.b32 %r1, %r3, %r2;\n"

    def test_a_wide_product_takes_as_long_as_two(self):
        for gpu in ("v100", "rtx2060", "a100"):
            with self.subTest(gpu):
                self.assertAlmostEqual(self.of_a_step(self.WIDE, gpu) / self.of_a_step(self.NARROW, gpu), 2, delta=0.3)

    def test_a_product_of_words_needs_no_other(self):
        # The optimiser knows factors as 64 bits whose upper halves are zero.
        file = self.file("products.ptx", PRODUCTS.replace("STEPS", 20 * self.WIDE))
        code = self.ok("disasm", file, "--assemble", "sm_80").stdout
        self.assertEqual(code.count("IMAD.WIDE.U32"), 20)
        self.assertEqual(code.count("LOP3.LUT"), 20)


# Warps of one scheduler multiply by constants that lie in two lines.
CONSTANTS = """.version 7.0
.target sm_70
.address_size 64
.const .align 4 .f32 table[64];
.visible .entry two(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<4>; .reg .f32 %f<3>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  cvt.rn.f32.u32 %f1, %r1;
  and.b32 %r2, %r1, 128;
  setp.eq.u32 %p1, %r2, 0;
  mov.u32 %r3, 0;
  @%p1 bra FIRST;
SECOND:
  ld.const.f32 %f2, [table+128];
  fma.rn.f32 %f1, %f1, %f2, %f1;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p2, %r3, 50;
  @%p2 bra SECOND;
  bra END;
FIRST:
  ld.const.f32 %f2, [table];
  fma.rn.f32 %f1, %f1, %f2, %f1;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p2, %r3, 50;
  @%p2 bra FIRST;
END:
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.f32 [%rd3], %f1;
  ret;
}
"""


class ConstantOperands(MachineCode):
    def metrics(self, lines):
        command = ["two.ptx", "--grid", 1, "--block", 256, "--arg", "buffer:256:f32", "--max-cycles", 300000]
        more = ["--gpu", "v100", "--set", f"instruction.constant_bytes={64 * lines}B"]
        return self.run_json(*command, *more)["kernels"][0]["metrics"]

    def test_warps_that_drive_out_each_others_lines_go_on(self):
        self.file("two.ptx", CONSTANTS)
        tight, enough, free = (self.metrics(lines) for lines in (1, 8, 0))
        self.assertIn("c[0x3]", self.ok("disasm", "two.ptx", "--assemble", "sm_70").stdout)
        misses = "instruction.constant.misses"
        self.assertGreater(tight[misses]["value"], 2 * enough[misses]["value"])
        self.assertGreater(enough["stall.imc_miss"]["value"], 0)
        self.assertGreater(tight["gpu.cycles"]["value"], enough["gpu.cycles"]["value"])
        self.assertGreater(enough["gpu.cycles"]["value"], free["gpu.cycles"]["value"])
        self.assertNotIn(misses, free)


LINES = """
kernel = "lines"
grid = 2
block = 32

[[arg]]
name = "out"
type = "f32"
shape = [64]
init = "zero"

[[arg]]
name = "in"
type = "f32"
shape = [64]
init = "iota"
"""


class Lines(MachineCode):
    def setUp(self):
        super().setUp()
        self.file("lines.toml", LINES)
        self.file("lines.cu", (DATA / "lines.cu").read_text())

    def command(self, generation=80):
        gpu = {70: "v100", 80: "a100", 90: "h100"}[generation]
        return [DATA / f"lines.sm_{generation}.cubin", "--launch", "lines.toml", "--gpu", gpu]

    def test_source_machine_code_and_ptx_stand_side_by_side(self):
        for generation in (70, 80, 90):
            result = self.run_json(*self.command(generation), "--lines")
            lines = [l for l in result["kernels"][0]["profile"]["lines"] if l["code"].split()[1].startswith("LDG")]
            for load in lines:
                self.assertEqual(load["file"], "lines.cu")
                self.assertIn(load["line"], (7, 10, 11))  # the compiler moves addresses out of the loop
                self.assertRegex(load["ptx"], "^ld.global")
                self.assertGreater(load["ptx_line"], 0)
            self.assertTrue(lines)

    def test_reports_name_source_lines(self):
        text = self.ok("run", *self.command(), "--lines").stdout
        self.assertIn("machine code for sm_80", text)
        self.assertRegex(text, r"lines\.cu:10 +sum")
        self.assertRegex(text, r"  0x[0-9a-f]{4}  FMUL R")
        self.assertRegex(" ".join(text.split()), r"in loads \(lines\.cu:\d+\)")
        self.ok("run", *self.command(), "--lines", "--json=r.json")
        self.ok("report", "r.json", "--sqlite=r.db")
        page = self.ok("report", "r.json", "--html").stdout
        self.assertIn("Source, machine code and PTX, line by line", page)
        self.assertIn("machine code for sm_80", page)
        self.assertRegex(page, "ld.global.f32 ")

    def test_disassembly_shows_both(self):
        for generation in (70, 80, 90):
            text = self.ok("disasm", DATA / f"lines.sm_{generation}.cubin").stdout
            self.assertIn("// lines.cu:3", text)
            self.assertRegex(text, r"// PTX \d+: mul.f32 +%f2, %f1, %f1;\n.*FMUL")
        kernel = json.loads(self.ok("disasm", DATA / "lines.sm_80.cubin", "--json").stdout)["images"][0]["kernels"][0]
        self.assertTrue(
            any(i.get("ptx", "").startswith("ld.global") and i["line"] == 11 for i in kernel["instructions"])
        )

    def test_without_line_information_addresses_stand_for_lines(self):
        command = MachineCode.command(self, "flow", "barrier_apart")
        text = self.ok("run", *command, "--lines").stdout
        self.assertIn("Hottest lines (of machine code;", text)
        self.assertIn("in stores (0x", " ".join(text.split()))
        self.assertNotIn("PTX line", text)


class Studies(MachineCode):
    def test_cache_and_predict_say_what_they_counted(self):
        command = self.command("memory", "sizes")
        for study in ("cache", "predict"):
            text = self.ok(study, *command).stdout
            self.assertIn("machine code for sm_80", text)
            self.assertNotIn("PTX line", text)
        # What is counted is what is executed.
        ran = self.run_json(*command)["kernels"][0]["metrics"]["gpu.instructions.warp"]["value"]
        predicted = json.loads(self.ok("predict", *command, "--json").stdout)
        self.assertEqual(predicted["kernels"][0]["metrics"]["gpu.instructions.warp"]["value"], ran)

    def test_explain_names_places_of_machine_code(self):
        self.ok("run", *self.command("flow", "barrier_apart"), "--lines", "--json=r.json")
        text = " ".join(self.ok("explain", "r.json").stdout.split())
        self.assertNotIn("PTX line", text)
        self.assertRegex(text, "The line that takes most is 0x[0-9a-f]{4}")

    def test_a_mix_of_recorded_machine_code_and_a_cubin(self):
        command = self.command("memory", "global_atomics")
        self.ok("run", *self.command("flow", "loops"), "--record", "t.simt")
        self.file(
            "apps.toml",
            f"""
[[application]]
name = "recorded"
run = "t.simt"
[[application]]
name = "kernel"
run = "{command[0]}"
launch = "{command[2]}"
""",
        )
        words = ["corun", "--host", "cycle", "--gpu", "a100", "--applications", "apps.toml"]
        text = self.ok(*words, "--mix", "recorded,kernel", "--policy", "mps").stdout
        self.assertIn("recorded", text)

    def test_a_fault_names_address_and_source(self):
        launch = self.file("lines.toml", LINES.replace("shape = [64]", "shape = [32]", 1))
        found = self.simtlab("run", DATA / "lines.sm_80.cubin", "--launch", launch, "--gpu", "a100")
        self.assertEqual(found.returncode, 5)
        self.assertRegex(found.stderr, r"kernel lines \(.*cubin at 0x[0-9a-f]{4}, source lines.cu:11\)")

    def test_a_timeline_names_mnemonics(self):
        self.ok("run", *self.command("flow", "loops"), "--timeline=t.json")
        events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        issued = [e for e in events if e.get("cat") == "issue"]
        self.assertIn("ISETP", {e["name"] for e in issued})
        self.assertTrue(all("address" in e["args"] for e in issued))


if __name__ == "__main__":
    main()
