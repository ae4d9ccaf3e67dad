#!/usr/bin/env python3
"""Formats the sources of this repository, or checks that they are formatted.

    format.py [FILE...]           formats: C++ by clang-format 14 (.clang-format), Python by black (pyproject.toml)
    format.py --check [FILE...]   changes nothing; prints what differs, exit status 6

Without names: everything below src, include, tests, bench, adapters, python and tools, and examples/extend. Other examples
keep their layout: reports and tests name their lines. Debian packages: clang-format-14, black. Python 3.11.
"""
import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "include", "tests", "bench", "adapters", "python", "tools", "examples/extend")
CPP = (".cpp", ".h", ".hpp")
BATCH = 100


def sources():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (*CPP, ".py") and (ROOT / "tests" / "data") not in path.parents:
                yield path


def tool(*names):
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        sys.exit(f"format.py: {names[0]} is not here; install the Debian package {names[0]}")
    return found


def run(words, paths):
    done = subprocess.run([*words, *map(str, paths)], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 6 if something differs")
    parser.add_argument("files", nargs="*", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    paths = [path.resolve() for path in options.files] or list(sources())
    cpp = [path for path in paths if path.suffix in CPP]
    python = [path for path in paths if path.suffix == ".py"]
    clang = [tool("clang-format-14"), *(["--dry-run", "--Werror", "--ferror-limit=1"] if options.check else ["-i"])]
    black = [tool("black"), "--quiet", *(["--check"] if options.check else [])]
    jobs = [(clang, cpp[i : i + BATCH]) for i in range(0, len(cpp), BATCH)]
    if python:
        jobs.append((black, python))
    bad = False
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for status, text in pool.map(lambda job: run(*job), jobs):
            if status != 0:
                bad = True
                print(text, end="")
    if bad and options.check:
        print("These differ from the layout that the repository uses: ./dev format mends them.")
    return 6 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
