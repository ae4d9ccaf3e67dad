#include "gpu/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/shown.h"
#include "result/json.h"

namespace simtlab::gpu {

using stream::checkpoint::Part;
using stream::checkpoint::Reader;
using stream::trace::Buffer;
using stream::trace::Bytes;
using stream::trace::Malformed;
using stream::trace::put_number;
using stream::trace::put_text;
using stream::trace::put_u64;

namespace {

constexpr std::size_t most_text = std::size_t{32} << 20;
constexpr std::size_t piece_bytes = std::size_t{4} << 20;
constexpr std::chrono::seconds between_states{60};

Buffer run_part(const CheckpointOptions& options) {
  Buffer out;
  put_number(out, options.run.size());
  for (const auto& [name, value] : options.run) {
    put_text(out, name);
    put_text(out, value);
  }
  return out;
}

std::string result_text(const result::KernelResult* result) {
  if (result == nullptr) return {};
  result::Result one;
  one.kernels.push_back(*result);
  return result::to_json(one);
}

Buffer launch_part(const Checkpoint::Launch& launch, const result::KernelResult* result,
                   std::string_view printed, const exec::DeviceHeap& heap) {
  Buffer out;
  put_text(out, launch.kernel);
  put_number(out, launch.traits.size());
  for (const auto& [name, value] : launch.traits) {
    put_text(out, name);
    put_text(out, value);
  }
  put_u64(out, launch.memory);
  put_text(out, result_text(result));
  put_text(out, printed);
  put_number(out, heap.blocks().size());
  std::uint64_t at = 0;
  for (const auto& [address, bytes] : heap.blocks()) {
    put_number(out, address - at);
    put_number(out, bytes);
    at = address;
  }
  return out;
}

}  // namespace

Checkpoint::Checkpoint(const CheckpointOptions& options) : every_(options.every) {
  if (!options.resume.empty()) {
    reader_ = stream::checkpoint::open(options.resume);
    check_run(options);
  }
  if (options.write.empty()) return;
  writer_ = std::make_unique<stream::checkpoint::Writer>(options.write);
  writer_->write(Part::run, run_part(options));
}

void Checkpoint::mismatch(std::string text) const {
  throw Error(
      ExitCode::bad_input, "checkpoint-mismatch", fmt::format("{}: {}", reader_->name(), text),
      "--resume continues the run that wrote the checkpoint: the same command, input and configuration");
}

void Checkpoint::check_run(const CheckpointOptions& options) const {
  const Buffer content = reader_->read(reader_->run());
  std::map<std::string, std::string> then;
  try {
    Bytes in(content);
    for (std::size_t n = in.count(); n > 0; --n) {
      std::string name = in.text(most_text);
      then[std::move(name)] = in.text(most_text);
    }
    in.end();
  } catch (const Malformed& e) { reader_->damaged(reader_->run().offset, e.what()); }
  for (const auto& [name, value] : options.run) {
    const auto found = then.find(name);
    if (found == then.end()) mismatch(fmt::format("the run that it continues knew no {}", name));
    if (found->second != value)
      mismatch(fmt::format("the run that it continues had {} = {}, this one has {}", name,
                           shown(found->second), shown(value)));
  }
}

// Compares what the part begins with.
void Checkpoint::check(const Launch& launch, Bytes& in) const {
  const auto refuse = [&](std::string_view what, const std::string& then, const std::string& now) {
    mismatch(fmt::format("launch {}: {} was {}, now it is {}", replayed_ + 1, what, shown(then), shown(now)));
  };
  const std::string kernel = in.text(most_text);
  if (kernel != launch.kernel) refuse("the kernel", kernel, launch.kernel);
  const std::size_t traits = in.count();
  for (std::size_t i = 0; i < traits; ++i) {
    const std::string name = in.text(most_text), value = in.text(most_text);
    const auto now =
        std::ranges::find(launch.traits, std::string_view(name), [](const auto& t) { return t.first; });
    if (now == launch.traits.end()) throw Malformed("a launch has a trait that no launch has");
    if (now->second != value)
      refuse(fmt::format("{} of kernel '{}'", name, shown(kernel)), value, now->second);
  }
  if (in.u64() != launch.memory)
    mismatch(fmt::format("launch {}, kernel '{}': device memory holds something else than it did then",
                         replayed_ + 1, shown(kernel)));
}

std::optional<Checkpoint::Replayed> Checkpoint::before(Launch& launch, const Machine& machine) {
  pages_ = stream::checkpoint::hash_pages(machine.memory);
  launch.memory = stream::checkpoint::digest(machine.memory, pages_);
  if (!reader_ || replayed_ == reader_->launches().size()) return std::nullopt;
  const Reader::Launch& known = reader_->launches()[replayed_];
  const Buffer content = reader_->read(known.entry);
  Replayed out;
  try {
    Bytes in(content);
    check(launch, in);
    const std::string text = in.text(most_text);
    out.printed = in.text(most_text);
    if (!text.empty()) {
      result::Result one = result::result_from_json(text, reader_->name());
      if (one.kernels.size() != 1) throw Malformed("a launch has more than one result");
      out.result = std::move(one.kernels.front());
    }
    heap_.clear();
    std::uint64_t at = 0;
    for (std::size_t n = in.count(); n > 0; --n) {
      at += in.number();
      heap_.emplace(at, in.number());
    }
    in.end();
  } catch (const Malformed& e) { reader_->damaged(known.entry.offset, e.what()); }
  copy(known.entry, content);
  return out;
}

void Checkpoint::apply(const Machine& machine) {
  const Reader::Launch& known = reader_->launches()[replayed_];
  try {
    if (!machine.heap.restore(heap_)) throw Malformed("blocks of the device heap that it can't have");
    for (const Reader::Place& place : known.pages) {
      const Buffer pages = reader_->read(place);
      stream::checkpoint::apply_changes(Bytes(pages), machine.memory);
      copy(place, pages);
    }
  } catch (const Malformed& e) { reader_->damaged(known.entry.offset, e.what()); }
  ++launches_;
  ++incomplete_;
  if (++replayed_ == reader_->launches().size() && machine.timing != nullptr) restore_timing(*machine.timing);
}

void Checkpoint::restore_timing(timing::CycleGpu& timing) {
  state_.clear();
  for (const Reader::Place& place : reader_->state()) {
    const Buffer piece = reader_->read(place);
    state_.insert(state_.end(), piece.begin(), piece.end());
  }
  try {
    Bytes in(state_);
    timing.restore(in);
    in.end();
  } catch (const Malformed& e) {
    reader_->damaged(reader_->state().empty() ? 0 : reader_->state().front().offset, e.what());
  }
}

void Checkpoint::copy(const Reader::Place& place, const Buffer& content) {
  if (writer_) writer_->write(place.part, content);
}

void Checkpoint::after(const Launch& launch, const result::KernelResult* result, std::string_view printed,
                       const Machine& machine) {
  if (!writer_) return;
  const std::vector<stream::checkpoint::PageHash> now = stream::checkpoint::hash_pages(machine.memory);
  const Buffer entry = launch_part(launch, result, printed, machine.heap);
  if (std::max(entry.size(), printed.size()) > most_text)
    throw Error(
        ExitCode::unsupported, "checkpoint-limit",
        fmt::format(
            "kernel '{}' printed, measured or allocated more than a checkpoint can hold of one launch",
            shown(launch.kernel)),
        "run without --checkpoint");
  writer_->write(Part::launch, entry);
  stream::checkpoint::write_changes(machine.memory, pages_, now,
                                    [&](const Buffer& part) { writer_->write(Part::pages, part); });
  state_.clear();
  if (machine.timing != nullptr) machine.timing->save(state_);
  ++launches_;
  ++incomplete_;
  if (every_ != 0 ? launches_ % every_ == 0 : Clock::now() - written_ >= between_states) complete();
}

void Checkpoint::complete() {
  for (std::size_t at = 0; at < state_.size(); at += piece_bytes) {
    const auto first = state_.begin() + static_cast<std::ptrdiff_t>(at);
    writer_->write(
        Part::state,
        Buffer(first, first + static_cast<std::ptrdiff_t>(std::min(piece_bytes, state_.size() - at))));
  }
  writer_->complete();
  incomplete_ = 0;
  written_ = Clock::now();
}

// A file that is not gone through holds more than was done: it stays as it is.
void Checkpoint::finish(bool ended) {
  const bool all = !reader_ || replayed_ == reader_->launches().size();
  if (writer_ && all && (incomplete_ != 0 || launches_ == 0)) complete();
  writer_.reset();
  if (!ended || all) return;
  mismatch(fmt::format("it holds {} launches, this run made only {}", reader_->launches().size(), replayed_));
}

}  // namespace simtlab::gpu
