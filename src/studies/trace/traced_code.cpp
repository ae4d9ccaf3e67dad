#include "studies/trace/traced_code.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "machine/image.h"
#include "studies/common/device_code.h"

namespace simtlab::studies {
namespace {

constexpr std::uint64_t max_file_bytes = std::uint64_t{2} << 30;

// Cubins are opened when a kernel of their generation is looked for.
class TracedCode {
 public:
  explicit TracedCode(const std::string& file) : bytes_(read_file(file, max_file_bytes, "file")) {
    for (DeviceCode& code : find_device_code(bytes_, file)) cubins_.push_back({std::move(code), nullptr});
    if (cubins_.empty())
      throw Error(ExitCode::bad_input, "accelsim-cubin", fmt::format("{} holds no machine code", shown(file)),
                  "--cubin takes a cubin, or an executable or library with machine code");
  }

  stream::accelsim::KernelCode find(const std::string& kernel, unsigned version) {
    for (Cubin& cubin : cubins_) {
      if (cubin.code.generation != version) continue;
      if (!cubin.module)
        cubin.module = machine::open_cubin(cubin.code.contents(), cubin.code.name, machine::Purpose::timing);
      for (std::uint32_t i = 0; i < cubin.module->functions.size(); ++i)
        if (cubin.module->functions[i].name == kernel) return {cubin.module, i};
    }
    return {};
  }

 private:
  struct Cubin {
    DeviceCode code;
    std::shared_ptr<const ptx::Module> module;
  };
  std::string bytes_;
  std::vector<Cubin> cubins_;
};

}  // namespace

stream::accelsim::FindCode find_code_in(const std::string& file) {
  if (file.empty()) return {};
  const auto code = std::make_shared<TracedCode>(file);
  return [code](const std::string& kernel, unsigned version) { return code->find(kernel, version); };
}

}  // namespace simtlab::studies
