"""simtlab corun serve, exec and top with real processes: every form of a launch, limits, deaths of both sides, forks, many at once.

Where there is no GPU, fake_cuda.c stands in for CUDA's libraries; its own record of what ran when is what the daemon's limit is checked by.
"""
import ctypes.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import tomllib
import unittest

import chrome_trace
from harness import SIMTLAB, Case, main, needs_clang

BUILD = pathlib.Path(SIMTLAB).resolve().parent.parent
HERE = pathlib.Path(__file__).resolve().parent / "corun"

LOADER = ctypes.util.find_library("OpenCL")
MOCK = BUILD / "mockcuda/libsimtlab-mockcuda.so"

PROGRAM = r"""
#include <cstdio>
__global__ void scale(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
int main() {
  float *a, *b, h[1024];
  for (int i = 0; i < 1024; ++i) h[i] = 1;
  cudaMalloc(&a, sizeof h); cudaMalloc(&b, sizeof h);
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice); cudaMemcpy(b, h, sizeof h, cudaMemcpyHostToDevice);
  cudaStream_t s[2];
  cudaStreamCreate(&s[0]); cudaStreamCreate(&s[1]);
  for (int i = 0; i < 6; ++i) { scale<<<4, 256, 0, s[0]>>>(a, 1024); scale<<<4, 256, 0, s[1]>>>(b, 1024); }
  cudaGraph_t graph; cudaGraphExec_t program;
  cudaStreamBeginCapture(s[0], cudaStreamCaptureModeGlobal);
  scale<<<4, 256, 0, s[0]>>>(a, 1024); scale<<<4, 256, 0, s[0]>>>(a, 1024);
  cudaStreamEndCapture(s[0], &graph);
  cudaGraphInstantiate(&program, graph, 0);
  cudaGraphLaunch(program, s[0]);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
  printf("a %g ", h[1023]);
  cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost);
  printf("b %g\n", h[0]);
  return 0;
}
"""

SHARED = r"""
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#include <fcntl.h>
#include <unistd.h>
__global__ void sweep(float* x, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] += 1; }
int main() {
  const int n = 1 << 20;
  float* d;
  std::vector<float> h(n, 0.0f);
  cudaMalloc(&d, n * sizeof(float));
  // So many programs have the GPU before one begins.
  const char* number = getenv("NUMBER");
  const int programs = number ? atoi(getenv("PROGRAMS")) : 0;
  if (number) close(open((std::string("ready-") + number).c_str(), O_CREAT | O_WRONLY, 0600));
  for (int i = 0; i < programs; ++i)
    while (access(("ready-" + std::to_string(i)).c_str(), F_OK) != 0) usleep(1000);
  cudaMemcpy(d, h.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  for (int i = 0; i < 6; ++i) sweep<<<96, 256>>>(d, n);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  cudaMemcpy(h.data(), d, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (float x : h) if (x != 6) return 2;
  puts("fine");
  return 0;
}
"""


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
        import tempfile

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


