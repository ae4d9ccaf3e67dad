"""simtlab corun --host cycle: recorded applications on one simulated GPU under a policy. validate corun --host cycle: the fast host beside it."""
import csv
import json
import re

from harness import SAXPY, SAXPY_LAUNCH, SOURCE, Case, main, needs_clang

COMPUTE = """.version 7.0
.target sm_50
.address_size 64
.visible .entry compute(.param .u64 data, .param .u32 rounds)
{
  .reg .pred %p<2>; .reg .b32 %r<3>; .reg .b64 %rd<2>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [rounds];
  mov.f32 %f1, 0f3F800000;
AGAIN:
  fma.rn.f32 %f1, %f1, %f1, %f1;
  fma.rn.f32 %f1, %f1, %f1, %f1;
  sub.s32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra AGAIN;
  st.global.f32 [%rd1], %f1;
  ret;
}
"""
APPLICATIONS = """
[[application]]
name = "memory"
run = "saxpy.ptx"
grid = "64"
block = "256"
args = ["f32:2", "buffer:16384:f32:iota", "buffer:16384:f32:random", "u32:16384"]
iterations = 3
gap = "300 ns"

[[application]]
name = "compute"
run = "compute.ptx"
launch = "compute.toml"
iterations = 2

[[application]]
name = "recorded"
run = "folder/recorded.simt"
"""
# Kernels of a few microseconds would be little else than the floor of a launch.
GPU = ("--gpu", "titanx-maxwell", "--set", "sm.count=4", "--set", "launch.floor=0")


