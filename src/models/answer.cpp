#include "models/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/result.h"

namespace simtlab::models {
namespace {

[[noreturn]] void refuse(const Inputs& inputs, const std::vector<Skipped>& skipped) {
  std::vector<Diagnostic> all;
  for (const Skipped& s : skipped) {
    Diagnostic d;
    d.message = fmt::format("model {}: {}", s.model, s.reason.substr(0, s.reason.size() - 1));
    d.pos = {inputs.file, static_cast<std::uint32_t>(std::max<std::size_t>(inputs.lines, 1)), 1};
    d.hint = fmt::format("--model {} says what each of them is", s.model);
    all.push_back(std::move(d));
  }
  throw Error(ExitCode::bad_input, "counts-missing", std::move(all));
}

}  // namespace

result::KernelResult answer(const std::string& name, const Inputs& inputs, const std::string& model,
                            const Options& options) {
  std::vector<Prediction> predictions;
  std::vector<Skipped> skipped;
  for (const Model* one : models()) {
    if (model == one->name()) require(inputs, *one);
    if (model != "all" && model != one->name()) continue;
    const auto lacking = missing(inputs, *one);
    if (lacking.empty())
      predictions.push_back(predict(*one, inputs.counts, options));
    else
      skipped.push_back({std::string(one->name()),
                         fmt::format("Not evaluated, for want of {}.", fmt::join(lacking, ", "))});
  }
  if (predictions.empty()) refuse(inputs, skipped);
  return to_result(name, inputs.counts, predictions, skipped);
}

}  // namespace simtlab::models
