// The device maths library: the functions that clang's CUDA headers call by the names of NVIDIA's libdevice, all of them our
// own. Compiled to bitcode by the build; what a kernel uses is inlined into it.
// Not there (a kernel that calls one keeps an unresolved name, which the loader reports): Bessel functions.
#include "basic.h"
#include "exp_log.h"
#include "hyperbolic.h"
#include "special.h"
#include "trig.h"

#define EXPORT extern "C" __attribute__((device))


// Elementary functions.
EXPORT double __nv_exp(double a) { return dm::exp(a); }
EXPORT float __nv_expf(float a) { return dm::exp(a); }
EXPORT double __nv_exp2(double a) { return dm::exp2(a); }
EXPORT float __nv_exp2f(float a) { return dm::exp2(a); }
EXPORT double __nv_exp10(double a) { return dm::exp10(a); }
EXPORT float __nv_exp10f(float a) { return dm::exp10(a); }
EXPORT double __nv_expm1(double a) { return dm::expm1(a); }
EXPORT float __nv_expm1f(float a) { return dm::expm1(a); }
EXPORT double __nv_log(double a) { return dm::log(a); }
EXPORT float __nv_logf(float a) { return dm::log(a); }
EXPORT double __nv_log2(double a) { return dm::log2(a); }
EXPORT float __nv_log2f(float a) { return dm::log2(a); }
EXPORT double __nv_log10(double a) { return dm::log10(a); }
EXPORT float __nv_log10f(float a) { return dm::log10(a); }
EXPORT double __nv_log1p(double a) { return dm::log1p(a); }
EXPORT float __nv_log1pf(float a) { return dm::log1p(a); }
EXPORT double __nv_cbrt(double a) { return dm::cbrt(a); }
EXPORT float __nv_cbrtf(float a) { return dm::cbrt(a); }
EXPORT double __nv_rcbrt(double a) { return dm::rcbrt(a); }
EXPORT float __nv_rcbrtf(float a) { return dm::rcbrt(a); }
EXPORT double __nv_sin(double a) { return dm::sin(a); }
EXPORT float __nv_sinf(float a) { return dm::sin(a); }
EXPORT double __nv_cos(double a) { return dm::cos(a); }
EXPORT float __nv_cosf(float a) { return dm::cos(a); }
EXPORT double __nv_tan(double a) { return dm::tan(a); }
EXPORT float __nv_tanf(float a) { return dm::tan(a); }
EXPORT double __nv_sinpi(double a) { return dm::sinpi(a); }
EXPORT float __nv_sinpif(float a) { return dm::sinpi(a); }
EXPORT double __nv_cospi(double a) { return dm::cospi(a); }
EXPORT float __nv_cospif(float a) { return dm::cospi(a); }
EXPORT double __nv_asin(double a) { return dm::asin(a); }
EXPORT float __nv_asinf(float a) { return dm::asin(a); }
EXPORT double __nv_acos(double a) { return dm::acos(a); }
EXPORT float __nv_acosf(float a) { return dm::acos(a); }
EXPORT double __nv_atan(double a) { return dm::atan(a); }
EXPORT float __nv_atanf(float a) { return dm::atan(a); }
EXPORT double __nv_sinh(double a) { return dm::sinh(a); }
EXPORT float __nv_sinhf(float a) { return dm::sinh(a); }
EXPORT double __nv_cosh(double a) { return dm::cosh(a); }
EXPORT float __nv_coshf(float a) { return dm::cosh(a); }
EXPORT double __nv_tanh(double a) { return dm::tanh(a); }
EXPORT float __nv_tanhf(float a) { return dm::tanh(a); }
EXPORT double __nv_asinh(double a) { return dm::asinh(a); }
EXPORT float __nv_asinhf(float a) { return dm::asinh(a); }
EXPORT double __nv_acosh(double a) { return dm::acosh(a); }
EXPORT float __nv_acoshf(float a) { return dm::acosh(a); }
EXPORT double __nv_atanh(double a) { return dm::atanh(a); }
EXPORT float __nv_atanhf(float a) { return dm::atanh(a); }
EXPORT double __nv_erf(double a) { return dm::erf(a); }
EXPORT float __nv_erff(float a) { return dm::erf(a); }
EXPORT double __nv_erfc(double a) { return dm::erfc(a); }
EXPORT float __nv_erfcf(float a) { return dm::erfc(a); }
EXPORT double __nv_erfcx(double a) { return dm::erfcx(a); }
EXPORT float __nv_erfcxf(float a) { return dm::erfcx(a); }
EXPORT double __nv_round(double a) { return dm::round(a); }
EXPORT float __nv_roundf(float a) { return dm::round(a); }
EXPORT double __nv_logb(double a) { return dm::logb(a); }
EXPORT float __nv_logbf(float a) { return dm::logb(a); }
EXPORT double __nv_pow(double a, double b) { return dm::pow(a, b); }
EXPORT float __nv_powf(float a, float b) { return dm::pow(a, b); }
EXPORT double __nv_atan2(double a, double b) { return dm::atan2(a, b); }
EXPORT float __nv_atan2f(float a, float b) { return dm::atan2(a, b); }
EXPORT double __nv_fmod(double a, double b) { return dm::fmod(a, b); }
EXPORT float __nv_fmodf(float a, float b) { return dm::fmod(a, b); }
EXPORT double __nv_remainder(double a, double b) { return dm::remainder(a, b); }
EXPORT float __nv_remainderf(float a, float b) { return dm::remainder(a, b); }
EXPORT double __nv_fdim(double a, double b) { return dm::fdim(a, b); }
EXPORT float __nv_fdimf(float a, float b) { return dm::fdim(a, b); }
EXPORT double __nv_hypot(double a, double b) { return dm::hypot(a, b); }
EXPORT float __nv_hypotf(float a, float b) { return dm::hypot(a, b); }
EXPORT double __nv_rhypot(double a, double b) { return dm::rhypot(a, b); }
EXPORT float __nv_rhypotf(float a, float b) { return dm::rhypot(a, b); }
EXPORT double __nv_nextafter(double a, double b) { return dm::nextafter(a, b); }
EXPORT float __nv_nextafterf(float a, float b) { return dm::nextafter(a, b); }
EXPORT double __nv_powi(double a, int n) { return dm::powi(a, n); }
EXPORT float __nv_powif(float a, int n) { return dm::powi(a, n); }
EXPORT double __nv_remquo(double a, double b, int* q) { return dm::remquo(a, b, q); }
EXPORT float __nv_remquof(float a, float b, int* q) { return dm::remquo(a, b, q); }
EXPORT double __nv_modf(double a, double* whole) { return dm::modf(a, whole); }
EXPORT float __nv_modff(float a, float* whole) { return dm::modf(a, whole); }
EXPORT double __nv_frexp(double a, int* e) { return dm::frexp(a, e); }
EXPORT float __nv_frexpf(float a, int* e) { return dm::frexp(a, e); }
EXPORT double __nv_ldexp(double a, int k) { return dm::scale_any(a, k); }
EXPORT float __nv_ldexpf(float a, int k) { return dm::scale_any(a, k); }
EXPORT double __nv_scalbn(double a, int k) { return dm::scale_any(a, k); }
EXPORT float __nv_scalbnf(float a, int k) { return dm::scale_any(a, k); }
EXPORT int __nv_ilogb(double a) { return dm::ilogb(a); }
EXPORT int __nv_ilogbf(float a) { return dm::ilogb(a); }
EXPORT void __nv_sincos(double a, double* s, double* c) { dm::sincos(a, s, c); }
EXPORT void __nv_sincosf(float a, float* s, float* c) { dm::sincos(a, s, c); }
EXPORT void __nv_sincospi(double a, double* s, double* c) { *s = dm::sinpi(a); *c = dm::cospi(a); }
EXPORT void __nv_sincospif(float a, float* s, float* c) { *s = dm::sinpi(a); *c = dm::cospi(a); }
EXPORT double __nv_norm3d(double a, double b, double c) { return dm::norm3(a, b, c, false); }
EXPORT float __nv_norm3df(float a, float b, float c) { return dm::norm3(a, b, c, false); }
EXPORT double __nv_rnorm3d(double a, double b, double c) { return dm::norm3(a, b, c, true); }
EXPORT float __nv_rnorm3df(float a, float b, float c) { return dm::norm3(a, b, c, true); }
EXPORT double __nv_norm4d(double a, double b, double c, double d) { return dm::norm4(a, b, c, d, false); }
EXPORT float __nv_norm4df(float a, float b, float c, float d) { return dm::norm4(a, b, c, d, false); }
EXPORT double __nv_rnorm4d(double a, double b, double c, double d) { return dm::norm4(a, b, c, d, true); }
EXPORT float __nv_rnorm4df(float a, float b, float c, float d) { return dm::norm4(a, b, c, d, true); }
EXPORT double __nv_norm(int n, const double* v) { return dm::length(n, v, false); }
EXPORT float __nv_normf(int n, const float* v) { return dm::length(n, v, false); }
EXPORT double __nv_rnorm(int n, const double* v) { return dm::length(n, v, true); }
EXPORT float __nv_rnormf(int n, const float* v) { return dm::length(n, v, true); }

