"""run --record, run TRACE, simtlab trace: recorded kernels have the timing of the run that was recorded."""
import json
import lzma
import shutil
import unittest

from harness import SAXPY_LAUNCH, SOURCE, Case, main, needs_clang

EXAMPLES = SOURCE / "examples"
ACCELSIM = SOURCE / "tests" / "data" / "accelsim"

# Each thread takes a ticket; the block that is last adds up what its threads hold.
TICKETS = """
#include <cstdio>
__global__ void take(int* counter, int* sum, int* done, int* last) {
  __shared__ int here, rank;
  if (threadIdx.x == 0) here = 0;
  __syncthreads();
  atomicAdd(sum, atomicAdd(counter, 1));
  atomicAdd(&here, threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    rank = atomicAdd(done, 1);
  }
  __syncthreads();
  if (rank == gridDim.x - 1 && threadIdx.x == 0) *last = here;
}
int main() {
  int *d, h[4];
  cudaMalloc(&d, 16);
  cudaMemset(d, 0, 16);
  take<<<8, 32>>>(d, d + 1, d + 2, d + 3);
  cudaMemcpy(h, d, 16, cudaMemcpyDeviceToHost);
  printf("tickets %d of %d, last block %d\\n", h[1], h[0], h[3]);
}
"""


def comparable(text):
    """A result without what tells runs apart: the manifest and the host's times."""
    result = json.loads(text)
    del result["manifest"]
    for metrics in [result["total"]] + [k["metrics"] for k in result["kernels"]]:
        for name in [n for n in metrics if n.startswith("host.")]:
            del metrics[name]
    for kernel in result["kernels"]:  # a trace holds no text of PTX, and of machine code not its lines
        table = kernel.get("tables", {}).get("coalescing", {"columns": [], "rows": []})
        for row in table["rows"]:
            del row[table["columns"].index("ptx")]
            if "code.generation" in kernel["metrics"]:
                del row[table["columns"].index("ptx_line")]
    return json.dumps(result)


class Recording(Case):
    def record(self, *options, name="t.simt"):
        trace = self.folder / name
        result = self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--json", "--record", trace, *options).stdout
        return trace, result

    def test_a_replayed_kernel_has_the_result_of_the_run(self):
        for gpu in ("gtx480", "h100"):
            trace, recorded = self.record("--gpu", gpu)
            plain = self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--json", "--gpu", gpu).stdout
            replayed = self.ok("run", trace, "--json", "--gpu", gpu).stdout
            self.assertEqual(comparable(plain), comparable(recorded))
            self.assertEqual(comparable(plain), comparable(replayed))

    def test_a_trace_recorded_on_one_gpu_runs_on_another(self):
        trace, _ = self.record("--gpu", "gtx480", "--lowering", "counts")
        plain = self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--json", "--gpu", "v100", "--lowering", "counts").stdout
        self.assertEqual(
            comparable(plain), comparable(self.ok("run", "--trace", trace, "--json", "--gpu", "v100").stdout)
        )

    def test_functional_runs_record_the_same_kernel(self):
        trace, _ = self.record("--mode", "functional")
        plain = self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--json").stdout
        self.assertEqual(comparable(plain), comparable(self.ok("run", trace, "--json").stdout))

    def test_a_trace_cannot_be_executed_nor_described(self):
        trace, _ = self.record()
        self.fails(2, "run", trace, "--mode", "functional", says="option-conflict")
        self.fails(2, "run", trace, "--grid", "4", says="--grid has no effect on a trace")
        self.fails(2, "run", trace, trace, says="run-what")

    def test_outputs_do_not_overwrite_the_trace(self):
        trace, _ = self.record()
        self.fails(2, "run", trace, f"--json={trace}", says="option-conflict")
        self.fails(2, "run", self.saxpy(), *SAXPY_LAUNCH, "--record", trace, f"--json={trace}", says="option-conflict")

    @needs_clang
    def test_programs_with_several_kernels_replay_identically(self):
        for name in ("reduction", "bfs", "histogram", "scan"):
            source, trace = EXAMPLES / f"{name}.cu", self.folder / f"{name}.simt"
            plain = self.ok("run", source, "--gpu", "k40", "--json", "--record", trace).stdout
            replayed = self.ok("run", trace, "--gpu", "k40", "--json").stdout
            self.assertEqual(comparable(plain), comparable(replayed), name)

    @needs_clang
    def test_answers_of_atomics_are_the_programs_own_with_every_observer(self):
        source = self.file("tickets.cu", TICKETS)
        trace, checkpoint = self.folder / "t.simt", self.folder / "c"
        plain = self.ok("run", source, "--mode", "functional").stdout
        self.assertEqual(plain, "tickets 32640 of 256, last block 496\n")
        for command in (
            ["run", "--mode", "functional", "--record", trace],
            ["run", "--mode", "functional", "--checkpoint", checkpoint],
            ["run", "--mode", "functional", "--resume", checkpoint],
            ["run"],
            ["run", "--record", trace],
            ["run", "--lines"],
            ["run", "--timeline=t.json"],
            ["run", "--sample", "0.5"],
            ["run", "--threads", "2"],
            ["cache"],
            ["cache", "--order", "sequential"],
            ["cache", "--sms", "0"],
            ["cache", "--groups", "1-2"],
            ["predict"],
        ):
            with self.subTest(command=command):
                self.assertEqual(self.ok(*command, source).stdout, plain)
                if "--record" in command:  # answers that are needed at once block nobody where there is no clock
                    self.ok("cache", trace, timeout=60)
                    self.ok("run", trace)


