"""simtlab corun exec: every way in which a process comes to launch a kernel is gated, or said at the end."""
import pathlib
import re
import signal
import subprocess
import sys
import sysconfig
import time

from corun_live_scene import HERE, OnFake
from harness import main


class Ways(OnFake):
    """Every way in which a process comes to launch a kernel: gated, or said at the end. Each launch is made once, whatever its way."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        at = cls.at

        def compiled(out, *words, compiler="gcc"):
            subprocess.run([compiler, "-O1", "-Wall", "-Werror", *map(str, words), "-o", at / out], check=True)

        linked = (at / "libcudart.so.12", f"-Wl,-rpath,{at}")
        shared = ("-shared", "-fPIC")
        subprocess.run(
            [
                "gcc",
                "-O1",
                "-w",
                *shared,
                HERE / "fake_cuda.c",
                "-Wl,-soname,libcuda.so.1",
                "-o",
                at / "libcuda.so.1",
                "-lpthread",
            ],
            check=True,
        )
        compiled("libplugin.so", *shared, HERE / "plugin.c", *linked)
        compiled("opener", HERE / "opener.c", "-ldl")
        compiled("opener++", "-x", "c++", HERE / "opener.c", "-ldl", compiler="g++")
        compiled("opener-runpath", HERE / "opener.c", "-ldl", f"-Wl,-rpath,{at}")
        compiled("libwrapper.so", *shared, HERE / "wrapper.c", "-ldl")
        compiled("static", "-DFATBIN", HERE / "opener.c", "-ldl")
        cls.include = pathlib.Path(sysconfig.get_paths()["include"])
        if (cls.include / "Python.h").exists():
            compiled(
                "ways" + sysconfig.get_config_var("EXT_SUFFIX"),
                *shared,
                "-DPYTHON",
                f"-I{cls.include}",
                HERE / "plugin.c",
                *linked,
            )

    def tried(self, *command, gated, others=0, unseen=0, says=(), status=0, options=(), **env):
        """unseen: launches that nobody can count."""
        (self.folder / "fake.trace").unlink(missing_ok=True)
        process = self.start(
            *command, options=options, env=self.launcher_env(1000, **{"LD_LIBRARY_PATH": str(self.at), **env})
        )
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, status, out + err)
        self.assertIn(f"simtlab corun exec: {gated} launches gated, {others} not\n", err)
        self.assertEqual(len(self.spans()), gated + others + unseen, "made once each")
        for text in says:
            self.assertIn(text, err)
        if not says:
            self.assertEqual(err.count("\n"), 1, err)
        self.assertEqual(list(self.run_directory.glob("tally-*")), [])
        return out

    def test_libraries_that_are_opened(self):
        self.serve("--policy", "mps", "--log", "log")
        plugin, runtime, driver = (self.at / name for name in ("libplugin.so", "libcudart.so.12", "libcuda.so.1"))
        for opener in ("opener", "opener++"):
            for way, library, gated in (
                ("local", plugin, 5),
                ("global", plugin, 5),
                ("closed", plugin, 10),
                ("symbol", runtime, 5),
                ("default", runtime, 5),
                ("driver", driver, 5),
                ("asked", driver, 5),
                ("fork", plugin, 10),
                ("exec", plugin, 10),
                ("nothing", "", 0),
            ):
                with self.subTest(opener=opener, way=way):
                    self.tried(self.at / opener, way, library, 5, gated=gated)
        self.assertEqual(self.totals()["granted"], str(2 * 60))
        self.tried(self.at / "opener", "forks", plugin, 5, gated=1000)
        self.stop()
        for name in ("plugin_kernel", "told_kernel"):  # registered by the runtime, or asked of the driver
            self.assertIn("/" + name + " <<<", (self.folder / "log").read_text())

    def test_the_loader_still_sees_who_asks(self):
        """RTLD_NEXT of a library that stands before the runtime as well, and a library that is found by the run path of who opens it."""
        self.serve("--policy", "mps")
        out = self.tried(self.launcher, 5, gated=5, LD_PRELOAD=str(self.at / "libwrapper.so"))
        self.assertEqual(out.count("wrapped"), 5)
        self.tried(self.at / "opener-runpath", "local", "libplugin.so", 5, gated=5, LD_LIBRARY_PATH="")

    def test_forms_of_old_and_new_versions_and_every_way_to_ask_the_driver(self):
        self.serve("--policy", "mps", "--log", "log")
        self.tried(self.launcher, 2, "asked", gated=10)
        self.tried(self.launcher, 2, "library", gated=4)
        self.tried(self.launcher, 2, "old", gated=8)
        self.stop()
        self.assertIn("name=launcher/library_kernel <<<", (self.folder / "log").read_text())

    def test_python(self):
        self.serve("--policy", "mps")
        self.file("library.py", f"import ctypes, sys\nsys.exit(ctypes.CDLL('{self.at}/libplugin.so').go(5))\n")
        self.file(
            "symbol.py",
            f"""