// Computed in double for both types.
EXPORT double __nv_erfinv(double a) { return dm::erfinv(a); }
EXPORT float __nv_erfinvf(float a) { return (float)dm::erfinv((double)a); }
EXPORT double __nv_erfcinv(double a) { return dm::erfcinv(a); }
EXPORT float __nv_erfcinvf(float a) { return (float)dm::erfcinv((double)a); }
EXPORT double __nv_normcdf(double a) { return dm::normcdf(a); }
EXPORT float __nv_normcdff(float a) { return (float)dm::normcdf((double)a); }
EXPORT double __nv_normcdfinv(double a) { return dm::normcdfinv(a); }
EXPORT float __nv_normcdfinvf(float a) { return (float)dm::normcdfinv((double)a); }
EXPORT double __nv_lgamma(double a) { return dm::lgamma(a); }
EXPORT float __nv_lgammaf(float a) { return (float)dm::lgamma((double)a); }
EXPORT double __nv_tgamma(double a) { return dm::tgamma(a); }
EXPORT float __nv_tgammaf(float a) { return (float)dm::tgamma((double)a); }

// One instruction each.
EXPORT double __nv_sqrt(double a) { return __builtin_sqrt(a); }
EXPORT float __nv_sqrtf(float a) { return __builtin_sqrtf(a); }
EXPORT double __nv_fabs(double a) { return __builtin_fabs(a); }
EXPORT float __nv_fabsf(float a) { return __builtin_fabsf(a); }
EXPORT double __nv_ceil(double a) { return __builtin_ceil(a); }
EXPORT float __nv_ceilf(float a) { return __builtin_ceilf(a); }
EXPORT double __nv_floor(double a) { return __builtin_floor(a); }
EXPORT float __nv_floorf(float a) { return __builtin_floorf(a); }
EXPORT double __nv_trunc(double a) { return __builtin_trunc(a); }
EXPORT float __nv_truncf(float a) { return __builtin_truncf(a); }
EXPORT double __nv_rint(double a) { return __builtin_rint(a); }
EXPORT float __nv_rintf(float a) { return __builtin_rintf(a); }
EXPORT double __nv_nearbyint(double a) { return __builtin_nearbyint(a); }
EXPORT float __nv_nearbyintf(float a) { return __builtin_nearbyintf(a); }
EXPORT double __nv_fmax(double a, double b) { return __builtin_fmax(a, b); }
EXPORT float __nv_fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
EXPORT double __nv_fmin(double a, double b) { return __builtin_fmin(a, b); }
EXPORT float __nv_fminf(float a, float b) { return __builtin_fminf(a, b); }
EXPORT double __nv_copysign(double a, double b) { return __builtin_copysign(a, b); }
EXPORT float __nv_copysignf(float a, float b) { return __builtin_copysignf(a, b); }
EXPORT double __nv_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
EXPORT float __nv_fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
EXPORT float __nv_rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }
EXPORT double __nv_rsqrt(double a) { return dm::rsqrt(a); }
EXPORT float __nv_frsqrt_rn(float a) { return (float)(1.0 / __builtin_sqrt((double)a)); }
EXPORT double __nv_rcp64h(double a) { return __nvvm_rcp_approx_ftz_d(a); }
EXPORT int __nv_isnand(double a) { return dm::is_nan(a); }
EXPORT int __nv_isnanf(float a) { return dm::is_nan(a); }
EXPORT int __nv_isinfd(double a) { return dm::is_inf(a); }
EXPORT int __nv_isinff(float a) { return dm::is_inf(a); }
EXPORT int __nv_isfinited(double a) { return dm::is_finite(a); }
EXPORT int __nv_finitef(float a) { return dm::is_finite(a); }
EXPORT int __nv_signbitd(double a) { return dm::is_negative(a); }
EXPORT int __nv_signbitf(float a) { return dm::is_negative(a); }
EXPORT double __nv_nan(const signed char*) { return dm::quiet_nan<double>(); }
EXPORT float __nv_nanf(const signed char*) { return dm::from_bits(0x7fffffffu); }

