#include "models/loops/cuda_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "models/loops/c_text.h"
#include "models/loops/shared_source.h"

namespace simtlab::models::loops {
namespace {

std::string declared(const std::string& type, const std::string& name) {
  std::string out = type;
  out.replace(out.find('@'), 1, name);
  return out;
}

class CudaWriter {
 public:
  CudaWriter(const Description& nest, const Mapping& mapping, std::string_view source,
             const std::string& name, const std::vector<std::uint64_t>& bytes, const std::vector<Tile>& tiles)
      : nest_(nest), mapping_(mapping), text_(source), name_(name), bytes_(bytes), tiles_(tiles) {}

  std::string run() {
    read_for_checked(nest_.prefix().front(), outer_);
    const SharedSource shared(nest_, mapping_, text_, outer_.begin, outer_.end, tiles_, bytes_);
    const std::string body = shared.declarations() + kernel_body(shared.reads());
    return fmt::format(
        "// Made by simtlab from {}:{}; a start for a port, not the end of one.\n#include "
#include "models/loops/description.h"
        "<cuda_runtime.h>\n\n#define restrict __restrict__\n{}\n{}\n{}",
        nest_.file, nest_.line, preamble(), kernel(body), launcher());
  }

 private:
  [[noreturn]] void refuse(int loop, const std::string& what) const {
    Diagnostic d;
    d.message = what;
    d.pos = nest_.at(nest_.loops[at(loop)]);
    d.hint = "--emit-ptx works all the same";
    throw Error(ExitCode::unsupported, "loop-cuda", std::move(d));
  }

  void read_for_checked(int loop, ForStatement& out) const {
    const Loop& l = nest_.loops[at(loop)];
    if (!read_for(text_, text_.offset(l.line, l.column), out))
      refuse(loop,
             "no for stands in the text where this loop begins (a macro, a while?): it can't be written as "
             "CUDA source");
  }

  // Includes, definitions of macros and types, and the functions that the nest calls.
  std::string preamble() const {
    std::string out;
    for (const TopLevel& item : top_level(text_)) {
      const std::string text(text_.text().substr(item.begin, item.end - item.begin));
      if (item.begin > outer_.begin) break;
      if (item.kind == TopLevel::Kind::preprocessor || item.kind == TopLevel::Kind::type)
        out += text + (text.ends_with('\n') ? "" : "\n");
      if (item.kind == TopLevel::Kind::function &&
          std::ranges::find(nest_.inlined, item.name) != nest_.inlined.end())
        out += "\n__host__ __device__ " + text + "\n";
    }
    return out;
  }

  static bool declares(const std::string& init, const std::string& variable) {
    const std::vector<std::string> words = identifiers(init);
    return words.size() >= 2 && words.front() != variable &&
           std::ranges::find(words, variable) != words.end();
  }

  // The step of i++, i += 3, i = i + 3, i -= 1.
  std::string step_of(int loop, const ForStatement& f, const std::string& variable) const {
    std::string s;
    for (const char c : f.advance)
      if (c != ' ') s += c;
    if (s == variable + "++" || s == "++" + variable) return "1";
    if (s == variable + "--" || s == "--" + variable) return "-1";
    if (s.starts_with(variable + "+=")) return "(" + s.substr(variable.size() + 2) + ")";
    if (s.starts_with(variable + "-=")) return "-(" + s.substr(variable.size() + 2) + ")";
    if (s.starts_with(variable + "=" + variable + "+")) return "(" + s.substr(2 * variable.size() + 2) + ")";
    refuse(loop, fmt::format("'{}' is no step that can be written as CUDA source", f.advance));
  }

  // The text of the nest with the heads of the mapped loops replaced, and braces around what they guard.
  std::string kernel_body(const std::vector<TileRead>& reads) {
    // Where -> how many characters go, what comes
    std::multimap<std::size_t, std::pair<std::size_t, std::string>> edits;
    for (const TileRead& r : reads) edits.emplace(r.begin, std::pair{r.end - r.begin, r.text});
    std::vector<int> unmapped;
    for (std::size_t l = 0; l < nest_.loops.size(); ++l) {
      const Loop& loop = nest_.loops[l];
      ForStatement f;
      const auto dimension = std::ranges::find(mapping_.loops, static_cast<int>(l));
      if (dimension == mapping_.loops.end()) {
        if (!loop.name.empty() && read_for(text_, text_.offset(loop.line, loop.column), f) &&
            !declares(f.init, loop.name) && f.init.find('=') != std::string::npos)
          declare_local(loop);
        continue;
      }
      read_for_checked(static_cast<int>(l), f);
      if (loop.name.empty()) refuse(static_cast<int>(l), "the loop's variable has no name in the program");
      if (!declares(f.init, loop.name)) declare_local(loop);
      const char axis = "xyz"[dimension - mapping_.loops.begin()];
      const std::string step = step_of(static_cast<int>(l), f, loop.name);
      const std::string thread = fmt::format("(int)(blockIdx.{0} * blockDim.{0} + threadIdx.{0})", axis);
      edits.emplace(
          f.begin,
          std::pair{
              f.body - f.begin,
              fmt::format("{{\n{0};\n{1} += {2}{3};   // one iteration a thread, in {4}\nif ({5}) ", f.init,
                          loop.name, step == "1" ? "" : step + " * ", thread, axis, f.condition)});
      edits.emplace(f.end, std::pair{std::size_t{0}, std::string("\n}")});
      // The end of an iteration is the end of its thread, unless a loop of the thread stands around it.
      const std::vector<int> prefix = nest_.prefix();
      const bool in_loop = std::ranges::any_of(prefix, [&](int p) {
        return nest_.inside(static_cast<int>(l), p) &&
               std::ranges::find(mapping_.loops, p) == mapping_.loops.end();
      });
      for (const std::size_t where : continues(text_, f.body, f.end))
        edits.emplace(where, std::pair{std::size_t{8}, std::string(in_loop ? "continue" : "return")});
    }
    std::string out;
    std::size_t from = outer_.begin;
    for (const auto& [where, edit] : edits) {
      out.append(text_.text().substr(from, where - from)).append(edit.second);
      from = where + edit.first;
    }
    return out + std::string(text_.text().substr(std::min(from, outer_.end),
                                                 outer_.end - std::min(from, outer_.end)));
  }

