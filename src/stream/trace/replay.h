// A recorded launch as a source of warps.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "stream/trace/reader.h"
#include "stream/warp_source.h"

namespace simtlab::stream::trace {

class ReplayedLaunch final : public WarpSource, public CodeTable {
 public:
  ReplayedLaunch(const Reader& reader, Kernel kernel);  // the reader outlives it
  ~ReplayedLaunch() override;

  const ptx::Function& function() const override { return reader_.codes()[kernel_.function].function(); }
  const ptx::Module& module() const override { return *reader_.codes()[kernel_.function].module; }
  Dim3 grid() const override { return kernel_.grid_dim(); }
  Dim3 block() const override { return kernel_.block_dim(); }
  std::uint32_t shared_bytes() const override { return kernel_.shared_bytes; }
  std::uint64_t block_count() const override { return kernel_.blocks; }
  std::uint64_t block_number(std::uint64_t index) const override { return entry(index).number; }
  std::unique_ptr<SmShare> make_share(Effects effects) const override;

  const CodeView& code(std::uint32_t number) const override;
  std::optional<std::uint64_t> recorded_instructions(std::uint64_t first, std::uint64_t count) const override;
  const Code* code_of(const ptx::Function& function) const override;
  BlockEntry entry(std::uint64_t index) const;  // by place in the trace
  std::shared_ptr<const Segment> segment(const BlockEntry& block, std::size_t part) const;
  const Kernel& kernel() const { return kernel_; }
  const Reader& reader() const { return reader_; }

 private:
  using Table = std::shared_ptr<const std::vector<BlockEntry>>;

  const Reader& reader_;
  const Kernel kernel_;
  std::shared_ptr<const Reader::Dictionary> dictionary_;
  mutable std::mutex mutex_;
  mutable std::map<std::uint32_t, std::unique_ptr<CodeView>> codes_;
  mutable std::list<std::pair<std::size_t, Table>> tables_;  // the latest first
  std::vector<std::uint64_t> first_;                         // place of the first block of each table
};

}  // namespace simtlab::stream::trace
