#!/usr/bin/env python3
"""The reference of the public headers as one page: python3 tools/interfaces.py > docs/reference/interfaces.md.

What stands above, or behind, a declaration in a header is its documentation; here it is put in front of the declaration. A test compares the page with the headers.
"""
import pathlib
import re
import sys

HEADERS = [
    ("simtlab/simtlab.h", "The library: C++", "../guide/library.md"),
    ("simtlab/memory_plugin.h", "Memory plug-ins: C", "../guide/plugins.md"),
]
BEGIN = re.compile(
    r"^(?:template|class|struct|enum|typedef|extern (?=[A-Z])|using|SIMTLAB_API|SIMTLAB_MEMORY_EXPORT|#define SIMTLAB_MEMORY_(?!EXPORT)[A-Z]+ +\w)"
)


def comments_of(text):
    """Lines with C comments turned into C++ ones, so that one rule serves both languages."""
    out, inside = [], False
    for line in text.splitlines():
        stripped = line.strip()
        if inside or (stripped.startswith("/*") and not stripped.startswith("/*<")):
            inside = "*/" not in stripped
            words = re.sub(r"^/?\*+/? ?", "", stripped).replace("*/", "").rstrip()
            out.append(
                "// " + words
                if line[:1] in "/ *" and not line.startswith("  /*") and not line.startswith("   *")
                else "  // " + words
            )
        else:
            out.append(line)
    return out


def entries(lines):
    """(documentation, declaration) of everything at the outermost level; the first has no declaration: the header's own words."""
    words, code, depth, found, first = [], [], 0, [], True
    for line in lines:
        if not code and line.startswith("//"):
            words.append(line[2:].removeprefix(" "))
            continue
        if not code:
            if words and first:
                found.append((words, []))
                words, first = [], False
            if not BEGIN.match(line):
                if line.strip():
                    words = []
                continue
        code.append(line)
        depth += line.count("{") - line.count("}") + line.count("(") - line.count(")")
        if depth == 0 and (
            line.rstrip().endswith((";", "}")) or line.startswith("#define") or re.search(r";\s*(//.*|/\*.*)?$", line)
        ):
            found.append((words, code))
            words, code = [], []
    if code or depth:
        sys.exit("a declaration does not end: " + code[0])
    return found


def public(code):
    """Without what is private and without bodies of functions."""
    out, hidden, skip = [], False, 0
    for line in code:
        if re.match(r"^ (private|protected):", line):
            hidden = True
        if line.startswith("}"):
            hidden = False
        if hidden:
            continue
        if skip:
            skip += line.count("{") - line.count("}")
            if not skip and (rest := re.search(r"\}\s*(//.*)$", line)):
                out[-1] += "  " + rest.group(1)
            continue
        if re.match(r"^ {6}: .*\{\}$", line):  # a constructor's members
            out[-1] += ";"
            continue
        body = re.match(r"^(  \S.*\)(?: const)?(?: noexcept)?(?:\s*:.*)?) \{(.*)$", line)
        if body:
            opened = 1 + body.group(2).count("{") - body.group(2).count("}")
            rest = re.search(r"\}\s*(//.*)$", body.group(2))
            out.append(body.group(1) + ";" + ("  " + rest.group(1) if rest else ""))
            skip = max(opened, 0)
            continue
        out.append(line)
    return out


def name_of(code):
    text = " ".join(code[:3])
    for pattern in (
        r"#define (\w+)",
        r"typedef struct (\w+)",
        r"\(\*(\w+)\)",
        r"(?:class|struct)(?: SIMTLAB_API)? (\w+)",
        r"enum (\{)",
        r"(\w+)\(",
        r"(\w+);",
    ):
        if match := re.search(pattern, text):
            return "constants" if match.group(1) == "{" else match.group(1)
    sys.exit("no name in: " + text)


def prose(words):
    """Indented lines are code already; the rest is text."""
    return "\n".join(("    " + w.strip() if w.startswith("  ") else w) for w in words).strip("\n")


def main():
    root = pathlib.Path(__file__).resolve().parent.parent / "include"
    print(
        "# Interfaces\n\nGenerated from the public headers by `tools/interfaces.py`; do not edit. The functions of Python have their own help: `help(simtlab.run)`, [python.md](../guide/python.md)."
    )
    for header, title, page in HEADERS:
        (head, _), *rest = entries(comments_of((root / header).read_text()))
        print(f"\n## {title}\n\n`include/{header}`; how to use it: [{page}]({page}).\n\n{prose(head)}")
        for words, code in rest:
            print(f"\n### {name_of(code)}\n")
            if words:
                print(prose(words) + "\n")
            shown = [
                line
                for line, after in zip(public(code), [*public(code)[1:], ""])
                if line.strip() or not after.startswith("}")
            ]
            print("```cpp\n" + "\n".join(shown) + "\n```")


if __name__ == "__main__":
    main()
