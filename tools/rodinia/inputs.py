"""Inputs for the Rodinia applications, made from a seed: the suite's repository does not carry its data folder.

Every generator writes files below the `data` folder it is given, small enough that an application simulates in seconds.
"""
import math
import random
import struct


def bfs(data, nodes=4096, degree=4):
    rng = random.Random(1)
    starts, edges = [], []
    for _ in range(nodes):
        count = rng.randint(1, 2 * degree - 1)
        starts.append((len(edges), count))
        edges += [rng.randrange(nodes) for _ in range(count)]
    with open(data / "graph.txt", "w") as f:
        f.write(f"{nodes}\n" + "".join(f"{s} {c}\n" for s, c in starts))
        f.write(f"\n0\n\n{len(edges)}\n" + "".join(f"{e} 1\n" for e in edges))


def btree(data, count=20000):
    rng = random.Random(2)
    keys = list(range(count))
    rng.shuffle(keys)
    (data / "mil.txt").write_text(f"{count}\n" + "\n".join(map(str, keys)) + "\n")
    (data / "command.txt").write_text("j 200 300\nk 500\nq\n")


def cfd(data, side=24):
    """A flow past a square obstacle: quadrilateral cells with four faces, far field outside, wall at the obstacle."""
    index = {}
    for y in range(side):
        for x in range(side):
            if not (10 <= x < 13 and 10 <= y < 13):
                index[(x, y)] = len(index) + 1  # Fortran numbering
    h = 1.0 / side
    lines = [str(len(index))]
    for x, y in index:
        # Areas far above the geometric ones shorten the time step: the program always makes 2000 iterations, and a mesh
        # this coarse would diverge if they covered a long time.
        words = [f"{10000 * h * h:.8f}"]
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            nx, ny = x + dx, y + dy
            neighbour = index.get((nx, ny))
            if neighbour is None:
                neighbour = 0 if 0 <= nx < side and 0 <= ny < side else -2
            # Outward normals; the program negates them on reading.
            words += [str(neighbour), f"{dx * h:.8f}", f"{dy * h:.8f}", "0.0"]
        lines.append(" ".join(words))
    (data / "mesh.domn").write_text("\n".join(lines) + "\n")


def dwt2d(data, width=192, height=192):
    rng = random.Random(3)
    pixels = bytes(
        int(127 + 80 * math.sin(x / 9.0) * math.cos(y / 13.0)) + rng.randint(0, 20)
        for y in range(height)
        for x in range(width)
    )
    (data / "image.bmp").write_bytes(pixels)


def grid(path, cells, low, high, seed):
    rng = random.Random(seed)
    path.write_text("".join(f"{rng.uniform(low, high):.6f}\n" for _ in range(cells)))


def hotspot(data, side=128):
    grid(data / "temp", side * side, 323.0, 341.0, 4)
    grid(data / "power", side * side, 0.0, 0.005, 5)


def hotspot3d(data, side=64, layers=8):
    grid(data / "temp", side * side * layers, 323.0, 341.0, 6)
    grid(data / "power", side * side * layers, 0.0, 0.005, 7)


def huffman(data, bytes_=262144):
    rng = random.Random(8)
    (data / "input.in").write_bytes(bytes(min(255, int(rng.expovariate(0.12))) for _ in range(bytes_)))


def hybridsort(data, count=65536):
    rng = random.Random(9)
    (data / "floats.txt").write_text("\n".join(f"{rng.random():.7f}" for _ in range(count)) + "\n")


KMEANS_CENTRES = 5
KMEANS_FEATURES = 16


def kmeans_points(points=2000):
    """Well-separated clusters; point i belongs to cluster i % 5, so that the first points seed different clusters."""
    rng = random.Random(10)
    centres = [[rng.uniform(0, 10) + 40 * c for _ in range(KMEANS_FEATURES)] for c in range(KMEANS_CENTRES)]
    return [[float(f"{v + rng.uniform(-1, 1):.4f}") for v in centres[i % KMEANS_CENTRES]] for i in range(points)]


def kmeans(data, points=2000):
    (data / "points.txt").write_text(
        "".join(f"{i} " + " ".join(f"{v:.4f}" for v in p) + "\n" for i, p in enumerate(kmeans_points(points)))
    )


def avi(path, width, height, frames):
    """Uncompressed 8-bit AVI as the suite's avilib reads it. frames: bytes objects of width * height."""

    def chunk(tag, body):
        return tag + struct.pack("<I", len(body)) + body + (b"\0" if len(body) % 2 else b"")

    def box(kind, body):
        return chunk(b"LIST", kind + body)

    size = width * height
    avih = struct.pack("<14I", 40000, size * 25, 0, 0x10, len(frames), 0, 1, size, width, height, 0, 0, 0, 0)
    strh = (
        b"vids"
        + b"DIB "
        + struct.pack("<IHHIIIIIIII4H", 0, 0, 0, 0, 1, 25, 0, len(frames), size, 0, 0, 0, 0, width, height)
    )
    strf = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 0, size, 0, 0, 256, 0)
    header = box(b"hdrl", chunk(b"avih", avih) + box(b"strl", chunk(b"strh", strh) + chunk(b"strf", strf)))
    movi, index, offset = b"", b"", 4
    for frame in frames:
        index += b"00db" + struct.pack("<III", 0x10, offset, size)
        piece = chunk(b"00db", frame)
        movi += piece
        offset += len(piece)
    body = b"AVI " + header + box(b"movi", movi) + chunk(b"idx1", index)
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)