// The special function unit.
EXPORT float __nv_fast_sinf(float a) { return __nvvm_sin_approx_f(a); }
EXPORT float __nv_fast_cosf(float a) { return __nvvm_cos_approx_f(a); }
EXPORT void __nv_fast_sincosf(float a, float* s, float* c) { *s = __nvvm_sin_approx_f(a); *c = __nvvm_cos_approx_f(a); }
EXPORT float __nv_fast_tanf(float a) { return __nvvm_div_approx_f(__nvvm_sin_approx_f(a), __nvvm_cos_approx_f(a)); }
EXPORT float __nv_fast_expf(float a) { return __nvvm_ex2_approx_f(a * DM_LOG2E_F32_1); }
EXPORT float __nv_fast_exp10f(float a) { return __nvvm_ex2_approx_f(a * DM_LOG2_10_F32_1); }
EXPORT float __nv_fast_log2f(float a) { return __nvvm_lg2_approx_f(a); }
EXPORT float __nv_fast_logf(float a) { return __nvvm_lg2_approx_f(a) * DM_LN2X_F32_1; }
EXPORT float __nv_fast_log10f(float a) { return __nvvm_lg2_approx_f(a) * DM_LOG10_2_F32_1; }
EXPORT float __nv_fast_powf(float a, float b) { return __nvvm_ex2_approx_f(b * __nvvm_lg2_approx_f(a)); }
EXPORT float __nv_fast_fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
EXPORT float __nv_saturatef(float a) { return __nvvm_saturate_f(a); }

