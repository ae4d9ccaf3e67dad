#!/usr/bin/env python3
"""What a sweep of many points of about a second loses, and what kills of it lose.

usage: sweep_overhead.py [--points N] [--jobs N] [--seconds S] [--sleep] [--kills K] [--simtlab FILE]
Points are simulations: one kernel of a GTX 480 with two SMs, whose loop is made so long that a run alone takes S seconds (measured first). With --sleep
they sleep S seconds and then simulate next to nothing, which leaves the cores to others.

Lost is jobs x the command's wall time without the time between begin and end of the points' processes. On a machine that does other work, too, wall times
are not worth much: then the processor time of the sweep's own process and the gaps between a worker's points say more; both are printed.

With --kills the sweep is ended by SIGKILL at K random moments and the same command given again. Checked: every point is done once, and none that was done at
a kill has been run again.
"""
import argparse
import os
import pathlib
import random
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
KERNEL = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry work(.param .u64 out, .param .u32 rounds)
{
  .reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  cvta.to.global.u64 %rd3, %rd1;
  add.s64 %rd3, %rd3, %rd2;
AGAIN:
  ld.global.f32 %f1, [%rd3];
  fma.rn.f32 %f2, %f1, %f1, %f1;
  add.f32 %f3, %f2, %f1;
  st.global.f32 [%rd3], %f3;
  sub.u32 %r1, %r1, 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra AGAIN;
  ret;
}
"""


def point_words(rounds):
    return [
        "run",
        "work.ptx",
        "--gpu",
        "gtx480",
        "--set",
        "sm.count=2",
        "--threads",
        "1",
        "--grid",
        "8",
        "--block",
        "256",
        "--arg",
        "buffer:256:f32:zero",
        "--arg",
        f"u32:{rounds}",
    ]


def rounds_for(simtlab, folder, seconds):
    """By the processor time of two runs, so that other work on the machine does not count."""

    def cost(rounds):
        before = os.times()
        subprocess.run([simtlab, *point_words(rounds), "-q", "--json=/dev/null"], cwd=folder, check=True)
        after = os.times()
        return after.children_user + after.children_system - before.children_user - before.children_system

    small, large = cost(100), cost(5100)
    return max(1, round(100 + (seconds - small) * 5000 / max(1e-3, large - small)))


def own_processor_time(process):
    """Of the sweep itself, without its points: they are its children."""
    try:
        fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return None


def run_sweep(words, folder, kill_after=None):
    begin, last = time.monotonic(), [0.0]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    over = threading.Event()

    def look():
        while not over.wait(0.05):
            last[0] = own_processor_time(process) or last[0]
            if kill_after is not None and time.monotonic() - begin > kill_after:
                process.send_signal(signal.SIGKILL)
                return

    looker = threading.Thread(target=look)
    looker.start()
    _, said = process.communicate()
    over.set()
    looker.join()
    if process.returncode not in (0, -signal.SIGKILL):
        sys.exit(f"the sweep ended with {process.returncode}: {said}")
    return time.monotonic() - begin, last[0], process.returncode == 0


def rows(folder, sql):
    with sqlite3.connect(pathlib.Path(folder, "s.db")) as db:
        return db.execute(sql).fetchall()


def done(folder):
    try:
        return dict(rows(folder, "SELECT id, begun FROM points WHERE state = 'done'"))
    except sqlite3.OperationalError:
        return {}


def gaps(folder):
    """Seconds between two points of one worker."""
    out, before = [], {}
    for worker, begun, ended in rows(
        folder, "SELECT worker, begun, ended FROM points WHERE state = 'done' ORDER BY begun"
    ):
        if worker in before:
            out.append(begun - before[worker])
        before[worker] = ended
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--sleep", action="store_true")
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simtlab", default=str(SOURCE / "build/release/bin/simtlab"))
    o = parser.parse_args()
    o.simtlab = str(pathlib.Path(o.simtlab).resolve())
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "work.ptx").write_text(KERNEL)
        program = pathlib.Path(folder, "point")
        program.write_text(f'#!/bin/sh\nsleep {o.seconds}\nexec "{o.simtlab}" "$@"\n')
        program.chmod(0o755)
        words = [
            o.simtlab,
            "sweep",
            "-j",
            str(o.jobs),
            "--axis",
            f"seed=[1:{o.points}:1]",
            "--db",
            "s.db",
            *(["--program", str(program)] if o.sleep else []),
            "--",
            *point_words(1 if o.sleep else rounds_for(o.simtlab, folder, o.seconds)),
        ]
        rng, wall, processor = random.Random(o.seed), 0.0, 0.0
        for kill in range(o.kills):
            before = done(folder)
            expected = o.points * o.seconds / o.jobs
            took, own, complete = run_sweep(words, folder, rng.uniform(0, 1.5 * expected / (o.kills + 1)))
            wall, processor = wall + took, processor + own
            after = done(folder)
            again = [i for i in before if after.get(i) != before[i]]
            print(
                f"kill {kill + 1} after {took:.1f} s: {len(after)} points done, {len(again)} that were done before have been run again",
                flush=True,
            )
            if again:
                sys.exit("points were run twice")
            if complete:
                break
        before = done(folder)
        took, own, _ = run_sweep(words, folder)
        wall, processor = wall + took, processor + own
        after = done(folder)
        if len(after) != o.points or rows(folder, "SELECT count(*), count(DISTINCT point) FROM results") != [
            (o.points, o.points)
        ]:
            sys.exit(f"{len(after)} of {o.points} points are done")
        if any(after[i] != before[i] for i in before):
            sys.exit("points were run twice")
        (own_time,) = rows(folder, "SELECT sum(ended - begun) FROM points")[0]
        first, last = rows(folder, "SELECT min(begun), max(ended) FROM points")[0]
        between = gaps(folder)
    print(f"{o.points} points, {o.jobs} at once, {o.kills} kills: {wall:.1f} s; a point {own_time / o.points:.3f} s")
    if o.kills == 0:
        lost = o.jobs * wall - own_time
        print(
            f"lost: {lost:.2f} s of the workers' time, {lost / (o.jobs * wall):.2%}; before the first and behind the last point {wall - (last - first):.2f} s of wall time"
        )
    print(
        f"the sweep's own processor time: {processor:.2f} s, {processor / o.points * 1e3:.2f} ms a point, {processor / (processor + own_time):.2%} of the points' time"
    )
    if between and o.kills == 0:
        between.sort()
        print(
            f"between two points of a worker: median {statistics.median(between) * 1e3:.2f} ms, 99 % below {between[int(0.99 * len(between))] * 1e3:.1f} ms, at most {between[-1] * 1e3:.1f} ms"
        )


if __name__ == "__main__":
    main()
