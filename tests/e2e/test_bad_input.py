"""Bad and hostile input: a message with a remedy, the documented exit code, no crash, no hang, bounded memory."""
import json
import os
import resource
import subprocess
import unittest

from harness import SAXPY, SAXPY_LAUNCH, SIMTLAB, Case, main

MEMORY = 3 << 30  # resident memory beyond which an input counts as a memory bomb


class BadInput(Case):
    def refused(self, content, codes=(3, 4), args=SAXPY_LAUNCH, says=()):
        self.file("k.ptx", content)
        result = self.simtlab("run", "k.ptx", *args, timeout=60)
        self.assertIn(result.returncode, codes, (content[:80], result.stdout[:300], result.stderr[:600]))
        self.assertRegex(result.stderr, r"error: .+ \[[a-z0-9-]+\]")
        self.assertNotIn("[internal]", result.stderr)
        self.assertLess(len(result.stderr), 100_000)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, result.stderr)
        return result

    @unittest.skipIf("ASAN_OPTIONS" in os.environ, "sanitizers reserve more than that themselves")
    def test_a_wrong_text_is_told_where_the_devices_memory_cannot_be_reserved(self):
        for text, says in (("bogus;", "unknown instruction 'bogus'"), ("ret;", "[memory-reserve]")):
            path = self.file("k.ptx", ".version 7.0\n.target sm_70\n.address_size 64\n.entry k() { " + text + " }\n")
            line = f"ulimit -v 8000000; exec {SIMTLAB} run {path} --grid 1 --block 1"
            done = subprocess.run(["bash", "-c", line], env=self.environment({}), capture_output=True, text=True)
            self.assertIn(says, done.stderr)
            self.assertNotEqual(done.returncode, 0)

    def test_empty_ptx(self):
        self.refused("")
        self.refused("\n\n  // nothing\n")

    def test_truncated_ptx_at_every_place(self):
        self.file("whole.ptx", SAXPY)
        for n in range(0, len(SAXPY) - 5, 61):
            self.refused(SAXPY[:n])

    def test_binary_ptx(self):
        self.refused(bytes(range(256)) * 64)
        self.refused(b"\x00" * 4096)
        self.refused(b"\x7fELF" + bytes(4096))
        self.refused(SAXPY.replace("fma.rn.f32", "fma.rn.f32\x00").encode())

    def test_huge_ptx(self):
        self.refused("// " + "x" * (32 << 20) + "\n")
        self.refused(".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { " + "{" * 200000)
        self.refused(".version 7.0\n.target sm_70\n.address_size 64\n.global .b8 a[99999999999999999999];")
        # Four thousand million registers that nobody uses cost nothing.
        self.file(
            "k.ptx",
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { .reg .b32 %r<4000000000>; ret; }",
        )
        self.ok("run", "k.ptx", "--grid", "1", "--block", "1", timeout=60)

    def test_an_error_points_at_its_place(self):
        result = self.refused(SAXPY.replace("fma.rn.f32 %f4, %f1", "fma.rn.f32 %f4, %g1"))
        self.assertRegex(result.stderr, r"k\.ptx:\d+:\d+: error: ")
        self.assertIn("fma.rn.f32 %f4, %g1", result.stderr)

    def test_unsupported_instructions_are_all_listed_before_anything_runs(self):
        mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, {%f1,%f2,%f3,%f4};"
        result = self.refused(SAXPY.replace("DONE:", f"{mma}\n{mma}\nDONE:"), codes=(4,), says="[ptx-unsupported]")
        self.assertEqual(result.stderr.count("[ptx-unsupported]"), 2)
        self.assertEqual(result.stdout, "")

    def test_missing_files_and_wrong_kinds_of_file(self):
        self.fails(3, "run", "missing.ptx", *SAXPY_LAUNCH, says="missing.ptx")
        (self.folder / "folder.ptx").mkdir()
        self.fails(3, "run", "folder.ptx", *SAXPY_LAUNCH, says="folder.ptx")
        self.saxpy()
        self.fails(3, "run", "saxpy.ptx", "--launch", "missing.toml", says="missing.toml")
        self.fails(3, "report", "missing.json", says="missing.json")
        self.fails(3, "run", "missing.cu", says="missing.cu")

    def test_outputs_that_cannot_be_written_are_1(self):
        result = self.simtlab("run", self.saxpy(), *SAXPY_LAUNCH, "--json=no/such/folder/r.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("[file-write]", result.stderr)

    def test_launches_that_no_gpu_can_do(self):
        args = SAXPY_LAUNCH[4:]
        for grid, block in (
            ("0", "256"),
            ("64", "0"),
            ("64", "2048"),
            ("99999999999", "1"),
            ("1x99999", "1"),
            ("64", "1x1x128"),
            ("x", "1"),
            ("64", "-1"),
            ("1x1x1x1", "1"),
        ):
            self.saxpy()
            result = self.simtlab("run", "saxpy.ptx", "--grid", grid, "--block", block, *args)
            self.assertIn(result.returncode, (2, 3), (grid, block, result.stderr))
        self.fails(3, "run", "saxpy.ptx", "--grid", "1", "--block", "32", "--shared", "1000000", *args, says="shared")
        self.fails(3, "run", "saxpy.ptx", "--grid", "1", "--block", "1024", "--regs", "255", *args, says="registers")

    def test_an_enormous_grid_neither_hangs_nor_grows(self):
        self.saxpy()
        result = self.simtlab(
            "run",
            "saxpy.ptx",
            "--grid",
            "2147483647",
            "--block",
            "32",
            *SAXPY_LAUNCH[4:],
            "--max-time",
            "2",
            "--json=r.json",
            timeout=60,
        )
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("[limit-time]", result.stderr)
        peak = json.loads((self.folder / "r.json").read_text())["total"]["host.peak_memory"]["value"]
        self.assertLess(peak, 1 << 30)

    def test_arguments_that_do_not_fit_the_kernel(self):
        self.saxpy()
        shape = ["--grid", "1", "--block", "32"]
        self.fails(3, "run", "saxpy.ptx", *shape, says="[launch-arguments]")
        self.fails(3, "run", "saxpy.ptx", *shape, "--kernel", "saxpi", *SAXPY_LAUNCH[4:], says="saxpy")
        for arg in (
            "f32",
            "f33:1",
            "buffer:0x4:f32",
            "buffer:99999999999x99999999999:f32",
            "buffer:4:f32:sometimes",
            "f32:x",
            "buffer:4:f32:file=nope",
            "",
        ):
            result = self.simtlab("run", "saxpy.ptx", *shape, "--arg", arg, *SAXPY_LAUNCH[6:])
            self.assertIn(result.returncode, (2, 3), (arg, result.stderr))

    def test_more_memory_than_the_device_has(self):
        self.saxpy()
        args = [
            "--grid",
            "1",
            "--block",
            "32",
            "--arg",
            "f32:1",
            "--arg",
            "buffer:50000000000:f32",
            "--arg",
            "buffer:4:f32",
            "--arg",
            "u32:4",
        ]
        self.fails(3, "run", "saxpy.ptx", *args)
        args[7] = "buffer:1000000:f32"
        result = self.simtlab("run", "saxpy.ptx", *args, "--max-memory", "1 MiB")
        self.assertIn(result.returncode, (1, 3), result.stderr)

    def test_an_access_outside_allocations_is_5_with_its_place(self):
        self.saxpy()
        result = self.simtlab(
            "run",
            "saxpy.ptx",
            "--grid",
            "64",
            "--block",
            "256",
            "--arg",
            "f32:2",
            "--arg",
            "buffer:16:f32",
            "--arg",
            "buffer:16384:f32",
            "--arg",
            "u32:16384",
            "--json=r.json",
        )
        self.assertEqual(result.returncode, 5, result.stderr)
        for part in ("saxpy", "block", "thread", "0x", "saxpy.ptx:"):
            self.assertIn(part, result.stderr)
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["manifest"]["failure"]["exit_code"], 5)

    def test_a_barrier_that_cannot_complete_is_a_deadlock_report(self):
        self.file(
            "k.ptx",
            """.version 7.0
.target sm_70
.address_size 64
.visible .entry k()
{
  .reg .pred %p<2>; .reg .b32 %r<2>;
  mov.u32 %r1, %tid.x;
  setp.lt.u32 %p1, %r1, 32;
  @%p1 bra FIRST;
  bar.sync 1;
  ret;
FIRST:
  bar.sync 0;
  bar.sync 1;
  bar.sync 2, 64;
  ret;
}
""",
        )
        for mode in ("timing", "functional"):
            result = self.simtlab(
                "run", "k.ptx", "--grid", "1", "--block", "64", "--mode", mode, "--max-time", "20", timeout=60
            )
            self.assertEqual(result.returncode, 5, result.stderr)
            self.assertIn("[deadlock]", result.stderr)

    def test_hostile_launch_files(self):
        self.saxpy()
        for text in (
            "",
            "grid = ",
            "[" * 100000,
            "grid = 1\nblock = 1\nblok = 2\n",
            'grid = "1x1',
            "grid = 1\nblock = 32\n[[arg]]\n",
            "a = " + "[" * 5000 + "]" * 5000,
            "grid = 99999999999999999999999\nblock = 1\n",
            "\x00\x01\x02",
        ):
            self.file("l.toml", text)
            result = self.simtlab("run", "saxpy.ptx", "--launch", "l.toml", timeout=60)
            self.assertEqual(result.returncode, 3, (text[:60], result.stderr[:300]))
            self.assertNotIn("[internal]", result.stderr)

    def test_hostile_device_files(self):
        for text in (
            "",
            "x = 1\n",
            "[" * 100000,
            'inherits = "d.toml"\n',
            "name = 5\n",
            'inherits = "h100"\n[sm]\ncount = "many"\n',
            'inherits = "h100"\n[sm]\ncount = 4000000000\n',
            "\xff\xfe",
        ):
            self.file("d.toml", text)
            result = self.simtlab("run", self.saxpy(), *SAXPY_LAUNCH, "--gpu", "d.toml", timeout=60)
            self.assertEqual(result.returncode, 3, (text[:60], result.stderr[:300]))
            self.assertNotIn("[internal]", result.stderr)

    def test_hostile_result_files(self):
        good = self.ok("run", self.saxpy(), *SAXPY_LAUNCH, "--json").stdout
        for text in (
            "",
            "{}",
            "[]",
            "null",
            "[" * 1000000,
            '{"schema": 1}',
            good[: len(good) // 2],
            good.replace('"unit": "ns"', '"unit": 7'),
            good.replace('"gpu.cycles"', '"gpu.cyclops"'),
            good.replace('"grid": [64', '"grid": [-64'),
            "\x00" * 100,
        ):
            self.file("r.json", text)
            self.fails(3, "report", "r.json", says="r.json")
        self.file("r.json", good.replace('"schema": 1', '"schema": 99'))
        self.fails(3, "report", "r.json", says="99")

    def test_a_closed_pipe_is_no_error(self):
        with subprocess.Popen(
            [SIMTLAB, "list", "stats"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment()
        ) as process:
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            self.assertEqual(process.wait(timeout=30), 0)

    def test_memory_for_a_parse_stays_bounded(self):
        self.file(
            "k.ptx",
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<4>;\n"
            + "add.u32 %r1, %r2, %r3;\n" * 400000
            + "ret;\n}\n",
        )
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.ok("run", "k.ptx", "--grid", "1", "--block", "32", "--mode", "functional", timeout=120)
        after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        self.assertLess(max(before, after) * 1024, MEMORY)


if __name__ == "__main__":
    main()
