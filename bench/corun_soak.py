#!/usr/bin/env python3
"""Soak and overheads of the live co-run daemon, without a GPU (tests/e2e/corun/fake_cuda.c stands in for CUDA).

usage: corun_soak.py [--processes 32] [--launches 100000] [--policy shark] [--limit 4]
Prints what a launch costs bare, with the library loaded but off, and gated; then the soak: launches, grants, ends, losses, launches at once,
memory of the daemon. Exit status 1 if a launch was lost, granted twice, or more ran at once than the limit allows.
"""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
SIMTLAB = pathlib.Path(os.environ.get("SIMTLAB", SOURCE / "build/release/bin/simtlab")).resolve()
PRELOAD = SIMTLAB.parent.parent / "lib" / "libsimtlab_corun.so"


def build(at):
    here = SOURCE / "tests/e2e/corun"
    subprocess.run(
        [
            "gcc",
            "-O2",
            "-w",
            "-shared",
            "-fPIC",
            here / "fake_cuda.c",
            "-Wl,-soname,libcudart.so.12",
            "-o",
            at / "libcudart.so.12",
            "-lpthread",
        ],
        check=True,
    )
    subprocess.run(
        [
            "gcc",
            "-O2",
            "-w",
            here / "launcher.c",
            at / "libcudart.so.12",
            f"-Wl,-rpath,{at}",
            "-o",
            at / "launcher",
            "-lpthread",
        ],
        check=True,
    )


def cost(at, env):
    out = subprocess.run(
        [at / "launcher", "20000", "launch"], env=env, capture_output=True, text=True, check=True
    ).stdout
    return tuple(float(x) for x in re.search(r"p50 ([\d.]+) us p99 ([\d.]+) us", out).groups())


def serve(at, env, *args):
    daemon = subprocess.Popen(
        [SIMTLAB, "corun", "serve", *args], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    daemon.stderr.readline()
    return daemon


def memory(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text()).group(1)) / 1024


def most_at_once(path):
    events = []
    for line in path.read_text().splitlines():
        _, begin, end, _ = line.split()
        events += [(int(begin), 1), (int(end), -1)]
    now = most = 0
    for _, change in sorted(events):
        now += change
        most = max(most, now)
    return most


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--launches", type=int, default=100000)
    parser.add_argument("--policy", default="shark")
    parser.add_argument("--limit", type=int, default=4)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="simtlab-soak-") as folder:
        at = pathlib.Path(folder).resolve()
        at.chmod(0o700)
        build(at)
        env = {**os.environ, "SIMTLAB_CORUN_DIR": str(at / "run"), "FAKE_NS": "0"}
        print("a launch            p50/us   p99/us")
        print("bare               %7.3f  %7.3f" % cost(at, env))
        print("library, off       %7.3f  %7.3f" % cost(at, {**env, "LD_PRELOAD": str(PRELOAD), "SIMTLAB_CORUN": "off"}))
        daemon = serve(at, env, "--policy", "mps")
        print("gated              %7.3f  %7.3f" % cost(at, {**env, "LD_PRELOAD": str(PRELOAD)}))
        daemon.send_signal(signal.SIGTERM)
        daemon.communicate()

        trace = at / "trace"
        env.update(FAKE_NS="10000", FAKE_TRACE=str(trace))
        daemon = serve(at, env, "--policy", o.policy, "--limit", str(o.limit))
        begin = time.monotonic()
        each = o.launches // o.processes
        programs = [
            subprocess.Popen(
                [SIMTLAB, "corun", "exec", "--", at / "launcher", str(each)], env=env, stdout=subprocess.DEVNULL
            )
            for _ in range(o.processes)
        ]
        bad = sum(program.wait() != 0 for program in programs)
        seconds = time.monotonic() - begin
        peak = memory(daemon.pid)
        daemon.send_signal(signal.SIGTERM)
        summary = daemon.communicate()[0].strip()
        made = len(trace.read_text().splitlines())
        most = most_at_once(trace)
        want = each * o.processes
        print(
            f"soak: {o.processes} processes, {want} launches in {seconds:.1f} s ({want / seconds:.0f} a second); {made} made, at most {most} at once; the daemon took {peak:.1f} MiB"
        )
        print(summary)
        fine = (
            bad == 0
            and made == want
            and most <= o.limit
            and f"{want} granted, {want} ended, 0 withdrawn, 0 lost" in summary
        )
        print("fine" if fine else "FAILED")
        return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
