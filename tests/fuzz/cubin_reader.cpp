// Cubins as an attacker would write them: only simtlab::Error may come out.
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "machine/image.h"
#include "machine/listing.h"

namespace {

template <class F>
void tolerate(F&& f) {
  try {
    f();
  } catch (const simtlab::Error&) {}
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  tolerate([&] {
    const simtlab::machine::Image image = simtlab::machine::read_image(bytes, "fuzz");
    for (const auto& kernel : image.kernels) simtlab::machine::list_kernel(image, kernel);
  });
  tolerate([&] { simtlab::machine::load_cubin(bytes, "fuzz"); });
  return 0;
}
