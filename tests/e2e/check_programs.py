"""Programs that `simtlab check` looks at in test_check_findings.py."""

# Each kernel stands on lines of its own; a comment at its end says which rules fire there ("none": no rule does).
KERNELS = """
__global__ void tile(float* a, const float* b) {                    // none
  __shared__ float s[256];
  s[threadIdx.x] = b[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = s[255 - threadIdx.x];
}
__global__ void no_barrier(float* a, const float* b) {              // race.shared
  __shared__ float s[256];
  s[threadIdx.x] = b[threadIdx.x];
  a[threadIdx.x] = s[255 - threadIdx.x];
}
__global__ void one_place(int* c) { c[0] = threadIdx.x; }           // race.global
__global__ void same_value(int* c) { c[0] = 7; }                    // race.same-value
__global__ void counts(int* c) { atomicAdd(c, 1); }                 // none
__global__ void counts_plainly(int* c) { c[0] = c[0] + 1; }         // race.global
__global__ void last_writes(int* c, int* o) { o[blockIdx.x * 32 + threadIdx.x] = c[threadIdx.x]; if (blockIdx.x == 1) c[threadIdx.x] = 5; }  // race.global
__global__ void of_a_block(int* c) { atomicAdd_block(c, 1); }       // race.scope
__global__ void beside(int* c) { if (threadIdx.x == 0) c[0] = 1; else atomicAdd(c, 1); }  // race.global
__global__ void warp(int* c) {                                      // none
  __shared__ int s[32];
  s[threadIdx.x % 32] = threadIdx.x;
  __syncwarp();
  c[threadIdx.x] = s[31 - threadIdx.x % 32];
}
__global__ void warp_in_step(int* c) {                              // race.shared
  __shared__ int s[32];
  s[threadIdx.x % 32] = threadIdx.x;
  c[threadIdx.x] = s[31 - threadIdx.x % 32];
}
__global__ void halves(int* c) {                                    // none
  __shared__ int s[32];
  int half = threadIdx.x / 16;
  s[threadIdx.x] = threadIdx.x;
  __syncwarp(half == 0 ? 0xffffu : 0xffff0000u);
  c[threadIdx.x] = s[half * 16 + 15 - threadIdx.x % 16];
}
__global__ void across_halves(int* c) {                             // race.shared
  __shared__ int s[32];
  int half = threadIdx.x / 16;
  s[threadIdx.x] = threadIdx.x;
  __syncwarp(half == 0 ? 0xffffu : 0xffff0000u);
  c[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void named(int* c) {                                     // none
  __shared__ int s[64];
  if (threadIdx.x < 64) {
    s[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    c[threadIdx.x] = s[63 - threadIdx.x];
  }
}
__global__ void fenced(int* data, int* flag, int* out) {            // none
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    data[0] = 42;
    __threadfence();
    atomicExch(flag, 1);
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    out[0] = data[0];
  }
}
__global__ void not_fenced(int* data, int* flag, int* out) {        // race.global
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    data[0] = 42;
    atomicExch(flag, 1);
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    out[0] = data[0];
  }
}
__global__ void not_acquired(int* data, int* flag, int* out) {      // race.unfenced
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    data[0] = 42;
    __threadfence();
    atomicExch(flag, 1);
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {}
    out[0] = data[0];
  }
}
__global__ void handed(int* data, int* flag, int* out) {            // none
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    data[1] = 42;
    f.store(1, cuda::memory_order_release);
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (f.load(cuda::memory_order_acquire) == 0) {}
    out[0] = data[1];
  }
}
__global__ void handed_relaxed(int* data, int* flag, int* out) {    // race.global
  cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    data[2] = 42;
    f.store(1, cuda::memory_order_relaxed);
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (f.load(cuda::memory_order_acquire) == 0) {}
    out[0] = data[2];
  }
}
__global__ void handed_in_the_block(int* data, int* flag, int* out) {  // race.scope race.global
  cuda::atomic_ref<int, cuda::thread_scope_block> f(*flag);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    data[3] = 42;
    f.store(1, cuda::memory_order_release);
  }
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (f.load(cuda::memory_order_acquire) == 0) {}
    out[0] = data[3];
  }
}
__global__ void each_fenced(int* data, int* flag, int* out) {       // none
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(flag, 1);
  } else {
    if (threadIdx.x == 0)
      while (atomicAdd(flag, 0) == 0) {}
    __syncthreads();
    __threadfence();
    out[threadIdx.x] = data[63 - threadIdx.x];
  }
}
__global__ void fenced_for_the_block(int* data, int* flag, int* out) {  // race.global
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;
    __threadfence_block();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(flag, 1);
  } else {
    if (threadIdx.x == 0)
      while (atomicAdd(flag, 0) == 0) {}
    __syncthreads();
    __threadfence();
    out[threadIdx.x] = data[63 - threadIdx.x];
  }
}
__global__ void last_resets(int* count, int* out) {                 // none
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(count, 1) == 3) {
    __threadfence();
    count[0] = 0;
  }
}
__global__ void any_resets(int* count, int* out) {                  // race.global
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(count, 1) == 1) {
    __threadfence();
    count[0] = 0;
  }
}
__global__ void counts_from_nothing(int* o) {                       // init.shared
  __shared__ int n;
  atomicAdd(&n, 1);
  __syncthreads();
  o[threadIdx.x] = 1;
}
__global__ void arrives_behind(int* o) {                            // none
  __shared__ int a[32];
  if (threadIdx.x < 32) {
    a[threadIdx.x] = 1;
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    o[threadIdx.x] = a[threadIdx.x - 32];
  }
}
__global__ void arrives_before(int* o) {                            // race.shared
  __shared__ int a[32];
  if (threadIdx.x < 32) {
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    a[threadIdx.x] = 1;
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    o[threadIdx.x] = a[threadIdx.x - 32];
  }
}
__global__ void left_early(int* o) {                                // none
  __shared__ int a[128];
  if (threadIdx.x >= 125) return;
  if (blockIdx.x > 7) return;
  for (int k = 0; k < 3; ++k) {
    a[threadIdx.x] = k;
    __syncthreads();
    o[threadIdx.x] = a[124 - threadIdx.x];
    __syncthreads();
  }
  a[threadIdx.x] = 3;
  __syncwarp();
  o[threadIdx.x] = a[threadIdx.x - (threadIdx.x % 32 != 0)] + __shfl_up_sync(0xffffffff, threadIdx.x, 1);
}
__global__ void first_guess(unsigned* n) {                          // race.guess
  unsigned old = *n, was;
  do old = atomicCAS(n, was = old, old + threadIdx.x);
  while (old != was);
}
__global__ void no_guess(unsigned* n, int* o) {                     // race.global
  const unsigned old = *n;
  o[threadIdx.x] = old;
  atomicCAS(n, threadIdx.x, threadIdx.x + 1);
}
__device__ unsigned at(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ void expects(unsigned long long* b, unsigned n) {
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory");
  __syncthreads();
}
__device__ void arrives(unsigned long long* b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(b)) : "memory"); }
__device__ void waits(unsigned long long* b) {
  asm volatile("{ .reg .pred p; W: mbarrier.test_wait.parity.shared.b64 p, [%0], 0; @!p bra W; }" ::"r"(at(b)) : "memory");
}
__device__ void copies(int* to, const int* from, unsigned long long* b) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(to)), "l"(from) : "memory");
  if (b != nullptr) asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at(b)) : "memory");
}
__global__ void phase(int* o) {                                     // none
  __shared__ unsigned long long b; __shared__ int s[64];
  expects(&b, 64);
  s[threadIdx.x] = 1;
  arrives(&b); waits(&b);
  o[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void phase_not_awaited(int* o) {                         // race.shared
  __shared__ unsigned long long b; __shared__ int s[64];
  expects(&b, 64);
  s[threadIdx.x] = 1;
  arrives(&b);
  o[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void phase_too_early(int* o) {                           // race.shared
  __shared__ unsigned long long b; __shared__ int s[64];
  expects(&b, 64);
  arrives(&b);
  s[threadIdx.x] = 1;
  waits(&b);
  o[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void copied(int* o, const int* c) {                      // none
  __shared__ unsigned long long b; __shared__ int s[64];
  expects(&b, 64);
  copies(&s[threadIdx.x], &c[threadIdx.x], &b); waits(&b);
  o[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void copied_beside(int* o, const int* c) {               // race.async
  __shared__ unsigned long long b; __shared__ int s[64];
  expects(&b, 64);
  copies(&s[threadIdx.x], &c[threadIdx.x], nullptr);
  arrives(&b); waits(&b);
  o[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void barrier_not_set(int* o) {                           // init.shared
  __shared__ unsigned long long b;
  arrives(&b);
  o[threadIdx.x] = 1;
}
__device__ void brings(int* to, const int* from, unsigned bytes, unsigned long long* b) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(b)), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(at(to)), "l"(from), "r"(bytes), "r"(at(b)) : "memory");
}
__device__ void takes(int* to, const int* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(at(from)), "r"(bytes) : "memory");
}
__global__ void brought(int* o, const int* c) {                     // none
  __shared__ unsigned long long b; __shared__ __align__(16) int s[64];
  expects(&b, 1);
  if (threadIdx.x == 0) brings(s, c, 256, &b);
  waits(&b);
  o[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void brought_too_late(int* o, const int* c) {            // race.async race.shared
  __shared__ unsigned long long b; __shared__ __align__(16) int s[64];
  expects(&b, 1);
  if (threadIdx.x == 0) brings(s, c, 256, &b);
  o[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void taken(int* o) {                                     // none
  __shared__ __align__(16) int s[64];
  s[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) takes(o, s, 256);
}
__device__ void closes() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <bool reads, int left> __device__ void taken_waits() {
  if (reads) asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(left) : "memory");
  else asm volatile("cp.async.bulk.wait_group %0;" ::"n"(left) : "memory");
}
// Stores a row, copies it out, and stores another one at the same place.
#define TWICE(waits) __shared__ __align__(16) int s[64]; for (int i = 0; i < 2; ++i) { \\
  s[threadIdx.x] = threadIdx.x + i; asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads(); \\
  if (threadIdx.x == 0) { takes(o + 64 * i, s, 256); waits } __syncthreads(); }
__global__ void taken_again(int* o) { TWICE(closes(); (taken_waits<true, 0>());) }                // none
__global__ void taken_again_all(int* o) { TWICE(closes(); (taken_waits<false, 0>());) }           // none
__global__ void taken_again_too_early(int* o) { TWICE(closes();) }                                // race.async
__global__ void taken_again_one_left(int* o) { TWICE(closes(); (taken_waits<true, 1>());) }       // race.async
__global__ void taken_again_outside(int* o) { TWICE((taken_waits<true, 0>()); closes();) }        // race.async
__global__ void taken_again_by_thread(int* o) {                     // race.async
  __shared__ __align__(16) int s[64];
  s[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) { takes(o, s, 256); closes(); s[5] = 1; }
}
// Two buffers in turn: the copy before the last one has to be done.
#define IN_TURNS(left) __shared__ __align__(16) int s[2][64]; for (int i = 0; i < 4; ++i) { \\
  if (threadIdx.x == 0) taken_waits<true, left>(); \\
  __syncthreads(); \\
  s[i % 2][threadIdx.x] = threadIdx.x + i; asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads(); \\
  if (threadIdx.x == 0) { takes(o + 64 * i, s[i % 2], 256); closes(); } }
__global__ void taken_from_two(int* o) { IN_TURNS(1) }                                            // none
__global__ void taken_from_two_late(int* o) { IN_TURNS(2) }                                       // race.async
__global__ void taken_and_read(int* o) {                            // none
  __shared__ __align__(16) int s[64];
  s[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) { takes(o, s, 256); closes(); }
  const int mine = s[threadIdx.x];                                  // beside the copy: both read
  if (threadIdx.x == 0) taken_waits<false, 0>();
  __syncthreads();
  s[threadIdx.x] = o[63 - threadIdx.x] + mine;
}
__global__ void taken_and_read_early(int* o) {                      // race.async
  __shared__ __align__(16) int s[64];
  s[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) { takes(o, s, 256); closes(); taken_waits<true, 0>(); }
  __syncthreads();
  o[64 + threadIdx.x] = o[63 - threadIdx.x];
}
__global__ void brought_by_own(int* o, const int* c) {              // race.async
  __shared__ unsigned long long b; __shared__ __align__(16) int s[64];
  expects(&b, 1);
  if (threadIdx.x == 0) { brings(s, c, 256, &b); o[0] = s[3]; }
}
__global__ void brought_in_rounds(int* o, const int* c) {           // none
  __shared__ unsigned long long b; __shared__ __align__(16) int s[64];
  expects(&b, 1);
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    if (threadIdx.x == 0) brings(s, c + 64 * i, 256, &b);
    asm volatile("{ .reg .pred p; W: mbarrier.test_wait.parity.shared.b64 p, [%0], %1; @!p bra W; }" ::"r"(at(&b)), "r"(i % 2) : "memory");
    sum += s[63 - threadIdx.x];
    __syncthreads();
  }
  o[threadIdx.x] = sum;
}
__global__ void brought_for_a_warp(int* o, const int* c) {          // none
  __shared__ unsigned long long b; __shared__ __align__(16) int s[64];
  expects(&b, 1);
  if (threadIdx.x == 0) { brings(s, c, 256, &b); waits(&b); }
  __syncthreads();
  o[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void copied_by_own(int* o, const int* c) {               // race.async
  __shared__ unsigned long long b; __shared__ int s[64];
  expects(&b, 64);
  copies(&s[threadIdx.x], &c[threadIdx.x], &b);
  o[threadIdx.x] = s[threadIdx.x];
}
__global__ void copied_and_waited(int* o, const int* c) {           // none
  __shared__ unsigned long long b; __shared__ int s[64];
  expects(&b, 64);
  copies(&s[threadIdx.x], &c[threadIdx.x], &b);
  asm volatile("cp.async.wait_all;" ::: "memory");
  o[threadIdx.x] = s[threadIdx.x];
}
__global__ void copied_in_rounds(int* o, const int* c) {            // none
  __shared__ unsigned long long b; __shared__ int s[2][64];
  expects(&b, 64);
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    copies(&s[i % 2][threadIdx.x], &c[64 * i + threadIdx.x], &b);
    asm volatile("{ .reg .pred p; W: mbarrier.test_wait.parity.shared.b64 p, [%0], %1; @!p bra W; }" ::"r"(at(&b)), "r"(i % 2) : "memory");
    sum += s[i % 2][63 - threadIdx.x];
    __syncthreads();
  }
  o[threadIdx.x] = sum;
}
__global__ void taken_without_fence(int* o) {                       // race.proxy
  __shared__ __align__(16) int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) takes(o, s, 256);
}
__global__ void taken_too_early(int* o) {                           // race.async race.shared
  __shared__ __align__(16) int s[64];
  s[threadIdx.x] = threadIdx.x;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  if (threadIdx.x == 0) takes(o, s, 256);
}
__global__ void sometimes_set(int* c, int n, int m) {               // init.register
  int x;
  if (threadIdx.x < n) x = c[0];
  if (x > m) c[threadIdx.x + 1] = 1;
}
__global__ void set_where_used(int* c, int n, int m) {              // none
  int x; bool set = false;
  if (threadIdx.x < n) { x = c[0]; set = true; }
  for (int i = 0; i < m; ++i)
    if (set && x > i) c[threadIdx.x + 1] = i;
}
__global__ void bytes(unsigned char* c) { c[threadIdx.x] = threadIdx.x; }          // none
__global__ void same_byte(unsigned char* c) { c[threadIdx.x / 2] = threadIdx.x; }  // race.global
__global__ void word_of_bytes(unsigned char* c) { if (threadIdx.x == 0) *(int*)c = 1; else if (threadIdx.x == 3) c[3] = 2; }  // race.global
__global__ void sums(float* o, const float* unwritten) { o[threadIdx.x] = unwritten[threadIdx.x] + 1; }  // init.global
__global__ void moves(float* o, const float* unwritten) { o[threadIdx.x] = unwritten[threadIdx.x]; }     // none
__global__ void half_a_tile(float* o) {                             // init.shared
  __shared__ float s[64];
  if (threadIdx.x < 32) s[threadIdx.x] = 1;
  __syncthreads();
  o[threadIdx.x] = s[threadIdx.x] * 2;
}
__global__ void parted(int* c) {                                    // barrier.divergent
  if (threadIdx.x < 16) {
    __syncthreads();
    c[threadIdx.x] = 1;
  } else {
    c[threadIdx.x] = 2;
    __syncthreads();
  }
}
__global__ void stranger(int* c) { if (threadIdx.x < 8) c[threadIdx.x] = __shfl_sync(0xf0u, threadIdx.x, 4); }  // barrier.mask
__global__ void beyond(int* c, int n) { c[threadIdx.x + n] = 1; }   // memory.out-of-bounds
__global__ void freed(int* c) { c[threadIdx.x] = 1; }               // memory.use-after-free
__global__ void put(int* c) { c[threadIdx.x] = threadIdx.x; }       // none
__global__ void get(int* o, const int* c) { o[threadIdx.x] = c[threadIdx.x]; }      // none
__global__ void get_early(int* o, const int* c) { o[threadIdx.x] = c[threadIdx.x]; }  // race.global
"""
HOST = """
int main() {
  float *f, *g, *u, *v; int *c, *d, *e, *x, *gone; unsigned char* k; cudaStream_t s, t; cudaEvent_t event;
  cudaMalloc(&f, 4096); cudaMalloc(&g, 4096); cudaMalloc(&u, 4096); cudaMalloc(&v, 4096); cudaMalloc(&c, 4096);
  cudaMalloc(&d, 4096); cudaMalloc(&e, 4096); cudaMalloc(&k, 4096); cudaMalloc(&x, 4096); cudaMalloc(&gone, 4096);
  cudaMemset(g, 0, 4096); cudaMemset(c, 0, 4096); cudaMemset(e, 0, 4096);
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
  cudaEventCreate(&event);
  tile<<<2, 256>>>(f, g);  // blocks write the same values: of one block only
  no_barrier<<<1, 256>>>(f, g);
  one_place<<<1, 64>>>(c); same_value<<<1, 64>>>(c); counts<<<2, 64>>>(c); counts_plainly<<<2, 1>>>(c);
  last_writes<<<2, 32>>>(c, x); of_a_block<<<2, 32>>>(c); beside<<<1, 64>>>(c);
  warp<<<1, 32>>>(c); warp_in_step<<<1, 32>>>(c); halves<<<1, 32>>>(c); across_halves<<<1, 32>>>(c); named<<<1, 96>>>(c);
  fenced<<<2, 32>>>(d, e, c); cudaMemset(e, 0, 4096);
  not_fenced<<<2, 32>>>(d, e, c); cudaMemset(e, 0, 4096);
  not_acquired<<<2, 32>>>(d, e, c);
  cudaMemset(e, 0, 4096); handed<<<2, 32>>>(d, e, c); cudaMemset(e, 0, 4096); handed_relaxed<<<2, 32>>>(d, e, c);
  cudaMemset(e, 0, 4096); handed_in_the_block<<<2, 32>>>(d, e, c);
  cudaMemset(e, 0, 4096); each_fenced<<<2, 64>>>(d, e, c); cudaMemset(e, 0, 4096); fenced_for_the_block<<<2, 64>>>(d, e, c);
  cudaMemset(e, 0, 4096); last_resets<<<4, 32>>>(e, c); cudaMemset(e, 0, 4096); any_resets<<<4, 32>>>(e, c);
  counts_from_nothing<<<1, 32>>>(c);
  cudaMemset(e, 0, 4096); first_guess<<<2, 32>>>((unsigned*)e); no_guess<<<1, 32>>>((unsigned*)e, c);
  left_early<<<1, 128>>>(c);
  arrives_behind<<<1, 64>>>(c); arrives_before<<<1, 64>>>(c);
  phase<<<1, 64>>>(c); phase_not_awaited<<<1, 64>>>(c); phase_too_early<<<1, 64>>>(c);
  copied<<<1, 64>>>(x, c); copied_beside<<<1, 64>>>(x, c); barrier_not_set<<<1, 32>>>(x);
  brought<<<1, 64>>>(x, c); brought_too_late<<<1, 64>>>(x, c); taken<<<1, 64>>>(x); taken_without_fence<<<1, 64>>>(x); taken_too_early<<<1, 64>>>(x);
  taken_again<<<1, 64>>>(x); taken_again_all<<<1, 64>>>(x); taken_again_too_early<<<1, 64>>>(x); taken_again_one_left<<<1, 64>>>(x);
  taken_again_outside<<<1, 64>>>(x); taken_again_by_thread<<<1, 64>>>(x); taken_from_two<<<1, 64>>>(x); taken_from_two_late<<<1, 64>>>(x);
  taken_and_read<<<1, 64>>>(x); taken_and_read_early<<<1, 64>>>(x);
  brought_by_own<<<1, 64>>>(x, c); brought_in_rounds<<<1, 64>>>(x, c); brought_for_a_warp<<<1, 64>>>(x, c);
  copied_by_own<<<1, 64>>>(x, c); copied_and_waited<<<1, 64>>>(x, c); copied_in_rounds<<<1, 64>>>(x, c);
  cudaMemset(c, 0, 4096); sometimes_set<<<1, 64>>>(c, 20, 3); set_where_used<<<1, 64>>>(c, 20, 3);
  bytes<<<1, 128>>>(k); same_byte<<<1, 128>>>(k); word_of_bytes<<<1, 32>>>(k);
  moves<<<1, 64>>>(v, u); sums<<<1, 64>>>(f, u); half_a_tile<<<1, 64>>>(f);
  parted<<<1, 32>>>(c); stranger<<<1, 32>>>(c); beyond<<<1, 32>>>(c, 1020);
  cudaFree(gone); freed<<<1, 32>>>(gone);
  put<<<1, 64, 0, s>>>(c); cudaEventRecord(event, s); cudaStreamWaitEvent(t, event, 0); get<<<1, 64, 0, t>>>(x, c);
  cudaDeviceSynchronize();
  put<<<1, 64, 0, s>>>(d); get_early<<<1, 64, 0, t>>>(x, d);
  cudaDeviceSynchronize();
  cudaFree(f); cudaFree(g); cudaFree(u); cudaFree(v); cudaFree(c); cudaFree(d); cudaFree(e); cudaFree(k);
  return 0;
}
"""
PROGRAM = ("#include <cuda_runtime.h>\n#include <cuda/atomic>\n" + KERNELS + HOST).replace(
    "tile<<<2, 256>>>(f, g);  // blocks write the same values: of one block only", "tile<<<1, 256>>>(f, g);"
)
LOCK = """
#include <cuda_runtime.h>
// Whether the lock's missing fence shows depends on who takes it first.
__global__ void locked(volatile int* data, int* lock) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {}
  if (blockIdx.x != 0) __threadfence();
  data[0] = blockIdx.x;
  __threadfence();
  atomicExch(lock, 0);
}
__global__ void sum(float* total) { atomicAdd(total, blockIdx.x == 0 ? 1e8f : 1.f); }
int main() {
  int *d, *l; float* t;
  cudaMalloc(&d, 4); cudaMalloc(&l, 4); cudaMalloc(&t, 4);
  cudaMemset(l, 0, 4); cudaMemset(t, 0, 4);
  locked<<<2, 32>>>(d, l); sum<<<32, 1>>>(t);
  cudaDeviceSynchronize(); cudaFree(d); cudaFree(l); cudaFree(t);
}
"""
COPIES = """
#include <cuda_runtime.h>
#include <vector>
struct Padded { char c; double d; };
__global__ void most(int* o) { if (threadIdx.x < 999) o[threadIdx.x] = 1; }
__global__ void moved(int* o, const int* a) { if (threadIdx.x < 100) o[threadIdx.x] = a[threadIdx.x]; }
__global__ void padded(Padded* o) { o[threadIdx.x].c = 1; o[threadIdx.x].d = 2; }
int main() {
  int *o, *a, *b; Padded* p; std::vector<char> h(4000);
  cudaMalloc(&o, 4000); cudaMalloc(&a, 400); cudaMalloc(&b, 400); cudaMalloc(&p, 100 * sizeof(Padded));
  most<<<1, 1024>>>(o); moved<<<1, 128>>>(b, a); padded<<<1, 100>>>(p);
  cudaMemcpy(h.data(), o, 3996, cudaMemcpyDeviceToHost);
  cudaMemcpy(h.data(), o, 4000, cudaMemcpyDeviceToHost);
  cudaMemcpy(h.data(), b, 400, cudaMemcpyDeviceToHost);
  cudaMemcpy(h.data(), p, 100 * sizeof(Padded), cudaMemcpyDeviceToHost);
  cudaFree(o); cudaFree(a); cudaFree(b); cudaFree(p);
}
"""
NUMBERS = """
#include <cuda_runtime.h>
__global__ void divides(float* o, const float* a, const float* b) { float q = a[threadIdx.x] / b[threadIdx.x]; o[threadIdx.x] = q - 1; }
int main() {
  float *o, *a; cudaMalloc(&o, 256); cudaMalloc(&a, 256); cudaMemset(a, 0, 256);
  divides<<<1, 64>>>(o, a, a); cudaDeviceSynchronize(); cudaFree(o); cudaFree(a);
}
"""
