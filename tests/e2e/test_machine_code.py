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


if __name__ == "__main__":
    main()
