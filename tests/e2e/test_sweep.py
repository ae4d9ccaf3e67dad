"""simtlab sweep on one machine: designs, command lines of points, databases, hostile input."""
import csv
import io
import json
import pathlib
import re
import sqlite3
import subprocess
import time

import chrome_trace
from harness import SAXPY, SIMTLAB, main, needs_clang
from sweep_scene import LAUNCH, POINT, Sweep


class Points(Sweep):
    def test_all_combinations_and_their_report(self):
        result = self.sweep(
            "--axis",
            "sm.count=[2,4]",
            "--axis",
            "dram=[hbm2-2000,ddr4-3200]",
            "--minimise",
            "gpu.time",
            "--minimise",
            "sm.count",
            "--timeline=t.json",
            "--csv=p.csv",
            "--html=r.html",
        )
        self.assertIn("4 points, 4 done", result.stdout)
        self.assertRegex(result.stdout, r"What each axis does to gpu\.time")
        counts = chrome_trace.check((self.folder / "t.json").read_text())
        self.assertEqual(counts["X"], 4)
        rows = list(csv.DictReader(io.StringIO((self.folder / "p.csv").read_text())))
        self.assertEqual(
            [(r["sm.count"], r["dram"]) for r in rows],
            [("2", "hbm2-2000"), ("2", "ddr4-3200"), ("4", "hbm2-2000"), ("4", "ddr4-3200")],
        )
        # Each point is what a run by hand gives.
        by_hand = self.run_json(
            "saxpy.ptx", "--launch", "l.toml", "--gpu", "v100", "--dram", "ddr4-3200", "--set", "sm.count=4"
        )
        self.assertEqual(float(rows[3]["gpu.time"]), by_hand["total"]["gpu.time"]["value"])
        manifest = json.loads(self.rows("sweep.db", "SELECT manifest FROM manifests WHERE point = 4")[0][0])
        self.assertIn("--dram=ddr4-3200", manifest["command"])
        self.assertEqual(
            self.rows("sweep.db", "SELECT dram, state FROM study_points WHERE id = 4"), [("ddr4-3200", "done")]
        )
        self.assertFalse((self.folder / "sweep.db.d").exists(), "what was put into the database is cleared away")
        page = (self.folder / "r.html").read_text()
        self.assertIn("Pareto front", page)
        self.assertNotIn("src=", page.split("<script>")[0])

    def test_again_runs_nothing(self):
        args = ["--axis", "sm.count=[2,4]", "--program", self.wrapper()]
        env = {"LOG": str(self.folder / "log"), "REAL": SIMTLAB}
        first = self.sweep(*args, env=env)
        second = self.sweep(*args, env=env)
        self.assertEqual(first.stdout, second.stdout)
        self.assertEqual((self.folder / "log").read_text().count("begin"), 2)

    def test_ranges_and_designs(self):
        plan = lambda *args: [line for line in self.ok("sweep", *args, "--dry-run", *POINT).stdout.splitlines()]
        self.assertEqual(len(plan("--axis", "sm.count=[60:132:12]")), 7)
        self.assertEqual(
            [re.search(r"bytes=([^']+)", p).group(1) for p in plan("--axis", "l2.bytes=[512K:2048K]")],
            ["512 KiB", "1024 KiB", "2048 KiB"],
        )
        self.assertEqual(len(plan("--axis", "sm.count=1,2,3", "--axis", "l1.ways=1,2,4", "--design", "zip")), 3)
        self.assertEqual(
            len(plan("--axis", "sm.count=1,2,3", "--axis", "l1.ways=1,2,4", "--constraint", "sm.count * l1.ways <= 4")),
            6,
        )
        cube = plan(
            "--axis",
            "sm.count=[1..100]",
            "--axis",
            "l1.ways=[1..100]",
            "--design",
            "latin-hypercube",
            "--points",
            "100",
        )
        for axis in ("sm.count", "l1.ways"):
            self.assertEqual(
                sorted(int(re.search(re.escape(axis) + r"=(\d+)", p).group(1)) for p in cube),
                list(range(1, 101)),
                "each part is drawn from once",
            )
        self.assertEqual(
            cube,
            plan(
                "--axis",
                "sm.count=[1..100]",
                "--axis",
                "l1.ways=[1..100]",
                "--design",
                "latin-hypercube",
                "--points",
                "100",
            ),
        )
        self.assertNotEqual(
            cube,
            plan(
                "--axis",
                "sm.count=[1..100]",
                "--axis",
                "l1.ways=[1..100]",
                "--design",
                "latin-hypercube",
                "--points",
                "100",
                "--seed",
                "1",
            ),
        )
        drawn = plan("--axis", "sm.count=[1..4]", "--axis", "l1.ways=1,2", "--design", "random", "--points", "8")
        self.assertEqual(len(set(drawn)), 8, "no combination twice")

    def test_study_file_kernels_and_repeats(self):
        self.file("sub/k/saxpy.ptx", SAXPY)
        self.file("sub/k/l.toml", LAUNCH)
        self.file(
            "sub/memory.toml",
            'command = ["run", "--gpu", "v100"]\nkernels = ["k/saxpy.ptx --launch k/l.toml"]\nrepeats = 2\nseed = 5\n'
            '[axes]\nsm.count = { from = 2, to = 6, step = 2 }\n"l1.ways" = [2, 4]\n[report]\nminimise = ["gpu.time"]\n',
        )
        self.ok("sweep", "sub/memory.toml")
        self.assertEqual(
            self.rows(
                "memory.db",
                "SELECT count(*), min(seed), max(seed), count(DISTINCT combination) FROM points WHERE state = 'done'",
            ),
            [(12, 5, 6, 6)],
        )
        commands = [json.loads(m)["command"] for (m,) in self.rows("memory.db", "SELECT manifest FROM manifests")]
        self.assertTrue(any("--seed=6" in c and "sm.count=6" in c for c in commands), commands)
        self.assertEqual(
            self.rows("memory.db", "SELECT name FROM axes ORDER BY id"), [("kernel",), ("sm.count",), ("l1.ways",)]
        )


