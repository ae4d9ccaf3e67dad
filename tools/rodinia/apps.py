"""The 23 CUDA applications of Rodinia 3.1: how each is built, run and checked. Sources stay as they are.

Fields of an App:
  build     list of argument lists for `simtlab build` (cwd: cuda/<folder>), objects of plain C files are made with gcc first (`c`)
  run       arguments of the executable, cwd as given
  reference shell-free commands that build and run the OpenMP version (cwd: openmp/<folder>)
  check     function (Context) -> sentence; raises checks.Mismatch
"""
import dataclasses
import re
import typing

import checks
import inputs


@dataclasses.dataclass
class App:
    name: str
    check: typing.Callable
    how: str  # what the result is compared with
    cu: list = dataclasses.field(default_factory=list)  # sources for simtlab build
    flags: list = dataclasses.field(default_factory=list)
    c: list = dataclasses.field(default_factory=list)  # sources for gcc
    cflags: list = dataclasses.field(default_factory=list)
    folder: str = ""  # below cuda/, default: name
    run: list = dataclasses.field(default_factory=list)
    reference: list = dataclasses.field(default_factory=list)  # (folder below openmp/, [commands])
    make_input: typing.Callable = None
    data: str = ""  # folder below data/, default: name
    dump: bool = False  # preload hooks/d2h_dump.c
    fixed_time: bool = False  # preload hooks/fixed_time.c
    note: str = ""


def both(context, name, **tolerance):
    return checks.same_files(context.cuda / name, context.openmp / name, **tolerance)


def passed(pattern, forbidden=None):
    def check(context):
        checks.expect(re.search(pattern, context.stdout), f"output does not say '{pattern}'")
        checks.expect(not forbidden or not re.search(forbidden, context.stdout), f"output says '{forbidden}'")
        return f"says '{re.search(pattern, context.stdout).group(0)}'"

    return check


def backprop(context):
    copies = checks.dumps(context.dump)
    weights = checks.floats(copies[-1])
    reference = [v for v in checks.numbers(context.reference_stdout.split("WEIGHTS", 1)[1])]
    return checks.same_numbers(weights, reference, "input weights after training", 1e-3, 1e-5)


def cfd(context):
    said = []
    for name in ("density", "momentum", "density_energy"):
        # The first line is the number of cells and that number padded to the block size, which is the GPU's own.
        ours, reference = (
            checks.numbers((folder / name).read_text().split("\n", 1)[1]) for folder in (context.cuda, context.openmp)
        )
        said.append(checks.same_numbers(ours, reference, name, 2e-3, 1e-3))
    return f"density, momentum, energy: {said[0]}"


def hotspot3d(context):
    error = float(re.search(r"Accuracy: (\S+)", context.stdout).group(1))
    checks.expect(error < 1e-2, f"root mean square error {error} against the program's own host computation")
    return f"own check: error {error:.1e}"


def mummergpu(context):
    reference = context.run_program(["-C"] + context.app.run)
    ours, theirs = (sorted(t.split("\n")) for t in (context.stdout, reference))
    checks.expect(any(re.match(r"\s*\d+\s+\d+\s+\d+", line) for line in ours), "no match was printed")
    checks.expect(ours == theirs, "matches differ from the program's own CPU version")
    return f"{len(ours)} lines equal to its own CPU version"


def myocyte(context):
    ours = [float(v) for v in re.findall(r"=(\S+)", (context.cuda / "output.txt").read_text())]
    rows = [float(v) for v in re.findall(r"^ROW \d+ \d+ (\S+)", context.reference_stdout, re.M)]
    return checks.same_numbers(ours, rows, "state", 1e-3, 1e-4)


def particlefilter(context):
    pattern = r"^(XE|YE): (\S+)"
    ours = [float(v) for _, v in re.findall(pattern, context.stdout, re.M)]
    reference = [float(v) for _, v in re.findall(pattern, context.reference_stdout, re.M)]
    # The GPU version prints the last position only.
    return checks.same_numbers(ours[-2:], reference[-2:], "last estimated position", 1e-4)


def pathfinder(context):
    last = [
        [line for line in text.strip().splitlines() if len(line.split()) > 50][-1].split()
        for text in (context.stdout, context.reference_stdout)
    ]
    return checks.same_numbers([float(v) for v in last[0]], [float(v) for v in last[1]], "last row", 0)


def srad_v2(context):
    pick = lambda text: checks.numbers(text.split("Printing Output:", 1)[1].split("Computation Done")[0])
    return checks.same_numbers(pick(context.stdout), pick(context.reference_stdout), "image", 1e-3, 2e-5)


