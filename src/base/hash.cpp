#include "base/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <vector>

#include "base/error.h"

namespace simtlab {
namespace {

std::string hex(XXH64_hash_t hash) {
  return fmt::format("{:016x}", hash);
}

}  // namespace

std::string hash_bytes(std::string_view bytes) {
  return hex(XXH64(bytes.data(), bytes.size(), 0));
}

std::string hash_file(const std::filesystem::path& path) {
  const auto fail = [&](int code) {
    throw Error(ExitCode::bad_input, code == ENOENT ? "file-missing" : "file-read",
                fmt::format("cannot read {}: {}", path.string(), std::generic_category().message(code)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (!file) fail(errno);
  const std::unique_ptr<XXH64_state_t, XXH_errorcode (*)(XXH64_state_t*)> state(XXH64_createState(),
                                                                                XXH64_freeState);
  XXH64_reset(state.get(), 0);
  std::vector<char> buffer(1U << 20);
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get()))
    XXH64_update(state.get(), buffer.data(), n);
  if (std::ferror(file.get()) != 0) fail(errno);
  return hex(XXH64_digest(state.get()));
}

}  // namespace simtlab
