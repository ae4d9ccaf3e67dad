// Texture fetches: geometries, filters, address modes, channel kinds.
#include "kernel_support.h"

namespace simtlab::exec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// One thread a coordinate (x, y): the four channels of the fetch.
constexpr const char* kernel_2d = R"(
.visible .entry k(.param .u64 tex, .param .u64 at, .param .u64 out)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  .reg .f32 %f<8>;
  ld.param.u64 %rd1, [tex];
  ld.param.u64 %rd2, [at];
  ld.param.u64 %rd3, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd4, %r1, 8;
  add.s64 %rd2, %rd2, %rd4;
  ld.global.v2.f32 {%f1, %f2}, [%rd2];
  tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f1, %f2}];
  mul.wide.u32 %rd4, %r1, 16;
  add.s64 %rd3, %rd3, %rd4;
  st.global.v4.f32 [%rd3], {%f3, %f4, %f5, %f6};
  ret;
}
)";

struct At {
  float x, y;
};

std::vector<float> fetch(Machine& m, std::uint64_t handle, const std::vector<At>& at) {
  const auto places = m.upload(at), out = m.upload(std::vector<float>(4 * at.size()));
  m.run({1}, {static_cast<std::uint32_t>(at.size())}, handle, places, out);
  return m.download<float>(out, 4 * at.size());
}
std::vector<float> first_channel(Machine& m, const Texture& t, const std::vector<At>& at) {
  const Texture table[] = {t};
  m.params.textures = table;
  const auto all = fetch(m, 1, at);
  std::vector<float> x;
  for (std::size_t i = 0; i < all.size(); i += 4) x.push_back(all[i]);
  return x;
}

// 4 x 2 texels, values 0..7, in rows of 64 bytes.
Texture small(Machine& m) {
  std::vector<float> texels(32, -1.0f);
  for (unsigned i = 0; i < 8; ++i) texels[i / 4 * 16 + i % 4] = static_cast<float>(i);
  Texture t;
  t.address = m.upload(texels, "texture");
  t.width = 4;
  t.height = 2;
  t.pitch_bytes = 64;
  return t;
}

TEST(Texture, point_fetch_takes_the_texel_that_holds_the_coordinate_and_clamps) {
  Machine m(kernel_2d);
  EXPECT_THAT(
      first_channel(m, small(m), {{0.0f, 0.0f}, {0.99f, 1.5f}, {3.5f, 0.5f}, {9.0f, 9.0f}, {-3.0f, 0.0f}}),
      ElementsAre(0, 4, 3, 7, 0));
}

TEST(Texture, the_border_is_zero) {
  Machine m(kernel_2d);
  Texture t = small(m);
  t.address_mode[0] = t.address_mode[1] = AddressMode::border;
  EXPECT_THAT(first_channel(m, t, {{1.5f, 0.5f}, {4.0f, 0.5f}, {1.5f, -0.1f}}), ElementsAre(1, 0, 0));
}

TEST(Texture, normalised_coordinates_wrap_and_mirror) {
  Machine m(kernel_2d);
  Texture t = small(m);
  t.normalized_coordinates = true;
  t.address_mode[0] = AddressMode::wrap;
  t.address_mode[1] = AddressMode::mirror;
  EXPECT_THAT(first_channel(m, t,
                            {{0.125f, 0.25f},
                             {1.125f, 0.25f},
                             {-0.125f, 0.25f},
                             {0.375f, 1.25f},
                             {0.375f, 1.75f},
                             {0.375f, -0.25f}}),
              ElementsAre(0, 0, 3, 5, 1, 1));
}

TEST(Texture, linear_filter_weighs_the_four_neighbours) {
  Machine m(kernel_2d);
  Texture t = small(m);
  t.linear_filter = true;
  EXPECT_THAT(first_channel(m, t, {{0.5f, 0.5f}, {1.0f, 0.5f}, {1.5f, 1.0f}, {2.25f, 1.25f}, {0.0f, 0.5f}}),
              ElementsAre(0, 0.5f, 3, 4.75f, 0));
}