# Notes the GPU that it ran on and its arguments; without any it launches, with "idle" it does not.
PROGRAM = """
#include <cstdio>
#include <cstring>
__global__ void work(int* p) { *p += 1; }
int main(int count, char** words) {
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  FILE* log = fopen("log.txt", "a");
  fprintf(log, "%s:", device.name);
  for (int i = 1; i < count; ++i) fprintf(log, " %s", words[i]);
  fprintf(log, "\\n");
  fclose(log);
  if (count > 1 && strcmp(words[1], "idle") == 0) return 0;
  int* p;
  cudaMalloc(&p, 4);
  work<<<1, 32>>>(p);
  return cudaDeviceSynchronize();
}
"""


class CommandLines(Sweep):
    """Values of an axis that are command lines of their own."""

    def points(self, *args):
        return [line.split(" ", 1)[1] for line in self.ok("sweep", "--dry-run", *args).stdout.splitlines()]

    def test_every_argument_reaches_every_point(self):
        kernels = [
            "--kernels",
            "a.cu",
            "a.cu -- 20000",
            "a.cu --regs 32 -- 5 --gpu=x",
            "-- ./app 7",
            "b.ptx --launch l.toml",
        ]
        seed = "--seed=0"
        self.assertEqual(
            self.points(*kernels, "--", "run", "--gpu", "gtx480"),
            [
                "run a.cu --gpu gtx480",
                "run a.cu --gpu gtx480 -- 20000",
                "run a.cu --regs 32 --gpu gtx480 -- 5 --gpu=x",
                "run --gpu gtx480 -- ./app 7",
                f"run b.ptx --launch l.toml --gpu gtx480 {seed}",
            ],
        )
        self.assertEqual(
            self.points(
                *kernels,
                "--axis",
                "gpu=[gtx480]",
                "--axis",
                "sm.count=[2]",
                "--axis",
                "lines=true",
                "--",
                "run",
                "--mode=timing",
                "--",
                "x",
                "--seed=9",
            ),
            [
                "run a.cu --mode=timing --gpu=gtx480 --set sm.count=2 --lines -- x --seed=9",
                "run a.cu --mode=timing --gpu=gtx480 --set sm.count=2 --lines -- 20000 x --seed=9",
                "run a.cu --regs 32 --mode=timing --gpu=gtx480 --set sm.count=2 --lines -- 5 --gpu=x x --seed=9",
                "run --mode=timing --gpu=gtx480 --set sm.count=2 --lines -- ./app 7 x --seed=9",
                "run b.ptx --launch l.toml --mode=timing --gpu=gtx480 --set sm.count=2 --lines -- x --seed=9",
            ],
        )
        self.file("s.toml", 'command = ["cache", "--gpu", "k40"]\nkernels = ["a.cu -- 1", "b.ptx --launch l.toml"]\n')
        self.assertEqual(
            self.points("s.toml"),
            [f"cache a.cu --gpu k40 {seed} -- 1", f"cache b.ptx --launch l.toml --gpu k40 {seed}"],
        )
        self.assertEqual(
            self.points("--axis", "kernel=[a.cu -- 1]", "--", "predict", "{kernel}", "--gpu", "k40"),
            [f"predict a.cu --gpu k40 {seed} -- 1"],
        )

    def test_options_that_both_give(self):
        refuses = lambda *args, says: self.fails(2, "sweep", "--dry-run", *args, says=says)
        refuses("--kernels", "a.cu --gpu k40 -- 1", "--", "run", "--gpu=gtx480", says=["sets --gpu", "[sweep-axis]"])
        refuses("--kernels", "a.cu --gpu=k40", "--axis", "gpu=[gtx480]", "--", "run", says="varies what --gpu")
        refuses("--kernels", "a.cu --json=x", "--", "run", says="same file")
        refuses("--kernels", "a.cu --seed 4", "--repeats", "2", "--", "run", says="sets the seed itself")
        # Those that may be repeated, and words of programs, are nobody's option.
        self.assertEqual(
            self.points(
                "--kernels", "a.cu --set l1.ways=2 -- --gpu x --json=y --seed 3", "--", "run", "--set", "sm.count=3"
            ),
            ["run a.cu --set l1.ways=2 --set sm.count=3 -- --gpu x --json=y --seed 3"],
        )

    @needs_clang
    def test_points_run_on_the_gpu_that_was_asked_for(self):
        self.file("p.cu", PROGRAM)
        result = self.simtlab(
            "sweep",
            "--kernels",
            "p.cu",
            "p.cu -- 20000",
            "p.cu -- idle",
            "--db",
            "s.db",
            "-j",
            "1",
            "--",
            "run",
            "--gpu",
            "gtx480",
            "--",
            "last",
        )
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(
            sorted((self.folder / "log.txt").read_text().splitlines()),
            ["GeForce GTX 480: 20000 last", "GeForce GTX 480: idle last", "GeForce GTX 480: last"],
        )
        self.assertEqual(
            self.rows("s.db", "SELECT state, error_id FROM points ORDER BY id"),
            [("done", None), ("done", None), ("failed", "sweep-no-kernel")],
        )
        self.assertIn("it launched no kernel", result.stdout)
        devices = {
            json.loads(m)["device"] for (m,) in self.rows("s.db", "SELECT manifest FROM manifests WHERE point < 3")
        }
        self.assertEqual(devices, {"gtx480"})
        # Another choice of launches leaves nothing either.
        self.simtlab("sweep", "--axis", "kernels=[1,9]", "--db", "t.db", "--", "run", "--gpu", "gtx480", "p.cu")
        self.assertEqual(self.rows("t.db", "SELECT state FROM points ORDER BY id"), [("done",), ("failed",)])


