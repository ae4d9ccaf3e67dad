#include "base/elf.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/elf_symbols.h"
#include "base/error.h"
#include "base/files.h"

namespace simtlab {
namespace {

std::filesystem::path file_with(const std::string& bytes) {
  const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "simtlab-elf-test";
  write_file_atomically(path, bytes);
  return path;
}

TEST(Elf, ReadsTheLibrariesOfARealExecutable) {
  const ElfFacts facts = inspect_elf("/proc/self/exe");
  EXPECT_TRUE(facts.is_elf);
  EXPECT_FALSE(facts.has_fatbin);
  EXPECT_TRUE(facts.has_interpreter);
  EXPECT_TRUE(facts.needs("libc.so"));
  EXPECT_FALSE(facts.needs("libcudart.so"));
  EXPECT_FALSE(facts.has_static_cuda());
  EXPECT_NE(std::ranges::find_if(facts.needed, [](const std::string& n) { return n.starts_with("libc.so"); }),
            facts.needed.end());
}

TEST(Elf, OtherFilesAreNoElf) {
  EXPECT_FALSE(inspect_elf(file_with("")).is_elf);
  EXPECT_FALSE(inspect_elf(file_with("#!/bin/sh\n")).is_elf);
  EXPECT_FALSE(inspect_elf("/nonexistent").is_elf);
}

TEST(Elf, EveryTruncationAndEveryByteFlipOfTheHeaderIsHarmless) {
  const std::string whole = read_file("/bin/true", 1 << 24);
  for (std::size_t n = 0; n < 256; ++n) inspect_elf(file_with(whole.substr(0, n)));
  for (std::size_t i = 0; i < sizeof(Elf64_Ehdr); ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(~bytes[i]);
    inspect_elf(file_with(bytes));
  }
  SUCCEED();
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

TEST(ElfSymbols, AFileNamesItsOwnFunctions) {
  const std::string self = read_file("/proc/self/exe", std::uint64_t{1} << 32);
  const ElfSymbols symbols(bytes_of(self));
  EXPECT_TRUE(symbols.defines("main"));
  EXPECT_FALSE(symbols.defines("no_such_function"));
  EXPECT_FALSE(symbols.has_device_code());
  EXPECT_EQ(static_cuda_runtime(symbols), 0);
  symbols.each([&](const NamedFunction& f) {
    if (f.name != "main") return true;
    EXPECT_GE(symbols.room(f), f.bytes);
    return false;
  });
}

TEST(ElfSymbols, DamagedFilesAreHarmless) {
  std::string whole = read_file("/proc/self/exe", std::uint64_t{1} << 32);
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof header);
  const std::size_t sections = header.e_shoff, all = header.e_shnum * sizeof(Elf64_Shdr);
  const auto look = [](const std::string& bytes) { return ElfSymbols(bytes_of(bytes)).defines("absent"); };
  for (const std::size_t cut :
       {std::size_t{0}, std::size_t{63}, std::size_t{64}, sections, sections + 40, sections + all / 2})
    EXPECT_FALSE(look(whole.substr(0, cut)));
  for (std::size_t i = 0; i < all; i += 29) {  // offsets, sizes and links of sections
    whole[sections + i] = static_cast<char>(~whole[sections + i]);
    EXPECT_FALSE(look(whole));
    whole[sections + i] = static_cast<char>(~whole[sections + i]);
  }
}

TEST(Elf, HugeTablesAreNotRead) {
  std::string bytes = read_file("/bin/true", 1 << 24);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    char* at = bytes.data() + header.e_shoff + i * sizeof section;
    std::memcpy(&section, at, sizeof section);
    section.sh_size = ~std::uint64_t{0} >> 1;
    std::memcpy(at, &section, sizeof section);
  }
  EXPECT_TRUE(inspect_elf(file_with(bytes)).needed.empty());
}

std::string error_of(const ElfFacts& facts) {
  try {
    check_cuda_linkage(facts, "./app");
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::unsupported);
    return e.format();
  }
  return "";
}

TEST(CudaLinkage, AStaticRuntimeIsRefusedWithTheRemedy) {
  EXPECT_NE(error_of({.is_elf = true, .has_fatbin = true, .needed = {"libc.so.6"}}).find("-cudart shared"),
            std::string::npos);
  EXPECT_EQ(error_of({.is_elf = true, .has_fatbin = true, .needed = {"libcudart.so.12", "libc.so.6"}}), "");
  EXPECT_EQ(error_of({.is_elf = true, .has_fatbin = false, .needed = {"libc.so.6"}}), "");
}

TEST(CudaLinkage, ALibraryThatIsNotReplacedIsNamed) {
  EXPECT_NE(error_of({.is_elf = true, .has_fatbin = true, .needed = {"libcudart.so.12", "libcublas.so.12"}})
                .find("libcublas"),
            std::string::npos);
}

Error refusal(const ElfFacts& facts) {
  try {
    check_cuda_linkage(facts, "./app");
  } catch (const Error& e) { return e; }
  return {ExitCode::ok, "none", "none"};
}

TEST(Elf, WhatCannotRunIsToldHowToBuildIt) {
  ElfFacts facts;
  facts.is_elf = facts.is_x86_64 = facts.has_fatbin = true;
  const Error linked = refusal(facts);
  EXPECT_EQ(linked.id(), "program-static-cudart");
  EXPECT_EQ(linked.code(), ExitCode::unsupported);
  EXPECT_NE(linked.format().find("-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared"), std::string::npos);
  facts.needed = {"libcudart.so.12"};
  EXPECT_EQ(refusal(facts).id(), "none");
  facts.relocatable = true;
  const Error separate = refusal(facts);
  EXPECT_EQ(separate.id(), "program-relocatable");
  EXPECT_EQ(separate.code(), ExitCode::unsupported);
  EXPECT_NE(separate.format().find("-rdc=true"), std::string::npos);
}

}  // namespace
}  // namespace simtlab
