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
GPUS = {
    50: "titanx-maxwell",
    52: "titanx-maxwell",
    60: "titanxp",
    61: "titanxp",
    70: "v100",
    72: "v100",
    75: "rtx2060",
    80: "a100",
    86: "a100",
    87: "a100",
    89: "a100",
    90: "h100",
}
UNSUPPORTED = 4
# What an executable holds in place of device code, until it gets that of an architecture and a level.
ROOM = bytes.fromhex("73696d746c61622069732068657265212121") + bytes(4 << 20)
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

    def host_program(self, source):
        """The executable with room for an image, and where that is. It does not depend on the architecture."""
        program, room = self.folder / f"{source.stem}.exe", self.folder / f"{source.stem}.room"
        if not program.exists():
            room.write_bytes(ROOM)
            host = f"-Xclang,-fcuda-include-gpubinary,-Xclang,{room}"
            run = self.call(self.options.simtlab, "build", "-arch=sm_90", "-Xcompiler", host, source, "-o", program)
            if run.returncode != 0:
                return None, first_line(run.stderr)
        return program, ""

    def with_image(self, program, image, name):
        out = program.with_name(name)
        out.write_bytes(program.read_bytes().replace(ROOM, image + bytes(len(ROOM) - len(image)), 1))
        out.chmod(0o755)
        return out

    def compare(self, source, levels):
        """Findings: level, outcome, text."""
        program, why = self.host_program(source)
        ptx = self.folder / f"{source.stem}.{self.architecture}.ptx"
        if program:
            run = self.call(self.options.simtlab, "build", f"-arch={self.architecture}", "-ptx", source, "-o", ptx)
            why = first_line(run.stderr) if run.returncode != 0 else ""
        if why:
            return [(level, "ptx", why) for level in levels]
        want, out = None, []
        for level in levels:
            cubin = ptx.with_suffix(f".O{level}.cubin")
            run = self.call(self.ptxas, f"-arch={self.architecture}", f"-O{level}", ptx, "-o", cubin)
            if run.returncode != 0:
                out.append((level, "ptx", first_line(run.stderr)))
                continue
            image = fat_binary(self.generation, ptx.read_bytes(), cubin.read_bytes())
            ready = self.with_image(program, image, f"{source.stem}.{self.architecture}.O{level}.exe")
            want = want or self.run(ready, "ptx")
            out.append((level, *judged(want, self.run(ready, "machine"))))
            ready.unlink()
        return out


def judged(want, got):
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
        for level, outcome, text in of_architecture.compare(source, levels):
            yield level, source.stem, outcome, text, what
