"""What the scripts about the live daemon share: a daemon of their own, programs under it, and a stand-in for CUDA's libraries.

Where there is no GPU, fake_cuda.c stands in; its own record of what ran when is what the daemon's limit is checked by.
"""
import ctypes.util
import pathlib
import signal
import subprocess
import tempfile

from harness import SIMTLAB, Case

BUILD = pathlib.Path(SIMTLAB).resolve().parent.parent
HERE = pathlib.Path(__file__).resolve().parent / "corun"

LOADER = ctypes.util.find_library("OpenCL")
MOCK = BUILD / "mockcuda/libsimtlab-mockcuda.so"


class Live(Case):
    def setUp(self):
        super().setUp()
        self.daemon = None
        self.folder.chmod(0o700)
        self.run_directory = self.folder.resolve() / "run"

    def tearDown(self):
        self.stop()
        super().tearDown()

    def environment(self, extra=None):
        return super().environment({"SIMTLAB_CORUN_DIR": str(self.run_directory), **(extra or {})})

    def serve(self, *args):
        self.daemon = subprocess.Popen(
            [SIMTLAB, "corun", "serve", *map(str, args)],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.assertIn("policy", self.daemon.stderr.readline())

    def stop(self, sig=signal.SIGTERM):
        """Ends the daemon; its summary."""
        if self.daemon is None:
            return ""
        self.daemon.send_signal(sig)
        out, _ = self.daemon.communicate(timeout=30)
        self.daemon = None
        return out

    def start(self, *command, options=(), env=None):
        return subprocess.Popen(
            [SIMTLAB, "corun", "exec", *options, "--", *map(str, command)],
            cwd=self.folder,
            env=self.environment(env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def finish(self, process, timeout=120):
        out, err = process.communicate(timeout=timeout)
        self.assertEqual(process.returncode, 0, out + err)
        return out

    def totals(self):
        words = self.ok("corun", "top", "--count", "1").stdout.splitlines()[0].split()
        return {words[i]: words[i + 1] for i in range(0, len(words) - 1, 2)}


class OnFake(Live):
    """Programs on fake_cuda.c."""

    @classmethod
    def setUpClass(cls):
        cls.built = tempfile.TemporaryDirectory(prefix="simtlab-corun-")
        cls.addClassCleanup(cls.built.cleanup)
        at = pathlib.Path(cls.built.name)
        for library in ("libcudart.so.12",):
            subprocess.run(
                [
                    "gcc",
                    "-O1",
                    "-w",
                    "-shared",
                    "-fPIC",
                    HERE / "fake_cuda.c",
                    f"-Wl,-soname,{library}",
                    "-o",
                    at / library,
                    "-lpthread",
                ],
                check=True,
            )
        subprocess.run(
            [
                "gcc",
                "-O1",
                "-w",
                HERE / "launcher.c",
                at / "libcudart.so.12",
                f"-Wl,-rpath,{at}",
                "-o",
                at / "launcher",
                "-lpthread",
            ],
            check=True,
        )
        cls.launcher = at / "launcher"
        cls.at = at

    def launcher_env(self, ns=100000, **more):
        return {"FAKE_NS": str(ns), "FAKE_TRACE": str(self.folder / "fake.trace"), **more}

    def spans(self):
        path = self.folder / "fake.trace"
        rows = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
        return [(int(pid), int(a), int(b), form) for pid, a, b, form in rows]

    def most_at_once(self, spans):
        events = sorted([(a, 1) for _, a, _, _ in spans] + [(b, -1) for _, _, b, _ in spans])
        now = most = 0
        for _, change in events:
            now += change
            most = max(most, now)
        return most
