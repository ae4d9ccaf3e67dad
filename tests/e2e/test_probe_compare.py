"""probe --compare: two measurements or device files side by side; what it says of files that are neither."""
import csv
import io
import json
import re

from harness import SOURCE, Case, main

COLUMNS = [
    "key",
    "value",
    "word",
    "unit",
    "low",
    "high",
    "confidence",
    "samples",
    "method",
    "curve",
    "unknown",
    "correction",
]


class ProbeCompare(Case):
    def probe(self, name, *more):
        self.ok(
            "probe", "--gpu", "k40", "--only", "shared", "--quick", f"--json={name}.json", "-o", f"{name}.toml", *more
        )

    def result_with(self, name, changes):
        """A copy of r.json whose findings have other cells; a key with None is left out."""
        result = json.loads((self.folder / "r.json").read_text())
        table = result["kernels"][0]["tables"]["findings"]
        self.assertEqual(table["columns"], COLUMNS)
        rows = []
        for row in table["rows"]:
            cells = changes.get(row[0], {})
            if cells is not None:
                rows.append([cells.get(column, value) for column, value in zip(COLUMNS, row)])
        table["rows"] = rows
        (self.folder / name).write_text(json.dumps(result))

    def rows(self, *arguments):
        return {
            row["key"]: row
            for row in csv.DictReader(io.StringIO(self.ok("probe", "--compare", *arguments, "--csv").stdout))
        }

    def test_results_of_before_a_column_was_added_are_read(self):
        self.probe("r")
        result = json.loads((self.folder / "r.json").read_text())
        table = result["kernels"][0]["tables"]["findings"]
        table["columns"], table["rows"] = table["columns"][:-1], [row[:-1] for row in table["rows"]]
        (self.folder / "old.json").write_text(json.dumps(result))
        self.assertIn("0 only in A, 0 only in B", self.ok("probe", "--compare", "old.json", "r.json").stdout)
        self.ok("report", "old.json", "--html=old.html")
        table["columns"] = table["columns"][1:]
        (self.folder / "bad.json").write_text(json.dumps(result))
        self.fails(3, "report", "bad.json", says="result-json")

    def test_a_measurement_is_the_same_as_itself_and_as_its_device_file(self):
        self.probe("r", "--base", "none")
        text = self.ok("probe", "--compare", "r.json", "r.json").stdout
        both, equal = map(
            int,
            re.search(
                r"(?m)^(\d+) keys in both, (\d+) of them equal, 0 with intervals apart; 0 only in A, 0 only in B$", text
            ).groups(),
        )
        self.assertEqual(both, equal)
        self.assertGreater(both, 15)
        against = self.rows("r.json", "r.toml")
        self.assertEqual(
            (against["shared.latency"]["a"], against["shared.latency"]["b"], against["shared.latency"]["unit"]),
            ("26", "26", "cycles"),
        )
        self.assertEqual(against["shared.latency"]["intervals"], "overlap")
        self.assertEqual(against["sm.shared_bytes"]["b"], "49152")  # both in the same unit, whatever the file has
        self.assertEqual(against["sm.clock"]["b"], "745000000")
        self.assertEqual(against["throughput.shared"]["state"], "equal")  # to the six digits of the file
        self.assertEqual({row["state"] for row in against.values() if row["b"] or row["b.word"]}, {"equal"})

    def test_differences_intervals_and_what_only_one_has(self):
        self.probe("r")
        self.result_with(
            "b.json",
            {
                "shared.latency": {"value": 39.0, "low": 38.0, "high": 40.0},
                "shared.banks": {"value": 33.0, "low": 30.0, "high": 36.0},
                "shared.bank_bytes": {"unit": "bits"},
                "architecture": {"word": "volta"},
                "shared.conflict": None,
                "throughput.shared": {"value": None, "low": None, "high": None, "unknown": "too noisy"},
            },
        )
        rows = self.rows("r.json", "b.json")
        self.assertEqual(
            (
                rows["shared.latency"]["difference"],
                rows["shared.latency"]["intervals"],
                rows["shared.latency"]["state"],
            ),
            ("0.5", "apart", "differs"),
        )
        self.assertEqual(
            (rows["shared.banks"]["difference"], rows["shared.banks"]["intervals"]), ("0.03125", "overlap")
        )
        self.assertEqual((rows["shared.bank_bytes"]["state"], rows["shared.bank_bytes"]["difference"]), ("units", ""))
        self.assertEqual((rows["architecture"]["state"], rows["architecture"]["b.word"]), ("differs", "volta"))
        self.assertEqual(
            (rows["shared.conflict"]["state"], rows["shared.conflict"]["b.note"]), ("only a", "not looked for")
        )
        self.assertEqual(
            (rows["throughput.shared"]["state"], rows["throughput.shared"]["b.note"]), ("only a", "too noisy")
        )
        text = self.ok("probe", "--compare", "r.json", "b.json").stdout
        self.assertRegex(text, r"(?m)^shared\.latency +26 cycles +39 cycles \(38 to 40\) +\+50\.00 %  apart$")
        self.assertRegex(text, r"(?m)^  throughput\.shared +.* too noisy$")
        self.assertRegex(text, r"2 only in A, 0 only in B\n$")
        self.assertRegex(
            self.ok("probe", "--compare", "b.json", "r.json").stdout,
            r"(?m)^Only in B, and why not in A:\n(.*\n)*  shared\.conflict .* not looked for$",
        )
        result = json.loads(self.ok("probe", "--compare", "r.json", "b.json", "--json").stdout)
        self.assertEqual(result["total"]["probe.compare.apart"]["value"], 1)
        self.assertEqual(result["total"]["probe.compare.only_a"]["value"], 2)
        self.assertEqual([entry["path"] for entry in result["manifest"]["inputs"]], ["r.json", "b.json"])
        self.assertEqual(len(result["kernels"][0]["tables"]["comparison"]["rows"]), len(rows))
        self.ok("probe", "--compare", "r.json", "b.json", "-o", "report.txt")
        self.assertEqual((self.folder / "report.txt").read_text(), text)

    def test_device_files_need_not_be_complete_and_estimates_are_marked(self):
        self.probe("r", "--base", "k40")
        (self.folder / "part.toml").write_text(
            '[l1]\nlatency = { value = "40 cycles", source = "probe: chase; 95 % interval 31 to 45 cycles, 9 samples" }\nways = { value = 8, source = "book" }\n'
        )
        rows = self.rows("part.toml", "k40")
        self.assertEqual(
            (rows["l1.latency"]["a.low"], rows["l1.latency"]["a.high"], rows["l1.latency"]["difference"]),
            ("31", "45", "-0.2"),
        )
        self.assertEqual(rows["l1.latency"]["intervals"], "")  # k40's is of a book, which has none
        self.assertEqual(rows["l1.ways"]["difference"], "-0.5")
        self.assertEqual(rows["sm.count"]["state"], "only b")
        rows = self.rows("r.toml", "k40")
        self.assertTrue(rows["l2.latency"]["a.note"].startswith("an estimate: not measured; as k40"))
        self.assertRegex(self.ok("probe", "--compare", "r.toml", "k40").stdout, r"(?m)^l2\.latency +188 cycles\* ")

    def test_files_that_are_neither_are_refused(self):
        self.probe("r")
        good = (self.folder / "r.json").read_text()
        for name, content, says in (
            ("cut.json", good[: len(good) // 2], "cut.json"),
            ("other.json", '{"schema": 1}', "result-json"),
            ("bad.toml", "[l1]\nlatency = 3\n", "bad.toml:2"),
            ("key.toml", "[l1]\nlatenzy = 3\n", "key.toml:2"),
            ("unit.toml", '[l1]\nlatency = { value = "3 GHz", source = "x" }\n', "unit.toml:2"),
            ("empty.toml", "", "probe-compare"),
            ("binary", "\0\1\2", "binary:1"),
        ):
            (self.folder / name).write_text(content)
            self.fails(3, "probe", "--compare", "r.json", name, says=says)
            self.fails(3, "probe", "--compare", name, "r.json", says=says)
        self.fails(3, "probe", "--compare", "r.json", "gtx48", says="gtx480")
        self.fails(3, "probe", "--compare", "r.json", ".", says="file-directory")
        self.ok("validate", "probe", "--json=v.json")
        self.fails(3, "probe", "--compare", "r.json", "v.json", says="no table of findings")
        table = json.loads(good)
        rows = table["kernels"][0]["tables"]["findings"]["rows"]
        rows.append(rows[0])
        (self.folder / "twice.json").write_text(json.dumps(table))
        self.fails(3, "probe", "--compare", "twice.json", "k40", says="twice")

    def test_it_measures_nothing_and_takes_two(self):
        for more in (
            ["--gpu", "k40"],
            ["--device", "0"],
            ["--analyse", "c.csv"],
            ["--only", "shared"],
            ["--quick"],
            ["--base", "k40"],
            ["--curves", "c"],
        ):
            self.fails(2, "probe", "--compare", "k40", "v100", *more, says="option-conflict")
        self.fails(2, "probe", "--compare", "k40")
        self.fails(2, "probe", "--compare", "k40", "v100", "h100")
        (self.folder / "mine.toml").write_text((SOURCE / "data/devices/k40.toml").read_text())
        self.fails(2, "probe", "--compare", "mine.toml", "k40", "-o", "mine.toml")


if __name__ == "__main__":
    main()
