"""The HTML report in a headless Chromium: no error, every chart drawn with its table, filters, tips, light and dark, print; pictures compared.

After a wanted change of the looks: SIMTLAB_UPDATE_PICTURES=1 python3 tests/e2e/test_html.py, look at the pictures in the folder that it names,
and commit tests/data/report/pictures.json.
"""
import json
import os
import pathlib
import re
import tempfile
import unittest

import browser
from harness import SAXPY_LAUNCH, SOURCE, Case, main, needs_clang

DATA = SOURCE / "tests/data/report"
PICTURES = DATA / "pictures.json"
TOLERANCE = 10  # of 255, mean over a picture
UPDATE = os.environ.get("SIMTLAB_UPDATE_PICTURES")


class WithoutBrowser(Case):
    """What needs no browser to be seen."""

    def page(self, *more):
        self.saxpy()
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--lines", "--series", "500", "--json=r.json")
        return self.ok("report", "r.json", "--html", *more).stdout

    def test_nothing_is_loaded_from_elsewhere(self):
        page = self.page()
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        markup = re.sub(r"(?s)<script.*?</script>", "", page)
        self.assertEqual(re.findall(r"""(?:src|href)=["'](?!#|data:)[^"']*""", markup), [])
        self.assertNotRegex(markup, r"@import|url\(")
        self.assertIn("default-src 'none'", page)
        self.assertLess(len(page), 1 << 20, "more than a megabyte")

    def test_the_same_result_gives_the_same_page(self):
        self.assertEqual(self.page(), self.ok("report", "r.json", "--html").stdout)

    def test_foreign_text_is_text(self):
        self.page()
        data = json.loads((self.folder / "r.json").read_text())
        evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&<!--"
        kernel = data["kernels"][0]
        kernel.update(name=evil, demangled=evil, limiter=evil, bottleneck=evil, not_modelled=[evil])
        data["manifest"].update(device=evil, command=evil, host=evil, failure={"id": "x", "exit_code": 1, "text": evil})
        kernel["profile"]["lines"][0].update(ptx=evil, file=evil, line=1, text=evil)
        kernel["series"]["columns"][1] = evil
        self.file("evil.json", json.dumps(data))
        page = self.ok("report", "evil.json", "--html").stdout
        self.assertNotIn("<script>alert", page)
        self.assertNotIn("<img", page)
        self.assertEqual(page.count("</script>"), page.count("<script"))

    def test_foreign_text_of_tables_is_text(self):
        self.saxpy()
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--sm-timeline", "--json=sm.json")
        self.ok("corun", "--mix", "HW,QTC", "--policy", "mps", "--json=mix.json")
        self.ok("corun", "interfere", "HW", "--json=interfere.json")
        self.ok("probe", "--gpu", "gtx480", "--quick", "--only", "shared", "--json=probe.json")
        evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&<!--"
        for name in ("sm", "mix", "interfere", "probe"):
            data = json.loads((self.folder / f"{name}.json").read_text())
            for kernel in data["kernels"]:
                kernel["name"] = kernel["demangled"] = kernel["name"].replace("HW", evil)
                for table in kernel.get("tables", {}).values():
                    table["rows"] = [
                        [
                            evil + cell if isinstance(cell, str) and cell not in ("warp", "block") else cell
                            for cell in row
                        ]
                        for row in table["rows"]
                    ]
            self.file("evil.json", json.dumps(data))
            page = self.ok("report", "evil.json", "--html").stdout
            self.assertIn("&lt;img", page)
            self.assertNotIn("<script>alert", page)
            self.assertNotIn("<img", page)
            self.assertEqual(page.count("</script>"), page.count("<script"))

    def test_impossible_numbers_end_well(self):
        self.ok("corun", "--mix", "HW,QTC", "--policy", "mps", "--launches", "5", "--json=mix.json")
        data = json.loads((self.folder / "mix.json").read_text())
        rows = data["kernels"][0]["tables"]["launches"]["rows"]
        rows[0][5:8] = [1e308, -5, -1e308]
        rows[1][0:2] = [-1, 1.5]
        rows[2][5:8] = [None, None, None]
        self.file("mix.json", json.dumps(data))
        self.assertIn("Launches over time", self.ok("report", "mix.json", "--html").stdout)


