#!/usr/bin/env python3
"""OpenCL applications that are not ours on the simulated device, checked against another OpenCL implementation.

    run.py --rodinia FOLDER --polybench FOLDER --work FOLDER [--only NAME,...] [--gpu NAME] [--mode timing|functional]

FOLDER of --rodinia: gpu-rodinia (with opencl/), of --polybench: polybenchGpu (with OpenCL/ and common/). Both are copied to --work and
built there. PolyBench programs compare with their own computation on the host. Rodinia programs run twice, on simtlab and on the
reference of /etc/OpenCL/vendors (pocl), and every buffer that they read back is compared. Prints a table in Markdown.
"""
import argparse
import array
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "rodinia"))
import inputs  # noqa: E402

SIMTLAB = HERE.parents[1] / "build/release/bin/simtlab"
DATA = {
    "bfs": inputs.bfs,
    "b+tree": inputs.btree,
    "cfd": inputs.cfd,
    "dwt2d": inputs.dwt2d,
    "heartwall": inputs.heartwall,
    "hotspot": inputs.hotspot,
    "hotspot3D": inputs.hotspot3d,
    "hybridsort": inputs.hybridsort,
    "kmeans": inputs.kmeans,
    "leukocyte": inputs.leukocyte,
    "myocyte": inputs.myocyte,
    "nn": inputs.nn,
    "srad": lambda data: inputs.srad(data, 502, 458),
}
OLD = "g++ -std=gnu++98 -w"
# name: (program, arguments, compiler of the Makefile if it needs an older language, element type of the comparison, tolerance)
RODINIA = {
    "backprop": ("backprop.out", "-n 4096", None, "f", 1e-4),
    "bfs": ("bfs.out", "../../data/bfs/graph.txt", OLD, "i", 0),
    "b+tree": ("b+tree.out", "file ../../data/b+tree/mil.txt command ../../data/b+tree/command.txt", None, "i", 0),
    "cfd": ("euler3d.out", "../../data/cfd/mesh.domn", OLD, "f", 1e-3),
    "dwt2d": ("dwt2d.out", "image.bmp -D 192x192 -f -5 -l 3", None, "i", 0),
    "gaussian": ("gaussian.out", "-s 64 -q", None, "f", 1e-4),
    "heartwall": ("heartwall.out", "-f ../../data/heartwall/test.avi -i info/input.txt -n 3", None, "f", 1e-3),
    "hotspot": ("hotspot.out", "128 2 4 ../../data/hotspot/temp ../../data/hotspot/power output.txt", None, "f", 1e-5),
    "hotspot3D": (
        "hotspot3D.out",
        "-n 64 -l 8 -i 20 -f ../../data/hotspot3D/power ../../data/hotspot3D/temp output.txt",
        None,
        "f",
        1e-5,
    ),
    "hybridsort": ("hybridsort.out", "r", "gcc -fcommon", "f", 0),
    "kmeans": ("kmeans.out", "-o -i ../../data/kmeans/points.txt", OLD, "i", 0),
    "lavaMD": ("lavaMD.out", "-boxes1d 3", None, "f", 1e-4),
    "leukocyte": ("OpenCL/leukocyte.out", "../../data/leukocyte/testfile.avi 3", None, "f", 1e-3),
    "lud": ("lud.out", "-s 128 -v", None, "f", 1e-4),
    "myocyte": ("myocyte.out", "-time 5 -r ../../data/myocyte", None, "f", 1e-3),
    "nn": ("nn.out", "../../data/nn/filelist -r 10 -lat 30 -lng 90 -q -f . -p 0 -d 0", None, "f", 1e-5),
    "nw": ("nw.out", "256 10 ./nw.cl", None, "i", 0),
    "particlefilter": ("OCL_particlefilter_double.out", "-x 64 -y 64 -z 5 -np 512", None, "d", 1e-6),
    "pathfinder": ("pathfinder.out", "-c 4096 -r 20 -h 4", OLD, "i", 0),
    "srad": ("srad.out", "-n 2 -l 0.5 -s 502 458", None, "f", 1e-4),
    "streamcluster": ("streamcluster.out", "3 10 16 512 512 100 none output.txt 1 -p 0 -d 0", OLD, "f", 1e-4),
}
# name: sizes of the problem (all dimensions), steps
POLYBENCH = {
    "2DCONV": (512, 0),
    "2MM": (128, 0),
    "3DCONV": (64, 0),
    "3MM": (128, 0),
    "ADI": (1024, 1),
    "ATAX": (512, 0),
    "BICG": (512, 0),
    "CORR": (128, 0),
    "COVAR": (128, 0),
    "FDTD-2D": (128, 10),
    "GEMM": (128, 0),
    "GEMVER": (512, 0),
    "GESUMMV": (512, 0),
    "GRAMSCHM": (128, 0),
    "JACOBI1D": (1024, 10),
    "JACOBI2D": (128, 10),
    "LU": (128, 0),
    "MVT": (512, 0),
    "SYR2K": (128, 0),
    "SYRK": (128, 0),
}