class Fake(OnFake):
    def test_every_form_of_a_launch_is_gated_and_none_of_a_capture(self):
        self.serve("--policy", "mps", "--log", "log")
        forms = {"launch": 1, "ptsz": 1, "nvcc13": 2, "cooperative": 2, "ex": 2, "graph": 3, "driver": 5, "capture": 1}
        for form, launches in forms.items():
            before = int(self.totals()["granted"])
            self.finish(self.start(self.launcher, 3, form, env=self.launcher_env()))
            self.assertEqual(int(self.totals()["granted"]) - before, 3 * launches, form)
        self.assertEqual(self.totals()["lost"], "0")
        self.stop()
        log = (self.folder / "log").read_text()
        for name in ("test_kernel", "driver_kernel", "(graph)"):
            self.assertIn(f"name=launcher/{name}", log)

    def test_no_more_run_at_once_than_the_limit_says(self):
        for policy, limit in (("mps", 1), ("mps", 2), ("exclusive", 1), ("shark", 2)):
            with self.subTest(policy=policy, limit=limit):
                (self.folder / "fake.trace").unlink(missing_ok=True)
                self.serve("--policy", policy, "--limit", limit)
                for process in [
                    self.start(self.launcher, 40, "launch", 2, env=self.launcher_env(200000)) for _ in range(4)
                ]:
                    self.finish(process)
                spans = self.spans()
                self.assertEqual(len(spans), 4 * 40 * 2)
                self.assertLessEqual(self.most_at_once(spans), limit)
                if limit > 1:
                    self.assertGreater(self.most_at_once(spans), 1, "several do run")
                self.assertIn("320 granted, 320 ended", self.stop())

    def test_without_the_gate_they_overlap(self):
        """What the test above sees is the daemon's work."""
        for process in [
            subprocess.Popen(
                [self.launcher, "40", "launch", "2"],
                env=self.environment(self.launcher_env(2000000)),
                stdout=subprocess.DEVNULL,
            )
            for _ in range(4)
        ]:
            process.wait(timeout=60)
        self.assertGreater(self.most_at_once(self.spans()), 2)

    def test_a_client_that_is_killed_frees_its_slots(self):
        self.serve("--policy", "mps", "--limit", 1)
        victim = self.start(self.launcher, 100000, env=self.launcher_env(5000000))
        deadline = time.monotonic() + 30
        while int(self.totals()["granted"]) == 0 and time.monotonic() < deadline:
            time.sleep(0.02)
        other = self.start(self.launcher, 20, env=self.launcher_env())
        time.sleep(0.1)
        victim.kill()
        victim.communicate()
        self.finish(other, timeout=30)
        totals = self.totals()
        self.assertEqual((totals["running"], totals["waiting"]), ("0", "0"))

    def test_programs_killed_at_any_time_harm_nobody(self):
        self.serve("--policy", "shark", "--limit", 2)
        survivor = self.start(self.launcher, 400, "launch", 2, env=self.launcher_env(50000))
        for i in range(12):
            victim = self.start(self.launcher, 100000, "all", 3, env={"FAKE_NS": "30000"})
            time.sleep(0.02 + 0.013 * i)
            victim.kill()
            victim.communicate()
        self.finish(survivor)
        deadline = time.monotonic() + 10
        while self.totals()["clients"] != "1" and time.monotonic() < deadline:
            time.sleep(0.05)
        totals = self.totals()
        self.assertEqual(
            (totals["clients"], totals["running"], totals["waiting"]), ("1", "0", "0"), "only the one that asks is left"
        )

    def test_policies_decide_by_profiles(self):
        self.file(
            "profiles.toml",
            """
[[kernel]]
application = "launcher"
name = "test_kernel"
time = "1 us"
l2 = "21 GB/s"
source = "made up"
""",
        )
        self.serve("--policy", "shark", "--profiles", "profiles.toml", "--log", "log")
        self.finish(self.start(self.launcher, 3, env=self.launcher_env()))
        self.stop()
        self.assertRegex(
            (self.folder / "log").read_text(),
            r"(?m)^[0-9]+ kernel 1 .*l2=21000000000 name=launcher/test_kernel <<<4, 64, 256>>>$",
        )
        self.fails(3, "corun", "serve", "--profiles", "nothing.toml", says="nothing.toml")

    def test_a_full_disk_ends_the_log_and_not_the_daemon(self):
        self.serve("--policy", "mps", "--log", "/dev/full", "--timeline", "/dev/full")
        self.finish(self.start(self.launcher, 1000, env=self.launcher_env(0)))
        self.finish(self.start(self.launcher, 1000, env=self.launcher_env(0)))
        self.daemon.send_signal(signal.SIGTERM)
        out, err = self.daemon.communicate(timeout=30)
        self.assertEqual(self.daemon.returncode, 1)
        self.daemon = None
        self.assertIn("2000 granted, 2000 ended", out)
        self.assertIn("[file-write]", err)

    def test_top_shows_clients_and_decisions(self):
        self.serve("--policy", "mps")
        program = self.start(self.launcher, 2000, env=self.launcher_env(1000000))
        deadline = time.monotonic() + 30
        while int(self.totals()["granted"]) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        out = self.ok("corun", "top", "--count", "2", "--interval", "0.1", "--decisions", "50").stdout
        self.assertEqual(out.count("policy mps  limit 8  clients 2"), 2)
        self.assertIn("launcher         test_kernel", out)
        self.assertRegex(out, r"(?m)^[0-9]+ grant [0-9]+$")
        now = json.loads(self.ok("corun", "top", "--json").stdout)
        self.assertEqual(now["total"]["corun.limit"]["value"], 8)
        self.assertEqual(now["total"]["corun.live.clients"]["value"], 2)
        application, client = now["kernels"]
        self.assertEqual(application["name"], "application launcher")
        self.assertRegex(client["name"], r"^\d+ launcher: test_kernel$")
        self.assertGreaterEqual(client["metrics"]["corun.live.granted"]["value"], 3)
        self.assertEqual(client["metrics"]["corun.live.granted"]["value"], now["total"]["corun.live.granted"]["value"])
        self.fails(2, "corun", "top", "--json", "--count", "3", says="--json")
        program.kill()
        program.communicate()

    def test_the_counts_of_a_daemon_as_json(self):
        self.serve("--policy", "shark", "--limit", 2, "--json=counts.json")
        program = self.start(self.launcher, 20, env=self.launcher_env(1000))
        program.communicate(timeout=60)
        self.assertIn("20 granted, 20 ended", self.stop())
        result = json.loads((self.folder / "counts.json").read_text())
        self.assertEqual({c["key"]: c["value"] for c in result["manifest"]["configuration"]}["policy"], "shark")
        self.assertEqual(result["total"]["corun.live.ended"]["value"], 20)
        self.assertEqual(result["total"]["corun.live.running"]["value"], 0)
        # What ran when, for the page; the client that ran it has gone.
        launches = result["kernels"][-1]["tables"]["launches"]
        self.assertEqual(len(launches["rows"]), 20)
        self.assertEqual(result["kernels"][-1]["metrics"]["corun.launches.left_out"]["value"], 0)
        for row in launches["rows"]:
            asked, granted, ended = row[5:8]
            self.assertTrue(asked <= granted <= ended, row)
        self.assertIn('data-kind="gantt"', self.ok("report", "counts.json", "--html").stdout)

    def test_a_daemon_that_is_killed_lets_everybody_run_on_and_a_new_one_takes_over(self):
        self.serve("--policy", "mps", "--limit", 1)
        programs = [self.start(self.launcher, 1500, env=self.launcher_env(1000000)) for _ in range(2)]
        time.sleep(0.5)
        self.stop(signal.SIGKILL)
        time.sleep(0.3)
        self.serve("--policy", "mps", "--limit", 1)
        deadline = time.monotonic() + 30
        while int(self.totals()["granted"]) == 0 and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertGreater(int(self.totals()["granted"]), 0, "they come back")
        for process in programs:
            self.finish(process)
        self.assertEqual(len(self.spans()), 3000, "no launch is lost, and none made twice")

    def test_strict_programs_wait_for_a_daemon(self):
        self.serve("--policy", "mps")
        program = self.start(self.launcher, 300, options=["--strict"], env=self.launcher_env(1000000))
        time.sleep(0.3)
        self.stop(signal.SIGKILL)
        time.sleep(0.2)
        before = len(self.spans())
        time.sleep(0.4)
        self.assertLessEqual(len(self.spans()) - before, 1)
        self.assertIsNone(program.poll())
        self.serve("--policy", "mps")
        self.finish(program)
        self.assertEqual(len(self.spans()), 300)

    def test_a_launch_that_waits_too_long_goes_ungated(self):
        self.serve("--policy", "mps", "--limit", 1)
        long = self.start(self.launcher, 1, env=self.launcher_env(4000000000))
        deadline = time.monotonic() + 30
        while int(self.totals()["granted"]) == 0 and time.monotonic() < deadline:
            time.sleep(0.02)
        begin = time.monotonic()
        self.finish(self.start(self.launcher, 1, options=["--wait-limit", "0.3"], env=self.launcher_env()))
        self.assertLess(time.monotonic() - begin, 3)
        self.finish(long)

    def test_a_child_of_a_program_is_a_client_of_its_own(self):
        self.serve("--policy", "mps")
        self.finish(self.start(self.launcher, 20, "fork", env=self.launcher_env()))
        self.assertEqual(self.totals()["granted"], "41")
        self.assertEqual(self.totals()["lost"], "0")

    def test_signals_are_the_programs(self):
        self.serve("--policy", "mps", "--limit", 1)
        program = self.start(self.launcher, 300, "launch", 4, env=self.launcher_env(300000))
        for _ in range(50):
            time.sleep(0.01)
            if program.poll() is None:
                # Before it has its handler the signal would end it: it has launched by now, if others are granted.
                if int(self.totals()["granted"]) > 0:
                    program.send_signal(signal.SIGUSR1)
        self.finish(program)
        self.assertEqual(self.totals()["granted"], "1200")

    def test_a_launch_that_the_runtime_refuses_gives_its_slot_back(self):
        self.serve("--policy", "mps", "--limit", 1)
        process = self.start(self.launcher, 5, env=self.launcher_env(FAKE_FAIL="1"))
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3)
        self.finish(self.start(self.launcher, 5, env=self.launcher_env()))
        self.assertEqual(self.totals()["running"], "0")

    def test_programs_that_are_not_gated_run_as_they_are(self):
        env = self.launcher_env(
            SIMTLAB_CORUN="off", LD_PRELOAD=str(pathlib.Path(SIMTLAB).parent.parent / "lib" / "libsimtlab_corun.so")
        )
        out = subprocess.run(
            [self.launcher, "100", "all", "3"], env=self.environment(env), capture_output=True, text=True, timeout=60
        )
        self.assertEqual(out.returncode, 0, out.stderr)
        self.assertIn("fine", out.stdout)

    def test_many_processes_and_launches(self):
        """Shortened: bench/corun_soak.py makes 100000 launches from 32 processes."""
        self.serve("--policy", "shark", "--limit", 4, "--timeline", "t.json", "--log", "log")
        processes = [self.start(self.launcher, 150, "launch", 2, env=self.launcher_env(20000)) for _ in range(16)]
        for process in processes:
            self.finish(process, timeout=240)
        spans = self.spans()
        self.assertEqual(len(spans), 16 * 150 * 2)
        self.assertLessEqual(self.most_at_once(spans), 4)
        self.assertIn("4800 launches asked for, 4800 granted, 4800 ended, 0 withdrawn, 0 lost", self.stop())
        self.assertIn("the same decisions as in the log", self.ok("corun", "replay", "log").stderr)
        chrome_trace.check((self.folder / "t.json").read_text())
        timeline = json.loads((self.folder / "t.json").read_text())
        self.assertEqual(sum(e.get("cat") == "launch" for e in timeline["traceEvents"]), 4800)
        self.assertEqual(
            sum(line.split()[1] == "grant" for line in (self.folder / "log").read_text().splitlines()[2:]), 4800
        )

    def test_exec_with_a_policy_starts_a_daemon_that_ends_by_itself_and_refuses_another_policy(self):
        program = self.start(self.launcher, 200, options=["--policy", "exclusive"], env=self.launcher_env(2000000))
        deadline = time.monotonic() + 30
        while not (self.run_directory / "socket").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(self.totals()["policy"], "exclusive")
        self.fails(
            2, "corun", "exec", "--policy", "mps", "--", str(self.launcher), says=["exclusive", "[corun-policy]"]
        )
        self.finish(program)
        deadline = time.monotonic() + 40
        while (self.run_directory / "socket").exists() and time.monotonic() < deadline:
            time.sleep(0.2)
        self.assertFalse((self.run_directory / "socket").exists())

    def test_what_cannot_work_is_said(self):
        self.fails(7, "corun", "exec", "--", str(self.launcher), says=["[corun-daemon]", "simtlab corun serve"])
        self.fails(7, "corun", "top", "--count", "1", says="[corun-daemon]")
        self.fails(2, "corun", "serve", "--policy", "sharc", says=["shark", "[corun-policy]"])
        self.fails(2, "corun", "exec", says="[run-what]")
        self.serve("--policy", "mps")
        self.fails(7, "corun", "serve", says="[corun-busy]")
        self.fails(3, "corun", "exec", "--", "./nothing", says="nothing")
        (self.folder / "open").mkdir(mode=0o755)
        self.fails(7, "corun", "serve", "--directory", str(self.folder.resolve() / "open"), says="[corun-directory]")
        (self.folder / "link").symlink_to(self.run_directory)
        self.fails(7, "corun", "serve", "--directory", str(self.folder.resolve() / "link"), says="symbolic link")


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

    def test_a_static_runtime_is_gated_on_a_board_by_the_driver_and_said_where_it_is_not(self):
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
            options=["--gpu", "titanx"],
            says=["it does not use the simulated GPU", "-cudart shared"],
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