@unittest.skipIf(browser.MISSING, browser.MISSING)
class InBrowser(Case):
    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        super().setUp()
        self.browser.size(1000, 900)
        self.browser.media()

    def show(self, result, name="r.html"):
        self.ok("report", result, f"--html={name}")
        self.assertEqual(self.browser.open(self.folder / name), "yes", self.browser.log())
        self.assertEqual([line for line in self.browser.log() if not line.startswith(("INFO", "DEBUG"))], [])
        self.assertEqual(
            self.browser.run("return performance.getEntriesByType('resource').length"), 0, "the page loads something"
        )

    def charts(self):
        """Kinds of the charts; each has marks, a description and a table."""
        found = self.browser.run(
            """return Array.from(document.querySelectorAll('figure.chart')).map(f => { const s = f.querySelector('svg'); return {
          kind: f.dataset.kind, title: f.querySelector('figcaption').firstChild.textContent, label: s && s.getAttribute('aria-label'), role: s && s.getAttribute('role'),
          marks: s ? s.querySelectorAll('.mark-rect path, .mark-line path, .mark-symbol path, .mark-rule line, .mark-area path').length : 0,
          seen: s ? Array.from(s.querySelectorAll('.mark-rect path, .mark-line path, .mark-symbol path')).filter(p => { const b = p.getBoundingClientRect(); return b.width + b.height > 3 && (b.width > .2 && b.height > .2 || p.closest('.mark-line')); }).length : 0,
          bad: s ? s.innerHTML.includes('NaN') : true, rows: f.querySelectorAll('tbody tr').length, width: s ? s.getBoundingClientRect().width : 0 }; })"""
        )
        for chart in found:
            with self.subTest(chart=chart["title"]):
                self.assertGreater(chart["marks"], 0)
                self.assertGreater(chart["seen"], 0, "all marks are without extent")
                self.assertGreater(chart["rows"], 0)
                self.assertFalse(chart["bad"], "NaN in the drawing")
                self.assertEqual(chart["role"], "img")
                self.assertGreater(len(chart["label"]), 10)
                self.assertGreater(chart["width"], 200)
        return [chart["title"] for chart in found]

    def sample(self):
        return DATA / "sample.json"

    def test_a_run(self):
        self.saxpy()
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--lines", "--series", "500", "--json=r.json")
        self.show("r.json")
        titles = self.charts()
        for title in (
            "Whole GPU",
            "Roofline (fp32)",
            "Where scheduler slots went",
            "Slots by line",
            "Memory chart",
            "Occupancy by threads a block",
            "Scheduler slots over time",
        ):
            self.assertIn(title, titles)

    def test_a_cache_study(self):
        self.saxpy()
        self.ok("cache", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--json=r.json")
        self.show("r.json")
        titles = self.charts()
        for title in ("Why L1 and L2 missed", "Misses by set", "Reuse distances in L1", "Misses over capacity"):
            self.assertIn(title, titles)

    def test_pictures_of_caches(self):
        self.saxpy()
        self.ok("cache", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--plot", "pictures", "--json=r.json")
        self.show("r.json")
        titles = self.charts()
        self.assertIn("Misses by SM and set", titles)
        self.assertIn("Accesses of one SM", titles)

    def test_memories(self):
        self.ok("dram", "--generate", "random", "--requests", "2000", "--dram", "ddr4-3200", "--json=one.json")
        self.show("one.json")
        self.assertIn("Where the DRAM's bandwidth went", self.charts())
        self.ok(
            "dram", "--generate", "random", "--requests", "2000", "--dram", "ddr4-3200", "--sweep-load", "--json=r.json"
        )
        self.show("r.json")
        self.assertIn("Latency over bandwidth", self.charts())

    def choose(self, selector, words):
        """With the keyboard: the first option whose text begins so. What is chosen is drawn."""
        self.browser.run(f"document.querySelector('{selector}').focus()")
        self.assertEqual(
            self.browser.run("return document.activeElement === document.querySelector(arguments[0])", selector), True
        )
        options = self.browser.run(
            "return Array.from(document.querySelector(arguments[0]).options).map(o => o.textContent)", selector
        )
        now = self.browser.run("return document.querySelector(arguments[0]).selectedIndex", selector)
        wanted = next(i for i, text in enumerate(options) if text.startswith(words))
        self.browser.type(selector, ("\ue015" if wanted > now else "\ue013") * abs(wanted - now))
        self.assertEqual(
            self.browser.run("return document.querySelector(arguments[0]).selectedIndex", selector), wanted, options
        )
        self.assertEqual(self.browser.wait(), "yes", self.browser.log())

    def shown(self, selector):
        return self.browser.run(
            "return Array.from(document.querySelectorAll(arguments[0])).filter(s => !s.hidden).length", selector
        )

    def visible_charts(self):
        return self.browser.run(
            "return Array.from(document.querySelectorAll('figure.chart')).filter(f => f.offsetParent).map(f => f.querySelector('figcaption').firstChild.textContent)"
        )

    def not_blank(self, titles):
        """Charts have more than their axes, and light and dark differ."""
        before = {}
        for scheme in ("light", "dark"):
            self.browser.media(scheme)
            for title in titles:
                self.browser.run(
                    "const f = Array.from(document.querySelectorAll('figure.chart')).find(f => f.offsetParent && f.querySelector('figcaption').firstChild.textContent === arguments[0]); f.id = 'picture'; ",
                    title,
                )
                png = self.browser.picture_of("#picture .plot")
                self.browser.run("document.getElementById('picture').removeAttribute('id')")
                with self.subTest(chart=title, scheme=scheme):
                    self.assertGreater(browser.drawn(png), 0.015)
                    if scheme == "dark":
                        self.assertGreater(browser.difference(before[title], browser.mosaic(png)), TOLERANCE)
                before[title] = browser.mosaic(png)
        self.browser.media()

    def fits(self):
        """On a telephone and on paper."""
        self.browser.size(400, 800)
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 400)
        self.browser.size(1000, 900)
        pdf = self.browser.pdf()
        self.assertTrue(1 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) < 40)

    def same_again(self, result):
        self.assertEqual(self.ok("report", result, "--html").stdout, self.ok("report", result, "--html").stdout)

    def test_a_probed_board(self):
        self.ok("probe", "--gpu", "gtx480", "--quick", "--only", "shared,cache,copy,issue", "--json=r.json")
        tables = json.loads((self.folder / "r.json").read_text())["kernels"][0]["tables"]
        names = list(dict.fromkeys(row[0] for row in tables["curves"]["rows"]))
        marked = {row[0] for table in ("knees", "levels") for row in tables.get(table, {"rows": []})["rows"]}
        self.assertIn("l1.curve", marked)
        self.show("r.json")
        self.assertEqual(set(self.visible_charts()), marked)
        self.not_blank(["l1.curve"])
        # What is marked is there to be seen: levels, knees with their interval, an axis in sizes.
        text = self.browser.run(
            "const f = Array.from(document.querySelectorAll('figure.chart')).find(f => f.textContent.includes('l1.curve')); return f.querySelector('svg').textContent"
        )
        self.assertRegex(text, r"36 cycles.*KiB")
        self.browser.run("document.querySelector('nav a').focus()")
        for _ in range(40):  # the Tab key alone leads there
            self.browser.press("\ue004")
            if self.browser.run("return document.activeElement.id") == "curve-choice":
                break
        else:
            self.fail("the Tab key does not reach the box")
        self.choose("#curve-choice", "copy.h2d.pinned")
        self.assertEqual(self.visible_charts(), ["copy.h2d.pinned"])
        self.assertEqual(
            self.browser.run("return document.getElementById('curve-choice-count').textContent"), f"1 of {len(names)}"
        )
        self.choose("#curve-choice", "all curves")
        self.assertEqual(self.charts(), names)
        # Every point and every mark is in a table.
        rows = self.browser.run("return document.querySelectorAll('.curve tbody tr').length")
        self.assertEqual(rows, sum(len(tables[t]["rows"]) for t in ("curves", "knees", "levels")))
        self.browser.type("#finding-filter", "l1.bytes")
        self.assertIn(
            "l1.bytes",
            self.browser.run(
                "return Array.from(document.querySelectorAll('tr.finding-row')).filter(r => !r.hidden).map(r => r.cells[0].textContent)"
            ),
        )
        self.browser.run("document.querySelector('[data-m=\"findings: confidence\"]').focus()")
        self.assertIn("interval holds the value", self.browser.run("return document.getElementById('tip').textContent"))
        self.fits()
        self.same_again("r.json")

    def test_policies_and_a_mix(self):
        self.ok(
            "corun",
            "--mix",
            "HW,HW,QTC",
            "--limit",
            "1,2",
            "--policy",
            "mps,shark,fair",
            "--launches",
            "40",
            "--json=r.json",
        )
        self.show("r.json")
        titles = self.charts_shown()
        for title in (
            "ANTT, turnaround",
            "STP, time on the GPU",
            "Fairness, turnaround",
            "Slowdown of turnaround",
            "mps of 3, limit 2",
        ):
            self.assertIn(title, titles)
        self.not_blank(["ANTT, turnaround", "Slowdown of turnaround", "shark of 3, limit 2"])
        self.assertIn(
            "Cut: the first 40 launches; 160 more are not shown.",
            self.browser.run("return document.getElementById('launches').textContent"),
        )
        self.choose("#launch-choice", "fair of 3, limit 2")
        self.assertEqual(self.shown(".launch-log"), 1)
        # Waiting and running of every launch: the thin bars are those that waited.
        launches = next(
            k for k in json.loads((self.folder / "r.json").read_text())["kernels"] if k["name"] == "fair of 3, limit 2"
        )["tables"]["launches"]["rows"]
        bars = self.browser.run(
            "return Array.from(document.querySelectorAll('.launch-log:not([hidden]) .mark-rect path')).map(p => p.getBoundingClientRect().height)"
        )
        self.assertEqual(len(bars), len(launches) + sum(row[6] > row[5] for row in launches))
        self.choose("#mix-choice", "mix 1 of 3, limit 2")
        self.assertEqual(self.shown(".mix"), 1)
        self.browser.run("document.querySelector('#policies [data-m=\"corun.antt.turnaround\"]').focus()")
        self.assertIn(
            "Average normalised turnaround", self.browser.run("return document.getElementById('tip').textContent")
        )
        self.fits()
        self.same_again("r.json")

    def charts_shown(self):
        for select in self.browser.run(
            "return Array.from(document.querySelectorAll('select[data-choose]')).map(s => '#' + s.id)"
        ):
            self.choose(select, "all")
        return self.charts()

    def test_a_mix_on_the_cycle_level_host(self):
        self.saxpy()
        launch = 'run = "saxpy.ptx"\ngrid = "64"\nblock = "256"\nargs = ["f32:2", "buffer:16384:f32:iota", "buffer:16384:f32:random", "u32:16384"]\n'
        self.file(
            "apps.toml",
            "".join(
                f'[[application]]\nname = "{name}"\n{launch}iterations = {n}\n'
                for name, n in (("long", 4), ("short", 2))
            ),
        )
        self.ok(
            "corun",
            "--host",
            "cycle",
            "--gpu",
            "v100",
            "--set",
            "sm.count=4",
            "--applications",
            "apps.toml",
            "--mix",
            "long,short,short",
            "--limit",
            "2",
            "--policy",
            "mps",
            "--json=r.json",
        )
        self.show("r.json")
        titles = self.charts()
        self.assertIn("mps of 3, limit 2", titles)
        self.assertEqual(self.browser.run("return document.querySelectorAll('.launch-log tbody tr').length"), 8)
        self.assertIn(
            "Kernels alone and in the mix", self.browser.run("return document.getElementById('mixes').textContent")
        )

    def test_interference(self):
        self.ok("corun", "interfere", "HW", "BH", "--json=r.json")
        self.show("r.json")
        self.assertEqual(len([t for t in self.charts() if t.startswith("Beside: ")]), 3)

    def test_an_sm_over_time(self):
        self.saxpy()
        self.ok("run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--sm-timeline", "--json=r.json")
        self.show("r.json")
        titles = self.charts()
        window = [t for t in titles if t.startswith("SM 0, cycles ")]
        self.assertEqual(len(window), 1)
        self.assertIn("What the warps' time went to", titles)
        self.not_blank(window)
        self.assertIn(
            "long_scoreboard",
            self.browser.run("return document.getElementById('sm-timeline').querySelector('svg').textContent"),
        )
        self.fits()
        self.same_again("r.json")
        # A window that is too full is cut, and says so.
        self.ok(
            "run", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--sm-timeline", "--timeline-sm", "all", "--json=r.json"
        )
        total = json.loads((self.folder / "r.json").read_text())["total"]
        self.assertGreater(total["timeline.left_out"]["value"], 0)
        self.assertIn("Cut: ", self.ok("report", "r.json", "--html").stdout)

    def test_predictions(self):
        self.saxpy()
        self.ok("predict", "saxpy.ptx", *SAXPY_LAUNCH, "--gpu", "v100", "--json=r.json")
        self.show("r.json")
        self.assertIn("Models side by side", self.charts())

    def test_curves(self):
        self.file(
            "c.csv", "size_bytes,cycles\n" + "".join(f"{1024 * (i + 1)},{30 if i < 32 else 200}\n" for i in range(64))
        )
        self.ok("probe", "--analyse", "c.csv", "--json=r.json")
        self.show("r.json")
        self.assertIn("Levels of the curve", self.charts())
        self.assertEqual(self.browser.run("return document.querySelectorAll('#levels .mark-symbol path').length"), 64)

    @needs_clang
    def test_a_program_with_several_kernels(self):
        self.file(
            "app.cu",
            """
__global__ void one(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void two(float* x) { x[threadIdx.x] *= 2; }
int main() { float* x; cudaMalloc(&x, 1 << 20); for (int i = 0; i < 3; ++i) { one<<<64, 256>>>(x); two<<<80, 256>>>(x); } cudaDeviceSynchronize(); }
""",
        )
        self.ok("run", "app.cu", "--gpu", "v100", "-q", "--json=r.json")
        self.show("r.json")
        titles = self.charts()
        self.assertIn("Kernels over time", titles)
        self.assertIn("Time by kernel", titles)
        visible = "return Array.from(document.querySelectorAll('section.kernel')).filter(s => !s.hidden).map(s => s.dataset.name)"
        self.assertEqual(len(self.browser.run(visible)), 2)
        self.browser.type("#kernel-filter", "two")
        self.assertEqual(self.browser.run(visible), ["two(float*)"])
        self.assertEqual(
            self.browser.run("return document.getElementById('kernel-filter-count').textContent"), "2 of 4"
        )
        self.browser.clear("#kernel-filter")
        self.assertEqual(len(self.browser.run(visible)), 2)

    def test_filters_tips_and_keys(self):
        self.show(self.sample())
        rows = "return Array.from(document.querySelectorAll('tr.metric-row')).filter(r => !r.hidden).map(r => r.cells[1].textContent)"
        everything = self.browser.run(rows)
        self.browser.type("#metric-filter", "l1.read total")
        some = self.browser.run(rows)
        self.assertTrue(some and all(name.startswith("l1.read") for name in some), some)
        self.assertLess(len(some), len(everything))
        tip = "const t = document.getElementById('tip'); return t.hidden ? '' : t.textContent"
        self.assertEqual(self.browser.run(tip), "")
        # The keyboard reaches a number, and it explains itself; Escape closes that.
        self.browser.run("document.querySelector('.headline [data-m=\"gpu.cycles\"]').focus()")
        self.assertIn("SM clock cycles from the launch", self.browser.run(tip))
        self.browser.type(".headline [data-m='gpu.cycles']", "\ue00c")
        self.assertEqual(self.browser.run(tip), "")
        # The mouse on a point of the roofline.
        self.browser.run(
            "document.querySelector('figure[data-kind=xy] .mark-symbol path').scrollIntoView({block: 'center'})"
        )
        self.browser.move_to(self.browser.element("figure[data-kind=xy] .mark-symbol path"))
        self.assertRegex(self.browser.run(tip), r"FLOP/byte")

    def test_structure_for_screen_readers(self):
        self.show(self.sample())
        self.assertEqual(self.browser.run("return document.querySelectorAll('h1').length"), 1)
        self.assertEqual(self.browser.run("return document.documentElement.lang"), "en")
        levels = self.browser.run(
            "return Array.from(document.querySelectorAll('h1, h2, h3, h4')).map(h => +h.tagName[1])"
        )
        self.assertTrue(all(b - a <= 1 for a, b in zip(levels, levels[1:])), levels)
        ids = self.browser.run("return Array.from(document.querySelectorAll('[id]')).map(e => e.id)")
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(
            self.browser.run(
                "return Array.from(document.querySelectorAll('a[href^=\"#\"]')).filter(a => !document.getElementById(a.getAttribute('href').slice(1))).length"
            ),
            0,
        )
        self.assertEqual(
            self.browser.run(
                "return Array.from(document.querySelectorAll('input')).filter(i => !i.labels.length).length"
            ),
            0,
        )
        self.assertEqual(
            self.browser.run(
                "return Array.from(document.querySelectorAll('th')).filter(t => t.getAttribute('scope') !== 'col').length"
            ),
            0,
        )

    def test_narrow_pages_do_not_scroll_sideways(self):
        self.show(self.sample())
        self.browser.size(400, 800)
        self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), 400)

    def test_light_and_dark_can_be_read(self):
        self.show(self.sample())
        for scheme in ("light", "dark"):
            self.browser.media(scheme)
            # Contrast of every text in the page against the page (WCAG AA: 4.5), drawings included unless the text is on a mark.
            low = self.browser.run(
                """
              const lum = c => { const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => { v /= 255; return v <= .03928 ? v / 12.92 : Math.pow((v + .055) / 1.055, 2.4); }); return .2126 * r + .7152 * g + .0722 * b; };
              const contrast = (a, b) => { a = lum(a); b = lum(b); return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); };
              const back = getComputedStyle(document.body).backgroundColor, low = [];
              document.querySelectorAll('h1, h2, h3, p, td, th, summary, label, .role-axis-label text, .role-axis-title text, .role-legend-label text, .plot text[fill="black"]').forEach(e => {
                const s = getComputedStyle(e), c = e.namespaceURI.includes('svg') ? s.fill : s.color;
                if (e.textContent.trim() && contrast(c, back) < 4.5) low.push(e.textContent.slice(0, 30) + ' ' + c); });
              return low.slice(0, 10);"""
            )
            self.assertEqual(low, [], scheme)

    def test_it_prints(self):
        self.show(self.sample())
        pdf = self.browser.pdf()
        self.assertTrue(pdf.startswith(b"%PDF"))
        pages = len(re.findall(rb"/Type\s*/Page\b", pdf))
        self.assertTrue(1 < pages < 40, pages)
        self.browser.media(medium="print", scheme="dark")
        self.assertEqual(
            self.browser.run("return getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)"
        )
        self.assertEqual(self.browser.run("return getComputedStyle(document.querySelector('nav')).display"), "none")

    def test_pictures_are_as_they_were(self):
        """Of a result that never changes: every chart, light and dark."""
        self.show(self.sample())
        found, kept = {}, {} if UPDATE else json.loads(PICTURES.read_text())
        folder = pathlib.Path(tempfile.mkdtemp(prefix="simtlab-pictures-")) if UPDATE else self.folder
        for scheme in ("light", "dark"):
            self.browser.media(scheme)
            for i in range(
                self.browser.run(
                    "const f = document.querySelectorAll('figure.chart'); f.forEach((e, i) => e.id = 'figure-' + i); return f.length"
                )
            ):
                png = self.browser.picture_of(f"#figure-{i} .plot")
                name = f"{scheme}-{i}"
                (folder / f"{name}.png").write_bytes(png)
                found[name] = browser.mosaic(png)
            (folder / f"{scheme}-page.png").write_bytes(self.browser.screenshot(whole=True))
        if UPDATE:
            PICTURES.write_text("{\n" + ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in found.items()) + "\n}\n")
            print(f"pictures: {folder}")
            return
        self.assertEqual(found.keys(), kept.keys())
        for name, picture in found.items():
            self.assertEqual((picture["width"], picture["height"]), (kept[name]["width"], kept[name]["height"]), name)
            self.assertLess(browser.difference(picture, kept[name]), TOLERANCE, f"{name} looks different")
        # The comparison can tell charts apart, and light from dark.
        self.assertGreater(browser.difference(found["light-0"], found["dark-0"]), TOLERANCE)


if __name__ == "__main__":
    main()
