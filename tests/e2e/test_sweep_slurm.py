"""simtlab sweep --engine slurm, against a real Slurm on this machine that the test starts and ends."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

import chrome_trace
import slurm_cluster
from harness import SAXPY, SIMTLAB, Case, long_test, main
from sweep_scene import LAUNCH, POINT, WRAPPER

WHY_NOT = slurm_cluster.missing()


@unittest.skipIf(WHY_NOT, WHY_NOT)
class Slurm(Case):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.mkdtemp(prefix="simtlab-slurm-")
        cls.cluster = slurm_cluster.Cluster(cls.home)
        try:
            cls.cluster.start()
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()
        shutil.rmtree(cls.home, ignore_errors=True)

    def setUp(self):
        super().setUp()
        self.file("saxpy.ptx", SAXPY)
        self.file("l.toml", LAUNCH)
        self.wrapper = self.file("wrapper", WRAPPER)
        self.wrapper.chmod(0o755)
        self.log = self.folder / "log"

    def environment(self, extra=None):
        env = super().environment(extra)
        env.update(self.cluster.environment, LOG=str(self.log), REAL=SIMTLAB)
        return env

    def words(self, *args, points="[1:8:1]"):
        return [
            "sweep",
            "--engine",
            "slurm",
            "--poll",
            "0.2",
            "--program",
            str(self.wrapper),
            "--axis",
            f"sm.count={points}",
            *args,
            *POINT,
        ]

    def start(self, *args, nap="0", points="[1:8:1]"):
        process = subprocess.Popen(
            [SIMTLAB, *self.words(*args, points=points)],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment({"NAP": nap}),
        )
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
            process.communicate()

    def rows(self, sql, db="sweep.db"):
        with sqlite3.connect(self.folder / db) as connection:
            return connection.execute(sql).fetchall()

    def wait_for_log(self, pattern, seconds=30):
        end = time.time() + seconds
        while not (self.log.exists() and re.search(pattern, self.log.read_text())):
            self.assertLess(time.time(), end, f"{pattern} did not come:\n{self.cluster.logs()}")
            time.sleep(0.02)

    def check_once(self, points):
        """Each point ended well once, and none began again after that."""
        ended = []
        for line in self.log.read_text().splitlines():
            word, point, *status = line.split()
            self.assertNotIn(point, ended, line)
            if word == "end" and status == ["0"]:
                ended.append(point)
        self.assertEqual(sorted(map(int, ended)), list(range(1, points + 1)))
        self.assertEqual(self.rows("SELECT count(*) FROM points WHERE state = 'done'"), [(points,)])
        self.assertEqual(list(self.folder.glob("sweep.db.*")), [], "scripts, lists, logs and outcomes are cleared away")

    def finish(self, process):
        out, err = process.communicate(timeout=40)
        self.assertEqual(process.returncode, 0, f"{err}\n{self.cluster.logs()}")
        return out, err

    def test_a_study(self):
        out, err = self.finish(self.start("--timeline=t.json", "--points-per-task", "3"))
        self.assertIn("8 points, 8 done", out)
        self.assertRegex(err, r"job \d+: 8 points in 3 tasks")
        self.check_once(8)
        self.assertEqual(chrome_trace.check((self.folder / "t.json").read_text())["X"], 8)
        # The same figures as on this machine.
        self.ok("sweep", "--axis", "sm.count=[1:8:1]", "--db", "local.db", *POINT)
        figures = "SELECT point, value FROM metrics JOIN metric_names n ON n.id = metric WHERE n.name = 'gpu.cycles' ORDER BY point"
        self.assertEqual(self.rows(figures), self.rows(figures, "local.db"))
        self.assertIn("8 of 8 points are there", self.ok(*self.words()).stderr)

    def test_scripts(self):
        text = self.ok(*self.words("--dry-run", "--tasks", "4", "--sbatch=--partition=all")).stdout
        self.assertIn("#SBATCH --array=0-7%4\n", text)
        self.assertIn("#SBATCH --partition=all\n", text)
        self.assertIn(f"{self.folder}/sweep.db.d/batch-1.list", text)
        self.assertEqual(text.count('"point":'), 8)
        self.assertFalse((self.folder / "sweep.db").exists(), "nothing was kept")

    def test_refused(self):
        self.fails(7, *self.words("--sbatch=--partition=nosuch"), says=["[sweep-slurm]", "--sbatch"])
        self.assertEqual(self.rows("SELECT state, count(*) FROM points GROUP BY state"), [("pending", 8)])

    def test_failed_points(self):
        result = self.simtlab(
            "sweep",
            "--engine",
            "slurm",
            "--poll",
            "0.2",
            "--axis",
            "gpu=[v100,nosuch]",
            "--",
            "run",
            "saxpy.ptx",
            "--launch",
            "l.toml",
        )
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stdout, r"point 2, exit code 3: gpu=nosuch\n.*nosuch")

    def test_a_task_killed_in_the_middle(self):
        process = self.start("-v", nap="0.4", points="[1:4:1]")
        self.wait_for_log(r"begin 1\n")
        for pid in self.of_jobs():
            if b"--task-list" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)  # and with it the point that it runs
        out, err = self.finish(process)
        self.assertIn("to be run again: its task ended as FAILED", err)
        self.check_once(4)
        self.assertEqual(self.rows("SELECT max(attempts) FROM points"), [(2,)])

    def test_cancelled_tasks_are_given_to_the_cluster_again(self):
        process = self.start("-v", nap="0.4", points="[1:4:1]")
        self.wait_for_log(r"begin 1\n")
        self.assertEqual(self.cluster.run("scancel", "--signal=KILL", "--full", self.job() + "_0").returncode, 0)
        out, err = self.finish(process)
        self.assertIn("to be run again: its task ended as", err)
        self.check_once(4)
        self.assertEqual(self.rows("SELECT max(attempts) FROM points"), [(2,)])

    @long_test
    def test_a_node_that_is_lost(self):
        process = self.start("-v", nap="0.4", points="[1:4:1]")
        self.wait_for_log(r"begin 1\n")
        # What happens when a machine loses its power: the daemon and all of its jobs are gone at once; then it comes back.
        node = self.cluster.processes.pop("slurmd")
        node.kill()
        for pid in self.cluster.steps() + self.of_jobs():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        node.wait()
        self.cluster.wait_for(lambda: "down" in self.cluster.node_state(), "a node that is down")
        self.cluster.start_node("-b")
        out, err = self.finish(process)
        self.assertIn("to be run again", err)
        self.check_once(4)

    def job(self):
        return self.rows("SELECT job FROM batches")[0][0]

    def of_jobs(self):
        """Processes of this test's tasks: Slurm tells them their job."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                text = (entry / "environ").read_bytes() if entry.name.isdigit() else b""
                if f"LOG={self.log}".encode() in text and b"SLURM_ARRAY_JOB_ID=" in text:
                    found.append(int(entry.name))
        return found

    def test_points_that_are_lost_too_often_have_failed(self):
        process = self.start("--retries", "0", nap="5", points="[1:1:1]")
        self.wait_for_log(r"begin 1\n")
        self.cluster.run("scancel", "--signal=KILL", "--full", self.job() + "_0")
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(self.rows("SELECT state, error_id FROM points"), [("failed", "sweep-lost")])

    def test_the_sweep_is_killed_and_goes_on(self):
        process = self.start(nap="0.3")
        self.wait_for_log(r"end 1 0\n")
        end = time.time() + 30
        while not (done := self.rows("SELECT id FROM points WHERE state = 'done'")):
            self.assertLess(time.time(), end, self.cluster.logs())
            time.sleep(0.02)
        process.kill()
        process.communicate()
        # As if it had been killed after it kept the outcome and before it removed the file.
        (self.folder / "sweep.db.d" / f"{done[0][0]}.outcome").write_text("{}")
        self.assertEqual(len([s for s in self.rows("SELECT job FROM batches") if s[0]]), 1)
        out, err = self.finish(self.start(nap="0.3"))
        self.assertNotIn("job ", err, "the job that was there is followed, none is submitted")
        self.check_once(8)

    def test_killed_before_the_jobs_number_was_kept(self):
        process = self.start(nap="0.3")
        self.wait_for_log(r"begin 1\n")
        process.kill()
        process.communicate()
        with sqlite3.connect(self.folder / "sweep.db") as connection:
            connection.execute("UPDATE batches SET job = NULL")
        self.finish(self.start(nap="0.3"))
        self.check_once(8)

    def test_killed_before_the_job_was_submitted(self):
        self.fails(7, *self.words("--sbatch=--partition=nosuch"), says="[sweep-slurm]")
        with sqlite3.connect(self.folder / "sweep.db") as connection:
            connection.execute("INSERT INTO batches(id, name, tasks) VALUES (90, 'simtlab-never-submitted-90', 8)")
            connection.execute("UPDATE points SET state = 'running', attempts = 1, batch = 90, task = id - 1")
        self.finish(self.start())
        self.check_once(8)

    def test_interrupted(self):
        process = self.start(nap="0.3")
        self.wait_for_log(r"begin 1\n")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertRegex(err, r"scancel --name=simtlab-\w+-1")
        self.finish(self.start())
        self.check_once(8)


class WithoutSlurm(Case):
    def test_no_commands(self):
        self.file("saxpy.ptx", SAXPY)
        self.file("l.toml", LAUNCH)
        self.fails(
            7,
            "sweep",
            "--engine",
            "slurm",
            "--axis",
            "sm.count=1,2",
            *POINT,
            env={"PATH": str(self.folder)},
            says=["[sweep-slurm]", "slurm-client"],
        )


if __name__ == "__main__":
    main()
