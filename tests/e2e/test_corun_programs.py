"""simtlab corun live: mixes of real programs, started, judged and printed as the mixes of the models are."""
import json
import signal
import subprocess
import time

import test_corun_known
import corun_live_scene
from harness import SIMTLAB, Case, main, needs_clang


class Programs:
    def applications(self, **programs):
        text = ""
        for name, command in programs.items():
            run, *arguments = command
            text += f'[[application]]\nname = "{name}"\nrun = "{run}"\narguments = {json.dumps(arguments)}\n'
        (self.folder / "apps.toml").write_text(text)

    def rows(self, *arguments, **kw):
        result = json.loads(
            self.ok("corun", "live", "--applications", "apps.toml", *arguments, "--json", "-q", **kw).stdout
        )
        return {k["name"]: {n: m["value"] for n, m in k["metrics"].items()} for k in result["kernels"]}


@needs_clang
class Simulated(Programs, corun_live_scene.Live):
    def setUp(self):
        super().setUp()
        for name, text in (("heavy", test_corun_known.HEAVY), ("light", test_corun_known.LIGHT)):
            self.file(f"{name}.cu", text)
            self.ok("build", f"{name}.cu", "-o", name)
        self.applications(heavy=["heavy"], light=["light"])

    def test_a_mix_on_a_shared_gpu_is_judged_in_simulated_time(self):
        self.ok("corun", "profile", "--database", "p.db", "--gpu", "titanx", "-q", "--", "./heavy")
        self.ok("corun", "profile", "--database", "p.db", "--gpu", "titanx", "-q", "--", "./light")
        arguments = (
            "--device",
            "sim:titanx",
            "--patience",
            "20",
            "--mix",
            "heavy,heavy,light",
            "--policy",
            "mps,shark",
        )
        rows = self.rows(*arguments, "--limit", "1,2", "--profiles", "p.db")
        for policy in ("mps", "shark"):
            one, two = (rows[f"{policy} of 3, limit {limit}, mix 1"] for limit in (1, 2))
            self.assertAlmostEqual(one["corun.antt.gpu_time"], 1, delta=0.03)  # one launch at a time: as alone
            self.assertGreater(one["corun.antt.turnaround"], 1.5)
            self.assertGreater(two["corun.antt.gpu_time"], 1.05)  # two of them share DRAM
            self.assertLess(two["corun.makespan"], one["corun.makespan"])
            for limit in (1, 2):
                its = [v for n, v in rows.items() if n.startswith(f"{policy} of 3, limit {limit}, mix 1: ")]
                self.assertEqual([m["corun.launches"] for m in its], [4, 4, 4])
                slowdowns = [m["corun.time.together"] / m["corun.time.alone"] for m in its]
                whole = rows[f"{policy} of 3, limit {limit}, mix 1"]
                self.assertAlmostEqual(sum(slowdowns) / 3, whole["corun.antt.gpu_time"])
                self.assertLess(whole["corun.makespan"], 1e7)  # of the simulated clock


