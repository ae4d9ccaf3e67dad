/* A table with nothing in it. */
#include "simtlab/memory_plugin.h"

static const simtlab_memory_plugin plugin = {.size = sizeof plugin, .name = "empty"};

const uint32_t simtlab_memory_abi = SIMTLAB_MEMORY_ABI;
const simtlab_memory_plugin *simtlab_memory_get_plugin(void) { return &plugin; }
