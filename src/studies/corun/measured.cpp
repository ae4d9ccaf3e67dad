#include "studies/corun/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace simtlab::studies {
namespace {

constexpr std::size_t longest_known = 4096;  // launches, and times of a kernel, that are kept one by one
constexpr std::size_t most_shapes = 4096;    // of a process; launches of others count and are not kept

double middle_of(std::vector<double> values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, half);
  if (values.size() % 2 == 1) return *half;
  return (*half + *std::max_element(values.begin(), half)) / 2;
}

}  // namespace

void MeasuredKernels::add(const corun::live::Core::Span& s) {
  if (s.lost) return;
  Process& process = processes_[s.pid];
  ++process.all;
  process.program = s.identity;
  const corun::cycle::ShapedKernel shape{s.kernel, s.shape};
  std::vector<std::size_t>& places = process.by_name[s.kernel];
  const auto at =
      std::ranges::find_if(places, [&](std::size_t place) { return process.shapes[place] == shape; });
  if (at == places.end() && process.shapes.size() == most_shapes) return;
  const std::size_t place = at == places.end() ? process.shapes.size() : *at;
  if (at == places.end())
    places.push_back(place), process.shapes.push_back(shape), process.kernels.emplace_back();
  Kernel& kernel = process.kernels[place];
  ++kernel.launches;
  kernel.registers = s.registers;
  if (s.alone && kernel.alone_ns.size() < longest_known)
    kernel.alone_ns.push_back(static_cast<double>(s.gpu_ns));
  if (process.launches.size() < longest_known) process.launches.push_back({place, s.asked_ns, s.ended_ns});
}

corun::Profiles MeasuredKernels::profiles(const std::string& application, const std::string& source,
                                          std::vector<Row>* rows) const {
  struct Named {
    const Process* process;
    std::vector<std::string> steps;  // of its shapes
    std::vector<std::string> order;  // of its launches
  };
  std::vector<Named> all;
  for (const auto& [pid, process] : processes_) {
    Named& named = all.emplace_back(Named{&process, corun::cycle::step_names(process.shapes), {}});
    for (const Launch& launch : process.launches) named.order.push_back(named.steps[launch.shape]);
  }
  std::ranges::stable_sort(all, {}, &Named::order);
  corun::Profiles out;
  for (std::size_t i = 0; i < all.size(); ++i)
    add_process(*all[i].process, all[i].steps,
                i == 0 ? application : fmt::format("{}.{}", application, i + 1), source, out, rows);
  return out;
}

void MeasuredKernels::add_process(const Process& process, const std::vector<std::string>& steps,
                                  const std::string& application, const std::string& source,
                                  corun::Profiles& out, std::vector<Row>* rows) const {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const corun::LaunchShape& shape = process.shapes[i].shape;
    const Kernel& kernel = process.kernels[i];
    corun::KernelProfile one{application, steps[i], {}, source};
    one.content = process.program.content;
    if (process.program.name != application) one.program = process.program.name;
    corun::Profile& p = one.profile;
    p.grid = shape.grid, p.block = shape.block;
    if (kernel.registers != 0)
      p.registers = kernel.registers, p.shared_bytes = static_cast<double>(shape.shared_bytes);
    if (!kernel.alone_ns.empty()) p.time_ns = middle_of(kernel.alone_ns);
    if (rows != nullptr) rows->push_back({application, steps[i], kernel.launches, p});
    out.add(std::move(one));
  }
  if (process.all > process.launches.size()) return;  // its sequence is not known to its end
  corun::Application whole;
  whole.name = application;
  whole.source = source;
  std::vector<double> gaps;
  for (std::size_t i = 0; i < process.launches.size(); ++i) {
    whole.sequence.push_back(steps[process.launches[i].shape]);
    if (i == 0) continue;
    const std::uint64_t asked = process.launches[i].asked_ns, before = process.launches[i - 1].ended_ns;
    gaps.push_back(asked > before ? static_cast<double>(asked - before) : 0);
  }
  if (!gaps.empty()) whole.gap_ns = middle_of(gaps);
  out.add(std::move(whole));
}

}  // namespace simtlab::studies
