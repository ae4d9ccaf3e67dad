// tex.1d, .2d, .3d, .a1d, .a2d: point and linear filtering as the CUDA programming guide defines them
// (weights have 8 bits of fraction). Channels that the texture lacks read as 0. Coordinates beyond a linear
// texture (integer coordinates) read as 0.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "exec/memory.h"
#include "exec/state.h"

namespace simtlab::exec {
namespace {

using Texel = std::uint32_t[4];  // as raw bits of the result type

struct Place {
  std::int64_t x = 0, y = 0, z = 0;
};

const Texture& texture_of(const Block::Impl& b, const WarpCtx& ctx, const XInst& x, std::uint64_t handle,
                          unsigned lane) {
  if (handle >= texref_handles) {
    const auto& bound = b.module->bound_textures;
    const std::uint64_t variable = handle - texref_handles;
    if (variable < bound.size() && bound[variable]) return *bound[variable];
  } else if (handle != 0 && handle <= b.launch->params.textures.size()) {
    return b.launch->params.textures[handle - 1];
  }
  raise(b, *x.inst, Fault::Kind::illegal_address, "illegal-texture",
        fmt::format("texture {:#x} is not bound, used by {} of {}", handle, thread_name(b, ctx.warp, lane),
                    kernel_name(b, *x.inst)));
}

// One coordinate in texels after the address mode; nullopt-like: inside is false for the border.
std::int64_t wrap_index(std::int64_t i, std::int64_t n, AddressMode mode, bool& inside) {
  if (i >= 0 && i < n) return i;
  switch (mode) {
    case AddressMode::border: inside = false; return 0;
    case AddressMode::wrap: return ((i % n) + n) % n;
    case AddressMode::mirror: {
      const std::int64_t period = 2 * n, r = ((i % period) + period) % period;
      return r < n ? r : period - 1 - r;
    }
    case AddressMode::clamp: break;
  }
  return std::clamp<std::int64_t>(i, 0, n - 1);
}

class Fetcher {
 public:
  Fetcher(WarpCtx& ctx, const XInst& x, const Texture& t, unsigned lane)
      : ctx_(ctx), x_(x), t_(t), lane_(lane), texel_bytes_(t.channels * t.channel_bits / 8u) {
    pitch_ = t.pitch_bytes != 0 ? t.pitch_bytes : t.width * texel_bytes_;
  }
  unsigned texel_bytes() const { return texel_bytes_; }
  // Address of the first texel that was read; that of the texture if every place lies outside of it.
  std::uint64_t first_address() const { return first_ != 0 ? first_ : t_.address; }

  // Integer coordinates: the texel itself, 0 outside.
  void fetch(const Place& p, Texel& out) {
    const bool inside = p.x >= 0 && p.y >= 0 && p.z >= 0 && static_cast<std::uint64_t>(p.x) < t_.width &&
                        static_cast<std::uint64_t>(p.y) < t_.height &&
                        static_cast<std::uint64_t>(p.z) < t_.depth;
    std::fill(out, out + 4, 0u);
    if (inside) read(p, out);
  }

  void sample(const float (&at)[3], unsigned dims, std::int64_t layer, Texel& out) {
    float c[3] = {0, 0, 0};
    const std::uint64_t size[3] = {t_.width, t_.height, t_.depth};
    for (unsigned d = 0; d < dims; ++d) {
      c[d] = std::isfinite(at[d]) ? at[d] : 0.0f;
      if (t_.normalized_coordinates) c[d] *= static_cast<float>(size[d]);
      c[d] = std::clamp(c[d], -0x1p40f, 0x1p40f);
    }
    const bool floats = t_.kind == ChannelKind::floating || t_.read_normalized_float;
    if (t_.linear_filter && floats) return linear(c, dims, layer, out);
    point(c, dims, layer, out);
  }

 private:
  AddressMode mode(unsigned d) const {
    const AddressMode m = t_.address_mode[d];
    const bool periodic = m == AddressMode::wrap || m == AddressMode::mirror;
    return periodic && !t_.normalized_coordinates ? AddressMode::clamp : m;
  }

  // Texel at unwrapped indices; layers are the last dimension and always clamped.
  void texel(const std::int64_t (&i)[3], unsigned dims, std::int64_t layer, Texel& out) {
    bool inside = true;
    const std::uint64_t size[3] = {t_.width, t_.height, t_.depth};
    std::int64_t w[3] = {0, 0, 0};
    for (unsigned d = 0; d < dims; ++d)
      w[d] = wrap_index(i[d], static_cast<std::int64_t>(size[d]), mode(d), inside);
    std::fill(out, out + 4, 0u);
    if (!inside) return;
    Place p{w[0], w[1], w[2]};
    if (layer >= 0) p.z = std::min(layer, static_cast<std::int64_t>(t_.depth) - 1);
    read(p, out);
  }

  void point(const float (&c)[3], unsigned dims, std::int64_t layer, Texel& out) {
    std::int64_t i[3] = {0, 0, 0};
    for (unsigned d = 0; d < dims; ++d) i[d] = static_cast<std::int64_t>(std::floor(c[d]));
    texel(i, dims, layer, out);
  }