class Damage(Case):
    def trace(self):
        trace = self.folder / "t.simt"
        self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--json", "--record", trace)
        return trace

    def test_files_that_are_no_trace(self):
        for content, error in (
            (b"", "trace-file"),
            (b"hello, I am a text\n" * 10, "trace-file"),
            (b"SIMTRACE" + bytes([1, 0, 0, 0]) + bytes(100), "trace-version"),
            (b"SIMTRACE" + bytes([9, 0, 0, 0]) + bytes(100), "trace-version"),
        ):
            file = self.folder / "x.simt"
            file.write_bytes(content)
            self.fails(3, "run", file, says=error)
        self.fails(3, "run", self.folder / "none.simt", says="[file-missing]")
        self.fails(3, "trace", "info", self.folder / "none.simt", says="[trace-file]")
        self.fails(3, "run", "--trace", self.folder, says="[file-directory]")

    def test_the_version_before_is_read(self):
        trace = self.trace()
        replayed = self.ok("run", trace, "--json").stdout
        content = bytearray(trace.read_bytes())
        self.assertEqual(content[8], 5)
        for version in (4, 3, 2):  # the code of this kernel has nothing that these lack
            content[8] = version
            trace.write_bytes(content)
            self.assertEqual(comparable(self.ok("run", trace, "--json").stdout), comparable(replayed))
            self.assertIn(f"format {version},", self.ok("trace", "info", trace).stdout)

    def test_truncated_and_changed_traces_name_the_file_and_the_byte(self):
        whole = self.trace().read_bytes()
        file = self.folder / "x.simt"
        for size in (16, 40, len(whole) // 2, len(whole) - 1):
            file.write_bytes(whole[:size])
            self.fails(3, "run", file, says=["[trace-damaged]", "x.simt"])
        for place in range(17, len(whole), max(1, len(whole) // 40)):
            changed = bytearray(whole)
            changed[place] ^= 0x5A
            file.write_bytes(changed)
            self.fails(3, "run", file, says=["[trace-damaged]", "at byte"])


class Tools(Case):
    """simtlab trace info, cut, diff."""

    def trace(self):
        trace = self.folder / "t.simt"
        self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--json", "--record", trace)
        return trace

    def test_info_counts_what_ran(self):
        info = json.loads(self.ok("trace", "info", self.trace(), "--mix", "--json").stdout)
        (kernel,) = info["kernels"]
        self.assertEqual((kernel["name"], kernel["blocks"], kernel["whole"]), ("saxpy", 64, True))
        self.assertEqual(sum(kernel["classes"].values()), kernel["warp_instructions"])
        self.assertEqual(kernel["warp_instructions"], info["trace"]["warp_instructions"])
        self.assertLess(info["trace"]["bytes_per_warp_instruction"], 4)
        self.assertIn("64 of 64 blocks", self.ok("trace", "info", self.trace()).stdout)

    def test_a_cut_trace_runs_and_differs_from_the_whole(self):
        trace, part = self.trace(), self.folder / "part.simt"
        self.ok("trace", "cut", trace, "-o", part, "--blocks", "8-15")
        whole, cut = (json.loads(self.ok("run", t, "--json").stdout)["kernels"][0] for t in (trace, part))
        self.assertEqual(
            cut["metrics"]["gpu.instructions.warp"]["value"] * 8, whole["metrics"]["gpu.instructions.warp"]["value"]
        )
        self.assertIn("D-TRACE-2", cut["not_modelled"])
        self.assertIn("the same 1 kernels", self.ok("trace", "diff", trace, trace).stdout)
        found = self.simtlab("trace", "diff", trace, part)
        self.assertEqual(found.returncode, 6)
        self.assertIn("kernel 1, block 0", found.stdout)

    def test_what_cannot_be_cut(self):
        trace, part = self.trace(), self.folder / "part.simt"
        self.fails(3, "trace", "cut", trace, "-o", part, "--kernels", "7", says="[trace-selection]")
        self.fails(2, "trace", "cut", trace, "-o", part, "--blocks", "9-3", says="[option-value]")
        self.fails(2, "trace", "cut", trace, "-o", trace, says="[trace-same]")
        self.assertFalse(part.exists())


class AccelSim(Case):
    """Traces of Accel-Sim: one that was written by hand from the format, and ours there and back."""

    def list_file(self):
        shutil.copytree(ACCELSIM, self.folder / "as")
        return self.folder / "as" / "kernelslist.g"

    def test_a_hand_written_trace_is_timed(self):
        result = self.simtlab("run", self.list_file(), "--gpu", "v100", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("TELEPORT.FAST (2)", result.stderr)
        total = json.loads(result.stdout)
        kernel = total["kernels"][0]
        value = lambda name: kernel["metrics"][name]["value"]
        self.assertEqual(value("gpu.instructions.warp"), 66)
        self.assertEqual(total["total"]["copy.h2d.bytes"]["value"], 1024)
        self.assertGreater(value("gpu.cycles"), 500)
        self.assertLess(value("gpu.cycles"), 10000)
        self.assertLessEqual({"D-TRACE-3", "D-TRACE-4"}, set(kernel["not_modelled"]))
        self.ok("run", self.folder / "as" / "kernelslist.g", "--gpu", "h100", "--dram", "hbm3")

    def test_compressed_kernels_are_the_same(self):
        plain = self.list_file()
        self.ok("trace", "convert", plain, "-o", self.folder / "plain.simt")
        text = (plain.parent / "kernel-1.traceg").read_bytes()
        (plain.parent / "kernel-1.traceg.xz").write_bytes(lzma.compress(text))
        (plain.parent / "kernel-1.traceg").unlink()
        self.ok("trace", "convert", plain, "-o", self.folder / "xz.simt")
        self.ok("trace", "diff", self.folder / "plain.simt", self.folder / "xz.simt")
        self.ok("run", plain.parent / "kernel-1.traceg.xz", "--gpu", "v100", "--json")

    def test_ours_to_theirs_and_back(self):
        trace = self.folder / "t.simt"
        self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--json", "--record", trace)
        self.ok("trace", "convert", trace, "-o", self.folder / "out")
        self.ok("trace", "convert", self.folder / "out" / "kernelslist.g", "-o", self.folder / "back.simt")
        ours, back = (
            json.loads(self.ok("trace", "info", t, "--json").stdout)["trace"]
            for t in (trace, self.folder / "back.simt")
        )
        for name in ("kernels", "blocks", "warp_instructions", "thread_instructions"):
            self.assertEqual(ours[name], back[name])
        a, b = (
            json.loads(self.ok("run", t, "--gpu", "v100", "--json").stdout)["kernels"][0]["metrics"]
            for t in (trace, self.folder / "back.simt")
        )
        for name in ("l1.read.accesses", "l1.write.accesses", "l2.write.accesses"):
            self.assertEqual(a[name], b[name], name)
        self.ok("trace", "convert", self.folder / "back.simt", "-o", self.folder / "again")
        self.ok("trace", "convert", self.folder / "again" / "kernelslist.g", "-o", self.folder / "again.simt")
        self.ok("trace", "diff", self.folder / "back.simt", self.folder / "again.simt")

    def test_what_is_wrong_is_said_with_the_line(self):
        kernels = self.list_file()
        kernel = kernels.parent / "kernel-1.traceg"
        text = kernel.read_text()
        for old, new, error in (
            ("ffffffff", "zzzz", "accelsim-syntax"),
            ("(2,1,1)", "(2000000000,2000000000,9)", "accelsim-syntax"),
            ("insts = 20", "insts = 99999999999", "accelsim-syntax"),
            ("binary version = 70", "binary version = 13", "sass-generation"),
        ):
            kernel.write_text(text.replace(old, new, 1))
            code = 4 if error == "sass-generation" else 3
            self.fails(code, "run", kernels, "--gpu", "v100", says=f"[{error}]")
        kernel.write_text(text[: len(text) // 2])
        self.fails(3, "run", kernels, "--gpu", "v100", says=["[accelsim-syntax]", "ends within this line"])
        kernel.write_text(text[: text.find("\n", len(text) // 2) + 1])
        self.fails(3, "run", kernels, "--gpu", "v100", says="[accelsim-truncated]")
        kernel.with_suffix(".traceg.xz").write_bytes(lzma.compress(text.encode())[:-100])
        kernel.unlink()
        self.fails(3, "run", kernels, "--gpu", "v100", says="[accelsim-truncated]")
        kernels.write_text("../../etc/passwd\nkernel/../x\n")
        self.fails(3, "run", kernels, "--gpu", "v100", says="[accelsim-syntax]")


if __name__ == "__main__":
    main()
