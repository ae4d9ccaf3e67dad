#!/usr/bin/env python3
"""What all checks cost: time and memory of the examples under `simtlab check`, beside functional runs.

    bench/check_cost.py [--simtlab BINARY] [--repeat N] [FILTER]

Prints a Markdown table: CPU seconds of the whole run (the best of --repeat) and the most memory, in MiB, with their ratios.
Targets: the median of the ratios of time at most 3, the largest at most 12, memory at most 5.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

from examples import ROOT, SIZES

LARGER = {  # sizes at which a functional run takes a tenth of a second or more
    "bfs": 1 << 19,
    "convolution2d": 2048,
    "dynamic_shared": 1 << 23,
    "gather": 1 << 22,
    "histogram": 1 << 24,
    "matmul_naive": 512,
    "nbody": 8192,
    "reduction": 1 << 24,
    "saxpy": 1 << 24,
    "scan": 1 << 22,
    "scatter": 1 << 22,
    "stencil3d": 192,
    "transpose_naive": 4096,
    "transpose_tiled": 4096,
}


def cost(command):
    """CPU seconds and MiB of a process and those that it waited for."""
    pid = os.posix_spawnp(
        command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    )
    _, status, usage = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 8):  # 8: findings
        raise SystemExit(f"exit code {os.waitstatus_to_exitcode(status)}: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--simtlab", default=str(ROOT / "build/release/bin/simtlab"))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("filter", nargs="?", default="")
    o = parser.parse_args()
    print("| example | size | functional s | check s | ratio | functional MiB | check MiB | ratio |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    times, sizes = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, usual in SIZES.items():
            if o.filter not in name:
                continue
            size, program = LARGER.get(name, usual), f"{folder}/{name}"
            subprocess.run([o.simtlab, "build", str(ROOT / f"examples/{name}.cu"), "-o", program], check=True)
            behind = ["-q", "--", program, str(size)]
            plain = [cost([o.simtlab, "run", "--mode", "functional", *behind]) for _ in range(o.repeat)]
            checked = [cost([o.simtlab, "check", *behind]) for _ in range(o.repeat)]
            seconds = [min(s for s, _ in runs) for runs in (plain, checked)]
            memory = [max(m for _, m in runs) for runs in (plain, checked)]
            times.append(seconds[1] / seconds[0])
            sizes.append(memory[1] / memory[0])
            print(
                f"| {name} | {size} | {seconds[0]:.2f} | {seconds[1]:.2f} | {times[-1]:.1f} "
                f"| {memory[0]:.0f} | {memory[1]:.0f} | {sizes[-1]:.1f} |",
                flush=True,
            )
    if times:
        print(
            f"| median, worst | | | | {statistics.median(times):.1f}, {max(times):.1f} | | "
            f"| {statistics.median(sizes):.1f}, {max(sizes):.1f} |"
        )


if __name__ == "__main__":
    main()
