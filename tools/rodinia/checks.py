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
    return f"{len(ours)} numbers within {relative:g}"


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
        out.append(data[at + 8:at + 8 + length])
        at += 8 + length
    return out


def floats(raw):
    return list(struct.unpack(f"<{len(raw) // 4}f", raw[:len(raw) // 4 * 4]))


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
        members = points[c::inputs.KMEANS_CENTRES]
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
    """One level of the reversible 5/3 transform with symmetric extension: (low, high)."""
    n = len(v)

    def at(i):
        return v[-i if i < 0 else (2 * (n - 1) - i if i >= n else i)]

    high = {i: at(i) - ((at(i - 1) + at(i + 1)) >> 1) for i in range(1, n, 2)}

    def h(i):
        if i < 0:
            i = -i
        if i >= n:
            i = 2 * (n - 1) - i
        return high[i]

    low = [at(i) + ((h(i - 1) + h(i + 1) + 2) >> 2) for i in range(0, n, 2)]
    return low, [high[i] for i in range(1, n, 2)]


def dwt53(dump, pixels, width, height, levels):
    """The integer 5/3 transform computed on the host, compared sample by sample with what came back from the device."""
    result = [p - 128 for p in pixels]
    w, h = width, height
    for _ in range(levels):
        rows = []
        for y in range(h):
            low, high = lift53(result[y * width:y * width + w])
            rows.append(low + high)
        for x in range(w):
            low, high = lift53([rows[y][x] for y in range(h)])
            for y, v in enumerate(low + high):
                rows[y][x] = v
        for y in range(h):
            result[y * width:y * width + w] = rows[y]
        w, h = (w + 1) // 2, (h + 1) // 2
    copies = dumps(dump)
    expect(copies, "no copy from the device")
    ours = struct.unpack(f"<{len(copies[-1]) // 4}i", copies[-1])
    if list(ours) == result:
        return f"{len(ours)} coefficients equal the host's transform"
    wrong = sum(1 for a, b in zip(ours, result) if a != b)
    raise Mismatch(f"{wrong} of {len(result)} coefficients differ from the host's transform")
