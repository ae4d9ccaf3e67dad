"""What the end-to-end tests share: a clean environment, a scratch folder, and ways to run simtlab.

Run one script by hand: SIMTLAB=build/release/bin/simtlab python3 tests/e2e/test_options.py -v
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("SIMTLAB_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
SIMTLAB = str(pathlib.Path(os.environ.get("SIMTLAB", SOURCE / "build/release/bin/simtlab")).resolve())
KEPT = ("PATH", "SIMTLAB_CACHE", "SIMTLAB_ISA", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_PRELOAD", "LANG")
HAS_CLANG = any(shutil.which(c) for c in ("clang++-19", "clang-19"))
# `./dev test --all`: what takes half a minute or more and says of large things what others say of small ones.
EVERYTHING = os.environ.get("SIMTLAB_TESTS") == "all"
long_test = unittest.skipUnless(EVERYTHING, "only with ./dev test --all (SIMTLAB_TESTS=all)")
needs_clang = unittest.skipUnless(HAS_CLANG, "clang 19 is not installed")

SAXPY = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)
{
  .reg .pred %p<2>; .reg .f32 %f<5>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
  ld.param.f32 %f1, [a];
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd3, %rd1;
  cvta.to.global.u64 %rd4, %rd2;
  mul.wide.u32 %rd5, %r5, 4;
  add.s64 %rd6, %rd3, %rd5;
  add.s64 %rd7, %rd4, %rd5;
  ld.global.f32 %f2, [%rd6];
  ld.global.f32 %f3, [%rd7];
  fma.rn.f32 %f4, %f1, %f2, %f3;
  st.global.f32 [%rd7], %f4;
DONE:
  ret;
}
"""
SAXPY_LAUNCH = [
    "--grid",
    "64",
    "--block",
    "256",
    "--arg",
    "f32:2",
    "--arg",
    "buffer:16384:f32:iota",
    "--arg",
    "buffer:16384:f32:random",
    "--arg",
    "u32:16384",
]

# One thread that never ends: for limits and interruption.
# Ends in hours, and nobody can say that it does not, for it counts. LOCKED is one that is known not to.
COUNTS = " add.u32 %r2, %r2, 1; shr.u32 %r3, %r2, 31; or.b32 %r1, %r1, %r3;"
SPIN = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry spin(.param .u64 flag)
{
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [flag];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r2, 0;
AGAIN:
  ld.volatile.global.u32 %r1, [%rd2];{}
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra AGAIN;
  ret;
}
"""
LOCKED, SPIN = SPIN.replace("{}", ""), SPIN.replace("{}", COUNTS)
SPIN_LAUNCH = ["--grid", "1", "--block", "32", "--arg", "buffer:1:u32:zero"]


class Scratch:
    """A new folder whose path is that of the one before: a source that many tests of a script write is found in the
    cache of compiled programs, which know the path of their source. Compiling takes longer than most tests."""

    base = None  # of this process

    def __init__(self):
        if Scratch.base is None:
            Scratch.base = tempfile.TemporaryDirectory(prefix="simtlab-e2e-")
        self.path = pathlib.Path(Scratch.base.name) / "case"
        self.path.mkdir(mode=0o700)

    def cleanup(self):
        # Under another name first: what still runs there after its test meets no folder of the next one.
        old = tempfile.TemporaryDirectory(dir=Scratch.base.name)
        self.path.rename(pathlib.Path(old.name) / "case")
        old.cleanup()


class Case(unittest.TestCase):
    """A scratch folder that is the working directory and HOME of everything that is run."""

    maxDiff = None

    def setUp(self):
        scratch = Scratch()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.path

    def environment(self, extra=None):
        env = {k: os.environ[k] for k in KEPT if k in os.environ}
        env.update(HOME=str(self.folder), LC_ALL="C", TERM="dumb")
        env.update(extra or {})
        return env

    def file(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content)
        return path

    def simtlab(self, *args, env=None, stdin=None, timeout=300):
        """Runs simtlab; a crash by a signal or a hang is always a failure."""
        result = subprocess.run(
            [SIMTLAB, *map(str, args)],
            cwd=self.folder,
            env=self.environment(env),
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=timeout,
            errors="replace",
            stdin=subprocess.DEVNULL if stdin is None else None,
        )
        self.assertGreaterEqual(result.returncode, 0, f"ended by signal {-result.returncode}: {args}\n{result.stderr}")
        return result

    def ok(self, *args, **kw):
        result = self.simtlab(*args, **kw)
        self.assertEqual(result.returncode, 0, f"{args}\n{result.stdout}\n{result.stderr}")
        return result

    def fails(self, code, *args, says=(), **kw):
        """Exit code `code`, nothing on stdout, an error in the documented shape that contains every text of `says`."""
        result = self.simtlab(*args, **kw)
        self.assertEqual(result.returncode, code, f"{args}\n{result.stdout}\n{result.stderr}")
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"error: .+ \[[a-z0-9-]+\]")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, result.stderr)
        return result

    def saxpy(self):
        return self.file("saxpy.ptx", SAXPY)

    def run_json(self, *args, **kw):
        return json.loads(self.ok("run", *args, "--json", **kw).stdout)


def main():
    unittest.main(verbosity=1)
