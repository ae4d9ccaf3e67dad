// What the CUDA driver tells of its devices; no context is made.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/board/board.h"
#include "gpu/board/cuda_driver.h"

namespace simtlab::gpu::board {

// Throws Error(unavailable) "board-none" if there is none.
std::vector<BoardName> devices(const Driver& driver);
// The device that an index or a UUID (also its beginning) names. Throws Error(unavailable) "board-none".
BoardName find_device(const Driver& driver, std::string_view index_or_uuid);

DeviceHandle handle_of(const Driver& driver, std::size_t index);
// nullopt: a driver that does not know the attribute.
std::optional<int> attribute(const Driver& driver, DeviceHandle device, Attribute which);
// All but free_bytes, which a context tells.
BoardFacts facts_of(const Driver& driver, const BoardName& name);

}  // namespace simtlab::gpu::board
