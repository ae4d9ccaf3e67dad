// Texture fetches for objects and legacy references: linear memory by index, 1D, 2D and 3D by coordinate.
// The instruction returns four components; the element type says how many are kept. Layered, cube, mipmapped and gather
// fetches are not declared: using one is a compile-time error rather than a wrong result.
#pragma once

#if __cplusplus >= 201103L
namespace simtlab_detail {
template <class T> struct Texel;  // how an element type is fetched and rebuilt

struct FetchS32 { typedef int Raw; };
struct FetchU32 { typedef unsigned int Raw; };
struct FetchF32 { typedef float Raw; };

template <>
struct Texel<char> {
  typedef FetchS32 Kind;
  typedef float Normalized;
  static __device__ char make(int x, int y, int z, int w) { return (char)x; }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return x; }
};
template <>
struct Texel<signed char> {
  typedef FetchS32 Kind;
  typedef float Normalized;
  static __device__ signed char make(int x, int y, int z, int w) { return (signed char)x; }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return x; }
};
template <>
struct Texel<unsigned char> {
  typedef FetchU32 Kind;
  typedef float Normalized;
  static __device__ unsigned char make(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return (unsigned char)x; }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return x; }
};
template <>
struct Texel<short> {
  typedef FetchS32 Kind;
  typedef float Normalized;
  static __device__ short make(int x, int y, int z, int w) { return (short)x; }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return x; }
};
template <>
struct Texel<unsigned short> {
  typedef FetchU32 Kind;
  typedef float Normalized;
  static __device__ unsigned short make(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return (unsigned short)x; }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return x; }
};
template <>
struct Texel<int> {
  typedef FetchS32 Kind;
  typedef float Normalized;
  static __device__ int make(int x, int y, int z, int w) { return (int)x; }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return x; }
};
template <>
struct Texel<unsigned int> {
  typedef FetchU32 Kind;
  typedef float Normalized;
  static __device__ unsigned int make(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return (unsigned int)x; }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return x; }
};
template <>
struct Texel<float> {
  typedef FetchF32 Kind;
  typedef float Normalized;
  static __device__ float make(float x, float y, float z, float w) { return (float)x; }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return x; }
};
template <>
struct Texel<char2> {
  typedef FetchS32 Kind;
  typedef float2 Normalized;
  static __device__ char2 make(int x, int y, int z, int w) { return make_char2((signed char)x, (signed char)y); }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return make_float2(x, y); }
};
template <>
struct Texel<char4> {
  typedef FetchS32 Kind;
  typedef float4 Normalized;
  static __device__ char4 make(int x, int y, int z, int w) { return make_char4((signed char)x, (signed char)y, (signed char)z, (signed char)w); }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return make_float4(x, y, z, w); }
};
template <>
struct Texel<uchar2> {
  typedef FetchU32 Kind;
  typedef float2 Normalized;
  static __device__ uchar2 make(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return make_uchar2((unsigned char)x, (unsigned char)y); }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return make_float2(x, y); }
};
template <>
struct Texel<uchar4> {
  typedef FetchU32 Kind;
  typedef float4 Normalized;
  static __device__ uchar4 make(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return make_uchar4((unsigned char)x, (unsigned char)y, (unsigned char)z, (unsigned char)w); }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return make_float4(x, y, z, w); }
};
template <>
struct Texel<short2> {
  typedef FetchS32 Kind;
  typedef float2 Normalized;
  static __device__ short2 make(int x, int y, int z, int w) { return make_short2((short)x, (short)y); }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return make_float2(x, y); }
};
template <>
struct Texel<short4> {
  typedef FetchS32 Kind;
  typedef float4 Normalized;
  static __device__ short4 make(int x, int y, int z, int w) { return make_short4((short)x, (short)y, (short)z, (short)w); }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return make_float4(x, y, z, w); }
};
template <>
struct Texel<ushort2> {
  typedef FetchU32 Kind;
  typedef float2 Normalized;
  static __device__ ushort2 make(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return make_ushort2((unsigned short)x, (unsigned short)y); }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return make_float2(x, y); }
};
template <>
struct Texel<ushort4> {
  typedef FetchU32 Kind;
  typedef float4 Normalized;
  static __device__ ushort4 make(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return make_ushort4((unsigned short)x, (unsigned short)y, (unsigned short)z, (unsigned short)w); }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return make_float4(x, y, z, w); }
};
template <>
struct Texel<int2> {
  typedef FetchS32 Kind;
  typedef float2 Normalized;
  static __device__ int2 make(int x, int y, int z, int w) { return make_int2((int)x, (int)y); }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return make_float2(x, y); }
};
template <>
struct Texel<int4> {
  typedef FetchS32 Kind;
  typedef float4 Normalized;
  static __device__ int4 make(int x, int y, int z, int w) { return make_int4((int)x, (int)y, (int)z, (int)w); }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return make_float4(x, y, z, w); }
};
template <>
struct Texel<uint2> {
  typedef FetchU32 Kind;
  typedef float2 Normalized;
  static __device__ uint2 make(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return make_uint2((unsigned int)x, (unsigned int)y); }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return make_float2(x, y); }
};
template <>
struct Texel<uint4> {
  typedef FetchU32 Kind;
  typedef float4 Normalized;
  static __device__ uint4 make(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return make_uint4((unsigned int)x, (unsigned int)y, (unsigned int)z, (unsigned int)w); }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return make_float4(x, y, z, w); }
};
template <>
struct Texel<float2> {
  typedef FetchF32 Kind;
  typedef float2 Normalized;
  static __device__ float2 make(float x, float y, float z, float w) { return make_float2((float)x, (float)y); }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return make_float2(x, y); }
};
template <>
struct Texel<float4> {
  typedef FetchF32 Kind;
  typedef float4 Normalized;
  static __device__ float4 make(float x, float y, float z, float w) { return make_float4((float)x, (float)y, (float)z, (float)w); }
  static __device__ Normalized make_normalized(float x, float y, float z, float w) { return make_float4(x, y, z, w); }
};

