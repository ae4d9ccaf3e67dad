"""simtlab sweep when points fail, when it is killed or interrupted, and on a full disk."""
import random
import signal
import sqlite3
import subprocess
import time

from harness import SIMTLAB, SOURCE, main
from sweep_scene import POINT, Sweep


class Failures(Sweep):
    def test_failed_points_are_listed_and_do_not_stop_the_rest(self):
        result = self.simtlab(
            "sweep", "--axis", "gpu=[v100,nosuch,a100]", "--", "run", "saxpy.ptx", "--launch", "l.toml"
        )
        self.assertEqual(result.returncode, 1)
        self.assertIn("[sweep-failed]", result.stderr)
        self.assertIn("3 points, 2 done, 1 failed", result.stdout)
        self.assertRegex(result.stdout, r"point 2, exit code 3: gpu=nosuch\n.*nosuch")
        self.assertEqual(self.rows("sweep.db", "SELECT error_id <> '', exit_code FROM points WHERE id = 2"), [(1, 3)])

    def test_a_crash_and_a_point_that_takes_too_long(self):
        script = self.file(
            "odd",
            '#!/bin/sh\ncase "$*" in *sm.count=2*) kill -SEGV $$;; *sm.count=3*) sleep 20;; esac\nexec "$REAL" "$@"\n',
        )
        script.chmod(0o755)
        result = self.simtlab(
            "sweep",
            "--axis",
            "sm.count=[2,3,4]",
            "--timeout",
            "400 ms",
            "--program",
            script,
            *POINT,
            env={"REAL": SIMTLAB},
        )
        self.assertEqual(result.returncode, 1)
        self.assertEqual(
            self.rows("sweep.db", "SELECT state, error_id FROM points ORDER BY id"),
            [("failed", "sweep-crash"), ("failed", "sweep-timeout"), ("done", None)],
        )
        # Only those again.
        self.ok("sweep", "--axis", "sm.count=[2,3,4]", "--retry-failed", *POINT)
        self.assertEqual(self.rows("sweep.db", "SELECT attempts FROM points ORDER BY id"), [(2,), (2,), (1,)])

    def test_the_example(self):
        result = self.ok(
            "sweep", SOURCE / "examples/sweep/memory.toml", "--constraint", "sm.count <= 20", "--html=r.html"
        )
        self.assertIn("study memory: 6 points, 6 done", result.stdout)
        self.assertRegex(
            result.stdout, r"on the Pareto front: gpu\.time, the less the better; sm\.count, the less the better"
        )

    def test_a_limit_of_failures(self):
        result = self.simtlab(
            "sweep",
            "--axis",
            "gpu=[n1,n2,n3,n4,n5,n6]",
            "-j",
            "1",
            "--max-failures",
            "2",
            "--",
            "run",
            "saxpy.ptx",
            "--launch",
            "l.toml",
        )
        self.assertEqual(result.returncode, 1)
        self.assertEqual(
            self.rows("sweep.db", "SELECT state, count(*) FROM points GROUP BY state"), [("failed", 2), ("pending", 4)]
        )

    def test_full_disk(self):
        # A file may not grow beyond the limit: as on a full disk the write fails in the middle.
        args = ["sweep", "--axis", "sm.count=[1:40:1]", "-j", "2", *POINT]
        limited = subprocess.run(
            ["bash", "-c", 'ulimit -f 150; trap "" XFSZ; exec "$@"', "-", SIMTLAB, *args],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=120,
        )
        self.assertEqual(limited.returncode, 1, limited.stderr)
        self.assertRegex(limited.stderr, r"\[sweep-(database|disk)\]")
        self.assertIn("the same command goes on", limited.stderr)
        self.ok(*args)
        self.assertEqual(self.rows("sweep.db", "SELECT count(*) FROM points WHERE state = 'done'"), [(40,)])


class Kills(Sweep):
    AXIS = ["--axis", "sm.count=[1:40:1]", "-j", "3"]

    def check_log(self):
        """No point's process begins after one of that point has ended well; none ends well twice."""
        ended = set()
        for line in (self.folder / "log").read_text().splitlines():
            word, point, *status = line.split()
            if word == "begin":
                self.assertNotIn(point, ended, f"point {point} was run again after it had ended")
            elif status == ["0"]:
                self.assertNotIn(point, ended, f"point {point} ended twice")
                ended.add(point)
        return ended

    def test_killed_at_random_moments(self):
        rng = random.Random(12)
        wrapper = self.wrapper()
        for kill in range(60):
            process = self.start(*self.AXIS, "--program", wrapper, nap="0.02")
            time.sleep(rng.uniform(0.005, 0.25))
            process.kill()
            process.communicate()
            if (self.folder / "sweep.db").exists() and kill > 5:
                done = (
                    self.rows("sweep.db", "SELECT count(*) FROM sqlite_master WHERE name = 'points'") == [(1,)]
                    and self.rows("sweep.db", "SELECT count(*) FROM points WHERE state = 'done'")[0][0]
                )
                if done and done >= 36:
                    break
        process = self.start(*self.AXIS, "--program", wrapper)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn("40 points, 40 done", out)
        self.check_log()
        self.assertEqual(self.rows("sweep.db", "SELECT count(*), count(DISTINCT point) FROM results"), [(40, 40)])
        # The same study without kills has the same figures.
        self.ok("sweep", *self.AXIS, "--db", "other.db", *POINT)
        figures = "SELECT point, value FROM metrics JOIN metric_names n ON n.id = metric WHERE n.name = 'gpu.cycles' ORDER BY point"
        self.assertEqual(self.rows("sweep.db", figures), self.rows("other.db", figures))

    def test_result_that_was_written_before_the_kill_is_taken(self):
        self.ok("sweep", "--axis", "sm.count=[2,4]", *POINT)
        result = self.ok("report", "sweep.db", "--point", "2", "--json").stdout
        with sqlite3.connect(self.folder / "sweep.db") as connection:
            connection.execute("UPDATE points SET state = 'running' WHERE id = 2")
        self.file("sweep.db.d/2.json", result)
        self.file("sweep.db.d/1.json.tmp", "half")
        again = self.ok("sweep", "--axis", "sm.count=[2,4]", "--program", "/bin/false", *POINT)
        self.assertIn("(1 found beside the database)", again.stderr)
        self.assertEqual(self.rows("sweep.db", "SELECT state, attempts FROM points WHERE id = 2"), [("done", 1)])

    def test_interrupted(self):
        process = self.start(*self.AXIS, "--program", self.wrapper(), nap="0.2")
        deadline = time.time() + 20
        while time.time() < deadline and not (
            (self.folder / "log").exists() and "end" in (self.folder / "log").read_text()
        ):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("the same command goes on", err)
        self.assertIn("study sweep: 40 points", out)
        states = dict(self.rows("sweep.db", "SELECT state, count(*) FROM points GROUP BY state"))
        self.assertNotIn("running", states)
        self.assertGreater(states["done"], 0)
        self.assertGreater(states["pending"], 0)
        process = self.start(*self.AXIS, "--program", self.wrapper())
        out, err = process.communicate(timeout=60)
        self.assertIn("40 points, 40 done", out, err)
        self.check_log()

    def test_two_at_once(self):
        first = self.start(*self.AXIS, "--program", self.wrapper(), nap="1")
        deadline = time.time() + 20
        while time.time() < deadline and not (self.folder / "log").exists():
            time.sleep(0.02)
        self.fails(1, "sweep", *self.AXIS, *POINT, says=["[sweep-busy]", "another --db"])
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=20)


if __name__ == "__main__":
    main()
