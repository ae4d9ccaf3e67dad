// Content hashes (xxHash, 64 bits) for manifests and caches: 16 lower-case hexadecimal digits. Not
// cryptographic.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace simtlab {

std::string hash_bytes(std::string_view bytes);
// Reads the file in pieces, of any size. Throws like read_file.
std::string hash_file(const std::filesystem::path& path);

}  // namespace simtlab
