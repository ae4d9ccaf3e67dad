"""simtlab check: what its detectors find in kernels that are wrong on purpose, and that they leave right ones alone."""
import json
import re
import unittest

from check_programs import KERNELS, PROGRAM, LOCK, COPIES, NUMBERS
from harness import Case, main, needs_clang


def rules_by_kernel(found):
    """kernel -> the rules of findings whose first access is in it."""
    out = {}
    for finding in found["check"]["findings"]:
        for access in finding["accesses"][:1]:
            out.setdefault(access["place"]["kernel"].split("(")[0], set()).add(finding["rule"])
    return out


@needs_clang
class Findings(Case):
    def found(self, source, *options):
        self.file("app.cu", source)
        done = self.simtlab("check", *options, "--json=r.json", "app.cu")
        self.assertIn(done.returncode, (0, 8), done.stderr)
        return json.loads((self.folder / "r.json").read_text()), done

    def test_each_kernel_has_its_findings_and_no_others(self):
        """One report a pair of lines, the missing edge, the value, and the mend that was tried."""
        result, done = self.found(PROGRAM)
        got = rules_by_kernel(result)
        for line in KERNELS.splitlines():
            if not line.startswith("__global__"):
                continue
            name, expected = line.split("(")[0].split()[-1], set(line.split("//")[1].split()) - {"none"}
            with self.subTest(kernel=name):
                self.assertEqual(got.get(name, set()), expected)
        by_rule = {}
        for f in result["check"]["findings"]:
            by_rule.setdefault(
                (f["rule"], f["accesses"][0]["place"]["kernel"].split("(")[0] if f["accesses"] else ""), f
            )
        tile = by_rule["race.shared", "no_barrier"]
        self.assertEqual(tile["missing"].split(" since")[0], "no __syncthreads()")
        self.assertIn("with __syncthreads() before line", tile["mend"])
        self.assertIn("shared variable 's'", tile["memory"])
        self.assertIn("__syncwarp() before line", by_rule["race.shared", "warp_in_step"]["mend"])
        self.assertIn("scope of the whole GPU", by_rule["race.scope", "of_a_block"]["mend"])
        self.assertIn("__threadfence() before line", by_rule["race.unfenced", "not_acquired"]["mend"])
        self.assertIn(
            "after the end of the 4096 bytes of cudaMalloc", by_rule["memory.out-of-bounds", "beyond"]["memory"]
        )
        self.assertEqual({a["value"] for a in by_rule["race.global", "one_place"]["accesses"]}, {"0", "1"})
        of_all = by_rule["race.global", "last_writes"]  # of its readers the thread itself was the last one
        self.assertEqual(of_all["accesses"][1]["what"], "read of 4 bytes, as threads of other blocks did")
        self.assertIn("run in any order", of_all["missing"])
        again, _ = self.found(PROGRAM)
        self.assertEqual(again["check"], result["check"], "the same in every run")

    def test_other_orders_find_what_the_usual_one_hides(self):
        usual, _ = self.found(LOCK)
        self.assertEqual([f["rule"] for f in usual["check"]["findings"]], [])
        result, _ = self.found(LOCK, "--explore", "3")
        rules = {f["rule"]: f for f in result["check"]["findings"]}
        self.assertIn("race.volatile", rules)
        self.assertIn("order.float-atomics", rules)
        seed = rules["race.volatile"]["order"]
        again, _ = self.found(LOCK, "--order", seed)
        self.assertIn("race.volatile", [f["rule"] for f in again["check"]["findings"]])

    def test_copies_to_the_host_of_what_nobody_wrote(self):
        result, _ = self.found(COPIES)
        found = [f for f in result["check"]["findings"] if f["rule"] == "init.copied"]
        self.assertEqual(
            [f["memory"] for f in found],
            ["bytes 3996 to 3999 of the 4000 bytes of cudaMalloc", "bytes 0 to 399 of the 400 bytes of cudaMalloc"],
        )
        self.assertEqual({f["level"] for f in found}, {"warning"})
        self.assertEqual(len(result["check"]["findings"]), 2, "padding is no finding")

    def test_first_nan(self):
        result, _ = self.found(NUMBERS, "--nan")
        nan = next(f for f in result["check"]["findings"] if f["rule"] == "number.nan")
        self.assertIn("the operands are 0, 0", nan["message"])
        self.assertEqual([a["what"] for a in nan["accesses"]], ["computation", "it is stored to memory"])
        self.simtlab("check", "--nan", "--sarif=r.sarif", "--html=r.html", "app.cu")
        (one,) = json.loads((self.folder / "r.sarif").read_text())["runs"][0]["results"]
        self.assertEqual(
            (one["ruleId"], one["locations"][0]["physicalLocation"]["region"]["startLine"]), ("number.nan", 3)
        )
        self.assertIn("stored to memory", one["relatedLocations"][0]["message"]["text"])
        self.assertIn("the operands are 0, 0", (self.folder / "r.html").read_text())

    def test_the_programs_results_are_those_of_a_run(self):
        self.file(
            "app.cu",
            "#include <cstdio>\n"
            + PROGRAM.replace(
                "  return 0;",
                '  int h[64]; cudaMemcpy(h, x, 256, cudaMemcpyDeviceToHost); for (int i : h) printf("%d ", i);',
            ),
        )
        run = self.simtlab("run", "--mode", "functional", "--memory-errors", "ignore", "app.cu")
        check = self.simtlab("check", "--explore", "2", "app.cu")
        numbers = " ".join(str(i) for i in range(64))
        self.assertIn(numbers, run.stdout)
        self.assertIn(numbers, check.stdout)


if __name__ == "__main__":
    main()