TEST(Texture, channels_are_converted_as_the_texture_says) {
  Machine m(kernel_2d);
  Texture t;
  t.address = m.upload(std::vector<std::uint32_t>{0xff800100u, 0x807f0000u});
  t.width = 2;
  t.channels = 4;
  t.channel_bits = 8;
  t.kind = ChannelKind::unsigned_int;
  t.read_normalized_float = true;
  Texture s = t;
  s.kind = ChannelKind::signed_int;
  Texture h;
  h.address = m.upload(std::vector<std::uint16_t>{0x3c00, 0xc000, 0x0001, 0x7c00});
  h.width = 2;
  h.channels = 2;
  h.channel_bits = 16;
  const Texture table[] = {t, s, h};
  m.params.textures = table;
  EXPECT_THAT(fetch(m, 1, {{0, 0}}), ElementsAre(0, 1.0f / 255, 128.0f / 255, 1));
  EXPECT_THAT(fetch(m, 2, {{1, 0}}), ElementsAre(0, 0, 1, -1));
  EXPECT_THAT(fetch(m, 3, {{0, 0}, {1, 0}}),
              ElementsAre(1, -2, 0, 0, 0x1p-24f, std::numeric_limits<float>::infinity(), 0, 0));
}

TEST(Texture, references_are_bound_by_variable_and_fetched_by_integer_in_one_and_three_dimensions) {
  Machine m(R"(
.global .texref line;
.global .texref box;
)" + lane_kernel(R"(
  tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [line, {%r0}];
  and.b32 %r6, %r0, 1;
  shr.u32 %r7, %r0, 1;
  and.b32 %r8, %r7, 1;
  shr.u32 %r9, %r0, 2;
  tex.3d.v4.s32.s32 {%r10, %r11, %r12, %r13}, [box, {%r6, %r8, %r9, %r9}];
  mad.lo.u32 %r1, %r10, 1000, %r2;
)"));
  std::vector<std::uint32_t> line(20), box(8);
  for (unsigned i = 0; i < 20; ++i) line[i] = i + 100;
  for (unsigned i = 0; i < 8; ++i) box[i] = 7 - i;
  Texture t;
  t.address = m.upload(line);
  t.width = 20;
  t.kind = ChannelKind::unsigned_int;
  Texture b = t;
  b.address = m.upload(box);
  b.width = b.height = b.depth = 2;
  b.kind = ChannelKind::signed_int;
  EXPECT_THAT(error_of([&] { run_lanes(m, 32, 32); }), HasSubstr("is not bound, used by thread (0,0,0)"));
  m.module->bind_texture(0, t);
  m.module->bind_texture(1, b);
  EXPECT_EQ(run_lanes(m, 32, 32), each_thread(32, [](unsigned i) {
              return (i < 20 ? i + 100 : 0) + (i < 8 ? (7 - i) * 1000 : 0);
            }));
}

// What the models see: caches are asked for the texels, not for the beginning of the texture.
TEST(Texture, an_integer_fetch_reports_the_address_of_its_texel) {
  class Addresses final : public Consumer {
   public:
    void consume(std::uint64_t, std::span<const Record> records,
                 std::span<const std::uint64_t> addresses) override {
      for (const Record& r : records)
        if (r.address_index != ptx::no_pc && first.empty())
          first.assign(addresses.begin() + r.address_index * warp_size,
                       addresses.begin() + (r.address_index + 1) * warp_size);
    }
    std::vector<std::uint64_t> first;
  };
  Machine m(
      ".global .texref line;\n.visible .entry k() { .reg .b32 %r<8>; mov.u32 %r1, %tid.x;\n"
      "tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [line, {%r1}]; ret; }\n");
  Texture t;
  t.address = m.upload(std::vector<std::uint32_t>(20));
  t.width = 20;
  t.kind = ChannelKind::unsigned_int;
  m.module->bind_texture(0, t);
  Addresses seen;
  m.options.consumer = &seen;
  m.run({1}, {32});
  ASSERT_EQ(seen.first.size(), 32u);
  EXPECT_EQ(seen.first[0], t.address);
  EXPECT_EQ(seen.first[19], t.address + 76);
  EXPECT_EQ(seen.first[20], t.address) << "outside: nothing is read";
}

TEST(Texture, texels_outside_of_every_allocation_are_a_fault) {
  Machine m(kernel_2d);
  Texture t = small(m);
  t.height = 1000;
  EXPECT_THAT(error_of([&] {
                first_channel(m, t, {{0.0f, 900.0f}});
              }),
              HasSubstr("Invalid global read of 4 bytes"));
}

}  // namespace
}  // namespace simtlab::exec
