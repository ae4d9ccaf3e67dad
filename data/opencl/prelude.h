// Read before every OpenCL C source that simtlab compiles: what clang and libclc leave open on this target.
//
// - native_* become the approximate instructions of the hardware; libclc has no lowering for them here.
// - Work-item functions that need a value of the launch read it from the constant simtlab_launch, which simtlab fills in. An
//   offset of the global ids costs instructions: it is compiled in only for launches that have one (SIMTLAB_GLOBAL_OFFSET).
// - Images, samplers and pipes don't exist on the simulated device; naming one says so.
// No line here counts: the user's file keeps its own line numbers.

#define SIMTLAB_INLINE static inline __attribute__((overloadable, always_inline, unused))

// f(x) and f(x, y) for the vectors, from the one for float.
#define SIMTLAB_VECTORS_1(f)                                                                                        \
  SIMTLAB_INLINE float2 f(float2 x) { return (float2)(f(x.x), f(x.y)); }                                            \
  SIMTLAB_INLINE float3 f(float3 x) { return (float3)(f(x.x), f(x.y), f(x.z)); }                                    \
  SIMTLAB_INLINE float4 f(float4 x) { return (float4)(f(x.lo), f(x.hi)); }                                          \
  SIMTLAB_INLINE float8 f(float8 x) { return (float8)(f(x.lo), f(x.hi)); }                                          \
  SIMTLAB_INLINE float16 f(float16 x) { return (float16)(f(x.lo), f(x.hi)); }
#define SIMTLAB_VECTORS_2(f)                                                                                        \
  SIMTLAB_INLINE float2 f(float2 x, float2 y) { return (float2)(f(x.x, y.x), f(x.y, y.y)); }                        \
  SIMTLAB_INLINE float3 f(float3 x, float3 y) { return (float3)(f(x.x, y.x), f(x.y, y.y), f(x.z, y.z)); }           \
  SIMTLAB_INLINE float4 f(float4 x, float4 y) { return (float4)(f(x.lo, y.lo), f(x.hi, y.hi)); }                    \
  SIMTLAB_INLINE float8 f(float8 x, float8 y) { return (float8)(f(x.lo, y.lo), f(x.hi, y.hi)); }                    \
  SIMTLAB_INLINE float16 f(float16 x, float16 y) { return (float16)(f(x.lo, y.lo), f(x.hi, y.hi)); }

SIMTLAB_INLINE float simtlab_sin(float x) { return __nvvm_sin_approx_f(x); }
SIMTLAB_INLINE float simtlab_cos(float x) { return __nvvm_cos_approx_f(x); }
SIMTLAB_INLINE float simtlab_tan(float x) { return __nvvm_div_approx_f(__nvvm_sin_approx_f(x), __nvvm_cos_approx_f(x)); }
SIMTLAB_INLINE float simtlab_exp2(float x) { return __nvvm_ex2_approx_f(x); }
SIMTLAB_INLINE float simtlab_exp(float x) { return __nvvm_ex2_approx_f(x * 0x1.715476p+0f); }
SIMTLAB_INLINE float simtlab_exp10(float x) { return __nvvm_ex2_approx_f(x * 0x1.a934f0p+1f); }
SIMTLAB_INLINE float simtlab_log2(float x) { return __nvvm_lg2_approx_f(x); }
SIMTLAB_INLINE float simtlab_log(float x) { return __nvvm_lg2_approx_f(x) * 0x1.62e430p-1f; }
SIMTLAB_INLINE float simtlab_log10(float x) { return __nvvm_lg2_approx_f(x) * 0x1.344136p-2f; }
SIMTLAB_INLINE float simtlab_sqrt(float x) { return __nvvm_sqrt_approx_f(x); }
SIMTLAB_INLINE float simtlab_rsqrt(float x) { return __nvvm_rsqrt_approx_f(x); }
SIMTLAB_INLINE float simtlab_recip(float x) { return __nvvm_div_approx_f(1.0f, x); }
SIMTLAB_INLINE float simtlab_divide(float x, float y) { return __nvvm_div_approx_f(x, y); }
SIMTLAB_INLINE float simtlab_powr(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }

