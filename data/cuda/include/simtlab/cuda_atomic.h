// cuda::atomic, cuda::atomic_ref and their fences, in the orders and scopes of PTX. Objects of 4 and 8 bytes
// are single operations, those of 1 and 2 bytes go by the word around them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <type_traits>

// What happens here happens, for messages, in the line that calls it.
#if defined(__clang__)
#define SIMTLAB_QUIET __attribute__((nodebug))
#else
#define SIMTLAB_QUIET
#endif

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

namespace std {
enum memory_order {
  memory_order_relaxed,
  memory_order_consume,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};
}  // namespace std
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

namespace simtlab_atomic {

template <::std::size_t N>
struct Word;
template <>
struct Word<1> {
  using type = unsigned char;
};
template <>
struct Word<2> {
  using type = unsigned short;
};
template <>
struct Word<4> {
  using type = unsigned;
};
template <>
struct Word<8> {
  using type = unsigned long long;
};

template <class To, class From>
__host__ __device__ SIMTLAB_QUIET inline To cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "an atomic object has 1, 2, 4 or 8 bytes");
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

#if defined(__CUDA_ARCH__)

#define SIMTLAB_BY_SCOPE(ONE, ORDER, ...)   \
  if (S == thread_scope_system)             \
    ONE(ORDER, "sys", __VA_ARGS__);         \
  else if (S == thread_scope_device)        \
    ONE(ORDER, "gpu", __VA_ARGS__);         \
  else                                      \
    ONE(ORDER, "cta", __VA_ARGS__)

#define SIMTLAB_FENCE(ORDER, SCOPE, ...) asm volatile("fence." ORDER "." SCOPE ";" ::: "memory")
template <int S>
__device__ SIMTLAB_QUIET inline void fence(memory_order order) {
  if (order == memory_order_relaxed) return;
  if (order == memory_order_seq_cst) {
    SIMTLAB_BY_SCOPE(SIMTLAB_FENCE, "sc", );
  } else {
    SIMTLAB_BY_SCOPE(SIMTLAB_FENCE, "acq_rel", );
  }
}
#undef SIMTLAB_FENCE

#define SIMTLAB_LOAD(ORDER, SCOPE, TYPE, C) \
  asm volatile("ld." ORDER "." SCOPE "." TYPE " %0, [%1];" : "=" C(out) : "l"(p) : "memory")
#define SIMTLAB_STORE(ORDER, SCOPE, TYPE, C) \
  asm volatile("st." ORDER "." SCOPE "." TYPE " [%0], %1;" ::"l"(p), C(in) : "memory")
#define SIMTLAB_LOAD_STORE(WORD, TYPE, C)                                    \
  template <int S>                                                           \
  __device__ SIMTLAB_QUIET inline WORD load(const WORD* p, memory_order order) {           \
    if (order == memory_order_seq_cst) fence<S>(order);                      \
    WORD out;                                                                \
    if (order == memory_order_relaxed) {                                     \
      SIMTLAB_BY_SCOPE(SIMTLAB_LOAD, "relaxed", TYPE, C);                    \
    } else {                                                                 \
      SIMTLAB_BY_SCOPE(SIMTLAB_LOAD, "acquire", TYPE, C);                    \
    }                                                                        \
    return out;                                                              \
  }                                                                          \
  template <int S>                                                           \
  __device__ SIMTLAB_QUIET inline void store(WORD* p, WORD value, memory_order order) {    \
    if (order == memory_order_seq_cst) fence<S>(order);                      \
    const WORD in = value;                                                   \
    if (order == memory_order_release) {                                     \
      SIMTLAB_BY_SCOPE(SIMTLAB_STORE, "release", TYPE, C);                   \
    } else {                                                                 \
      SIMTLAB_BY_SCOPE(SIMTLAB_STORE, "relaxed", TYPE, C);                   \
    }                                                                        \
  }
SIMTLAB_LOAD_STORE(unsigned, "b32", "r")
SIMTLAB_LOAD_STORE(unsigned long long, "b64", "l")
#undef SIMTLAB_LOAD_STORE
#undef SIMTLAB_LOAD
#undef SIMTLAB_STORE

#define SIMTLAB_RMW(ORDER, SCOPE, OP, C) \
  asm volatile("atom." ORDER "." SCOPE "." OP " %0, [%1], %2;" : "=" C(out) : "l"(p), C(in) : "memory")
