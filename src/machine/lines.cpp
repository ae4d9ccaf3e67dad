#include "machine/lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace simtlab::machine {
namespace {

constexpr std::size_t most_rows = 1 << 22, most_files = 1 << 12;

// Standard and extended opcodes of a line program (DWARF 4, 6.2.5).
enum Standard : std::uint8_t {
  copy = 1,
  advance_pc,
  advance_line,
  set_file,
  set_column,
  negate_statement,
  set_basic_block,
  const_add_pc,
  fixed_advance_pc,
  set_prologue_end,
  set_epilogue_begin,
  set_isa,
};
enum Extended : std::uint8_t { end_sequence = 1, set_address, define_file };

class LineReader {
 public:
  LineReader(const ElfFile& elf, const ElfSection& section, std::size_t index)
      : elf_(elf), section_(section) {
    for (const ElfRelocation& r : elf.relocations_of(index)) relocations_[r.offset] = r;
  }

  SourceLines read() {
    while (at_ < section_.data.size()) program();
    for (auto& [section, lines] : out_.sections) std::ranges::stable_sort(lines, {}, &SourceLine::address);
    return std::move(out_);
  }

 private:
  [[noreturn]] void wrong(const char* what) const { damaged(elf_.name, section_, at_, what); }

  template <class T>
  T number() {
    const auto value = value_at<T>(section_.data.first(end_), at_);
    if (!value) wrong("a line program is cut off");
    at_ += sizeof(T);
    return *value;
  }
  // LEB128, of which 64 bits are kept.
  std::uint64_t leb(bool is_signed) {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (;;) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80u) != 0) continue;
      if (is_signed && (byte & 0x40u) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
      return value;
    }
  }
  std::string text() {
    std::string out;
    while (const char c = number<char>()) out += c;
    return out;
  }

  void program() {
    end_ = section_.data.size();
    const auto length = number<std::uint32_t>();
    if (length > end_ - at_) wrong("a line program is longer than its section");
    const std::size_t end = end_ = at_ + length;
    const auto version = number<std::uint16_t>();
    constexpr std::uint16_t oldest = 2, newest = 4;
    if (version >= oldest && version <= newest) {
      header(version);
      while (at_ < end) step();
    }
    at_ = end;
  }

  void header(std::uint16_t version) {
    const auto length = number<std::uint32_t>();
    const std::size_t begin = at_;
    if (length > end_ - at_) wrong("the header of a line program is too long");
    least_instruction_ = number<std::uint8_t>();
    if (version >= 4) number<std::uint8_t>();
    number<std::uint8_t>();
    line_base_ = number<std::int8_t>();
    line_range_ = number<std::uint8_t>();
    if (line_range_ == 0) wrong("a line program without a range of lines");
    lengths_.assign(std::max<std::uint8_t>(number<std::uint8_t>(), 1), 0);
    for (std::size_t i = 1; i < lengths_.size(); ++i) lengths_[i] = number<std::uint8_t>();
    std::vector<std::string> folders = {""};
    for (std::string folder = text(); !folder.empty(); folder = text()) folders.push_back(folder);
    files_.assign(1, 0);
    for (std::string name = text(); !name.empty(); name = text()) add_file(std::move(name), folders);
    at_ = begin + length;
    reset();
  }

  void add_file(std::string name, const std::vector<std::string>& folders) {
    const std::uint64_t folder = leb(false);
    leb(false);
    leb(false);
    if (!name.starts_with('/') && folder < folders.size() && !folders[folder].empty())
      name = folders[folder] + "/" + name;
    const auto found = std::ranges::find(out_.files, name);
    files_.push_back(static_cast<std::uint32_t>(found - out_.files.begin()));
    if (found == out_.files.end()) out_.files.push_back(std::move(name));
    if (out_.files.size() > most_files) wrong("too many files");
  }

  void reset() {
    address_ = 0;
    file_ = line_ = 1;
    code_.reset();
  }

  void add_row(bool ends) {
    if (!code_) return;
    if (++rows_ > most_rows) wrong("too many lines");
    const std::uint32_t file = file_ < files_.size() ? files_[file_] : 0;
    out_.sections[*code_].push_back({address_, file, ends ? 0 : static_cast<std::uint32_t>(line_)});
  }

  void step() {
    const auto opcode = number<std::uint8_t>();
    if (opcode >= lengths_.size()) {
      const unsigned adjusted = opcode - static_cast<unsigned>(lengths_.size());
      address_ += std::uint64_t{adjusted / line_range_} * least_instruction_;
      line_ += static_cast<std::uint64_t>(std::int64_t{line_base_} + adjusted % line_range_);
      add_row(false);
      return;
    }
    if (opcode == 0) return extended();
    switch (opcode) {
      case copy: add_row(false); break;
      case advance_pc: address_ += leb(false) * least_instruction_; break;
      case advance_line: line_ += leb(true); break;
      case set_file: file_ = leb(false); break;
      case const_add_pc:
        address_ += std::uint64_t{(255u - lengths_.size()) / line_range_} * least_instruction_;
        break;
      case fixed_advance_pc: address_ += number<std::uint16_t>(); break;
      default:
        for (unsigned i = 0; i < lengths_[opcode]; ++i) leb(false);
    }
  }

  void extended() {
    const std::uint64_t length = leb(false);
    const std::size_t begin = at_;
    if (length == 0 || length > end_ - at_) wrong("an extended opcode of a line program is too long");
    const auto opcode = number<std::uint8_t>();
    if (opcode == end_sequence) {
      add_row(true);
      reset();
    } else if (opcode == set_address && length == 1 + sizeof(std::uint64_t)) {
      const std::size_t place = at_;
      go_to(place, number<std::uint64_t>());
    }
    at_ = begin + length;
  }

  // The address stands in a relocation: which section it is in.
  void go_to(std::size_t place, std::uint64_t written) {
    code_.reset();
    const auto found = relocations_.find(place);
    if (found == relocations_.end() || found->second.symbol >= elf_.symbols.size()) return;
    const ElfRelocation& r = found->second;
    const ElfSymbol& symbol = elf_.symbols[r.symbol];
    if (symbol.section >= elf_.sections.size()) return;
    code_ = symbol.section;
    address_ = symbol.value + (r.has_addend ? static_cast<std::uint64_t>(r.addend) : written);
  }

  const ElfFile& elf_;
  const ElfSection& section_;
  std::map<std::uint64_t, ElfRelocation> relocations_;
  SourceLines out_;
  std::size_t at_ = 0, end_ = 0, rows_ = 0;
  // Of the program under way
  std::uint8_t least_instruction_ = 1, line_range_ = 1;
  std::int8_t line_base_ = 0;
  std::vector<std::uint8_t> lengths_;
  std::vector<std::uint32_t> files_;
  std::uint64_t address_ = 0, file_ = 1, line_ = 1;
  std::optional<std::size_t> code_;
};

}  // namespace