SIMTLAB_VECTORS_1(simtlab_sin)
SIMTLAB_VECTORS_1(simtlab_cos)
SIMTLAB_VECTORS_1(simtlab_tan)
SIMTLAB_VECTORS_1(simtlab_exp2)
SIMTLAB_VECTORS_1(simtlab_exp)
SIMTLAB_VECTORS_1(simtlab_exp10)
SIMTLAB_VECTORS_1(simtlab_log2)
SIMTLAB_VECTORS_1(simtlab_log)
SIMTLAB_VECTORS_1(simtlab_log10)
SIMTLAB_VECTORS_1(simtlab_sqrt)
SIMTLAB_VECTORS_1(simtlab_rsqrt)
SIMTLAB_VECTORS_1(simtlab_recip)
SIMTLAB_VECTORS_2(simtlab_divide)
SIMTLAB_VECTORS_2(simtlab_powr)

#define native_sin simtlab_sin
#define native_cos simtlab_cos
#define native_tan simtlab_tan
#define native_exp2 simtlab_exp2
#define native_exp simtlab_exp
#define native_exp10 simtlab_exp10
#define native_log2 simtlab_log2
#define native_log simtlab_log
#define native_log10 simtlab_log10
#define native_sqrt simtlab_sqrt
#define native_rsqrt simtlab_rsqrt
#define native_recip simtlab_recip
#define native_divide simtlab_divide
#define native_powr simtlab_powr

#define mad_hi(a, b, c) (mul_hi((a), (b)) + (c))

// Offset of the global ids and number of dimensions of the launch: simtlab declares the variable where one of these is used.
#define SIMTLAB_LAUNCH_VALUE(name, place)                                    \
  SIMTLAB_INLINE uint name(void) {                                           \
    uint value;                                                              \
    __asm__("ld.const.u32 %0, [simtlab_launch+" place "];" : "=r"(value));   \
    return value;                                                            \
  }
SIMTLAB_LAUNCH_VALUE(simtlab_work_dim, "12")
#define get_work_dim simtlab_work_dim
#ifdef SIMTLAB_GLOBAL_OFFSET
SIMTLAB_LAUNCH_VALUE(simtlab_offset_x, "0")
SIMTLAB_LAUNCH_VALUE(simtlab_offset_y, "4")
SIMTLAB_LAUNCH_VALUE(simtlab_offset_z, "8")
SIMTLAB_INLINE size_t simtlab_global_offset(uint d) {
  return d == 0 ? simtlab_offset_x() : d == 1 ? simtlab_offset_y() : d == 2 ? simtlab_offset_z() : 0;
}
SIMTLAB_INLINE size_t simtlab_global_id(uint d) { return get_global_id(d) + simtlab_global_offset(d); }
#define get_global_id simtlab_global_id
#else
SIMTLAB_INLINE size_t simtlab_global_offset(uint d) { return 0; }
#endif
#define get_global_offset simtlab_global_offset

typedef int simtlab_image __attribute__((unavailable("the simulated device has no images, samplers or pipes")));
#define image1d_t simtlab_image
#define image1d_array_t simtlab_image
#define image1d_buffer_t simtlab_image
#define image2d_t simtlab_image
#define image2d_array_t simtlab_image
#define image3d_t simtlab_image
#define sampler_t simtlab_image
#define pipe simtlab_image
#define read_only
#define __read_only
#define write_only
#define __write_only
#define read_imagef(...) ((float4)(0.0f))
#define read_imagei(...) ((int4)(0))
#define read_imageui(...) ((uint4)(0))
#define write_imagef(...) ((void)0)
#define write_imagei(...) ((void)0)
#define write_imageui(...) ((void)0)