@needs_clang
class Board(Live):
    """corun profile --device: a board (the mock driver), and programs whose launches are timed one at a time."""

    setUpClass = classmethod(OnFake.setUpClass.__func__)
    launcher_env = OnFake.launcher_env

    def profile(self, *args, expect=0, fault="", **env):
        driver = {"SIMTLAB_CUDA_DRIVER": str(MOCK), "SIMTLAB_MOCK_GPU": "v100", "SIMTLAB_MOCK_FAULT": fault}
        out = self.simtlab(
            "corun", "profile", *args, env=self.environment({**driver, **self.launcher_env(2000000), **env})
        )
        self.assertEqual(out.returncode, expect, out.stdout + out.stderr)
        return out

    def test_times_shapes_and_the_sequence_are_kept(self):
        out = self.profile(
            "--device",
            "0",
            "--database",
            "a.toml",
            "--application",
            "app",
            "--json=r.json",
            "--",
            self.launcher,
            6,
            "launch",
        )
        self.assertIn("| app | test_kernel | 6 |", out.stdout)
        kept = tomllib.loads((self.folder / "a.toml").read_text())
        (kernel,), (application,) = kept["kernel"], kept["application"]
        self.assertEqual(
            (kernel["grid"], kernel["block"], kernel["registers"], kernel["shared"]),
            ([4, 1, 1], [64, 1, 1], 32, "256 B"),
        )
        number, unit = kernel["time"].split()
        self.assertGreaterEqual(
            float(number) * {"s": 1e3, "ms": 1, "us": 1e-3}[unit], 2
        )  # and more, where others have the processors
        self.assertNotIn("l2", kernel)
        self.assertIn("V100", kernel["source"])
        self.assertEqual(application["sequence"], ["test_kernel"] * 6)
        (row,) = json.loads((self.folder / "r.json").read_text())["kernels"]
        self.assertEqual((row["launch"]["grid"], row["launch"]["launches"]), ([4, 1, 1], 6))

    def test_one_launch_runs_at_a_time_whatever_the_program_does(self):
        self.profile("--device", "0", "--database", "a.db", "--", self.launcher, 5, "all", 3)
        spans = sorted(
            tuple(map(int, line.split()[1:3])) for line in (self.folder / "fake.trace").read_text().splitlines()
        )
        self.assertGreater(len(spans), 100)
        for (_, end), (begin, _) in zip(spans, spans[1:]):
            self.assertGreaterEqual(begin, end)
        # What events cannot tell is missing, not made up.
        mixed = self.simtlab(
            "corun", "--profiles", "a.db", "--mix", "launcher,launcher", "--limit", "2", "--policy", "mps"
        )
        self.assertEqual(mixed.returncode, 3)
        self.assertIn("misses ipc, l2, dram, memory_stall", mixed.stderr)
        self.serve("--policy", "shortest-first", "--profiles", "a.db", "--log", "log")
        self.finish(self.start(self.launcher, 2, "launch", env=self.launcher_env()))
        self.stop()
        self.assertRegex(
            (self.folder / "log").read_text().split(" launch ")[0],
            r"kernel 1 known time=\d{7,}[.\d]* name=launcher/test_kernel <<<4, 64, 256>>>",
            "known before it is launched",
        )

    def test_what_was_there_stays_and_what_fails_keeps_nothing(self):
        self.profile("--device", "0", "--database", "a.csv", "--application", "one", "--", self.launcher, 2, "launch")
        self.profile("--device", "0", "--database", "a.csv", "--application", "two", "--", self.launcher, 2, "driver")
        before = (self.folder / "a.csv").read_text()
        self.assertIn("one,", before)
        self.assertRegex(
            before, r'(?m)^two,"driver_kernel <<<4, 64, 256>>>",4x1x1,64x1x1,32,256,.*,launcher,[0-9a-f]{16}$'
        )
        for message, status, args, env in (
            ("ended with status", 5, (self.launcher, 2, "launch"), {"FAKE_FAIL": "1"}),
            ("there is nothing to profile", 3, (self.launcher, 0), {}),
            ("ended by signal 9", 5, ("sh", "-c", "kill -9 $$"), {}),
        ):
            with self.subTest(message):
                self.assertIn(
                    message,
                    self.profile("--device", "0", "--database", "a.csv", "--", *args, expect=status, **env).stderr,
                )
        self.assertEqual((self.folder / "a.csv").read_text(), before)

    def test_without_a_board_or_with_options_of_the_simulator_it_says_so(self):
        self.assertIn(
            "board-none",
            self.profile(
                "--device", "0", "--database", "a.db", "--", self.launcher, 1, expect=7, fault="no-device"
            ).stderr,
        )
        self.assertIn(
            "there is: 0 (",
            self.profile("--device", "7", "--database", "a.db", "--", self.launcher, 1, expect=7).stderr,
        )
        self.assertIn(
            "--gpu has no effect on profiles on a real board",
            self.profile(
                "--device", "0", "--gpu", "v100", "--database", "a.db", "--", self.launcher, 1, expect=2
            ).stderr,
        )
        self.assertIn(
            "compiled already", self.profile("--device", "0", "--database", "a.db", "app.cu", expect=2).stderr
        )
        self.assertFalse((self.folder / "a.db").exists())