  void declare_local(const Loop& loop) {
    if (locals_.insert(loop.name).second)
      local_text_ += fmt::format("  {};\n", declared(loop.type.empty() ? "int @" : loop.type, loop.name));
  }

  std::string parameters(const char* restricted) const {
    std::string out;
    for (const Input& i : nest_.inputs) {
      if (i.type.empty()) {
        Diagnostic d;
        d.message = fmt::format(
            "the type of '{}' can't be written down (an array whose extent is a variable, a structure "
            "without a name?)",
            i.name);
        d.pos = {nest_.file, nest_.line, nest_.column};
        d.hint = "--emit-ptx works all the same";
        throw Error(ExitCode::unsupported, "loop-cuda", std::move(d));
      }
      std::string type = i.type;
      if (i.is_restrict && *restricted != 0)
        if (const std::size_t star = type.find("*@"); star != std::string::npos)
          type.replace(star, 2, std::string("*") + restricted + " @");
      out += fmt::format("{}{}", out.empty() ? "" : ", ", declared(type, i.name));
    }
    return out;
  }

  std::string kernel(const std::string& body) const {
    std::string more;
    for (const Variable& v : nest_.variables) {
      const bool is_input =
          std::ranges::any_of(nest_.inputs, [&](const Input& i) { return i.name == v.name; });
      const std::vector<std::string> words = identifiers(body);
      const bool is_counter =
          std::ranges::any_of(nest_.loops, [&](const Loop& l) { return l.name == v.name; });
      if (is_input || is_counter || v.type.empty() || locals_.contains(v.name) ||
          std::ranges::find(words, v.name) == words.end())
        continue;
      more += fmt::format("  {} = {};\n", declared(v.type, v.name), v.value);
    }
    return fmt::format("__global__ void {}({}) {{\n{}{}{}\n}}\n", name_ + "_kernel",
                       parameters("__restrict__"), more, local_text_, indented(body));
  }

  // Indentation anew, as braces came and went.
  static std::string indented(const std::string& text) {
    std::string out;
    int depth = 1;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      std::string line = text.substr(at, end - at);
      line.erase(0, std::min(line.find_first_not_of(" \t"), line.size()));
      int here = depth;
      for (const char c : line) {
        if (c == '{') ++depth;
        if (c == '}') --depth;
      }
      if (line.starts_with('}')) --here;
      if (!line.empty())
        out += std::string(static_cast<std::size_t>(std::max(here, 1)) * 2, ' ') + line + "\n";
      at = end + 1;
    }
    out.pop_back();
    return out;
  }

  // What the C program calls in place of the nest.
  std::string launcher() const {
    std::string out = fmt::format(
        "// Call this from the C program in place of the nest at {}:{}. Copies cost more than most kernels: "
        "keep data on the GPU between calls.\n",
        nest_.file, nest_.line);
    out += fmt::format("extern \"C\" void {}({}) {{\n", name_, parameters(""));
    std::string arguments, back, release;
    for (std::size_t i = 0; i < nest_.inputs.size(); ++i) {
      const Input& in = nest_.inputs[i];
      if (!in.pointer) {
        arguments += fmt::format("{}{}", arguments.empty() ? "" : ", ", in.name);
        continue;
      }
      bool written = false;
      for (const Access& a : nest_.accesses) written |= a.store && a.input == static_cast<int>(i);
      const std::string size = bytes_[i] > 0 ? fmt::format("{}", bytes_[i]) : "0 /* TODO: bytes */";
      out += fmt::format(
          "  void *{0}_d;\n  const size_t {0}_bytes = {1};   // of this run: make it depend on the sizes\n  "
          "cudaMalloc(&{0}_d, {0}_bytes);\n"
          "  cudaMemcpy({0}_d, {0}, {0}_bytes, cudaMemcpyHostToDevice);\n",
          in.name, size);
      if (written)
        back +=
            fmt::format("  cudaMemcpy((void *){0}, {0}_d, {0}_bytes, cudaMemcpyDeviceToHost);\n", in.name);
      release += fmt::format("  cudaFree({}_d);\n", in.name);
      arguments += fmt::format("{}({}){}_d", arguments.empty() ? "" : ", ", declared(in.type, ""), in.name);
    }
    out += fmt::format(
        "  const dim3 block({}), grid({});   // the same: iterations over threads of a block, rounded up\n",
        fmt::join(mapping_.block, ", "), fmt::join(mapping_.grid, ", "));
    out += fmt::format("  {}_kernel<<<grid, block>>>({});\n{}{}}}\n", name_, arguments, back, release);
    return out;
  }

  const Description& nest_;
  const Mapping& mapping_;
  const CText text_;
  const std::string& name_;
  const std::vector<std::uint64_t>& bytes_;
  const std::vector<Tile>& tiles_;
  ForStatement outer_;
  std::set<std::string> locals_;
  std::string local_text_;
};

}  // namespace

std::string cuda_source(const Description& nest, const Mapping& mapping, std::string_view source,
                        const std::string& name, const std::vector<std::uint64_t>& bytes,
                        const std::vector<Tile>& tiles) {
  return CudaWriter(nest, mapping, source, name, bytes, tiles).run();
}

}  // namespace simtlab::models::loops