def nw(context):
    pick = lambda folder: checks.numbers((folder / "result.txt").read_text())
    return checks.same_numbers(pick(context.cuda), pick(context.openmp), "traceback", 0)


GCC = ["gcc", "-O2", "-w", "-fopenmp"]
GXX = ["g++", "-O2", "-w", "-fopenmp"]

APPS = [
    App(
        "b+tree",
        cu=["kernel/kernel_gpu_cuda_wrapper.cu", "kernel/kernel_gpu_cuda_wrapper_2.cu", "util/cuda/cuda.cu"],
        c=["main.c", "util/timer/timer.c", "util/num/num.c"],
        run=["file", "../../data/b+tree/mil.txt", "command", "../../data/b+tree/command.txt"],
        make_input=inputs.btree,
        how="OpenMP version, output.txt",
        reference=[
            (
                "b+tree",
                [
                    GCC
                    + [
                        "main.c",
                        "kernel/kernel_cpu.c",
                        "kernel/kernel_cpu_2.c",
                        "util/timer/timer.c",
                        "util/num/num.c",
                        "-lm",
                        "-o",
                        "ref",
                    ],
                    [
                        "./ref",
                        "cores",
                        "1",
                        "file",
                        "../../data/b+tree/mil.txt",
                        "command",
                        "../../data/b+tree/command.txt",
                    ],
                ],
            )
        ],
        check=lambda c: both(c, "output.txt"),
    ),
    App(
        "backprop",
        cu=["backprop_cuda.cu"],
        c=["backprop.c", "facetrain.c", "imagenet.c"],
        run=["4096"],
        dump=True,
        how="OpenMP version, weights after training",
        reference=[
            (
                "backprop",
                [
                    GCC
                    + [
                        "-Wl,--wrap=bpnn_free",
                        "backprop.c",
                        "facetrain.c",
                        "imagenet.c",
                        "backprop_kernel.c",
                        "{hooks}/backprop_print.c",
                        "-I.",
                        "-lm",
                        "-o",
                        "ref",
                    ],
                    ["./ref", "4096"],
                ],
            )
        ],
        check=backprop,
    ),
    App(
        "bfs",
        cu=["bfs.cu"],
        run=["../../data/bfs/graph.txt"],
        make_input=inputs.bfs,
        how="OpenMP version, result.txt",
        reference=[("bfs", [GXX + ["bfs.cpp", "-o", "ref"], ["./ref", "1", "../../data/bfs/graph.txt"]])],
        check=lambda c: both(c, "result.txt"),
    ),
    App(
        "cfd",
        cu=["euler3d.cu"],
        flags=["-Dblock_length=192", "-DRD_WG_SIZE_0=192"],
        run=["../../data/cfd/mesh.domn"],
        make_input=inputs.cfd,
        how="OpenMP version, density, momentum and energy",
        reference=[
            ("cfd", [GXX + ["-Dblock_length=1", "euler3d_cpu.cpp", "-o", "ref"], ["./ref", "../../data/cfd/mesh.domn"]])
        ],
        check=cfd,
    ),
    App(
        "dwt2d",
        cu=[
            "main.cu",
            "dwt.cu",
            "components.cu",
            "dwt_cuda/fdwt53.cu",
            "dwt_cuda/fdwt97.cu",
            "dwt_cuda/common.cu",
            "dwt_cuda/rdwt97.cu",
            "dwt_cuda/rdwt53.cu",
        ],
        flags=["-I."],
        run=["image.bmp", "-d", "192x192", "-c", "1", "-f", "-5", "-l", "3"],
        make_input=inputs.dwt2d,
        dump=True,
        how="host computation, integer 5/3 transform",
        check=lambda c: checks.dwt53(c.dump, (c.data / "image.bmp").read_bytes(), 192, 192, 3),
    ),
    App(
        "gaussian",
        cu=["gaussian.cu"],
        run=["-s", "64"],
        dump=True,
        how="host computation, residual",
        check=lambda c: checks.gaussian(c.dump, 64),
    ),
    App(
        "heartwall",
        cu=["main.cu"],
        c=["AVI/avilib.c", "AVI/avimod.c"],
        cflags=["-IAVI"],
        flags=["-DOUTPUT", "-IAVI"],
        run=["../../data/heartwall/test.avi", "3"],
        make_input=inputs.heartwall,
        how="OpenMP version, result.txt",
        reference=[
            (
                "heartwall",
                [
                    GCC + ["-DOUTPUT", "main.c", "AVI/avilib.c", "AVI/avimod.c", "-IAVI", "-lm", "-o", "ref"],
                    ["./ref", "../../data/heartwall/test.avi", "3", "2"],
                ],
            )
        ],
        check=lambda c: both(c, "result.txt", relative=0),
        note="races: kernel.cu lacks a __syncthreads() between the two loops at lines 758 and 774",
    ),
    App(
        "hotspot",
        cu=["hotspot.cu"],
        run=["128", "2", "4", "../../data/hotspot/temp", "../../data/hotspot/power", "output.out"],
        make_input=inputs.hotspot,
        how="OpenMP version, output file",
        reference=[
            (
                "hotspot",
                [
                    GXX + ["hotspot_openmp.cpp", "-o", "ref"],
                    [
                        "./ref",
                        "128",
                        "128",
                        "4",
                        "1",
                        "../../data/hotspot/temp",
                        "../../data/hotspot/power",
                        "output.out",
                    ],
                ],
            )
        ],
        check=lambda c: both(c, "output.out", relative=2e-3),
    ),
    App(
        "hotspot3D",
        cu=["3D.cu"],
        run=["64", "8", "20", "../../data/hotspot3D/power", "../../data/hotspot3D/temp", "output.out"],
        make_input=inputs.hotspot3d,
        how="its own host computation",
        check=hotspot3d,
    ),
    App(
        "huffman",
        cu=["main_test_cu.cu"],
        c=[],
        flags=["-DTESTING", "stats_logger.cpp", "cpuencode.cpp"],
        run=["../../data/huffman/input.in"],
        make_input=inputs.huffman,
        how="its own CPU encoder",
        check=passed(r"PASS! vectors are matching", r"FAIL!"),
    ),
    App(
        "hybridsort",
        cu=["bucketsort.cu", "mergesort.cu", "main.cu"],
        flags=["-DVERIFY", "-I{stubs}"],
        run=["../../data/hybridsort/floats.txt"],
        make_input=inputs.hybridsort,
        how="its own CPU sort",
        check=passed(r"PASSED", r"FAILED|missmatch"),
        note="empty stand-ins for the OpenGL headers it includes and does not use",
    ),
    App(
        "kmeans",
        cu=["kmeans_cuda.cu"],
        c=["cluster.c", "getopt.c", "kmeans.c", "kmeans_clustering.c", "rmse.c"],
        flags=["-Xcompiler", "-fopenmp"],
        cflags=["-fopenmp"],
        run=["-o", "-i", "../../data/kmeans/points.txt"],
        make_input=inputs.kmeans,
        how="host computation, cluster means",
        check=lambda c: checks.kmeans(c.stdout),
    ),
    App(
        "lavaMD",
        cu=["kernel/kernel_gpu_cuda_wrapper.cu", "util/device/device.cu"],
        c=["main.c", "util/num/num.c", "util/timer/timer.c"],
        cflags=["-DOUTPUT"],
        run=["-boxes1d", "3"],
        fixed_time=True,
        how="OpenMP version, result.txt",
        reference=[
            (
                "lavaMD",
                [
                    GCC
                    + [
                        "-DOUTPUT",
                        "main.c",
                        "kernel/kernel_cpu.c",
                        "util/num/num.c",
                        "util/timer/timer.c",
                        "{hooks}/fixed_time.c",
                        "-lm",
                        "-o",
                        "ref",
                    ],
                    ["./ref", "-cores", "1", "-boxes1d", "3"],
                ],
            )
        ],
        check=lambda c: both(c, "result.txt", relative=1e-3, absolute=1e-3),
    ),
    App(
        "leukocyte",
        folder="leukocyte/CUDA",
        cu=["find_ellipse_kernel.cu", "track_ellipse_kernel.cu"],
        c=["detect_main.c", "avilib.c", "find_ellipse.c", "track_ellipse.c", "misc_math.c"],
        cflags=["-DOUTPUT", "-I../meschach_lib", "-I."],
        flags=["-I../meschach_lib", "../meschach_lib/meschach.a"],
        run=["../../../data/leukocyte/testfile.avi", "2"],
        make_input=inputs.leukocyte,
        how="OpenMP version in double precision, cell positions within a pixel",
        reference=[
            (
                "leukocyte/OpenMP",
                [
                    GCC
                    + [
                        "-DOUTPUT",
                        "-I../meschach_lib",
                        "detect_main.c",
                        "avilib.c",
                        "find_ellipse.c",
                        "track_ellipse.c",
                        "misc_math.c",
                        "../../../cuda/leukocyte/meschach_lib/meschach.a",
                        "-lm",
                        "-o",
                        "ref",
                    ],
                    ["./ref", "2", "1", "../../../data/leukocyte/testfile.avi"],
                ],
            )
        ],
        check=lambda c: both(c, "result.txt", relative=0, absolute=1.0),
    ),
    App(
        "lud",
        folder="lud/cuda",
        cu=["lud.cu", "lud_kernel.cu"],
        c=["../common/common.c"],
        cflags=["-I../common"],
        flags=["-I../common"],
        run=["-s", "128", "-v"],
        how="its own verification",
        check=passed(r">>>Verify<<<<", r"dismatch"),
    ),
    App(
        "mummergpu",
        folder="mummergpu/src",
        cu=["mummergpu.cu", "mummergpu_main.cpp", "mummergpu_gold.cpp", "suffix-tree.cpp", "PoolMalloc.cpp"],
        flags=["-I.", "-DUNIX", "-Xcompiler", "-fopenmp", "-include", "unistd.h", "-O0"],
        run=["-l", "20", "../../../data/mummergpu/reference.fna", "../../../data/mummergpu/reads.fna"],
        make_input=inputs.mummergpu,
        how="its own CPU version",
        check=mummergpu,
        note="host code without optimisation: it has functions that lack their return statement",
    ),
    App(
        "myocyte",
        cu=["main.cu"],
        run=["5", "1", "0"],
        make_input=inputs.myocyte,
        how="host computation with its own kernels and solver",
        reference=[
            (
                "myocyte",
                [GXX + ["-I../../cuda/myocyte", "{hooks}/myocyte_host.cpp", "-lm", "-o", "ref"], ["./ref", "5"]],
            )
        ],
        check=myocyte,
    ),
    App(
        "nn",
        cu=["nn_cuda.cu"],
        run=["../../data/nn/filelist", "-r", "10", "-lat", "30", "-lng", "90"],
        make_input=inputs.nn,
        how="host computation, distances",
        check=lambda c: checks.nn(c.stdout, 10),
    ),
    App(
        "nw",
        cu=["needle.cu"],
        flags=["-DTRACEBACK"],
        run=["256", "10"],
        how="OpenMP version, traceback",
        reference=[("nw", [GXX + ["needle.cpp", "-o", "ref"], ["./ref", "256", "10", "1"]])],
        check=nw,
    ),
    App(
        "particlefilter",
        cu=["ex_particle_CUDA_float_seq.cu"],
        run=["-x", "64", "-y", "64", "-z", "5", "-np", "512"],
        fixed_time=True,
        how="OpenMP version, positions",
        reference=[
            (
                "particlefilter",
                [
                    GCC + ["ex_particle_OPENMP_seq.c", "{hooks}/fixed_time.c", "-lm", "-o", "ref"],
                    ["./ref", "-x", "64", "-y", "64", "-z", "5", "-np", "512"],
                ],
            )
        ],
        check=particlefilter,
    ),
    App(
        "pathfinder",
        cu=["pathfinder.cu"],
        flags=["-DBENCH_PRINT"],
        run=["4096", "20", "4"],
        how="OpenMP version, last row",
        reference=[("pathfinder", [GXX + ["-DBENCH_PRINT", "pathfinder.cpp", "-o", "ref"], ["./ref", "4096", "20"]])],
        check=pathfinder,
    ),
    App(
        "srad",
        folder="srad/srad_v1",
        cu=["main.cu"],
        run=["5", "0.5", "128", "128"],
        make_input=inputs.srad,
        how="OpenMP version, image",
        reference=[("srad/srad_v1", [GCC + ["main.c", "-lm", "-o", "ref"], ["./ref", "5", "0.5", "128", "128", "1"]])],
        check=lambda c: both(c, "image_out.pgm", relative=0, absolute=1.0),
    ),
    App(
        "srad_v2",
        folder="srad/srad_v2",
        cu=["srad.cu"],
        flags=["-DOUTPUT"],
        run=["128", "128", "0", "31", "0", "31", "0.5", "2"],
        how="OpenMP version, image",
        note="second version of srad; not counted; reads before the start of its array",
        reference=[
            (
                "srad/srad_v2",
                [
                    GXX + ["-DOUTPUT", "srad.cpp", "-o", "ref"],
                    ["./ref", "128", "128", "0", "31", "0", "31", "1", "0.5", "2"],
                ],
            )
        ],
        check=srad_v2,
    ),
    App(
        "streamcluster",
        cu=["streamcluster_cuda_cpu.cpp", "streamcluster_cuda.cu", "streamcluster_header.cu"],
        run=["10", "20", "16", "1024", "1024", "100", "none", "output.txt", "1"],
        how="OpenMP version, centres",
        reference=[
            (
                "streamcluster",
                [
                    GXX + ["streamcluster_omp.cpp", "-o", "ref"],
                    ["./ref", "10", "20", "16", "1024", "1024", "100", "none", "output.txt", "1"],
                ],
            )
        ],
        check=lambda c: both(c, "output.txt", relative=1e-4),
    ),
]