class Simulated(Live):
    def test_programs_on_simulated_gpus_of_their_own_are_gated(self):
        self.file("app.cu", PROGRAM)
        self.ok("build", "app.cu", "-o", "app")
        for policy in ("mps", "exclusive"):
            with self.subTest(policy):
                self.serve("--policy", policy, "--limit", 1 if policy == "exclusive" else 8, "--log", "log")
                for process in [self.start("./app", options=["--gpu", "rtx2060"]) for _ in range(2)]:
                    self.assertEqual(self.finish(process), "a 256 b 64\n")
                self.assertIn("26 launches asked for, 26 granted, 26 ended", self.stop())
                log = (self.folder / "log").read_text()
                self.assertIn("name=app/_Z5scalePfi <<<4, 256, 0>>>", log)
                ends = [line for line in log.splitlines() if len(line.split()) > 1 and line.split()[1] == "end"]
                self.assertTrue(
                    ends and all(int(line.split("gpu=")[1].split()[0]) > 0 for line in ends), "simulated time of each"
                )

    def kernel_times(self):
        log = (self.folder / "log").read_text()
        return [
            int(line.split("gpu=")[1].split()[0])
            for line in log.splitlines()
            if len(line.split()) > 1 and line.split()[1] == "end"
        ]

    def test_programs_share_one_simulated_gpu_and_slow_each_other(self):
        self.file("app.cu", SHARED)
        self.ok("build", "app.cu", "-o", "app")
        means = {}
        for name, programs, limit in (("alone", 1, 8), ("together", 2, 8), ("in turns", 2, 1)):
            self.serve(
                "--policy", "mps", "--limit", limit, "--device", "sim:titanx", "--log", "log", "--patience", "60"
            )
            for ready in self.folder.glob("ready-*"):
                ready.unlink()
            for process in [
                self.start("./app", env={"NUMBER": str(i), "PROGRAMS": str(programs)}) for i in range(programs)
            ]:
                self.assertEqual(self.finish(process), "fine\n")
            out = self.stop()
            self.assertIn(
                f"device titanx: {6 * programs} launches, {6 * programs} ended, 0 of them for nobody, 0 failed", out
            )
            times = self.kernel_times()
            self.assertEqual(len(times), 6 * programs)
            means[name] = sum(times) / len(times)
        self.assertGreater(means["together"], 1.2 * means["alone"])
        self.assertLess(means["in turns"], 1.1 * means["alone"])

    def test_a_killed_program_leaves_the_shared_gpu_to_the_others(self):
        self.file("app.cu", SHARED)
        self.ok("build", "app.cu", "-o", "app")
        self.serve("--policy", "mps", "--limit", 8, "--device", "sim:titanx")
        victim, other = self.start("./app"), self.start("./app")
        time.sleep(0.7)
        victim.kill()
        victim.communicate()
        self.assertEqual(self.finish(other), "fine\n")
        self.assertEqual(self.finish(self.start("./app")), "fine\n")
        self.fails(2, "corun", "exec", "--gpu", "h100", "--", "./app", says=["titanx", "[corun-options]"])

    def test_an_extension_of_python_is_gated_and_its_values_are_right(self):
        self.file(
            "ext.cu",
            """
__global__ void add(int* x) { *x += 1; }
extern "C" int go(int n) {
  int *d, h = 0;
  cudaMalloc(&d, sizeof h); cudaMemset(d, 0, sizeof h);
  for (int i = 0; i < n; ++i) add<<<1, 1>>>(d);
  const cudaError_t code = cudaGetLastError();
  cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
  return code != cudaSuccess ? -static_cast<int>(code) : h;
}
""",
        )
        self.ok("build", "ext.cu", "-o", "libext.so", "-shared", "-Xcompiler", "-fPIC")
        script = "import ctypes; print('value', ctypes.CDLL('./libext.so').go(5))"
        for options, serve, env, says in (
            (["--gpu", "titanx"], (), None, "5 launches gated, 0 not"),
            ([], ("--device", "sim:titanx"), None, "5 launches gated, 0 not"),
            (["--gpu", "titanx"], (), {"SIMTLAB_CORUN": "off"}, "0 launches gated, 5 not"),
        ):
            with self.subTest(serve=serve, env=env):
                self.serve("--policy", "mps", *serve)
                process = self.start(sys.executable, "-c", script, options=options, env=env)
                out, err = process.communicate(timeout=120)
                self.assertEqual((process.returncode, out), (0, "value 5\n"), err)
                self.assertIn(says, err)
                self.stop()

    @unittest.skipUnless(shutil.which("nvcc"), "nvcc is not installed")
    def test_nvidias_static_runtime_behind_a_script_is_noticed(self):
        self.file(
            "s.cu",
            "__global__ void k() {}\nint main() { k<<<1, 1>>>(); return cudaDeviceSynchronize() == cudaSuccess; }\n",
        )
        subprocess.run(
            ["nvcc", "-cudart", "static", "s.cu", "-o", "static"],
            cwd=self.folder,
            env={**os.environ, "HOME": str(self.folder)},
            check=True,
            capture_output=True,
        )
        self.file("wrapper.sh", "#!/bin/sh\n./static\n").chmod(0o755)
        self.serve("--policy", "mps")
        for options, says in (
            ([], "the CUDA runtime is linked in statically"),
            (["--gpu", "titanx"], "it does not use the simulated GPU"),
        ):
            _, err = self.start("./wrapper.sh", options=options).communicate(timeout=60)
            self.assertRegex(err, r"static \(process \d+\): .*" + says if not options else says)

    def lost(self, command, *args, kill_after=0.3):
        """Codes by call of a program whose shared GPU is killed; what it said."""
        for sign in ("ready", "go"):
            (self.folder / sign).unlink(missing_ok=True)
        self.serve("--policy", "mps", "--device", "sim:titanx", "--patience", "60")
        process = self.start(command, *args)
        deadline = time.monotonic() + 60
        while not (self.folder / "ready").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertTrue((self.folder / "ready").exists(), process.stderr.read() if process.poll() is not None else "")
        time.sleep(kill_after)
        self.stop(signal.SIGKILL)
        self.file("go", "")
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, "it ignores its errors, and its status is its own: " + err)
        return [(call, int(code)) for call, _, code in (line.rpartition("=") for line in out.splitlines())], err

    def test_a_lost_shared_gpu_fails_every_call(self):
        self.file("lost.cu", (HERE / "lost.cu").read_text())
        self.ok("build", "lost.cu", "-o", "lost")
        for when in ("idle", "busy"):
            with self.subTest(when):
                codes, err = self.lost("./lost", when)
                self.assertGreater(len(codes), 40)
                # cudaErrorMpsRpcFailure: the server of a shared GPU is gone. Nothing brings it back, a reset neither.
                self.assertEqual([c for c in codes if c[1] != 806], [])
                self.assertIn("the shared GPU: it is gone with its daemon", err)
                self.assertIn("[corun-device]", err)

    def test_a_lost_shared_gpu_fails_every_call_of_opencl(self):
        if not (
            LOADER and os.path.exists("/usr/include/CL/cl.h") and os.path.exists("/usr/lib/clc/nvptx64--nvidiacl.bc")
        ):
            self.skipTest("OpenCL's loader, its headers or libclc are not installed")
        subprocess.run(["gcc", "-O1", "-w", HERE / "lost.c", "-o", self.folder / "lost-opencl", "-lOpenCL"], check=True)
        for when in ("idle", "busy"):
            with self.subTest(when):
                codes, err = self.lost("./lost-opencl", when)
                self.assertGreater(len(codes), 15)
                self.assertEqual([c for c in codes if c[1] == 0], [])
                self.assertIn("the shared GPU: it is gone with its daemon", err)
                self.assertRegex(err, r"0 launches gated, \d not\n")
                self.assertIn("launches of OpenCL are not gated", err)


if __name__ == "__main__":
    main()
