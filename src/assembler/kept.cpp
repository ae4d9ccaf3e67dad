#include "assembler/kept.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <filesystem>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/private_folder.h"
#include "machine/decode.h"

namespace simtlab::assembler {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "simtlab machine code 1\n";
constexpr std::size_t hash_digits = 16;
constexpr unsigned places = 4096;
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;

class Writer {
 public:
  template <class T>
  void number(T value) {
    static_assert(std::is_integral_v<T>);
    const auto wide = static_cast<std::uint64_t>(value);
    out_.append(reinterpret_cast<const char*>(&wide), sizeof wide);
  }
  void text(std::string_view value) {
    number(value.size());
    out_ += value;
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

// Who asks for more than there is gets zeros, and whole() says no.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    if (rest_.size() < sizeof value) {
      whole_ = false;
      return 0;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  // Of a list whose items take `bytes` at least.
  std::size_t count(std::size_t bytes) {
    const std::uint64_t value = number();
    if (value <= rest_.size() / bytes) return static_cast<std::size_t>(value);
    whole_ = false;
    return 0;
  }
  std::uint32_t number32() { return static_cast<std::uint32_t>(number()); }
  std::string text() {
    const std::size_t size = count(1);
    std::string out(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return out;
  }
  bool whole() const { return whole_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool whole_ = true;
};

// The folder, if there is one that is the user's own.
std::optional<fs::path> folder() {
  const fs::path cache = default_cache();
  for (const fs::path& each : {cache, cache / "code"})
    if (open_private_folder(each, {}).fault != FolderFault::none) return std::nullopt;
  return cache / "code";
}

fs::path place_of(const fs::path& folder, std::string_view key) {
  const std::string hash = hash_bytes(key);
  unsigned number = 0;
  std::from_chars(hash.data(), hash.data() + 4, number, 16);
  return folder / fmt::format("{:03x}", number % places);
}

}  // namespace

std::string written(std::string_view key, const Kept& kept) {
  const machine::MadeCode& code = kept.code;
  Writer out;
  out.text(key);
  out.number(kept.optimised);
  out.text(kept.not_optimised);
  out.number(code.registers);
  out.number(code.stack_bytes);
  out.number(code.words.size());
  for (std::size_t i = 0; i < code.words.size(); ++i) {
    out.number(code.words[i].low);
    out.number(code.words[i].high);
    out.number(code.lines[i].file);
    out.number(code.lines[i].line);
    out.number(code.ptx_lines[i]);
  }
  out.number(code.addresses.size());
  for (const auto& [at, constant] : code.addresses) {
    out.number(at);
    out.number(static_cast<unsigned>(constant.kind));
    out.number(constant.symbol);
    out.number(constant.value);
  }
  out.number(code.literals.size());
  for (const std::uint64_t literal : code.literals) out.number(literal);
  std::string body = out.take();
  return std::string(magic) + hash_bytes(body) + body;
}

std::optional<Kept> parsed(std::string_view bytes, std::string_view key, unsigned generation) {
  if (!bytes.starts_with(magic) || bytes.size() < magic.size() + hash_digits) return std::nullopt;
  bytes.remove_prefix(magic.size());
  const std::string_view body = bytes.substr(hash_digits);
  if (hash_bytes(body) != bytes.substr(0, hash_digits)) return std::nullopt;
  Reader in(body);
  if (in.text() != key) return std::nullopt;
  Kept out;
  machine::MadeCode& code = out.code;
  code.generation = generation;
  out.optimised = in.number() != 0;
  out.not_optimised = in.text();
  code.registers = in.number32();
  code.stack_bytes = in.number32();
  const std::size_t instructions = in.count(5 * sizeof(std::uint64_t));
  for (std::size_t i = 0; i < instructions; ++i) {
    machine::Word word;
    word.low = in.number();
    word.high = in.number();
    const auto address = static_cast<std::uint32_t>(i * machine::word_bytes);
    auto decoded = machine::decode(machine::Forms::shipped(), generation, word, address);
    if (!std::holds_alternative<machine::Instruction>(decoded)) return std::nullopt;
    code.words.push_back(word);
    code.instructions.push_back(std::get<machine::Instruction>(std::move(decoded)));
    const std::uint32_t file = in.number32();
    code.lines.push_back({.file = file, .line = in.number32()});
    code.ptx_lines.push_back(in.number32());
  }
  for (std::size_t left = in.count(4 * sizeof(std::uint64_t)); left > 0; --left) {
    ptx::Constant& constant = code.addresses[in.number32()];
    constant.kind = static_cast<ptx::Constant::Kind>(in.number());
    constant.symbol = in.number32();
    constant.value = in.number();
  }
  for (std::size_t left = in.count(sizeof(std::uint64_t)); left > 0; --left)
    code.literals.push_back(in.number());
  if (!in.whole() || code.words.empty()) return std::nullopt;
  return out;
}

KeptCode::KeptCode(std::string_view text, unsigned generation, std::string_view maker)
    : module_(fmt::format("{} {} {} {}", hash_bytes(text), text.size(), generation, maker)),
      generation_(generation) {}

std::string KeptCode::key_of(std::string_view kernel) const { return fmt::format("{} {}", module_, kernel); }

std::optional<Kept> KeptCode::find(std::string_view kernel) const {
  const std::string key = key_of(kernel);
  const std::optional<fs::path> in = folder();
  if (!in) return std::nullopt;
  const fs::path file = place_of(*in, key);
  if (!is_own_file(file)) return std::nullopt;
  try {
    return parsed(read_file(file, most_bytes), key, generation_);
  } catch (const Error&) { return std::nullopt; }
}

void KeptCode::keep(std::string_view kernel, const Kept& kept) const {
  const std::string key = key_of(kernel);
  const std::optional<fs::path> in = folder();
  if (!in) return;
  try {
    write_file_atomically(place_of(*in, key), written(key, kept));
  } catch (const Error&) {
    // A full disk: made again next time.
  }
}

}  // namespace simtlab::assembler