#define SIMTLAB_CAS(ORDER, SCOPE, OP, C)                                \
  asm volatile("atom." ORDER "." SCOPE "." OP " %0, [%1], %2, %3;"      \
               : "=" C(out)                                             \
               : "l"(p), C(compare), C(in)                              \
               : "memory")
#define SIMTLAB_BY_ORDER(ONE, ...)                                           \
  if (order == memory_order_seq_cst) fence<S>(order);                        \
  if (order == memory_order_relaxed) {                                       \
    SIMTLAB_BY_SCOPE(ONE, "relaxed", __VA_ARGS__);                           \
  } else if (order == memory_order_release) {                                \
    SIMTLAB_BY_SCOPE(ONE, "release", __VA_ARGS__);                           \
  } else if (order == memory_order_acq_rel) {                                \
    SIMTLAB_BY_SCOPE(ONE, "acq_rel", __VA_ARGS__);                           \
  } else {                                                                   \
    SIMTLAB_BY_SCOPE(ONE, "acquire", __VA_ARGS__);                           \
  }
#define SIMTLAB_READ_MODIFY_WRITE(NAME, TYPE, OP, C)                                    \
  template <int S>                                                                      \
  __device__ SIMTLAB_QUIET inline TYPE NAME(TYPE* p, TYPE in, memory_order order) {                   \
    TYPE out;                                                                           \
    SIMTLAB_BY_ORDER(SIMTLAB_RMW, OP, C)                                                \
    return out;                                                                         \
  }
#define SIMTLAB_COMPARE_AND_SWAP(TYPE, OP, C)                                           \
  template <int S>                                                                      \
  __device__ SIMTLAB_QUIET inline TYPE swap_if(TYPE* p, TYPE compare, TYPE in, memory_order order) {  \
    TYPE out;                                                                           \
    SIMTLAB_BY_ORDER(SIMTLAB_CAS, OP, C)                                                \
    return out;                                                                         \
  }
SIMTLAB_COMPARE_AND_SWAP(unsigned, "cas.b32", "r")
SIMTLAB_COMPARE_AND_SWAP(unsigned long long, "cas.b64", "l")
SIMTLAB_READ_MODIFY_WRITE(swap, unsigned, "exch.b32", "r")
SIMTLAB_READ_MODIFY_WRITE(swap, unsigned long long, "exch.b64", "l")
SIMTLAB_READ_MODIFY_WRITE(add, unsigned, "add.u32", "r")
SIMTLAB_READ_MODIFY_WRITE(add, unsigned long long, "add.u64", "l")
SIMTLAB_READ_MODIFY_WRITE(add, float, "add.f32", "f")
SIMTLAB_READ_MODIFY_WRITE(add, double, "add.f64", "d")
SIMTLAB_READ_MODIFY_WRITE(bit_and, unsigned, "and.b32", "r")
SIMTLAB_READ_MODIFY_WRITE(bit_and, unsigned long long, "and.b64", "l")
SIMTLAB_READ_MODIFY_WRITE(bit_or, unsigned, "or.b32", "r")
SIMTLAB_READ_MODIFY_WRITE(bit_or, unsigned long long, "or.b64", "l")
SIMTLAB_READ_MODIFY_WRITE(bit_xor, unsigned, "xor.b32", "r")
SIMTLAB_READ_MODIFY_WRITE(bit_xor, unsigned long long, "xor.b64", "l")
SIMTLAB_READ_MODIFY_WRITE(least, int, "min.s32", "r")
SIMTLAB_READ_MODIFY_WRITE(least, unsigned, "min.u32", "r")
SIMTLAB_READ_MODIFY_WRITE(least, long long, "min.s64", "l")
SIMTLAB_READ_MODIFY_WRITE(least, unsigned long long, "min.u64", "l")
SIMTLAB_READ_MODIFY_WRITE(most, int, "max.s32", "r")
SIMTLAB_READ_MODIFY_WRITE(most, unsigned, "max.u32", "r")
SIMTLAB_READ_MODIFY_WRITE(most, long long, "max.s64", "l")
SIMTLAB_READ_MODIFY_WRITE(most, unsigned long long, "max.u64", "l")
#undef SIMTLAB_COMPARE_AND_SWAP
#undef SIMTLAB_READ_MODIFY_WRITE
#undef SIMTLAB_BY_ORDER
#undef SIMTLAB_BY_SCOPE
#undef SIMTLAB_CAS
#undef SIMTLAB_RMW

