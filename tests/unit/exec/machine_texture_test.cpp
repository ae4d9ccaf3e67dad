// Textures that machine code fetches from, as objects and as references: the same texels as by PTX. And loads
// with a predicate as operand. tests/data/machine has sources and cubins.
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "kernel_support.h"
#include "machine/image.h"

namespace simtlab::exec {
namespace {

std::string contents_of(const std::string& name) {
  std::ifstream file(std::string(SIMTLAB_SOURCE_DIR) + "/tests/data/machine/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::shared_ptr<const ptx::Module> module_of(const std::string& name, std::string text) {
  if (name.ends_with(".ptx")) return ptx::load_module(name, std::move(text));
  return machine::load_cubin(std::as_bytes(std::span(text)), name);
}

using Words32 = std::vector<std::uint32_t>;

class Fetches {
 public:
  explicit Fetches(const std::string& file) : Fetches(file, contents_of(file)) {}
  Fetches(const std::string& file, std::string text)
      : memory_(64 << 20, 0), module_(module_of(file, std::move(text)), memory_) {
    std::mt19937 random(5);
    Words32 in(4096);
    for (std::uint32_t& word : in) word = static_cast<std::uint32_t>(random());
    in_ = upload(in);
    std::vector<float> texels(4096);
    for (float& texel : texels) texel = static_cast<float>(random() % 4096) / 32.0f - 64.0f;
    texels_ = upload(texels);
  }

  Texture texture(std::uint64_t width, std::uint64_t height, std::uint64_t depth, bool linear) const {
    Texture t;
    t.address = texels_;
    t.width = width;
    t.height = height;
    t.depth = depth;
    t.channels = 4;
    t.linear_filter = linear;
    t.is_line = height == 1 && depth == 1;
    t.address_mode[0] = AddressMode::border;
    return t;
  }
  void bind(const std::string& name, const Texture& texture) {
    const auto& variables = module_.module().variables;
    const auto found = std::ranges::find(variables, name, &ptx::Variable::name);
    if (found == variables.end()) throw std::logic_error("no texture reference " + name);
    module_.bind_texture(static_cast<std::uint32_t>(found - variables.begin()), texture);
  }
  Words32 run(const std::string& kernel, std::span<const Texture> textures, std::size_t words) {
    const auto& functions = module_.module().functions;
    const auto found = std::ranges::find(functions, kernel, &ptx::Function::name);
    if (found == functions.end()) throw std::logic_error("no kernel " + kernel);
    Words32 out(words);
    const std::uint64_t at = upload(out);
    LaunchParams p;
    p.module = &module_;
    p.function = static_cast<std::uint32_t>(found - functions.begin());
    p.block = {64};
    p.textures = textures;
    const std::vector<std::byte> packed = pack_arguments(in_, at);
    p.params = packed;
    const Launch launch(p, memory_);
    run_functional(launch);
    memory_.read(at, std::as_writable_bytes(std::span(out)));
    return out;
  }
  std::uint32_t input(std::size_t index) {
    std::uint32_t word = 0;
    memory_.read(in_ + 4 * index, std::as_writable_bytes(std::span(&word, 1)));
    return word;
  }

 private:
  template <class T>
  std::uint64_t upload(const std::vector<T>& values) {
    const std::uint64_t at = memory_.allocate(values.size() * sizeof(T), "data").value();
    memory_.write(at, std::as_bytes(std::span(values)));
    return at;
  }

  GlobalMemory memory_;
  LoadedModule module_;
  std::uint64_t in_ = 0, texels_ = 0;
};

Words32 fetch(const std::string& file, const std::string& kernel) {
  Fetches f(file);
  f.bind("line", f.texture(11, 1, 1, true));
  if (kernel == "floats") f.bind("plane", f.texture(9, 7, 1, true));
  const Texture table[] = {f.texture(8, 6, 1, true), f.texture(10, 12, 1, false), f.texture(9, 7, 5, true),
                           f.texture(9, 1, 3, true), f.texture(9, 8, 3, true)};
  return f.run(kernel, table, 64 * 32);
}

class MachineTexture : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(, MachineTexture, testing::Values(50u, 61u, 75u, 80u, 90u),
                         [](const auto& instance) { return "sm_" + std::to_string(instance.param); });

TEST_P(MachineTexture, TexelsAreThoseOfPtx) {
  const std::string cubin = "textures.sm_" + std::to_string(GetParam()) + ".cubin";
  for (const char* kernel : {"floats", "texels"}) {
    const Words32 want = fetch("textures.ptx", kernel);
    EXPECT_GT(std::ranges::count_if(want, [](std::uint32_t word) { return word != 0; }), 200) << kernel;
    EXPECT_EQ(fetch(cubin, kernel), want) << kernel;
  }
}

TEST(MachineTextureReference, ThatIsNotBoundIsAnError) {
  Fetches f("textures.sm_80.cubin");
  try {
    f.run("texels", {}, 64 * 32);
    FAIL();
  } catch (const Error& error) { EXPECT_THAT(error.format(), testing::HasSubstr("is not bound")); }
}

// The second load of the kernel reads where P0 is false.
TEST(MachineLoad, APredicateSaysWhichLanesRead) {
  std::string text = contents_of("conditional.sm_80.cubin");
  unsigned loads = 0;
  for (std::size_t at = 0; at + 16 <= text.size(); at += 16) {
    std::uint64_t low = 0, high = 0;
    std::memcpy(&low, text.data() + at, 8);
    std::memcpy(&high, text.data() + at + 8, 8);
    if ((low & 0xfff) != 0x981 || (high >> 27 & 1) == 0 || ++loads != 2) continue;
    high |= 0xf;  // !P0: stored as 7 - number
    std::memcpy(text.data() + at + 8, &high, 8);
  }
  ASSERT_EQ(loads, 2u);
  Fetches f("conditional.sm_80.cubin", text);
  const Words32 out = f.run("pick", {}, 64 * 2);
  unsigned read = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    const bool wanted = out[2 * i] != 0;
    read += wanted;
    EXPECT_EQ(out[2 * i + 1], wanted ? f.input(i + 128) + 1 : 0) << i;
  }
  EXPECT_GT(read, 10u);
  EXPECT_LT(read, 54u);
}

}  // namespace
}  // namespace simtlab::exec