import ctypes, sys
class Dim(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint) for name in "xyz"]
runtime = ctypes.CDLL("{self.at}/libcudart.so.12")
runtime.cudaLaunchKernel.argtypes = [ctypes.c_void_p, Dim, Dim, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
sys.exit(sum(runtime.cudaLaunchKernel(1, Dim(1, 1, 1), Dim(1, 1, 1), None, 0, None) for _ in range(5)))
""",
        )
        self.file(
            "driver.py",
            """
import ctypes, sys
driver = ctypes.CDLL("libcuda.so.1")
driver.cuLaunchKernel.argtypes = [ctypes.c_void_p] + [ctypes.c_uint] * 7 + [ctypes.c_void_p] * 3
sys.exit(sum(driver.cuLaunchKernel(1, 1, 1, 1, 1, 1, 1, 0, None, None, None) for _ in range(5)))
""",
        )
        self.file(
            "processes.py",
            f"import ctypes, multiprocessing as m\ndef go(n): assert ctypes.CDLL('{self.at}/libplugin.so').go(n) == 0\n"
            "if __name__ == '__main__':\n  for method in ('fork', 'spawn'):\n    p = m.get_context(method).Process(target=go, args=(3,))\n    p.start(); p.join(); assert p.exitcode == 0\n",
        )
        for script, gated in (("library.py", 5), ("symbol.py", 5), ("driver.py", 5), ("processes.py", 6)):
            with self.subTest(script):
                self.tried(sys.executable, script, gated=gated)

    def test_an_extension_module_of_python(self):
        if not (self.include / "Python.h").exists():
            self.skipTest("Python's headers are not installed")
        self.serve("--policy", "mps")
        self.tried(sys.executable, "-c", "import ways, sys; sys.exit(ways.go(5))", gated=5, PYTHONPATH=str(self.at))

    def test_scripts_and_what_they_start(self):
        self.serve("--policy", "mps")
        self.file(
            "script.sh",
            f"#!/bin/sh\n{self.launcher} 2 launch\n{self.at}/opener local {self.at}/libplugin.so 3\nenv true\nexit 7\n",
        ).chmod(0o755)
        for command in (
            ("./script.sh",),
            ("sh", "script.sh"),
            ("bash", "./script.sh"),
            ("bash", "-c", "(./script.sh)"),
        ):
            with self.subTest(command):
                self.tried(*command, gated=5, status=7)
        self.tried("ls", gated=0)  # which closes its standard error at its end
        with self.subTest("a program that is killed has counted"):
            self.file(
                "killed.py",
                f"import ctypes, os\nif os.fork() == 0:\n  ctypes.CDLL('{self.at}/libplugin.so').go(4)\n  os.kill(os.getpid(), 9)\nos.wait()\n",
            )
            self.tried(sys.executable, "killed.py", gated=4)
        with self.subTest("the process that exec became ends first"):
            self.file("late.sh", f"(sleep 0.7; {self.launcher} 2 launch) & exit 0")
            out = self.start("bash", "late.sh", env=self.launcher_env(1000))
            _, err = out.communicate(timeout=60)
            self.assertIn("simtlab corun exec: 0 launches gated, 0 not\n", err)
            self.assertRegex(err, r"simtlab corun: launcher \(process \d+\): 2 launches gated, 0 not\n")

    def test_a_static_runtime_is_gated_on_a_board_by_the_driver_and_said_or_refused_where_it_is_not(self):
        self.serve("--policy", "mps")
        static = self.at / "static"
        self.file("wrapper.sh", f'#!/bin/sh\n{static} "$@"\n').chmod(0o755)
        for command in ((static,), ("./wrapper.sh",)):
            with self.subTest(command):
                self.tried(*command, "asked", self.at / "libcuda.so.1", 4, gated=4)
                self.tried(
                    *command,
                    "nothing",
                    gated=0,
                    says=["static (process ", "the CUDA runtime is linked in statically and no launch of it was seen"],
                )
        self.tried(
            "./wrapper.sh",
            "nothing",
            gated=0,
            status=4,
            options=["--gpu", "titanx"],
            says=["static: the CUDA runtime that is linked in cannot be replaced", "-cudart shared"],
        )
        extension = self.folder / "static-extension.so"
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", extension],
            text=True,
            check=True,
            input='__attribute__((section(".nv_fatbin"), used)) static char kernels[8] = "k"; int go(int n) { return 0 * n; }',
        )
        self.tried(
            self.at / "opener",
            "local",
            extension,
            gated=0,
            says=["opener (process ", "the CUDA runtime is linked in statically and no launch of it was seen"],
        )
        # One that holds kernels and leaves the runtime to whoever opens it is none.
        subprocess.run(
            ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", extension],
            text=True,
            check=True,
            input="void __cudaRegisterFatBinary(void*) __attribute__((weak)); int go(int n) { if (n < 0) __cudaRegisterFatBinary(0); return 0; } "
            '__attribute__((section(".nv_fatbin"), used)) static char kernels[8] = "k";',
        )
        self.tried(self.at / "opener", "local", extension, gated=0)
        self.fails(
            4,
            "corun",
            "exec",
            "--gpu",
            "titanx",
            "--",
            str(static),
            "nothing",
            says=["[program-static-cudart]", "-cudart shared"],
        )
        subprocess.run(
            ["gcc", "-static", "-x", "c", "-", "-o", self.folder / "whole"],
            input="int main() { return 0; }",
            text=True,
            check=True,
        )
        self.fails(4, "corun", "exec", "--", "./whole", says="[program-static]")

    def test_what_is_not_gated_is_said(self):
        self.serve("--policy", "mps")
        plugin, runtime = self.at / "libplugin.so", self.at / "libcudart.so.12"
        self.tried(
            self.launcher,
            2,
            "several",
            gated=0,
            others=8,
            says=["launcher (process ", "8 not gated: a cooperative launch over several devices", "hint: "],
        )
        self.tried(self.launcher, 2, "opencl", gated=0, others=4, says=["4 not gated: launches of OpenCL"])
        self.tried(self.launcher, 3, gated=0, others=3, SIMTLAB_CORUN="off", says=["3 not gated: SIMTLAB_CORUN=off"])
        self.tried(
            self.at / "opener", "own-scope", plugin, 5, gated=0, unseen=5, says=["opener (process ", "RTLD_DEEPBIND"]
        )
        self.tried(self.at / "opener", "namespace", plugin, 5, gated=0, unseen=5, says=["namespace of its own"])
        self.tried(self.at / "opener", "two", runtime, 5, gated=5, unseen=5, says=["a second CUDA library"])
        self.tried(
            "sh",
            "-c",
            f"env -u LD_PRELOAD {self.launcher} 3; exit 0",
            gated=0,
            unseen=3,
            says=["env (process ", "started a program without the gate"],
        )
        self.tried(
            "sh",
            "-c",
            f"unset LD_PRELOAD; {self.launcher} 3; exit 0",
            gated=0,
            unseen=3,
            says=["started a program without the gate"],
        )
        self.tried(
            "env",
            "-u",
            "LD_PRELOAD",
            self.launcher,
            3,
            gated=0,
            unseen=3,
            says=["env (process ", "started a program without the gate"],
        )
        for way in ("system", "popen", "execl", "execlp", "execle"):
            with self.subTest(way):
                # Without its environment the stand-in writes no trace.
                self.tried(
                    self.at / "opener",
                    f"bare-{way}",
                    plugin,
                    5,
                    gated=0,
                    unseen=0 if way == "execle" else 5,
                    says=["started a program without the gate"],
                )
        # Its launch did not happen: the code, cudaGetLastError and standard error say so.
        (self.folder / "fake.trace").touch()
        process = self.start(self.at / "opener", "nowhere")
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("cudaLaunchKernel was called, and no library that is loaded has it", err)
        self.assertIn("0 launches gated, 1 not", err)

    def test_launches_without_a_daemon_and_those_that_waited_too_long_are_counted(self):
        self.serve("--policy", "mps", "--limit", 1)
        program = self.start(self.launcher, 400, env=self.launcher_env(2000000))
        time.sleep(0.5)
        self.stop(signal.SIGKILL)
        _, err = program.communicate(timeout=60)
        self.assertEqual(program.returncode, 0, err)
        gated, others = map(int, re.search(r"(\d+) launches gated, (\d+) not\n", err).groups())
        self.assertEqual(gated + others, 400)
        self.assertGreater(min(gated, others), 0)
        self.assertIn(f"{others} not gated: no daemon answered", err)
        self.assertIn("--strict", err)
        self.serve("--policy", "mps", "--limit", 1)
        long = self.start(self.launcher, 1, env=self.launcher_env(3000000000))
        deadline = time.monotonic() + 30
        while int(self.totals()["granted"]) == 0 and time.monotonic() < deadline:
            time.sleep(0.02)
        _, err = self.start(self.launcher, 2, options=["--wait-limit", "0.2"], env=self.launcher_env()).communicate(
            timeout=60
        )
        self.assertIn("0 launches gated, 2 not", err)
        self.assertIn("2 not gated: they waited longer than --wait-limit", err)
        self.finish(long)

    def test_two_devices_do_not_wait_for_each_other(self):
        """Each has the limit for itself: with a limit of 1 two launches run at once, one on each, and never two on one."""
        self.serve("--policy", "mps", "--limit", 1, "--log", "log")
        begin = time.monotonic()
        self.finish(self.start(self.launcher, 8, "launch", 2, 2, env=self.launcher_env(60000000)))
        took = time.monotonic() - begin
        spans = self.spans()
        self.assertEqual(len(spans), 16)
        by_device = {second: [s for s in spans if s[3].endswith("@1") == second] for second in (False, True)}
        for device in by_device.values():
            self.assertEqual(len(device), 8)
            self.assertEqual(self.most_at_once(device), 1)
        self.assertEqual(self.most_at_once(spans), 2)
        self.assertLess(took, 0.8 * 16 * 0.06, "not one after the other")
        self.stop()
        log = (self.folder / "log").read_text()
        self.assertEqual(log.count(" device=1"), 8)
        self.assertIn("the same decisions as in the log", self.ok("corun", "replay", "log").stderr)


if __name__ == "__main__":
    main()
