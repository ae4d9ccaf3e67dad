// The fat binary reader against images that these tests write themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lz4.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cstring>
#include <random>

#include "base/error.h"
#include "compile/frontend.h"
#include "compile/mapped_bytes.h"

namespace simtlab::compile {
namespace {

using Image = std::vector<std::uint8_t>;

template <typename T>
void put(Image& out, std::size_t at, T value) {
  if (out.size() < at + sizeof value) out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

enum class Pack { raw, lz4, zstd };

struct Entry {
  std::uint16_t kind = 1;
  std::uint32_t sm = 80;
  std::string text;
  Pack pack = Pack::raw;
};

Image packed(const Entry& e) {
  const std::string text = e.text + '\0';
  Image out;
  if (e.pack == Pack::raw) {
    out.assign(text.begin(), text.end());
  } else if (e.pack == Pack::lz4) {
    out.resize(static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(text.size()))));
    out.resize(static_cast<std::size_t>(LZ4_compress_default(text.data(), reinterpret_cast<char*>(out.data()),
                                                             static_cast<int>(text.size()),
                                                             static_cast<int>(out.size()))));
  } else {
    out.resize(ZSTD_compressBound(text.size()));
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  }
  return out;
}

constexpr std::size_t header_bytes = 64;

Image container(const std::vector<Entry>& entries) {
  Image out(16);
  put<std::uint32_t>(out, 0, 0xBA55ED50);
  put<std::uint16_t>(out, 4, 1);
  put<std::uint16_t>(out, 6, 16);
  for (const Entry& e : entries) {
    const std::size_t at = out.size();
    const Image data = packed(e);
    const std::size_t padded = (data.size() + 7) / 8 * 8;
    out.resize(at + header_bytes + padded);
    put<std::uint16_t>(out, at, e.kind);
    put<std::uint16_t>(out, at + 2, 0x101);
    put<std::uint32_t>(out, at + 4, header_bytes);
    put<std::uint64_t>(out, at + 8, padded);
    put<std::uint32_t>(out, at + 16, e.pack == Pack::raw ? 0 : static_cast<std::uint32_t>(data.size()));
    put<std::uint32_t>(out, at + 28, e.sm);
    put<std::uint64_t>(out, at + 40, e.pack == Pack::raw ? 0x11u : e.pack == Pack::lz4 ? 0x2011u : 0x8011u);
    put<std::uint64_t>(out, at + 56, e.pack == Pack::raw ? 0 : e.text.size() + 1);
    std::memcpy(out.data() + at + header_bytes, data.data(), data.size());
  }
  put<std::uint64_t>(out, 8, out.size() - 16);
  return out;
}

std::vector<FatbinEntry> read(const Image& image) {
  return read_fatbin(image.data(), image.size(), "app:image1");
}

std::string error_of(const Image& image, ExitCode code = ExitCode::bad_input) {
  try {
    for (const FatbinEntry& e : read(image)) ptx_text(e, "app:image1");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

std::string long_ptx() {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n";
  for (int i = 0; i < 2000; ++i) text += "// line " + std::to_string(i) + "\n";
  return text;
}

class Packing : public testing::TestWithParam<Pack> {};

TEST_P(Packing, TheTextComesBackAsItWas) {
  const Image image = container({{1, 86, long_ptx(), GetParam()}});
  const auto entries = read(image);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_TRUE(entries[0].is_ptx);
  EXPECT_EQ(entries[0].major, 8u);
  EXPECT_EQ(entries[0].minor, 6u);
  EXPECT_EQ(ptx_text(entries[0], "app"), long_ptx());
}

TEST_P(Packing, AnImageOfThisProcessNeedsNoSize) {
  const Image image = container({{1, 86, long_ptx(), GetParam()}});
  const auto entries = read_fatbin(image.data(), 0, "app");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(ptx_text(entries[0], "app"), long_ptx());
}

TEST_P(Packing, EveryTruncationIsAnErrorOrAShorterList) {
  const Image whole = container({{1, 70, long_ptx(), GetParam()}, {2, 70, "code", Pack::raw}});
  for (std::size_t n = 1; n < whole.size(); n += n < 200 ? 1 : 97) {
    try {
      read(Image(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)));
      ADD_FAILURE() << "accepted " << n << " bytes of " << whole.size();
    } catch (const Error& e) { EXPECT_NE(e.code(), ExitCode::ok); }
  }
}

TEST_P(Packing, FlippedBytesNeverCrash) {
  const Image whole = container({{1, 70, long_ptx(), GetParam()}});
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    Image bad = whole;
    for (int k = 0; k < 3; ++k)
      bad[random() % std::min<std::size_t>(bad.size(), 200)] = static_cast<std::uint8_t>(random());
    try {
      for (const FatbinEntry& e : read(bad)) EXPECT_LE(ptx_text(e, "bad").size(), 256u << 20);
    } catch (const Error&) {}
  }
}

INSTANTIATE_TEST_SUITE_P(Fatbin, Packing, testing::Values(Pack::raw, Pack::lz4, Pack::zstd));

TEST(Fatbin, SeveralContainersInOneFileAreAllRead) {
  Image image = container({{1, 70, "// a", Pack::raw}});
  const Image second = container({{1, 80, "// b", Pack::zstd}, {2, 80, "sass", Pack::raw}});
  image.insert(image.end(), second.begin(), second.end());
  const auto entries = read(image);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(ptx_text(entries[0], "app"), "// a");
  EXPECT_EQ(ptx_text(entries[1], "app"), "// b");
  EXPECT_FALSE(entries[2].is_ptx);
}

TEST(Fatbin, PlainPtxIsTakenWithAndWithoutNul) {
  const std::string text = ".version 8.0\n";
  EXPECT_EQ(ptx_text(read_fatbin(text.data(), text.size(), "k.ptx").at(0), "k.ptx"), text);
  EXPECT_EQ(ptx_text(read_fatbin(text.c_str(), text.size() + 1, "k.ptx").at(0), "k.ptx"), text);
  EXPECT_EQ(ptx_text(read_fatbin(text.c_str(), 0, "k.ptx").at(0), "k.ptx"), text);
}

TEST(Fatbin, GarbageIsRefused) {
  EXPECT_THAT(error_of(Image{0, 1, 2, 3, 4, 5}), testing::HasSubstr("neither a fat binary nor PTX"));
  EXPECT_THAT(error_of(Image{1}), testing::HasSubstr("neither"));
  EXPECT_THROW(read_fatbin(nullptr, 0, "x"), Error);
}

TEST(Fatbin, MachineCodeAloneSaysHowToRebuild) {
  const Image whole = container({{2, 90, "sass", Pack::raw}});
  const auto entries = read(whole);
  try {
    pick_ptx(entries, 9, 0, "app");
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::unsupported);
    EXPECT_THAT(e.what(), testing::HasSubstr("machine code only (sm_90)"));
    EXPECT_THAT(e.format(), testing::HasSubstr("-gencode arch=compute_90,code=compute_90"));
  }
  EXPECT_THAT(error_of(Image{0x7f, 'E', 'L', 'F', 2, 1}), testing::HasSubstr("neither a fat binary nor PTX"));
}

