"""list and explain; pages that are generated from the tool are fresh."""
import json
import re
import sys
import unittest

from harness import SIMTLAB, SOURCE, Case, main


class Listing(Case):
    def test_the_metric_page_is_what_the_registry_says(self):
        page = (SOURCE / "docs/reference/metrics.md").read_text()
        self.assertEqual(
            page,
            self.ok("list", "stats", "--markdown").stdout,
            "stale: simtlab list stats --markdown > docs/reference/metrics.md",
        )

    def test_the_page_of_options_is_what_the_commands_take(self):
        page = (SOURCE / "docs/reference/options.md").read_text()
        # A build without the OpenCL headers has the same commands; names of optional parts do not occur.
        self.assertEqual(
            page,
            self.ok("list", "options", "--markdown").stdout,
            "stale: simtlab list options --markdown > docs/reference/options.md",
        )
        rows = self.ok("list", "options").stdout.splitlines()
        self.assertTrue(any(row.startswith("simtlab config show") and "--origin" in row for row in rows))

    def test_the_page_of_errors_is_what_the_table_says(self):
        page = (SOURCE / "docs/reference/errors.md").read_text()
        self.assertEqual(
            page,
            self.ok("list", "errors", "--markdown").stdout,
            "stale: simtlab list errors --markdown > docs/reference/errors.md",
        )
        self.assertIn("file-missing", self.ok("list", "errors").stdout)

    def test_the_ptx_page_is_what_the_decoder_says(self):
        page = (SOURCE / "docs/reference/ptx-coverage.md").read_text()
        self.assertEqual(
            page,
            self.ok("list", "ptx", "--markdown").stdout,
            "stale: simtlab list ptx --markdown > docs/reference/ptx-coverage.md",
        )

    def test_how_well_founded_the_values_of_devices_are(self):
        gpus = json.loads(self.ok("list", "gpus", "--sources", "--json").stdout)["gpus"]
        kinds = ("measured", "vendor", "simulator", "derived", "unstated", "estimated")
        for gpu in gpus:
            self.assertEqual(sum(gpu[kind] for kind in kinds), gpu["values"], gpu["name"])
            self.assertEqual(gpu["unstated"], 0, gpu["name"])
            doubtful = [value["kind"] for value in gpu["doubtful"]]
            self.assertEqual(doubtful.count("estimated"), gpu["estimated"])
            self.assertEqual(doubtful.count("simulator"), gpu["simulator"])
        h100 = next(gpu for gpu in gpus if gpu["name"] == "h100")
        rows = self.ok("list", "gpus", "--sources").stdout.splitlines()
        self.assertEqual(len(rows), len(gpus) + 1)
        row = next(row.split() for row in rows if row.startswith("h100 "))
        self.assertEqual(row[1:8], [str(h100["values"])] + [str(h100[kind]) for kind in kinds])
        page = (SOURCE / "docs/lab/devices.md").read_text()
        for gpu in gpus:
            counts = " | ".join(str(gpu[kind]) for kind in ("values", *kinds))
            self.assertIn(f"| `{gpu['name']}` | {counts} |", page, "stale: simtlab list gpus --sources")

        # One GPU: its values without a source, those that move kernels most first.
        text = self.ok("list", "gpus", "h100-sxm", "--sources").stdout
        self.assertEqual(len(text.splitlines()), 4 + len(h100["doubtful"]))
        changes = [value.get("change", -1) for value in h100["doubtful"]]
        self.assertEqual(changes, sorted(changes, reverse=True))
        self.assertGreater(changes[0], 0)
        self.assertIn("| key |", self.ok("list", "gpus", "h100", "--sources", "--markdown").stdout)
        self.assertEqual(len(self.ok("list", "gpus", "a100").stdout.splitlines()), 2)

    def test_what_cannot_be_listed_of_devices(self):
        self.fails(2, "list", "gpus", "--json", says="--sources")
        self.fails(3, "list", "gpus", "h10", "--sources", says="did you mean 'h100'")

    def test_every_metric_is_explained(self):
        rows = self.ok("list", "stats").stdout.splitlines()[1:]
        self.assertGreater(len(rows), 60)
        for row in rows[::7]:
            name = row.split()[0]
            self.assertIn(f"{name}: metric", self.ok("explain", name).stdout)

    def test_a_stall_reason_is_explained_with_and_without_its_prefix(self):
        for name in ("long_scoreboard", "stall.long_scoreboard"):
            out = self.ok("explain", name).stdout
            self.assertIn("stall reason", out)
            self.assertIn("what to do", out)

    def test_an_unknown_name_suggests_the_nearest(self):
        self.fails(2, "explain", "l1.read.misrate", says="l1.read.miss_rate")

    def test_every_error_of_the_sources_is_explained(self):
        ids = set()
        for path in (SOURCE / "src").rglob("*.cpp"):
            text = path.read_text()
            ids |= set(re.findall(r'ExitCode::\w+,\s*"([a-z0-9]+(?:-[a-z0-9]+)+)"', text))
        self.assertGreater(len(ids), 20)
        missing = []
        for name in sorted(ids):
            result = self.simtlab("explain", name)
            if result.returncode != 0 or f"{name}: error" not in result.stdout:
                missing.append(name)
        self.assertEqual(missing, [], "add them to src/report/error_ids.cpp")

    def test_every_deviation_of_the_documentation_is_explained(self):
        ids = set()
        for path in [*SOURCE.glob("docs/reference/deviations.md"), *SOURCE.glob("docs/reference/deviations/*.md")]:
            ids |= set(re.findall(r"\bD-[A-Z]+-A?\d+\b", path.read_text()))
        self.assertGreater(len(ids), 5)
        missing = [name for name in sorted(ids) if self.simtlab("explain", name).returncode != 0]
        self.assertEqual(missing, [])

    def test_names_of_other_tools_are_explained(self):
        for name, ours in (
            ("gpu_sim_cycle", "gpu.cycles"),
            ("achieved_occupancy", "occupancy.achieved"),
            ("ipc", "gpu.ipc.warp"),
            ("W0_Scoreboard", "stall.*"),
            ("l1tex__t_sector_hit_rate.pct", "l1.read.miss_rate"),
            ("gpgpu_n_shmem_bkconflict", "shared.bank_conflicts"),
        ):
            self.assertIn(f"{ours}: metric\n", self.ok("explain", name).stdout)
        for name in ("times", "nvprof", "gpu_sim", "_", " "):
            self.fails(2, "explain", name, says="nothing is known")

    def test_every_kind_of_word_is_explained(self):
        for name, kind in (
            ("sm.count", "parameter of a device"),
            ("gto", "warp scheduler"),
            ("gto", "order of accesses in a cache study"),
            ("lru", "cache replacement policy"),
            ("write_back", "value of a parameter of a device"),
            ("fr_fcfs", "value of a key of a memory controller"),
            ("roofline", "analytical model"),
            ("occupancy", "group of names"),
            ("perfect-l1", "limit of the GPU that a run may lift"),
            ("smk", "way in which kernels of different streams share the GPU"),
            ("shark", "co-run policy"),
            ("cache", "probe of a GPU"),
            ("h100", "GPU"),
            ("simtlab cache", ""),
            ("gpgpu_n_clusters", "name of another tool"),
            ("PTX_SIM_MODE_FUNC=1", "name of another tool"),
            ("stall_memory_dependency", "name of another tool"),
            ("--lines", "option"),
            ("lines", "option"),
        ):
            if not kind:
                self.assertIn(f"{name}: command", self.ok("explain", name.split()[1]).stdout)
                continue
            self.assertIn(f"{name if name != 'lines' else '--lines'}: {kind}", self.ok("explain", name).stdout, name)
        self.assertIn(
            "`gpgpu_n_clusters` times `gpgpu_n_cores_per_cluster`", self.ok("explain", "gpgpu_n_clusters").stdout
        )
        self.assertIn("`sm.count`", self.ok("explain", "gpgpu_n_clusters").stdout)
        self.assertIn("l2.write_policy", self.ok("explain", "write_back").stdout)

    def test_a_name_with_two_meanings_has_both(self):
        keys = set(re.findall(r"(?m)^(\S+) +=", self.ok("config", "show").stdout))
        metrics = {row.split()[0] for row in self.ok("list", "stats").stdout.splitlines()[1:]}
        both = sorted(keys & metrics)
        self.assertIn("l2.bytes", both)
        for name in both:
            out = self.ok("explain", name).stdout
            self.assertIn(f"{name}: metric\n", out)
            self.assertIn(f"{name}: parameter of a device\n", out)

    def test_every_key_option_and_policy_is_explained(self):
        names = re.findall(r"(?m)^(\S+\.\S+) +=", self.ok("config", "show").stdout)[::9]
        for what in ("schedulers", "replacements", "set-indexes", "orders", "policies", "probes", "controllers"):
            names += [row.split()[0] for row in self.ok("list", what).stdout.splitlines()[1:]]
        rows = self.ok("list", "options").stdout.splitlines()[1:]
        names += sorted(
            {
                option
                for row in rows
                for option in re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", row.split("  ")[1] if "  " in row else "")
            }
        )[::9]
        self.assertGreater(len(names), 70)
        for name in names:
            self.ok("explain", name)

    def test_units_are_words(self):
        for name, words in (
            ("gpu.time", "nanoseconds"),
            ("dram.bandwidth", "bytes per second"),
            ("gpu.blocks", "a count"),
            ("l1.read.miss_rate", "a share, from 0 to 1"),
            ("host.wall_time", "seconds"),
        ):
            self.assertIn(words, self.ok("explain", name).stdout)

    def test_options_about_a_result_are_no_options_of_a_word(self):
        for words in (("--json",), ("--rerun",), ("--try", "perfect-l1"), ("--kernel", "k")):
            self.fails(2, "explain", "gpu.ipc", *words, says="[option-conflict]")

    def test_the_migration_page_is_fresh(self):
        sys.path.insert(0, str(SOURCE / "tools"))
        import migration

        page = (SOURCE / "docs/guide/migration.md").read_text()
        self.assertIn(
            migration.tables(SIMTLAB),
            page,
            "stale: tools/migration.py build/release/bin/simtlab docs/guide/migration.md",
        )
        # What it names by hand exists.
        metrics = {name for name, _, _ in migration.metrics(SIMTLAB)}
        keys = set(re.findall(r"(?m)^(\S+) +=", self.ok("config", "show").stdout))
        own = set(
            re.findall(
                r"`((?:sm|l1|l2|shared|constant|dram|host|latency|throughput|interconnect|gpu|stall|occupancy)\.[a-z0-9_.*]+)`",
                page,
            )
        )
        self.assertGreater(len(own), 100)
        for name in sorted(own - keys - metrics):
            if name == "throughput.*":
                continue
            head = name.rstrip("*").rstrip(".")
            family = head.rpartition(".")[0] + ".*" in metrics or any(m.startswith(head + ".") for m in metrics)
            self.assertTrue(family, name)
            if name.startswith("stall.") and name != "stall.*":
                self.ok("explain", name)

    def test_the_ptx_table_covers_what_compilers_emit(self):
        out = self.ok("list", "ptx").stdout
        for form in ("fma", "ld", "shfl", "bar", "atom", "mma"):
            self.assertRegex(out, rf"(?m)^{form}\b")
        self.assertIn("| ", self.ok("list", "ptx", "--markdown").stdout)

    def test_every_scheduler_that_is_listed_can_be_chosen(self):
        names = [row.split()[0] for row in self.ok("list", "schedulers").stdout.splitlines()[1:]]
        self.assertIn("gto", names)
        for name in names:
            self.ok("config", "show", "--set", f"sm.scheduler={name}")
        self.fails(3, "config", "show", "--set", "sm.scheduler=random")

    def test_every_cache_policy_that_is_listed_can_be_chosen(self):
        for what, keys in (("replacements", ("l1.replacement", "l2.replacement")), ("set-indexes", ("l2.set_index",))):
            names = [row.split()[0] for row in self.ok("list", what).stdout.splitlines()[1:]]
            self.assertEqual(names, sorted(names))
            for name in names:
                if name in ("bits", "xor", "fermi"):  # not of every number of sets: test_cache.py
                    continue
                for key in keys:
                    self.ok("config", "show", "--set", f"{key}={name}")

    def test_every_policy_of_a_memory_controller_that_is_listed_can_be_chosen_with_its_parameters(self):
        for what, key in (("memory-schedulers", "schedule.kind"), ("page-policies", "page.policy")):
            rows = [re.split(r"  +", row.rstrip()) for row in self.ok("list", what).stdout.splitlines()[1:]]
            names = [row[0] for row in rows]
            self.assertEqual(names, sorted(names))
            for row in rows:
                shown = self.ok("config", "show", "--controller", "default", "--set", f"{key}={row[0]}").stdout
                values = dict(re.findall(r"(?m)^(\S+) += (.*)$", shown))
                self.assertEqual(values[key], row[0])
                for parameter in ", ".join(row[2:]).split(", ") if len(row) > 2 else []:
                    self.ok(
                        "config",
                        "show",
                        "--controller",
                        "default",
                        "--set",
                        f"{key}={row[0]}",
                        "--set",
                        f"{parameter}={values[parameter]}",
                    )
            self.fails(
                3,
                "config",
                "show",
                "--controller",
                "default",
                "--set",
                f"{key}=nothing-like-it",
                says="allowed: " + " or ".join(names),
            )

    def test_every_prefetcher_that_is_listed_can_be_chosen(self):
        names = [row.split()[0] for row in self.ok("list", "prefetchers").stdout.splitlines()[1:]]
        self.assertIn("next-line", names)
        kernel = [
            SOURCE / "data/probes/cache.ptx",
            "--kernel",
            "matmul",
            "--global",
            "16x16",
            "--local",
            "16x16",
            *["--arg", "buffer:16x16:f32"] * 3,
            "--arg",
            "u32:16",
        ]
        for name in names:
            self.ok("cache", *kernel, "--gpu", "v100", "--prefetch", name)
        self.fails(2, "cache", *kernel, "--gpu", "v100", "--prefetch", "nothing-like-it", says=", ".join(names))

    def test_every_corun_policy_that_is_listed_can_be_chosen(self):
        names = [row.split()[0] for row in self.ok("list", "policies").stdout.splitlines()[1:]]
        self.assertIn("shark", names)
        self.ok("corun", "--mixes", "1", "--size", "2", "--limit", "2", "--policy", ",".join(names))

    def test_every_probe_that_is_listed_can_be_chosen(self):
        rows = [re.split(r"  +", row.rstrip()) for row in self.ok("list", "probes").stdout.splitlines()[1:]]
        names = [row[0] for row in rows]
        self.assertIn("shared", names)
        for row in rows:
            self.assertRegex(row[1], r"^[A-Z].{8}")
            for needed in " ".join(row[2:]).split():
                self.assertIn(needed, names)
        # The names are those that --only takes.
        self.fails(2, "probe", "--only", "nothing-like-it", says=", ".join(names))

    def test_lists_have_json_free_text_only_on_stdout(self):
        for what in (
            "gpus",
            "drams",
            "controllers",
            "stats",
            "schedulers",
            "replacements",
            "set-indexes",
            "memory-schedulers",
            "page-policies",
            "prefetchers",
            "policies",
            "probes",
            "exit-codes",
            "ptx",
        ):
            result = self.ok("list", what)
            self.assertTrue(result.stdout)
            self.assertEqual(result.stderr, "")


if __name__ == "__main__":
    main()