class OtherStudies(Sweep):
    def test_a_study_without_results_is_replaced(self):
        self.simtlab("sweep", "--axis", "gpu=[nosuch,nonesuch]", "--", "run", "saxpy.ptx", "--launch", "l.toml")
        self.assertEqual(self.rows("sweep.db", "SELECT state FROM points"), [("failed",), ("failed",)])
        again = self.ok("sweep", "--axis", "gpu=[v100]", "--", "run", "saxpy.ptx", "--launch", "l.toml")
        self.assertIn("axis 'gpu' has nosuch, nonesuch there and v100 here", again.stderr)
        self.assertEqual(self.rows("sweep.db", "SELECT gpu, state FROM study_points"), [("v100", "done")])
        self.assertEqual(self.rows("sweep.db", "SELECT count(*) FROM results"), [(1,)])

    def test_a_study_with_results_is_not(self):
        self.sweep("--axis", "sm.count=[2,4]", "--axis", "l2.bytes=[3MiB]")
        self.fails(
            3,
            "sweep",
            "--axis",
            "sm.count=[2,5]",
            "--axis",
            "l2.bytes=[3MiB]",
            *POINT,
            says=["[sweep-other-study]", "axis 'sm.count' has 2, 4 there and 2, 5 here"],
        )
        self.fails(3, "sweep", "--axis", "sm.count=[2,4]", *POINT, says="axis 'l2.bytes' is there and not here")
        self.sweep(
            "--axis", "sm.count=[2,4]", "--axis", "l2.bytes=[3 MiB]", "--program", "/bin/false"
        )  # the same: nothing is run


