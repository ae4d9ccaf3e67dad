// Texture gathering.
__global__ void k(cudaTextureObject_t t, float4* o) { *o = tex2Dgather<float4>(t, 0, 0, 0); }
int main() {}