// A part of a word: the others stay.
template <class W>
struct Part {
  unsigned* word;
  unsigned shift, mask;
  __device__ SIMTLAB_QUIET explicit Part(const W* p) {
    const unsigned long long address = reinterpret_cast<unsigned long long>(p);
    word = reinterpret_cast<unsigned*>(address & ~3ull);
    shift = static_cast<unsigned>(address & 3) * 8;
    mask = ((1u << 8 * sizeof(W)) - 1) << shift;
  }
  __device__ SIMTLAB_QUIET W of(unsigned whole) const { return static_cast<W>((whole & mask) >> shift); }
  __device__ SIMTLAB_QUIET unsigned with(unsigned whole, W in) const {
    return (whole & ~mask) | static_cast<unsigned>(in) << shift;
  }
};
template <int S, class W>
__device__ SIMTLAB_QUIET inline typename ::std::enable_if<(sizeof(W) < 4), W>::type load(const W* p, memory_order order) {
  const Part<W> part(p);
  return part.of(load<S>(part.word, order));
}
template <int S, class W>
__device__ SIMTLAB_QUIET inline typename ::std::enable_if<(sizeof(W) < 4), W>::type swap_if(W* p, W compare, W in,
                                                                              memory_order order) {
  const Part<W> part(p);
  unsigned old = load<S>(part.word, memory_order_relaxed);
  while (part.of(old) == compare) {
    const unsigned seen = swap_if<S>(part.word, old, part.with(old, in), order);
    if (seen == old) return compare;
    old = seen;
  }
  if (order != memory_order_relaxed) fence<S>(order);
  return part.of(old);
}
template <int S, class W>
__device__ SIMTLAB_QUIET inline typename ::std::enable_if<(sizeof(W) < 4)>::type store(W* p, W value, memory_order order) {
  for (W old = load<S>(p, memory_order_relaxed);;) {
    const W seen = swap_if<S>(p, old, value, order);
    if (seen == old) return;
    old = seen;
  }
}

#else  // the host

SIMTLAB_QUIET inline int host_order(memory_order order) { return static_cast<int>(order); }
// Of a load, or of a compare-and-swap that fails
SIMTLAB_QUIET inline int read_order(memory_order order) {
  return order == memory_order_release   ? __ATOMIC_RELAXED
         : order == memory_order_acq_rel ? __ATOMIC_ACQUIRE
                                         : host_order(order);
}
template <int S>
SIMTLAB_QUIET inline void fence(memory_order order) {
  __atomic_thread_fence(host_order(order));
}
template <int S, class W>
SIMTLAB_QUIET inline W load(const W* p, memory_order order) {
  return __atomic_load_n(p, read_order(order));
}
template <int S, class W>
SIMTLAB_QUIET inline void store(W* p, W value, memory_order order) {
  __atomic_store_n(p, value, host_order(order));
}
template <int S, class W>
SIMTLAB_QUIET inline W swap_if(W* p, W compare, W in, memory_order order) {
  __atomic_compare_exchange_n(p, &compare, in, false, host_order(order), read_order(order));
  return compare;
}

#endif

template <class T, int S>
struct Operations {
  static_assert(::std::is_trivially_copyable<T>::value, "an atomic object is trivially copyable");
  using W = typename Word<sizeof(T)>::type;
  static constexpr bool whole = sizeof(T) >= 4, integral = ::std::is_integral<T>::value && whole;
  // What min and max of PTX know
  using Number =
      typename ::std::conditional<sizeof(T) == 4,
                                  typename ::std::conditional<::std::is_signed<T>::value, int, unsigned>::type,
                                  typename ::std::conditional<::std::is_signed<T>::value, long long,
                                                              unsigned long long>::type>::type;
  struct Yes {};
  struct No {};
  template <bool B>
  using If = typename ::std::conditional<B, Yes, No>::type;

