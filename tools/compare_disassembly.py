#!/usr/bin/env python3
"""Compares `simtlab disasm` with the vendor's nvdisasm, word for word.

Each word of a cubin, fat binary, executable or library is given to both; what differs is counted by mnemonic. The
vendor's tool is no part of simtlab: `pip install nvidia-cuda-nvdisasm` has it.
usage: compare_disassembly.py [--simtlab PATH] [--nvdisasm PATH] [--show N] FILE...
Exit codes: 0 no difference, 1 some, 7 a tool is missing.
"""
import argparse
import collections
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

LINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
WHERE = re.compile(r"at address 0x([0-9a-f]+)")
NOP = 0x000FC000000000000000000000007918
# Maxwell and Pascal: three instructions of 8 bytes behind a word with the control bits of all three
BUNDLED_NOP = 0x0007E0 << 105 | 0x50B0000000070F00
A_BUNDLE, BUNDLE_BYTES, CONTROL_BITS, FIRST_CONTROL_BIT = 3, 32, 21, 105
LEAST_WORDS = 8  # nvdisasm takes a shorter file for something else
MISSING = 7


def tool(name, given, hint):
    found = shutil.which(given)
    if found is None:
        print(f"compare_disassembly.py: {name} is not there ({given}); {hint}", file=sys.stderr)
        sys.exit(MISSING)
    return found


def listed(simtlab, file):
    """The images that simtlab sees in a file."""
    run = subprocess.run([simtlab, "disasm", file, "--json"], capture_output=True, text=True, check=False)
    try:
        return json.loads(run.stdout)["images"]
    except (ValueError, KeyError):
        print(f"{file}: {run.stderr.strip() or 'nothing was printed'}", file=sys.stderr)
        return []


def in_bundles(generation):
    return generation < 70


def address_at(generation, place):
    """Address of an instruction in a file that holds nothing else."""
    return place // A_BUNDLE * BUNDLE_BYTES + place % A_BUNDLE * 8 + 8 if in_bundles(generation) else 16 * place


def raw_code(generation, words):
    if not in_bundles(generation):
        code = words + [NOP] * LEAST_WORDS
        return b"".join(struct.pack("<QQ", w & (2**64 - 1), w >> 64) for w in code)
    code = words + [BUNDLED_NOP] * (LEAST_WORDS * A_BUNDLE - len(words) % A_BUNDLE)
    out = b""
    for at in range(0, len(code), A_BUNDLE):
        bundle = code[at : at + A_BUNDLE]
        control = sum(w >> FIRST_CONTROL_BIT << CONTROL_BITS * i for i, w in enumerate(bundle))
        out += struct.pack("<4Q", control, *(w & (2**64 - 1) for w in bundle))
    return out


def vendor_texts(nvdisasm, generation, words):
    """What nvdisasm prints for each word; words that it refuses are left out."""
    refused, code = set(), list(words)
    options = ["-novliw"] if in_bundles(generation) else ["-ndf"]
    place_of = {address_at(generation, place): place for place in range(len(words))}
    with tempfile.NamedTemporaryFile(suffix=".bin") as raw:
        for _ in range(10):
            raw.seek(0)
            raw.truncate()
            raw.write(raw_code(generation, code))
            raw.flush()
            run = subprocess.run(
                [nvdisasm, *options, "-b", f"SM{generation}", raw.name], capture_output=True, text=True, check=False
            )
            if run.returncode == 0:
                texts = {place_of.get(int(at, 16)): text for at, text in LINE.findall(run.stdout)}
                return {place: text for place, text in texts.items() if place not in refused}
            bad = {place_of.get(int(at, 16)) for at in WHERE.findall(run.stderr)} - refused - {None}
            if not bad:
                raise RuntimeError(run.stderr.strip())
            refused |= bad
            for place in bad:
                code[place] = BUNDLED_NOP if in_bundles(generation) else NOP
    raise RuntimeError("nvdisasm refuses too many words")


def own_text(instruction, address, bundled):
    """Our text as the vendor's tool writes it for a word at this address of a file without labels."""
    text = instruction.get("text")
    if text is None:
        return "unknown: " + instruction["unknown"]
    if "target" in instruction:
        target = (instruction["target"] - instruction["address"] + address + 2**63) % 2**64 - 2**63
        # Branches name the first instruction of a bundle by the control word before it
        if bundled and target % BUNDLE_BYTES == 8:
            target -= 8
        text = re.sub(
            r"`\(.*\)|(?<= )-?0x[0-9a-f]+$", f"0x{target % 2**32:x}" if target >= 0 else f"-0x{-target:x}", text
        )
    return text


def compare(options, file, wrong, shown):
    total = 0
    for image in listed(options.simtlab, file):
        instructions = [i for k in image["kernels"] for i in k["instructions"]]
        if not instructions:
            continue
        generation = options.arch or (75 if 70 <= image["generation"] < 75 else image["generation"])
        total += len(instructions)
        texts = vendor_texts(options.nvdisasm, generation, [int(i["word"], 16) for i in instructions])
        for number, instruction in enumerate(instructions):
            theirs = texts.get(number)
            ours = own_text(instruction, address_at(generation, number), in_bundles(generation))
            if theirs is not None and " ".join(ours.split()) == " ".join(theirs.split()):
                continue
            mnemonic = instruction.get("mnemonic", "unknown")
            wrong[mnemonic] += 1
            if shown[mnemonic] < options.show:
                shown[mnemonic] += 1
                print(f"{instruction['word']} sm_{image['generation']}\n  simtlab  {ours}\n  nvdisasm {theirs}")
    return total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--simtlab", default="simtlab")
    parser.add_argument("--nvdisasm", default="nvdisasm")
    parser.add_argument("--arch", type=int, help="let nvdisasm read the words as of this architecture")
    parser.add_argument("--show", type=int, default=2, help="differences that are printed of each mnemonic")
    options = parser.parse_args()
    options.simtlab = tool("simtlab", options.simtlab, "--simtlab names it")
    options.nvdisasm = tool("nvdisasm", options.nvdisasm, "pip install nvidia-cuda-nvdisasm, or --nvdisasm names it")
    wrong, shown, total = collections.Counter(), collections.Counter(), 0
    for file in options.files:
        if not pathlib.Path(file).exists():
            print(f"{file}: no such file", file=sys.stderr)
            return 1
        total += compare(options, file, wrong, shown)
    for mnemonic, count in wrong.most_common():
        print(f"{count:8} {mnemonic}")
    print(f"{sum(wrong.values())} of {total} words differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
