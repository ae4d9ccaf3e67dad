/* A memory for simtlab: the C interface of `simtlab run --dram plugin:/path/library.so?config=TEXT`
 * (docs/guide/plugins.md).
 *
 * A plug-in is a shared library that exports two symbols:
 *
 *   const uint32_t simtlab_memory_abi = SIMTLAB_MEMORY_ABI;
 *   const simtlab_memory_plugin *simtlab_memory_get_plugin(void);
 *
 * simtlab makes one instance for each memory channel of the GPU (several in a process, all used from one
 * thread) and drives it in clocks of the memory:
 *
 *   create                     time is 0: clock 0 has not been run
 *   advance(c)                 runs all clocks before c; c never goes back
 *   will_accept, add           at the time of the last advance; the access may be scheduled in that very
 * clock destroy
 *
 * An access is one transaction of access_bytes, a read or a write, with a number (id) that simtlab gives.
 * Each is reported as done exactly once, from within advance: a read when its data is there, a write when the
 * memory has taken responsibility for it.
 *
 * Functions return 0 for success. No exception may leave them. Strings are UTF-8 and end with 0. A plug-in
 * may not keep pointers that it was given beyond the call, and its own strings must live as long as the
 * instance, or until the next call for it.
 */
#ifndef SIMTLAB_MEMORY_PLUGIN_H
#define SIMTLAB_MEMORY_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every incompatible change. Members are only ever added at the end of simtlab_memory_plugin;
 * `size` says how many a plug-in has. */
#define SIMTLAB_MEMORY_ABI 1u

/* No event, as next_event() returns it. */
#define SIMTLAB_MEMORY_NEVER UINT64_MAX

/* An instance: one channel. Its contents are the plug-in's. */
typedef struct simtlab_memory simtlab_memory;

typedef struct simtlab_memory_info {
  double clock_period_ps;       /* of the clocks of advance(); above 0 */
  double peak_bytes_per_second; /* of one channel; 0: unknown */
  uint64_t capacity_bytes;      /* of one channel; 0: unknown. Addresses are below it. */
  uint32_t access_bytes;        /* a power of two from 4 to 4096 */
} simtlab_memory_info;

/* How the values of several channels become one. */
enum { SIMTLAB_MEMORY_SUM = 0, SIMTLAB_MEMORY_MEAN = 1, SIMTLAB_MEMORY_MAX = 2 };

typedef struct simtlab_memory_statistic {
  const char* name; /* letters, digits, '_' and '.': "row_hits"; reported as dram.plugin.row_hits */
  const char* unit; /* "1" for plain numbers, "pJ", "cycles" */
  double value;     /* finite */
  int combine;      /* SIMTLAB_MEMORY_SUM ... */
} simtlab_memory_statistic;

/* cycle: the clock in which the access was done; not before the last advance, and before the clock advance()
 * runs to. */
typedef void (*simtlab_memory_done)(void* context, uint64_t id, uint64_t cycle);

typedef struct simtlab_memory_plugin {
  uint32_t size;    /* sizeof(simtlab_memory_plugin) */
  const char* name; /* what it is: "DRAMsim3 1.0.0" */

  /* NULL on failure, with a sentence in `error` (cut to `error_bytes`, with the 0). config: the text after
   * ?config=, may be empty. channel: of `channels`, from 0. */
  simtlab_memory* (*create)(const char* config, uint32_t channel, uint32_t channels, char* error,
                            size_t error_bytes);
  void (*destroy)(simtlab_memory* memory);
  int (*info)(const simtlab_memory* memory, simtlab_memory_info* info);

  /* Not 0 if the access can be added now. The answer holds until the next add or advance. An instance that
   * has nothing under way takes any access. */
  int (*will_accept)(simtlab_memory* memory, uint64_t address, int is_write);
  /* Only after will_accept said yes. source: who asks (an SM), for schedulers that are fair. */
  int (*add)(simtlab_memory* memory, uint64_t address, int is_write, uint32_t source, uint64_t id);
  /* Runs the clocks before `cycle`; calls done(context, ...) for each access that is done in them. */
  int (*advance)(simtlab_memory* memory, uint64_t cycle, simtlab_memory_done done, void* context);

  /* The rest may be NULL. */

  /* The first clock, not before that of the last advance, in which an access can be done or will_accept can
   * change its answer; SIMTLAB_MEMORY_NEVER: none until the next add. Without it simtlab runs every clock
   * while accesses are under way. */
  uint64_t (*next_event)(const simtlab_memory* memory);
  /* Fills at most `room` statistics and returns how many there are. Called when a kernel has ended. */
  uint32_t (*statistics)(simtlab_memory* memory, simtlab_memory_statistic* statistics, uint32_t room);
  /* What went wrong in the last call that did not return 0. */
  const char* (*last_error)(const simtlab_memory* memory);
  /* As if created anew. Without it simtlab destroys the instance before a kernel and creates another. */
  int (*reset)(simtlab_memory* memory);
} simtlab_memory_plugin;

#if defined(__GNUC__)
#define SIMTLAB_MEMORY_EXPORT __attribute__((visibility("default")))
#else
#define SIMTLAB_MEMORY_EXPORT
#endif

extern SIMTLAB_MEMORY_EXPORT const uint32_t simtlab_memory_abi;
SIMTLAB_MEMORY_EXPORT const simtlab_memory_plugin* simtlab_memory_get_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
