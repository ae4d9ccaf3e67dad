// A memory pool of the program's own.
int main() {
  cudaMemPool_t pool;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  return cudaMemPoolCreate(&pool, &properties) != cudaErrorNotSupported;
}
