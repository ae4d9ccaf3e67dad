"""Machine code that an earlier run made is taken from the user's cache, and whatever lies there, the code is the same."""
import pathlib
import random
import shutil
import subprocess
import unittest

from harness import SAXPY_LAUNCH, SIMTLAB, SOURCE, Case, main

OPTIMISER = pathlib.Path(SIMTLAB).resolve().parent.parent / "lib" / "libsimtlab_optimiser.so"
EXAMPLES = [SOURCE / "examples" / "saxpy.ptx", SOURCE / "tests" / "data" / "machine" / "counts.ptx"]


class CodeCache(Case):
    def cache(self):
        return self.folder / "cache"

    def listing(self, source, generation, cache=None, **environment):
        env = {"SIMTLAB_CACHE": str(cache or self.cache()), **environment}
        return self.ok("disasm", source, "--assemble", generation, env=env).stdout

    def kept(self):
        return sorted((self.cache() / "code").glob("*"))

    def test_code_from_the_cache_is_the_code_that_was_made(self):
        for source in EXAMPLES:
            for generation in ("sm_52", "sm_70", "sm_80", "sm_90"):
                with self.subTest(source=source.name, generation=generation):
                    made = self.listing(source, generation)
                    written = {path: path.stat().st_mtime_ns for path in self.kept()}
                    self.assertEqual(made, self.listing(source, generation))
                    self.assertTrue(written)
                    again = [path for path in self.kept() if written.get(path) != path.stat().st_mtime_ns]
                    # Kernels that share a place take it from each other: made anew, each time.
                    self.assertLessEqual(len(again), len(written) // 10)

    def test_a_run_says_the_same_with_and_without(self):
        results = []
        for _ in range(2):
            result = self.run_json(
                self.saxpy(), *SAXPY_LAUNCH, "--gpu", "a100", env={"SIMTLAB_CACHE": str(self.cache())}
            )
            results.append({k: v for k, v in result["total"].items() if not k.startswith("host.")})
        self.assertEqual(results[0], results[1])
        self.assertEqual(len(self.kept()), 1)

    def test_what_is_damaged_is_made_again(self):
        made = self.listing(EXAMPLES[0], "sm_80")
        (file,) = self.kept()
        whole = file.read_bytes()
        dice = random.Random(7)
        damaged = [b"", whole[:-1], whole + b"x", whole[: len(whole) // 2], b"\0" * len(whole)]
        for _ in range(8):
            at = dice.randrange(len(whole))
            damaged.append(whole[:at] + bytes([whole[at] ^ 1 << dice.randrange(8)]) + whole[at + 1 :])
        for content in damaged:
            file.write_bytes(content)
            self.assertEqual(made, self.listing(EXAMPLES[0], "sm_80"))
            self.assertEqual(whole, file.read_bytes(), "it is whole again")

    def test_a_change_of_the_text_or_of_the_maker_is_another_code(self):
        made = self.listing(EXAMPLES[1], "sm_80")
        text = EXAMPLES[1].read_text()
        changed = self.file("changed.ptx", text.replace("add.s32", "sub.s32"))
        self.assertNotEqual(text, changed.read_text())
        self.assertNotEqual(made, self.listing(changed, "sm_80"))
        self.assertEqual(made, self.listing(EXAMPLES[1], "sm_80"))
        self.listing(EXAMPLES[1], "sm_80", SIMTLAB_UNIFORM="on")
        self.assertEqual(made, self.listing(EXAMPLES[1], "sm_80"))

    @unittest.skipUnless(OPTIMISER.exists(), "built without LLVM 19")
    def test_llvm_is_loaded_only_for_what_is_made(self):
        loaded = []
        for _ in range(2):
            env = {"SIMTLAB_CACHE": str(self.cache()), "LD_DEBUG": "files"}
            loaded.append(OPTIMISER.name in self.ok("disasm", EXAMPLES[0], "--assemble", "sm_80", env=env).stderr)
        self.assertEqual(loaded, [True, False])

    @unittest.skipUnless(OPTIMISER.exists(), "built without LLVM 19")
    def test_nothing_is_kept_where_the_optimiser_cannot_be_loaded(self):
        for folder in ("bin", "lib"):
            (self.folder / folder).mkdir()
        shutil.copy(SIMTLAB, self.folder / "bin" / "simtlab")
        (self.folder / "lib" / OPTIMISER.name).write_text("no library")
        env = self.environment({"SIMTLAB_CACHE": str(self.cache()), "SIMTLAB_DATA": str(SOURCE / "data")})
        words = [self.folder / "bin" / "simtlab", "disasm", EXAMPLES[0], "--assemble", "sm_80"]
        done = subprocess.run(words, env=env, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotEqual(done.stdout, self.listing(EXAMPLES[0], "sm_80", cache=self.folder / "other"))
        self.assertEqual(self.kept(), [])

    def test_a_cache_that_cannot_be_used_is_no_error(self):
        made = self.listing(EXAMPLES[1], "sm_80")
        nobody = self.file("file", "not a folder")
        self.assertEqual(made, self.listing(EXAMPLES[1], "sm_80", cache=nobody))
        shared = self.folder / "shared"
        shared.mkdir()
        shared.chmod(0o777)  # anybody may have put something there
        self.assertEqual(made, self.listing(EXAMPLES[1], "sm_80", cache=shared))
        self.assertFalse((shared / "code").exists() and any((shared / "code").iterdir()))


main()
