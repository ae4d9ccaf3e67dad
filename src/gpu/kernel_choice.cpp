#include "gpu/kernel_choice.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/kernel_name.h"
#include "base/shown.h"

namespace simtlab::gpu {
namespace {

[[noreturn]] void refuse(std::string_view part, std::string_view why) {
  throw Error(
      ExitCode::usage, "kernel-choice", fmt::format("--kernels: '{}' {}", shown(part, 60), why),
      "a list like 'matmul*,3-7,reduce:1': names, numbers of launches from 1, or launches of one kernel");
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value == 0) return std::nullopt;
  return value;
}

bool looks_like_range(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789-") == std::string_view::npos;
}

void read_range(std::string_view part, std::string_view text, std::uint64_t& first, std::uint64_t& last) {
  const std::size_t dash = text.find('-');
  const auto from = number(text.substr(0, dash));
  if (!from) refuse(part, "has no launch number from 1 on");
  first = last = *from;
  if (dash == std::string_view::npos) return;
  last = ~std::uint64_t{0};
  if (dash + 1 == text.size()) return;
  const auto to = number(text.substr(dash + 1));
  if (!to || *to < first) refuse(part, "is no range of launches");
  last = *to;
}

}  // namespace

std::vector<std::string_view> split_names(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at < text.size();) {
    int depth = 0;
    std::size_t end = at;
    for (; end < text.size() && (text[end] != ',' || depth > 0); ++end)
      depth += (text[end] == '(' || text[end] == '<') - (text[end] == ')' || text[end] == '>');
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

bool names_kernel(const std::string& pattern, const std::string& name, const std::string& demangled) {
  const std::string plain(parts_of_name(demangled).qualified);
  return std::ranges::any_of(
      std::initializer_list<const std::string*>{&name, &demangled, &plain},
      [&](const std::string* text) { return fnmatch(pattern.c_str(), text->c_str(), FNM_NOESCAPE) == 0; });
}

KernelChoice::KernelChoice(std::string_view text) {
  if (text == "*") return;
  for (const std::string_view part : split_names(text)) {
    if (part.empty()) refuse(text, "has an empty part");
    Term term;
    const std::size_t colon = part.rfind(':');
    if (looks_like_range(part)) {
      read_range(part, part, term.first, term.last);
    } else if (colon != std::string_view::npos && colon > 0 && part[colon - 1] != ':' &&
               looks_like_range(part.substr(colon + 1))) {
      term.pattern = part.substr(0, colon);
      read_range(part, part.substr(colon + 1), term.first, term.last);
    } else {
      term.pattern = part;
    }
    terms_.push_back(std::move(term));
  }
}

bool KernelChoice::selects(const std::string& name, const std::string& demangled, std::uint64_t launch,
                           std::uint64_t of_kernel) const {
  const auto fits = [&](const Term& term) {
    const std::uint64_t count = term.pattern.empty() ? launch : of_kernel;
    if (count < term.first || count > term.last) return false;
    return term.pattern.empty() || names_kernel(term.pattern, name, demangled);
  };
  return terms_.empty() || std::ranges::any_of(terms_, fits);
}

}  // namespace simtlab::gpu
