// The functional executor as a source of warps.
#pragma once

#include "stream/warp_source.h"

namespace simtlab::stream {

class ExecutedLaunch final : public WarpSource {
 public:
  explicit ExecutedLaunch(const exec::Launch& launch) : launch_(launch) {}  // which must outlive it
  const ptx::Function& function() const override { return launch_.function(); }
  const ptx::Module& module() const override { return launch_.module(); }
  Dim3 grid() const override { return launch_.grid(); }
  Dim3 block() const override { return launch_.block(); }
  std::uint32_t shared_bytes() const override { return launch_.shared_bytes(); }
  std::uint32_t local_bytes() const override { return launch_.local_bytes(); }
  std::unique_ptr<SmShare> make_share(Effects effects) const override;
  // Malloc in kernels: one heap for all
  // ... and shared memory that blocks on several SMs reach
  bool one_at_a_time() const override {
    return launch_.params().heap != nullptr || launch_.cluster_blocks() > 1;
  }
  unsigned cluster_blocks() const override { return launch_.cluster_blocks(); }
  std::uint64_t block_number(std::uint64_t index) const override { return launch_.block_in_order(index); }

 private:
  const exec::Launch& launch_;
};

}  // namespace simtlab::stream