// Directed rounding.
EXPORT float __nv_fadd_rn(float a, float b) { return __nvvm_add_rn_f(a, b); }
EXPORT float __nv_fmul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }
EXPORT float __nv_fdiv_rn(float a, float b) { return __nvvm_div_rn_f(a, b); }
EXPORT float __nv_fsub_rn(float a, float b) { return __nvvm_add_rn_f(a, -b); }
EXPORT float __nv_frcp_rn(float a) { return __nvvm_rcp_rn_f(a); }
EXPORT float __nv_fsqrt_rn(float a) { return __nvvm_sqrt_rn_f(a); }
EXPORT double __nv_dadd_rn(double a, double b) { return __nvvm_add_rn_d(a, b); }
EXPORT double __nv_dmul_rn(double a, double b) { return __nvvm_mul_rn_d(a, b); }
EXPORT double __nv_ddiv_rn(double a, double b) { return __nvvm_div_rn_d(a, b); }
EXPORT double __nv_dsub_rn(double a, double b) { return __nvvm_add_rn_d(a, -b); }
EXPORT double __nv_drcp_rn(double a) { return __nvvm_rcp_rn_d(a); }
EXPORT double __nv_dsqrt_rn(double a) { return __nvvm_sqrt_rn_d(a); }
EXPORT float __nv_fmaf_rn(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
EXPORT float __nv_fmaf_ieee_rn(float a, float b, float c) { float v; asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(v) : "f"(a), "f"(b), "f"(c)); return v; }
EXPORT double __nv_fma_rn(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
EXPORT float __nv_fadd_rz(float a, float b) { return __nvvm_add_rz_f(a, b); }
EXPORT float __nv_fmul_rz(float a, float b) { return __nvvm_mul_rz_f(a, b); }
EXPORT float __nv_fdiv_rz(float a, float b) { return __nvvm_div_rz_f(a, b); }
EXPORT float __nv_fsub_rz(float a, float b) { return __nvvm_add_rz_f(a, -b); }
EXPORT float __nv_frcp_rz(float a) { return __nvvm_rcp_rz_f(a); }
EXPORT float __nv_fsqrt_rz(float a) { return __nvvm_sqrt_rz_f(a); }
EXPORT double __nv_dadd_rz(double a, double b) { return __nvvm_add_rz_d(a, b); }
EXPORT double __nv_dmul_rz(double a, double b) { return __nvvm_mul_rz_d(a, b); }
EXPORT double __nv_ddiv_rz(double a, double b) { return __nvvm_div_rz_d(a, b); }
EXPORT double __nv_dsub_rz(double a, double b) { return __nvvm_add_rz_d(a, -b); }
EXPORT double __nv_drcp_rz(double a) { return __nvvm_rcp_rz_d(a); }
EXPORT double __nv_dsqrt_rz(double a) { return __nvvm_sqrt_rz_d(a); }
EXPORT float __nv_fmaf_rz(float a, float b, float c) { return __nvvm_fma_rz_f(a, b, c); }
EXPORT float __nv_fmaf_ieee_rz(float a, float b, float c) { float v; asm("fma.rz.f32 %0, %1, %2, %3;" : "=f"(v) : "f"(a), "f"(b), "f"(c)); return v; }
EXPORT double __nv_fma_rz(double a, double b, double c) { return __nvvm_fma_rz_d(a, b, c); }
EXPORT float __nv_fadd_ru(float a, float b) { return __nvvm_add_rp_f(a, b); }
EXPORT float __nv_fmul_ru(float a, float b) { return __nvvm_mul_rp_f(a, b); }
EXPORT float __nv_fdiv_ru(float a, float b) { return __nvvm_div_rp_f(a, b); }
EXPORT float __nv_fsub_ru(float a, float b) { return __nvvm_add_rp_f(a, -b); }
EXPORT float __nv_frcp_ru(float a) { return __nvvm_rcp_rp_f(a); }
EXPORT float __nv_fsqrt_ru(float a) { return __nvvm_sqrt_rp_f(a); }
EXPORT double __nv_dadd_ru(double a, double b) { return __nvvm_add_rp_d(a, b); }
EXPORT double __nv_dmul_ru(double a, double b) { return __nvvm_mul_rp_d(a, b); }
EXPORT double __nv_ddiv_ru(double a, double b) { return __nvvm_div_rp_d(a, b); }
EXPORT double __nv_dsub_ru(double a, double b) { return __nvvm_add_rp_d(a, -b); }
EXPORT double __nv_drcp_ru(double a) { return __nvvm_rcp_rp_d(a); }
EXPORT double __nv_dsqrt_ru(double a) { return __nvvm_sqrt_rp_d(a); }
EXPORT float __nv_fmaf_ru(float a, float b, float c) { return __nvvm_fma_rp_f(a, b, c); }
EXPORT float __nv_fmaf_ieee_ru(float a, float b, float c) { float v; asm("fma.rp.f32 %0, %1, %2, %3;" : "=f"(v) : "f"(a), "f"(b), "f"(c)); return v; }
EXPORT double __nv_fma_ru(double a, double b, double c) { return __nvvm_fma_rp_d(a, b, c); }
EXPORT float __nv_fadd_rd(float a, float b) { return __nvvm_add_rm_f(a, b); }
EXPORT float __nv_fmul_rd(float a, float b) { return __nvvm_mul_rm_f(a, b); }
EXPORT float __nv_fdiv_rd(float a, float b) { return __nvvm_div_rm_f(a, b); }
EXPORT float __nv_fsub_rd(float a, float b) { return __nvvm_add_rm_f(a, -b); }
EXPORT float __nv_frcp_rd(float a) { return __nvvm_rcp_rm_f(a); }
EXPORT float __nv_fsqrt_rd(float a) { return __nvvm_sqrt_rm_f(a); }
EXPORT double __nv_dadd_rd(double a, double b) { return __nvvm_add_rm_d(a, b); }
EXPORT double __nv_dmul_rd(double a, double b) { return __nvvm_mul_rm_d(a, b); }
EXPORT double __nv_ddiv_rd(double a, double b) { return __nvvm_div_rm_d(a, b); }
EXPORT double __nv_dsub_rd(double a, double b) { return __nvvm_add_rm_d(a, -b); }
EXPORT double __nv_drcp_rd(double a) { return __nvvm_rcp_rm_d(a); }
EXPORT double __nv_dsqrt_rd(double a) { return __nvvm_sqrt_rm_d(a); }
EXPORT float __nv_fmaf_rd(float a, float b, float c) { return __nvvm_fma_rm_f(a, b, c); }
EXPORT float __nv_fmaf_ieee_rd(float a, float b, float c) { float v; asm("fma.rm.f32 %0, %1, %2, %3;" : "=f"(v) : "f"(a), "f"(b), "f"(c)); return v; }
EXPORT double __nv_fma_rd(double a, double b, double c) { return __nvvm_fma_rm_d(a, b, c); }

// Conversions. Integer destinations round to an integer (rni, rzi, rpi, rmi) and saturate.
EXPORT int __nv_float2int_rn(float a) { int v; asm("cvt.rni.s32.f32 %0, %1;" : "=r"(v) : "f"(a)); return v; }
EXPORT float __nv_int2float_rn(int a) { float v; asm("cvt.rn.f32.s32 %0, %1;" : "=f"(v) : "r"(a)); return v; }
EXPORT int __nv_float2int_rz(float a) { int v; asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(v) : "f"(a)); return v; }
EXPORT float __nv_int2float_rz(int a) { float v; asm("cvt.rz.f32.s32 %0, %1;" : "=f"(v) : "r"(a)); return v; }
EXPORT int __nv_float2int_ru(float a) { int v; asm("cvt.rpi.s32.f32 %0, %1;" : "=r"(v) : "f"(a)); return v; }
EXPORT float __nv_int2float_ru(int a) { float v; asm("cvt.rp.f32.s32 %0, %1;" : "=f"(v) : "r"(a)); return v; }
EXPORT int __nv_float2int_rd(float a) { int v; asm("cvt.rmi.s32.f32 %0, %1;" : "=r"(v) : "f"(a)); return v; }
EXPORT float __nv_int2float_rd(int a) { float v; asm("cvt.rm.f32.s32 %0, %1;" : "=f"(v) : "r"(a)); return v; }
EXPORT unsigned int __nv_float2uint_rn(float a) { unsigned int v; asm("cvt.rni.u32.f32 %0, %1;" : "=r"(v) : "f"(a)); return v; }
EXPORT float __nv_uint2float_rn(unsigned int a) { float v; asm("cvt.rn.f32.u32 %0, %1;" : "=f"(v) : "r"(a)); return v; }
EXPORT unsigned int __nv_float2uint_rz(float a) { unsigned int v; asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(v) : "f"(a)); return v; }
EXPORT float __nv_uint2float_rz(unsigned int a) { float v; asm("cvt.rz.f32.u32 %0, %1;" : "=f"(v) : "r"(a)); return v; }
EXPORT unsigned int __nv_float2uint_ru(float a) { unsigned int v; asm("cvt.rpi.u32.f32 %0, %1;" : "=r"(v) : "f"(a)); return v; }
EXPORT float __nv_uint2float_ru(unsigned int a) { float v; asm("cvt.rp.f32.u32 %0, %1;" : "=f"(v) : "r"(a)); return v; }
EXPORT unsigned int __nv_float2uint_rd(float a) { unsigned int v; asm("cvt.rmi.u32.f32 %0, %1;" : "=r"(v) : "f"(a)); return v; }
EXPORT float __nv_uint2float_rd(unsigned int a) { float v; asm("cvt.rm.f32.u32 %0, %1;" : "=f"(v) : "r"(a)); return v; }
EXPORT long long __nv_float2ll_rn(float a) { long long v; asm("cvt.rni.s64.f32 %0, %1;" : "=l"(v) : "f"(a)); return v; }
EXPORT float __nv_ll2float_rn(long long a) { float v; asm("cvt.rn.f32.s64 %0, %1;" : "=f"(v) : "l"(a)); return v; }
EXPORT long long __nv_float2ll_rz(float a) { long long v; asm("cvt.rzi.s64.f32 %0, %1;" : "=l"(v) : "f"(a)); return v; }
EXPORT float __nv_ll2float_rz(long long a) { float v; asm("cvt.rz.f32.s64 %0, %1;" : "=f"(v) : "l"(a)); return v; }
EXPORT long long __nv_float2ll_ru(float a) { long long v; asm("cvt.rpi.s64.f32 %0, %1;" : "=l"(v) : "f"(a)); return v; }
EXPORT float __nv_ll2float_ru(long long a) { float v; asm("cvt.rp.f32.s64 %0, %1;" : "=f"(v) : "l"(a)); return v; }
EXPORT long long __nv_float2ll_rd(float a) { long long v; asm("cvt.rmi.s64.f32 %0, %1;" : "=l"(v) : "f"(a)); return v; }
EXPORT float __nv_ll2float_rd(long long a) { float v; asm("cvt.rm.f32.s64 %0, %1;" : "=f"(v) : "l"(a)); return v; }
EXPORT unsigned long long __nv_float2ull_rn(float a) { unsigned long long v; asm("cvt.rni.u64.f32 %0, %1;" : "=l"(v) : "f"(a)); return v; }
EXPORT float __nv_ull2float_rn(unsigned long long a) { float v; asm("cvt.rn.f32.u64 %0, %1;" : "=f"(v) : "l"(a)); return v; }
EXPORT unsigned long long __nv_float2ull_rz(float a) { unsigned long long v; asm("cvt.rzi.u64.f32 %0, %1;" : "=l"(v) : "f"(a)); return v; }
EXPORT float __nv_ull2float_rz(unsigned long long a) { float v; asm("cvt.rz.f32.u64 %0, %1;" : "=f"(v) : "l"(a)); return v; }
EXPORT unsigned long long __nv_float2ull_ru(float a) { unsigned long long v; asm("cvt.rpi.u64.f32 %0, %1;" : "=l"(v) : "f"(a)); return v; }
EXPORT float __nv_ull2float_ru(unsigned long long a) { float v; asm("cvt.rp.f32.u64 %0, %1;" : "=f"(v) : "l"(a)); return v; }
EXPORT unsigned long long __nv_float2ull_rd(float a) { unsigned long long v; asm("cvt.rmi.u64.f32 %0, %1;" : "=l"(v) : "f"(a)); return v; }
EXPORT float __nv_ull2float_rd(unsigned long long a) { float v; asm("cvt.rm.f32.u64 %0, %1;" : "=f"(v) : "l"(a)); return v; }
EXPORT int __nv_double2int_rn(double a) { int v; asm("cvt.rni.s32.f64 %0, %1;" : "=r"(v) : "d"(a)); return v; }
EXPORT double __nv_int2double_rn(int a) { return (double)a; }
EXPORT int __nv_double2int_rz(double a) { int v; asm("cvt.rzi.s32.f64 %0, %1;" : "=r"(v) : "d"(a)); return v; }
EXPORT int __nv_double2int_ru(double a) { int v; asm("cvt.rpi.s32.f64 %0, %1;" : "=r"(v) : "d"(a)); return v; }
EXPORT int __nv_double2int_rd(double a) { int v; asm("cvt.rmi.s32.f64 %0, %1;" : "=r"(v) : "d"(a)); return v; }
EXPORT unsigned int __nv_double2uint_rn(double a) { unsigned int v; asm("cvt.rni.u32.f64 %0, %1;" : "=r"(v) : "d"(a)); return v; }
EXPORT double __nv_uint2double_rn(unsigned int a) { return (double)a; }
EXPORT unsigned int __nv_double2uint_rz(double a) { unsigned int v; asm("cvt.rzi.u32.f64 %0, %1;" : "=r"(v) : "d"(a)); return v; }
EXPORT unsigned int __nv_double2uint_ru(double a) { unsigned int v; asm("cvt.rpi.u32.f64 %0, %1;" : "=r"(v) : "d"(a)); return v; }
EXPORT unsigned int __nv_double2uint_rd(double a) { unsigned int v; asm("cvt.rmi.u32.f64 %0, %1;" : "=r"(v) : "d"(a)); return v; }
EXPORT long long __nv_double2ll_rn(double a) { long long v; asm("cvt.rni.s64.f64 %0, %1;" : "=l"(v) : "d"(a)); return v; }
EXPORT double __nv_ll2double_rn(long long a) { double v; asm("cvt.rn.f64.s64 %0, %1;" : "=d"(v) : "l"(a)); return v; }
EXPORT long long __nv_double2ll_rz(double a) { long long v; asm("cvt.rzi.s64.f64 %0, %1;" : "=l"(v) : "d"(a)); return v; }
EXPORT double __nv_ll2double_rz(long long a) { double v; asm("cvt.rz.f64.s64 %0, %1;" : "=d"(v) : "l"(a)); return v; }
EXPORT long long __nv_double2ll_ru(double a) { long long v; asm("cvt.rpi.s64.f64 %0, %1;" : "=l"(v) : "d"(a)); return v; }
EXPORT double __nv_ll2double_ru(long long a) { double v; asm("cvt.rp.f64.s64 %0, %1;" : "=d"(v) : "l"(a)); return v; }
EXPORT long long __nv_double2ll_rd(double a) { long long v; asm("cvt.rmi.s64.f64 %0, %1;" : "=l"(v) : "d"(a)); return v; }
EXPORT double __nv_ll2double_rd(long long a) { double v; asm("cvt.rm.f64.s64 %0, %1;" : "=d"(v) : "l"(a)); return v; }
EXPORT unsigned long long __nv_double2ull_rn(double a) { unsigned long long v; asm("cvt.rni.u64.f64 %0, %1;" : "=l"(v) : "d"(a)); return v; }
EXPORT double __nv_ull2double_rn(unsigned long long a) { double v; asm("cvt.rn.f64.u64 %0, %1;" : "=d"(v) : "l"(a)); return v; }
EXPORT unsigned long long __nv_double2ull_rz(double a) { unsigned long long v; asm("cvt.rzi.u64.f64 %0, %1;" : "=l"(v) : "d"(a)); return v; }
EXPORT double __nv_ull2double_rz(unsigned long long a) { double v; asm("cvt.rz.f64.u64 %0, %1;" : "=d"(v) : "l"(a)); return v; }
EXPORT unsigned long long __nv_double2ull_ru(double a) { unsigned long long v; asm("cvt.rpi.u64.f64 %0, %1;" : "=l"(v) : "d"(a)); return v; }
EXPORT double __nv_ull2double_ru(unsigned long long a) { double v; asm("cvt.rp.f64.u64 %0, %1;" : "=d"(v) : "l"(a)); return v; }
EXPORT unsigned long long __nv_double2ull_rd(double a) { unsigned long long v; asm("cvt.rmi.u64.f64 %0, %1;" : "=l"(v) : "d"(a)); return v; }
EXPORT double __nv_ull2double_rd(unsigned long long a) { double v; asm("cvt.rm.f64.u64 %0, %1;" : "=d"(v) : "l"(a)); return v; }
EXPORT float __nv_double2float_rn(double a) { float v; asm("cvt.rn.f32.f64 %0, %1;" : "=f"(v) : "d"(a)); return v; }
EXPORT float __nv_double2float_rz(double a) { float v; asm("cvt.rz.f32.f64 %0, %1;" : "=f"(v) : "d"(a)); return v; }
EXPORT float __nv_double2float_ru(double a) { float v; asm("cvt.rp.f32.f64 %0, %1;" : "=f"(v) : "d"(a)); return v; }
EXPORT float __nv_double2float_rd(double a) { float v; asm("cvt.rm.f32.f64 %0, %1;" : "=f"(v) : "d"(a)); return v; }
EXPORT long long __nv_llrint(double a) { return __nv_double2ll_rn(a); }
EXPORT long long __nv_llrintf(float a) { return __nv_float2ll_rn(a); }
EXPORT long long __nv_llround(double a) { return __nv_double2ll_rz(dm::round(a)); }
EXPORT long long __nv_llroundf(float a) { return __nv_float2ll_rz(dm::round(a)); }
EXPORT unsigned short __nv_float2half_rn(float a) {
  unsigned short h;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(a));
  return h;
}
EXPORT float __nv_half2float(unsigned short h) {
  float a;
  asm("cvt.f32.f16 %0, %1;" : "=f"(a) : "h"(h));
  return a;
}
EXPORT int __nv_float_as_int(float a) { return __builtin_bit_cast(int, a); }
EXPORT unsigned int __nv_float_as_uint(float a) { return __builtin_bit_cast(unsigned int, a); }
EXPORT float __nv_int_as_float(int a) { return __builtin_bit_cast(float, a); }
EXPORT float __nv_uint_as_float(unsigned int a) { return __builtin_bit_cast(float, a); }
EXPORT unsigned long long __nv_double_as_longlong(double a) { return __builtin_bit_cast(unsigned long long, a); }
EXPORT double __nv_longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
EXPORT int __nv_double2hiint(double a) { return (int)(__builtin_bit_cast(unsigned long long, a) >> 32); }
EXPORT int __nv_double2loint(double a) { return (int)__builtin_bit_cast(unsigned long long, a); }
EXPORT double __nv_hiloint2double(int high, int low) {
  return __builtin_bit_cast(double, ((unsigned long long)(unsigned int)high << 32) | (unsigned int)low);
}

