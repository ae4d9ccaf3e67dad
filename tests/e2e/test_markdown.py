"""tools/markdown.py: prose is wrapped at 120 columns, nothing else changes, and the check finds what wrapping would change."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tools"))
import markdown  # noqa: E402

LONG = "word " * 40


def meaning(text):
    """What a reader sees: each block with its words, however they stand in lines."""
    return [
        (b.first, " ".join(b.text().split())) if b.prose else "\n".join(b.lines)
        for b in markdown.blocks(text.splitlines())
    ]


class Markdown(unittest.TestCase):
    def unchanged(self, text):
        self.assertEqual(markdown.wrapped(text), text)

    def test_paragraphs_and_items_are_wrapped_at_their_indent(self):
        out = markdown.wrapped(f"{LONG}\n\n- {LONG}\n  1. {LONG}\n")
        self.assertTrue(all(markdown.width(line) <= 120 for line in out.splitlines()))
        self.assertEqual({len(line) - len(line.lstrip()) for line in out.splitlines()}, {0, 2, 5})
        self.assertEqual(markdown.wrapped(out), out)

    def test_what_is_no_prose_stays(self):
        for text in (
            f"| {LONG} | {LONG} |\n",
            f"# {LONG}\n",
            f"```\n{LONG}\n```\n",
            f"    {LONG}\n",
            f"<p>{LONG}</p>\n",
            f"> {LONG}\n",
            f"[{'x' * 150}](page.md)\n",
            "x" * 150 + "\n",
            f"{LONG[:100]}\nshort\n",
            f"```sh\n{LONG}\n```\ntext\n",
            f"{LONG}  \nafter a break\n",
        ):
            self.unchanged(text)

    def test_a_line_never_begins_with_a_mark(self):
        for mark in ("-", "+", "*", "1.", "#", ">", "|", "===", "---", "12)"):
            for before in range(110, 122):
                text = "x" * (before - 6) + f" yyyyy {mark} " + LONG.strip() + "\n"
                out = markdown.wrapped(text)
                self.assertEqual(meaning(out), meaning(text), mark)
                self.assertFalse(any(markdown.SPECIAL.match(line) for line in out.splitlines()), out)

    def test_code_and_links_are_not_broken(self):
        out = markdown.wrapped(
            "word " * 22 + "`some code with blanks` and [a link with blanks](page.md#place) " + LONG.strip() + "\n"
        )
        for whole in ("`some code with blanks`", "[a link with blanks](page.md#place)"):
            self.assertIn(whole, out)

    def test_the_pages_keep_their_meaning(self):
        for page in markdown.pages([]):
            text = page.read_text()
            self.assertEqual(meaning(markdown.wrapped(text)), meaning(text), str(page))

    def test_the_check_names_the_place(self):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text(f"# Title\n\n{LONG}\n")
            tool = [sys.executable, "-B", SOURCE / "tools/markdown.py"]
            found = subprocess.run([*tool, "check", page], capture_output=True, text=True)
            self.assertEqual(found.returncode, 1)
            self.assertIn(f"{page}:3: ", found.stdout)
            subprocess.run([*tool, "wrap", page], check=True)
            subprocess.run([*tool, "check", page], check=True)


if __name__ == "__main__":
    unittest.main()
