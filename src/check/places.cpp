#include "check/places.h"

#include <fmt/format.h>

#include <bit>
#include <fstream>

#include "base/kernel_name.h"
#include "ptx/shared_names.h"

namespace simtlab::check {

std::string Sources::line(const std::string& file, std::uint32_t number) {
  const auto [at, fresh] = files_.try_emplace(file);
  if (fresh) {
    constexpr std::size_t most_lines = 1u << 20, longest = 400;
    std::ifstream in(file);
    std::string text;
    while (at->second.size() < most_lines && std::getline(in, text)) {
      const std::size_t first = std::min(text.find_first_not_of(" \t\r"), text.size());
      const std::size_t last = text.find_last_not_of(" \t\r");
      at->second.push_back(
          last == std::string::npos ? "" : text.substr(first, std::min(last + 1 - first, longest)));
    }
  }
  return number == 0 || number > at->second.size() ? std::string{} : at->second[number - 1];
}

namespace {

std::string ptx_line(const ptx::Module& module, std::uint32_t line) {
  if (line == 0 || module.text == nullptr) return {};
  return module.diagnostic(line, 1, "").text;
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n;") + 1 - first);
}

std::string opcode_of(const std::string& line) {
  std::string text = trimmed(line);
  if (text.starts_with("@")) text = trimmed(text.substr(std::min(text.find_first_of(" \t"), text.size())));
  return text.substr(0, text.find_first_of(" \t"));
}

}  // namespace

result::CodePlace place_of(Sources& sources, const std::string& kernel, const ptx::Module& module,
                           const ptx::Function& function, const ptx::Inst& inst) {
  result::CodePlace out;
  out.kernel = kernel;
  out.function = demangle(function.name);
  out.ptx_file = module.name;
  out.ptx_line = inst.line;
  const std::string text = ptx_line(module, inst.line);
  out.instruction = opcode_of(text);
  if (const auto file = module.files.find(inst.file); inst.source_line != 0 && file != module.files.end()) {
    out.file = file->second;
    out.line = inst.source_line;
    out.text = sources.line(out.file, out.line);
  } else {
    out.file = module.name;
    out.line = inst.line;
    out.column = inst.column;
    out.text = trimmed(text);
  }
  return out;
}

namespace {

std::string part(std::uint64_t offset, unsigned bytes) {
  if (bytes == 4 && offset % 4 == 0) return fmt::format("word {}", offset / 4);
  return bytes == 1 ? fmt::format("byte {}", offset)
                    : fmt::format("bytes {} to {}", offset, offset + bytes - 1);
}

}  // namespace

std::string global_place(const exec::GlobalMemory& memory, std::uint64_t address, unsigned bytes) {
  const exec::Allocation* const inside = memory.find(address);
  if (inside == nullptr) return "memory that is not allocated";
  return fmt::format("{} of the {} bytes of {}", part(address - inside->address, bytes), inside->bytes,
                     inside->what);
}

std::string shared_place(const ptx::Module& module, const ptx::Function& kernel, std::uint64_t offset,
                         unsigned bytes, std::uint64_t stride) {
  if (stride != 0)
    return fmt::format("{} of block {} of the cluster", shared_place(module, kernel, offset % stride, bytes),
                       offset / stride);
  const std::optional<ptx::SharedPlace> at = ptx::shared_place(module, kernel, offset);
  if (!at) return fmt::format("{} of shared memory", part(offset, bytes));
  return fmt::format("{} of shared variable '{}'", part(at->offset, bytes), at->variable);
}

std::string value_text(const ptx::Inst& inst, std::uint64_t bits, unsigned bytes) {
  switch (inst.type) {
    case ptx::Type::f32: return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case ptx::Type::f64: return fmt::format("{}", std::bit_cast<double>(bits));
    case ptx::Type::s8: return fmt::format("{}", static_cast<std::int8_t>(bits));
    case ptx::Type::s16: return fmt::format("{}", static_cast<std::int16_t>(bits));
    case ptx::Type::s32: return fmt::format("{}", static_cast<std::int32_t>(bits));
    case ptx::Type::s64: return fmt::format("{}", static_cast<std::int64_t>(bits));
    default: break;
  }
  if (bytes < 8) bits &= (std::uint64_t{1} << bytes * 8) - 1;
  return bits < 1u << 20 ? fmt::format("{}", bits) : fmt::format("{:#x}", bits);
}

}  // namespace simtlab::check
