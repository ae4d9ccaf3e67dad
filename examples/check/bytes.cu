// Bytes and halves of words: neighbours in one word belong to different threads.
#include "../example.h"

__global__ void reverse(int n, const unsigned char* in, unsigned char* out) {
  __shared__ unsigned char part[96];
  const int t = threadIdx.x, i = blockIdx.x * 96 + t;
  if (i < n) part[t] = in[i];
  __syncthreads();
  const int last = n - blockIdx.x * 96 < 96 ? n - blockIdx.x * 96 : 96;
  if (i < n) out[i] = part[last - 1 - t];
}

__global__ void blur(int n, const short* in, short* out) {
  __shared__ short near[66];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  near[t + 1] = i < n ? in[i] : 0;
  if (t == 0) near[0] = i > 0 ? in[i - 1] : 0;
  if (t == 63) near[65] = i + 1 < n ? in[i + 1] : 0;
  __syncthreads();
  if (i < n) out[i] = near[t] + 2 * near[t + 1] + near[t + 2];
}

// Bytes of a word, summed with those of other threads; then the words again as bytes.
__global__ void pack(int n, const unsigned char* in, unsigned* words, unsigned char* flags) {
  __shared__ unsigned char mine[128];
  __shared__ unsigned packed[32];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  mine[t] = i < n ? in[i] & 0x7f : 0;
  __syncthreads();
  if (t < 32) packed[t] = mine[4 * t] | mine[4 * t + 1] << 8 | mine[4 * t + 2] << 16 | mine[4 * t + 3] << 24;
  __syncthreads();
  if (t < 32) words[blockIdx.x * 32 + t] = packed[31 - t];
  if (i < n) flags[i] = (packed[t / 4] >> t % 4 * 8 & 1) != 0;
}

int main() {
  const int n = 1001, blocks = (n + 127) / 128;
  std::vector<unsigned char> bytes(blocks * 128), got_reverse(n), got_flags(n);
  std::vector<short> shorts(n), got_blur(n);
  std::vector<unsigned> got_words(blocks * 32);
  for (int i = 0; i < n; ++i) bytes[i] = shorts[i] = static_cast<short>(i * 7 % 251);
  unsigned char *in, *reversed, *flags;
  short *in_short, *blurred;
  unsigned* words;
  CHECK(cudaMalloc(&in, n * sizeof(char)));
  CHECK(cudaMalloc(&reversed, n * sizeof(char)));
  CHECK(cudaMalloc(&flags, n * sizeof(char)));
  CHECK(cudaMalloc(&in_short, n * sizeof(short)));
  CHECK(cudaMalloc(&blurred, n * sizeof(short)));
  CHECK(cudaMalloc(&words, blocks * 32 * sizeof(unsigned)));
  CHECK(cudaMemcpy(in, bytes.data(), n * sizeof(char), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(in_short, shorts.data(), n * sizeof(short), cudaMemcpyHostToDevice));
  reverse<<<(n + 95) / 96, 96>>>(n, in, reversed);
  blur<<<(n + 63) / 64, 64>>>(n, in_short, blurred);
  pack<<<blocks, 128>>>(n, in, words, flags);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(got_reverse.data(), reversed, n * sizeof(char), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_blur.data(), blurred, n * sizeof(short), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_words.data(), words, blocks * 32 * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_flags.data(), flags, n * sizeof(char), cudaMemcpyDeviceToHost));
  bool pass = true;
  for (int i = 0; i < n; ++i) {
    const int first = i / 96 * 96, last = n - first < 96 ? n - first : 96;
    pass = pass && got_reverse[i] == bytes[first + last - 1 - (i - first)];
    const int sum = (i > 0 ? shorts[i - 1] : 0) + 2 * shorts[i] + (i + 1 < n ? shorts[i + 1] : 0);
    pass = pass && got_blur[i] == sum && got_flags[i] == (bytes[i] & 1);
  }
  for (int i = 0; i < blocks * 32; ++i)
    for (int k = 0; k < 4; ++k)
      pass = pass &&
             (got_words[i] >> 8 * k & 0xff) == (bytes[(i / 32 * 32 + 31 - i % 32) * 4 + k] & 0x7fu);
  CHECK(cudaFree(in));
  CHECK(cudaFree(reversed));
  CHECK(cudaFree(flags));
  CHECK(cudaFree(in_short));
  CHECK(cudaFree(blurred));
  CHECK(cudaFree(words));
  return verdict("bytes", pass);
}
