"""OpenCL: kernels without a host program, and programs through the standard loader."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from harness import HAS_CLANG, SOURCE, Case, main

LIBCLC = os.path.exists("/usr/lib/clc/nvptx64--nvidiacl.bc")
needs_opencl = unittest.skipUnless(HAS_CLANG and LIBCLC, "clang 19 or libclc is not installed")
EXAMPLES = SOURCE / "examples/opencl"
FAST = ("--mode", "functional")


@needs_opencl
class Kernels(Case):
    def launch(self, name, source, launch):
        (self.folder / f"{name}.cl").write_text(source)
        (self.folder / f"{name}.toml").write_text(launch)
        return (f"{name}.cl", "--launch", f"{name}.toml")

    def test_the_examples_run(self):
        square = ("--global", "64x64", "--local", "16x16")
        mm = str(EXAMPLES / "matmul.cl")
        buffers = (
            "--arg",
            "buffer:64x64:f32:iota",
            "--arg",
            "buffer:64x64:f32:random",
            "--arg",
            "buffer:64x64:f32",
            "--arg",
            "s32:64",
        )
        r = self.run_json(mm, "--kernel", "mm", *square, *buffers, "--gpu", "gtx480")
        self.assertEqual(r["kernels"][0]["name"], "mm")
        self.assertEqual(r["total"]["gpu.instructions.thread"]["value"] % 4096, 0)  # no thread takes another way
        self.run_json(
            mm,
            "--kernel",
            "mm_tiled",
            *square,
            *buffers,
            "--arg",
            "local:1024",
            "--arg",
            "local:1024",
            "-DTILE=16",
            "-unroll=4",
        )
        for kernel in ("mt", "mt_tiled"):
            self.run_json(
                str(EXAMPLES / "transpose.cl"),
                "--kernel",
                kernel,
                *square,
                "--arg",
                "buffer:64x64:f32:iota",
                "--arg",
                "buffer:64x64:f32",
                "--arg",
                "s32:64",
                "--arg",
                "s32:64",
            )
        self.run_json(
            str(EXAMPLES / "stencil7.cl"),
            "--global",
            "32x16x8",
            "--local",
            "16x4x1",
            "--arg",
            "buffer:8x16x32:f32:random",
            "--arg",
            "buffer:8x16x32:f32",
            "--arg",
            "f32:0.5",
            "--arg",
            "f32:0.0833",
        )

    def test_results_are_those_of_opencl(self):
        files = self.launch(
            "mixed",
            """
            float twice(float x) { return x + x; }
            __kernel void mixed(__global float4 *out, float4 v, __local float *tile, __constant int *table, int n) {
              const int i = get_local_id(0);
              tile[i] = twice(table[i % n]);
              barrier(CLK_LOCAL_MEM_FENCE);
              out[get_global_id(0)] = v.wzyx * tile[get_local_size(0) - 1 - i];
            }""",
            """
            global = 8
            block = 4
            options = "-DUNUSED='a b'"
            [[arg]]
            name = "out"
            type = "f32"
            shape = [8, 4]
            [[arg]]
            type = "f32"
            value = [1, 2, 3, 4]
            [[arg]]
            local = 16
            [[arg]]
            type = "s32"
            shape = 4
            values = [10, 20, 30, 40]
            [[arg]]
            type = "s32"
            value = 4
            [[expect]]
            arg = "out"
            values = [320, 240, 160, 80, 240, 180, 120, 60, 160, 120, 80, 40, 80, 60, 40, 20]
            """,
        )
        self.ok("run", *files, *FAST)

    def test_offset_and_work_dimension(self):
        files = self.launch(
            "ids",
            """
            __kernel void ids(__global int *out) {
              const int i = get_global_id(0) - get_global_offset(0);
              out[i] = get_global_id(0) * 100 + get_global_id(1) * 10 + get_work_dim();
            }""",
            """
            global = [4, 1]
            block = 2
            offset = [7, 3]
            [[arg]]
            name = "out"
            type = "s32"
            shape = 4
            [[expect]]
            arg = "out"
            values = [732, 832, 932, 1032]
            """,
        )
        self.ok("run", *files, *FAST)

    def test_printf(self):
        (self.folder / "p.cl").write_text(
            '__kernel void p(__global int *a) { printf("%d %.1f %s\\n", a[get_global_id(0)], 1.5f, "x"); }'
        )
        r = self.ok("run", "p.cl", "--global", "2", "--local", "1", "--arg", "buffer:2:s32:iota", *FAST)
        self.assertIn("0 1.5 x\n1 1.5 x\n", r.stderr)

    def test_messages(self):
        (self.folder / "bad.cl").write_text("__kernel void k(__global float *a) {\n  a[0] = wrong;\n}\n")
        self.fails(3, "run", "bad.cl", says=("bad.cl:2:10: error", "[compile-failed]"))
        (self.folder / "image.cl").write_text("__kernel void k(__read_only image2d_t a) {}\n")
        self.fails(4, "run", "image.cl", says=("image.cl:1:", "no images", "[opencl-image]"))
        (self.folder / "k.cl").write_text("__kernel void k(__global float *a) { a[get_global_id(0)] = N; }\n")
        shape = ("--global", "4", "--local", "4", "--arg", "buffer:4:f32")
        self.ok("run", "k.cl", *shape, "-D", "N=3", *FAST)
        self.fails(2, "run", "k.cl", *shape, "-cl-nonsense", says=("[opencl-option]", "-cl-nonsense"))
        self.fails(4, "run", "k.cl", *shape, "-cl-std=CL2.0", says=("[opencl-version]",))
        self.fails(
            3,
            "run",
            "k.cl",
            "--global",
            "5",
            "--local",
            "4",
            "--arg",
            "buffer:4:f32",
            "-DN=3",
            says=("not a multiple",),
        )
        self.fails(3, "run", "k.cl", "--global", "4", "--local", "4", "-DN=3", says=("1 parameters, 0 arguments",))
        self.fails(3, "run", "missing.cl", *shape, says=("missing.cl",))
        self.fails(
            3,
            "run",
            self.saxpy(),
            "--grid",
            "1",
            "--block",
            "32",
            "--offset",
            "1",
            "--arg",
            "f32:1",
            "--arg",
            "buffer:32:f32",
            "--arg",
            "buffer:32:f32",
            "--arg",
            "u32:32",
            says=("offset",),
        )

    def test_a_source_is_found_again_by_its_line(self):
        r = self.run_json(
            str(EXAMPLES / "transpose.cl"),
            "--kernel",
            "mt",
            "--global",
            "64x64",
            "--local",
            "16x16",
            "--arg",
            "buffer:64x64:f32",
            "--arg",
            "buffer:64x64:f32",
            "--arg",
            "s32:64",
            "--arg",
            "s32:64",
            "--lines",
        )
        self.assertIn("transpose.cl", str(r))


LOADER = any(os.path.exists(f"/usr/lib/{d}/libOpenCL.so") for d in ("x86_64-linux-gnu", "aarch64-linux-gnu", ""))


def reference_runs():
    """Whether pocl is installed and finds a device: it does not where /sys is missing."""
    vendors = "/etc/OpenCL/vendors"
    if (
        not os.path.isdir(vendors)
        or not any(name.startswith("pocl") for name in os.listdir(vendors))
        or shutil.which("clinfo") is None
    ):
        return False
    with tempfile.TemporaryDirectory() as home:
        listed = subprocess.run(
            ["clinfo", "--list"],
            env={"PATH": os.environ["PATH"], "HOME": home, "OCL_ICD_VENDORS": vendors},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=120,
        )
    return listed.returncode == 0 and "Device #0" in listed.stdout


REFERENCE = reference_runs()


@needs_opencl
@unittest.skipUnless(
    LOADER and os.path.exists("/usr/include/CL/cl.h"), "OpenCL's loader or its headers are not installed"
)
class Programs(Case):
    def build(self, name):
        program = self.folder / name
        compiler = shutil.which("gcc") or shutil.which("clang-19")
        subprocess.run(
            [
                compiler,
                "-O1",
                "-w",
                str(SOURCE / f"tests/opencl/{name}.c"),
                "-o",
                str(program),
                "-lOpenCL",
                "-lpthread",
            ],
            check=True,
        )
        return program

    def test_features_have_the_results_of_the_reference(self):
        program = self.build("features")
        for mode in ("timing", "functional"):
            r = self.ok(
                "run", "--mode", mode, "-q", "--", program, env={"EXPECT_TIMES": "1"} if mode == "timing" else None
            )
            self.assertNotIn("FAILED", r.stdout)
            self.assertEqual(r.stdout.count("ok "), 7)
            self.assertIn("printed 42", r.stdout)
        if REFERENCE:
            out = subprocess.run(
                [program],
                env=self.environment({"OCL_ICD_VENDORS": "/etc/OpenCL/vendors"}),
                stdout=subprocess.PIPE,
                text=True,
                timeout=300,
            )
            self.assertEqual((out.returncode, out.stdout), (0, r.stdout))

    def test_the_report_names_kernels_and_copies(self):
        program = self.build("features")
        r = self.json_of("run", "--gpu", "v100", "--json=r.json", "-q", "--", program)
        names = {k["name"] for k in r["kernels"]}
        self.assertTrue({"k", "add", "one"} <= names, names)
        self.assertGreater(r["total"]["copy.h2d.bytes"]["value"], 4096)
        self.assertEqual(r["manifest"]["device"], "v100")

    def json_of(self, *args):
        self.ok(*args)
        return json.loads((self.folder / "r.json").read_text())

    def test_misuse_has_the_codes_of_opencl(self):
        r = self.ok("run", "--mode", "functional", "-q", "--", self.build("misuse"))
        self.assertIn("ok misuse", r.stdout)

    def test_random_calls_never_crash(self):
        program = self.build("fuzz")
        for seed in range(1, 9):
            r = self.ok("run", "--mode", "functional", "-q", "--", program, seed, 4000)
            self.assertIn("ok fuzz", r.stdout)
        self.ok("run", "-q", "--gpu", "gtx480", "--", program, 21, 1500)

    @unittest.skipUnless(REFERENCE, "pocl is not installed, or finds no device")
    def test_built_in_functions_agree_with_the_reference(self):
        n, expressions = 128, (SOURCE / "tests/opencl/builtins.txt").read_text().split("\n")[:-1]
        lines = "\n".join(f"  out[{j} * n + i] = {e};" for j, e in enumerate(expressions))
        self.file(
            "builtins.cl",
            "__kernel void f(__global const float *in, __global float *out) {\n"
            "  const int i = get_global_id(0), n = get_global_size(0);\n"
            "  const float x = in[i], y = in[i + 1] + 0.3f, u = (float)i / n, v = 0.01f + (float)i * 0.21f;\n"
            f"  float t; int k;\n{lines}\n}}\n",
        )
        arguments = [self.build("evaluate"), "builtins.cl", str(n), str(len(expressions))]
        ours = [float(v) for v in self.ok("run", "-q", "--mode", "functional", "--", *arguments).stdout.split()]
        out = subprocess.run(
            arguments,
            env=self.environment({"OCL_ICD_VENDORS": "/etc/OpenCL/vendors"}),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            text=True,
            timeout=300,
        )
        reference = [float(v) for v in out.stdout.split()]
        self.assertEqual(len(ours), len(reference))
        for j, e in enumerate(expressions):
            for i in range(n):
                a, b = ours[j * n + i], reference[j * n + i]
                same = a == b or (a != a and b != b) or abs(a - b) <= 1e-5 * max(1e-3, abs(b))
                self.assertTrue(same, f"{e} at {i}: {a}, reference {b}")

    @unittest.skipUnless(shutil.which("clFFT-client"), "clFFT's client is not installed")
    def test_clfft_finds_its_transforms_right(self):
        for size in (("-x", "128"), ("-x", "60", "-y", "12", "-z", "5")):
            r = self.ok("run", "-q", "--mode", "functional", "--", shutil.which("clFFT-client"), *size)
            self.assertIn("Internal Client Test *****PASS*****", r.stdout)

    @unittest.skipUnless(shutil.which("clblast_test_xaxpy"), "CLBlast's tests are not installed")
    def test_clblast_finds_its_results_right(self):
        for routine in ("xaxpy", "xamax"):
            r = self.ok("run", "-q", "--mode", "functional", "--", shutil.which("clblast_test_" + routine))
            self.assertGreater(r.stdout.count("passed"), 4)

    def test_threads_share_the_library(self):
        r = self.ok("run", "-q", "--mode", "functional", "--", self.build("threads"))
        self.assertIn("ok threads", r.stdout)

    def test_a_kernel_out_of_bounds_fails_the_run(self):
        self.file(
            "oob.c",
            """
            #define CL_TARGET_OPENCL_VERSION 120
            #include <CL/cl.h>
            #include <stdio.h>
            int main(void) {
              cl_platform_id p; cl_device_id d; clGetPlatformIDs(1, &p, 0); clGetDeviceIDs(p, CL_DEVICE_TYPE_ALL, 1, &d, 0);
              cl_context c = clCreateContext(0, 1, &d, 0, 0, 0);
              cl_command_queue q = clCreateCommandQueue(c, d, 0, 0);
              const char *s = "__kernel void far(__global int *a) {\\n  a[get_global_id(0) + 100000] = 1;\\n}";
              cl_program g = clCreateProgramWithSource(c, 1, &s, 0, 0); clBuildProgram(g, 0, 0, 0, 0, 0);
              cl_kernel k = clCreateKernel(g, "far", 0);
              cl_mem m = clCreateBuffer(c, 0, 64, 0, 0); clSetKernelArg(k, 0, sizeof m, &m);
              size_t n = 16; clEnqueueNDRangeKernel(q, k, 1, 0, &n, 0, 0, 0, 0);
              printf("%d %d\\n", clFinish(q), clFinish(q));
              return 0;
            }""".replace(
                "\\\\", "\\"
            ),
        )
        subprocess.run(
            ["gcc", "-w", str(self.folder / "oob.c"), "-o", str(self.folder / "oob"), "-lOpenCL"], check=True
        )
        r = self.simtlab("run", "--mode", "functional", "-q", "--", "./oob")
        self.assertEqual(r.returncode, 5, r.stderr)
        self.assertIn("-5 -5", r.stdout)
        self.assertIn("illegal-address", r.stderr)
        self.assertIn("far", r.stderr)

    @unittest.skipUnless(shutil.which("clinfo"), "clinfo is not installed")
    def test_clinfo_lists_the_device(self):
        for gpu, name, units in (("h100", "H100", 132), ("gtx480", "GTX 480", 15)):
            out = self.ok("run", "--gpu", gpu, "-q", "--", shutil.which("clinfo")).stdout
            self.assertRegex(out, r"Number of platforms +1\n")
            self.assertRegex(out, rf"Device Name +.*{name}")
            self.assertRegex(out, rf"Max compute units +{units}\n")
            self.assertRegex(out, r"Device Type +GPU")
            self.assertRegex(out, r"Image support +No")
            self.assertRegex(out, r"Device Version +OpenCL 1\.2 ")
            self.assertNotIn("error", out)

    def test_a_program_that_does_nothing_with_opencl_is_said_so(self):
        self.fails(3, "run", "--", "/bin/true", says=("OpenCL", "[program-no-cuda]"))


if __name__ == "__main__":
    main()
