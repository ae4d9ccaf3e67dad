#!/usr/bin/env python3
"""Installs into a scratch folder, moves it, and uses it as a stranger would: the tool, the library from examples/library, Python's module.
usage: check.py BUILD_FOLDER SOURCE_FOLDER CXX [PYTHON]   (PYTHON: one that the module was built for)"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BUILD, SOURCE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
CXX, PYTHON = sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else ""
# What a stranger's shell has: nothing of ours.
CLEAN = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C"}


def run(*words, **more):
    done = subprocess.run(
        [str(w) for w in words], env=CLEAN, cwd="/", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more
    )
    if done.returncode != 0:
        sys.exit(f"{words} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def check(condition, what):
    if not condition:
        sys.exit(f"check.py: {what}")


def check_library(prefix):
    library = prefix / "lib/libsimtlab.so"
    dynamic = run("readelf", "-dW", library)
    version = run(prefix / "bin/simtlab", "--version").split()[1]
    soname = "libsimtlab.so." + ".".join(version.split(".")[:2])
    check(f"[{soname}]" in dynamic, f"the SONAME is not {soname}:\n{dynamic}")
    check(
        "RPATH" not in dynamic and "RUNPATH" not in dynamic,
        f"the installed library has a path of the build folder:\n{dynamic}",
    )
    names = [line.split(" ", 2)[2] for line in run("nm", "-DC", "--defined-only", library).splitlines()]
    foreign = [
        n for n in names if not re.match(r"((vtable|typeinfo|typeinfo name) for )?simtlab::api::|SIMTLAB_[0-9.]+$", n)
    ]
    check(len(names) > 20 and not foreign, f"{len(names)} symbols are visible; not of the interface: {foreign[:10]}")


def check_example(prefix, folder):
    run(
        "cmake",
        "-S",
        prefix / "share/doc/simtlab/examples/library",
        "-B",
        folder,
        "-G",
        "Ninja",
        f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={CXX}",
    )
    run("cmake", "--build", folder)
    printed = run(folder / "two_gpus")
    check("gtx480" in printed and "values right" in printed, printed)
    wrong = folder / "wrong"
    wrong.mkdir()
    (wrong / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(p NONE)\nfind_package(simtlab 99 REQUIRED)\n"
    )
    refused = subprocess.run(
        ["cmake", "-S", wrong, "-B", wrong / "b", f"-DCMAKE_PREFIX_PATH={prefix}"],
        env=CLEAN,
        capture_output=True,
        text=True,
    )
    check(refused.returncode != 0 and "99" in refused.stderr, "a version that does not exist was found")


def check_tool(prefix):
    examples = prefix / "share/doc/simtlab/examples"
    check(
        "gpu"
        in run(prefix / "bin/simtlab", "run", examples / "saxpy.ptx", "--launch", examples / "saxpy.toml", "--json"),
        "no report",
    )
    check("0 devices" not in run(prefix / "bin/simtlab", "doctor"), "no device files")
    check(
        "simtlab-run" in run("man", "-l", "-Tutf8", prefix / "share/man/man1/simtlab-run.1").lower(), "no man page"
    ) if pathlib.Path("/usr/bin/man").exists() else None
    for name in (
        "share/bash-completion/completions/simtlab",
        "share/doc/simtlab/copyright",
        "lib/simtlab/libcudart.so.12",
        "lib/simtlab/libcudart.so",
    ):
        check((prefix / name).exists(), f"{name} is not installed")


def check_python(prefix):
    module = next(prefix.glob("lib/python3*/*-packages"), None)
    if not PYTHON or module is None:
        return
    CLEAN["PYTHONPATH"] = str(module)
    code = "import simtlab; print(simtlab.__file__, simtlab.dram(dram='ddr4-3200', generate='stream', requests=100).metric('dram.bandwidth'))"
    check(str(prefix) in run(PYTHON, "-B", "-c", code), "another simtlab was imported")
    check((module / "simtlab/__init__.pyi").exists() and (module / "simtlab/py.typed").exists(), "no type stubs")


def check_virtual_environment(folder):
    if not PYTHON or not list((BUILD / "python/simtlab").glob("_simtlab*.so")):
        return
    CLEAN.pop("PYTHONPATH", None)
    run(PYTHON, "-m", "venv", "--without-pip", folder)
    run("cmake", "--install", BUILD, "--prefix", folder)
    check(
        str(folder)
        in run(
            folder / "bin/python", "-B", "-c", "import simtlab; simtlab.corun(mixes=1, size=2); print(simtlab.__file__)"
        ),
        "it is not in the environment",
    )


def main():
    with tempfile.TemporaryDirectory(prefix="simtlab-install-") as folder:
        folder = pathlib.Path(folder)
        subprocess.run(["cmake", "--install", BUILD, "--prefix", folder / "first"], check=True, stdout=subprocess.PIPE)
        prefix = (folder / "moved").resolve()
        (folder / "first").rename(prefix)
        check_tool(prefix)
        check_library(prefix)
        check_python(prefix)
        check_example(prefix, folder / "build")
        check_virtual_environment((folder / "venv").resolve())
        for path in prefix.rglob("*"):
            if path.suffix in (".cmake", ".pyi", ".py"):
                check(
                    str(BUILD) not in path.read_text() and str(SOURCE) not in path.read_text(),
                    f"{path} names a folder of the build",
                )
    print("install: PASS")


if __name__ == "__main__":
    main()