class BadInput(Sweep):
    def study(self, code, text, *says):
        self.file("s.toml", text)
        return self.fails(code, "sweep", "s.toml", says=says)

    def test_study_files(self):
        self.study(3, 'command = ["run"\n', "s.toml:1:18", "[toml-syntax]")
        self.study(3, 'comand = ["run"]\n', "s.toml:1:", "did you mean 'command'?", "[sweep-file]")
        self.study(3, "command = []\n", "s.toml:1:11", "no list of words")
        self.study(3, '[design]\nkind = "cartesan"\n', "s.toml:2:8", "did you mean 'cartesian'?")
        self.study(3, '[axes]\nsm.count = "9:1:2"\n', "s.toml:2:12", "above the last")
        self.study(3, "repeats = 0\n", "s.toml:1:11")
        self.study(
            3,
            'command = ["run", "saxpy.ptx"]\nconstraints = ["sm.cout < 3"]\n[axes]\nsm.count = [1, 2]\n',
            "s.toml:2:16",
            "did you mean 'sm.count'?",
        )
        self.study(
            3, 'command = ["run", "saxpy.ptx"]\n[axes]\nthreds = [1, 2]\n', "s.toml:3:10", "did you mean 'threads'?"
        )
        self.study(3, b'command = ["run"]\nname = "\xff"\n', "s.toml:2:")
        self.study(3, "a" + ".a" * 5000 + " = 1\n", "nested too deeply")
        self.assertFalse((self.folder / "s.db").exists(), "nothing was made")

    def test_command_lines(self):
        axis = lambda text, *says: self.fails(2, "sweep", "--axis", text, *POINT, says=["[sweep-axis]", *says])
        axis("sm.count", "NAME=VALUES")
        axis("sm.count=[1,2", "bracket")
        axis("sm.count=[1,,2]", "empty")
        axis("sm.count=[1:5:0]", "step")
        axis("nokey=1,2", "no option of `simtlab run`")
        self.fails(2, "sweep", "--axis", "sm.count=1,2", says="[sweep-what]")
        self.fails(2, "sweep", "--axis", "sm.count=1,2", "--", "list", "gpus", says="gives no result")
        self.fails(2, "sweep", "--axis", "sm.count=1,2", "--", "run", "saxpy.ptx", "--json=x", says="same file")
        self.fails(2, "sweep", "--axis", "gpu=v100,a100", *POINT, says="varies what --gpu")
        self.fails(3, "sweep", "--axis", "sm.count=[1..9]", *POINT, says=["[sweep-design]", "latin-hypercube"])
        self.fails(
            3, "sweep", "--axis", "sm.count=1,2", "--axis", "l1.ways=1", "--design", "zip", *POINT, says="2 values"
        )
        self.fails(
            3,
            "sweep",
            "--axis",
            "sm.count=1,2",
            "--constraint",
            "sm.count > 2",
            "--constraint",
            "sm.count < 2",
            *POINT,
            says=["[sweep-empty]", '"sm.count > 2" excludes 2'],
        )
        self.fails(
            3, "sweep", "--axis", "sm.count=1,2", "--constraint", "sm.count >", *POINT, says="missing at its end"
        )
        self.fails(
            3,
            "sweep",
            "--axis",
            "sm.count=1,2",
            "--constraint",
            "gpu == 'v100'",
            *POINT,
            says="no axis is called 'gpu'",
        )
        self.fails(
            3,
            "sweep",
            "--axis",
            "sm.count=[1..3]",
            "--design",
            "random",
            "--points",
            "4",
            *POINT,
            says="only 3 different",
        )

    def test_more_points_than_memory(self):
        large = ["--axis", "sm.count=[1:100000:1]", "--axis", "l1.ways=[1:100000:1]"]
        self.fails(3, "sweep", *large, *POINT, says=["[sweep-large]", "random"])
        before = time.time()
        # 200,000 points are written before the first one runs, in little memory.
        process = subprocess.Popen(
            [SIMTLAB, "sweep", "--axis", "sm.count=[1:200000:1]", "-j", "1", *POINT],
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while time.time() - before < 60 and self.started() == 0:
            time.sleep(0.05)
        peak = int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text()).group(1))
        process.kill()
        process.wait()
        self.assertLess(peak, 200 * 1024, "KiB")
        self.assertEqual(self.rows("sweep.db", "SELECT count(*) FROM points"), [(200000,)])

    def started(self):
        try:
            return self.rows("sweep.db", "SELECT count(*) FROM points WHERE state <> 'pending'")[0][0]
        except sqlite3.Error:
            return 0

    def test_databases(self):
        args = ["--axis", "sm.count=[2,4]"]
        self.file("text.db", "no database, only text, long enough to be looked at" * 20)
        self.fails(3, "sweep", *args, "--db", "text.db", *POINT, says="[sweep-database]")
        with sqlite3.connect(self.folder / "foreign.db") as connection:
            connection.execute("CREATE TABLE t(x)")
        self.fails(3, "sweep", *args, "--db", "foreign.db", *POINT, says="of another program")
        self.sweep(*args)
        self.fails(
            3, "sweep", "--axis", "sm.count=[2,5]", *POINT, says=["[sweep-other-study]", "axis 'sm.count'", "--db"]
        )
        with sqlite3.connect(self.folder / "sweep.db") as connection:
            connection.execute("PRAGMA user_version = 99")
        self.fails(3, "sweep", *args, *POINT, says="[sweep-schema]")
        self.fails(3, "report", "sweep.db", says="[sweep-schema]")
        self.fails(1, "sweep", *args, "--db", "nowhere/x.db", *POINT, says=["[file-write]", "nowhere/x.db"])
        data = bytearray((self.folder / "sweep.db").read_bytes())
        for at in range(4096, len(data), 7):
            data[at] ^= 0x5A
        (self.folder / "broken.db").write_bytes(data)
        self.assertIn(self.simtlab("report", "broken.db").returncode, (1, 3))


if __name__ == "__main__":
    main()
