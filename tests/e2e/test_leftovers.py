"""Temporary files and folders: those of killed processes are cleared by a later one, those of live ones never, errors leave none."""
import contextlib
import resource
import signal
import subprocess
import time
import unittest

from harness import SAXPY_LAUNCH, SIMTLAB, SPIN, SPIN_LAUNCH, Case, main, needs_clang

# It counts: a loop that only waits is a deadlock, and ends.
ENDLESS_CU = """
__global__ void k(volatile int* x) { while (*x >= 0) { *x = (*x + 1) & 0xffffff; } }
int main() {
  int* x;
  cudaMalloc(&x, 4);
  cudaMemset(x, 0, 4);
  k<<<1, 32>>>(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""


class Leftovers(Case):
    def setUp(self):
        super().setUp()
        self.saxpy()
        self.file("spin.ptx", SPIN)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()

    def environment(self, extra=None):
        return super().environment({"TMPDIR": str(self.temporary), **(extra or {})})

    def left(self):
        """Names of what is for a while, in the working directory, below $TMPDIR and in the cache."""
        places = (self.folder, self.temporary, self.folder / "cache")
        return {
            str(path.relative_to(self.folder))
            for place in places
            if place.exists()
            for path in place.iterdir()
            if "simtlab-tmp" in path.name
        }

    @contextlib.contextmanager
    def running(self, *words, until, **env):
        """A simtlab that does not end by itself."""
        process = subprocess.Popen(
            [SIMTLAB, *map(str, words)],
            cwd=self.folder,
            env=self.environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            end = time.time() + 120
            while not until():
                self.assertLess(time.time(), end)
                self.assertIsNone(process.poll(), "it ended by itself")
                time.sleep(0.02)
            yield process
        finally:
            process.kill()
            process.wait()

    def spin(self):
        return self.running(
            "run",
            "spin.ptx",
            *SPIN_LAUNCH,
            "--checkpoint",
            "x.ckpt",
            "--json=x.json",
            until=lambda: any(name.startswith("x.ckpt.") for name in self.left())
        )

    def test_files_of_a_killed_process_are_cleared_by_the_next(self):
        with self.spin() as process:
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.assertTrue(self.left())
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--json=other.json")
        self.assertEqual(self.left(), set())

    def test_files_of_a_live_process_stay(self):
        with self.spin():
            before = self.left()
            self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--json=other.json")
            self.assertEqual(self.left(), before)

    def test_a_process_that_is_asked_to_end_leaves_nothing(self):
        with self.spin() as process:
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(60), 130)
        self.assertEqual(self.left(), set())

    @needs_clang
    def test_folders_of_a_killed_process_are_cleared_by_the_next(self):
        self.file("endless.cu", ENDLESS_CU)
        self.file("app.cu", ENDLESS_CU.replace("while (*x >= 0) { *x = (*x + 1) & 0xffffff; }", "*x = 1;"))
        self.ok("build", "endless.cu", "-o", "endless")
        self.ok("build", "app.cu", "-o", "app")
        with self.running(
            "run", "--", "./endless", until=lambda: any(self.temporary.glob("simtlab-tmp-*/run.json"))
        ) as process:
            before = self.left()
            self.ok("run", "--", "./app")
            self.assertEqual(self.left(), before, "those of a live process")
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.assertEqual(self.left(), before)
        self.ok("run", "--", "./app")
        self.assertEqual(self.left(), set())

    @needs_clang
    def test_folders_of_the_cache_too(self):
        slow = self.file(
            "slow-clang", '#!/bin/sh\ncase "$*" in *--version*) exec clang-19 "$@";; esac\nexec sleep 1000\n'
        )
        slow.chmod(0o755)
        self.file("app.cu", ENDLESS_CU)
        env = {"SIMTLAB_CACHE": str(self.folder / "cache")}
        with self.running(
            "build",
            "app.cu",
            "-o",
            "app",
            until=lambda: any(name.startswith("cache/") for name in self.left()),
            SIMTLAB_CLANG=str(slow),
            **env
        ) as process:
            process.send_signal(signal.SIGKILL)
            process.wait()
        self.assertTrue(self.left())
        self.ok("build", "app.cu", "-o", "app", env=env)
        self.assertEqual(self.left(), set())

    def test_a_full_disk_leaves_nothing(self):
        """As a limit of the size of files, which a write runs into as it does into a full disk."""

        def limit(size):
            def set_it():
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

            return set_it

        for words in (
            ["--json=full.json"],
            ["--csv=full.csv"],
            ["-o", "full.txt"],
            ["--checkpoint", "full.ckpt"],
            ["--record", "full.simt"],
            ["--timeline=full.json"],
            ["--live", "full.live"],
        ):
            for size in (1, 64):
                with self.subTest(words=words, size=size):
                    done = subprocess.run(
                        [SIMTLAB, "run", "saxpy.ptx", *SAXPY_LAUNCH, *words],
                        cwd=self.folder,
                        env=self.environment(),
                        capture_output=True,
                        text=True,
                        preexec_fn=limit(size),
                        stdin=subprocess.DEVNULL,
                    )
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertEqual(self.left(), set())
                    self.assertEqual(list(self.folder.glob("full*")), [])


if __name__ == "__main__":
    main()
