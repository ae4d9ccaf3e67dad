"""Time and memory for machine code of kernels with thousands of branches, accesses and barriers grow with their size, not with its square."""
import os
import random
import subprocess
import unittest

from harness import SIMTLAB, Case, main

KERNEL = """.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
.reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<9>;
ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
mov.u32 %r4, %tid.x; mul.wide.u32 %rd3, %r4, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3;
ld.global.u32 %r6, [%rd1]; mov.u32 %r10, %r6; mov.u32 %r11, 0;
BODY
E: st.global.u32 [%rd2], %r10;
ret;
}
"""
DIAMOND = """shr.u32 %r12, %r6, SHIFT; and.b32 %r12, %r12, 1; setp.eq.u32 %p1, %r12, 0; @%p1 bra XN;
mad.lo.u32 %r10, %r10, 3, N; mul.lo.u32 %r10, %r10, %r12; xor.b32 %r12, %r10, 77; add.u32 %r10, %r10, %r12; bra YN;
XN: sub.u32 %r10, %r10, N; shl.b32 %r12, %r10, 3; xor.b32 %r10, %r12, %r10;
YN: add.u32 %r10, %r10, 1;
"""
# Each goes on in one of three places, whichever a value says, some 40 times in all.
LABEL = """LN: add.u32 %r11, %r11, 1; setp.gt.u32 %p1, %r11, 40; @%p1 bra E;
mad.lo.u32 %r10, %r10, FACTOR, N; shr.u32 %r12, %r10, SHIFT; and.b32 %r12, %r12, 1; setp.eq.u32 %p2, %r12, 0;
@%p2 bra LFIRST;
shr.u32 %r12, %r10, 9; and.b32 %r12, %r12, 3; setp.eq.u32 %p3, %r12, 0; @%p3 bra LSECOND;
"""


def diamonds(count):
    text = "".join(DIAMOND.replace("SHIFT", str(n % 31)).replace("N", str(n)) for n in range(count))
    return KERNEL.replace("BODY", text)


def irreducible(count):
    draw = random.Random(3)
    text = "bra L0;\n"
    for n in range(count):
        words = {"FACTOR": 2 * draw.randrange(50) + 3, "SHIFT": draw.randrange(5, 20)}
        words |= {"FIRST": draw.randrange(count), "SECOND": draw.randrange(count), "N": n}
        label = LABEL
        for word, value in words.items():
            label = label.replace(word, str(value))
        text += label
    return KERNEL.replace("BODY", text + "bra L0;")


# More registers than the optimiser has variables for: those that are written once are values at once.
STEP = """shr.u32 %sN, %r4, SHIFT; and.b32 %bN, %sN, 1; setp.eq.u32 %qN, %bN, 0; @%qN bra XN;
mad.lo.u32 %mN, %r10, 3, N; mov.u32 %r10, %mN; bra YN;
XN: sub.u32 %uN, %r10, N; mov.u32 %r10, %uN;
YN: xor.b32 %r10, %r10, %sN;
"""
LAUNCH = """kernel = "k"
global = 32
block = 32
[[arg]]
name = "in"
type = "u32"
shape = [32]
init = "zero"
[[arg]]
name = "out"
type = "u32"
shape = [32]
init = "zero"
[[expect]]
arg = "out"
values = VALUES
"""


def steps(count):
    names = "".join(f".reg .b32 %{name}<{count}>; " for name in "sbmu") + f".reg .pred %q<{count}>;\n"
    text = "".join(STEP.replace("SHIFT", str(n % 5)).replace("N", str(n)) for n in range(count))
    return KERNEL.replace("ld.param.u64 %rd1", names + "ld.param.u64 %rd1", 1).replace("BODY", text)


def sum_of_steps(thread, count):
    value = 0
    for n in range(count):
        shifted = thread >> n % 5
        value = value * 3 + n if shifted & 1 else value - n
        value = (value ^ shifted) & 0xFFFFFFFF
    return value


# A 64-bit index for two arrays: on Turing accesses add the parameters.
ACCESSES = """ld.global.u64 %rd4, [%rd2+OFFSET]; shl.b64 %rd5, %rd4, 2; ld.param.u64 %rd6, [in]; ld.param.u64 %rd7, [out];
add.u64 %rd6, %rd6, %rd5; add.u64 %rd7, %rd7, %rd5; ld.global.u32 %r12, [%rd6]; st.global.u32 [%rd7], %r12;
"""


def accesses(count):
    return KERNEL.replace("sm_80", "sm_70").replace(
        "BODY", "".join(ACCESSES.replace("OFFSET", str(8 * n)) for n in range(count))
    )


def barriers(count):
    return KERNEL.replace("sm_80", "sm_50").replace("BODY", "bar.sync 0; st.global.u32 [%rd2+4], %r10;\n" * count)


class Size(Case):
    def need(self, text, most_mib, most_seconds, architecture="sm_80"):
        """What an assembler needs that leaves values alive everywhere is ten times as much."""
        self.file("k.ptx", text)
        with open(self.folder / "k.sass", "wb") as listing:
            words = [SIMTLAB, "disasm", "k.ptx", "--assemble", architecture]
            process = subprocess.Popen(
                words,
                cwd=self.folder,
                env=self.environment({"SIMTLAB_CACHE": str(self.folder / "cache")}),
                stdout=listing,
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        self.assertIn("EXIT", (self.folder / "k.sass").read_text())
        self.assertLess(usage.ru_maxrss / 1024, most_mib)
        self.assertLess(usage.ru_utime + usage.ru_stime, most_seconds)

    def test_thousands_of_branches_that_meet_again(self):
        self.need(diamonds(2000), 800, 60)

    def test_thousands_of_blocks_of_one_cycle(self):
        self.need(irreducible(2500), 800, 60)

    def test_thousands_of_accesses_by_parameters(self):
        self.need(accesses(6000), 800, 20, "sm_75")
        self.assertIn(".64+UR", (self.folder / "k.sass").read_text())

    def test_thousands_of_barriers(self):
        self.need(barriers(20000), 800, 15, "sm_50")

    def test_thousands_of_registers(self):
        count = 1800
        self.file("k.ptx", steps(count))
        values = [sum_of_steps(thread, count) for thread in range(32)]
        self.file("k.toml", LAUNCH.replace("VALUES", str(values)))
        for lowering in ("off", "optimised", "machine"):
            self.ok("run", "k.ptx", "--launch", "k.toml", "--mode", "functional", "--lowering", lowering)


if __name__ == "__main__":
    main()
