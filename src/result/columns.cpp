#include "result/columns.h"

#include <fmt/format.h>
#include <minizip/unzip.h>
#include <minizip/zip.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>

#include "base/error.h"

namespace simtlab::result {
namespace {

static_assert(std::endian::native == std::endian::little, "columns are written as they lie in memory");

// A file in memory, as minizip's file functions want it.
struct Memory {
  std::string bytes;
  std::size_t at = 0;
  bool failed = false;
};
Memory& memory(voidpf stream) { return *static_cast<Memory*>(stream); }

uLong read_bytes(voidpf, voidpf stream, void* to, uLong size) {
  Memory& m = memory(stream);
  const std::size_t n = std::min<std::size_t>(size, m.bytes.size() - m.at);
  std::memcpy(to, m.bytes.data() + m.at, n);
  m.at += n;
  return static_cast<uLong>(n);
}

uLong write_bytes(voidpf, voidpf stream, const void* from, uLong size) {
  Memory& m = memory(stream);
  if (m.at + size > max_columns_bytes) {
    m.failed = true;
    return 0;
  }
  if (m.at + size > m.bytes.size()) m.bytes.resize(m.at + size);
  std::memcpy(m.bytes.data() + m.at, from, size);
  m.at += size;
  return size;
}

ZPOS64_T tell_byte(voidpf, voidpf stream) { return memory(stream).at; }

long seek_byte(voidpf, voidpf stream, ZPOS64_T offset, int origin) {
  Memory& m = memory(stream);
  const std::size_t from = origin == ZLIB_FILEFUNC_SEEK_CUR   ? m.at
                           : origin == ZLIB_FILEFUNC_SEEK_END ? m.bytes.size()
                                                              : 0;
  if (offset > m.bytes.size() - from) return -1;
  m.at = from + static_cast<std::size_t>(offset);
  return 0;
}

zlib_filefunc64_def functions(Memory& of) {
  zlib_filefunc64_def f{};
  f.opaque = &of;
  f.zopen64_file = [](voidpf opaque, const void*, int) -> voidpf { return opaque; };
  f.zread_file = read_bytes;
  f.zwrite_file = write_bytes;
  f.ztell64_file = tell_byte;
  f.zseek64_file = seek_byte;
  f.zclose_file = [](voidpf, voidpf) { return 0; };
  f.zerror_file = [](voidpf, voidpf stream) { return memory(stream).failed ? 1 : 0; };
  return f;
}

// The type of its values in a .npy: "<f8" ...
struct Form {
  std::string type;
  std::size_t bytes = 0;  // of a value
};

Form form_of(const Column& column) {
  struct {
    Form operator()(const std::vector<double>&) const { return {"<f8", 8}; }
    Form operator()(const std::vector<std::uint64_t>&) const { return {"<u8", 8}; }
    Form operator()(const std::vector<std::int64_t>&) const { return {"<i8", 8}; }
    Form operator()(const Flags&) const { return {"|b1", 1}; }
    Form operator()(const std::vector<std::string>& text) const {
      std::size_t longest = 1;
      for (const std::string& t : text) longest = std::max(longest, t.size());
      return {fmt::format("|S{}", longest), longest};
    }
  } const of;
  return std::visit(of, column);
}

std::string npy_head(const Form& form, std::size_t rows) {
  constexpr std::size_t before = 10, alignment = 64;
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({},), }}", form.type, rows);
  const std::size_t whole = (before + text.size() + 1 + alignment - 1) / alignment * alignment;
  text.resize(whole - before - 1, ' ');
  text += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size() & 0xff) +
         static_cast<char>(text.size() >> 8) + text;
}

std::string packed(const std::vector<std::string>& text, std::size_t width) {
  std::string out(text.size() * width, '\0');
  for (std::size_t i = 0; i < text.size(); ++i)
    std::ranges::copy(text[i], out.begin() + static_cast<std::ptrdiff_t>(i * width));
  return out;
}

template <class Values>
std::string_view bytes_of(const Values& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])};
}

// The values of one of our types; their bytes are `bytes`.
template <class Value>
std::vector<Value> unpacked(const std::string& bytes) {
  std::vector<Value> out(bytes.size() / sizeof(Value));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

}  // namespace

struct ColumnWriter::Impl {
  Memory to;
  zipFile zip = nullptr;
  bool used = false;

