#!/usr/bin/env python3
"""Makes folders of PTX for assembler_compare.py from folders of sources: one for each origin.

Every CUDA source (.cu) below a folder is compiled to PTX by nvcc, where it is, else by `simtlab build`, which also takes
OpenCL C (.cl); PTX (.ptx) is taken as it is. The folder of its own and the one that was named are where #include looks;
--option gives more. What does not compile so, or has no kernel, is left out, and counted.

The PTX lies in TO/ORIGIN: the named folder's name and where the PTX is from ("reduce, nvcc", "reduce, clang", "reduce,
PTX"), which is what assembler_compare.py calls its rows. A file's name is its source's path with dashes.

usage: assembler_corpus.py --to TO [--compiler nvcc|simtlab|PATH] [--arch sm_75] [--option OPTION]... FOLDER...
Exit codes: 0 made, 2 wrong arguments, 3 not one source became PTX, 7 no compiler is there.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILT = str(ROOT / "build" / "release" / "bin" / "simtlab")
NOTHING, MISSING = 3, 7
TIME_LIMIT = 300  # of one source, in seconds
KERNEL = re.compile(r"^\s*(\.\w+\s+)*\.entry\b", re.M)


def compiler_of(wanted):
    """Its command and what it is called; exits if there is none."""
    for name in [wanted] if wanted else ["nvcc", "simtlab"]:
        found = shutil.which(name) or (name == "simtlab" and shutil.which(BUILT))
        if found and pathlib.Path(name).name == "nvcc":
            return [found, "-O3", "-lineinfo"], "nvcc"
        if found:
            return [found, "build"], "clang"
    print(f"assembler_corpus.py: {wanted or 'neither nvcc nor simtlab'} is not there", file=sys.stderr)
    sys.exit(MISSING)


def compile_one(command, source, folder, to, options):
    """What became of a source: made, no kernel, or not compiled."""
    if source.suffix == ".ptx":
        text = source.read_text(encoding="utf-8", errors="replace")
        if KERNEL.search(text):
            to.write_text(text, encoding="utf-8")
    else:
        words = [*command, *options.option, f"-I{source.parent}", f"-I{folder}", str(source), "-o", str(to)]
        if source.suffix == ".cu":
            words += ["-ptx", f"-arch={options.arch}"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=TIME_LIMIT)
            failed = done.returncode != 0
        except subprocess.TimeoutExpired:
            failed = True
        if failed:
            to.unlink(missing_ok=True)
            return "not compiled"
    if to.is_file() and KERNEL.search(to.read_text(encoding="utf-8", errors="replace")):
        return "made"
    to.unlink(missing_ok=True)
    return "no kernel"


def sources_of(folder, kind):
    """By what they are called that come of them."""
    suffixes = {".cu": kind, ".ptx": "PTX"} | ({".cl": kind} if kind == "clang" else {})
    out = collections.defaultdict(list)
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix in suffixes:
            out[f"{folder.name}, {suffixes[file.suffix]}"].append(file)
    return out


def make(folder, options, command, kind):
    """How many files of PTX came of the sources below a folder."""
    made = 0
    for origin, sources in sources_of(folder, kind).items():
        where = options.to / origin
        where.mkdir(parents=True, exist_ok=True)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            work = []
            for source in sources:
                name = "-".join(source.relative_to(folder).parts).removesuffix(".ptx").removesuffix(".cu")
                work.append(pool.submit(compile_one, command, source, folder, where / f"{name}.ptx", options))
        counts = collections.Counter(done.result() for done in work)
        made += counts["made"]
        left = ", ".join(f"{n} {what}" for what, n in sorted(counts.items()) if what != "made")
        print(f"{where}: {counts['made']} of {len(sources)}" + (f" ({left})" if left else ""))
    return made


def parsed():
    parser = argparse.ArgumentParser(
        description="Makes folders of PTX for assembler_compare.py from folders of sources."
    )
    parser.add_argument("folders", metavar="FOLDER", nargs="+", type=pathlib.Path)
    parser.add_argument("--to", metavar="TO", required=True, type=pathlib.Path, help="where the folders of PTX go")
    parser.add_argument("--compiler", help="nvcc, simtlab, or the path of one of them (default: nvcc if it is there)")
    parser.add_argument("--arch", default="sm_75", help="that the PTX is made for (default sm_75)")
    parser.add_argument("--option", action="append", default=[], help="of the compiler: --option=-DN=4")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time")
    options = parser.parse_args()
    for folder in options.folders:
        if not folder.is_dir():
            parser.error(f"{folder} is no folder")
    options.folders = [f.resolve() for f in options.folders]
    return options


def main():
    options = parsed()
    command, kind = compiler_of(options.compiler)
    made = [make(folder, options, command, kind) for folder in options.folders]
    return 0 if sum(made) else NOTHING


if __name__ == "__main__":
    sys.exit(main())