# What of a read is compared: name: which element of which read. cfd leaves the padding of its cells uninitialised, pathfinder's second
# read is a buffer for debugging.
COMPARED = {"cfd": lambda read, element: element % 576 < 567, "pathfinder": lambda read, element: read == 0}


# The result is a file; what is read back has uninitialised parts.
FILES = {"streamcluster": "output.txt"}


def run(command, folder, log, env=None, limit=300):
    with open(log, "w") as out:
        begin = time.monotonic()
        # b+tree reads the rest of a line from its terminal after each command.
        code = subprocess.run(
            command, cwd=folder, stdout=out, stderr=subprocess.STDOUT, env=env, timeout=limit, input=b"\n" * 1000
        ).returncode
    return code, time.monotonic() - begin


def dumped(path):
    data, out, at = path.read_bytes() if path.exists() else b"", [], 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        out.append(data[at + 8 : at + 8 + length])
        at += 8 + length
    return out


def compare(ours, reference, kind, tolerance, compared):
    """A sentence, or an exception that says what differs."""
    if not reference:
        raise ValueError("the reference read nothing")
    if [len(a) for a in ours] != [len(b) for b in reference]:
        raise ValueError(f"{len(ours)} reads, reference {len(reference)}, or of other sizes")
    worst = 0.0
    for n, (a, b) in enumerate(zip(ours, reference)):
        if a == b:
            continue
        if len(a) % struct.calcsize(kind):
            raise ValueError(f"read {n} of {len(a)} bytes differs")
        x, y = array.array(kind, a), array.array(kind, b)
        scale = max((abs(v) for v in y if math.isfinite(v)), default=0.0)
        for i, (p, q) in enumerate(zip(x, y)):
            if p == q or not compared(n, i) or (math.isnan(p) and math.isnan(q)):
                continue
            error = abs(p - q) / max(abs(q), scale * 1e-3, 1e-15)
            if not error <= tolerance:
                raise ValueError(f"read {n}: element {i} is {p}, reference {q}")
            worst = max(worst, error)
    total = sum(map(len, reference))
    return f"{len(reference)} reads, {total} bytes: " + (
        "identical" if worst == 0 else f"largest difference {worst:.1e}"
    )


def cycles(path):
    try:
        r = json.loads(path.read_text())
    except (OSError, ValueError):
        return "", ""
    return str(r["total"].get("program.kernels", {}).get("value", "")), str(len({k["name"] for k in r["kernels"]}))


def build_rodinia(name, folder, compiler):
    (folder / "unistd.h").unlink(missing_ok=True)  # kmeans brings one of another system
    command = [
        "make",
        "NV_OPENCL_INC=/usr/include",
        "NV_OPENCL_LIB=/usr/lib/x86_64-linux-gnu",
        "OPENCL_INC=/usr/include",
        "OPENCL_LIB=/usr/lib/x86_64-linux-gnu",
    ]
    if compiler:
        command += [f"CC={compiler}", f"CXX={compiler}"]
    code, _ = run(command, folder, folder / "build.log")
    if code != 0:
        raise ValueError("does not build: " + str(folder / "build.log"))