  __host__ __device__ SIMTLAB_QUIET static W* word(T* p) { return reinterpret_cast<W*>(p); }
  __host__ __device__ SIMTLAB_QUIET static T load(const T* p, memory_order order) {
    return cast<T>(simtlab_atomic::load<S>(reinterpret_cast<const W*>(p), order));
  }
  __host__ __device__ SIMTLAB_QUIET static void store(T* p, T value, memory_order order) {
    simtlab_atomic::store<S>(word(p), cast<W>(value), order);
  }
  __host__ __device__ SIMTLAB_QUIET static bool swap_if(T* p, T& expected, T wanted, memory_order order) {
    const W compare = cast<W>(expected), seen = simtlab_atomic::swap_if<S>(word(p), compare, cast<W>(wanted), order);
    if (seen == compare) return true;
    expected = cast<T>(seen);
    return false;
  }
  // What there is no operation for.
  template <class F>
  __host__ __device__ SIMTLAB_QUIET static T change(T* p, memory_order order, F f) {
    T old = load(p, memory_order_relaxed);
    while (!swap_if(p, old, f(old), order)) {
    }
    return old;
  }

#if defined(__CUDA_ARCH__)
  __device__ SIMTLAB_QUIET static T swap(T* p, T v, memory_order o, Yes) {
    return cast<T>(simtlab_atomic::swap<S>(word(p), cast<W>(v), o));
  }
  __device__ SIMTLAB_QUIET static T add(T* p, T v, memory_order o, Yes) { return add_number(p, v, o, If<integral>()); }
  __device__ SIMTLAB_QUIET static T add_number(T* p, T v, memory_order o, Yes) {
    return static_cast<T>(simtlab_atomic::add<S>(word(p), static_cast<W>(v), o));
  }
  __device__ SIMTLAB_QUIET static T add_number(T* p, T v, memory_order o, No) { return simtlab_atomic::add<S>(p, v, o); }
  __device__ SIMTLAB_QUIET static T bit_and(T* p, T v, memory_order o, Yes) {
    return static_cast<T>(simtlab_atomic::bit_and<S>(word(p), static_cast<W>(v), o));
  }
  __device__ SIMTLAB_QUIET static T bit_or(T* p, T v, memory_order o, Yes) {
    return static_cast<T>(simtlab_atomic::bit_or<S>(word(p), static_cast<W>(v), o));
  }
  __device__ SIMTLAB_QUIET static T bit_xor(T* p, T v, memory_order o, Yes) {
    return static_cast<T>(simtlab_atomic::bit_xor<S>(word(p), static_cast<W>(v), o));
  }
  __device__ SIMTLAB_QUIET static T least(T* p, T v, memory_order o, Yes) {
    return static_cast<T>(simtlab_atomic::least<S>(reinterpret_cast<Number*>(p), static_cast<Number>(v), o));
  }
  __device__ SIMTLAB_QUIET static T most(T* p, T v, memory_order o, Yes) {
    return static_cast<T>(simtlab_atomic::most<S>(reinterpret_cast<Number*>(p), static_cast<Number>(v), o));
  }
#define SIMTLAB_HERE(CONDITION) If<(CONDITION)>()
#else
#define SIMTLAB_HERE(CONDITION) No()
#endif
  __host__ __device__ SIMTLAB_QUIET static T swap(T* p, T v, memory_order o, No) {
    return change(p, o, [v](T) SIMTLAB_QUIET { return v; });
  }
  __host__ __device__ SIMTLAB_QUIET static T add(T* p, T v, memory_order o, No) {
    return change(p, o, [v](T old) SIMTLAB_QUIET { return static_cast<T>(old + v); });
  }
  __host__ __device__ SIMTLAB_QUIET static T bit_and(T* p, T v, memory_order o, No) {
    return change(p, o, [v](T old) SIMTLAB_QUIET { return static_cast<T>(old & v); });
  }
  __host__ __device__ SIMTLAB_QUIET static T bit_or(T* p, T v, memory_order o, No) {
    return change(p, o, [v](T old) SIMTLAB_QUIET { return static_cast<T>(old | v); });
  }
  __host__ __device__ SIMTLAB_QUIET static T bit_xor(T* p, T v, memory_order o, No) {
    return change(p, o, [v](T old) SIMTLAB_QUIET { return static_cast<T>(old ^ v); });
  }
  __host__ __device__ SIMTLAB_QUIET static T least(T* p, T v, memory_order o, No) {
    return change(p, o, [v](T old) SIMTLAB_QUIET { return v < old ? v : old; });
  }
  __host__ __device__ SIMTLAB_QUIET static T most(T* p, T v, memory_order o, No) {
    return change(p, o, [v](T old) SIMTLAB_QUIET { return old < v ? v : old; });
  }

