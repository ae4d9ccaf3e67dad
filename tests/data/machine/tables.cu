// Functions whose addresses are data: a table, virtual functions, a pointer that another kernel left.
typedef unsigned (*Function)(unsigned);
__device__ __noinline__ unsigned triple(unsigned x) { return 3 * x; }
__device__ __noinline__ unsigned square(unsigned x) { return x * x + 1; }
__device__ Function table[2] = {triple, square};
__device__ Function kept;

struct Shape {
  unsigned side;
  __device__ virtual unsigned area() const { return side; }
};
struct Square : Shape {
  __device__ unsigned area() const override { return side * side; }
};
struct Twice : Shape {
  __device__ unsigned area() const override { return 2 * side + 7; }
};

extern "C" __global__ void tables(const unsigned* in, unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  Square a;
  Twice b;
  a.side = b.side = in[i + 64];
  const Shape* const shape = in[i] & 1 ? static_cast<const Shape*>(&a) : &b;
  out[i] = table[in[i] & 1](in[i]) + shape->area();
}
extern "C" __global__ void keep() { kept = square; }
extern "C" __global__ void use(const unsigned* in, unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = kept(in[i]);
}
