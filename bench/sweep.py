#!/usr/bin/env python3
"""What a sweep costs besides its points: short points of known length, and how much of the workers' time is not theirs.

usage: sweep.py [--points N] [--jobs N] [--nap SECONDS] [--simtlab FILE]
A point is examples/saxpy.ptx behind a sleep of NAP seconds. Loss: jobs x wall time of the whole command, without what passed between start and end of
the points' processes; it includes making the database, starting processes, reading results, SQLite and the report.
"""
import argparse
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--nap", type=float, default=0.2)
    parser.add_argument("--simtlab", default=str(SOURCE / "build/release/bin/simtlab"))
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "point")
        program.write_text(f'#!/bin/sh\nsleep {o.nap}\nexec "{o.simtlab}" "$@"\n')
        program.chmod(0o755)
        words = [
            o.simtlab,
            "sweep",
            "--program",
            str(program),
            "-j",
            str(o.jobs),
            "--axis",
            f"seed=[1:{o.points}:1]",
            "--db",
            "s.db",
            "--",
            "run",
            str(SOURCE / "examples/saxpy.ptx"),
            "--launch",
            str(SOURCE / "examples/saxpy.toml"),
            "--gpu",
            "v100",
        ]
        begin = time.monotonic()
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        wall = time.monotonic() - begin
        own, most = (
            sqlite3.connect(pathlib.Path(folder, "s.db"))
            .execute("SELECT sum(ended - begun), max(ended - begun) FROM points WHERE state = 'done'")
            .fetchone()
        )
    lost = (o.jobs * wall - own) / o.points
    every = (o.jobs * wall - o.points * o.nap) / o.points
    print(
        f"{o.points} points, {o.jobs} at once: {wall:.2f} s; a point {own / o.points * 1e3:.1f} ms (at most {most * 1e3:.1f}); lost {lost * 1e3:.2f} ms a point of a worker's time, "
        f"{lost * o.points / (o.jobs * wall):.2%}; of points of 1 s that would be {lost / (1 + lost):.2%}. "
        f"Everything but the sleep: {every * 1e3:.1f} ms"
    )


if __name__ == "__main__":
    main()
