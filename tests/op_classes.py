#!/usr/bin/env python3
"""Checks that operation classes are listed in one place, src/device/op_class_rows.inc.

Elsewhere no source may have the name of a class as text, where the name has no other meaning, and no source may name so many classes that it
is a list of them.
usage: op_classes.py SOURCE_DIR
"""
import pathlib
import re
import sys

TABLE = "op_class_rows.inc"
# More classes than this in one source are a list: two thirds of them. Rules and words that stand for one class each name up to 17.
MOST = 18
# Names that mean something else, too: kinds of accesses, precisions of metrics.
AMBIGUOUS = {
    "bit",
    "fp16",
    "fp32",
    "fp64",
    "convert",
    "shuffle",
    "vote",
    "control",
    "barrier",
    "fence",
    "load",
    "store",
    "shared",
    "constant",
    "atomic",
    "texture",
    "sfu",
}


def names(source):
    (table,) = (source / "src").rglob(TABLE)
    return re.findall(r"^SIMTLAB_OP_CLASS\((\w+),", table.read_text(encoding="utf-8"), re.M)


def problems(source):
    classes = names(source)
    if len(classes) < 27:
        return [f"{TABLE}: {len(classes)} classes"]
    quoted = re.compile(r'"(' + "|".join(c for c in classes if c not in AMBIGUOUS) + r')"')
    named = re.compile(r"\bOpClass::(" + "|".join(classes) + r")\b")
    found = []
    for path in sorted((source / "src").rglob("*")):
        if path.suffix not in (".h", ".cpp", ".inc") or path.name == TABLE:
            continue
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(source)
        for number, line in enumerate(text.splitlines(), 1):
            if match := quoted.search(line.split("//")[0]):
                found.append(
                    f"{name}:{number}: the operation class {match.group()} as text; OpClass::{match.group(1)} is meant"
                )
        # Forms of PTX and what a probe measures are rows that have a class each.
        if path.name not in ("opcodes.cpp", "operation.cpp") and len(listed := set(named.findall(text))) > MOST:
            found.append(
                f"{name}: names {len(listed)} operation classes; the table in src/device/ is the place for lists"
            )
    return found


def test_that_it_finds(folder):
    (folder / "src/device").mkdir(parents=True)
    rows = [f"class_{i}" for i in range(27)]
    (folder / "src/device" / TABLE).write_text("".join(f"SIMTLAB_OP_CLASS({row}, {{}})\n" for row in rows))
    assert problems(folder) == []
    (folder / "src/device/bad.cpp").write_text('const char* a = "class_3";\n')
    (folder / "src/device/list.cpp").write_text("\n".join(f"OpClass::{row}" for row in rows))
    assert len(problems(folder)) == 2, problems(folder)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        test_that_it_finds(pathlib.Path(folder))
    wrong = problems(pathlib.Path(sys.argv[1]))
    print("\n".join(wrong) if wrong else "operation classes stand in one table")
    sys.exit(1 if wrong else 0)
