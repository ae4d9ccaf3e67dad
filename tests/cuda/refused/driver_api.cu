// Contexts and modules of the driver API.
#include <cuda.h>
int main() {
  CUcontext context;
  return cuInit(0) + cuCtxCreate(&context, 0, 0);
}
