"""simtlab corun: mixes on the fast host, decision logs and their replay, sensitivity curves. validate corun: the thesis's statements."""
import json
import pathlib
import re
import tomllib

from harness import SIMTLAB, SOURCE, Case, main

KERNEL = """.version 6.0
.target sm_20
.address_size 64
.visible .entry scale(.param .u64 x)
{
  .reg .b32 %r<5>; .reg .b64 %rd<4>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r4, %r1, %r2, %r3;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd3], %f2;
  ret;
}
"""
EACH = (
    "mps",
    "exclusive",
    "round-robin",
    "shark",
    "shark-aging",
    "shortest-first",
    "complementary",
    "priority",
    "bandwidth-budget",
    "fair",
)


class Corun(Case):
    def total(self, *arguments):
        return {k: v["value"] for k, v in json.loads(self.ok("corun", *arguments, "--json").stdout)["total"].items()}

    def test_a_mix_is_judged_in_both_ways_of_counting(self):
        mix = ("--mix", "HW,HW,HW,HW,LAVA,QTC", "--limit", "3", "--shorten", "50")
        mps, shark = self.total(*mix, "--policy", "mps"), self.total(*mix, "--policy", "shark")
        self.assertEqual(mps["corun.speedup_gm.gpu_time"], 1)
        self.assertGreater(shark["corun.speedup_gm.gpu_time"], 1.05)  # heartwalls apart from each other
        for figures in (mps, shark):
            for kind in ("gpu_time", "turnaround"):
                self.assertGreaterEqual(figures[f"corun.antt.{kind}"], 1)
                self.assertLessEqual(figures[f"corun.stp.{kind}"], 6)
            self.assertGreater(figures["corun.antt.turnaround"], figures["corun.antt.gpu_time"])  # waiting counts

    def test_random_mixes_depend_on_the_seed_alone(self):
        arguments = ("--mixes", "2", "--size", "4,8", "--limit", "2,4", "--policy", ",".join(EACH), "--shorten", "500")
        first = self.ok("corun", *arguments, "--seed", "3").stdout
        self.assertEqual(first, self.ok("corun", *arguments, "--seed", "3").stdout)
        self.assertNotEqual(first, self.ok("corun", *arguments, "--seed", "4").stdout)
        for size in (4, 8):
            for limit in (2, 4):
                for policy in EACH:
                    self.assertIn(f"| {size} | {limit} | {policy} |", first)

    def test_without_a_limit_policies_have_something_to_decide(self):
        """The first example of the documentation, and every size of a mix."""
        out = self.ok("corun", "--policy", "mps,shark,fair", "--mixes", "2").stdout
        rows = {
            policy: [line for line in out.splitlines() if line.startswith(f"| 8 | 4 | {policy} |")]
            for policy in ("mps", "shark", "fair")
        }
        figures = {tuple(row[0].split("|")[4:]) for row in rows.values()}
        self.assertEqual(len(figures), 3, out)
        out = self.ok("corun", "--policy", "shark", "--mixes", "1", "--size", "1,2,3,16", "--shorten", "500").stdout
        for size, limit in ((1, 1), (2, 1), (3, 2), (16, 8)):
            self.assertIn(f"| {size} | {limit} | shark |", out)
        self.ok("corun", "--mix", "HW,BH", "--policy", "shark", "--shorten", "500", "--log", "one.log")
        self.assertIn("policy shark limit=1 ", (self.folder / "one.log").read_text())

    def test_with_as_many_slots_as_applications_shark_is_mps(self):
        figures = self.total("--mix", "HW,HW,BH,LAVA", "--limit", "4", "--policy", "shark", "--shorten", "100")
        self.assertAlmostEqual(figures["corun.speedup_gm.gpu_time"], 1, places=2)

    def test_a_log_replays_to_the_same_decisions(self):
        for policy in EACH:
            self.ok(
                "corun",
                "--mix",
                "HW,HW,SRAD,QTC,BH",
                "--limit",
                "2",
                "--policy",
                policy,
                "--shorten",
                "1000",
                "--learn",
                "--log",
                "run.log",
            )
            log = (self.folder / "run.log").read_text()
            self.assertIn(f"policy {policy} limit=2", log)
            run = self.ok("corun", "replay", "run.log")
            self.assertEqual(run.stdout, log)
            self.assertIn("the same decisions", run.stderr)
        lines = log.splitlines()
        grants = [i for i, line in enumerate(lines) if " grant " in line]
        del lines[grants[3]]
        (self.folder / "changed.log").write_text("\n".join(lines) + "\n")
        self.fails(6, "corun", "replay", "changed.log", "-o", "new.log", says="corun-replay")
        other = self.ok("corun", "replay", "run.log", "--policy", "shortest-first", "--limit", "1").stdout
        self.assertIn("policy shortest-first limit=1", other)
        self.assertEqual(other.count(" end "), log.count(" end "))  # a client stays until its launches have ended
        said = self.ok("corun", "replay", "run.log", "--policy", "mps", "--limit", "1", "-o", "/dev/null").stderr
        self.assertRegex(
            said, r"in the log: launches waited .*; the last one ended after .*\nunder mps: launches waited"
        )
        self.assertRegex(said, r"speed-up of the turnaround of \d+ clients against the log: 0\.\d+ \(geometric mean")

    def test_each_mix_has_a_line(self):
        arguments = ("--mixes", "3", "--size", "4", "--limit", "2", "--policy", "mps,shark", "--shorten", "500")
        out = self.ok("corun", *arguments, "--all").stdout
        self.assertEqual(len(re.findall(r"(?m)^\| [123] \| 4 \| 2 \| (mps|shark) \| [\d.]+ (s|ms|us) \|", out)), 6)
        self.assertNotIn("||", out)  # Markdown
        result = json.loads(self.ok("corun", *arguments, "--all", "--json").stdout)
        rows = {k["name"]: {n: m["value"] for n, m in k["metrics"].items()} for k in result["kernels"]}
        for kind in ("antt.gpu_time", "stp.turnaround", "speedup_gm.gpu_time"):
            mean = sum(rows[f"shark of 4, limit 2, mix {i}"][f"corun.{kind}"] for i in (1, 2, 3)) / 3
            self.assertAlmostEqual(mean, rows["shark of 4, limit 2"][f"corun.{kind}"])
        for i in (1, 2, 3):
            mix = [v for n, v in rows.items() if n.startswith(f"shark of 4, limit 2, mix {i}: ")]
            self.assertEqual(len(mix), 4)
            slowdowns = [m["corun.time.together"] / m["corun.time.alone"] for m in mix]
            whole = rows[f"shark of 4, limit 2, mix {i}"]
            self.assertAlmostEqual(sum(slowdowns) / 4, whole["corun.antt.gpu_time"])
            self.assertAlmostEqual(sum(1 / s for s in slowdowns), whole["corun.stp.gpu_time"])
            self.assertGreaterEqual(whole["corun.makespan"], max(m["corun.time.together"] for m in mix))

    def test_the_page_has_a_bar_for_each_mix(self):
        arguments = ("--mixes", "3", "--size", "4", "--limit", "2,3", "--policy", "mps,shark,fair", "--shorten", "500")
        self.ok("corun", *arguments, "--all", "--json=r.json")
        self.ok("report", "r.json", "--html=r.html")
        page = (self.folder / "r.html").read_text()
        for limit in (2, 3):
            self.assertIn(f"Speed-up of each mix of 4, limit {limit}, time on the GPU", page)
        self.assertEqual(page.count("mix 3 under shark: "), 2)
        self.assertNotIn("mix 3 under mps: ", page)
        self.ok("corun", *arguments, "--json=r.json")  # without lines of mixes
        self.ok("report", "r.json", "--html=r.html")
        self.assertNotIn("Speed-up of each mix", (self.folder / "r.html").read_text())

    def test_limits_above_a_mix_are_left_out(self):
        done = self.ok(
            "corun", "--mixes", "1", "--size", "4,8", "--limit", "4,8", "--policy", "mps", "--shorten", "500"
        )
        self.assertEqual(re.findall(r"(?m)^\| (\d) \| (\d) \| mps", done.stdout), [("4", "4"), ("8", "4"), ("8", "8")])
        self.assertIn("left out: 8 for 4", done.stderr)
        self.fails(2, "corun", "--mix", "HW,BH", "--limit", "3", says="there is nothing to limit")

    def test_what_an_application_weighs(self):
        rows = {}
        for line in self.ok("corun", "profiles").stdout.splitlines():
            cells = [c.strip() for c in line.strip("| ").split("|")]
            rows[tuple(cells[:2]) if len(cells) == 14 else cells[0]] = cells
        self.assertEqual(rows["BH", "ForceCalculation"][4], "96.7 %")  # the thesis: 96.6
        self.assertEqual(rows["QTC", "trim_ungrouped"][4], "13.3 %")  # the thesis: 13.4
        self.assertEqual(rows["HW"][4:6], ["1.28 s", "30.1 G"])
        self.assertEqual(rows["SRAD"][6], "27.75")  # the thesis: 27.47

    def test_values_of_ones_own_go_through_every_form(self):
        kernel = '[[kernel]]\napplication = "A"\nname = "k"\ntime = "1 ms"\n'
        (self.folder / "a.toml").write_text(kernel + "more.tensor = 0.5\nmore.occupancy = 48\n")
        for first, second in (("a.toml", "b.csv"), ("b.csv", "c.db"), ("c.db", "d.toml")):
            self.ok("corun", "profiles", first, "--into", second, "-q")
            self.assertIn("| occupancy=48, tensor=0.5 |", self.ok("corun", "profiles", second).stdout)
        (self.folder / "new.toml").write_text(kernel.replace("1 ms", "2 ms"))  # another profile of the kernel
        for file in ("b.csv", "c.db", "d.toml"):
            self.ok("corun", "profiles", "new.toml", "--into", file, "-q")
            self.assertRegex(self.ok("corun", "profiles", file).stdout, r"2\.00 ms.*\| occupancy=48, tensor=0\.5 \|")
        for line in (
            "tensor = 0.5",
            "more.tensor = -1",
            "more.tensor = nan",
            'more.tensor = "a"',
            'more."a b" = 1',
            "more = 3",
            "more.tensor = true",
        ):
            (self.folder / "bad.toml").write_text(kernel + line + "\n")
            self.fails(3, "corun", "profiles", "bad.toml", says="bad.toml:5")
        (self.folder / "bad.csv").write_text("application,kernel,tensor\nA,k,1\n")
        self.fails(3, "corun", "profiles", "bad.csv", says="more.NAME")

    def test_a_result_is_printed_again(self):
        self.ok("corun", "--mix", "HW,LAVA", "--policy", "mps", "--shorten", "1000", "--json=r.json")
        self.assertIn("corun.stp.turnaround", self.ok("report", "r.json").stdout)

    def test_sensitivity_curves_have_32_steps_and_rise(self):
        result = json.loads(self.ok("corun", "interfere", "HW", "LAVA", "--json").stdout)
        curves = {}
        for k in result["kernels"]:
            curves.setdefault(k["name"].rsplit(" ", 1)[0], []).append(k["metrics"]["corun.interfere.slowdown"]["value"])
        self.assertEqual(len(curves), 6)
        for curve in curves.values():
            self.assertEqual(len(curve), 32)
            self.assertEqual(curve[0], 1)
            self.assertEqual(curve, sorted(curve))
        self.assertAlmostEqual(curves["HW: l2"][-1], 1.6, delta=0.05)

    def test_a_kernel_beside_the_micro_benchmarks_at_cycle_level(self):
        (self.folder / "k.ptx").write_text(KERNEL)
        launch = (
            "k.ptx",
            "--gpu",
            "titanx-maxwell",
            "--global",
            "262144",
            "--block",
            "128",
            "--arg",
            "buffer:262144:f32:iota",
            "--steps",
            "2",
        )
        out = self.ok("corun", "interfere", *launch, "--json=r.json").stdout
        result = json.loads((self.folder / "r.json").read_text())
        points = {k["name"]: k["metrics"] for k in result["kernels"]}
        self.assertEqual(len(points), 6)
        self.assertIn("## compute", out)
        for kind in ("l2", "dram", "compute"):
            low, high = (points[f"scale: {kind} {busy}"]["corun.interfere.load"]["value"] for busy in (1, 32))
            self.assertGreater(high, 2 * low)
        self.assertGreater(points["scale: dram 32"]["corun.interfere.slowdown"]["value"], 1.1)
        self.assertEqual(out, self.ok("corun", "interfere", *launch, "--threads", "2").stdout)
        self.fails(2, "corun", "interfere", *launch, "--model", "m.toml", says="--model has no effect")
        self.fails(2, "corun", "interfere", *launch, "--repeat", "3", says="--repeat has no effect")
        self.fails(2, "corun", "interfere", "HW", "--gpu", "h100", says="--gpu has no effect")

    def test_profiles_of_ones_own(self):
        kernel = '[[kernel]]\napplication = "A"\nname = "k"\ntime = "1 ms"\nipc = 10\nl2 = "100 GB/s"\ndram = "10 GB/s"\nmemory_stall = 0.5\n'
        (self.folder / "own.toml").write_text(
            kernel + '[[application]]\nname = "A"\niterations = 10\nsequence = ["k"]\n'
        )
        self.assertIn("| 1 | A | 1 | mps |", self.ok("corun", "--profiles", "own.toml", "--mix", "A,A").stdout)
        self.fails(3, "corun", "--profiles", "own.toml", "--mix", "A,B", says="no application B is in the profiles")
        self.fails(2, "corun", "--profiles", "own.toml", "--mix", "A,,A", says="--mix A,,A: a name is empty")
        (self.folder / "bad.toml").write_text(kernel.replace("1 ms", "1"))
        self.fails(3, "corun", "--profiles", "bad.toml", "--mix", "A", says="bad.toml:4")
        self.fails(3, "corun", "--profiles", "missing.toml", "--mix", "A", says="missing.toml")

    def test_kernels_of_the_simulator_become_profiles(self):
        (self.folder / "k.ptx").write_text(KERNEL)
        launch = ("k.ptx", "--gpu", "gtx480", "--global", "4096", "--block", "128", "--arg", "buffer:4096:f32:iota")
        for database in ("p.db", "p.toml"):
            self.assertIn(
                "| first | scale | 1 |",
                self.ok("corun", "profile", "--database", database, "--application", "first", *launch).stdout,
            )
            self.ok("corun", "profile", "--database", database, "--application", "second", *launch)
            out = self.ok(
                "corun", "--profiles", database, "--mix", "first,second", "--limit", "1", "--policy", "mps"
            ).stdout
            self.assertRegex(
                out, r"\| 1 \| second \| 1 \| mps \| [\d.]+ [nu]s \| 1\.00\d \| 2\.00\d \|"
            )  # waits for the first
        self.ok("corun", "profile", "--database", "p.csv", *launch)
        self.assertIn("k,scale,32x1x1,128x1x1,", (self.folder / "p.csv").read_text())
        self.fails(2, "corun", "profile", *launch, says="--database")
        (self.folder / "other.db").write_text("no database" * 1000)
        lost = self.simtlab(
            "corun", "profile", "--database", "other.db", *launch
        )  # what was measured is printed all the same
        self.assertEqual(lost.returncode, 1)
        self.assertIn("| k | scale | 1 |", lost.stdout)
        self.assertIn("corun-database", lost.stderr)

    def test_profiles_go_from_one_form_to_another(self):
        thesis = SOURCE / "data/corun/titanx-thesis.toml"
        self.assertIn("| BH | ForceCalculation |", self.ok("corun", "profiles", thesis, "--into", "a.db").stdout)
        self.ok("corun", "profiles", "a.db", "--into", "b.toml", "-q")
        a, b = (tomllib.loads(p.read_text()) for p in (thesis, self.folder / "b.toml"))
        self.assertEqual(
            sorted(k["application"] + k["name"] for k in a["kernel"]),
            sorted(k["application"] + k["name"] for k in b["kernel"]),
        )
        self.assertEqual(
            {x["name"]: x["sequence"] for x in a["application"]}, {x["name"]: x["sequence"] for x in b["application"]}
        )
        done = self.ok("corun", "profiles", "b.toml", "--into", "c.csv", "--json=r.json")
        self.assertIn("the sequences of 6 applications are not in c.csv", done.stderr)
        kernels = json.loads((self.folder / "r.json").read_text())["kernels"]
        self.assertEqual(len(kernels), len(a["kernel"]) + len(a["application"]))
        bounding_box = next(k for k in kernels if k["name"] == "BH: BoundingBox")
        self.assertEqual(bounding_box["metrics"]["dram.bandwidth"]["value"], 2.86e9)
        # The whole way round nothing is lost; what was there stays.
        (self.folder / "d.csv").write_text(
            (self.folder / "c.csv").read_text().splitlines()[0] + "\nmine,k,,,,,1,,,,,,,,,,,\n"
        )
        self.ok("corun", "profiles", "c.csv", "--into", "d.csv", "-q")
        self.assertEqual(
            set((self.folder / "c.csv").read_text().splitlines())
            - set((self.folder / "d.csv").read_text().splitlines()),
            set(),
        )
        self.assertIn("mine,k,", (self.folder / "d.csv").read_text())
        self.assertIn("| BH | ForceCalculation |", self.ok("corun", "profiles").stdout)  # without a file: the thesis'
        self.fails(3, "corun", "profiles", "absent.db", says="there is no profile database absent.db")
        self.fails(2, "corun", "profiles", "c.csv", "--into", "c.csv", says="would overwrite")
        self.fails(2, "corun", "profiles", "c.csv", "--into", "c.txt", says="profiles are .toml")

    # The mock driver's board: the same simulator, behind the driver's interface.
    def test_a_kernel_beside_the_micro_benchmarks_on_a_board(self):
        board = {
            "SIMTLAB_CUDA_DRIVER": str(pathlib.Path(SIMTLAB).parents[1] / "mockcuda/libsimtlab-mockcuda.so"),
            "SIMTLAB_MOCK_GPU": "titanx-maxwell",
        }
        (self.folder / "k.ptx").write_text(KERNEL)
        launch = (
            "k.ptx",
            "--global",
            "262144",
            "--block",
            "128",
            "--arg",
            "buffer:262144:f32:iota",
            "--steps",
            "2",
            "--repeat",
            "1",
        )
        out = self.ok("corun", "interfere", *launch, "--device", "0", "--json=r.json", env=board).stdout
        self.assertIn("scale beside micro-benchmarks on GeForce GTX TITAN X; alone it takes ", out)
        points = {k["name"]: k["metrics"] for k in json.loads((self.folder / "r.json").read_text())["kernels"]}
        for kind in ("l2", "dram", "compute"):
            low, high = (points[f"scale: {kind} {busy}"]["corun.interfere.load"]["value"] for busy in (1, 32))
            self.assertGreater(high, 2 * low)
        self.assertGreater(points["scale: dram 32"]["corun.interfere.slowdown"]["value"], 1.1)
        self.assertLess(points["scale: dram 32"]["corun.interfere.load"]["value"], 336.6e9)  # of its memory
        self.fails(
            2,
            "corun",
            "interfere",
            *launch,
            "--device",
            "0",
            "--gpu",
            "h100",
            says="--gpu has no effect on a kernel on a real board",
            env=board,
        )
        for other in ("HW", "k.cl"):
            self.fails(
                2,
                "corun",
                "interfere",
                other,
                "--device",
                "0",
                says="--device is for the launch of one PTX kernel",
                env=board,
            )
        self.fails(
            7,
            "corun",
            "interfere",
            *launch,
            "--device",
            "0",
            says="[board-driver]",
            env={"SIMTLAB_CUDA_DRIVER": "/nonexistent/libcuda.so.1"},
        )
        self.fails(
            7,
            "corun",
            "interfere",
            *launch,
            "--device",
            "0",
            says="[board-lost]",
            env=board | {"SIMTLAB_MOCK_FAULT": "lost=2"},
        )

    # On SMs a grid that fills the GPU keeps the next one off; half of a GPU each they do not meet.
    def test_the_sms_of_a_gpu(self):
        figures = 'block = [256, 1, 1]\nipc = 1\nl2 = "1 GB/s"\ndram = "1 GB/s"\nmemory_stall = 0\n'
        (self.folder / "shapes.toml").write_text(
            f'[[kernel]]\napplication = "A"\nname = "k"\ngrid = [384]\ntime = "20 us"\n{figures}[[kernel]]\napplication = "B"\nname = "k"\ngrid = [1]\ntime = "10 us"\n{figures}'
            '[[application]]\nname = "A"\nsequence = ["k"]\n[[application]]\nname = "B"\nsequence = ["k"]\n'
        )

        def slowdowns(*more):
            out = self.ok(
                "corun",
                "--profiles",
                "shapes.toml",
                "--gpu",
                "titanx-maxwell",
                "--mix",
                "A,B",
                "--limit",
                "2",
                "--policy",
                "mps",
                *more,
            ).stdout
            return [float(v) for v in re.findall(r"\| 1 \| [AB] \| 2 \| mps \| [\d.]+ [num]?s \| ([0-9.]+) \|", out)]

        self.assertEqual([round(v, 1) for v in slowdowns()], [1.0, 3.0])  # two waves of 10 us before it
        self.assertEqual([round(v, 1) for v in slowdowns("--sharing", "A=0-11,B=12-23")], [2.0, 1.0])
        self.assertEqual(
            [round(v, 1) for v in slowdowns("--set", "sm.count=49")], [1.0, 1.0]
        )  # there is room beside it
        self.fails(
            3,
            "corun",
            "--profiles",
            "shapes.toml",
            "--gpu",
            "titanx-maxwell",
            "--mix",
            "A",
            "--sharing",
            "A=99",
            says="SMs are counted from 0",
        )
        (self.folder / "shapes.toml").write_text((self.folder / "shapes.toml").read_text().replace("256", "4096"))
        self.fails(
            3,
            "corun",
            "--profiles",
            "shapes.toml",
            "--gpu",
            "titanx-maxwell",
            "--mix",
            "A",
            says="fits on no SM of titanx-maxwell",
        )

    def test_what_has_no_effect_is_refused(self):
        for arguments, says in (
            (("--policy", "sharc"), "did you mean shark?"),
            (("--policy", "mps", "--light", "3"), "--light has no effect"),
            (("--mix", "HW", "--seed", "3"), "--mix names"),
            (("--mixes", "3", "--log", "l"), "one mix under one policy"),
            (("--limit", "0"), "--limit"),
            (("--shorten", "nan"), "--shorten"),
            (("--mixes", "100000", "--size", "1024"), "corun-amount"),
            (("--priority", "HW=1"), "no effect"),
            (("--policy", "priority", "--priority", "HW"), "APPLICATION=NUMBER"),
        ):
            self.fails(2, "corun", *arguments, says=says)
        self.fails(2, "corun", "replay", "x", "--limit", "3", says="without --policy")
        (self.folder / "trace").write_text("simtlab-corun 1\npolicy mps limit=1\n")
        self.fails(3, "corun", "replay", "trace", says="trace:2:")

    def test_validate_says_what_is_not_reproduced(self):
        out = self.ok("validate", "corun", "--mixes", "2", "--shorten", "500").stdout
        self.assertIn("| 5.1 | HW | l2 | 1.57", out)
        self.assertRegex(out, r"\d+ of \d+ statements are reproduced")
        self.assertIn("missed", out)  # LEUKO beside L2 traffic, at least
        self.fails(2, "validate", "corun", "--mixes", "2", "--gate", says="--mixes changes what is compared")
        self.fails(
            6,
            "validate",
            "corun",
            "--mixes",
            "2",
            "--shorten",
            "500",
            "--check",
            "-o",
            "report.md",
            says="validate-target",
        )


if __name__ == "__main__":
    main()
