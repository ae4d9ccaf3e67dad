"""Policies and a probe of one file each (docs/guide/extending.md, examples/extend), in a program that was built with them."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from harness import SIMTLAB, SOURCE, Case, main

EXTENDED = os.environ.get("SIMTLAB_EXTENDED")
EXAMPLES = SOURCE / "examples/extend"
LISTS = {
    "replacements": ["lip"],
    "memory-schedulers": ["blacklist"],
    "page-policies": ["history"],
    "prefetchers": ["two-lines"],
    "schedulers": ["ccws", "memory_first", "swl"],
    "orders": ["youngest"],
    "policies": ["least-served"],
    "probes": ["predication"],
}
CONTROLLER = 'inherits = "default"\ndescription = {{ value = "x", estimated = "a test" }}\n[{}]\n{}\n'
matrices = ["--arg", "buffer:192x192:f32"] * 3
MATMUL = [
    SOURCE / "data/probes/cache.ptx",
    "--kernel",
    "matmul",
    "--global",
    "192x192",
    "--local",
    "16x16",
    *matrices,
    "--arg",
    "u32:192",
    "--gpu",
    "v100",
]

OWN = """.version 8.0
.target sm_50
.address_size 64
.visible .entry own(.param .u64 data, .param .u64 sums) {
  .reg .b64 %rd<6>; .reg .b32 %r<9>; .reg .f32 %f<3>; .reg .pred %p;
  ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [sums];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
  shr.u32 %r5, %r4, 5; shl.b32 %r5, %r5, 9; and.b32 %r6, %r4, 31; add.u32 %r5, %r5, %r6;   // the warp's 512 floats, from the lane on
  mul.wide.u32 %rd3, %r5, 4; add.u64 %rd3, %rd1, %rd3;
  mov.f32 %f1, 0f00000000; mov.u32 %r7, 0;
ROUND:
  mov.u64 %rd4, %rd3; mov.u32 %r8, 0;
NEXT:
  ld.global.f32 %f2, [%rd4]; add.f32 %f1, %f1, %f2;
  add.u64 %rd4, %rd4, 128; add.u32 %r8, %r8, 1; setp.lt.u32 %p, %r8, 16; @%p bra NEXT;
  add.u32 %r7, %r7, 1; setp.lt.u32 %p, %r7, 8; @%p bra ROUND;
  mul.wide.u32 %rd5, %r4, 4; add.u64 %rd5, %rd2, %rd5; st.global.f32 [%rd5], %f1;
  ret;
}
"""


@unittest.skipUnless(EXTENDED, "$SIMTLAB_EXTENDED is not set")
class Extended(Case):
    def run_extended(self, *arguments):
        return subprocess.run(
            [EXTENDED, *map(str, arguments)],
            cwd=self.folder,
            env=self.environment({}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def extended(self, *arguments):
        done = self.run_extended(*arguments)
        self.assertEqual(done.returncode, 0, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def total(self, *arguments):
        return {
            name: metric["value"] for name, metric in json.loads(self.extended(*arguments, "--json"))["total"].items()
        }

    def test_lists_have_their_names(self):
        names = lambda text: [row.split()[0] for row in text.splitlines()[1:]]
        for what, added in LISTS.items():
            before, after = names(self.ok("list", what).stdout), names(self.extended("list", what))
            self.assertEqual([name for name in after if name not in before], added)
            self.assertEqual([name for name in after if name not in added], before)
            if what != "probes":
                self.assertEqual(after, sorted(after))

    def test_a_program_without_them_says_what_there_is(self):
        self.fails(
            3, "config", "show", "--set", "sm.scheduler=memory_first", says=["unknown value 'memory_first'", "gto"]
        )
        self.fails(3, "config", "show", "--set", "l1.replacement=lip", says="unknown value 'lip'")
        self.fails(
            3,
            "config",
            "show",
            "--controller",
            "default",
            "--set",
            "schedule.kind=blacklist",
            says=[
                "unknown value 'blacklist'",
                "allowed: fcfs or fr_fcfs or fr_fcfs_cap or oldest_ready or par_bs or round_robin",
            ],
        )
        self.fails(
            3,
            "config",
            "show",
            "--controller",
            "default",
            "--set",
            "page.conflicts=1",
            says="unknown key 'page.conflicts'",
        )
        self.file("mine.toml", CONTROLLER.format("page", 'policy = { value = "history", estimated = "a test" }'))
        self.fails(
            3,
            "dram",
            "--generate",
            "random",
            "--requests",
            "10",
            "--dram",
            "ddr4-2400",
            "--controller",
            "./mine.toml",
            says=["mine.toml:4:", "unknown value 'history'", "allowed: adaptive or closed or open or timeout"],
        )
        self.fails(2, "cache", *MATMUL, "--prefetch", "two-lines", says=["prefetch: unknown value 'two-lines'", "none"])
        self.fails(
            2, "cache", *MATMUL, "--order", "youngest", says=["order: unknown value 'youngest'", "gto, lrr, oldest"]
        )
        self.fails(2, "corun", "--mixes", "1", "--policy", "least-served", says="least-served")
        self.fails(2, "probe", "--only", "predication", says="predication")

    def test_a_device_file_takes_the_new_names(self):
        self.file(
            "mine.toml",
            'inherits = "v100"\nproduct = { value = "x", estimated = "a test" }\n[l1]\nreplacement = { value = "lip", estimated = "a test" }\n',
        )
        self.assertRegex(self.extended("config", "show", "--gpu", "./mine.toml"), r"l1\.replacement\s.*lip")

    def test_the_scheduler_decides(self):
        cycles = {
            name: self.total("run", *MATMUL, "--set", f"sm.scheduler={name}")["gpu.cycles"]
            for name in ("memory_first", "oldest", "lrr")
        }
        self.assertEqual(len(set(cycles.values())), 3, cycles)
        # Of the same instructions, and the same with one thread.
        again = self.total("run", *MATMUL, "--set", "sm.scheduler=memory_first", "--threads", "1")
        self.assertEqual(again["gpu.cycles"], cycles["memory_first"])

    def test_a_controller_file_takes_the_new_policies_and_their_parameters(self):
        self.file(
            "mine.toml",
            CONTROLLER.format(
                "schedule",
                'kind = { value = "blacklist", estimated = "a test" }\nstreak = { value = 2, estimated = "a test" }',
            ),
        )
        shown = self.extended("config", "show", "--controller", "./mine.toml")
        self.assertRegex(shown, r"(?m)^schedule\.kind += blacklist$")
        self.assertRegex(shown, r"(?m)^schedule\.streak += 2$")
        self.assertRegex(
            shown, r"(?m)^schedule\.clearing += 10000 cycles$"
        )  # the default, which the policy's file declares
        for setting, says in (
            ("schedule.streak=0", "allowed: 1 to 1024"),
            ("page.conflicts=1", 'has no effect: page.policy = "open" does not read it'),
        ):
            done = self.run_extended("config", "show", "--controller", "./mine.toml", "--set", setting)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(says, done.stderr)

    def test_the_memory_scheduler_decides(self):
        cycles = {}
        for name in ("blacklist", "fr_fcfs"):
            self.file(
                f"{name}.toml", CONTROLLER.format("schedule", f'kind = {{ value = "{name}", estimated = "a test" }}')
            )
            run = (
                "run",
                *MATMUL,
                "--set",
                "sm.count=8",
                "--dram",
                "ddr3-1600",
                "--channels",
                "1",
                "--set",
                f"dram.controller=./{name}.toml",
            )
            cycles[name] = self.total(*run)["gpu.cycles"]
            self.assertEqual(self.total(*run, "--threads", "1")["gpu.cycles"], cycles[name])
        self.assertNotEqual(cycles["blacklist"], cycles["fr_fcfs"])

    def test_the_page_policy_decides_by_its_parameter(self):
        def conflicts(pattern, *settings):
            options = [part for setting in settings for part in ("--set", setting)]
            return self.total(
                "dram", "--generate", pattern, "--requests", "5000", "--interval", "40", "--dram", "ddr4-2400", *options
            )["dram.row.conflicts"]

        opened, early = conflicts("random"), conflicts("random", "page.policy=history")
        late = conflicts("random", "page.policy=history", "page.conflicts=64")
        self.assertLess(early, 0.1 * opened)
        self.assertTrue(2 * early < late < opened, (early, late, opened))

    def test_the_prefetcher_decides(self):
        found = {
            name: self.total("cache", *MATMUL, "--set", "sm.count=3", "--prefetch", name)
            for name in ("none", "next-line", "two-lines")
        }
        self.assertEqual(len({total["l1.prefetches"] for total in found.values()}), 3)
        self.assertEqual(len({total["l1.read.misses"] for total in found.values()}), 3)

    def l1_hit_rate(self, scheduler, *more):
        """Of a kernel whose warps each read 2 KiB again and again: 48 of them on one SM with an L1 of 16 KiB."""
        self.file("own.ptx", OWN)
        total = self.total(
            "run",
            "own.ptx",
            "--kernel",
            "own",
            "--global",
            "1536",
            "--local",
            "512",
            "--arg",
            "buffer:24576:f32",
            "--arg",
            "buffer:1536:f32",
            "--gpu",
            "gtx480",
            "--set",
            "sm.count=1",
            "--set",
            f"sm.scheduler={scheduler}",
            "--lowering",
            "counts",  # PTX as it stands reads again what it has read
            *more,
        )
        return total["l1.read.hits"] / total["l1.read.accesses"]

    def test_fewer_warps_at_a_time_find_their_lines_in_l1(self):
        all_warps = self.l1_hit_rate("gto")
        rates = [self.l1_hit_rate("swl", "--set", f"scheduler.swl.warps={warps}") for warps in (1, 2, 24)]
        self.assertLess(all_warps, 0.5)
        self.assertGreater(rates[0], 0.85)  # one of eight rounds misses
        self.assertGreater(rates[1], 0.85)
        self.assertAlmostEqual(rates[2], all_warps, places=6)  # as many as a scheduler has: no limit
        # It finds that out by itself.
        self.assertGreater(self.l1_hit_rate("ccws"), all_warps + 0.1)
        # Lost locality that weighs nothing to speak of, and no memory of what was fetched.
        self.assertLess(
            self.l1_hit_rate("ccws", "--set", "scheduler.ccws.tags=1", "--set", "scheduler.ccws.throttle=1"),
            self.l1_hit_rate("ccws"),
        )

    def test_schedulers_that_keep_state_give_the_same_for_any_number_of_threads(self):
        for scheduler in ("swl", "ccws"):
            one, two = (
                {
                    name: value
                    for name, value in self.total(
                        "run", *MATMUL, "--set", f"sm.scheduler={scheduler}", "--threads", threads
                    ).items()
                    if not name.startswith("host.")
                }
                for threads in ("1", "2")
            )
            self.assertEqual(one, two)

    def test_parameters_of_a_scheduler_are_keys(self):
        self.assertRegex(
            self.extended("list", "schedulers"), r"(?m)^swl .*scheduler\.swl\.warps: .*1 to 64, default 2$"
        )
        self.assertRegex(
            self.extended("config", "show", "--set", "scheduler.swl.warps=5"), r"scheduler\.swl\.warps += 5\n"
        )
        self.assertRegex(self.extended("config", "show"), r"scheduler\.ccws\.base += 100\n")
        self.file("mine.toml", '[sm]\nscheduler = "swl"\n[scheduler.swl]\nwarps = 7\n')
        self.assertRegex(self.extended("config", "show", "--config", "mine.toml"), r"scheduler\.swl\.warps += 7\n")

    def test_wrong_parameters_are_refused(self):
        for setting, says in (
            ("scheduler.swl.warps=0", "1 to 64"),
            ("scheduler.swl.warps=65", "1 to 64"),
            ("scheduler.swl.warps=2.5", "scheduler.swl.warps"),
            ("scheduler.swl.warp=2", "scheduler.swl.warps"),
            ("scheduler.gto.warps=2", "unknown key"),
        ):
            done = subprocess.run(
                [EXTENDED, "config", "show", "--set", setting],
                cwd=self.folder,
                env=self.environment({}),
                capture_output=True,
                text=True,
                timeout=60,
            )
            self.assertEqual(done.returncode, 3, setting)
            self.assertIn(says, done.stderr)
        self.file("wrong.toml", "[scheduler.swl]\nwarps = 100\n")
        done = subprocess.run(
            [EXTENDED, "config", "show", "--config", "wrong.toml"],
            cwd=self.folder,
            env=self.environment({}),
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.assertEqual(done.returncode, 3)
        self.assertIn("wrong.toml:2:", done.stderr)
        # Without the policy there is no such key.
        self.fails(3, "config", "show", "--set", "scheduler.swl.warps=2", says="unknown key 'scheduler.swl.warps'")

    def test_the_order_of_a_cache_study_decides(self):
        misses = {
            name: self.total("cache", *MATMUL, "--zero-latency", "--set", "sm.count=3", "--order", name)[
                "l1.read.misses"
            ]
            for name in ("youngest", "oldest", "lrr")
        }
        self.assertEqual(len(set(misses.values())), 3, misses)

    def test_the_corun_policy_decides(self):
        fairness = {
            name: self.total("corun", "--mixes", "5", "--size", "4", "--limit", "2", "--policy", name)[
                "corun.fairness.turnaround"
            ]
            for name in ("mps", "least-served")
        }
        self.assertLess(fairness["least-served"], 0.7 * fairness["mps"])  # 1: all are slowed down alike

    def test_the_probe_measures(self):
        text = self.extended("probe", "--gpu", "v100", "--only", "predication")
        # A simulated V100 has a latency of 4 cycles, and spends it on what is switched off, too.
        self.assertRegex(text, r"(?m)^  predication\.on +4 cycles$")
        self.assertRegex(text, r"(?m)^  predication\.off +4 cycles$")


class Lists(Case):
    """What the build makes of folders of further files."""

    def lists(self, *folders):
        out = self.folder / "lists"  # a script takes the working directory for the build's
        out.mkdir(exist_ok=True)
        return subprocess.run(
            ["cmake", f"-DSIMTLAB_EXTENSIONS={';'.join(map(str, folders))}", "-P", SOURCE / "cmake/registry.cmake"],
            cwd=out,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def refused(self, says, *folders):
        done = self.lists(*folders)
        self.assertNotEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(says, " ".join(done.stderr.split()))

    @unittest.skipUnless(shutil.which("cmake"), "cmake is not installed")
    def test_lists_are_sorted_whatever_the_folders(self):
        other = self.folder / "other"
        self.file("other/timing/schedulers/aaa.cpp", "")
        seen = []
        for folders in ((EXAMPLES, other), (other, EXAMPLES)):
            done = self.lists(*folders)
            self.assertEqual(done.returncode, 0, done.stderr)
            seen.append({path.name: path.read_text() for path in (self.folder / "lists/generated/registry").iterdir()})
        self.assertEqual(seen[0], seen[1])
        names = re.findall(r'\{"(\w+)", &scheduler_\1\}', seen[0]["timing_schedulers.cpp"])
        self.assertEqual(names, ["aaa", "ccws", "cggty", "gto", "lrr", "memory_first", "oldest", "swl", "two_level"])
        self.assertEqual(
            re.findall(r'\{"(\w+)", &order_\1\}', seen[0]["cache_orders.cpp"]),
            ["cggty", "gto", "lrr", "oldest", "random", "round_robin", "sequential", "two_level", "youngest"],
        )
        self.assertIn(
            '{"aaa", "ccws", "cggty", "gto", "lrr", "memory_first", "oldest", "swl", "two_level"}',
            seen[0]["device_policies.cpp"],
        )

    @unittest.skipUnless(shutil.which("cmake"), "cmake is not installed")
    def test_what_is_no_extension_is_refused(self):
        self.refused("is no folder", self.folder / "nothing")
        (self.folder / "empty").mkdir()
        self.refused("no source file in", self.folder / "empty")
        self.file("elsewhere/timing/lru.cpp", "")
        self.refused("is none of", self.folder / "elsewhere")
        self.file("same/memory/policies/replace_lru.cpp", "")
        self.refused("there is another lru already", self.folder / "same")
        self.file("names/corun/policies/Mine-1.cpp", "")
        self.refused("lower-case letters", self.folder / "names")

    @unittest.skipUnless(shutil.which("ninja") and shutil.which("cmake"), "cmake and ninja are not installed")
    def test_a_build_compiles_the_files_into_their_layers(self):
        done = subprocess.run(
            [
                "cmake",
                "-S",
                SOURCE,
                "-B",
                "build",
                "-G",
                "Ninja",
                "-DSIMTLAB_TESTS=OFF",
                "-DSIMTLAB_BENCH=OFF",
                f"-DSIMTLAB_EXTENSIONS={EXAMPLES}",
            ],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=300,
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        rules = (self.folder / "build/build.ninja").read_text()
        for layer, file in (
            ("memory", "memory/policies/replace_lip"),
            ("memory", "memory/dram/schedulers/blacklist"),
            ("memory", "memory/dram/page_policies/history"),
            ("timing", "timing/schedulers/memory_first"),
            ("cache", "cache/orders/youngest"),
            ("cache", "cache/prefetchers/two_lines"),
            ("corun", "corun/policies/least_served"),
            ("probe", "probe/kinds/predication"),
        ):
            self.assertRegex(rules, rf"(?m)^build CMakeFiles/simtlab_{layer}\.dir/\S*{re.escape(file)}\.cpp\.o:")


if __name__ == "__main__":
    main()
