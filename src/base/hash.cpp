#include "base/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cstdint>
#include <limits>
#include <memory>

#include "base/files.h"

namespace simtlab {
namespace {

std::string hex(XXH64_hash_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace

std::string hash_bytes(std::string_view bytes) { return hex(XXH64(bytes.data(), bytes.size(), 0)); }

std::string hash_file(const std::filesystem::path& path) {
  const std::unique_ptr<XXH64_state_t, XXH_errorcode (*)(XXH64_state_t*)> state(XXH64_createState(),
                                                                                XXH64_freeState);
  XXH64_reset(state.get(), 0);
  read_pieces(path, std::numeric_limits<std::uint64_t>::max(), "file",
              [&](std::string_view piece) { XXH64_update(state.get(), piece.data(), piece.size()); });
  return hex(XXH64_digest(state.get()));
}

}  // namespace simtlab
