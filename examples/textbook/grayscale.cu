// An image of three bytes a pixel to one of one, a pixel a thread, in square blocks.
//
//   grayscale AXIS [BLOCK-AXIS [LAUNCHES]]
#include <cstdint>

#include "textbook.h"

const char* const kUsage = "grayscale AXIS [BLOCK-AXIS [LAUNCHES]]";

__global__ void to_gray(const std::uint8_t* in, std::uint8_t* out, int width, int height) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= height || column >= width) return;
  const int pixel = row * width + column;
  const std::uint8_t red = in[3 * pixel], green = in[3 * pixel + 1], blue = in[3 * pixel + 2];
  out[pixel] = static_cast<std::uint8_t>(0.21f * red + 0.71f * green + 0.07f * blue);
}

int main(int argc, char** argv) {
  if (argc < 2 || argc > 4) wrong_words(kUsage);
  const int axis = whole(argv[1], 1, 16384, kUsage), block = argc > 2 ? whole(argv[2], 1, 32, kUsage) : 16;
  const int launches = argc > 3 ? whole(argv[3], 1, 1000, kUsage) : 4;
  const std::size_t count = static_cast<std::size_t>(axis) * axis;
  std::vector<std::uint8_t> in(3 * count), gray(count);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint8_t>(i * 37 % 251);
  for (std::size_t i = 0; i < count; ++i)
    gray[i] = static_cast<std::uint8_t>(0.21f * in[3 * i] + 0.71f * in[3 * i + 1] + 0.07f * in[3 * i + 2]);
  Buffer<std::uint8_t> din(in), dout(count);
  const dim3 grid(blocks_of(axis, block), blocks_of(axis, block));
  report_times([&] { to_gray<<<grid, dim3(block, block)>>>(din.data, dout.data, axis, axis); }, launches);
  // A fused multiply-add may round a sum that lies at a whole number to the other side.
  const std::vector<std::uint8_t> got = dout.get();
  bool right = true;
  for (std::size_t i = 0; i < count && right; ++i) right = std::abs(int{got[i]} - int{gray[i]}) <= 1;
  return verdict("grayscale", right);
}