def rodinia(args, name):
    program, arguments, compiler, kind, tolerance = RODINIA[name]
    work = args.work / "rodinia"
    folder = work / "opencl" / name
    if not folder.exists():
        for part in ("opencl/" + name, "opencl/util", "common"):
            shutil.copytree(args.rodinia / part, work / part, dirs_exist_ok=True)
        if name in DATA:
            (work / "data" / name).mkdir(parents=True, exist_ok=True)
            DATA[name](work / "data" / name)
            if name == "dwt2d":
                shutil.copy(work / "data/dwt2d/image.bmp", folder)
        build_rodinia(name, folder, compiler)
    place = folder / pathlib.Path(program).parent
    dumps, texts = {}, {}
    env = dict(os.environ, LD_PRELOAD=str(args.work / "read_dump.so"))
    for who in ("reference", "simtlab"):
        dumps[who] = args.work / f"{name}.{who}.dump"
        dumps[who].unlink(missing_ok=True)
        command = ["./" + pathlib.Path(program).name, *arguments.split()]
        e = dict(env, CL_DUMP=str(dumps[who]))
        if who == "simtlab":
            # Only the program is hooked, not the simulator that starts it.
            e.pop("LD_PRELOAD")
            command = [
                str(SIMTLAB),
                "run",
                "--gpu",
                args.gpu,
                "--mode",
                args.mode,
                "-q",
                f"--json={args.work}/{name}.json",
                "--",
                "/usr/bin/env",
                "LD_PRELOAD=" + env["LD_PRELOAD"],
                *command,
            ]
        else:
            e["CL_ANY_DEVICE"] = "1"
        code, seconds = run(command, place, args.work / f"{name}.{who}.log", e)
        if who == "simtlab" and code != 0:
            raise ValueError(f"ended with {code}")
        if name in FILES:
            texts[who] = (place / FILES[name]).read_text()
            (place / FILES[name]).unlink()
    if name in FILES:
        if texts["simtlab"] != texts["reference"]:
            raise ValueError(FILES[name] + " differs")
        return arguments, seconds, f"{FILES[name]}, {len(texts['simtlab'])} bytes: identical"
    return (
        arguments,
        seconds,
        compare(
            dumped(dumps["simtlab"]),
            dumped(dumps["reference"]),
            kind,
            tolerance,
            COMPARED.get(name, lambda read, element: True),
        ),
    )


def polybench(args, name):
    size, steps = POLYBENCH[name]
    work = args.work / "polybench"
    folder = work / "OpenCL" / name
    if not folder.exists():
        for part in ("OpenCL/" + name, "common"):
            shutil.copytree(args.polybench / part, work / part, dirs_exist_ok=True)
        for path in [*folder.glob("*.h"), *folder.glob("*.c")]:
            text = path.read_text().replace("\r", "")
            text = re.sub(r"(?m)^(#\s*define (?:NI|NJ|NK|NL|NM|N|M|NX|NY)) \d+", rf"\1 {size}", text)
            text = re.sub(r"(?m)^(#\s*define (?:TMAX|TSTEPS|_PB_TSTEPS)) \d+", rf"\1 {steps}", text)
            path.write_text(
                text.replace("//#define RUN_ON_CPU", "#define RUN_ON_CPU").replace(
                    "//define RUN_ON_CPU", "#define RUN_ON_CPU"
                )
            )
        sources = [p.name for p in folder.glob("*.c")]
        code, _ = run(
            [
                "gcc",
                "-O1",
                "-w",
                "-DMINI_DATASET",
                "-DPOLYBENCH_TIME",
                "-I../../common",
                *sources,
                "-o",
                "app",
                "-lOpenCL",
                "-lm",
            ],
            folder,
            folder / "build.log",
        )
        if code != 0:
            raise ValueError("does not build: " + str(folder / "build.log"))
    log = args.work / f"{name}.log"
    code, seconds = run(
        [
            str(SIMTLAB),
            "run",
            "--gpu",
            args.gpu,
            "--mode",
            args.mode,
            "-q",
            f"--json={args.work}/{name}.json",
            "--",
            "./app",
        ],
        folder,
        log,
    )
    text = log.read_text(errors="replace")
    found = re.findall(r"Threshold of ([\d.]+) Percent: (\d+)", text)
    if code != 0 or not found or "Error in" in text or any(n != "0" for _, n in found):
        raise ValueError(f"status {code}, {found or 'no comparison'}")
    return f"size {size}", seconds, f"own host computation, no element off by more than {found[0][0]} %"


def main():
    p = argparse.ArgumentParser()
    for option in ("--rodinia", "--polybench", "--work"):
        p.add_argument(option, type=pathlib.Path)
    p.add_argument("--only", default="")
    p.add_argument("--gpu", default="h100")
    p.add_argument("--mode", default="timing")
    args = p.parse_args()
    args.work = args.work.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-w", str(HERE / "read_dump.c"), "-o", str(args.work / "read_dump.so"), "-ldl"],
        check=True,
    )
    only = [n for n in args.only.split(",") if n]
    print("| application | arguments | launches | kernels | host time | checked |\n|---|---|---|---|---|---|")
    failed = 0
    for source, table, one in ((args.polybench, POLYBENCH, polybench), (args.rodinia, RODINIA, rodinia)):
        for name in table if source else ():
            if only and name not in only:
                continue
            try:
                arguments, seconds, how = one(args, name)
            except (ValueError, OSError, subprocess.TimeoutExpired) as e:
                failed += 1
                arguments, seconds, how = "", 0, f"FAILED: {e}"
            launches, kernels = cycles(args.work / f"{name}.json")
            print(
                f"| {name} | {arguments.replace('../../data/', '')} | {launches} | {kernels} | {seconds:.1f} s | {how} |",
                flush=True,
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
