#include "corun/cycle/recording.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/kernel_name.h"
#include "base/shown.h"

namespace simtlab::corun::cycle {
namespace {

constexpr std::size_t most_launches = 4096;  // of one iteration; each is kept
constexpr std::size_t most_transfers = 1 << 20;

[[noreturn]] void refuse(const std::filesystem::path& trace, const std::string& why,
                         const std::string& hint) {
  throw Error(ExitCode::bad_input, "corun-recording", fmt::format("{}: {}", shown(trace.string()), why),
              hint);
}

}  // namespace

Recording::Recording(const std::filesystem::path& trace) : reader_(stream::trace::open(trace)) {
  std::size_t begin = 0;
  while (std::optional<stream::trace::Operation> operation = reader_->next()) {
    using enum stream::trace::OpKind;
    if (operation->kind == copy || operation->kind == fill || operation->kind == invalidate) {
      if (transfers_.size() == most_transfers)
        refuse(trace, fmt::format("more than {} copies", most_transfers),
               "record a shorter part, and repeat it: iterations = N");
      transfers_.push_back({operation->kind, operation->a, operation->b});
    }
    if (operation->kind != kernel) continue;
    if (kernels_.size() == most_launches)
      refuse(trace, fmt::format("more than {} launches", most_launches),
             "record a shorter part, and repeat it: iterations = N");
    if (!operation->kernel.whole())
      refuse(trace, fmt::format("launch {} is there in part only", kernels_.size() + 1),
             "an application is made of whole launches: record them without --keep and the like");
    kernels_.push_back(operation->kernel);
    transfers_of_.push_back(begin);
    begin = transfers_.size();
    names_.push_back(demangle(reader_->codes()[operation->kernel.function].function().name));
  }
  if (kernels_.empty()) refuse(trace, "no kernel was launched", "an application of a mix launches kernels");
  transfers_of_.push_back(begin);
  made_.resize(kernels_.size());
}

std::span<const Recording::Transfer> Recording::before(std::size_t launch) const {
  const std::size_t begin = transfers_of_[launch],
                    end = launch + 1 < transfers_of_.size() ? transfers_of_[launch + 1] : transfers_.size();
  return std::span(transfers_).subspan(begin, end - begin);
}

const std::string& Recording::mangled(std::size_t launch) const {
  return reader_->codes()[kernels_[launch].function].function().name;
}

const stream::trace::ReplayedLaunch& Recording::launch(std::size_t launch) const {
  std::unique_ptr<stream::trace::ReplayedLaunch>& made = made_[launch];
  if (made == nullptr) made = std::make_unique<stream::trace::ReplayedLaunch>(*reader_, kernels_[launch]);
  return *made;
}

}  // namespace simtlab::corun::cycle