  [[noreturn]] static void fail(const std::string& what) {
    throw Error(ExitCode::failure, "columns-write", what, "record fewer rows");
  }
  void put(std::string_view bytes) {
    constexpr std::size_t most = std::size_t{1} << 30;  // of one call
    for (; !bytes.empty(); bytes.remove_prefix(std::min(most, bytes.size())))
      if (zipWriteInFileInZip(zip, bytes.data(), static_cast<unsigned>(std::min(most, bytes.size()))) !=
          ZIP_OK)
        fail(fmt::format("columns take more than {} MiB", max_columns_bytes >> 20));
  }
};

ColumnWriter::ColumnWriter() : impl_(std::make_unique<Impl>()) {
  zlib_filefunc64_def f = functions(impl_->to);
  impl_->zip = zipOpen2_64("", APPEND_STATUS_CREATE, nullptr, &f);
  if (impl_->zip == nullptr) throw std::bad_alloc();
}

ColumnWriter::~ColumnWriter() {
  if (impl_->zip != nullptr) zipClose(impl_->zip, nullptr);
}

bool ColumnWriter::empty() const { return !impl_->used; }

void ColumnWriter::add(const std::string& name, const Column& column) {
  const std::size_t rows = std::visit([](const auto& values) { return values.size(); }, column);
  if (rows > most_column_rows)
    Impl::fail(fmt::format("column {} has {} rows, more than {}", name, rows, most_column_rows));
  const Form form = form_of(column);
  zip_fileinfo info{};                     // no time of day: same input, same bytes
  info.dosDate = (1u << 21) | (1u << 16);  // 1 January 1980
  if (zipOpenNewFileInZip64(impl_->zip, (name + ".npy").c_str(), &info, nullptr, 0, nullptr, 0, nullptr,
                            Z_DEFLATED, 6, 1) != ZIP_OK)
    Impl::fail("cannot begin column " + name);
  impl_->used = true;
  impl_->put(npy_head(form, rows));
  if (const auto* text = std::get_if<std::vector<std::string>>(&column))
    impl_->put(packed(*text, form.bytes));
  else
    std::visit([&](const auto& values) { impl_->put(bytes_of(values)); }, column);
  if (zipCloseFileInZip(impl_->zip) != ZIP_OK) Impl::fail("cannot end column " + name);
}

std::string ColumnWriter::finish() {
  const int closed = zipClose(impl_->zip, nullptr);
  impl_->zip = nullptr;
  if (closed != ZIP_OK) Impl::fail(fmt::format("columns take more than {} MiB", max_columns_bytes >> 20));
  return std::move(impl_->to.bytes);
}

struct ColumnReader::Impl {
  std::string file;
  Memory from;
  unzFile zip = nullptr;
  std::map<std::string, unz64_file_pos, std::less<>> places;
  std::uint64_t unpacked = 0;

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(
        ExitCode::bad_input, "result-columns",
        Diagnostic{what,
                   {file, 0, 0},
                   {},
                   "expected the columns that simtlab wrote beside a result (docs/reference/json.md)"});
  }
  void find_members();
  // The member's bytes; it must not have more than `most`.
  std::string bytes(const std::string& name, std::uint64_t most);
};

// Looks through the directory once: unzLocateFile would do so for each column.
void ColumnReader::Impl::find_members() {
  constexpr std::size_t most_members = 1u << 16;
  for (int state = unzGoToFirstFile(zip); state != UNZ_END_OF_LIST_OF_FILE; state = unzGoToNextFile(zip)) {
    char name[1024] = {};
    unz_file_info64 info{};
    unz64_file_pos place{};
    if (state != UNZ_OK ||
        unzGetCurrentFileInfo64(zip, &info, name, sizeof name - 1, nullptr, 0, nullptr, 0) != UNZ_OK ||
        unzGetFilePos64(zip, &place) != UNZ_OK)
      fail("its directory is damaged");
    const std::string_view text(name);
    if (!text.ends_with(".npy")) fail("it holds other things than columns");
    if (!places.emplace(text.substr(0, text.size() - 4), place).second)
      fail("two of its columns have one name");
    if (places.size() > most_members) fail(fmt::format("it has more than {} columns", most_members));
  }
}

