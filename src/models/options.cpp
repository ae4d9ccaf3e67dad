// Options of the models, as a command line names them.
#include <fmt/format.h>

#include <string>

#include "base/error.h"
#include "models/model.h"

namespace simtlab::models {
namespace {

constexpr double max_p_of_the_thesis = 8;

void add_simplification(Options& o, std::string_view name) {
  if (name == "thesis")
    o = Options::resios_as_in_the_thesis();
  else if (name == "fma")
    o.resios_fma = false;
  else if (name == "per-sm")
    o.resios_per_sm = true;
  else if (name == "caches")
    o.resios_caches = false;
  else if (name == "max-p")
    o.resios_max_p = max_p_of_the_thesis;
  else if (name == "transfer")
    o.resios_transfer = true;
  else if (name != "corrected")
    throw Error(ExitCode::usage, "predict-option", fmt::format("--resios: unknown simplification '{}'", name),
                "corrected (default), thesis (all), or of fma, per-sm, caches, max-p, transfer those you "
                "want, with commas between");
}

}  // namespace

Options parse_options(std::string_view rule, std::string_view resios) {
  Options out;
  while (!resios.empty()) {
    const std::size_t comma = std::min(resios.find(','), resios.size());
    add_simplification(out, resios.substr(0, comma));
    resios.remove_prefix(std::min(comma + 1, resios.size()));
  }
  out.rule = rule == "paper" ? Rule::paper : Rule::order;
  return out;
}

}  // namespace simtlab::models