def textured_frame(width, height, shift, seed):
    """Smooth texture moved by `shift` pixels: something that template tracking can follow."""
    rng = random.Random(seed)
    waves = [(rng.uniform(0.02, 0.2), rng.uniform(0.02, 0.2), rng.uniform(0, 6)) for _ in range(6)]
    rows = []
    for y in range(height):
        rows.append(
            bytes(
                int(128 + 20 * sum(math.sin(a * (x - shift) + b * (y - shift) + c) for a, b, c in waves)) & 0xFF
                for x in range(width)
            )
        )
    return b"".join(rows)


def heartwall(data):
    width, height = 656, 744
    avi(data / "test.avi", width, height, [textured_frame(width, height, s, 11) for s in (0, 1, 2)])


def leukocyte(data, grid=None):
    """Bright discs (cells) on a dark background inside the rows that the detector looks at. grid: columns and rows of cells that do not touch."""
    width, height = 640, 480
    rng = random.Random(12)
    cells = [(rng.randint(60, width - 60), rng.randint(150, 290)) for _ in range(12)]
    if grid:
        cells = [
            (60 + x * (width - 120) // (grid[0] - 1), 170 + y * 100 // (grid[1] - 1))
            for y in range(grid[1])
            for x in range(grid[0])
        ]
    frames = []
    for t in range(3):
        image = bytearray(rng.randint(30, 50) for _ in range(width * height))
        for cx, cy in cells:
            for y in range(cy - 14, cy + 15):
                for x in range(cx + t - 14, cx + t + 15):
                    d = math.hypot(x - cx - t, y - cy)
                    if d < 13:
                        value = 200 if d < 8 else int(200 - 150 * (d - 8) / 5)
                        # Stored upside down, as the program expects.
                        image[(height - 1 - y) * width + x] = max(image[(height - 1 - y) * width + x], value)
        frames.append(bytes(image))
    avi(data / "testfile.avi", width, height, frames)


def mummergpu(data, length=4000, reads=200, size=50):
    rng = random.Random(13)
    text = "".join(rng.choice("ACGT") for _ in range(length))
    (data / "reference.fna").write_text(">ref\n" + "\n".join(text[i : i + 70] for i in range(0, length, 70)) + "\n")
    with open(data / "reads.fna", "w") as f:
        for i in range(reads):
            start = rng.randrange(length - size)
            read = list(text[start : start + size])
            if i % 3 == 0:
                read[rng.randrange(size)] = rng.choice("ACGT")
            f.write(f">{i}\n{''.join(read)}\n")


def myocyte(data):
    """Rest state in the order of magnitude of a ventricular cell: gates, buffers, concentrations (mM), membrane potential (mV)."""
    ecc = [
        1.4e-3,
        0.987,
        0.992,
        7.2e-6,
        1.0,
        0.027,
        0.016,
        4.0e-3,
        0.99,
        4.0e-3,
        1.0,
        4.3e-3,
        0.018,
        0.89,
        8.8e-7,
        1.0e-7,
        3.5,
        0.77,
        9.0e-3,
        0.117,
        0.01,
        3.0e-4,
        1.3e-3,
        0.138,
        2.1e-3,
        7.6e-3,
        9.9e-3,
        0.077,
        0.114,
        1.19,
        0.55,
        8.8,
        8.8,
        8.8,
        120.0,
        1.7e-4,
        1.1e-4,
        8.9e-5,
        -85.7,
        0.99,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
    ]
    rng = random.Random(14)
    cam = [rng.uniform(1.0, 10.0) for _ in range(91 - len(ecc))]
    (data / "y.txt").write_text("\n".join(f"{v:.8g}" for v in ecc + cam) + "\n")
    (data / "params.txt").write_text("\n".join(f"{rng.uniform(0.1, 1.0):.6f}" for _ in range(18)) + "\n")


NN_TARGET = (30.0, 90.0)


def nn_records(files=2, records=500):
    rng = random.Random(15)
    names = ["ALBERTO", "BERYL", "CHRIS", "DEBBY", "ERNESTO", "FLORENCE"]
    out = []
    for _ in range(files):
        out.append(
            [
                (
                    1950 + rng.randrange(55),
                    1 + rng.randrange(12),
                    1 + rng.randrange(28),
                    rng.choice((0, 6, 12, 18)),
                    1 + rng.randrange(28),
                    rng.choice(names),
                    rng.uniform(7, 70),
                    rng.uniform(0, 358),
                    10 + rng.randrange(155),
                    rng.randrange(900),
                )
                for _ in range(records)
            ]
        )
    return out


def nn_lines(records):
    return ["%4d %2d %2d %2d %2d %-9s %5.1f %5.1f %4d %4d" % r for r in records]


def nn(data, records=500):
    names = []
    for i, records in enumerate(nn_records(records=records)):
        (data / f"cane_{i}.db").write_text("\n".join(nn_lines(records)) + "\n")
        names.append(f"../../data/nn/cane_{i}.db")
    (data / "filelist").write_text("\n".join(names) + "\n")


def srad(data, rows=128, cols=128):
    rng = random.Random(16)
    values = [
        max(1, min(255, int(120 + 60 * math.sin(x / 11.0) + 40 * math.cos(y / 7.0) + rng.randint(-15, 15))))
        for y in range(rows)
        for x in range(cols)
    ]
    lines = [" ".join(map(str, values[i : i + 16])) for i in range(0, len(values), 16)]
    (data / "image.pgm").write_text(f"P2\n# synthetic\n{cols} {rows}\n255\n" + "\n".join(lines) + "\n")
