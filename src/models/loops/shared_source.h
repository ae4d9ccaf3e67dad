// CUDA source that copies tiles to shared memory, and reads them there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/loops/c_text.h"
#include "models/loops/tile.h"

namespace simtlab::models::loops {

// A place of the program's text that reads a tile: [begin, end) is the expression.
struct TileRead {
  std::size_t begin = 0, end = 0;
  std::string text;  // that takes its place
};

class SharedSource {
 public:
  // bytes: of each input's array. begin, end: of the nest in the text. Throws Error(unsupported, "loop-cuda")
  // for a tile that is no rows of one length, or whose reads are not in the nest's text.
  SharedSource(const Description& nest, const Mapping& mapping, const CText& text, std::size_t begin,
               std::size_t end, const std::vector<Tile>& tiles, const std::vector<std::uint64_t>& bytes);
  const std::string& declarations() const { return declarations_; }  // at the kernel's begin, with the copies
  const std::vector<TileRead>& reads() const { return reads_; }

 private:
  void add(const Tile& tile, std::uint64_t bytes);
  std::string where(const Tile& tile, const std::string& index) const;

  const Description& nest_;
  const Mapping& mapping_;
  const CText& text_;
  std::size_t begin_, end_;
  std::string declarations_;
  std::vector<TileRead> reads_;
};

}  // namespace simtlab::models::loops