  __host__ __device__ SIMTLAB_QUIET static T swap(T* p, T v, memory_order o) { return swap(p, v, o, SIMTLAB_HERE(whole)); }
  __host__ __device__ SIMTLAB_QUIET static T add(T* p, T v, memory_order o) {
    constexpr bool known = integral || ::std::is_same<T, float>::value || ::std::is_same<T, double>::value;
    return add(p, v, o, SIMTLAB_HERE(known));
  }
  __host__ __device__ SIMTLAB_QUIET static T bit_and(T* p, T v, memory_order o) { return bit_and(p, v, o, SIMTLAB_HERE(integral)); }
  __host__ __device__ SIMTLAB_QUIET static T bit_or(T* p, T v, memory_order o) { return bit_or(p, v, o, SIMTLAB_HERE(integral)); }
  __host__ __device__ SIMTLAB_QUIET static T bit_xor(T* p, T v, memory_order o) { return bit_xor(p, v, o, SIMTLAB_HERE(integral)); }
  __host__ __device__ SIMTLAB_QUIET static T least(T* p, T v, memory_order o) { return least(p, v, o, SIMTLAB_HERE(integral)); }
  __host__ __device__ SIMTLAB_QUIET static T most(T* p, T v, memory_order o) { return most(p, v, o, SIMTLAB_HERE(integral)); }
#undef SIMTLAB_HERE
};

// The members that atomic and atomic_ref share. Self::at() is where the object lies.
template <class Self, class T, int S>
class Members {
  using O = Operations<T, S>;
  __host__ __device__ SIMTLAB_QUIET T* here() const { return static_cast<const Self*>(this)->at(); }

 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;
  __host__ __device__ SIMTLAB_QUIET bool is_lock_free() const { return true; }
  __host__ __device__ SIMTLAB_QUIET T load(memory_order o = memory_order_seq_cst) const { return O::load(here(), o); }
  __host__ __device__ SIMTLAB_QUIET operator T() const { return load(); }
  __host__ __device__ SIMTLAB_QUIET T exchange(T v, memory_order o = memory_order_seq_cst) const { return O::swap(here(), v, o); }
  __host__ __device__ SIMTLAB_QUIET void store(T v, memory_order o = memory_order_seq_cst) const { O::store(here(), v, o); }
  __host__ __device__ SIMTLAB_QUIET bool compare_exchange_strong(T& e, T v, memory_order o = memory_order_seq_cst) const {
    return O::swap_if(here(), e, v, o);
  }
  __host__ __device__ SIMTLAB_QUIET bool compare_exchange_strong(T& e, T v, memory_order o, memory_order) const {
    return O::swap_if(here(), e, v, o);
  }
  __host__ __device__ SIMTLAB_QUIET bool compare_exchange_weak(T& e, T v, memory_order o = memory_order_seq_cst) const {
    return O::swap_if(here(), e, v, o);
  }
  __host__ __device__ SIMTLAB_QUIET bool compare_exchange_weak(T& e, T v, memory_order o, memory_order) const {
    return O::swap_if(here(), e, v, o);
  }
  __host__ __device__ SIMTLAB_QUIET T fetch_add(T v, memory_order o = memory_order_seq_cst) const { return O::add(here(), v, o); }
  __host__ __device__ SIMTLAB_QUIET T fetch_sub(T v, memory_order o = memory_order_seq_cst) const {
    return O::add(here(), static_cast<T>(-v), o);
  }
  __host__ __device__ SIMTLAB_QUIET T fetch_and(T v, memory_order o = memory_order_seq_cst) const { return O::bit_and(here(), v, o); }
  __host__ __device__ SIMTLAB_QUIET T fetch_or(T v, memory_order o = memory_order_seq_cst) const { return O::bit_or(here(), v, o); }
  __host__ __device__ SIMTLAB_QUIET T fetch_xor(T v, memory_order o = memory_order_seq_cst) const { return O::bit_xor(here(), v, o); }
  __host__ __device__ SIMTLAB_QUIET T fetch_min(T v, memory_order o = memory_order_seq_cst) const { return O::least(here(), v, o); }
  __host__ __device__ SIMTLAB_QUIET T fetch_max(T v, memory_order o = memory_order_seq_cst) const { return O::most(here(), v, o); }
  __host__ __device__ SIMTLAB_QUIET T operator++() const { return static_cast<T>(fetch_add(T(1)) + T(1)); }
  __host__ __device__ SIMTLAB_QUIET T operator--() const { return static_cast<T>(fetch_sub(T(1)) - T(1)); }
  __host__ __device__ SIMTLAB_QUIET T operator++(int) const { return fetch_add(T(1)); }
  __host__ __device__ SIMTLAB_QUIET T operator--(int) const { return fetch_sub(T(1)); }
  __host__ __device__ SIMTLAB_QUIET T operator+=(T v) const { return static_cast<T>(fetch_add(v) + v); }
  __host__ __device__ SIMTLAB_QUIET T operator-=(T v) const { return static_cast<T>(fetch_sub(v) - v); }
  __host__ __device__ SIMTLAB_QUIET T operator&=(T v) const { return static_cast<T>(fetch_and(v) & v); }
  __host__ __device__ SIMTLAB_QUIET T operator|=(T v) const { return static_cast<T>(fetch_or(v) | v); }
  __host__ __device__ SIMTLAB_QUIET T operator^=(T v) const { return static_cast<T>(fetch_xor(v) ^ v); }
  __host__ __device__ SIMTLAB_QUIET void wait(T old, memory_order o = memory_order_seq_cst) const {
    while (cast<typename O::W>(load(o)) == cast<typename O::W>(old)) {
    }
  }
  __host__ __device__ SIMTLAB_QUIET void notify_one() const {}
  __host__ __device__ SIMTLAB_QUIET void notify_all() const {}
};

}  // namespace simtlab_atomic

