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


def vendor_texts(nvdisasm, generation, words):
    """What nvdisasm prints for each word; None: it refuses the word."""
    left = list(range(len(words)))
    with tempfile.NamedTemporaryFile(suffix=".bin") as raw:
        for _ in range(10):
            code = [words[i] for i in left] + [NOP] * LEAST_WORDS
            raw.seek(0)
            raw.truncate()
            raw.write(b"".join(struct.pack("<QQ", w & (2**64 - 1), w >> 64) for w in code))
            raw.flush()
            run = subprocess.run(
                [nvdisasm, "-ndf", "-b", f"SM{generation}", raw.name], capture_output=True, text=True, check=False
            )
            if run.returncode == 0:
                texts = {int(at, 16) // 16: text for at, text in LINE.findall(run.stdout)}
                return {i: texts.get(place) for place, i in enumerate(left)}, left
            bad = {int(at, 16) // 16 for at in WHERE.findall(run.stderr)}
            if not bad:
                raise RuntimeError(run.stderr.strip())
            left = [i for place, i in enumerate(left) if place not in bad]
    raise RuntimeError("nvdisasm refuses too many words")


def own_text(instruction, place):
    """Our text as the vendor's tool writes it for a word at this place of a file without labels."""
    text = instruction.get("text")
    if text is None:
        return "unknown: " + instruction["unknown"]
    if "target" in instruction:
        target = instruction["target"] - instruction["address"] + 16 * place
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
        generation = options.arch or (75 if image["generation"] < 75 else image["generation"])
        total += len(instructions)
        texts, places = vendor_texts(options.nvdisasm, generation, [int(i["word"], 16) for i in instructions])
        place_of = {i: place for place, i in enumerate(places)}
        for number, instruction in enumerate(instructions):
            theirs = texts.get(number)
            ours = own_text(instruction, place_of.get(number, number))
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