const SourceLine* SourceLines::at(std::size_t section, std::uint64_t address) const {
  const auto lines = sections.find(section);
  if (lines == sections.end()) return nullptr;
  const auto next = std::ranges::upper_bound(lines->second, address, {}, &SourceLine::address);
  if (next == lines->second.begin()) return nullptr;
  const SourceLine& line = *(next - 1);
  return line.line == 0 || line.file >= files.size() ? nullptr : &line;
}

namespace {

SourceLines lines_of_section(const ElfFile& elf, std::string_view name) {
  for (std::size_t i = 0; i < elf.sections.size(); ++i)
    if (elf.sections[i].name == name) return LineReader(elf, elf.sections[i], i).read();
  return {};
}

// Without what surrounds it, at most 200 characters, as ptx::TextLines gives it.
std::string tidy(std::string_view line) {
  constexpr std::size_t longest = 200;
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  line = line.substr(0, std::min(line.find_last_not_of(" \t\r") + 1, longest));
  std::string out(line);
  std::ranges::replace(out, '\t', ' ');
  return out;
}

}  // namespace

SourceLines read_lines(const ElfFile& elf) { return lines_of_section(elf, ".debug_line"); }

// A zero byte ends each line.
PtxLines read_ptx_lines(const ElfFile& elf) {
  const ElfSection* const section = elf.section(".nv_debug_ptx_txt");
  if (section == nullptr) return {};
  PtxLines out;
  const std::string_view all(reinterpret_cast<const char*>(section->data.data()), section->data.size());
  for (std::size_t at = 0; at < all.size();) {
    if (out.text.size() == most_rows) damaged(elf.name, *section, at, "its PTX has too many lines");
    const std::size_t end = std::min(all.find('\0', at), all.size());
    out.text.push_back(tidy(all.substr(at, end - at)));
    at = end + 1;
  }
  out.lines = lines_of_section(elf, ".nv_debug_line_sass");
  if (out.lines.files.empty()) out.lines.files.emplace_back(section->name);  // it is named by number 0
  return out;
}

CodeLines read_code_lines(const ElfFile& elf) {
  CodeLines out{read_lines(elf), nullptr};
  if (PtxLines ptx = read_ptx_lines(elf); !ptx.text.empty())
    out.ptx = std::make_shared<const PtxLines>(std::move(ptx));
  return out;
}

std::uint32_t PtxLines::at(std::size_t section, std::uint64_t address) const {
  const SourceLine* const line = lines.at(section, address);
  return line == nullptr || line->line > text.size() ? 0 : line->line;
}

std::string PtxLines::operator[](std::uint32_t line) const {
  return line == 0 || line > text.size() ? std::string() : text[line - 1];
}

}  // namespace simtlab::machine
