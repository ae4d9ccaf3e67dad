// Synchronising a whole grid.
#include <cooperative_groups.h>
__global__ void k() { cooperative_groups::this_grid().sync(); }
int main() {}
