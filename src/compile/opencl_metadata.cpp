#include "compile/opencl_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace simtlab::compile {
namespace {

constexpr std::string_view kComment = "// simtlab-argument ";

// Calls body(line) for each line.
template <typename Body>
void each_line(std::string_view text, Body&& body) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    body(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// The name of a metadata node behind a key: "!7" of "... !kernel_arg_type !7 ...".
std::string_view node_behind(std::string_view line, std::string_view key) {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  line.remove_prefix(at + key.size());
  return line.substr(0, std::min(line.find_first_of(" {"), line.size()));
}

// The texts in quotes of a node.
std::vector<std::string> texts_of(std::string_view node) {
  std::vector<std::string> out;
  for (std::size_t at = 0; (at = node.find("!\"", at)) != std::string_view::npos;) {
    const std::size_t end = node.find('"', at + 2);
    if (end == std::string_view::npos) break;
    out.emplace_back(node.substr(at + 2, end - at - 2));
    at = end;
  }
  return out;
}

std::array<std::uint32_t, 3> sizes_of(std::string_view node) {
  std::array<std::uint32_t, 3> out{};
  std::size_t at = 0;
  for (std::uint32_t& n : out) {
    at = node.find("i32 ", at);
    if (at == std::string_view::npos) break;
    at += 4;
    std::from_chars(node.data() + at, node.data() + node.size(), n);
  }
  return out;
}

}  // namespace

std::vector<KernelFacts> kernel_facts(std::string_view ir) {
  std::map<std::string_view, std::string_view> nodes;
  std::vector<std::string_view> kernels;
  each_line(ir, [&](std::string_view line) {
    if (line.starts_with("define ") && line.find(" spir_kernel ") != std::string_view::npos)
      kernels.push_back(line);
    if (const std::size_t equals = line.find(" = ");
        line.starts_with("!") && equals != std::string_view::npos)
      nodes.emplace(line.substr(0, equals), line.substr(equals + 3));
  });
  const auto node = [&](std::string_view line, std::string_view key) {
    const auto found = nodes.find(node_behind(line, key));
    return found == nodes.end() ? std::string_view{} : found->second;
  };
  std::vector<KernelFacts> out;
  for (const std::string_view line : kernels) {
    const std::size_t at = line.find('@');
    if (at == std::string_view::npos) continue;
    KernelFacts facts;
    facts.name = line.substr(at + 1, line.find('(', at) - at - 1);
    facts.required = sizes_of(node(line, "!reqd_work_group_size "));
    const auto types = texts_of(node(line, "!kernel_arg_type ")),
               names = texts_of(node(line, "!kernel_arg_name ")),
               qualifiers = texts_of(node(line, "!kernel_arg_type_qual ")),
               access = texts_of(node(line, "!kernel_arg_access_qual "));
    for (std::size_t i = 0;
         i < names.size() && i < types.size() && i < qualifiers.size() && i < access.size(); ++i)
      facts.arguments.push_back({types[i], names[i], qualifiers[i], access[i]});
    out.push_back(std::move(facts));
  }
  return out;
}

void add_facts(std::string& ptx, const std::vector<KernelFacts>& facts, bool arguments) {
  for (const KernelFacts& f : facts) {
    const std::size_t entry = ptx.find(".entry " + f.name + "(");
    const std::size_t brace = entry == std::string::npos ? entry : ptx.find("\n{", entry);
    if (f.required[0] != 0 && brace != std::string::npos)
      ptx.insert(brace + 1, fmt::format(".reqntid {}, {}, {}\n", f.required[0], std::max(1u, f.required[1]),
                                        std::max(1u, f.required[2])));
  }
  if (!arguments) return;
  if (!ptx.ends_with('\n')) ptx += '\n';
  for (const KernelFacts& f : facts)
    for (const KernelFacts::Argument& a : f.arguments)
      ptx += fmt::format("{}{};{};{};{};{}\n", kComment, f.name, a.type, a.name, a.qualifiers, a.access);
}

std::vector<KernelFacts::Argument> argument_facts(std::string_view ptx, std::string_view kernel) {
  std::vector<KernelFacts::Argument> out;
  each_line(ptx, [&](std::string_view line) {
    if (!line.starts_with(kComment)) return;
    line.remove_prefix(kComment.size());
    const auto field = [&] {
      const std::size_t end = std::min(line.find(';'), line.size());
      const std::string text(line.substr(0, end));
      line.remove_prefix(std::min(end + 1, line.size()));
      return text;
    };
    if (field() != kernel) return;
    KernelFacts::Argument a;
    for (std::string* part : {&a.type, &a.name, &a.qualifiers, &a.access}) *part = field();
    out.push_back(std::move(a));
  });
  return out;
}

}  // namespace simtlab::compile
