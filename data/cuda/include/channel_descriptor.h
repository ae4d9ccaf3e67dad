// cudaCreateChannelDesc<T>() for the scalar and vector types.
#pragma once

#include "cuda_runtime_api.h"

#ifdef __cplusplus
template <class T>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc() {
  return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<char>() {
  return cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindSigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<signed char>() {
  return cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindSigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<unsigned char>() {
  return cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<short>() {
  return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindSigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<unsigned short>() {
  return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindUnsigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<int>() {
  return cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<unsigned int>() {
  return cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindUnsigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<float>() {
  return cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<char1>() {
  return cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindSigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<char2>() {
  return cudaCreateChannelDesc(8, 8, 0, 0, cudaChannelFormatKindSigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<char4>() {
  return cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindSigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<uchar1>() {
  return cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<uchar2>() {
  return cudaCreateChannelDesc(8, 8, 0, 0, cudaChannelFormatKindUnsigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<uchar4>() {
  return cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<short1>() {
  return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindSigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<short2>() {
  return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindSigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<short4>() {
  return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindSigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<ushort1>() {
  return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindUnsigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<ushort2>() {
  return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindUnsigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<ushort4>() {
  return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindUnsigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<int1>() {
  return cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<int2>() {
  return cudaCreateChannelDesc(32, 32, 0, 0, cudaChannelFormatKindSigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<int4>() {
  return cudaCreateChannelDesc(32, 32, 32, 32, cudaChannelFormatKindSigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<uint1>() {
  return cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindUnsigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<uint2>() {
  return cudaCreateChannelDesc(32, 32, 0, 0, cudaChannelFormatKindUnsigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<uint4>() {
  return cudaCreateChannelDesc(32, 32, 32, 32, cudaChannelFormatKindUnsigned);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<float1>() {
  return cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<float2>() {
  return cudaCreateChannelDesc(32, 32, 0, 0, cudaChannelFormatKindFloat);
}
template <>
inline __host__ cudaChannelFormatDesc cudaCreateChannelDesc<float4>() {
  return cudaCreateChannelDesc(32, 32, 32, 32, cudaChannelFormatKindFloat);
}
#endif