class Cycle(Case):
    def setUp(self):
        super().setUp()
        self.file("saxpy.ptx", SAXPY.replace("sm_70", "sm_50"))
        self.file("compute.ptx", COMPUTE)
        self.file(
            "compute.toml",
            'grid = 16\nblock = 128\n[[arg]]\ntype = "f32"\nshape = [1]\n[[arg]]\ntype = "u32"\nvalue = 100\n',
        )
        self.file("apps.toml", APPLICATIONS)
        self.file("folder/x", "")
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--mode", "functional", "--record", "folder/recorded.simt", *GPU)

    def corun(self, *arguments):
        return self.ok("corun", "--host", "cycle", "--applications", "apps.toml", *GPU, *arguments)

    def test_a_mix_has_the_tables_of_the_fast_host_and_one_of_its_kernels(self):
        run = self.corun(
            "--mix", "memory,compute,recorded,compute", "--limit", "2,4", "--policy", "mps,shark,fair", "--json=r.json"
        )
        for limit in (2, 4):
            for policy in ("mps", "shark", "fair"):
                self.assertIn(f"| 4 | {limit} | {policy} |", run.stdout)
                self.assertRegex(run.stdout, rf"\| 1 \| compute \| {limit} \| {policy} \| \d")
                self.assertRegex(run.stdout, rf"\| 1 \| memory \| saxpy \| {limit} \| {policy} \| 3 \|")
        rows = {
            k["name"]: {name: m["value"] for name, m in k["metrics"].items()}
            for k in json.loads((self.folder / "r.json").read_text())["kernels"]
        }
        kernels = [m for name, m in rows.items() if name.startswith("mps of 4, limit 2, mix 1") and "/" in name]
        self.assertEqual(len(kernels), 4)
        self.assertAlmostEqual(sum(m["corun.l2.share"] for m in kernels), 1)
        self.assertAlmostEqual(sum(m["corun.dram.share"] for m in kernels), 1)
        for m in kernels:
            self.assertGreater(m["corun.time.alone"], 0)
            self.assertAlmostEqual(m["corun.slowdown.gpu_time"], m["corun.time.together"] / m["corun.time.alone"])
        both = rows["mps of 4, limit 4, mix 1: 2 compute"]  # two that want the same
        self.assertGreater(both["corun.slowdown.gpu_time"], 1.1)
        self.assertEqual(both["corun.wait.longest"], 0)
        self.assertGreater(rows["mps of 4, limit 2, mix 1: 3 recorded"]["corun.wait.longest"], 0)
        self.assertEqual(
            run.stdout,
            self.corun(
                "--mix",
                "memory,compute,recorded,compute",
                "--limit",
                "2,4",
                "--policy",
                "mps,shark,fair",
                "--threads",
                "1",
            ).stdout,
        )

    def test_its_log_replays_to_the_same_decisions(self):
        for policy in ("shark-aging", "exclusive", "priority"):
            more = ("--priority", "recorded=1") if policy == "priority" else ()
            self.corun(
                "--mix",
                "compute,memory,memory,recorded",
                "--limit",
                "2",
                "--policy",
                policy,
                "--learn",
                "--log",
                "run.log",
                *more,
            )
            log = (self.folder / "run.log").read_text()
            self.assertEqual(log.count(" grant "), 9)
            self.assertEqual(self.ok("corun", "replay", "run.log").stdout, log)

    def test_a_partition_is_of_applications_or_kernels(self):
        def slowdown(*more):
            out = self.corun("--mix", "memory,compute", "--limit", "2", "--policy", "mps", *more).stdout
            return float(re.search(r"\| 1 \| compute \| 2 \| mps \| [\d.]+ [num]?s \| ([0-9.]+) \|", out).group(1))

        self.assertGreater(slowdown("--sharing", "compute=0"), 1.8 * slowdown())
        self.assertGreater(slowdown("--sharing", "saxpy=0-2,comp*=3"), 2 * slowdown("--sharing", "smk"))
        self.fails(
            3,
            "corun",
            "--host",
            "cycle",
            "--applications",
            "apps.toml",
            *GPU,
            "--mix",
            "compute",
            "--sharing",
            "compute=9",
            says="SMs are counted from 0",
        )

    def test_the_fast_host_beside_it(self):
        arguments = (
            "validate",
            "corun",
            "--host",
            "cycle",
            "--applications",
            "apps.toml",
            "--set",
            "sm.count=4",
            "--mixes",
            "3",
            "--size",
            "3",
            "--policy",
            "mps,shark,fair",
        )
        out = self.ok(*arguments, "--json=r.json").stdout
        self.assertIn("| all | 27 |", out)
        self.assertIn("simulated titanx-maxwell", out)
        self.assertRegex(out, r"\| Spearman, of the means \| -?[01]\.\d\d \| -?[01]\.\d\d \|")
        total = json.loads((self.folder / "r.json").read_text())["total"]
        for kind in ("gpu_time", "turnaround"):
            self.assertGreater(total[f"corun.host.error.{kind}"]["value"], 0)
            self.assertLessEqual(
                abs(total[f"corun.host.bias.{kind}"]["value"]), total[f"corun.host.error.{kind}"]["value"]
            )
            self.assertLessEqual(abs(total[f"corun.host.rank.{kind}"]["value"]), 1)
        self.assertEqual(out, self.ok(*arguments).stdout)

    def test_rows_of_other_applications_are_kept_beside_those_of_the_examples(self):
        arguments = ("validate", "corun", "--host", "cycle", "--applications", "apps.toml", "--mixes", "2")
        self.fails(2, *arguments, "--gate", says="--mixes changes what is compared")
        self.fails(2, *arguments, "--set", "sm.count=4", "--update", says="--set changes what is compared")
        (self.folder / "rows").mkdir()
        file = self.folder / "rows/corun-hosts.recorded.csv"
        head = "group,device,quantity,over,unit,source,low,high,ours,error,worst,target,worst_target,role,note"
        other = 'mixes of others,a,"slowdown, turnaround",,times,x,1,1,1,0,,,,held out,'
        file.write_text("\n".join([head, other, other.replace("others,a", "apps,gone")]) + "\n")
        self.ok(*arguments, "--update", "--rows", "rows")
        lines = file.read_text().splitlines()
        self.assertIn("--applications FILE.toml --update", lines[0])
        self.assertIn(other, lines)
        rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
        ours = [r for r in rows if r["group"] == "mixes of apps"]
        self.assertLessEqual({r["device"] for r in ours}, {"memory", "compute", "recorded", "all"})
        self.assertEqual({r["role"] for r in ours}, {"tuned"})
        self.assertEqual([r["over"] for r in ours if r["device"] == "all"][:2], ["mean of 80 runs"] * 2)
        self.assertEqual([p.name for p in file.parent.iterdir()], [file.name])

    def test_copies_count_in_turnaround_and_wait_for_each_other(self):
        rows = {}
        for option in ((), ("--copies",)):
            self.corun("--mix", "memory,memory", "--limit", "2", "--policy", "mps", "--all", "--json=r.json", *option)
            rows[option] = [
                k["metrics"]
                for k in json.loads((self.folder / "r.json").read_text())["kernels"]
                if "corun.wait.share" in k["metrics"] and "mix 1: " in k["name"]
            ]
        self.assertNotIn("corun.copies.alone", rows[()][0])
        copied = [(m["corun.copies.alone"]["value"], m["corun.copies.together"]["value"]) for m in rows[("--copies",)]]
        self.assertGreater(copied[0][0], 0)
        self.assertEqual(copied[0][0], copied[1][0])
        self.assertGreater(copied[1][1], copied[1][0], "the second waits for the engine")
        self.fails(2, "corun", "--mix", "HW,BH", "--copies", says=["--copies", "[option-conflict]"])

    def test_what_makes_no_sense_is_refused(self):
        for arguments, says in (
            (("--set", "sm.count=4"), "--set has no effect on mixes on the fast host without --gpu"),
            (("--sharing", "smk"), "--sharing has no effect on mixes on the fast host without --gpu"),
            (("--gpu", "h100", "--model", "m.toml"), "--model has no effect on mixes on the fast host with --gpu"),
            (("--gpu", "h100", "--threads", "2"), "--threads has no effect on mixes on the fast host"),
            (("--host", "cycle", "--model", "m.toml"), "--model has no effect on mixes on the cycle host"),
            (("--host", "cycle", "--shorten", "2"), "--shorten has no effect"),
            (("--host", "slow"), "--host"),
        ):
            self.fails(2, "corun", *arguments, says=says)
        self.fails(3, "corun", "--gpu", "h100", says="want to know grid, block")
        self.fails(2, "validate", "corun", "--size", "3", says="--size has no effect")
        self.fails(2, "validate", "corun", "--host", "cycle", "--check", says="--check has no effect")
        self.fails(
            3,
            "corun",
            "--host",
            "cycle",
            "--applications",
            "apps.toml",
            "--mix",
            "memory,nobody",
            says="apps.toml has memory, compute, recorded",
        )
        for text, says in (
            ("[[application]]\nname = 'a'\n", "bad.toml:1:1"),
            ("[[application]]\nname = 'a,b'\nrun = 'x'\n", "bad.toml:2:8"),
            ("[[application]]\nname = 'a'\nrun = 'x.ptx'\n", "needs a launch"),
            ("[[application]]\nname = 'a'\nrun = 'x.cu'\ngrid = '3'\n", "are for .ptx, .cubin and .cl files"),
            ("[[application]]\nname = 'a'\nrun = 'x.cu'\niterations = 0\n", "bad.toml:4"),
            ("x = 1\n", "no [[application]]"),
            ("[= 1", "bad.toml"),
            ("", "there is no [[application]]"),
        ):
            self.file("bad.toml", text)
            self.fails(3, "corun", "--host", "cycle", "--applications", "bad.toml", says=says)
        self.file("late.toml", "[[application]]\nname = 'a'\nrun = 'missing.ptx'\ngrid = '1'\n")
        self.fails(3, "corun", "--host", "cycle", "--applications", "late.toml", "--mix", "a", says="application a: ")
        self.file("folder/recorded.simt", "SIMTRACE and nothing")
        self.assertIn(
            "[trace-",
            self.simtlab("corun", "--host", "cycle", "--applications", "apps.toml", "--mix", "recorded").stderr,
        )

    @needs_clang
    def test_programs_are_recorded_by_running_them(self):
        out = self.ok(
            "corun", "--host", "cycle", "--gpu", "titanx-maxwell", "--mix", "histogram,bfs", "--policy", "mps"
        ).stdout
        self.assertRegex(out, r"\| 1 \| bfs \| \w+ \| 1 \| mps \| 9 \|")
        self.assertTrue((SOURCE / "examples" / "corun.toml").exists())

    @needs_clang
    def test_each_process_of_a_program_is_an_application(self):
        self.file(
            "two.cu",
            """
#include <sys/wait.h>
#include <unistd.h>
__global__ void parent(float* x) { x[threadIdx.x] += 1; }
__global__ void child(float* x) { x[threadIdx.x] *= 2; }
int main() {
  const pid_t other = fork();
  float* x;
  if (cudaMalloc(&x, 1024) != cudaSuccess) return 1;
  if (other == 0) child<<<1, 256>>>(x); else parent<<<2, 128>>>(x);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  int status = 0;
  return other != 0 && (waitpid(other, &status, 0) != other || status != 0);
}
""",
        )
        out = self.ok("corun", "profile", "--database", "p.db", "two.cu", *GPU).stdout
        self.assertRegex(out, r"\| two \| child\(float\*\) \| 1 \|")
        self.assertRegex(out, r"\| two.2 \| parent\(float\*\) \| 1 \|")
        self.assertRegex(
            self.ok(
                "corun", "--profiles", "p.db", *GPU, "--mix", "two,two.2", "--limit", "2", "--policy", "mps"
            ).stdout,
            r"\| 1 \| two.2 \|",
        )
        self.file("two.toml", "[[application]]\nname = 'two'\nrun = 'two.cu'\n")
        self.fails(
            3,
            "corun",
            "--host",
            "cycle",
            "--applications",
            "two.toml",
            *GPU,
            "--mix",
            "two",
            says=["application two: several processes", "--record"],
        )
        self.ok("run", "two.cu", "--mode", "functional", "--record", "two.simt", *GPU)
        self.file(
            "two.toml",
            "[[application]]\nname = 'a'\nrun = 'two.simt'\n[[application]]\nname = 'b'\nrun = 'two.simt.1'\n",
        )
        out = self.ok(
            "corun",
            "--host",
            "cycle",
            "--applications",
            "two.toml",
            *GPU,
            "--mix",
            "a,b",
            "--limit",
            "2",
            "--policy",
            "mps",
            "--all",
        ).stdout
        self.assertRegex(out, r"\| parent \|")
        self.assertRegex(out, r"\| child \|")


if __name__ == "__main__":
    main()
