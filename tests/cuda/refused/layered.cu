// A layered texture.
__global__ void k(cudaTextureObject_t t, float* o) { *o = tex2DLayered<float>(t, 0, 0, 1); }
int main() {}
