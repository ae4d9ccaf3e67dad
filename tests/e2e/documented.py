"""The commands that README.md and the pages of docs/ show: found in their code blocks, and taken apart to words."""
import re
import shlex
import typing

from harness import SOURCE

FENCE = re.compile(r"^```(\w*)")
COMMAND = re.compile(r"(?:^|[;&] *|= )(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\S+/)?simtlab (?=\S)")
# What a reader puts something for: a value that the option takes.
STAND_INS = {
    "N": "1",
    "P": "5",
    "N|UUID": "0",
    "LINE": "9",
    "K=V": "l2.ways=8:16",
    "KEY=VALUE": "l2.ways=8",
    "NAME=[VALUES]": "l2.ways=[8,16]",
    "PATH": "path",
    "AREA": "timing",
    "--model NAME": "all",
}


class Command(typing.NamedTuple):
    page: str
    line: int
    text: str  # as it stands there
    words: list  # without "simtlab"

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    @property
    def schematic(self):
        """Not to be typed as it stands: alternatives, parts that may be left out, names of what the reader has."""
        return (
            "[" in self.text.replace("=[", "")
            or " | " in self.text
            or "..." in self.text
            or bool(re.search(r"\b[A-Z]{4,}\b|\bN\b", self.text))
        )


def code_lines(text):
    """(number, language, line) of code blocks: between fences, or indented by four."""
    language, before = None, ""
    for number, line in enumerate(text.splitlines(), 1):
        fence = FENCE.match(line)
        if fence:
            language = None if language is not None else fence.group(1)
        elif language is not None:
            yield number, language, line
        elif line.startswith("    ") and (before == "" or before.startswith("    ")):
            yield number, "", line[4:]
            before = line
            continue
        before = line


def joined(lines):
    """Lines that end in a backslash with the next ones."""
    held = None
    for number, language, line in lines:
        if held is not None:
            number, line = held[0], held[1] + " " + line.strip()
            held = None
        if line.rstrip().endswith("\\"):
            held = (number, line.rstrip()[:-1].rstrip())
            continue
        yield number, language, line


def without_remark(line):
    """What is behind # or two blanks says what the command does."""
    quoted = ""
    for i, letter in enumerate(line):
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "'\"":
            quoted = letter
        elif letter == "#" and line[i - 1 : i] == " " or line.startswith("  ", i):
            return line[:i].rstrip()
    return line.rstrip()


def alternatives(words, commands):
    """`list gpus | drams` are two commands, `run app.cu | -- ./app` too. commands: names of all sub-commands, by their path."""
    out, part = [], []
    for word in [*words, "|"]:
        if word != "|":
            part.append(word)
            continue
        if out:
            path = []
            while tuple(path) in commands and out[0][len(path) :] and out[0][len(path)] in commands[tuple(path)]:
                path.append(out[0][len(path)])
            while (
                path and part[0] not in commands.get(tuple(path), ()) and part[0] in commands.get(tuple(path[:-1]), ())
            ):
                path.pop()
            part = path + part
        out.append(part)
        part = []
    return out


def usual(word):
    """A word of a schematic line as somebody would type it."""
    option, equals, value = word.partition("=")
    if word in STAND_INS:
        return STAND_INS[word]
    if equals and value in STAND_INS:
        return f"{option}={STAND_INS[value]}"
    if word.endswith(":LINE"):
        return word.replace("LINE", "9")
    if "|" in word:
        return re.split(r"\|", word)[0]
    return word


def without_optional_brackets(text):
    """[--json[=FILE]] is --json=FILE; the brackets of sm.count=[20:80:20] are the command's own."""
    out, kept = "", []
    for i, letter in enumerate(text):
        if letter == "[":
            kept.append(text[i - 1 : i] in tuple("=,:'"))
        if letter == "]" and kept:
            out += letter if kept.pop() else ""
        elif letter != "[" or kept[-1]:
            out += letter
    return out


def words_of(text, commands):
    """The commands of a line, as lists of words."""
    for piece in re.split(r" && | ; |; ", text.removesuffix(" &")):
        found = COMMAND.search(piece)
        if not found:
            continue
        for words in alternatives(shlex.split(without_optional_brackets(piece[found.end() :])), commands):
            yield [
                STAND_INS.get(f"{before} {word}") or usual(word)
                for before, word in zip(["", *words], words)
                if word != "..."
            ] + (["u32:1"] if words[-2:] == ["--arg", "..."] else [])


def commands_of(page, commands):
    for number, language, line in joined(code_lines((SOURCE / page).read_text())):
        text = without_remark(line)
        if language in ("", "sh", "bash", "console") and COMMAND.search(text):
            for words in words_of(text, commands):
                yield Command(page, number, text.strip(), words)


def pages():
    """README.md and the pages of docs/, without the parts of which docs/lab/validation.md is made."""
    parts = SOURCE / "docs/lab/validation.d"
    return [
        "README.md",
        *sorted(str(path.relative_to(SOURCE)) for path in (SOURCE / "docs").rglob("*.md") if parts not in path.parents),
    ]