// Integers.
EXPORT int __nv_abs(int a) { return a < 0 ? -(unsigned int)a : a; }
EXPORT long long __nv_llabs(long long a) { return a < 0 ? -(unsigned long long)a : a; }
EXPORT int __nv_min(int a, int b) { return a < b ? a : b; }
EXPORT int __nv_max(int a, int b) { return a < b ? b : a; }
EXPORT unsigned int __nv_umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
EXPORT unsigned int __nv_umax(unsigned int a, unsigned int b) { return a < b ? b : a; }
EXPORT long long __nv_llmin(long long a, long long b) { return a < b ? a : b; }
EXPORT long long __nv_llmax(long long a, long long b) { return a < b ? b : a; }
EXPORT unsigned long long __nv_ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
EXPORT unsigned long long __nv_ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
EXPORT int __nv_brev(int a) { return (int)__builtin_bitreverse32((unsigned int)a); }
EXPORT long long __nv_brevll(long long a) { return (long long)__builtin_bitreverse64((unsigned long long)a); }
EXPORT int __nv_clz(int a) { return a == 0 ? 32 : __builtin_clz((unsigned int)a); }
EXPORT int __nv_clzll(long long a) { return a == 0 ? 64 : __builtin_clzll((unsigned long long)a); }
EXPORT int __nv_ffs(int a) { return a == 0 ? 0 : __nv_clz(__nv_brev(a)) + 1; }
EXPORT int __nv_ffsll(long long a) { return a == 0 ? 0 : __nv_clzll(__nv_brevll(a)) + 1; }
EXPORT int __nv_popc(unsigned int a) { return __builtin_popcount(a); }
EXPORT int __nv_popcll(unsigned long long a) { return __builtin_popcountll(a); }
EXPORT int __nv_byte_perm(int a, int b, int c) { return (int)__nvvm_prmt((unsigned)a, (unsigned)b, (unsigned)c); }
EXPORT int __nv_mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
EXPORT unsigned int __nv_umul24(unsigned int a, unsigned int b) { return (unsigned)__nvvm_mul24_ui(a, b); }
EXPORT int __nv_mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
EXPORT unsigned int __nv_umulhi(unsigned int a, unsigned int b) { return (unsigned int)(((unsigned long long)a * b) >> 32); }
EXPORT long long __nv_mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
EXPORT unsigned long long __nv_umul64hi(unsigned long long a, unsigned long long b) { return __nvvm_mulhi_ull(a, b); }
EXPORT int __nv_hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
EXPORT int __nv_rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
EXPORT int __nv_uhadd(unsigned int a, unsigned int b) { return (int)((a & b) + ((a ^ b) >> 1)); }
EXPORT unsigned int __nv_urhadd(unsigned int a, unsigned int b) { return (a | b) - ((a ^ b) >> 1); }
EXPORT int __nv_sad(int a, int b, int c) { return (int)((a < b ? (unsigned)b - (unsigned)a : (unsigned)a - (unsigned)b) + (unsigned)c); }
EXPORT unsigned int __nv_usad(unsigned int a, unsigned int b, unsigned int c) { return (a < b ? b - a : a - b) + c; }

