"""What the scripts about sweeps share: a small kernel, a simtlab that notes when points begin and end, and how a sweep is run and read."""
import sqlite3
import subprocess

from harness import SAXPY, SIMTLAB, Case

LAUNCH = """kernel = "saxpy"
grid = 2
block = 64
[[arg]]
type = "f32"
value = 2.0
[[arg]]
type = "f32"
shape = [128]
init = "iota"
[[arg]]
type = "f32"
shape = [128]
init = "zero"
[[arg]]
type = "u32"
value = 128
"""
POINT = ["--", "run", "saxpy.ptx", "--launch", "l.toml", "--gpu", "v100"]
# Runs the real simtlab and notes in a file of its own when each point's process begins and ends.
WRAPPER = """#!/bin/sh
[ "$1" = sweep ] && exec "$REAL" "$@"
for a in "$@"; do case "$a" in --json=*) id=${a##*/};; esac; done
echo "begin ${id%.json}" >> "$LOG"
sleep "${NAP:-0}"
"$REAL" "$@"
status=$?
echo "end ${id%.json} $status" >> "$LOG"
exit $status
"""


class Sweep(Case):
    def setUp(self):
        super().setUp()
        self.file("saxpy.ptx", SAXPY)
        self.file("l.toml", LAUNCH)

    def sweep(self, *args, **kw):
        return self.ok("sweep", *args, *POINT, **kw)

    def rows(self, db, sql):
        with sqlite3.connect(self.folder / db) as connection:
            return connection.execute(sql).fetchall()

    def wrapper(self):
        path = self.file("wrapper", WRAPPER)
        path.chmod(0o755)
        return path

    def start(self, *args, nap="0"):
        return subprocess.Popen(
            [SIMTLAB, "sweep", *map(str, args), *POINT],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment({"LOG": str(self.folder / "log"), "REAL": SIMTLAB, "NAP": nap}),
        )
