"""Programs of the driver API (libcuda.so.1), built with declarations of our own."""
import pathlib
import shutil
import subprocess
import unittest

from harness import SIMTLAB, SOURCE, Case, main

LIBRARIES = pathlib.Path(SIMTLAB).parent.parent / "lib"
HEADER = pathlib.Path(__file__).with_name("driver_api.h")
BEGIN = '#include "driver_api.h"\nint main(int, char** argv) {\n  (void)argv; int d; void *c, *m, *f;\n'
READY = "  NEED(cuInit(0)); NEED(cuDeviceGet(&d, 0)); NEED(cuCtxCreate_v2(&c, 0, d));\n"


@unittest.skipUnless(shutil.which("g++"), "needs g++")
class DriverApi(Case):
    def build(self, body, *libraries, ready=READY):
        self.file("main.cpp", BEGIN + (ready + body if ready else body) + "\n  return 0;\n}\n")
        libraries = libraries or ("libcuda.so.1",)
        subprocess.run(
            ["g++", "-std=c++20", "-O1", "main.cpp", "-I", HEADER.parent, "-o", "app"]
            + [str(LIBRARIES / name) for name in libraries]
            + ["-Wl,--unresolved-symbols=ignore-in-shared-libs", "-ldl"],
            cwd=self.folder,
            check=True,
        )

    def runs(self, body, *libraries, ready=READY, arguments=(), code=0):
        self.build(body, *libraries, ready=ready)
        result = self.simtlab("run", "--gpu", "a100", "--mode", "functional", "--", "./app", *arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def test_launches_with_parameters_and_with_a_buffer_of_them(self):
        self.runs(
            r"""
  NEED(cuModuleLoadData(&m, ptx)); NEED(cuModuleGetFunction(&f, m, "triple"));
  Ptr p, offset; std::size_t bytes; NEED(cuMemAlloc_v2(&p, 128)); NEED(cuMemsetD8_v2(p, 0xff, 128));
  NEED(cuModuleGetGlobal_v2(&offset, &bytes, m, "offset")); CHECK(bytes == 4);
  unsigned one = 1, n = 31; int h[32]; NEED(cuMemcpyHtoD_v2(offset, &one, 4));
  void* parameters[] = {&p, &n};
  NEED(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr)); NEED(cuCtxSynchronize());
  NEED(cuMemcpyDtoH_v2(h, p, 128)); CHECK(h[5] == 16 && h[30] == 91 && h[31] == -1);
  struct { Ptr p; unsigned n; } packed = {p, 32}; std::size_t size = 12;
  void* extra[] = {(void*)1, &packed, (void*)2, &size, nullptr};
  NEED(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
  NEED(cuMemcpyDtoH_v2(h, p, 128)); CHECK(h[31] == 94);
  size = 4; CHECK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra) == 1);
  CHECK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, extra) == 1);
  CHECK(cuLaunchKernel(&n, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr) == 400);
  Config config = {{1, 1, 1}, {32, 1, 1}, 0, nullptr, nullptr, 0};
  NEED(cuLaunchKernelEx(&config, f, parameters, nullptr));
  CHECK(cuModuleGetFunction(&f, m, "absent") == 500);
  NEED(cuMemFree_v2(p)); NEED(cuModuleUnload(m)); CHECK(cuModuleUnload(m) == 400); NEED(cuCtxDestroy_v2(c));"""
        )

    def test_cubins_are_loaded_from_files_and_memory(self):
        body = r"""
  void* library; unsigned count = 0; static char image[1 << 20];
  std::FILE* file = std::fopen(argv[1], "rb"); CHECK(std::fread(image, 1, sizeof image, file) > 64);
  CHECK(cuModuleLoad(&m, "absent.cubin") == 301); NEED(cuModuleLoad(&m, argv[1]));
  NEED(cuLibraryLoadData(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0));
  NEED(cuLibraryGetKernelCount(&count, library)); CHECK(count > 0); NEED(cuLibraryUnload(library));"""
        cubins = SOURCE / "tests/data/machine"
        self.runs(body, arguments=[cubins / "variables.sm_80.cubin"])
        other = "  CHECK(cuModuleLoad(&m, argv[1]) == 209);"
        result = self.runs(other, arguments=[cubins / "variables.sm_90.cubin"], code=4)
        self.assertIn("machine code for sm_90", result.stderr)

    def test_relocatable_cubins_are_linked(self):
        body = r"""
  char log[400]; int names[] = {5, 6}; void* values[] = {log, (void*)sizeof log}; void *l, *image; Ptr p; int n = 3;
  NEED(cuLinkCreate_v2(2, names, values, &l)); NEED(cuLinkAddFile_v2(l, 0, argv[1], 0, nullptr, nullptr));
  CHECK(cuLinkAddFile_v2(l, 0, "absent.cubin", 0, nullptr, nullptr) == 301);
  NEED(cuLinkAddFile_v2(l, 0, argv[2], 0, nullptr, nullptr)); std::size_t bytes; float h[32];
  NEED(cuLinkComplete(l, &image, &bytes)); NEED(cuModuleLoadData(&m, image)); NEED(cuLinkDestroy(l));
  NEED(cuModuleGetFunction(&f, m, "own_memory")); NEED(cuMemAlloc_v2(&p, 128)); void* parameters[] = {&p, &n};
  NEED(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
  NEED(cuMemcpyDtoH_v2(h, p, 128)); CHECK(h[4] == 5 + 3 + 5 && h[31] == 30 + 3 + 5);
  if (argv[3] == nullptr) return 0;
  values[1] = (void*)sizeof log;
  NEED(cuLinkCreate_v2(2, names, values, &l)); NEED(cuLinkAddFile_v2(l, 0, argv[3], 0, nullptr, nullptr));
  CHECK(cuLinkComplete(l, &image, &bytes) != 0); std::puts(log);"""
        cubins = SOURCE / "tests/data/machine"
        files = [cubins / "objects_main.sm_80.cubin", cubins / "objects_other.sm_80.cubin"]
        self.runs(body, arguments=files)
        result = self.runs(body, arguments=files + files[:1], code=4)
        self.assertIn("'total' is not defined in the objects that are linked", result.stdout)

    def test_the_limit_of_the_stack_is_that_of_machine_code(self):
        body = r"""
  std::size_t stack = 0; NEED(cuCtxGetLimit(&stack, 0)); CHECK(stack == 2048);
  Ptr in, out; NEED(cuMemAlloc_v2(&in, 128)); NEED(cuMemAlloc_v2(&out, 1024)); NEED(cuMemsetD8_v2(in, 0xff, 128));
  NEED(cuModuleLoad(&m, argv[1])); NEED(cuModuleGetFunction(&f, m, "recursion"));
  void* parameters[] = {&in, &out}; unsigned before = 0, after = 0;
  CHECK(cuCtxSetLimit(0, 1 << 20) == 1);
  NEED(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
  NEED(cuMemcpyDtoH_v2(&before, out + 32, 4)); NEED(cuMemsetD8_v2(out, 0, 1024));
  NEED(cuCtxSetLimit(0, 65536)); NEED(cuCtxGetLimit(&stack, 0)); CHECK(stack == 65536);
  NEED(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
  NEED(cuMemcpyDtoH_v2(&after, out + 32, 4)); CHECK(before != 0 && after == before);
  NEED(cuCtxSetLimit(0, 64));
  NEED(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr)); CHECK(cuCtxSynchronize() == 714);
  std::exit(0);"""
        self.build(body)
        cubin = SOURCE / "tests/data/machine/recursion.sm_80.cubin"
        result = self.simtlab("run", "--gpu", "a100", "--stack", "2 KiB", "--record", "t.simt", "--", "./app", cubin)
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertIn("the stack of 64 bytes a thread", result.stderr)
        self.assertIn("cudaDeviceSetLimit(cudaLimitStackSize, BYTES) before the launch, or --stack", result.stderr)

    def test_libraries_and_attributes(self):
        self.runs(
            r"""
  void *library, *kernel; unsigned count; int v; const char* name;
  NEED(cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  NEED(cuLibraryGetKernelCount(&count, library)); CHECK(count == 2);
  NEED(cuLibraryGetKernel(&kernel, library, "triple")); NEED(cuKernelGetFunction(&f, kernel));
  NEED(cuFuncGetAttribute(&v, 0, f)); CHECK(v == 1024);
  NEED(cuFuncGetAttribute(&v, 4, f)); CHECK(v > 0); CHECK(cuFuncGetAttribute(&v, 99, f) == 1);
  NEED(cuFuncGetName(&name, f)); CHECK(std::strcmp(name, "triple") == 0);
  NEED(cuOccupancyMaxActiveBlocksPerMultiprocessor(&v, f, 128, 0)); CHECK(v == 16);
  NEED(cuDeviceGetAttribute(&v, 75, d)); CHECK(v == 8); NEED(cuDeviceGetAttribute(&v, 16, d)); CHECK(v == 108);
  NEED(cuDeviceGetCount(&v)); CHECK(v == 1); CHECK(cuDeviceGet(&v, 1) == 101);
  NEED(cuLibraryUnload(library));"""
        )

    def test_contexts(self):
        self.runs(
            r"""
  void *primary, *now; unsigned flags; int active; std::size_t bytes;
  CHECK(cuDeviceGet(&d, 0) == 3); NEED(cuInit(0)); Ptr p; CHECK(cuMemAlloc_v2(&p, 4) == 201);
  NEED(cuCtxCreate_v2(&c, 0, 0)); NEED(cuCtxGetCurrent(&now)); CHECK(now == c);
  NEED(cuDevicePrimaryCtxGetState(0, &flags, &active)); CHECK(active == 0);
  NEED(cuDevicePrimaryCtxRetain(&primary, 0)); NEED(cuCtxPushCurrent_v2(primary));
  NEED(cuCtxGetCurrent(&now)); CHECK(now == primary); NEED(cuMemAlloc_v2(&p, 64));
  NEED(cuDeviceTotalMem_v2(&bytes, 0)); CHECK(bytes > (1u << 30));
  NEED(cuCtxPopCurrent_v2(&now)); CHECK(now == primary); NEED(cuCtxGetCurrent(&now)); CHECK(now == c);
  NEED(cuCtxDestroy_v2(c)); CHECK(cuCtxDestroy_v2(c) == 201); CHECK(cuMemFree_v2(p) == 201);
  NEED(cuCtxSetCurrent(primary)); NEED(cuMemFree_v2(p)); NEED(cuDevicePrimaryCtxRelease_v2(0));
  CHECK(cuMemAlloc_v2(&p, 64) == 201); CHECK(cuDevicePrimaryCtxRelease_v2(0) == 201);""",
            ready="",
        )

    def test_memory(self):
        self.runs(
            r"""
  Ptr p, base; std::size_t bytes; int h[64]; void* stream; unsigned kind;
  NEED(cuMemAlloc_v2(&p, 256)); NEED(cuMemsetD32_v2(p, 0x01020304, 64)); NEED(cuMemcpyDtoH_v2(h, p, 256));
  CHECK(h[0] == 0x01020304 && h[63] == 0x01020304);
  NEED(cuMemsetD2D16_v2(p, 64, 0xabcd, 2, 4)); NEED(cuMemcpyDtoH_v2(h, p, 256));
  CHECK(h[16] == (int)0xabcdabcd && h[17] == 0x01020304 && h[48] == (int)0xabcdabcd);
  CHECK(cuMemsetD32_v2(p + 2, 0, 1) == 1); CHECK(cuMemsetD32_v2(p, 0x12345678, 65) == 1);
  int two[2] = {7, 8}; Copy2D copy = {};
  copy.st = 1; copy.sh = two; copy.sp = 4; copy.tt = 2; copy.td = p; copy.tp = 64; copy.tx = 8; copy.width = 4;
  copy.height = 2; NEED(cuMemcpy2D_v2(&copy)); NEED(cuStreamCreate(&stream, 1));
  NEED(cuMemcpyDtoHAsync_v2(h, p, 256, stream)); NEED(cuStreamSynchronize(stream)); CHECK(h[2] == 7 && h[18] == 8);
  NEED(cuStreamDestroy_v2(stream)); copy.tp = 8; CHECK(cuMemcpy2D_v2(&copy) == 1);
  NEED(cuMemGetAddressRange_v2(&base, &bytes, p + 100)); CHECK(base == p && bytes == 256);
  NEED(cuPointerGetAttribute(&kind, 2, p)); CHECK(kind == 2); CHECK(cuPointerGetAttribute(&kind, 2, 64) == 1);
  void* host; NEED(cuMemAllocHost_v2(&host, 64)); NEED(cuPointerGetAttribute(&kind, 2, (Ptr)host)); CHECK(kind == 1);
  NEED(cuMemFreeHost(host)); CHECK(cuMemAlloc_v2(&p, 0) == 1); CHECK(cuMemFree_v2(12345) == 1);"""
        )

    def test_functions_are_found_by_name_and_version(self):
        self.runs(
            r"""
  void* found; int status; const char* text;
  NEED(cuGetProcAddress_v2("cuMemAlloc", &found, 12000, 0, &status)); CHECK(found == (void*)cuMemAlloc_v2 && !status);
  NEED(cuGetProcAddress_v2("cuCtxSynchronize", &found, 12000, 0, &status)); CHECK(found == (void*)cuCtxSynchronize);
  NEED(cuGetProcAddress_v2("cuCtxSynchronize", &found, 13000, 0, &status)); CHECK(found != (void*)cuCtxSynchronize);
  CHECK(cuGetProcAddress_v2("cuNoSuch", &found, 13000, 0, &status) == 500 && status == 1 && found == nullptr);
  CHECK(cuGetProcAddress_v2("cuMemAlloc", &found, 2000, 0, &status) == 500 && status == 2);
  NEED(cuGetErrorName(719, &text)); CHECK(std::strcmp(text, "CUDA_ERROR_LAUNCH_FAILED") == 0);
  NEED(cuGetErrorString(1, &text)); CHECK(std::strcmp(text, "invalid argument") == 0);
  CHECK(cuGetErrorName(12345, &text) == 1 && text == nullptr);"""
        )

    def test_what_is_absent_says_its_name(self):
        result = self.runs("  CHECK(cuGraphAddNode() == 801); CHECK(cuGraphAddNode() == 801);", code=4)
        self.assertEqual(result.stderr.count("cuGraphAddNode is not supported by simtlab's CUDA driver"), 1)
        result = self.runs("  const void* table; char id[16] = {}; CHECK(cuGetExportTable(&table, id) == 801);", code=4)
        self.assertIn("linked into a library", result.stderr)

    def test_bad_modules_are_refused_with_the_place(self):
        result = self.runs(
            r"""
  char log[400] = "x"; int names[] = {5, 6, 3, 4}; char info[8]; void* values[] = {log, (void*)400, info, (void*)8};
  CHECK(cuModuleLoadDataEx(&m, ".version 7.0\n.target sm_70\nnonsense", 4, names, values) == 218);
  CHECK(std::strstr(log, "nonsense") != nullptr); CHECK((std::size_t)values[1] == std::strlen(log) && values[3] == nullptr);
  CHECK(cuModuleLoadData(&m, "\x7f" "ELF                                                             ") != 0);""",
            code=3,
        )
        self.assertIn("nonsense", result.stderr)

    def test_a_fault_is_returned_by_all_calls_after_it(self):
        result = self.runs(
            r"""
  NEED(cuModuleLoadData(&m, ptx)); NEED(cuModuleGetFunction(&f, m, "wild"));
  NEED(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr)); CHECK(cuCtxSynchronize() == 700);
  Ptr p; CHECK(cuMemAlloc_v2(&p, 4) == 700); NEED(cuCtxDestroy_v2(c)); NEED(cuCtxCreate_v2(&c, 0, 0));
  NEED(cuMemAlloc_v2(&p, 4));""",
            code=5,
        )
        self.assertIn("wild", result.stderr)

    def test_the_runtime_and_the_driver_have_one_gpu(self):
        result = self.runs(
            r"""
  void *p, *library, *kernel, *current; int h[32] = {}, status; NEED(cudaMalloc(&p, 128)); NEED(cuCtxGetCurrent(&current));
  CHECK(current != nullptr); NEED(cuModuleLoadData(&m, ptx)); NEED(cuModuleGetFunction(&f, m, "triple"));
  unsigned n = 32; void* parameters[] = {&p, &n};
  NEED(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
  NEED(cudaMemcpy(h, p, 128, 2)); CHECK(h[7] == 21);
  NEED(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  NEED(cudaLibraryGetKernel(&kernel, library, "triple"));
  NEED(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr));
  int (*alloc)(Ptr*, std::size_t); NEED(cudaGetDriverEntryPoint("cuMemAlloc", (void**)&alloc, 0, &status));
  Ptr q; NEED(alloc(&q, 64)); NEED(cuMemFree_v2(q)); NEED(cudaDeviceSynchronize());""",
            "libcuda.so.1",
            "libcudart.so.12",
            ready="",
        )
        self.assertIn("2 launches", result.stdout + result.stderr)


if __name__ == "__main__":
    main()