// Two halfwords or four bytes in a word, lane by lane.
namespace {
template <int bits, class Wide, class F>
__attribute__((device)) inline __attribute__((always_inline)) unsigned int lanes(unsigned int a, unsigned int b, F f) {
  unsigned int r = 0;
#pragma unroll
  for (int i = 0; i < 32; i += bits) {
    const unsigned int mask = (bits == 16 ? 0xffffu : 0xffu);
    Wide x, y;
    if (Wide(-1) < Wide(0)) {   // signed lanes
      x = (Wide)((int)(a << (32 - bits - i)) >> (32 - bits));
      y = (Wide)((int)(b << (32 - bits - i)) >> (32 - bits));
    } else {
      x = (Wide)((a >> i) & mask);
      y = (Wide)((b >> i) & mask);
    }
    r |= ((unsigned int)f(x, y) & mask) << i;
  }
  return r;
}
template <int bits> __attribute__((device)) inline int clamp_signed(int v) {
  const int most = (1 << (bits - 1)) - 1;
  return v > most ? most : v < -most - 1 ? -most - 1 : v;
}
template <int bits> __attribute__((device)) inline int clamp_unsigned(int v) {
  const int most = (1 << bits) - 1;
  return v > most ? most : v < 0 ? 0 : v;
}
template <int bits> __attribute__((device)) inline unsigned int sum_of(unsigned int v) {
  unsigned int s = 0;
#pragma unroll
  for (int i = 0; i < 32; i += bits) s += (v >> i) & (bits == 16 ? 0xffffu : 0xffu);
  return s;
}
}  // namespace
#define LANE(Wide, expr) lanes<BITS, Wide>((unsigned)a, (unsigned)b, [](Wide x, Wide y) { return expr; })