template <class T, thread_scope S = thread_scope_system>
class atomic : public simtlab_atomic::Members<atomic<T, S>, T, S> {
  friend class simtlab_atomic::Members<atomic<T, S>, T, S>;
  alignas(sizeof(T)) mutable T value_;
  __host__ __device__ SIMTLAB_QUIET T* at() const { return &value_; }

 public:
  atomic() = default;
  __host__ __device__ SIMTLAB_QUIET constexpr atomic(T value) noexcept : value_(value) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  __host__ __device__ SIMTLAB_QUIET T operator=(T value) {
    this->store(value);
    return value;
  }
};

template <class T, thread_scope S = thread_scope_system>
class atomic_ref : public simtlab_atomic::Members<atomic_ref<T, S>, T, S> {
  friend class simtlab_atomic::Members<atomic_ref<T, S>, T, S>;
  T* at_;
  __host__ __device__ SIMTLAB_QUIET T* at() const { return at_; }

 public:
  static constexpr ::std::size_t required_alignment = sizeof(T);
  __host__ __device__ SIMTLAB_QUIET explicit atomic_ref(T& object) : at_(&object) {}
  atomic_ref(const atomic_ref&) = default;
  atomic_ref& operator=(const atomic_ref&) = delete;
  __host__ __device__ SIMTLAB_QUIET T operator=(T value) const {
    this->store(value);
    return value;
  }
};

template <thread_scope S = thread_scope_system>
class simtlab_atomic_flag {
  atomic<unsigned, S> set_{0};

 public:
  __host__ __device__ SIMTLAB_QUIET bool test_and_set(memory_order o = memory_order_seq_cst) { return set_.exchange(1, o) != 0; }
  __host__ __device__ SIMTLAB_QUIET bool test(memory_order o = memory_order_seq_cst) const { return set_.load(o) != 0; }
  __host__ __device__ SIMTLAB_QUIET void clear(memory_order o = memory_order_seq_cst) { set_.store(0, o); }
};
using atomic_flag = simtlab_atomic_flag<>;

__host__ __device__ SIMTLAB_QUIET inline void atomic_thread_fence(memory_order order,
                                                    thread_scope scope = thread_scope_system) {
  if (scope == thread_scope_system)
    simtlab_atomic::fence<thread_scope_system>(order);
  else if (scope == thread_scope_device)
    simtlab_atomic::fence<thread_scope_device>(order);
  else
    simtlab_atomic::fence<thread_scope_block>(order);
}

namespace std {
template <class T>
using atomic = cuda::atomic<T, thread_scope_system>;
template <class T>
using atomic_ref = cuda::atomic_ref<T, thread_scope_system>;
using cuda::atomic_flag;
using cuda::atomic_thread_fence;
}  // namespace std

}  // namespace cuda

#undef SIMTLAB_QUIET
