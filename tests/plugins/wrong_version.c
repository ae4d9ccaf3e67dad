/* A plug-in for an interface of the future: its table must not be touched. */
#include "simtlab/memory_plugin.h"

const uint32_t simtlab_memory_abi = SIMTLAB_MEMORY_ABI + 1;
const simtlab_memory_plugin *simtlab_memory_get_plugin(void) { return (const simtlab_memory_plugin *)8; }
