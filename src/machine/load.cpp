// From a cubin to a module that is executed.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "machine/classes.h"
#include "machine/function.h"
#include "machine/join.h"
#include "machine/symbols.h"

namespace simtlab::machine {
namespace {

constexpr std::size_t most_problems_of_module = 50;

// The file of a module, for as long as kernels of it may still be needed.
class Cubin final : public ptx::LateCode {
 public:
  Cubin(std::string bytes, std::string name, Purpose purpose, ptx::Module& module)
      : bytes_(std::move(bytes)),
        image_(read_image(std::as_bytes(std::span(bytes_)), std::move(name))),
        views_(SassTable::shipped(image_.generation)),
        symbols_(image_, module),
        lines_(read_code_lines(image_.elf)),
        purpose_(purpose),
        module_(module) {
    symbols_.relocate();
    module.name = image_.name;
    module.target = fmt::format("sm_{}", image_.generation);
    for (std::size_t i = 0; i < lines_.source.files.size(); ++i)
      module.files[static_cast<unsigned>(i + 1)] = lines_.source.files[i];
    for (std::size_t i = 0; i < image_.kernels.size(); ++i) {
      if (!image_.kernels[i].is_entry) continue;
      module.functions.push_back(header_of(image_, image_.kernels[i]));
      kernels_.push_back(i);
    }
  }

  void complete(std::uint32_t number) override {
    const std::lock_guard lock(mutex_);
    ptx::Function& function = module_.functions.at(number);
    if (function.machine) return;
    ptx::Function whole = function;
    machine::complete(whole, image_, image_.kernels[kernels_[number]], symbols_, lines_, views_, purpose_);
    function = std::move(whole);
  }

  void check(std::uint32_t number) override {
    const std::lock_guard lock(mutex_);
    if (module_.functions.at(number).machine) return;
    ptx::Function whole = module_.functions[number];
    machine::complete(whole, image_, image_.kernels[kernels_[number]], symbols_, lines_, views_, purpose_);
  }

 private:
  std::string bytes_;
  Image image_;
  Views views_;
  Symbols symbols_;
  CodeLines lines_;
  Purpose purpose_;
  ptx::Module& module_;
  std::vector<std::size_t> kernels_;  // of the image, by function
  std::mutex mutex_;
};

}  // namespace

std::shared_ptr<const ptx::Module> open_cubin(std::string bytes, std::string name, Purpose purpose) {
  // Objects that are to be linked have shared memory and constants without places
  if (const Bytes all = std::as_bytes(std::span(bytes)); is_device_elf(all) && is_relocatable(all)) {
    std::vector<Object> objects(1);
    objects[0] = {std::move(bytes), name};
    bytes = join_objects(objects, Missing::stay);
  }
  auto module = std::make_shared<ptx::Module>();
  module->late = std::make_shared<Cubin>(std::move(bytes), std::move(name), purpose, *module);
  return module;
}

std::shared_ptr<const ptx::Module> load_cubin(Bytes bytes, std::string name) {
  auto module =
      open_cubin(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), std::move(name));
  std::vector<Diagnostic> problems;
  for (std::uint32_t i = 0; i < module->functions.size(); ++i) {
    try {
      module->complete(i);
    } catch (const Error& error) {
      if (error.id() != "machine-instruction") throw;
      for (const Diagnostic& d : error.diagnostics())
        if (problems.size() < most_problems_of_module) problems.push_back(d);
    }
  }
  if (!problems.empty()) throw Error(ExitCode::unsupported, "machine-instruction", std::move(problems));
  return module;
}

}  // namespace simtlab::machine
