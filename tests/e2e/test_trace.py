"""run --record, run TRACE, simtlab trace: recorded kernels have the timing of the run that was recorded."""
import json
import pathlib
import unittest

from harness import SAXPY_LAUNCH, SOURCE, Case, main, needs_clang

EXAMPLES = SOURCE / "examples"


def comparable(text):
    """A result without what tells runs apart: the manifest and the host's times."""
    result = json.loads(text)
    del result["manifest"]
    for metrics in [result["total"]] + [k["metrics"] for k in result["kernels"]]:
        for name in [n for n in metrics if n.startswith("host.")]:
            del metrics[name]
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
        trace, _ = self.record("--gpu", "gtx480")
        plain = self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--json", "--gpu", "v100").stdout
        self.assertEqual(comparable(plain), comparable(self.ok("run", "--trace", trace, "--json", "--gpu", "v100").stdout))

    def test_functional_runs_record_the_same_kernel(self):
        trace, _ = self.record("--mode", "functional")
        plain = self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--json").stdout
        self.assertEqual(comparable(plain), comparable(self.ok("run", trace, "--json").stdout))

    def test_a_trace_cannot_be_executed_nor_described(self):
        trace, _ = self.record()
        self.fails(2, "run", trace, "--mode", "functional", says="option-conflict")
        self.fails(2, "run", trace, "--grid", "4", says="run-what")
        self.fails(2, "run", trace, trace, says="run-what")

    def test_outputs_do_not_overwrite_the_trace(self):
        trace, _ = self.record()
        self.fails(2, "run", trace, f"--json={trace}", says="option-conflict")
        self.fails(2, "run", self.saxpy(), *SAXPY_LAUNCH, "--record", trace, f"--json={trace}", says="option-conflict")

    @needs_clang
    def test_programs_with_several_kernels_replay_identically(self):
        for name in ("reduction", "bfs", "histogram", "scan"):
            source, trace = EXAMPLES / f"{name}.cu", self.folder / f"{name}.simt"
            plain = self.ok("run", source, "--gpu", "gtx480", "--json", "--record", trace).stdout
            replayed = self.ok("run", trace, "--gpu", "gtx480", "--json").stdout
            self.assertEqual(comparable(plain), comparable(replayed), name)


class Damage(Case):
    def trace(self):
        trace = self.folder / "t.simt"
        self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--json", "--record", trace)
        return trace

    def test_files_that_are_no_trace(self):
        for content, error in ((b"", "trace-file"), (b"hello, I am a text\n" * 10, "trace-file"),
                               (b"SIMTRACE" + bytes([9, 0, 0, 0]) + bytes(100), "trace-version")):
            file = self.folder / "x.simt"
            file.write_bytes(content)
            self.fails(3, "run", file, says=error)
        self.fails(3, "run", self.folder / "none.simt", says="trace-file")
        self.fails(3, "run", "--trace", self.folder, says="trace-file")

    def test_truncated_and_changed_traces_name_the_file_and_the_byte(self):
        whole = self.trace().read_bytes()
        file = self.folder / "x.simt"
        for size in (16, 40, len(whole) // 2, len(whole) - 1):
            file.write_bytes(whole[:size])
            self.fails(3, "run", file, says=["[trace-damaged]", "x.simt"])
        for place in range(17, len(whole), max(1, len(whole) // 40)):
            changed = bytearray(whole)
            changed[place] ^= 0x5a
            file.write_bytes(changed)
            self.fails(3, "run", file, says=["[trace-damaged]", "at byte"])


if __name__ == "__main__":
    main()