#define BITS 16
EXPORT int __nv_vabs2(int a) { const int b = 0; return (int)LANE(int, x < 0 ? -x : x + y); }
EXPORT int __nv_vabsss2(int a) { const int b = 0; return (int)LANE(int, clamp_signed<BITS>(x < 0 ? -x : x + y)); }
EXPORT int __nv_vneg2(int a) { const int b = 0; return (int)LANE(int, y - x); }
EXPORT int __nv_vnegss2(int a) { const int b = 0; return (int)LANE(int, clamp_signed<BITS>(y - x)); }
EXPORT int __nv_vabsdiffs2(int a, int b) { return (int)LANE(int, x < y ? y - x : x - y); }
EXPORT int __nv_vabsdiffu2(int a, int b) { return (int)LANE(unsigned int, x < y ? y - x : x - y); }
EXPORT int __nv_vadd2(int a, int b) { return (int)LANE(unsigned int, x + y); }
EXPORT int __nv_vaddss2(int a, int b) { return (int)LANE(int, clamp_signed<BITS>(x + y)); }
EXPORT int __nv_vaddus2(int a, int b) { return (int)LANE(unsigned int, (unsigned)clamp_unsigned<BITS>((int)(x + y))); }
EXPORT int __nv_vsub2(int a, int b) { return (int)LANE(unsigned int, x - y); }
EXPORT int __nv_vsubss2(int a, int b) { return (int)LANE(int, clamp_signed<BITS>(x - y)); }
EXPORT int __nv_vsubus2(int a, int b) { return (int)LANE(unsigned int, (unsigned)clamp_unsigned<BITS>((int)x - (int)y)); }
EXPORT int __nv_vavgs2(int a, int b) { return (int)LANE(int, (x + y + (x + y >= 0 ? 1 : 0)) >> 1); }
EXPORT int __nv_vavgu2(int a, int b) { return (int)LANE(unsigned int, (x + y + 1) >> 1); }
EXPORT int __nv_vhaddu2(int a, int b) { return (int)LANE(unsigned int, (x + y) >> 1); }
EXPORT int __nv_vmaxs2(int a, int b) { return (int)LANE(int, x < y ? y : x); }
EXPORT int __nv_vmins2(int a, int b) { return (int)LANE(int, x < y ? x : y); }
EXPORT int __nv_vcmpges2(int a, int b) { return (int)LANE(int, x >= y ? -1 : 0); }
EXPORT int __nv_vsetges2(int a, int b) { return (int)LANE(int, x >= y ? 1 : 0); }
EXPORT int __nv_vcmpgts2(int a, int b) { return (int)LANE(int, x > y ? -1 : 0); }
EXPORT int __nv_vsetgts2(int a, int b) { return (int)LANE(int, x > y ? 1 : 0); }
EXPORT int __nv_vcmples2(int a, int b) { return (int)LANE(int, x <= y ? -1 : 0); }
EXPORT int __nv_vsetles2(int a, int b) { return (int)LANE(int, x <= y ? 1 : 0); }
EXPORT int __nv_vcmplts2(int a, int b) { return (int)LANE(int, x < y ? -1 : 0); }
EXPORT int __nv_vsetlts2(int a, int b) { return (int)LANE(int, x < y ? 1 : 0); }
EXPORT int __nv_vmaxu2(int a, int b) { return (int)LANE(unsigned int, x < y ? y : x); }
EXPORT int __nv_vminu2(int a, int b) { return (int)LANE(unsigned int, x < y ? x : y); }
EXPORT int __nv_vcmpgeu2(int a, int b) { return (int)LANE(unsigned int, x >= y ? -1 : 0); }
EXPORT int __nv_vsetgeu2(int a, int b) { return (int)LANE(unsigned int, x >= y ? 1 : 0); }
EXPORT int __nv_vcmpgtu2(int a, int b) { return (int)LANE(unsigned int, x > y ? -1 : 0); }
EXPORT int __nv_vsetgtu2(int a, int b) { return (int)LANE(unsigned int, x > y ? 1 : 0); }
EXPORT int __nv_vcmpleu2(int a, int b) { return (int)LANE(unsigned int, x <= y ? -1 : 0); }
EXPORT int __nv_vsetleu2(int a, int b) { return (int)LANE(unsigned int, x <= y ? 1 : 0); }
EXPORT int __nv_vcmpltu2(int a, int b) { return (int)LANE(unsigned int, x < y ? -1 : 0); }
EXPORT int __nv_vsetltu2(int a, int b) { return (int)LANE(unsigned int, x < y ? 1 : 0); }
EXPORT int __nv_vcmpeq2(int a, int b) { return (int)LANE(unsigned int, x == y ? -1 : 0); }
EXPORT int __nv_vseteq2(int a, int b) { return (int)LANE(unsigned int, x == y ? 1 : 0); }
EXPORT int __nv_vcmpne2(int a, int b) { return (int)LANE(unsigned int, x != y ? -1 : 0); }
EXPORT int __nv_vsetne2(int a, int b) { return (int)LANE(unsigned int, x != y ? 1 : 0); }
EXPORT int __nv_vsads2(int a, int b) { return (int)sum_of<BITS>(LANE(int, x < y ? y - x : x - y)); }
EXPORT int __nv_vsadu2(int a, int b) { return (int)sum_of<BITS>(LANE(unsigned int, x < y ? y - x : x - y)); }
#undef BITS
#define BITS 8
EXPORT int __nv_vabs4(int a) { const int b = 0; return (int)LANE(int, x < 0 ? -x : x + y); }
EXPORT int __nv_vabsss4(int a) { const int b = 0; return (int)LANE(int, clamp_signed<BITS>(x < 0 ? -x : x + y)); }
EXPORT int __nv_vneg4(int a) { const int b = 0; return (int)LANE(int, y - x); }
EXPORT int __nv_vnegss4(int a) { const int b = 0; return (int)LANE(int, clamp_signed<BITS>(y - x)); }
EXPORT int __nv_vabsdiffs4(int a, int b) { return (int)LANE(int, x < y ? y - x : x - y); }
EXPORT int __nv_vabsdiffu4(int a, int b) { return (int)LANE(unsigned int, x < y ? y - x : x - y); }
EXPORT int __nv_vadd4(int a, int b) { return (int)LANE(unsigned int, x + y); }
EXPORT int __nv_vaddss4(int a, int b) { return (int)LANE(int, clamp_signed<BITS>(x + y)); }
EXPORT int __nv_vaddus4(int a, int b) { return (int)LANE(unsigned int, (unsigned)clamp_unsigned<BITS>((int)(x + y))); }
EXPORT int __nv_vsub4(int a, int b) { return (int)LANE(unsigned int, x - y); }
EXPORT int __nv_vsubss4(int a, int b) { return (int)LANE(int, clamp_signed<BITS>(x - y)); }
EXPORT int __nv_vsubus4(int a, int b) { return (int)LANE(unsigned int, (unsigned)clamp_unsigned<BITS>((int)x - (int)y)); }
EXPORT int __nv_vavgs4(int a, int b) { return (int)LANE(int, (x + y + (x + y >= 0 ? 1 : 0)) >> 1); }
EXPORT int __nv_vavgu4(int a, int b) { return (int)LANE(unsigned int, (x + y + 1) >> 1); }
EXPORT int __nv_vhaddu4(int a, int b) { return (int)LANE(unsigned int, (x + y) >> 1); }
EXPORT int __nv_vmaxs4(int a, int b) { return (int)LANE(int, x < y ? y : x); }
EXPORT int __nv_vmins4(int a, int b) { return (int)LANE(int, x < y ? x : y); }
EXPORT int __nv_vcmpges4(int a, int b) { return (int)LANE(int, x >= y ? -1 : 0); }
EXPORT int __nv_vsetges4(int a, int b) { return (int)LANE(int, x >= y ? 1 : 0); }
EXPORT int __nv_vcmpgts4(int a, int b) { return (int)LANE(int, x > y ? -1 : 0); }
EXPORT int __nv_vsetgts4(int a, int b) { return (int)LANE(int, x > y ? 1 : 0); }
EXPORT int __nv_vcmples4(int a, int b) { return (int)LANE(int, x <= y ? -1 : 0); }
EXPORT int __nv_vsetles4(int a, int b) { return (int)LANE(int, x <= y ? 1 : 0); }
EXPORT int __nv_vcmplts4(int a, int b) { return (int)LANE(int, x < y ? -1 : 0); }
EXPORT int __nv_vsetlts4(int a, int b) { return (int)LANE(int, x < y ? 1 : 0); }
EXPORT int __nv_vmaxu4(int a, int b) { return (int)LANE(unsigned int, x < y ? y : x); }
EXPORT int __nv_vminu4(int a, int b) { return (int)LANE(unsigned int, x < y ? x : y); }
EXPORT int __nv_vcmpgeu4(int a, int b) { return (int)LANE(unsigned int, x >= y ? -1 : 0); }
EXPORT int __nv_vsetgeu4(int a, int b) { return (int)LANE(unsigned int, x >= y ? 1 : 0); }
EXPORT int __nv_vcmpgtu4(int a, int b) { return (int)LANE(unsigned int, x > y ? -1 : 0); }
EXPORT int __nv_vsetgtu4(int a, int b) { return (int)LANE(unsigned int, x > y ? 1 : 0); }
EXPORT int __nv_vcmpleu4(int a, int b) { return (int)LANE(unsigned int, x <= y ? -1 : 0); }
EXPORT int __nv_vsetleu4(int a, int b) { return (int)LANE(unsigned int, x <= y ? 1 : 0); }
EXPORT int __nv_vcmpltu4(int a, int b) { return (int)LANE(unsigned int, x < y ? -1 : 0); }
EXPORT int __nv_vsetltu4(int a, int b) { return (int)LANE(unsigned int, x < y ? 1 : 0); }
EXPORT int __nv_vcmpeq4(int a, int b) { return (int)LANE(unsigned int, x == y ? -1 : 0); }
EXPORT int __nv_vseteq4(int a, int b) { return (int)LANE(unsigned int, x == y ? 1 : 0); }
EXPORT int __nv_vcmpne4(int a, int b) { return (int)LANE(unsigned int, x != y ? -1 : 0); }
EXPORT int __nv_vsetne4(int a, int b) { return (int)LANE(unsigned int, x != y ? 1 : 0); }
EXPORT int __nv_vsads4(int a, int b) { return (int)sum_of<BITS>(LANE(int, x < y ? y - x : x - y)); }
EXPORT int __nv_vsadu4(int a, int b) { return (int)sum_of<BITS>(LANE(unsigned int, x < y ? y - x : x - y)); }
#undef BITS

// Not maths: what tables of abstract classes hold in the place of functions that are never called.
EXPORT void __cxa_pure_virtual() { __builtin_trap(); }
EXPORT void __cxa_deleted_virtual() { __builtin_trap(); }
