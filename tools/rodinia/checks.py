"""Comparison helpers: text, numbers with tolerance, memory dumps, and host computations."""
import math
import re
import struct

import inputs

NUMBER = re.compile(r"[-+]?(?:nan|inf|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)", re.I)


class Mismatch(Exception):
    pass


def expect(condition, sentence):
    if not condition:
        raise Mismatch(sentence)


def numbers(text):
    return [float(w) for w in NUMBER.findall(text)]


def close(a, b, relative, absolute=0.0):
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    return a == b or abs(a - b) <= max(absolute, relative * max(abs(a), abs(b)))


def same_numbers(ours, reference, what, relative=1e-4, absolute=0.0):
    expect(len(ours) == len(reference), f"{what}: {len(ours)} numbers, reference has {len(reference)}")
    expect(len(ours) > 0, f"{what}: no numbers")
    for i, (a, b) in enumerate(zip(ours, reference)):
        expect(close(a, b, relative, absolute), f"{what}: number {i} is {a}, reference {b}")
    # Not-a-number everywhere would compare equal and prove nothing.
    finite = sum(1 for v in reference if math.isfinite(v))
    expect(finite * 2 >= len(reference), f"{what}: reference is mostly not finite ({finite} of {len(reference)})")
    bound = f"{relative:g} of their size" if relative else "0" if not absolute else ""
    return f"{len(ours)} numbers within " + " or ".join(b for b in (bound, f"{absolute:g}" if absolute else "") if b)


def same_files(ours, reference, relative=None, absolute=0.0):
    a, b = ours.read_text(errors="replace"), reference.read_text(errors="replace")
    if relative is None:
        expect(a == b and a.strip(), f"{ours.name} differs from the reference")
        return f"{ours.name} identical ({len(a)} bytes)"
    return same_numbers(numbers(a), numbers(b), ours.name, relative, absolute)


def dumps(path):
    """Copies recorded by hooks/d2h_dump.c."""
    data, out, at = path.read_bytes(), [], 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        out.append(data[at + 8 : at + 8 + length])
        at += 8 + length
    return out


def floats(raw):
    return list(struct.unpack(f"<{len(raw) // 4}f", raw[: len(raw) // 4 * 4]))


def gaussian(dump, size):
    """The three copies are m, a, b after forward elimination of A[i][j] = 10 exp(-0.01 |i-j|), b = 1: substitute back and check A x = 1."""
    copies = dumps(dump)
    expect(len(copies) >= 3, f"{len(copies)} copies from the device, 3 expected")
    _, upper, right = (floats(c) for c in copies[:3])
    x = [0.0] * size
    for i in reversed(range(size)):
        x[i] = (right[i] - sum(upper[i * size + j] * x[j] for j in range(i + 1, size))) / upper[i * size + i]
    worst = max(abs(sum(10 * math.exp(-0.01 * abs(i - j)) * x[j] for j in range(size)) - 1.0) for i in range(size))
    expect(worst < 1e-2, f"residual {worst}")
    return f"residual of A x = b {worst:.1e}"


def kmeans(stdout):
    """Output centroids must be the means of the generated clusters."""
    found = {}
    for line in stdout.splitlines():
        match = re.match(r"^(\d+): (.*)$", line)
        if match:
            found[int(match.group(1))] = [float(v) for v in match.group(2).split()]
    expect(len(found) == inputs.KMEANS_CENTRES, f"{len(found)} centroids printed")
    points = inputs.kmeans_points()
    means = []
    for c in range(inputs.KMEANS_CENTRES):
        members = points[c :: inputs.KMEANS_CENTRES]
        means.append([sum(column) / len(members) for column in zip(*members)])
    ours = sorted(found.values())
    for a, b in zip(ours, sorted(means)):
        for u, v in zip(a, b):
            expect(abs(u - v) < 0.011, f"centroid coordinate {u}, mean of the cluster {v}")
    return "centroids equal the cluster means"


def nn(stdout, count):
    lat, lng = inputs.NN_TARGET
    records = [r for f in inputs.nn_records() for r in f]
    lines = inputs.nn_lines(records)
    distances = sorted(math.hypot(lat - float(line[28:33]), lng - float(line[33:38])) for line in lines)[:count]
    found = [float(v) for v in re.findall(r"Distance=([\d.]+)", stdout)]
    return same_numbers(found, distances, "distances", 1e-4)


def lift53(v):
    """One level of the reversible 5/3 transform with symmetric extension: (low, high). Divisions truncate, as C's do."""
    n = len(v)

    def part(x, d):
        return x // d if x >= 0 else -(-x // d)

    def mirror(i):
        return -i if i < 0 else (2 * (n - 1) - i if i >= n else i)

    high = {i: v[i] - part(v[mirror(i - 1)] + v[mirror(i + 1)], 2) for i in range(1, n, 2)}
    low = [v[i] + part(high[mirror(i - 1)] + high[mirror(i + 1)] + 2, 4) for i in range(0, n, 2)]
    return low, [high[i] for i in range(1, n, 2)]


def dwt53(dump, pixels, width, height, levels):
    """The integer 5/3 transform computed on the host, compared sample by sample with what came back from the device."""
    # Columns, then rows; each band is one piece, the deepest bands first.
    rows = [[p - 128 for p in pixels[y * width : (y + 1) * width]] for y in range(height)]
    bands = []
    for _ in range(levels):
        columns = [lift53([r[x] for r in rows]) for x in range(len(rows[0]))]
        low, high = ([lift53(list(r)) for r in zip(*(c[k] for c in columns))] for k in (0, 1))
        bands = (
            [v for r in low for v in r[1]] + [v for r in high for v in r[0]] + [v for r in high for v in r[1]] + bands
        )
        rows = [r[0] for r in low]
    result = [v for r in rows for v in r] + bands
    copies = dumps(dump)
    expect(copies, "no copy from the device")
    ours = struct.unpack(f"<{len(copies[-1]) // 4}i", copies[-1])
    if list(ours) == result:
        return f"{len(ours)} coefficients equal the host's transform"
    wrong = sum(1 for a, b in zip(ours, result) if a != b)
    raise Mismatch(f"{wrong} of {len(result)} coefficients differ from the host's transform")