class Refused(Programs, Case):
    def setUp(self):
        super().setUp()
        self.folder.chmod(0o700)
        for name, text in (("failing", "import sys\nsys.exit(7)\n"), ("idle", "")):
            self.file(name, f"#!/usr/bin/env python3\n{text}").chmod(0o755)
        self.applications(heavy=["idle"], light=["idle"], failing=["failing"])

    def test_what_cannot_be_run(self):
        live = ("corun", "live", "--applications", "apps.toml")
        self.fails(3, *live, "--mix", "heavy,absent", says="there is no application absent")
        self.fails(2, *live, "--mix", "heavy", "--limit", "2", says="there is nothing to limit")
        self.fails(2, *live, "--mix", "heavy,light", "--seed", "3", says="--seed draw them")
        self.fails(2, *live, "--mix", "heavy,light", "--device", "titanx", says="is no simulated GPU")
        self.fails(
            2, *live, "--mix", "heavy,light", "--light", "1", "--policy", "mps", says="--light has no effect on mps"
        )
        self.fails(2, *live, "--mix", "heavy,light", "--device", "sim:titanx", "--patience", "0", says="--patience 0")
        self.fails(2, *live, "--mix", "heavy,light", "--priority", "absent=1", "--policy", "priority", says="absent")
        self.fails(3, "corun", "live", "--applications", "none.toml", "--mix", "a,b", says="none.toml")
        self.fails(2, "corun", "live", "--mix", "a,b", says="--applications")
        for line in ('run = "heavy.cu"', 'run = "idle"\niterations = 2', 'run = "idle"\ngap = "1 us"'):
            (self.folder / "bad.toml").write_text(f'[[application]]\nname = "a"\n{line}\n')
            self.fails(
                3,
                "corun",
                "live",
                "--applications",
                "bad.toml",
                "--mix",
                "a,a",
                says="is no program that runs as it is",
            )

    def test_a_program_that_fails_or_launches_nothing(self):
        live = ("corun", "live", "--applications", "apps.toml", "--device", "sim:titanx")
        self.fails(5, *live, "--mix", "failing,heavy", says="ended with status 7")
        self.fails(3, *live, "--mix", "heavy,light", says="application heavy launched no kernel that was gated")


class Fake(Programs, corun_live_scene.OnFake):
    """On the machine's CUDA, for which a stand-in is there: a launch takes as long as it is told."""

    def test_waiting_is_free_on_the_gpu_and_counts_in_turnaround(self):
        self.applications(a=[str(self.launcher), "20"], b=[str(self.launcher), "20"])
        rows = self.rows(
            "--mix", "a,a,b,b", "--limit", "1,4", "--policy", "mps,round-robin", env=self.launcher_env(5000000)
        )
        for policy in ("mps", "round-robin"):
            alone, all_at_once = (rows[f"{policy} of 4, limit {limit}, mix 1"] for limit in (1, 4))
            self.assertLess(alone["corun.antt.gpu_time"], 1.5)
            self.assertGreater(alone["corun.makespan"], 4 * 20 * 5e6)  # one launch at a time
            self.assertLess(all_at_once["corun.makespan"], alone["corun.makespan"])
            self.assertGreater(alone["corun.antt.turnaround"], all_at_once["corun.antt.turnaround"])
        its = [v for n, v in rows.items() if n.startswith("mps of 4, limit 1, mix 1: ")]
        self.assertEqual([m["corun.launches"] for m in its], [20] * 4)
        self.assertGreater(sum(m["corun.wait.mean"] for m in its) / 4, 5e6)

    def test_processes_of_a_program_are_its_own(self):
        self.applications(a=[str(self.launcher), "10", "fork"], b=[str(self.launcher), "10"])
        rows = self.rows("--mix", "a,b", "--policy", "mps", env=self.launcher_env(1000000))
        a, b = (rows[f"mps of 2, limit 1, mix 1: {i} {n}"] for i, n in ((1, "a"), (2, "b")))
        self.assertEqual([a["corun.launches"], b["corun.launches"]], [21, 10])  # one before the fork

    def test_an_interrupt_ends_the_programs_and_keeps_what_was_done(self):
        self.applications(a=[str(self.launcher), "10"], long=[str(self.launcher), "600"])
        command = [SIMTLAB, "corun", "live", "--applications", "apps.toml", "--policy", "mps", "-q"]
        process = subprocess.Popen(
            [*command, "--mix", "a,a", "--mix", "a,long,long"],
            cwd=self.folder,
            env=self.environment(self.launcher_env(3000000)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        # The long one ran alone for 1.8 s; the second mix has begun when two of them run.
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and len({pid for pid, *_ in self.spans()}) < 7:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("1 of 2 runs of mixes were done", err)
        self.assertRegex(out, r"\| 1 \| 2 \| 1 \| mps \|")
        left = subprocess.run(["pgrep", "-f", str(self.launcher)], stdout=subprocess.PIPE, text=True).stdout
        self.assertEqual(left, "")


if __name__ == "__main__":
    main()
