"""Programs with host code: compiled by `simtlab build`, their PTX assembled, both put into one executable.

What a program prints says whether both kinds of code do the same: each program checks its results and prints some.
"""
import pathlib
import re
import struct
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = ("examples", "tests/cuda")
# Expects the error that PTX executors give for deep calls; a stack that overflows is an invalid address in machine code.
EXCEPT = {"virtual_trees"}
# A GPU that runs the code of a generation; where there is no file of one, another of the family gets its number.
GPUS = {70: "v100", 72: "v100", 75: "rtx2060", 80: "a100", 86: "a100", 87: "a100", 89: "a100", 90: "h100"}
UNSUPPORTED = 4
PTX, ELF = 1, 2


def entry(kind, generation, data):
    data += bytes(-len(data) % 8)
    head = struct.pack("<HHIQIIIIQQQQ", kind, 0x101, 64, len(data), 0, 0, 0, generation, 0, 0, 0, 0)
    return head[:64] + data


def fat_binary(generation, ptx, cubin):
    """What nvcc embeds in an executable: PTX and machine code."""
    body = entry(PTX, generation, ptx + b"\0") + entry(ELF, generation, cubin)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def programs():
    return [
        source for folder in FOLDERS for source in sorted((ROOT / folder).glob("*.cu")) if source.stem not in EXCEPT
    ]


class Programs:
    """The programs of one architecture. What only the architecture decides is done once."""

    def __init__(self, options, ptxas, architecture, folder):
        self.options, self.ptxas, self.architecture, self.folder = options, ptxas, architecture, folder
        self.generation = int(architecture[3:])
        self.by_ptx = {}

    def call(self, *command):
        return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)

    def run(self, program, code):
        gpu = GPUS.get(self.generation, "h100")
        command = [self.options.simtlab, "run", "--gpu", gpu, "--mode", "functional", "-q", "--code", code]
        command += ["--set", f"compute_capability={self.generation // 10}.{self.generation % 10}", "--", program]
        try:
            return subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, timeout=300)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, "", "no end after 300 seconds")

    def ptx_of(self, source):
        """The PTX file, or the reason why there is none."""
        ptx = self.folder / f"{source.stem}.{self.architecture}.ptx"
        run = self.call(self.options.simtlab, "build", f"-arch={self.architecture}", "-ptx", source, "-o", ptx)
        return (ptx, "") if run.returncode == 0 else (None, first_line(run.stderr))

    def compare(self, source, level):
        ptx, why = self.ptx_of(source)
        if ptx is None:
            return "ptx", why
        cubin, image = ptx.with_suffix(f".O{level}.cubin"), ptx.with_suffix(f".O{level}.fatbin")
        run = self.call(self.ptxas, f"-arch={self.architecture}", f"-O{level}", ptx, "-o", cubin)
        if run.returncode != 0:
            return "ptx", first_line(run.stderr)
        image.write_bytes(fat_binary(self.generation, ptx.read_bytes(), cubin.read_bytes()))
        program = ptx.with_suffix(f".O{level}.exe")
        host = f"-Xclang,-fcuda-include-gpubinary,-Xclang,{image}"
        run = self.call(
            self.options.simtlab, "build", f"-arch={self.architecture}", "-Xcompiler", host, source, "-o", program
        )
        if run.returncode != 0:
            return "ptx", first_line(run.stderr)
        if source not in self.by_ptx:
            self.by_ptx[source] = self.run(program, "ptx")
        want, got = self.by_ptx[source], self.run(program, "machine")
        if want.returncode == UNSUPPORTED:
            return "ptx", first_line(want.stderr)
        if got.returncode == UNSUPPORTED:
            return "refused", first_line(got.stderr)
        if got.returncode != want.returncode:
            return "failed", f"it ends with {got.returncode}, with PTX {want.returncode}: {first_line(got.stderr)}"
        if timeless(got.stdout) != timeless(want.stdout):
            return "different", f"it prints {got.stdout[:200]!r}, with PTX {want.stdout[:200]!r}"
        return "equal", ""


def timeless(text):
    """Without times, which are the host's in functional runs."""
    return re.sub(r"[0-9.]+ (ms|us|s|GB/s|GFLOP/s)\b", "", text)


def first_line(text):
    return next((line for line in text.splitlines() if "error" in line or line.strip()), "it ends without a word")


def compare(options, ptxas, architecture, levels, folder):
    """Findings: level, name, outcome, text, what."""
    of_architecture = Programs(options, ptxas, architecture, folder)
    for source in programs():
        if options.only and options.only not in source.stem:
            continue
        what = str(source.relative_to(ROOT))
        for level in levels:
            yield level, source.stem, *of_architecture.compare(source, level), what
