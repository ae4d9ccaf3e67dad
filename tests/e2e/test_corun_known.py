"""What the daemon of live co-runs knows, says and keeps: profiles by program, kernel and shape; kernels that a policy knows nothing of; clients that
do nothing; results of clients that left; times of a simulated GPU; settings that do not fit.
"""
import json
import os
import re
import shutil
import signal
import time
import tomllib
import unittest

import corun_live_scene
from harness import main, needs_clang

# Two programs with a kernel of one name: one with much traffic, one that computes.
HEAVY = r"""
#include <cstdio>
__global__ void work(float* x, int n) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] += 1; }
int main() {
  float* x;
  cudaMalloc(&x, 4 << 20);
  for (int i = 0; i < 4; ++i) work<<<48, 256>>>(x, 1 << 20);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""
LIGHT = r"""
#include <cstdio>
__global__ void work(float* x, int n) {
  float y = threadIdx.x;
  for (int i = 0; i < n; ++i) y = y * .5f + .5f;
  x[threadIdx.x] = y;
}
int main() {
  float* x;
  cudaMalloc(&x, 4 << 20);
  for (int i = 0; i < 4; ++i) work<<<48, 256>>>(x, 200);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""
SHAPES = r"""
__global__ void add(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }
int main(int argc, char**) {
  float* x;
  cudaMalloc(&x, 1 << 20);
  for (int i = 0; i < 3; ++i) {
    add<<<64, 256>>>(x, 1 << 14);
    if (argc > 1) add<<<60, 256>>>(x, 1 << 14);
    else add<<<512, 128, 1024>>>(x, 1 << 16);
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""


def number_after(key, line):
    return float(line.split(f"{key}=")[1].split()[0])


@needs_clang
class Profiles(corun_live_scene.Live):
    """On simulated GPUs."""

    def setUp(self):
        super().setUp()
        (self.folder / "dir").mkdir()
        for name, text in (("heavy", HEAVY), ("light", LIGHT), ("shapes", SHAPES)):
            self.file(f"{name}.cu", text)
            self.ok("build", f"{name}.cu", "-o", name)

    def profile(self, database, *command):
        self.ok("corun", "profile", "--database", database, "--gpu", "titanx", "-q", "--", *command)

    def kernels_of(self, database, *commands, policy="shark", said=()):
        """The first line of the log for each kernel, by its name, after these programs ran: what was known when it came."""
        self.serve("--policy", policy, "--profiles", database, "--log", "log")
        for command in commands:
            self.finish(self.start(*command, options=["--gpu", "titanx"]))
        self.daemon.send_signal(signal.SIGTERM)
        out, err = self.daemon.communicate(timeout=30)
        self.daemon = None
        for text in said:
            self.assertIn(text, err)
        if not said:
            self.assertNotIn("note:", err)
            self.assertNotIn("was not known", out)
        lines = [line for line in (self.folder / "log").read_text().splitlines() if line.split()[1:2] == ["kernel"]]
        return {line.split(" name=")[1]: line for line in reversed(lines)}

    def test_each_program_gets_its_own_profile_whatever_form_the_file_has(self):
        name = "_Z4workPfi <<<48, 256, 0>>>"
        for database in ("p.toml", "p.csv", "p.db"):
            with self.subTest(database):
                self.profile(database, "./heavy")
                self.profile(database, "./light")
                found = self.kernels_of(database, ["./light"], ["./heavy"])
                light, heavy = found[f"light/{name}"], found[f"heavy/{name}"]
                self.assertGreater(number_after("l2", heavy), 2 * number_after("l2", light))
                self.assertNotIn("near", light + heavy)

    def test_without_profiles_a_simulated_gpu_learns_them(self):
        self.profile("p.toml", "./heavy")
        self.serve("--policy", "shark", "--device", "sim:titanx", "--learn", "--log", "log")
        for _ in range(2):
            process = self.start("./heavy")
            _, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0)
            self.assertNotIn("note:", err)
        self.assertEqual(
            json.loads(self.ok("corun", "top", "--json").stdout)["total"]["corun.live.kernels.unknown"]["value"], 0
        )
        self.assertNotIn("was not known", self.stop())
        log = (self.folder / "log").read_text()
        self.assertIn("the same decisions", self.ok("corun", "replay", "log").stderr)
        lines = [line for line in log.splitlines() if " kernel 1 " in line]
        self.assertNotIn(" known ", lines[0])
        with open(self.folder / "p.toml", "rb") as file:
            known = tomllib.load(file)["kernel"][0]
        # It ran alone: as its profile has it, whose first launch is one of four, too.
        self.assertAlmostEqual(number_after("l2", lines[-1]) / 1e9 / float(known["l2"].split()[0]), 1, delta=0.3)
        self.assertIn(" stall=", lines[-1])
        self.fails(2, "corun", "serve", "--policy", "shark", "--learn", says="--learn requires --device")
        self.fails(2, "corun", "live", "--applications", "a.toml", "--learn", says="--learn requires --device")

    def test_names_paths_and_copies(self):
        name = "_Z4workPfi <<<48, 256, 0>>>"
        shutil.copy(self.folder / "light", self.folder / "dir" / "light.v2")
        shutil.copy(self.folder / "heavy", self.folder / "dir" / "light")
        self.profile("p.db", "./light")
        here = self.kernels_of("p.db", [self.folder.resolve() / "light"])
        self.assertIn(" known ", here[f"light/{name}"])
        renamed = self.kernels_of("p.db", ["dir/light.v2"])
        self.assertIn(" known ", renamed[f"light.v2/{name}"], "the same file")
        other = self.kernels_of(
            "p.db",
            ["dir/light"],
            said=["another program of the name light", f"kernel light/{name} the L2 bandwidth is not known"],
        )
        self.assertNotIn(" known ", other[f"light/{name}"], "another file of that name")
        self.profile("p.db", "dir/light.v2")
        both = self.ok("corun", "profiles", "p.db").stdout
        for application in ("| light |", "| light.v2 |"):
            self.assertIn(application, both)

    def test_a_source_and_what_is_built_of_it_are_one_program(self):
        self.ok("corun", "profile", "--database", "p.toml", "--gpu", "titanx", "-q", "light.cu")
        self.assertNotIn("content", (self.folder / "p.toml").read_text())
        found = self.kernels_of("p.toml", ["./light"])
        self.assertIn(" known ", found["light/_Z4workPfi <<<48, 256, 0>>>"])

    def test_files_without_programs_are_read_and_only_their_own_application_is_found(self):
        self.file("old.toml", '[[kernel]]\napplication = "heavy"\nname = "work"\nl2 = "75 GB/s"\ntime = "5 us"\n')
        found = self.kernels_of(
            "old.toml",
            ["./heavy"],
            ["./light"],
            said=["kernel light/_Z4workPfi <<<48, 256, 0>>> the L2 bandwidth is not known"],
        )
        self.assertIn("l2=75000000000", found["heavy/_Z4workPfi <<<48, 256, 0>>>"])
        self.assertNotIn(" known ", found["light/_Z4workPfi <<<48, 256, 0>>>"])

    def test_a_kernel_of_two_shapes_has_two_profiles_and_a_third_shape_the_nearest(self):
        self.profile("p.csv", "./shapes")
        found = self.kernels_of("p.csv", ["./shapes"], ["./shapes", "x"])
        small, large, third = (
            found[f"shapes/_Z3addPfi <<<{shape}>>>"] for shape in ("64, 256, 0", "512, 128, 1024", "60, 256, 0")
        )
        self.assertNotEqual(number_after("l2", small), number_after("l2", large))
        self.assertIn(" known near ", third)
        self.assertEqual(number_after("l2", third), number_after("l2", small))
        again = self.ok("corun", "replay", "log")
        self.assertIn("the same decisions as in the log", again.stderr)

    def test_times_are_learnt_of_each_program_and_shape(self):
        self.serve("--policy", "shortest-first", "--log", "log", "--json=r.json")
        for program in ("./light", "./heavy", "./shapes"):
            self.finish(self.start(program, options=["--gpu", "titanx"]))
        self.stop()
        log = (self.folder / "log").read_text()
        times = {
            line.split(" name=")[1]: number_after("time", line) for line in log.splitlines() if " known time=" in line
        }
        self.assertEqual(len(times), 4, log)
        self.assertEqual(len(set(times.values())), 4, "each its own")
        # What the simulator says of the same kernels: the cost of a launch is not in it.
        self.profile("p.toml", "./light")
        simulated = self.kernels_of("p.toml", ["./light"])["light/_Z4workPfi <<<48, 256, 0>>>"]
        self.assertAlmostEqual(
            times["light/_Z4workPfi <<<48, 256, 0>>>"] / number_after("time", simulated), 1, delta=0.2
        )
        result = json.loads((self.folder / "r.json").read_text())
        rows = {row["name"]: row["metrics"] for row in result["kernels"]}
        self.assertEqual(rows["application light"]["corun.live.ended"]["value"], 4)
        self.assertEqual(rows["application light"]["corun.live.clients"]["value"], 0, "it has left")
        self.assertAlmostEqual(rows["application light"]["corun.slowdown.gpu_time"]["value"], 1, delta=0.2)
        self.assertAlmostEqual(result["total"]["corun.antt.gpu_time"]["value"], 1, delta=0.2)
        self.assertAlmostEqual(result["total"]["corun.stp.gpu_time"]["value"], 3, delta=0.6)

    def test_the_picture_of_a_shared_gpu_is_on_its_clock(self):
        self.serve(
            "--policy",
            "mps",
            "--limit",
            "1",
            "--device",
            "sim:titanx",
            "--patience",
            "60",
            "--timeline",
            "t.json",
            "--json=r.json",
        )
        for program in [self.start("./heavy"), self.start("./light")]:
            self.finish(program)
        self.stop()
        events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        launches = sorted((e for e in events if e.get("cat") == "launch"), key=lambda e: e["ts"])
        self.assertEqual(len(launches), 8)
        for one in launches:
            self.assertAlmostEqual(one["dur"], one["args"]["gpu_us"], delta=0.002, msg="simulated time in both")
        for one, following in zip(launches, launches[1:]):
            self.assertGreaterEqual(following["ts"] + 0.002, one["ts"] + one["dur"], "one at a time")
        self.assertLess(launches[-1]["ts"] + launches[-1]["dur"], 2000, "microseconds on the GPU, not of the wall")
        table = json.loads((self.folder / "r.json").read_text())["kernels"][-1]["tables"]["launches"]["rows"]
        self.assertEqual(sorted(row[7] for row in table)[-1], max(round((e["ts"] + e["dur"]) * 1000) for e in launches))


class Said(corun_live_scene.Live):
    """On a stand-in for CUDA."""

    setUpClass = classmethod(corun_live_scene.OnFake.setUpClass.__func__)
    launcher_env = corun_live_scene.OnFake.launcher_env
    spans = corun_live_scene.OnFake.spans

    def note_of(self, *args):
        self.serve(*args)
        self.daemon.send_signal(signal.SIGTERM)
        err = self.daemon.stderr.read()  # communicate() loses what came along with the first line
        self.daemon.communicate(timeout=30)
        self.daemon = None
        return err

    def test_each_policy_says_what_it_lacks_and_the_others_nothing(self):
        needs = {
            "shark": "L2 bandwidth",
            "shark-aging": "L2 bandwidth",
            "bandwidth-budget": "L2 bandwidth, DRAM bandwidth",
            "complementary": "memory stalls",
            "shortest-first": "time",
            "fair": "time",
            "mps": None,
            "exclusive": None,
            "round-robin": None,
            "priority": None,
        }
        for policy, what in needs.items():
            with self.subTest(policy):
                err = self.note_of("--policy", policy)
                if what is None:
                    self.assertNotIn("note:", err)
                else:
                    self.assertEqual(
                        err.count(f"policy {policy} decides by the {what} of kernels, and the daemon has no profiles"),
                        1,
                        err,
                    )
                    self.assertEqual("times are learnt" in err, what == "time", err)

    def test_exec_top_the_summary_and_the_counts_say_it_too(self):
        self.serve("--policy", "shark", "--json=r.json", "--log", "log")
        first = self.start(self.launcher, 3, env=self.launcher_env())
        out, err = first.communicate(timeout=60)
        self.assertEqual(first.returncode, 0, out + err)
        self.assertIn("order of arrival", err)
        quiet = self.start(self.launcher, 3, options=["--quiet"], env=self.launcher_env())
        self.assertEqual(quiet.communicate(timeout=60)[1], "")
        top = self.ok("corun", "top", "--count", "1").stdout
        self.assertIn("1/1  launcher", top)
        self.assertIn(
            "of 1 of 1 kernels the L2 bandwidth is not known (first launcher/test_kernel <<<4, 64, 256>>>)", top
        )
        self.assertIn("of 1 of 1 kernels the L2 bandwidth was not known to policy shark", self.stop())
        total = json.loads((self.folder / "r.json").read_text())["total"]
        self.assertEqual(total["corun.live.kernels.unknown"]["value"], 1)
        self.assertIn(
            "note: policy shark decides by the L2 bandwidth of kernels, which 1 of 1 kernels lack",
            self.ok("corun", "replay", "log").stderr,
        )
        self.assertNotIn("note:", self.ok("corun", "replay", "log", "--policy", "mps").stderr)

    def test_what_programs_did_stays_when_they_have_left(self):
        self.serve("--policy", "mps", "--json=r.json")
        shutil.copy(self.launcher, self.launcher.parent / "another")
        for program, launches in ((self.launcher, 7), (self.launcher, 5), (self.launcher.parent / "another", 3)):
            self.finish(self.start(program, launches, env=self.launcher_env(1000000)))
        now = json.loads(self.ok("corun", "top", "--json").stdout)
        shown = self.ok("corun", "top", "--count", "1").stdout
        figures = re.search(
            r"of 3 processes, time on the GPU: ANTT ([\d.]+), STP ([\d.]+), speed-up against alone ([\d.]+)", shown
        )
        antt, stp, speedup = (float(v) for v in figures.groups())
        self.assertAlmostEqual(now["total"]["corun.speedup_solo.gpu_time"]["value"], speedup, places=3)
        self.assertLessEqual(1 / antt, speedup + 0.001)  # harmonic, geometric and arithmetic mean
        self.assertLessEqual(speedup, stp / 3 + 0.001)
        self.stop()
        for result in (now, json.loads((self.folder / "r.json").read_text())):
            rows = {row["name"]: row["metrics"] for row in result["kernels"]}
            launcher, another = rows["application launcher"], rows["application another"]
            self.assertEqual(
                [launcher[f"corun.live.{k}"]["value"] for k in ("processes", "clients", "granted", "ended", "lost")],
                [2, 0, 12, 12, 0],
            )
            self.assertEqual(another["corun.live.ended"]["value"], 3)
            self.assertGreaterEqual(launcher["corun.live.gpu_time"]["value"], 12e6)
            self.assertGreaterEqual(launcher["corun.slowdown.gpu_time"]["value"], 0.2)

    @unittest.skipUnless(os.geteuid() == 0, "a directory of another user is made by root alone")
    def test_a_daemon_of_another_user_is_not_called_absent(self):
        (self.folder / "theirs").mkdir(mode=0o700)
        os.chown(self.folder / "theirs", 12345, 12345)
        self.fails(7, "corun", "top", "--directory", "theirs", says="is another user's")
        self.fails(7, "corun", "exec", "--directory", "theirs", "--", self.launcher, says="is another user's")
        self.fails(7, "corun", "top", "--directory", "absent", says="no daemon answers in")

    def test_a_stopped_client_is_passed_over_and_comes_back(self):
        self.serve("--policy", "mps", "--limit", 1, "--grant-limit", "0.5", "--log", "log", "--json=r.json")
        holder = self.start(self.launcher, 40, env=self.launcher_env(20000000))
        deadline = time.monotonic() + 30
        while int(self.totals()["granted"]) < 5 and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(holder.pid, signal.SIGSTOP)
        other = self.start(self.launcher, 20, env=self.launcher_env())
        self.finish(other, timeout=60)
        self.assertIsNone(holder.poll())
        os.kill(holder.pid, signal.SIGCONT)
        self.finish(holder, timeout=60)
        self.assertEqual(len(self.spans()), 60, "each launch was made, and none twice")
        self.daemon.send_signal(signal.SIGTERM)
        out, err = self.daemon.communicate(timeout=30)
        self.daemon = None
        self.assertIn("60 launches asked for, 60 granted, 60 ended, 0 withdrawn, 0 lost", out)
        self.assertIn("passed over 1 times", out)
        self.assertRegex(
            err, r"note: client \d+ \(launcher, process \d+\) holds a grant and does nothing: it is passed over"
        )
        self.assertIn("does something again", err)
        log = (self.folder / "log").read_text()
        self.assertRegex(log, r"(?m)^\d+ pass \d+$")
        self.assertRegex(log, r"(?m)^\d+ back \d+$")
        self.assertIn("the same decisions as in the log", self.ok("corun", "replay", "log").stderr)
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["total"]["corun.live.passed"]["value"], 1)

    def test_a_long_kernel_is_not_a_client_that_does_nothing(self):
        self.serve("--policy", "mps", "--limit", 1, "--grant-limit", "0.5")
        long = self.start(self.launcher, 1, env=self.launcher_env(3000000000))
        deadline = time.monotonic() + 30
        while int(self.totals()["granted"]) == 0 and time.monotonic() < deadline:
            time.sleep(0.02)
        self.finish(self.start(self.launcher, 1, env=self.launcher_env()))
        self.finish(long)
        self.assertNotIn("passed over", self.stop())

    def test_settings_of_policies_and_of_a_daemon_that_has_others(self):
        self.serve("--policy", "shark-aging", "--limit", "3", "--light", "1", "--aging", "4", "--log", "log")
        self.fails(
            2,
            "corun",
            "exec",
            "--policy",
            "shark-aging",
            "--limit",
            "8",
            "--",
            str(self.launcher),
            "1",
            says=["a limit of 3, not 8", "[corun-options]"],
        )
        self.fails(2, "corun", "exec", "--limit", "8", "--", str(self.launcher), "1", says="a limit of 3, not 8")
        self.fails(
            2,
            "corun",
            "exec",
            "--priority",
            "1",
            "--",
            str(self.launcher),
            "1",
            says="--priority has no effect under the daemon's policy shark-aging",
        )
        self.finish(
            self.start(self.launcher, 1, options=["--policy", "shark-aging", "--limit", "3"], env=self.launcher_env())
        )
        self.stop()
        self.assertIn("policy shark-aging limit=3 light=1 aging=4 ", (self.folder / "log").read_text())
        self.fails(2, "corun", "serve", "--policy", "mps", "--light", "1", says="--light has no effect on mps")
        self.fails(2, "corun", "serve", "--grant-limit", "0.1", says="--grant-limit 0.1 is neither 0 nor from 0.5")
        self.serve("--policy", "priority", "--log", "log")
        self.finish(self.start(self.launcher, 1, options=["--priority", "3"], env=self.launcher_env()))
        self.finish(self.start(self.launcher, 1, env=self.launcher_env()))
        self.stop()
        self.assertRegex((self.folder / "log").read_text(), r"join 2 priority=3\n(.*\n)*.*join \d+ priority=0\n")


if __name__ == "__main__":
    main()
