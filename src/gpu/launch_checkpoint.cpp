#include "gpu/launch_checkpoint.h"

#include <fmt/format.h>

#include <utility>

#include "base/hash.h"
#include "machine/code.h"

namespace simtlab::gpu {
namespace {

std::string shape(const exec::Dim3& d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }

// What has to be equal for a launch to be the one of the file.
Checkpoint::Launch describe(const KernelJob& job) {
  const stream::WarpSource& launch = *job.source;
  Checkpoint::Launch out;
  out.kernel = launch.function().name;
  out.traits = {{"the grid", shape(launch.grid())},
                {"the block", shape(launch.block())},
                {"the shared memory", fmt::format("{} bytes", launch.shared_bytes())},
                {"the stream", fmt::format("{}", job.stream)}};
  const std::shared_ptr<const std::string>& text = launch.module().text;
  if (text && !launch.function().machine)
    out.traits.emplace_back(
        "the code", (launch.function().optimised ? "optimised PTX with the hash " : "PTX with the hash ") +
                        hash_bytes(*text));
  if (const auto& code = launch.function().machine)
    out.traits.emplace_back("the code", "machine code with the hash " +
                                            hash_bytes({reinterpret_cast<const char*>(code->words.data()),
                                                        code->words.size() * sizeof(machine::Word)}));
  if (!job.launch) return out;
  const std::span<const std::byte> arguments = job.launch->params().params;
  out.traits.emplace_back(
      "the value of the arguments",
      "bytes with the hash " +
          hash_bytes({reinterpret_cast<const char*>(arguments.data()), arguments.size()}));
  return out;
}

}  // namespace

LaunchCheckpoint::LaunchCheckpoint(const CheckpointOptions& options, Checkpoint::Machine machine,
                                   const Print& print, KernelSink& sink)
    : file_(options.wanted() ? std::make_unique<Checkpoint>(options) : nullptr),
      machine_(machine),
      print_(print),
      sink_(sink) {}

std::optional<bool> LaunchCheckpoint::begin(Work& work, double at_ns) {
  KernelJob& job = job_of(work);
  job.description = describe(job);
  printed_.clear();
  job.known = file_->before(job.description, machine_);
  if (!job.known) return std::nullopt;
  under_way_ = &work;
  work.begin_ns = at_ns;
  if (machine_.timing != nullptr && job.known->result) return false;
  end(at_ns);
  return true;
}

Work* LaunchCheckpoint::advance(double until_ns) {
  Work& work = *under_way_;
  const double end_ns = work.begin_ns + job_of(work).known->result->metrics.get("gpu.time").value_or(0);
  if (end_ns > until_ns) return nullptr;
  end(end_ns);
  return &work;
}

void LaunchCheckpoint::end(double end_ns) {
  Work& work = *std::exchange(under_way_, nullptr);
  KernelJob& job = job_of(work);
  const Checkpoint::Replayed known = std::move(*job.known);
  job.known.reset();
  file_->apply(machine_);
  if (print_ && !known.printed.empty()) print_(known.printed);
  work.end_ns = end_ns;
  if (known.result) sink_.keep(job, result::KernelResult(*known.result), work.begin_ns);
}

void LaunchCheckpoint::after(const KernelJob& job, const result::KernelResult* result) {
  if (file_) file_->after(job.description, result, printed_, machine_);
}

void LaunchCheckpoint::print(std::string_view text) {
  printed_ += text;
  if (print_) print_(text);
}

void LaunchCheckpoint::finish(bool ended) {
  if (const std::unique_ptr<Checkpoint> last = std::move(file_)) last->finish(ended);
}

}  // namespace simtlab::gpu
