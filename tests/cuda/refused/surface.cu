// Writing to a surface.
__global__ void k(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, 4, 1); }
int main() {}