// One instruction for each geometry and result type.
template <class T>
static __inline__ __device__ T fetch_1d_fetch(FetchS32, cudaTextureObject_t t, int c0) {
  int x, y, z, w;
  asm volatile("tex.1d.v4.s32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
               : "l"(t), "r"(c0));
  return Texel<T>::make(x, y, z, w);
}
template <class T>
static __inline__ __device__ T fetch_1d_fetch(FetchU32, cudaTextureObject_t t, int c0) {
  unsigned int x, y, z, w;
  asm volatile("tex.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
               : "l"(t), "r"(c0));
  return Texel<T>::make(x, y, z, w);
}
template <class T>
static __inline__ __device__ T fetch_1d_fetch(FetchF32, cudaTextureObject_t t, int c0) {
  float x, y, z, w;
  asm volatile("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
               : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
               : "l"(t), "r"(c0));
  return Texel<T>::make(x, y, z, w);
}
template <class T>
static __inline__ __device__ typename Texel<T>::Normalized fetch_normalized_1d_fetch(cudaTextureObject_t t, int c0) {
  float x, y, z, w;
  asm volatile("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
               : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
               : "l"(t), "r"(c0));
  return Texel<T>::make_normalized(x, y, z, w);
}
template <class T>
static __inline__ __device__ T fetch_1d(FetchS32, cudaTextureObject_t t, float c0) {
  int x, y, z, w;
  asm volatile("tex.1d.v4.s32.f32 {%0, %1, %2, %3}, [%4, {%5}];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
               : "l"(t), "f"(c0));
  return Texel<T>::make(x, y, z, w);
}
template <class T>
static __inline__ __device__ T fetch_1d(FetchU32, cudaTextureObject_t t, float c0) {
  unsigned int x, y, z, w;
  asm volatile("tex.1d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5}];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
               : "l"(t), "f"(c0));
  return Texel<T>::make(x, y, z, w);
}
template <class T>
static __inline__ __device__ T fetch_1d(FetchF32, cudaTextureObject_t t, float c0) {
  float x, y, z, w;
  asm volatile("tex.1d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5}];"
               : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
               : "l"(t), "f"(c0));
  return Texel<T>::make(x, y, z, w);
}
template <class T>
static __inline__ __device__ typename Texel<T>::Normalized fetch_normalized_1d(cudaTextureObject_t t, float c0) {
  float x, y, z, w;
  asm volatile("tex.1d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5}];"
               : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
               : "l"(t), "f"(c0));
  return Texel<T>::make_normalized(x, y, z, w);
}
template <class T>
static __inline__ __device__ T fetch_2d(FetchS32, cudaTextureObject_t t, float c0, float c1) {
  int x, y, z, w;
  asm volatile("tex.2d.v4.s32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
               : "l"(t), "f"(c0), "f"(c1));
  return Texel<T>::make(x, y, z, w);
}
template <class T>
static __inline__ __device__ T fetch_2d(FetchU32, cudaTextureObject_t t, float c0, float c1) {
  unsigned int x, y, z, w;
  asm volatile("tex.2d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
               : "l"(t), "f"(c0), "f"(c1));
  return Texel<T>::make(x, y, z, w);
}
template <class T>
static __inline__ __device__ T fetch_2d(FetchF32, cudaTextureObject_t t, float c0, float c1) {
  float x, y, z, w;
  asm volatile("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
               : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
               : "l"(t), "f"(c0), "f"(c1));
  return Texel<T>::make(x, y, z, w);
}
template <class T>
static __inline__ __device__ typename Texel<T>::Normalized fetch_normalized_2d(cudaTextureObject_t t, float c0, float c1) {
  float x, y, z, w;
  asm volatile("tex.2d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
               : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
               : "l"(t), "f"(c0), "f"(c1));
  return Texel<T>::make_normalized(x, y, z, w);
}
template <class T>
static __inline__ __device__ T fetch_3d(FetchS32, cudaTextureObject_t t, float c0, float c1, float c2) {
  int x, y, z, w;
  asm volatile("tex.3d.v4.s32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
               : "l"(t), "f"(c0), "f"(c1), "f"(c2));
  return Texel<T>::make(x, y, z, w);
}
template <class T>
static __inline__ __device__ T fetch_3d(FetchU32, cudaTextureObject_t t, float c0, float c1, float c2) {
  unsigned int x, y, z, w;
  asm volatile("tex.3d.v4.u32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
               : "l"(t), "f"(c0), "f"(c1), "f"(c2));
  return Texel<T>::make(x, y, z, w);
}
template <class T>
static __inline__ __device__ T fetch_3d(FetchF32, cudaTextureObject_t t, float c0, float c1, float c2) {
  float x, y, z, w;
  asm volatile("tex.3d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
               : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
               : "l"(t), "f"(c0), "f"(c1), "f"(c2));
  return Texel<T>::make(x, y, z, w);
}
template <class T>
static __inline__ __device__ typename Texel<T>::Normalized fetch_normalized_3d(cudaTextureObject_t t, float c0, float c1, float c2) {
  float x, y, z, w;
  asm volatile("tex.3d.v4.f32.f32 {%0, %1, %2, %3}, [%4, {%5, %6, %7, %7}];"
               : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
               : "l"(t), "f"(c0), "f"(c1), "f"(c2));
  return Texel<T>::make_normalized(x, y, z, w);
}

