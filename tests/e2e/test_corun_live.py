"""simtlab corun serve, exec and top with real processes: every form of a launch, limits, deaths of both sides, forks, many at once."""
import json
import pathlib
import signal
import socket
import struct
import subprocess
import threading
import time

import chrome_trace
from corun_live_scene import OnFake
from harness import SIMTLAB, main


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

    def test_policy_and_limit_change_while_programs_wait(self):
        self.serve("--policy", "exclusive", "--limit", 1, "--log", "log", "--json=counts.json")
        programs = [self.start(self.launcher, 200, env=self.launcher_env(1000000)) for _ in range(3)]
        deadline = time.monotonic() + 30
        while int(self.totals()["granted"]) < 5 and time.monotonic() < deadline:
            time.sleep(0.02)
        out = self.ok("corun", "set", "--policy", "shark-aging", "--limit", 2, "--aging", 9).stdout
        self.assertRegex(
            out, r"before: policy exclusive limit=1 .*\nnow:    policy shark-aging limit=2 light=1 aging=9 "
        )
        now = self.totals()
        self.assertEqual((now["policy"], now["limit"]), ("shark-aging", "2"))
        self.assertIn("as before: policy shark-aging", self.ok("corun", "set", "--limit", 2).stdout)
        for args, error, says in (
            (("--policy", "sharc"), "corun-policy", ["sharc", "shark-aging", "goes on as before"]),
            (("--quantum", 5), "option-conflict", "--quantum has no effect on shark-aging"),
            (("--limit", 0), "option-value", "--limit"),
            (("--agin", 5), "option-unknown", "--aging"),
            ((), "corun-options", "nothing is given"),
        ):
            self.fails(2, "corun", "set", *args, says=[f"[{error}]", *([says] if isinstance(says, str) else says)])
        for program in programs:
            self.finish(program)
        self.assertGreater(self.most_at_once(self.spans()), 1)
        self.assertIn("policy and limit are the last ones: they were changed 1 times", self.stop())
        log = (self.folder / "log").read_text()
        self.assertRegex(log, r"(?m)^[0-9]+ policy shark-aging limit=2 light=1 aging=9 ")
        self.assertEqual(log.count("policy"), 2)
        self.assertIn("the same decisions as in the log", self.ok("corun", "replay", "log").stderr)
        result = json.loads((self.folder / "counts.json").read_text())
        self.assertEqual(result["total"]["corun.live.adjusted"]["value"], 1)
        self.assertEqual(result["total"]["corun.live.ended"]["value"], 600)
        self.assertEqual({c["key"]: c["value"] for c in result["manifest"]["configuration"]}["policy"], "shark-aging")

    def test_setting_a_daemon_that_is_not_there_is_stopped_or_of_another_version(self):
        self.fails(7, "corun", "set", "--limit", 2, says=["[corun-daemon]", "simtlab corun serve"])
        self.serve("--policy", "mps")
        self.daemon.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        self.fails(7, "corun", "set", "--limit", 2, says=["[corun-daemon]", "does not answer"])
        self.assertLess(time.monotonic() - began, 20)
        self.daemon.send_signal(signal.SIGCONT)
        self.assertEqual(self.totals()["limit"], "8")
        self.assertNotIn("changed", self.stop())
        # One of version 4, which refuses in its own words.
        server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(server.close)
        server.bind(str(self.run_directory / "socket"))
        server.listen()
        text = b"of another version"
        body = struct.pack("<HH", 2, len(text)) + text
        old = struct.pack("<IHHII", 0x52434C53, 4, 11, 16 + len(body), 0) + body

        def answer():
            peer = server.accept()[0]
            peer.recv(8192)
            peer.send(old)
            peer.close()

        thread = threading.Thread(target=answer)
        thread.start()
        self.fails(7, "corun", "set", "--limit", 2, says=["[corun-daemon]", "no daemon of this version"])
        thread.join()

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


if __name__ == "__main__":
    main()
