// Linked into a program whose loop nest simtlab measures (simtlab predict --run). The program's own behaviour is unchanged; what is learnt goes
// to $SIMTLAB_LOOPS_DIR.
//
// $SIMTLAB_LOOPS_MODE is one of: time, every call is timed; survey, of every call the blocks are counted; count, the call that
// $SIMTLAB_LOOPS_CALL says (from 0) is looked at closely. To count a copy of the process runs a counting copy of the nest, so that the program's own data stay as they are:
// it tells how often each block ran and which bytes each argument reached. Then the nest itself runs and is timed.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern uint64_t simtlab_blocks[], simtlab_low[], simtlab_high[], simtlab_written[];
extern const uint64_t simtlab_block_count, simtlab_argument_count;

enum { most_arguments = 256, most_calls = 1024 };
static uint64_t arguments[most_arguments];
static uint64_t calls, times[most_calls], begun;
static uint64_t* counted;   // shared with the copy that counts: blocks, low, high, written, 1
static uint64_t work[most_calls];   // of each call: blocks that it ran
static int counting;

static const char* folder(void) { return getenv("SIMTLAB_LOOPS_DIR"); }
static int wants(const char* what) {
  const char* mode = getenv("SIMTLAB_LOOPS_MODE");
  return folder() != NULL && mode != NULL && strcmp(mode, what) == 0;
}

static uint64_t wanted_call(void) {
  const char* call = getenv("SIMTLAB_LOOPS_CALL");
  return call == NULL ? 0 : strtoull(call, NULL, 10);
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static FILE* open_file(const char* name, unsigned number, const char* mode) {
  char path[4096];
  if (snprintf(path, sizeof path, name, folder(), number) >= (int)sizeof path) return NULL;
  return fopen(path, mode);
}

static void report(void) {
  if (folder() == NULL || counting) return;
  FILE* f = open_file("%s/times", 0, "w");
  if (f == NULL) return;
  fprintf(f, "calls %llu\n", (unsigned long long)calls);
  for (uint64_t i = 0; i < calls && i < most_calls; i++) fprintf(f, "time %llu\n", (unsigned long long)(wants("survey") ? work[i] : times[i]));
  fclose(f);
}
__attribute__((constructor)) static void start(void) { atexit(report); }

void simtlab_argument(int index, uint64_t value) {
  if (index < most_arguments) arguments[index] = value;
}

// 1 in the copy that counts.
int simtlab_enter(void) {
  const int survey = wants("survey") && calls < most_calls;
  if (!survey && (calls != wanted_call() || !wants("count"))) return 0;
  const uint64_t n = simtlab_argument_count, words = simtlab_block_count + 3 * n + 1;
  counted = mmap(NULL, words * sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (counted == MAP_FAILED) {
    counted = NULL;
    return 0;
  }
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    counting = 1;
    return 1;
  }
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  if (survey) {
    for (uint64_t i = 0; i < simtlab_block_count; i++) work[calls] += counted[i];
    munmap(counted, words * sizeof *counted);
    counted = NULL;
  }
  return 0;
}

void simtlab_counted(void) {
  uint64_t* to = counted;
  const uint64_t n = simtlab_argument_count;
  memcpy(to, simtlab_blocks, simtlab_block_count * sizeof *to);
  memcpy(to + simtlab_block_count, simtlab_low, n * sizeof *to);
  memcpy(to + simtlab_block_count + n, simtlab_high, n * sizeof *to);
  memcpy(to + simtlab_block_count + 2 * n, simtlab_written, n * sizeof *to);
  to[simtlab_block_count + 3 * n] = 1;
  _exit(0);
}

static void keep(const char* name) {
  const uint64_t n = simtlab_argument_count;
  const uint64_t *low = counted + simtlab_block_count, *high = low + n;
  const char* limit = getenv("SIMTLAB_LOOPS_LIMIT");
  uint64_t all = 0;
  for (uint64_t i = 0; i < n; i++)
    if (high[i] > low[i]) all += high[i] - low[i];
  if (limit == NULL || all > strtoull(limit, NULL, 10)) return;
  for (unsigned i = 0; i < n; i++) {
    if (high[i] <= low[i]) continue;
    FILE* f = open_file(name, i, "wb");
    if (f == NULL) continue;
    fwrite((const void*)(uintptr_t)low[i], 1, high[i] - low[i], f);
    fclose(f);
  }
}

static int is_counted(void) { return counted != NULL && calls == wanted_call() && counted[simtlab_block_count + 3 * simtlab_argument_count] == 1; }

void simtlab_before(void) {
  if (is_counted()) {
    const uint64_t n = simtlab_argument_count;
    const uint64_t *low = counted + simtlab_block_count, *high = low + n, *written = high + n;
    FILE* f = open_file("%s/counts", 0, "w");
    if (f != NULL) {
      for (uint64_t i = 0; i < simtlab_block_count; i++) fprintf(f, "block %llu\n", (unsigned long long)counted[i]);
      for (uint64_t i = 0; i < n && i < most_arguments; i++)
        fprintf(f, "argument %llu %llu %llu %llu\n", (unsigned long long)arguments[i], (unsigned long long)low[i], (unsigned long long)high[i],
                (unsigned long long)written[i]);
      fclose(f);
    }
    keep("%s/before.%u");
  }
  begun = now();
}

void simtlab_after(void) {
  const uint64_t end = now();
  if (is_counted()) keep("%s/after.%u");
  if (calls < most_calls) times[calls] = end - begun;
  calls++;
}
