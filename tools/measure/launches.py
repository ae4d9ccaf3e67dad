#!/usr/bin/env python3
"""Writes a launch file (and its inputs) for the kernels of examples/*.cu: what tools/measure-gpu.sh runs on a real board.

usage: launches.py FOLDER [--small|--medium]     --small: sizes that the cycle-level simulator does in a blink, for the tests
                                                 --medium: sizes that fill a GPU for a moment, for tools/elasticity.py
"""
import pathlib
import random
import struct
import sys


def scalar(kind, value):
    return f'[[arg]]\ntype = "{kind}"\nvalue = {value}\n'


def buffer(name, kind, shape, init="zero", file=None):
    source = f'file = "{file}"' if file else f'init = "{init}"'
    return f'[[arg]]\nname = "{name}"\ntype = "{kind}"\nshape = {shape}\n{source}\n'


def numbers(folder, name, values):
    (folder / name).write_bytes(struct.pack(f"<{len(values)}i", *values))
    return name


def launch(folder, name, grid, block, args, kernel=None, shared=0):
    head = f"# {name}.cu of the examples, made by tools/measure/launches.py.\n"
    head += f'kernel = "{kernel}"\n' if kernel else ""
    head += f"grid = {grid}\nblock = {block}\n" + (f"shared = {shared}\n" if shared else "")
    (folder / f"{name}.toml").write_text(head + "\n" + "\n".join(args))


def main():
    folder = pathlib.Path(sys.argv[1])
    small, medium = "--small" in sys.argv[2:], "--medium" in sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(12345)
    n = 1 << (12 if small else 16 if medium else 22)  # elements of one-dimensional kernels
    m = 64 if small else 128 if medium else 512  # rows of two-dimensional ones
    blocks = [n // 256]
    mixed = list(range(n))
    draw.shuffle(mixed)
    mixed_file = numbers(folder, "mixed.bin", mixed)
    one = [scalar("s32", n)]

    launch(
        folder,
        "saxpy",
        blocks,
        [256],
        one + [scalar("f32", 2.0), buffer("x", "f32", [n], "random"), buffer("y", "f32", [n], "random")],
    )
    launch(
        folder,
        "gather",
        blocks,
        [256],
        one
        + [
            buffer("index", "s32", [n], file=mixed_file),
            buffer("table", "f32", [n], "random"),
            buffer("out", "f32", [n]),
        ],
    )
    launch(
        folder,
        "scatter",
        blocks,
        [256],
        one
        + [
            buffer("index", "s32", [n], file=mixed_file),
            buffer("in", "f32", [n], "random"),
            buffer("table", "f32", [n]),
        ],
    )
    launch(folder, "reduction", [256], [256], one + [buffer("in", "s32", [n], "random"), buffer("out", "s32", [256])])
    launch(folder, "histogram", [256], [256], one + [buffer("data", "u8", [n], "random"), buffer("bins", "u32", [256])])
    launch(
        folder,
        "scan",
        blocks,
        [256],
        one + [buffer("in", "s32", [n], "random"), buffer("out", "s32", [n]), buffer("sums", "s32", blocks)],
        kernel="_Z11scan_blocksiPKiPiS1_",
    )
    launch(
        folder,
        "dynamic_shared",
        [n // 2048],
        [256],
        one + [scalar("s32", 2048), buffer("in", "s32", [n], "random"), buffer("out", "s32", [n])],
        shared=8192,
    )

    # One cycle through all elements, followed by 64 threads.
    following = [0] * n
    for i in range(n):
        following[mixed[i]] = mixed[(i + 1) % n]
    launch(
        folder,
        "pointer_chase",
        [2],
        [32],
        [
            scalar("s32", 64 if small else 200 if medium else 2000),
            buffer("start", "s32", [64], file=numbers(folder, "start.bin", [mixed[i * (n // 64)] for i in range(64)])),
            buffer("next", "s32", [n], file=numbers(folder, "next.bin", following)),
            buffer("end", "s32", [64]),
        ],
    )

    # A graph of eight random neighbours a node; a hundredth of the nodes are the front.
    nodes = n // 16
    first = numbers(folder, "first.bin", [8 * i for i in range(nodes + 1)])
    neighbours = numbers(folder, "neighbours.bin", [draw.randrange(nodes) for _ in range(8 * nodes)])
    distance = numbers(folder, "distance.bin", [3 if draw.random() < 0.01 else -1 for _ in range(nodes)])
    launch(
        folder,
        "bfs",
        [(nodes + 255) // 256],
        [256],
        [
            scalar("s32", nodes),
            scalar("s32", 3),
            buffer("first", "s32", [nodes + 1], file=first),
            buffer("neighbours", "s32", [8 * nodes], file=neighbours),
            buffer("distance", "s32", [nodes], file=distance),
            buffer("again", "s32", [1]),
        ],
    )

    square = [m // 16, m // 16]
    matrices = [
        scalar("s32", m),
        buffer("a", "f32", [m, m], "random"),
        buffer("b", "f32", [m, m], "random"),
        buffer("c", "f32", [m, m]),
    ]
    launch(folder, "matmul_naive", square, [16, 16], matrices)
    launch(folder, "matmul_tiled", square, [16, 16], matrices)
    t = 4 * m
    for name in ("transpose_naive", "transpose_tiled"):
        launch(
            folder,
            name,
            [t // 32, t // 32],
            [32, 8],
            [scalar("s32", t), buffer("in", "f32", [t, t], "random"), buffer("out", "f32", [t, t])],
        )
    s = 32 if small else 64 if medium else 128
    launch(
        folder,
        "stencil3d",
        [s // 32, s // 8],
        [32, 8],
        [scalar("s32", s), buffer("in", "f32", [s, s, s], "random"), buffer("out", "f32", [s, s, s])],
    )
    bodies = 256 if small else 512 if medium else 4096
    launch(
        folder,
        "nbody",
        [bodies // 128],
        [128],
        [scalar("s32", bodies), buffer("bodies", "f32", [bodies, 4], "random"), buffer("result", "f32", [bodies, 3])],
    )


if __name__ == "__main__":
    main()