TEST_P(Packing, MachineCodeComesBackAsItWas) {
  const std::string code = long_ptx();
  const Image image =
      container({{2, 80, code, GetParam()}, {2, 86, "other", Pack::raw}, {2, 90, "third", Pack::raw}});
  const auto entries = read(image);
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(machine_code(entries[0], "app").substr(0, code.size()), code);
  EXPECT_EQ(pick_machine_code(entries, 8, 0), &entries[0]);
  EXPECT_EQ(pick_machine_code(entries, 8, 9), &entries[1]);
  EXPECT_EQ(pick_machine_code(entries, 7, 5), nullptr);
}

TEST(Fatbin, AClaimOfMoreThanTheLimitIsRefusedBeforeMemoryIsTaken) {
  Image image = container({{1, 80, long_ptx(), Pack::zstd}});
  put<std::uint64_t>(image, 16 + 56, std::uint64_t{1} << 40);
  EXPECT_THAT(error_of(image), testing::HasSubstr("more than the limit"));
  put<std::uint64_t>(image, 16 + 56, std::uint64_t{200} << 20);
  image = container({{1, 80, "x", Pack::lz4}});
  put<std::uint64_t>(image, 16 + 56, std::uint64_t{200} << 20);
  EXPECT_THAT(error_of(image), testing::HasSubstr("compressed ones"));
}

TEST(Fatbin, AnImageOfThisProcessThatClaimsMoreThanIsMappedIsRefused) {
  Image image = container({{1, 80, ".version 7.0", Pack::raw}});
  put<std::uint64_t>(image, 8, std::uint64_t{1} << 44);              // the container
  put<std::uint64_t>(image, 16 + 8, (std::uint64_t{1} << 44) - 64);  // its entry
  EXPECT_THROW(read_fatbin(image.data(), 0, "app"), Error);
  EXPECT_THROW(read_fatbin(reinterpret_cast<const void*>(std::uintptr_t{4096}), 0, "app"), Error);
}

TEST(MappedBytes, EndWhereTheMappingEnds) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const memory = mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const bytes = static_cast<std::byte*>(memory);
  ASSERT_EQ(mprotect(bytes + 2 * page, page, PROT_NONE), 0);
  EXPECT_EQ(mapped_bytes(bytes + 5), 2 * page - 5);
  EXPECT_EQ(mapped_bytes(bytes + 2 * page), 0u);
  munmap(memory, 3 * page);
}

TEST(Fatbin, AnUnknownPackingIsNamed) {
  Image image = container({{1, 80, "abc", Pack::raw}});
  image[16 + 64] = 1;
  put<std::uint64_t>(image, 16 + 40, 0x10011);
  EXPECT_THAT(error_of(image, ExitCode::unsupported), testing::HasSubstr("flags 0x10011"));
}

TEST(PickPtx, TakesTheHighestThatIsNotAboveTheDevice) {
  const Image whole =
      container({{1, 50, "// 50", Pack::raw}, {1, 90, "// 90", Pack::raw}, {1, 75, "// 75", Pack::raw}});
  const auto entries = read(whole);
  EXPECT_EQ(ptx_text(pick_ptx(entries, 8, 0, "app"), "app"), "// 75");
  EXPECT_EQ(ptx_text(pick_ptx(entries, 9, 0, "app"), "app"), "// 90");
  EXPECT_EQ(ptx_text(pick_ptx(entries, 3, 5, "app"), "app"), "// 50");  // none is low enough: the lowest
}

}  // namespace
}  // namespace simtlab::compile