std::string ColumnReader::Impl::bytes(const std::string& name, std::uint64_t most) {
  const auto found = places.find(name);
  if (found == places.end()) fail(fmt::format("column {} is missing", name));
  unz64_file_pos place = found->second;
  if (unzGoToFilePos64(zip, &place) != UNZ_OK || unzOpenCurrentFile(zip) != UNZ_OK)
    fail(fmt::format("column {} is damaged", name));
  std::string out;
  // In pieces: what the directory says of the size is not trusted.
  constexpr std::size_t piece = std::size_t{1} << 20;
  for (;;) {
    const std::size_t before = out.size();
    out.resize(before + piece);
    const int n = unzReadCurrentFile(zip, out.data() + before, static_cast<unsigned>(piece));
    out.resize(before + static_cast<std::size_t>(std::max(n, 0)));
    unpacked += static_cast<std::uint64_t>(std::max(n, 0));
    if (n < 0 || out.size() > most || unpacked > max_unpacked_bytes) {
      unzCloseCurrentFile(zip);
      fail(fmt::format("column {} is {}", name, n < 0 ? "damaged" : "larger than it may be"));
    }
    if (n == 0) break;
  }
  if (unzCloseCurrentFile(zip) != UNZ_OK)
    fail(fmt::format("column {} is damaged (its checksum differs)", name));
  return out;
}

ColumnReader::ColumnReader(std::string bytes, std::string file) : impl_(std::make_unique<Impl>()) {
  impl_->file = std::move(file);
  impl_->from.bytes = std::move(bytes);
  zlib_filefunc64_def f = functions(impl_->from);
  impl_->zip = unzOpen2_64("", &f);
  if (impl_->zip == nullptr) impl_->fail("not a zip file");
  try {
    impl_->find_members();
  } catch (...) {
    unzClose(impl_->zip);
    throw;
  }
}

ColumnReader::~ColumnReader() { unzClose(impl_->zip); }

void ColumnReader::refuse(const std::string& why) const { impl_->fail(why); }

bool ColumnReader::has(const std::string& name) const { return impl_->places.contains(name); }

namespace {

// Length of a .npy's header with the bytes before its text; 0: the bytes are no .npy.
std::size_t head_bytes(std::string_view npy) {
  constexpr std::size_t before = 10;
  if (npy.size() < before || !npy.starts_with(std::string_view("\x93NUMPY\x01\x00", 8))) return 0;
  const std::size_t all =
      before + static_cast<unsigned char>(npy[8]) + (std::size_t{static_cast<unsigned char>(npy[9])} << 8);
  return all <= npy.size() ? all : 0;
}

// 0 bytes: a type that we do not write.
Form form_named(std::string_view head) {
  constexpr std::string_view key = "'descr': '";
  const std::size_t at = head.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = head.substr(at + key.size());
  const std::string type(rest.substr(0, rest.find('\'')));
  if (type == "<f8" || type == "<u8" || type == "<i8") return {type, 8};
  if (type == "|b1") return {type, 1};
  for (std::size_t width = 1; width <= most_text_bytes; ++width)
    if (type == fmt::format("|S{}", width)) return {type, width};
  return {};
}

std::vector<std::string> texts(std::string_view bytes, std::size_t width) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    const std::string_view cell = bytes.substr(at, width);
    out.emplace_back(cell.substr(0, cell.find_last_not_of('\0') + 1));
  }
  return out;
}

}  // namespace

Column ColumnReader::read(const std::string& name, std::uint64_t rows) {
  constexpr std::size_t longest_head = 4096;
  if (rows > most_column_rows)
    refuse(fmt::format("column {} of {} rows, more than {}", name, rows, most_column_rows));
  std::string bytes = impl_->bytes(name, longest_head + rows * most_text_bytes);
  const std::string head = bytes.substr(0, head_bytes(bytes));
  const Form form = form_named(head);
  // Compared as a whole, so that any other order or shape is refused.
  if (form.bytes == 0 || npy_head(form, rows) != head)
    refuse(fmt::format("column {} is not one of {} values as simtlab writes them", name, rows));
  bytes.erase(0, head.size());
  if (bytes.size() != rows * form.bytes)
    refuse(fmt::format("column {} has {} bytes of values in place of {}", name, bytes.size(),
                       rows * form.bytes));
  if (form.type == "<u8") return unpacked<std::uint64_t>(bytes);
  if (form.type == "<i8") return unpacked<std::int64_t>(bytes);
  if (form.type == "<f8") {
    std::vector<double> out = unpacked<double>(bytes);
    if (!std::ranges::all_of(out, [](double v) { return std::isfinite(v); }))
      refuse(fmt::format("column {} has a value that is not finite", name));
    return out;
  }
  if (form.type == "|b1") {
    Flags out = unpacked<std::uint8_t>(bytes);
    if (!std::ranges::all_of(out, [](std::uint8_t v) { return v <= 1; }))
      refuse(fmt::format("column {} has a flag that is neither true nor false", name));
    return out;
  }
  return texts(bytes, form.bytes);
}

}  // namespace simtlab::result
