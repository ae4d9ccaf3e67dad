"""Kernels that stand in files of the repository: those of the tests, and examples/opencl."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Kernels of examples/opencl: file, name, blocks, threads, parameters.
OPENCL = [
    ("matmul", "mm", "10x10", "16x16", "f32*25600 f32*25600 f32*25600 b32=a0 ->"),
    ("stencil7", "stencil7", "4x4x16", "16x16x1", "f32*65536 f32*65536 f32=3f000000 f32=3daaa64c ->"),
    ("transpose", "mt", "10x10", "16x16", "f32*25600 f32*25600 b32=a0 b32=a0 ->"),
    ("transpose", "mt_tiled", "10x10", "16x16", "f32*25600 f32*25600 b32=a0 b32=a0 ->"),
]

# Of tests/data/machine: file, first generation, name, blocks, threads, bytes of dynamic shared memory. Each takes 4,096
# words and gives 32 a thread.
TESTS = [
    ("flow", 70, "loops", 2, 96, 0),
    ("flow", 70, "shuffles", 1, 32, 0),
    ("flow", 70, "barriers", 1, 128, 0),
    ("memory", 70, "sizes", 1, 64, 0),
    ("memory", 70, "global_atomics", 1, 32, 0),
    ("memory", 70, "float_atomics", 1, 32, 0),
    ("memory", 70, "shared_atomics", 1, 64, 0),
    ("memory", 70, "generic_atomics", 1, 32, 0),
    ("memory", 70, "specials", 3, 96, 256),
    ("memory", 70, "votes", 1, 32, 0),
    ("ampere", 80, "copies", 1, 64, 0),
    ("ampere", 80, "reductions", 1, 32, 0),
    ("calls", 50, "constants", 1, 64, 0),
    ("calls", 50, "calls", 1, 64, 0),
]


class FileKernel:
    """A kernel of a file; the first one of the file has the file's text."""

    def __init__(self, name, what, launch, parameters, ptx):
        self.name, self.what, self.ptx = name, what, ptx
        self.line = f"kernel {name} {launch} 1 exact {parameters}"


def contents(path):
    """The file without its head, and without debug information, whose names ptxas does not take."""
    text = path.read_text().split(".address_size 64\n", 1)[1]
    text = re.split(r"\n\s*\.section\b", text)[0]
    return re.sub(r"(?m)^\s*\.(loc|file)\b.*$", "", text)


def opencl(options, folder):
    out, told = [], set()
    for file, name, blocks, threads, parameters in OPENCL:
        ptx, text, source = folder / f"{file}.ptx", "", ROOT / "examples/opencl" / f"{file}.cl"
        if file not in told:
            command = [options.simtlab, "build", str(source), "-o", str(ptx)]
            if subprocess.run(command, capture_output=True, check=False).returncode != 0:
                continue
            told.add(file)
            text = contents(ptx)
        out.append(FileKernel(name, f"examples/opencl/{file}.cl", f"{blocks} {threads} 0", parameters, text))
    return out


def tests(generation):
    """By file: names of different files may be the same."""
    files = {}
    for file, first, name, blocks, threads, shared in TESTS:
        if generation < first:
            continue
        ptx = ROOT / "tests/data/machine" / f"{file}.ptx"
        text = "" if file in files else contents(ptx)
        parameters = f"b32*4096 -> b32*{32 * blocks * threads}"
        launch = f"{blocks} {threads} {shared}"
        files.setdefault(file, []).append(
            FileKernel(name, f"tests/data/machine/{file}.ptx: {name}", launch, parameters, text)
        )
    return list(files.values())
