#include "base/kernel_name.h"

#include <cxxabi.h>

#include <cstdlib>

namespace simtlab {
namespace {

constexpr std::string_view nameless = "(anonymous namespace)";

// Goes through a text and knows when it is outside of all brackets. Within parentheses < and > may be
// operators.
class Outside {
 public:
  // Looks at the next character; whether it is outside.
  bool next(char c) {
    const bool outside = angles_ == 0 && rounds_ == 0 && braces_ == 0;
    if (c == '(') ++rounds_;
    if (c == ')' && rounds_ != 0) --rounds_;
    if (c == '{') ++braces_;
    if (c == '}' && braces_ != 0) --braces_;
    if (c == '<' && rounds_ == 0) ++angles_;
    if (c == '>' && rounds_ == 0 && angles_ != 0) --angles_;
    return outside;
  }

 private:
  unsigned angles_ = 0, rounds_ = 0, braces_ = 0;
};

// "void ns::saxpy<float>" of "void ns::saxpy<float>(float*, int)".
std::string_view before_parameters(std::string_view text) {
  Outside at;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (at.next(text[i]) && text[i] == '(' && !text.substr(i).starts_with(nameless)) return text.substr(0, i);
  return text;
}

}  // namespace

// "f" is a type for __cxa_demangle, too: float.
std::string demangle(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 && text != nullptr ? text : name;
  std::free(text);
  return out;
}

KernelName parts_of_name(std::string_view demangled) {
  std::string_view name = before_parameters(demangled);
  std::size_t begin = 0, scope = 0, arguments = name.size();
  Outside at;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!at.next(name[i])) continue;
    if (name[i] == ' ')
      begin = scope = i + 1, arguments = name.size();  // a template has its result before it
    if (name[i] == ':') scope = i + 1, arguments = name.size();
    if (name[i] == '<') arguments = i;
  }
  const KernelName out{name.substr(begin), name.substr(begin, arguments - begin),
                       name.substr(scope, arguments - scope)};
  return out.bare.empty() ? KernelName{demangled, demangled, demangled} : out;
}

}  // namespace simtlab
