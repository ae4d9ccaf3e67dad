// Texture references and objects: linear memory, arrays, pitched memory; filtering, addressing, normalised reads.
#include <cmath>

#include "check.h"

texture<float, 1, cudaReadModeElementType> line;
texture<float, 2, cudaReadModeElementType> image;
texture<uchar4, 2, cudaReadModeNormalizedFloat> colours;
texture<int2, 1> doubles;

const int width = 8, height = 4, texels = width * height;

__global__ void references(float* o) {
  const int i = threadIdx.x;
  o[i] = tex1Dfetch(line, i);
  o[texels + i] = tex2D(image, i % width + 0.5f, i / width + 0.5f);
  const float4 c = tex2D(colours, i % width, i / width);
  o[2 * texels + i] = c.x + c.w;
  const int2 v = tex1Dfetch(doubles, i);
  o[3 * texels + i] = (float)__hiloint2double(v.y, v.x);
}
__global__ void objects(cudaTextureObject_t linear, cudaTextureObject_t border, cudaTextureObject_t smooth,
                        cudaTextureObject_t wrapped, cudaTextureObject_t solid, float* o) {
  const int i = threadIdx.x;
  o[i] = tex1Dfetch<float>(linear, i);
  o[texels + i] = tex2D<float>(border, i - 4 + 0.5f, 2.5f);
  o[2 * texels + i] = tex2D<float>(smooth, i / 4.0f, 1.3f);
  o[3 * texels + i] = tex2D<float>(wrapped, i / 16.0f + 0.01f, 0.5f);
  o[4 * texels + i] = tex3D<float>(solid, (i & 3) + 0.5f, (i >> 2 & 3) + 0.5f, (i >> 4) + 0.5f);
  tex2D(&o[5 * texels + i], border, 1.5f, 1.5f);
}
__global__ void bytes(cudaTextureObject_t raw, uchar4* whole, cudaTextureObject_t normal, float4* fractions) {
  const int i = threadIdx.x;
  whole[i] = tex2D<uchar4>(raw, i % width, i / width);
  fractions[i] = tex2D<float4>(normal, i % width, i / width);
}
static int clamp(int v, int n) { return v < 0 ? 0 : v >= n ? n - 1 : v; }