// The handle of a texture reference: clang passes the variable as a 64-bit handle.
template <class T>
static __inline__ __device__ cudaTextureObject_t handle(T reference) {
  cudaTextureObject_t t;
  asm("mov.b64 %0, %1;" : "=l"(t) : "l"(reference));
  return t;
}
}  // namespace simtlab_detail

// Objects.
template <class T>
static __inline__ __device__ T tex1Dfetch(cudaTextureObject_t t, int x) {
  return simtlab_detail::fetch_1d_fetch<T>(typename simtlab_detail::Texel<T>::Kind(), t, x);
}
template <class T>
static __inline__ __device__ void tex1Dfetch(T* result, cudaTextureObject_t t, int x) {
  *result = tex1Dfetch<T>(t, x);
}
template <class T>
static __inline__ __device__ T tex1Dfetch(texture<T, 1, cudaReadModeElementType> t, int x) {
  return tex1Dfetch<T>(simtlab_detail::handle(t), x);
}
template <class T>
static __inline__ __device__ typename simtlab_detail::Texel<T>::Normalized tex1Dfetch(
    texture<T, 1, cudaReadModeNormalizedFloat> t, int x) {
  return simtlab_detail::fetch_normalized_1d_fetch<T>(simtlab_detail::handle(t), x);
}
template <class T>
static __inline__ __device__ T tex1D(cudaTextureObject_t t, float x) {
  return simtlab_detail::fetch_1d<T>(typename simtlab_detail::Texel<T>::Kind(), t, x);
}
template <class T>
static __inline__ __device__ void tex1D(T* result, cudaTextureObject_t t, float x) {
  *result = tex1D<T>(t, x);
}
template <class T>
static __inline__ __device__ T tex1D(texture<T, 1, cudaReadModeElementType> t, float x) {
  return tex1D<T>(simtlab_detail::handle(t), x);
}
template <class T>
static __inline__ __device__ typename simtlab_detail::Texel<T>::Normalized tex1D(
    texture<T, 1, cudaReadModeNormalizedFloat> t, float x) {
  return simtlab_detail::fetch_normalized_1d<T>(simtlab_detail::handle(t), x);
}
template <class T>
static __inline__ __device__ T tex2D(cudaTextureObject_t t, float x, float y) {
  return simtlab_detail::fetch_2d<T>(typename simtlab_detail::Texel<T>::Kind(), t, x, y);
}
template <class T>
static __inline__ __device__ void tex2D(T* result, cudaTextureObject_t t, float x, float y) {
  *result = tex2D<T>(t, x, y);
}
template <class T>
static __inline__ __device__ T tex2D(texture<T, 2, cudaReadModeElementType> t, float x, float y) {
  return tex2D<T>(simtlab_detail::handle(t), x, y);
}
template <class T>
static __inline__ __device__ typename simtlab_detail::Texel<T>::Normalized tex2D(
    texture<T, 2, cudaReadModeNormalizedFloat> t, float x, float y) {
  return simtlab_detail::fetch_normalized_2d<T>(simtlab_detail::handle(t), x, y);
}
template <class T>
static __inline__ __device__ T tex3D(cudaTextureObject_t t, float x, float y, float z) {
  return simtlab_detail::fetch_3d<T>(typename simtlab_detail::Texel<T>::Kind(), t, x, y, z);
}
template <class T>
static __inline__ __device__ void tex3D(T* result, cudaTextureObject_t t, float x, float y, float z) {
  *result = tex3D<T>(t, x, y, z);
}
template <class T>
static __inline__ __device__ T tex3D(texture<T, 3, cudaReadModeElementType> t, float x, float y, float z) {
  return tex3D<T>(simtlab_detail::handle(t), x, y, z);
}
template <class T>
static __inline__ __device__ typename simtlab_detail::Texel<T>::Normalized tex3D(
    texture<T, 3, cudaReadModeNormalizedFloat> t, float x, float y, float z) {
  return simtlab_detail::fetch_normalized_3d<T>(simtlab_detail::handle(t), x, y, z);
}
#endif
