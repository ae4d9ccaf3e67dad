#include "compile/device_objects.h"

#include <ar.h>
#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "compile/frontend.h"

namespace simtlab::compile {
namespace {

constexpr std::uint32_t device_container_magic = 0xBA55ED50;

class Finder {
 public:
  Finder(unsigned major, unsigned minor) : major_(major), minor_(minor) {}

  void find(std::string_view bytes, const std::string& name) {
    const machine::Bytes all = std::as_bytes(std::span(bytes));
    if (machine::is_device_elf(all)) return found_.push_back({std::string(bytes), name});
    if (begins_container(bytes)) return container(bytes, name);
    if (bytes.starts_with(std::string_view(ARMAG, SARMAG))) return archive(bytes, name);
    if (!machine::is_elf(all)) return;
    for (const machine::ElfSection& section : machine::read_host_elf(all, name).sections)
      if (section.name == "__nv_relfatbin") {
        const std::string_view data(reinterpret_cast<const char*>(section.data.data()), section.data.size());
        if (begins_container(data)) container(data, name);
      }
  }

  std::vector<machine::Object> take() { return std::move(found_); }

 private:
  void container(std::string_view bytes, const std::string& name) {
    const std::vector<FatbinEntry> entries = read_fatbin(bytes.data(), bytes.size(), name);
    if (const FatbinEntry* const code = pick_machine_code(entries, major_, minor_))
      found_.push_back({machine_code(*code, name), name});
  }

  // Members begin at even places. The first ones may be tables of names.
  void archive(std::string_view bytes, const std::string& name) {
    for (std::size_t at = SARMAG; at + sizeof(ar_hdr) <= bytes.size();) {
      ar_hdr header;
      std::memcpy(&header, bytes.data() + at, sizeof header);
      at += sizeof header;
      std::size_t size = 0;
      std::from_chars(header.ar_size, header.ar_size + sizeof header.ar_size, size);
      if (std::memcmp(header.ar_fmag, ARFMAG, sizeof header.ar_fmag) != 0 || size > bytes.size() - at)
        throw Error(ExitCode::bad_input, "machine-link",
                    fmt::format("{}: the library is damaged at byte {}", name, at), "build it again");
      const std::string_view member(header.ar_name, sizeof header.ar_name);
      if (const std::string_view data = bytes.substr(at, size);
          !data.starts_with(std::string_view(ARMAG, SARMAG)))
        find(data, fmt::format("{}({})", name, member.substr(0, member.find_first_of("/ "))));
      at += size + size % 2;
    }
  }

  unsigned major_, minor_;
  std::vector<machine::Object> found_;
};

}  // namespace

bool begins_container(std::string_view bytes) {
  std::uint32_t magic = 0;
  if (bytes.size() < sizeof magic) return false;
  std::memcpy(&magic, bytes.data(), sizeof magic);
  return magic == device_container_magic;
}

std::vector<machine::Object> device_objects(const std::string& bytes, const std::string& name,
                                            unsigned cc_major, unsigned cc_minor) {
  Finder finder(cc_major, cc_minor);
  finder.find(bytes, name);
  std::vector<machine::Object> out = finder.take();
  if (out.empty())
    throw Error(
        ExitCode::bad_input, "machine-link",
        fmt::format("{} holds no relocatable machine code for sm_{}{}", name, cc_major, cc_minor),
        fmt::format("nvcc -rdc=true -arch=sm_{}{} makes it (-cubin, -fatbin, -c or -lib); PTX is not linked",
                    cc_major, cc_minor));
  return out;
}

}  // namespace simtlab::compile