int main() {
  Shared<float> a(texels), o(6 * texels);
  Shared<double> d(texels);
  for (int i = 0; i < texels; ++i) {
    a[i] = i * i * 0.5f;
    d[i] = i * 1.25;
  }
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array, cube;
  CUDA(cudaMallocArray(&array, &format, width, height));
  CUDA(cudaMemcpyToArray(array, 0, 0, a.p, texels * sizeof(float), cudaMemcpyHostToDevice));
  uchar4 pixels[texels], *device_pixels;
  size_t pitch;
  for (int i = 0; i < texels; ++i) pixels[i] = make_uchar4(i, 0, 0, 255 - i);
  CUDA(cudaMallocPitch(&device_pixels, &pitch, width * 4, height));
  CUDA(cudaMemcpy2D(device_pixels, pitch, pixels, width * 4, width * 4, height, cudaMemcpyHostToDevice));

  CUDA(cudaBindTexture(nullptr, line, a.p, texels * sizeof(float)));
  CUDA(cudaBindTexture(nullptr, doubles, d.p, texels * sizeof(double)));
  CUDA(cudaBindTextureToArray(image, array, format));
  CUDA(cudaBindTexture2D(nullptr, colours, device_pixels, cudaCreateChannelDesc<uchar4>(), width, height, pitch));
  references<<<1, texels>>>(o.p);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < texels; ++i) {
    EXPECT_EQ_AT(i, o[i], a[i]);
    EXPECT_EQ_AT(i, o[texels + i], a[i]);
    EXPECT(fabsf(o[2 * texels + i] - 1.0f) < 1e-6f);
    EXPECT_EQ_AT(i, o[3 * texels + i], (float)d[i]);
  }
  CUDA(cudaUnbindTexture(line));

  cudaResourceDesc linear = {}, flat = {}, deep = {}, rows = {};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = a.p;
  linear.res.linear.desc = format;
  linear.res.linear.sizeInBytes = texels * sizeof(float);
  flat.resType = cudaResourceTypeArray;
  flat.res.array.array = array;
  CUDA(cudaMalloc3DArray(&cube, &format, make_cudaExtent(4, 4, 2)));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(a.p, 16, 4, 4);
  copy.dstArray = cube;
  copy.extent = make_cudaExtent(4, 4, 2);
  copy.kind = cudaMemcpyHostToDevice;
  CUDA(cudaMemcpy3D(&copy));
  deep.resType = cudaResourceTypeArray;
  deep.res.array.array = cube;
  cudaTextureDesc plain = {}, border = {}, smooth = {}, wrapped = {};
  border.addressMode[0] = cudaAddressModeBorder;
  border.addressMode[1] = cudaAddressModeClamp;
  smooth.addressMode[0] = smooth.addressMode[1] = cudaAddressModeClamp;
  smooth.filterMode = cudaFilterModeLinear;
  wrapped.addressMode[0] = cudaAddressModeWrap;
  wrapped.addressMode[1] = cudaAddressModeMirror;
  wrapped.normalizedCoords = 1;
  cudaTextureObject_t t[7];
  CUDA(cudaCreateTextureObject(&t[0], &linear, &plain, nullptr));
  CUDA(cudaCreateTextureObject(&t[1], &flat, &border, nullptr));
  CUDA(cudaCreateTextureObject(&t[2], &flat, &smooth, nullptr));
  CUDA(cudaCreateTextureObject(&t[3], &flat, &wrapped, nullptr));
  CUDA(cudaCreateTextureObject(&t[4], &deep, &plain, nullptr));
  objects<<<1, texels>>>(t[0], t[1], t[2], t[3], t[4], o.p);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < texels; ++i) {
    EXPECT_EQ_AT(i, o[i], a[i]);
    EXPECT_EQ_AT(i, o[texels + i], i < 4 || i >= 12 ? 0.0f : a[2 * width + i - 4]);
    // Linear filtering with weights of eight fraction bits.
    const float x = i / 4.0f - 0.5f, y = 1.3f - 0.5f;
    const int xi = (int)floorf(x), yi = (int)floorf(y);
    const float fx = floorf((x - xi) * 256 + 0.5f) / 256, fy = floorf((y - yi) * 256 + 0.5f) / 256;
    const auto at = [&](int column, int row) { return a[clamp(row, height) * width + clamp(column, width)]; };
    const float wanted = (1 - fy) * ((1 - fx) * at(xi, yi) + fx * at(xi + 1, yi)) + fy * ((1 - fx) * at(xi, yi + 1) + fx * at(xi + 1, yi + 1));
    if (!(fabsf(o[2 * texels + i] - wanted) <= 1e-3f * wanted + 1e-4f)) EXPECT_EQ_AT(i, o[2 * texels + i], wanted);
    const float u = i / 16.0f + 0.01f;
    EXPECT_EQ_AT(i, o[3 * texels + i], a[2 * width + (int)((u - floorf(u)) * width)]);
    EXPECT_EQ_AT(i, o[4 * texels + i], a[i]);
    EXPECT_EQ_AT(i, o[5 * texels + i], a[width + 1]);
  }

  Shared<uchar4> whole(texels);
  Shared<float4> fractions(texels);
  rows.resType = cudaResourceTypePitch2D;
  rows.res.pitch2D.devPtr = device_pixels;
  rows.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
  rows.res.pitch2D.width = width;
  rows.res.pitch2D.height = height;
  rows.res.pitch2D.pitchInBytes = pitch;
  CUDA(cudaCreateTextureObject(&t[5], &rows, &plain, nullptr));
  plain.readMode = cudaReadModeNormalizedFloat;
  CUDA(cudaCreateTextureObject(&t[6], &rows, &plain, nullptr));
  bytes<<<1, texels>>>(t[5], whole.p, t[6], fractions.p);
  CUDA(cudaDeviceSynchronize());
  for (int i = 0; i < texels; ++i) {
    EXPECT_EQ_AT(i, (int)whole[i].x, i);
    EXPECT_EQ_AT(i, (int)whole[i].w, 255 - i);
    EXPECT(fabsf(fractions[i].w - (255 - i) / 255.0f) < 1e-6f);
  }
  for (cudaTextureObject_t object : t) CUDA(cudaDestroyTextureObject(object));
  CUDA(cudaFreeArray(array));
  CUDA(cudaFreeArray(cube));
  CUDA(cudaFree(device_pixels));
  return verdict("textures");
}
