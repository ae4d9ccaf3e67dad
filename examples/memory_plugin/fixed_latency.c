/* A memory of fixed latency for simtlab: the smallest useful plug-in, to start one's own from.
 *
 *   cc -O2 -shared -fPIC -I/path/to/simtlab/include -o fixed_latency.so fixed_latency.c
 *   simtlab run app.cu --gpu gtx480 --dram "plugin:./fixed_latency.so?config=latency=40,room=32"
 *
 * Each channel holds `room` accesses of 64 bytes, finishes every one `latency` clocks of 1 ns after it came, and starts one a clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simtlab/memory_plugin.h"

struct simtlab_memory {
  unsigned latency, room;
  unsigned first, count;           /* accesses under way, oldest first: a ring of `room` */
  uint64_t *id, *at;
  uint64_t now;                    /* clocks before have been run */
  uint64_t free_at;                /* the next access starts no earlier */
  uint64_t reads, writes;
};

static simtlab_memory *create(const char *config, uint32_t channel, uint32_t channels, char *error, size_t error_bytes) {
  unsigned latency = 40, room = 32;
  (void)channel;
  (void)channels;
  if (*config != 0 && sscanf(config, "latency=%u,room=%u", &latency, &room) < 1) {
    snprintf(error, error_bytes, "'%s' is not of the form latency=40,room=32", config);
    return NULL;
  }
  if (latency == 0 || room == 0 || room > 65536) {
    snprintf(error, error_bytes, "latency and room must be above 0, room at most 65536");
    return NULL;
  }
  simtlab_memory *m = calloc(1, sizeof *m);
  if (m != NULL) {
    m->latency = latency;
    m->room = room;
    m->id = calloc(room, sizeof *m->id);
    m->at = calloc(room, sizeof *m->at);
  }
  if (m == NULL || m->id == NULL || m->at == NULL) snprintf(error, error_bytes, "out of memory");
  return m;
}

static void destroy(simtlab_memory *m) {
  free(m->id);
  free(m->at);
  free(m);
}

static int info(const simtlab_memory *m, simtlab_memory_info *out) {
  (void)m;
  out->clock_period_ps = 1000;
  out->access_bytes = 64;
  out->peak_bytes_per_second = 64e9;
  out->capacity_bytes = 0;
  return 0;
}

static int will_accept(simtlab_memory *m, uint64_t address, int is_write) {
  (void)address;
  (void)is_write;
  return m->count < m->room;
}

static int add(simtlab_memory *m, uint64_t address, int is_write, uint32_t source, uint64_t id) {
  (void)address;
  (void)source;
  const unsigned last = (m->first + m->count++) % m->room;
  const uint64_t start = m->free_at > m->now ? m->free_at : m->now;
  m->id[last] = id;
  m->at[last] = start + m->latency;
  m->free_at = start + 1;
  ++*(is_write ? &m->writes : &m->reads);
  return 0;
}

static int advance(simtlab_memory *m, uint64_t cycle, simtlab_memory_done done, void *context) {
  while (m->count > 0 && m->at[m->first] < cycle) {
    done(context, m->id[m->first], m->at[m->first]);
    m->first = (m->first + 1) % m->room;
    --m->count;
  }
  m->now = cycle;
  return 0;
}

static uint64_t next_event(const simtlab_memory *m) { return m->count > 0 ? m->at[m->first] : SIMTLAB_MEMORY_NEVER; }

static uint32_t statistics(simtlab_memory *m, simtlab_memory_statistic *out, uint32_t room) {
  const simtlab_memory_statistic all[] = {{"reads", "1", (double)m->reads, SIMTLAB_MEMORY_SUM},
                                          {"writes", "1", (double)m->writes, SIMTLAB_MEMORY_SUM}};
  const uint32_t n = sizeof all / sizeof all[0];
  memcpy(out, all, (room < n ? room : n) * sizeof all[0]);
  return n;
}

static const simtlab_memory_plugin plugin = {
    sizeof plugin, "fixed latency", create, destroy, info, will_accept, add, advance, next_event, statistics, NULL, NULL};

const uint32_t simtlab_memory_abi = SIMTLAB_MEMORY_ABI;
const simtlab_memory_plugin *simtlab_memory_get_plugin(void) { return &plugin; }
