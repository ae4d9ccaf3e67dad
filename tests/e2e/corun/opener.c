/* opener WAY LIBRARY [COUNT]: a program without CUDA that opens it. C and C++. Its status says what went wrong.
   -DFATBIN: it holds kernels itself, as one with a static runtime does. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct { unsigned x, y, z; } dim3;
typedef int (*Go)(int);
typedef int (*RuntimeLaunch)(const void*, dim3, dim3, void**, size_t, void*);
typedef int (*DriverLaunch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
typedef int (*Ask)(const char*, void**, int, uint64_t, int*);

#ifdef FATBIN
__attribute__((section(".nv_fatbin"), used)) static char fatbin[64] = "kernels";
#endif

#ifdef __cplusplus
extern "C" {
#endif
/* Nobody may have it. */
__attribute__((weak)) int cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, void*);
__attribute__((weak)) int cudaGetLastError(void);
__attribute__((weak)) int cudaPeekAtLastError(void);
#ifdef __cplusplus
}
#endif

static int count = 3;
static dim3 one = {1, 1, 1};

static void* opened(const char* library, int mode) {
  void* out = dlopen(library, mode);
  if (!out) fprintf(stderr, "%s\n", dlerror()), exit(10);
  return out;
}
static int plugin(void* library) {
  Go go;
  *(void**)&go = dlsym(library, "go");
  return go ? go(count) : 11;
}
static int runtime(void* function) {
  RuntimeLaunch launch;
  *(void**)&launch = function;
  if (!launch) return 12;
  int bad = 0;
  for (int i = 0; i < count; ++i) bad |= launch("k", one, one, 0, 0, 0);
  return bad;
}
static int driver(void* function) {
  DriverLaunch launch;
  *(void**)&launch = function;
  if (!launch) return 13;
  int bad = 0;
  for (int i = 0; i < count; ++i) bad |= launch((void*)"k", 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
  return bad;
}
/* As a static runtime does it. */
static int asked(void* library) {
  Ask ask;
  void *again = 0, *launch = 0;
  int status = 0;
  *(void**)&ask = dlsym(library, "cuGetProcAddress_v2");
  if (!ask || ask("cuGetProcAddress", &again, 12000, 0, &status)) return 14;
  *(void**)&ask = again;
  return ask("cuLaunchKernel", &launch, 12000, 0, &status) ? 15 : driver(launch);
}
static int nowhere(void) {
  if (!cudaLaunchKernel) return 20;
  const int code = cudaLaunchKernel("k", one, one, 0, 0, 0);
  if (code == 0 || cudaPeekAtLastError() != code || cudaGetLastError() != code) return 21;
  return cudaGetLastError() == 0 ? 0 : 22;
}

int main(int argc, char** argv) {
  const char* way = argv[1];
  const char* library = argc > 2 ? argv[2] : "";
  if (argc > 3) count = atoi(argv[3]);
  if (!strcmp(way, "nothing")) return 0;
  if (!strcmp(way, "nowhere")) return nowhere();
  if (!strcmp(way, "local")) return plugin(opened(library, RTLD_NOW | RTLD_LOCAL));
  if (!strcmp(way, "global")) return plugin(opened(library, RTLD_LAZY | RTLD_GLOBAL));
  if (!strcmp(way, "own-scope")) return plugin(opened(library, RTLD_NOW | RTLD_DEEPBIND));
  if (!strcmp(way, "namespace")) {
    void* space = dlmopen(LM_ID_NEWLM, library, RTLD_NOW | RTLD_LOCAL);
    return space ? plugin(space) : 10;
  }
  if (!strcmp(way, "closed")) {   /* and opened once more */
    void* first = opened(library, RTLD_NOW);
    const int bad = plugin(first);
    dlclose(first);
    return bad | plugin(opened(library, RTLD_NOW));
  }
  if (!strcmp(way, "symbol")) return runtime(dlsym(opened(library, RTLD_NOW | RTLD_LOCAL), "cudaLaunchKernel"));
  if (!strcmp(way, "default")) {
    if (dlsym(RTLD_DEFAULT, "cudaLaunchKernel")) return 30;   /* without CUDA there is none, whoever was loaded before us */
    if (!dlerror()) return 31;
    opened(library, RTLD_NOW | RTLD_GLOBAL);
    return runtime(dlsym(RTLD_DEFAULT, "cudaLaunchKernel"));
  }
  if (!strcmp(way, "two")) {   /* a second library of the same functions, counted by nobody */
    const int bad = runtime(dlsym(opened(library, RTLD_NOW | RTLD_LOCAL), "cudaLaunchKernel"));
    return bad | runtime(dlsym(opened("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), "cudaLaunchKernel"));
  }
  if (!strcmp(way, "driver")) return driver(dlsym(opened(library, RTLD_NOW), "cuLaunchKernel"));
  if (!strcmp(way, "asked")) return asked(opened(library, RTLD_NOW));
  if (!strcmp(way, "fork")) {
    void* handle = opened(library, RTLD_NOW);
    int bad = plugin(handle), status = -1;
    const pid_t child = fork();
    if (child == 0) _exit(plugin(handle));
    waitpid(child, &status, 0);
    return bad | status;
  }
  if (!strcmp(way, "forks")) {   /* while the ends of launches are being told */
    void* handle = opened(library, RTLD_NOW);
    for (int i = 0, status = 0; i < 200; ++i) {
      if (plugin(handle)) return 42;
      const pid_t child = fork();
      if (child == 0) _exit(0);
      if (waitpid(child, &status, 0) != child || status) return 43;
    }
    return 0;
  }
  if (!strncmp(way, "bare-", 5)) {   /* starts itself without LD_PRELOAD */
    char command[4096], *none[] = {(char*)"A=b", 0};
    int status = -1;
    snprintf(command, sizeof command, "%s local %s %d", argv[0], library, count);
    if (strcmp(way, "bare-execle")) unsetenv("LD_PRELOAD");
    if (!strcmp(way, "bare-system")) return system(command);
    if (!strcmp(way, "bare-popen")) return pclose(popen(command, "r"));
    const pid_t child = fork();
    if (child == 0 && !strcmp(way, "bare-execl")) execl(argv[0], argv[0], "local", library, argv[3], (char*)0);
    if (child == 0 && !strcmp(way, "bare-execlp")) execlp(argv[0], argv[0], "local", library, argv[3], (char*)0);
    if (child == 0 && !strcmp(way, "bare-execle")) execle(argv[0], argv[0], "local", library, argv[3], (char*)0, none);
    waitpid(child, &status, 0);
    return status;
  }
  if (!strcmp(way, "exec")) {   /* launches, and then becomes another program that does */
    if (plugin(opened(library, RTLD_NOW))) return 40;
    execl(argv[0], argv[0], "local", library, argv[3], (char*)0);
    return 41;
  }
  return 99;
}
