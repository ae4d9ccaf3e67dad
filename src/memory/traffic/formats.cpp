#include "memory/traffic/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/shown.h"

namespace simtlab::memory::traffic {
namespace {

constexpr const char* no_address = "the address is missing";
constexpr const char* no_cycle = "the cycle is missing";

struct Operation {
  std::string_view name;
  bool write;
};

template <std::size_t count>
bool operation(Cursor& cursor, const Operation (&known)[count], bool& write, const char* otherwise) {
  const std::string_view word = cursor.word();
  for (const Operation& o : known)
    if (o.name == word) {
      write = o.write;
      return true;
    }
  return cursor.fail(word.empty() ? "the operation is missing" : otherwise);
}

bool cycle(Cursor& cursor, LineAccesses& out) {
  if (!cursor.decimal(out.first.cycle, no_cycle)) return false;
  return out.first.cycle < std::uint64_t{1} << 60 || cursor.fail("a cycle that no simulation reaches");
}

// P_LOCK_WR is a read to DRAMSim2, too.
constexpr Operation k6_operations[] = {{"P_MEM_RD", false}, {"P_MEM_WR", true},   {"P_FETCH", false},
                                       {"BOFF", true},      {"P_LOCK_RD", false}, {"P_LOCK_WR", false}};
constexpr Operation mase_operations[] = {{"READ", false}, {"WRITE", true}, {"IFETCH", false}};
constexpr Operation misc_operations[] = {{"read", false}, {"write", true}};
constexpr Operation letter_operations[] = {{"R", false}, {"W", true}};
constexpr Operation load_operations[] = {{"LD", false}, {"ST", true}};

bool prefixed(Cursor& cursor, std::uint64_t& address) {
  if (!cursor.hexadecimal(address, no_address)) return false;
  return Cursor::has_prefix(cursor.wrong()) || cursor.fail("an address without 0x");
}

bool k6(Cursor& cursor, LineAccesses& out) {
  return prefixed(cursor, out.first.address) &&
         operation(cursor, k6_operations, out.first.write,
                   "no operation of k6 (P_FETCH, P_MEM_RD, P_LOCK_RD, P_LOCK_WR, P_MEM_WR, BOFF)") &&
         cycle(cursor, out) && cursor.end();
}

bool mase(Cursor& cursor, LineAccesses& out) {
  return prefixed(cursor, out.first.address) &&
         operation(cursor, mase_operations, out.first.write, "no operation of mase (IFETCH, READ, WRITE)") &&
         cycle(cursor, out) && cursor.end();
}

bool misc(Cursor& cursor, LineAccesses& out) {
  if (!prefixed(cursor, out.first.address) ||
      !operation(cursor, misc_operations, out.first.write, "no operation of misc (read, write)"))
    return false;
  if (cursor.at_end()) return true;
  for (const char c : cursor.word())
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
      return cursor.fail("data that is not hexadecimal");
  return cursor.end();
}

// Whatever is not one of four words is a read to DRAMsim3. A word that means a write elsewhere must be a
// mistake.
bool dramsim3(Cursor& cursor, LineAccesses& out) {
  if (!cursor.hexadecimal(out.first.address, no_address)) return false;
  const std::string_view word = cursor.word();
  if (word.empty()) return cursor.fail("the operation is missing");
  const char first = static_cast<char>(word.front() | 0x20);
  if (first < 'a' || first > 'z') return cursor.fail("no operation");
  out.first.write = word == "WRITE" || word == "write" || word == "P_MEM_WR" || word == "BOFF";
  if (!out.first.write && (first == 'w' || word.starts_with("ST") || word.starts_with("st")))
    return cursor.fail("a word that DRAMsim3 takes for a read (writes are WRITE, write, P_MEM_WR, BOFF)");
  return cycle(cursor, out) && cursor.end();
}

bool ramulator1_dram(Cursor& cursor, LineAccesses& out) {
  return cursor.hexadecimal(out.first.address, no_address) &&
         operation(cursor, letter_operations, out.first.write, "no operation (R, W)") && cursor.end();
}

constexpr const char* no_bubbles = "the number of instructions is missing";

bool write_back(Cursor& cursor, LineAccesses& out) {
  out.two = true;
  out.second.write = true;
  out.second.bubbles = 0;
  return cursor.either(out.second.address, no_address) && cursor.end();
}

bool simple_o3(Cursor& cursor, LineAccesses& out) {
  out.two = out.first.write = false;
  if (!cursor.decimal(out.first.bubbles, no_bubbles) || !cursor.either(out.first.address, no_address))
    return false;
  return cursor.at_end() || write_back(cursor, out);
}

// Either a load and what it evicts, or, behind caches of Ramulator's own, one access and its kind.
bool ramulator1_cpu(Cursor& cursor, LineAccesses& out) {
  out.two = out.first.write = false;
  if (!cursor.decimal(out.first.bubbles, no_bubbles) || !cursor.either(out.first.address, no_address))
    return false;
  if (cursor.at_end()) return true;
  const Cursor before = cursor;
  const std::string_view word = cursor.word();
  if (word != "R" && word != "W") return write_back(cursor = before, out);
  out.first.write = word == "W";
  return cursor.end();
}

bool load_store(Cursor& cursor, LineAccesses& out) {
  return operation(cursor, load_operations, out.first.write, "no operation (LD, ST)") &&
         cursor.either(out.first.address, no_address) && cursor.end();
}

bool read_write(Cursor& cursor, LineAccesses& out) {
  if (!operation(cursor, letter_operations, out.first.write, "no operation (R, W)")) return false;
  std::string_view word = cursor.word();
  if (word.empty()) return cursor.fail("the place (channel,...,row,column) is missing");
  std::size_t count = 0;
  for (bool more = true; more;) {
    if (count == most_levels) return cursor.fail("a place of more levels than memories have");
    const std::size_t comma = word.find(',');
    more = comma != std::string_view::npos;
    std::uint64_t value = 0;
    if (!cursor.digits<10>(word.substr(0, comma), value, "not a list of decimal numbers with commas"))
      return false;
    if (value > 0xffffffffU) return cursor.fail("a number that does not fit 32 bits");
    out.first.level[count++] = static_cast<std::uint32_t>(value);
    if (more) word.remove_prefix(comma + 1);
  }
  if (count < 2) return cursor.fail("not a place: channel,...,row,column with commas");
  out.first.levels = static_cast<std::uint8_t>(count);
  return cursor.end();
}

constexpr std::size_t sample_lines = 200;

// Does every line fit, with cycles that never go back?
bool fits(const Format& format, std::string_view sample) {
  std::size_t lines = 0;
  std::uint64_t before = 0;
  while (!sample.empty() && lines < sample_lines) {
    const std::size_t end = std::min(sample.find('\n'), sample.size());
    std::string_view line = sample.substr(0, end);
    sample.remove_prefix(std::min(end + 1, sample.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    Cursor cursor(line);
    if (cursor.at_end() || line.front() == '#') continue;
    LineAccesses accesses;
    if (!format.parse(cursor, accesses)) return false;
    if (format.pace == Pace::timed && accesses.first.cycle < before) return false;
    before = accesses.first.cycle;
    ++lines;
  }
  return lines > 0;
}

}  // namespace

const std::vector<Format>& formats() {
  static const std::vector<Format> all = {
      {"k6", "0xADDRESS P_MEM_RD|P_MEM_WR|P_FETCH|P_LOCK_RD|P_LOCK_WR|BOFF CYCLE", "DRAMSim2", "k6",
       Pace::timed, k6},
      {"mase", "0xADDRESS IFETCH|READ|WRITE CYCLE", "DRAMSim2", "mase", Pace::timed, mase},
      {"dramsim3", "HEXADDRESS READ|WRITE|... CYCLE", "DRAMsim3", "", Pace::timed, dramsim3},
      {"misc", "0xADDRESS read|write [HEXDATA]", "DRAMSim2", "misc", Pace::eager, misc},
      {"ramulator1-dram", "HEXADDRESS R|W", "Ramulator 1", "", Pace::eager, ramulator1_dram},
      {"simpleo3", "BUBBLES LOADADDRESS [STOREADDRESS]", "Ramulator 2", "", Pace::instructions, simple_o3},
      {"ramulator1-cpu", "BUBBLES ADDRESS [WRITEBACKADDRESS|R|W]", "Ramulator 1", "", Pace::instructions,
       ramulator1_cpu},
      {"loadstore", "LD|ST ADDRESS", "Ramulator 2", "", Pace::eager, load_store},
      {"readwrite", "R|W CHANNEL,...,ROW,COLUMN", "Ramulator 2", "", Pace::eager, read_write},
  };
  return all;
}

const Format& format_named(std::string_view name) {
  std::vector<std::string> names;
  for (const Format& f : formats()) {
    if (f.name == name) return f;
    names.emplace_back(f.name);
  }
  const std::string near = nearest_name(std::string(name.substr(0, 100)), names);
  throw Error(ExitCode::usage, "trace-format", fmt::format("no trace format '{}'", shown(name)),
              near.empty() ? fmt::format("one of {}", fmt::join(names, ", "))
                           : fmt::format("did you mean {}?", near));
}

const Format* detect_format(std::string_view sample, std::string_view file_name) {
  const std::size_t slash = file_name.rfind('/');
  if (slash != std::string_view::npos) file_name.remove_prefix(slash + 1);
  for (const Format& f : formats())
    if (!f.file_prefix.empty() && file_name.substr(0, file_name.find('_')) == f.file_prefix &&
        file_name.size() > f.file_prefix.size() && fits(f, sample))
      return &f;
  for (const Format& f : formats())
    if (fits(f, sample)) return &f;
  // Not one fits all lines: the one that fits the first line says best what is wrong with the others.
  std::string_view rest = sample;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n') + 1, rest.size());
    const std::string_view line = rest.substr(0, end == 0 ? rest.size() : end);
    for (const Format& f : formats())
      if (fits(f, line)) return &f;
    Cursor cursor(line.substr(0, line.find_first_of("\r\n")));
    if (!cursor.at_end() && line.front() != '#') return nullptr;
    rest.remove_prefix(line.size());
  }
  return nullptr;
}

}  // namespace simtlab::memory::traffic
