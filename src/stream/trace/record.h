// A launch that is written down while a model reads it.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "stream/trace/warp_code.h"
#include "stream/trace/writer.h"
#include "stream/warp_source.h"

namespace simtlab::stream::trace {

class RecordingLaunch final : public WarpSource {
 public:
  // Both outlive it; the place is reserved.
  RecordingLaunch(const WarpSource& inner, Writer& writer, Writer::Place place);
  ~RecordingLaunch() override;
  void finish();  // the kernel has run; without it nothing of the kernel is kept

  const ptx::Function& function() const override { return inner_.function(); }
  const ptx::Module& module() const override { return inner_.module(); }
  Dim3 grid() const override { return inner_.grid(); }
  Dim3 block() const override { return inner_.block(); }
  std::uint32_t shared_bytes() const override { return inner_.shared_bytes(); }
  std::uint32_t local_bytes() const override { return inner_.local_bytes(); }
  std::uint64_t block_count() const override { return inner_.block_count(); }
  std::uint64_t block_number(std::uint64_t index) const override { return inner_.block_number(index); }
  unsigned cluster_blocks() const override { return inner_.cluster_blocks(); }
  std::unique_ptr<SmShare> make_share(Effects effects) const override;
  bool one_at_a_time() const override { return inner_.one_at_a_time(); }
  const Code* code_of(const ptx::Function& f) const override { return inner_.code_of(f); }

  const CodeView& code(const ptx::Function& function) const;
  void keep(const Writer::Segment& segment, const Buffer& content) const {
    writer_.add_segment(place_, segment, content);
  }

 private:
  const WarpSource& inner_;
  Writer& writer_;
  Writer::Place place_;
  mutable std::mutex mutex_;
  mutable std::map<const ptx::Function*, std::unique_ptr<CodeView>> codes_;
  bool finished_ = false;
};

}  // namespace simtlab::stream::trace
