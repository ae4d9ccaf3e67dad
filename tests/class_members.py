#!/usr/bin/env python3
"""Checks that no class of the core has more than 20 data members: a larger one is several classes.

Plain data (a struct whose members are set from outside, with at most a few small functions) may have more: options, facts, messages.
usage: class_members.py SOURCE_DIR
"""
import pathlib
import re
import sys

MOST = 20
FOLDERS = ["cache", "corun", "exec", "gpu", "hosts", "memory", "ptx", "stream", "timing"]
# Records that others fill in; each has its reason.
PLAIN = {
    "BoardFacts": "what a GPU says of itself",
    "Function": "a decoded function",
    "Inst": "a decoded instruction",
    "InstInfo": "what the timing model wants to know of an instruction",
    "Mods": "modifiers of an instruction",
    "Options": "options of a GPU",
    "Warp": "registers and masks of a resident warp",
    "Block::Impl": "registers and memory of a resident block",
    "AstFunction": "a parsed function",
    "SmCounters": "what a streaming multiprocessor counted",
    "Totals": "what a daemon counted, as it is sent",
}
HEAD = re.compile(r"(?<!enum )\b(?:class|struct)\s+([\w:]+)(?:\s+final)?\s*(?::[^{;()]*)?\{")
BODY_OF_FUNCTION = re.compile(r"(?:\)|\bconst|\boverride|\bfinal|\bnoexcept)\s*\^")
NO_MEMBER = re.compile(r"(using|friend|static|typedef|enum|struct|class|template|explicit|virtual|return|\[\[)\b")


def without_text(source):
    source = re.sub(r'R"(\w*)\(.*?\)\1"', '""', source, flags=re.S)
    source = re.sub(r"//[^\n]*|/\*.*?\*/", "", source, flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', source)


def body_of(text, begin):
    """The statements of a class whose body begins there; a nested body is one ^."""
    depth, flat = 1, ""
    for at in range(begin, len(text)):
        if text[at] == "{":
            depth += 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                break
            flat += "^" if depth == 1 else ""
        elif depth == 1:
            flat += text[at]
    return flat


def members(body):
    count = 0
    for statement in body.split(";"):
        # What stands behind a function's body begins a new declaration; behind an initialiser the same one goes on.
        text = BODY_OF_FUNCTION.split(statement)[-1].replace("^", "")
        text = re.sub(r"\b(public|private|protected)\s*:", "", text).strip()
        if not text or NO_MEMBER.match(text):
            continue
        shorter = None
        while shorter != text:
            shorter, text = text, re.sub(r"<[^<>]*>", "", text)
        declared = re.sub(r"=[^,]*", "", text)
        if "(" in declared or len(declared.split()) < 2:
            continue
        count += declared.count(",") + 1
    return count


def classes(source, folders):
    for folder in folders:
        for path in sorted((source / "src" / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                text = without_text(path.read_text(encoding="utf-8"))
                for head in HEAD.finditer(text):
                    yield path.relative_to(source), head.group(1), members(body_of(text, head.end()))


def problems(source, folders=None):
    return [
        f"{path}: {name} has {count} data members; split it (at most {MOST})"
        for path, name, count in classes(source, folders or FOLDERS)
        if count > MOST and name not in PLAIN
    ]


def test_that_it_counts(folder):
    (folder / "src/gpu").mkdir(parents=True)
    text = (
        "class Many : public Base<int> {\n public:\n  void act() { if (x) { y(); } }\n  bool is() const { return a_; }\n private:\n  enum class E { p, q };\n"
        "  int a_ = 0, b_{1}, c_;  // d_, e_\n  std::map<int, std::vector<int>> f_;\n  static constexpr int no = 1;\n"
        + "".join(f"  int g{i}_ = 2;\n" for i in range(16))
        + "};\n"
    )
    (folder / "src/gpu/many.h").write_text(text)
    ((_, name, count),) = classes(folder, ["gpu"])
    assert (name, count) == ("Many", 20), (name, count)
    assert problems(folder, ["gpu"]) == []
    (folder / "src/gpu/many.h").write_text(text.replace("  static", "  double h_;\n  static"))
    assert len(problems(folder, ["gpu"])) == 1


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        test_that_it_counts(pathlib.Path(scratch))
    wrong = problems(pathlib.Path(sys.argv[1]))
    print("\n".join(wrong) if wrong else f"no class has more than {MOST} data members")
    sys.exit(1 if wrong else 0)
