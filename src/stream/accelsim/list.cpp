// kernelslist.g: what was done, in order.
#include <fmt/format.h>

#include <charconv>

#include "base/shown.h"
#include "stream/accelsim/import.h"

namespace simtlab::stream::accelsim {
namespace {

namespace fs = std::filesystem;

class Importer {
 public:
  Importer(trace::Writer& to, const volatile bool* stop, const FindCode& find)
      : to_(to), stop_(stop), find_(find) {}

  void kernel(const fs::path& file) {
    const KernelFile head(file_text(file), file.string());
    const auto version = static_cast<unsigned>(head.header().binary_version);
    if (!tables_.contains(version)) tables_.emplace(version, machine::SassTable::of_version(version));
    import_kernel([&] { return file_text(file); }, file.string(), tables_.at(version), to_,
                  stream(head.header().stream), out_, stop_, find_);
  }

  void copy(std::uint64_t address, std::uint64_t bytes) {
    to_.operation({.kind = trace::OpKind::invalidate,
                   .flag = false,
                   .stream = 0,
                   .a = address,
                   .b = bytes,
                   .kernel = {}});
    to_.operation(
        {.kind = trace::OpKind::copy, .flag = false, .stream = 0, .a = bytes, .b = 0, .kernel = {}});
  }

  const Imported& result() const { return out_; }

 private:
  // Ids of CUDA streams may be anything; 0 is the default stream.
  std::uint32_t stream(std::uint64_t id) {
    if (id == 0) return 0;
    const auto [entry, fresh] = streams_.try_emplace(id, static_cast<std::uint32_t>(streams_.size()) + 1);
    if (fresh)
      to_.operation(
          {.kind = trace::OpKind::create_stream, .flag = false, .stream = 0, .a = 0, .b = 0, .kernel = {}});
    return entry->second;
  }

  trace::Writer& to_;
  const volatile bool* stop_;
  const FindCode& find_;
  std::map<unsigned, machine::SassTable> tables_;
  std::map<std::uint64_t, std::uint32_t> streams_;
  Imported out_;
};

// "MemcpyHtoD,0x<address>,<bytes>"; other kinds of copies have no effect on kernels.
void copy(const Lines& lines, Importer& importer) {
  const std::string_view line = lines.line();
  const std::size_t first = line.find(','),
                    second = first == std::string_view::npos ? first : line.find(',', first + 1);
  if (second == std::string_view::npos) lines.refuse(line, "not 'MemcpyHtoD,ADDRESS,BYTES'");
  std::string_view address = line.substr(first + 1, second - first - 1), bytes = line.substr(second + 1);
  if (address.starts_with("0x")) address.remove_prefix(2);
  std::uint64_t at = 0, size = 0;
  const auto a = std::from_chars(address.data(), address.data() + address.size(), at, 16);
  const auto b = std::from_chars(bytes.data(), bytes.data() + bytes.size(), size);
  if (a.ec != std::errc{} || a.ptr != address.data() + address.size())
    lines.refuse(address, "not an address");
  if (b.ec != std::errc{} || b.ptr != bytes.data() + bytes.size())
    lines.refuse(bytes, "not a number of bytes");
  if (line.starts_with("MemcpyHtoD")) importer.copy(at, size);
}

// Beside the list, as written or compressed; never elsewhere.
fs::path kernel_path(const Lines& lines, const fs::path& list) {
  const std::string name(lines.line());
  if (name.find('/') != std::string::npos || name.size() > 255)
    lines.refuse(lines.line(), "not the name of a file beside the list");
  const fs::path file = list.parent_path() / name;
  std::error_code ignored;
  if (!fs::exists(file, ignored) && fs::exists(file.string() + ".xz", ignored)) return file.string() + ".xz";
  return file;
}

}  // namespace

bool is_list(const std::string& file) { return fs::path(file).filename() == "kernelslist.g"; }
bool is_kernel(const std::string& file) { return file.ends_with(".traceg") || file.ends_with(".traceg.xz"); }

Imported import(const fs::path& file, trace::Writer& to, const volatile bool* stop, const FindCode& find) {
  Importer importer(to, stop, find);
  if (!is_list(file.string())) {
    importer.kernel(file);
    return importer.result();
  }
  Lines lines(file_text(file), file.string());
  while (lines.next()) {
    if (lines.line().starts_with("Memcpy"))
      copy(lines, importer);
    else if (lines.line().starts_with("kernel"))
      importer.kernel(kernel_path(lines, file));
  }
  if (importer.result().kernels == 0) lines.truncated("the list names no kernel");
  return importer.result();
}

}  // namespace simtlab::stream::accelsim
