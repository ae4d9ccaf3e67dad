// A launch whose device addresses are moved. Every process uses the same device addresses; moved ones do not
// meet when several processes share a simulated GPU.
#pragma once

#include "stream/warp_source.h"

namespace simtlab::stream {

class MovedLaunch final : public WarpSource {
 public:
  MovedLaunch(const WarpSource& inner, std::uint64_t by) : inner_(inner), by_(by) {}  // which outlives it

  const ptx::Function& function() const override { return inner_.function(); }
  const ptx::Module& module() const override { return inner_.module(); }
  Dim3 grid() const override { return inner_.grid(); }
  Dim3 block() const override { return inner_.block(); }
  std::uint32_t shared_bytes() const override { return inner_.shared_bytes(); }
  std::uint32_t local_bytes() const override { return inner_.local_bytes(); }
  std::uint64_t block_count() const override { return inner_.block_count(); }
  std::uint64_t block_number(std::uint64_t index) const override { return inner_.block_number(index); }
  std::unique_ptr<SmShare> make_share(Effects effects) const override;
  unsigned cluster_blocks() const override { return inner_.cluster_blocks(); }
  bool one_at_a_time() const override { return inner_.one_at_a_time(); }
  const trace::Code* code_of(const ptx::Function& f) const override { return inner_.code_of(f); }
  std::optional<std::uint64_t> recorded_instructions(std::uint64_t first,
                                                     std::uint64_t count) const override {
    return inner_.recorded_instructions(first, count);
  }

 private:
  const WarpSource& inner_;
  std::uint64_t by_;
};

}  // namespace simtlab::stream