  void linear(const float (&c)[3], unsigned dims, std::int64_t layer, Texel& out) {
    std::int64_t base[3] = {0, 0, 0};
    float weight[3] = {0, 0, 0};
    for (unsigned d = 0; d < dims; ++d) {
      const float shifted = c[d] - 0.5f;
      base[d] = static_cast<std::int64_t>(std::floor(shifted));
      weight[d] = std::round((shifted - std::floor(shifted)) * 256.0f) / 256.0f;
    }
    float sum[4] = {0, 0, 0, 0};
    for (unsigned corner = 0; corner < 1u << dims; ++corner) {
      std::int64_t i[3] = {0, 0, 0};
      float w = 1.0f;
      for (unsigned d = 0; d < dims; ++d) {
        const bool upper = (corner >> d & 1) != 0;
        i[d] = base[d] + (upper ? 1 : 0);
        w *= upper ? weight[d] : 1.0f - weight[d];
      }
      if (w == 0.0f) continue;
      Texel value;
      texel(i, dims, layer, value);
      for (unsigned k = 0; k < 4; ++k) {
        float f;
        std::memcpy(&f, &value[k], sizeof f);
        sum[k] += w * f;
      }
    }
    std::memcpy(out, sum, sizeof sum);
  }

  void read(const Place& p, Texel& out) {
    const std::uint64_t row = static_cast<std::uint64_t>(p.z) * t_.height + static_cast<std::uint64_t>(p.y);
    const std::uint64_t address = t_.address + row * pitch_ + static_cast<std::uint64_t>(p.x) * texel_bytes_;
    if (first_ == 0) first_ = address;
    Bounds& known = ctx_.memory->bounds(x_, false);
    const bool cached = address >= known.low && address < known.high && known.high - address >= texel_bytes_;
    if (!cached && !find_bounds(*ctx_.memory, address, texel_bytes_, false, known)) {
      ctx_.addresses[lane_] = address;
      ctx_.space = ptx::Space::global;
      bad_access(ctx_, x_, lane_, texel_bytes_, false);
    }
    const std::byte* at = ctx_.memory->global->host(address);
    for (unsigned k = 0; k < t_.channels; ++k) out[k] = channel(at + k * t_.channel_bits / 8u);
  }

  std::uint32_t channel(const std::byte* at) const {
    std::uint32_t raw = 0;
    std::memcpy(&raw, at, t_.channel_bits / 8u);
    const unsigned spare = 32u - t_.channel_bits;
    float value = 0;
    switch (t_.kind) {
      case ChannelKind::floating:
        if (t_.channel_bits == 32) return raw;
        value = half(raw);
        break;
      case ChannelKind::unsigned_int:
        if (!t_.read_normalized_float) return raw;
        value = static_cast<float>(raw) / static_cast<float>(0xffffffffu >> spare);
        break;
      case ChannelKind::signed_int: {
        const std::int32_t wide = static_cast<std::int32_t>(raw << spare) >> spare;
        if (!t_.read_normalized_float) return static_cast<std::uint32_t>(wide);
        value = std::max(-1.0f, static_cast<float>(wide) / static_cast<float>(0x7fffffffu >> spare));
        break;
      }
    }
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }

  static float half(std::uint32_t raw) {
    const int exponent = static_cast<int>(raw >> 10 & 31);
    const auto fraction = static_cast<float>(raw & 1023);
    const float magnitude = exponent == 31  ? ((raw & 1023) != 0 ? NAN : INFINITY)
                            : exponent == 0 ? std::ldexp(fraction, -24)
                                            : std::ldexp(fraction + 1024.0f, exponent - 25);
    return (raw & 0x8000) != 0 ? -magnitude : magnitude;
  }

  WarpCtx& ctx_;
  const XInst& x_;
  const Texture& t_;
  unsigned lane_, texel_bytes_;
  std::uint64_t pitch_ = 0, first_ = 0;
};

unsigned dimensions(ptx::Geometry g) {
  return g == ptx::Geometry::d3 ? 3 : g == ptx::Geometry::d2 || g == ptx::Geometry::a2d ? 2 : 1;
}

void fetch_lane(WarpCtx& ctx, const XInst& x, unsigned lane, const RowRef* rows) {
  Block::Impl& b = block_of(ctx);
  const ptx::Inst& inst = *x.inst;
  const RowRef* sources = rows + inst.dst_count;
  const std::uint64_t handle =
      inst.src[0].bytes == 4 ? ctx.row32(sources[0])[lane] : ctx.row64(sources[0])[lane];
  const Texture& t = texture_of(b, ctx, x, handle, lane);
  Fetcher fetcher(ctx, x, t, lane);
  // Machine code fetches from a line as from a plane, with 0 as the second coordinate.
  const unsigned dims = t.is_line ? 1 : dimensions(inst.mods.geometry);
  const bool layered = inst.mods.geometry == ptx::Geometry::a1d || inst.mods.geometry == ptx::Geometry::a2d;
  const RowRef* coordinates = sources + 2;
  std::int64_t layer = -1;
  if (layered) layer = ctx.row32(*coordinates++)[lane];
  Texel texel;
  if (inst.stype == ptx::Type::f32) {
    float at[3] = {0, 0, 0};
    for (unsigned d = 0; d < dims; ++d) std::memcpy(&at[d], ctx.row32(coordinates[d]) + lane, sizeof(float));
    fetcher.sample(at, dims, layer, texel);
  } else {
    std::int64_t i[3] = {0, 0, 0};
    for (unsigned d = 0; d < dims; ++d) i[d] = static_cast<std::int32_t>(ctx.row32(coordinates[d])[lane]);
    fetcher.fetch({i[0], i[1], layered ? layer : i[2]}, texel);
  }
  for (unsigned k = 0; k < inst.dst_count && k < 4; ++k) ctx.row32(rows[k])[lane] = texel[k];
  ctx.addresses[lane] = fetcher.first_address();
  b.texel_bytes = static_cast<std::uint16_t>(fetcher.texel_bytes());
}

}  // namespace

void handle_texture(WarpCtx& ctx, const XInst& x) {
  // Coordinates are read before any lane's results are written: rows of other lanes don't matter.
  for (std::uint32_t m = ctx.mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    fetch_lane(ctx, x, lane, ctx.list(x));
  }
  ctx.space = ptx::Space::tex;
}

}  // namespace simtlab::exec
