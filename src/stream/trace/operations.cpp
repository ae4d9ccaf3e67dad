#include "stream/trace/operations.h"

namespace simtlab::stream::trace {

void put_operation(Buffer& out, const Operation& op) {
  out.push_back(static_cast<std::uint8_t>(op.kind));
  out.push_back(op.flag ? 1 : 0);
  put_number(out, op.stream);
  if (op.kind != OpKind::kernel) {
    put_number(out, op.a);
    put_number(out, op.b);
    return;
  }
  const Kernel& k = op.kernel;
  put_number(out, k.function);
  for (const std::uint32_t n : k.grid) put_number(out, n);
  for (const std::uint32_t n : k.block) put_number(out, n);
  for (const std::uint64_t n : {std::uint64_t{k.shared_bytes}, k.blocks, k.warp_instructions,
                                k.thread_instructions, k.stored_bytes, k.dictionary})
    put_number(out, n);
  put_number(out, k.tables.size());
  for (const std::uint64_t at : k.tables) put_number(out, at);
}

Operation get_operation(Bytes& in) {
  Operation op;
  op.kind =
      static_cast<OpKind>(in.number(static_cast<std::uint64_t>(OpKind::count_) - 1, "an operation's kind"));
  op.flag = in.number(1, "a flag") != 0;
  op.stream = static_cast<std::uint32_t>(in.number(0xffffffffu, "a stream"));
  if (op.kind != OpKind::kernel) {
    op.a = in.number();
    op.b = in.number();
    return op;
  }
  Kernel& k = op.kernel;
  k.function = static_cast<std::uint32_t>(in.number(0xffffffffu, "a function's number"));
  for (std::uint32_t& n : k.grid)
    n = static_cast<std::uint32_t>(in.number(0x7fffffffu, "a dimension of the grid"));
  for (std::uint32_t& n : k.block)
    n = static_cast<std::uint32_t>(in.number(1024, "a dimension of the block"));
  k.shared_bytes = static_cast<std::uint32_t>(in.number(16u << 20, "the shared memory"));
  k.blocks = in.number(max_blocks, "the number of blocks");
  k.warp_instructions = in.number();
  k.thread_instructions = in.number();
  k.stored_bytes = in.number();
  k.dictionary = in.number();
  for (std::size_t n = in.count(); n > 0; --n) k.tables.push_back(in.number());
  return op;
}

}  // namespace simtlab::stream::trace
