#include "machine_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "assembler/assemble.h"
#include "base/error.h"
#include "exec/executor.h"
#include "machine/forms.h"
#include "machine/image.h"
#include "optimiser/optimiser.h"

namespace simtlab::exec::comparison {
namespace {

constexpr Format formats[] = {{"f32", 'f', 4, 23, 32},      {"f64", 'd', 8, 52, 64},
                              {"f16", 'h', 2, 10, 16},      {"bf16", 'b', 2, 7, 16},
                              {"f16x2", 'H', 4, 10, 16, 2}, {"bf16x2", 'B', 4, 7, 16, 2},
                              {"b8", 'c', 1, 0, 8},         {"b16", 's', 2, 0, 16},
                              {"b32", 'w', 4, 0, 32},       {"b64", 'x', 8, 0, 64}};

constexpr std::uint64_t most_instructions = 20'000'000;
constexpr std::uint64_t memory_bytes = 256ull << 20;
constexpr std::size_t most_file = 64u << 20;

std::uint64_t mask_of(unsigned bits) {
  return bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

std::uint64_t corner(const Format& f, std::mt19937_64& random) {
  if (f.fraction == 0) {
    const std::uint64_t shift = random() % f.bits, one = std::uint64_t{1} << shift;
    return (one + random() % 3 - 1) & mask_of(f.bits);
  }
  const std::uint64_t exponent = mask_of(f.bits - 1) >> f.fraction << f.fraction,
                      one = exponent >> 1 & exponent, least = std::uint64_t{1} << f.fraction;
  const std::uint64_t values[] = {0,
                                  1,
                                  least - 1,
                                  least,
                                  least + 1,
                                  exponent - 1,
                                  exponent,
                                  exponent + 1,
                                  exponent | (least >> 1),
                                  one,
                                  one + 1,
                                  one - 1,
                                  one + least,
                                  one - least,
                                  one + (least >> 1),
                                  one + least + (least >> 2),
                                  one + 5 * least + 3,
                                  one + 3 * least + (least >> 4)};
  const std::uint64_t value = values[random() % std::size(values)];
  return random() % 2 == 0 ? value : value | std::uint64_t{1} << (f.bits - 1);
}

std::uint64_t value_of(const Format& f, std::mt19937_64& random) {
  switch (random() % 4) {
    case 0: return random() & mask_of(f.bits);
    case 1: {
      // Small integers of both signs; floating values near 1, so that sums and quotients are ordinary.
      if (f.fraction == 0) return (random() % 96 - 24) & mask_of(f.bits);
      const std::uint64_t one = mask_of(f.bits - 2) >> f.fraction << f.fraction;
      return (one + (random() & mask_of(f.fraction + 3)) - mask_of(f.fraction + 2)) & mask_of(f.bits);
    }
    default: return corner(f, random);
  }
}

bool is_nan(const Format& f, std::uint64_t value) {
  const std::uint64_t magnitude = value & mask_of(f.bits - 1);
  return f.fraction != 0 && magnitude > mask_of(f.bits - 1) >> f.fraction << f.fraction;
}

// Positions of floating values in their order, so that neighbours differ by one.
std::int64_t position(const Format& f, std::uint64_t value) {
  const auto magnitude = static_cast<std::int64_t>(value & mask_of(f.bits - 1));
  return value >> (f.bits - 1) & 1 ? -magnitude : magnitude;
}

// Within an ulp or two, or (sin and cos, whose argument the machine scales and rounds) absolutely.
bool is_close(const Format& f, std::uint64_t a, std::uint64_t b) {
  if (f.fraction == 0 || is_nan(f, a) || is_nan(f, b)) return false;
  if (std::abs(position(f, a) - position(f, b)) <= 2) return true;
  if (f.bytes != 4 || f.values != 1) return false;
  return std::abs(std::bit_cast<float>(static_cast<std::uint32_t>(a)) -
                  std::bit_cast<float>(static_cast<std::uint32_t>(b))) <= 1e-5f;
}

std::uint64_t value_at(const std::byte* at, unsigned bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, bytes);
  return value;
}

using Memory = std::vector<std::vector<std::byte>>;  // by buffer

// A module in a memory of its own.
class Side {
 public:
  explicit Side(std::shared_ptr<const ptx::Module> module)
      : memory_(memory_bytes, 0), loaded_(std::move(module), memory_) {
    const auto& functions = loaded_.module().functions;
    for (std::uint32_t i = 0; i < functions.size(); ++i)
      if (functions[i].is_entry) index_[functions[i].name] = i;
  }

  Memory run(const Kernel& kernel, Results results = Results::early) {
    const auto found = index_.find(kernel.name);
    if (found == index_.end()) throw std::logic_error("there is no kernel " + kernel.name);
    const Place place(*this, kernel);
    LaunchParams p;
    p.module = &loaded_;
    p.function = found->second;
    p.grid = kernel.blocks;
    p.block = kernel.threads;
    p.dynamic_shared_bytes = kernel.shared_bytes;
    p.params = place.block;
    p.results = results;
    Launch launch(p, memory_);
    FunctionalOptions options;
    options.max_warp_instructions = most_instructions;
    run_functional(launch, options);
    Memory out;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      out.emplace_back(std::size_t{kernel.parameters[i].count} * kernel.parameters[i].format->bytes);
      if (!out.back().empty()) memory_.read(place.addresses[i], out.back());
    }
    return out;
  }

 private:
  // The buffers and the parameter block of one launch.
  struct Place {
    GlobalMemory& memory;
    std::vector<std::uint64_t> addresses;  // 0: a value
    std::vector<std::byte> block;
    Place(Side& side, const Kernel& kernel) : memory(side.memory_) {
      std::uint64_t seed = kernel.seed;
      for (const Parameter& p : kernel.parameters) {
        ++seed;
        addresses.push_back(p.count == 0 ? 0 : buffer(p, seed));
        append(p.count == 0 ? p.value : addresses.back(), p.count == 0 ? p.format->bytes : 8);
      }
    }
    ~Place() {
      for (const std::uint64_t a : addresses)
        if (a != 0) memory.release(a);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    std::uint64_t buffer(const Parameter& p, std::uint64_t seed) {
      const std::size_t bytes = std::size_t{p.count} * p.format->bytes;
      const std::uint64_t address = memory.allocate(bytes, "buffer").value();
      memory.write(address, p.result ? std::vector<std::byte>(bytes) : draw(*p.format, p.count, seed));
      return address;
    }
    void append(std::uint64_t value, unsigned bytes) {
      block.resize((block.size() + bytes - 1) / bytes * bytes);
      const auto all = std::as_bytes(std::span(&value, 1)).first(bytes);
      block.insert(block.end(), all.begin(), all.end());
    }
  };

  GlobalMemory memory_;
  LoadedModule loaded_;
  std::map<std::string, std::uint32_t, std::less<>> index_;
};

// The kernel that a message names: "... of kernel NAME ...".
std::string kernel_in(const std::string& message) {
  constexpr std::string_view before = "of kernel ";
  const std::size_t at = message.find(before);
  if (at == std::string::npos) return {};
  const std::size_t first = at + before.size();
  return message.substr(first, message.find_first_of(" :", first) - first);
}

// The kernel's code ends at once, so that what cannot be executed does not stop the kernels beside it.
void empty_kernel(std::string& file, const std::string& name) {
  const auto bytes = std::as_bytes(std::span(file));
  const machine::Image image = machine::read_image(bytes, "cubin");
  for (const machine::ImageKernel& kernel : image.kernels) {
    if (kernel.name != name) continue;
    const machine::Bytes code = image.elf.sections[kernel.section].data;
    const auto at = static_cast<std::size_t>(code.data() - bytes.data());
    constexpr std::uint64_t exit[2] = {0x000000000000794dull, 0x000fea0003800000ull};
    // A control word that waits for nothing, and three EXIT
    constexpr std::uint64_t bundle[4] = {0x001ffc00ffe007ffull, 0xe30000000007000full, 0xe30000000007000full,
                                         0xe30000000007000full};
    if (machine::in_bundles(image.generation))
      for (std::size_t i = 0; i + 32 <= code.size(); i += 32)
        std::memcpy(&file[at + i], bundle, sizeof bundle);
    else
      for (std::size_t i = 0; i + 16 <= code.size(); i += 16) std::memcpy(&file[at + i], exit, sizeof exit);
  }
}

using Refusals = std::map<std::string, std::string>;  // why, by kernel

// What of the file can be executed. Throws Error where nothing can.
std::shared_ptr<const ptx::Module> load_what_runs(std::string file, const std::string& name,
                                                  Refusals& refusals) {
  for (;;) {
    try {
      return machine::load_cubin(std::as_bytes(std::span(file)), name);
    } catch (const Error& error) {
      const std::size_t before = refusals.size();
      for (const Diagnostic& d : error.diagnostics()) {
        const std::string kernel = kernel_in(d.message);
        if (kernel.empty() || !refusals.emplace(kernel, d.message).second) continue;
        empty_kernel(file, kernel);
      }
      if (refusals.size() == before) throw;
    }
  }
}

// Kernels that the optimiser gives up count as refused.
std::shared_ptr<const ptx::Module> load_optimised(const Suite& suite, Refusals& refusals) {
  ptx::LoadOptions options;
  options.reject_unsupported = false;
  optimiser::need(options);
  auto module = ptx::load_module(suite.ptx, read_file(suite.folder + "/" + suite.ptx, most_file), options);
  module->complete_all();
  for (const ptx::Function& f : module->functions)
    if (f.is_entry && !f.optimised) refusals.emplace(f.name, f.not_optimised);
  return module;
}

// The same of the assembler.
std::shared_ptr<const ptx::Module> load_assembled(const Suite& suite, unsigned generation,
                                                  Refusals& refusals) {
  ptx::LoadOptions options;
  options.reject_unsupported = false;
  optimiser::use(options);  // there is none under sanitizers
  assembler::make_code(options, generation, false);
  auto module = ptx::load_module(suite.ptx, read_file(suite.folder + "/" + suite.ptx, most_file), options);
  module->complete_all();
  for (const ptx::Function& f : module->functions)
    if (f.is_entry && !f.assembled) refusals.emplace(f.name, f.not_assembled);
  return module;
}

unsigned number_of(const std::string& generation) {  // "sm_80"
  return static_cast<unsigned>(std::stoul(generation.substr(3)));
}

std::string text_of(const Error& error) {
  return error.diagnostics().empty() ? "an error without a message" : error.diagnostics().front().message;
}

// Result `i` of one thread, say, with the inputs that stand at the same place.
std::string difference(const Kernel& kernel, std::size_t buffer, std::size_t i, const Memory& ptx,
                       const Memory& machine) {
  const auto element = [&](const Memory& memory, std::size_t b) {
    const unsigned bytes = kernel.parameters[b].format->bytes;
    return fmt::format("{:0{}x}", value_at(&memory[b][i * bytes], bytes), 2 * bytes);
  };
  std::string out = fmt::format("buffer {} element {}: PTX {}, machine {}", buffer, i, element(ptx, buffer),
                                element(machine, buffer));
  std::string inputs;
  for (std::size_t b = 0; b < kernel.parameters.size(); ++b)
    if (!kernel.parameters[b].result && kernel.parameters[b].count == kernel.parameters[buffer].count)
      inputs += " " + element(ptx, b);
  return inputs.empty() ? out : out + "; inputs" + inputs;
}

void compare_memory(const Kernel& kernel, const Memory& ptx, const Memory& machine, Finding& finding) {
  std::size_t bad = 0, near = 0;
  std::string first;
  for (std::size_t b = 0; b < kernel.parameters.size(); ++b) {
    const Format& f = *kernel.parameters[b].format;
    for (std::size_t i = 0; i < kernel.parameters[b].count; ++i) {
      const Likeness likeness = compare(f, &ptx[b][i * f.bytes], &machine[b][i * f.bytes]);
      if (likeness == Likeness::equal) continue;
      const bool is_near = likeness == Likeness::near && kernel.near;
      if (first.empty() || (!is_near && bad == 0)) first = difference(kernel, b, i, ptx, machine);
      ++(is_near ? near : bad);
    }
  }
  finding.outcome = bad != 0 ? Outcome::different : near != 0 ? Outcome::near : Outcome::equal;
  if (!first.empty()) finding.text = fmt::format("{} elements differ; {}", bad + near, first);
}

// What PTX leaves, by kernel; the text of the error where it leaves nothing.
struct Wanted {
  std::optional<Memory> memory;
  std::string problem;
};

std::vector<Wanted> run_ptx(const Suite& suite) {
  ptx::LoadOptions options;
  options.reject_unsupported = false;
  const std::string path = suite.folder + "/" + suite.ptx;
  Side side(ptx::load_module(suite.ptx, read_file(path, most_file), options));
  std::vector<Wanted> out;
  for (const Kernel& kernel : suite.kernels) {
    Wanted& wanted = out.emplace_back();
    try {
      wanted.memory = side.run(kernel);
    } catch (const Error& error) { wanted.problem = text_of(error); }
  }
  return out;
}

void compare_cubin(const Suite& suite, const std::pair<std::string, std::string>& cubin,
                   const std::vector<Wanted>& wanted, const std::function<void(const Finding&)>& tell) {
  Refusals refusals;
  std::string broken;
  std::unique_ptr<Side> side;
  try {
    side =
        std::make_unique<Side>(cubin.second.empty() ? load_optimised(suite, refusals)
                               : cubin.second.starts_with("sm_")
                                   ? load_assembled(suite, number_of(cubin.second), refusals)
                                   : load_what_runs(read_file(suite.folder + "/" + cubin.second, most_file),
                                                    cubin.second, refusals));
  } catch (const Error& error) { broken = text_of(error); }
  for (std::size_t k = 0; k < suite.kernels.size(); ++k) {
    const Kernel& kernel = suite.kernels[k];
    Finding finding;
    finding.label = cubin.first;
    finding.kernel = &kernel;
    const auto refusal = refusals.find(kernel.name);
    if (!side || refusal != refusals.end()) {
      finding.outcome = Outcome::refused;
      finding.text = side ? refusal->second : broken;
    } else if (!wanted[k].memory) {
      finding.outcome = Outcome::ptx;
      finding.text = wanted[k].problem;
    } else {
      try {
        compare_memory(kernel, *wanted[k].memory, side->run(kernel), finding);
        // Code of our own may not rest on more than its control information says.
        const bool ours = cubin.second.starts_with("sm_") && machine::has_control(number_of(cubin.second));
        if (ours && (finding.outcome == Outcome::equal || finding.outcome == Outcome::near))
          compare_memory(kernel, *wanted[k].memory, side->run(kernel, Results::checked), finding);
      } catch (const Error& error) {
        finding.outcome = error.code() == ExitCode::unsupported ? Outcome::refused : Outcome::failed;
        finding.text = text_of(error);
      }
    }
    tell(finding);
  }
}

[[noreturn]] void bad_suite(const std::string& file, unsigned line, const std::string& why) {
  throw std::runtime_error(fmt::format("{}:{}: {}", file, line, why));
}

Parameter parameter_of(const std::string& text, bool result) {
  const std::size_t at = text.find_first_of("*=");
  if (at == std::string::npos)
    throw std::logic_error("a parameter is KIND*COUNT or KIND=HEX, not '" + text + "'");
  Parameter p{.format = &format_of(text.substr(0, at)), .result = result};
  if (text[at] == '=')
    p.value = std::stoull(text.substr(at + 1), nullptr, 16);
  else
    p.count = static_cast<std::uint32_t>(std::stoul(text.substr(at + 1)));
  return p;
}

// "8", "8x4", "8x4x2".
Dim3 dimensions_of(const std::string& text) {
  Dim3 d{0, 1, 1};
  char rest = 0;
  const int got = std::sscanf(text.c_str(), "%ux%ux%u%c", &d.x, &d.y, &d.z, &rest);
  if (got < 1 || got > 3) throw std::logic_error("'" + text + "' is no number of blocks or threads");
  return d;
}

Kernel kernel_of(std::istringstream& words) {
  Kernel kernel;
  std::string exactness, blocks, threads;
  if (!(words >> kernel.name >> blocks >> threads >> kernel.shared_bytes >> kernel.seed >> exactness) ||
      (exactness != "exact" && exactness != "near"))
    throw std::logic_error("kernel NAME BLOCKS THREADS SHARED SEED exact|near IN... -> OUT...");
  kernel.near = exactness == "near";
  kernel.blocks = dimensions_of(blocks);
  kernel.threads = dimensions_of(threads);
  bool result = false;
  for (std::string word; words >> word;) {
    if (word == "->")
      result = true;
    else
      kernel.parameters.push_back(parameter_of(word, result));
  }
  return kernel;
}

}  // namespace

const Format& format_of(std::string_view name) {
  for (const Format& f : formats)
    if (f.name == name || (name.size() == 1 && f.letter == name[0])) return f;
  throw std::logic_error("there is no format " + std::string(name));
}

std::vector<std::byte> draw(const Format& f, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> out;
  out.reserve(count * f.bytes);
  for (std::size_t i = 0; i < count * f.values; ++i) {
    const std::uint64_t value = value_of(f, random);
    const auto bytes = std::as_bytes(std::span(&value, 1)).first(f.bytes / f.values);
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

Likeness compare(const Format& f, const std::byte* a, const std::byte* b) {
  if (std::memcmp(a, b, f.bytes) == 0) return Likeness::equal;
  const unsigned bytes = f.bytes / f.values;
  Likeness out = Likeness::equal;
  for (unsigned i = 0; i < f.values; ++i) {
    const std::uint64_t x = value_at(a + i * bytes, bytes), y = value_at(b + i * bytes, bytes);
    if (x == y || (is_nan(f, x) && is_nan(f, y))) continue;
    if (!is_close(f, x, y)) return Likeness::different;
    out = Likeness::near;
  }
  return out;
}

std::string_view name_of(Outcome outcome) {
  constexpr std::string_view names[] = {"equal", "near", "different", "refused", "failed", "ptx"};
  return names[static_cast<std::size_t>(outcome)];
}

Suite read_suite(const std::string& file) {
  Suite suite;
  suite.folder = std::filesystem::absolute(file).parent_path().string();
  std::istringstream lines(read_file(file, most_file));
  unsigned number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    std::string word, label, path;
    if (!(words >> word) || word[0] == '#') continue;
    try {
      if (word == "ptx") {
        words >> suite.ptx;
      } else if (word == "cubin") {
        words >> label >> path;
        suite.cubins.emplace_back(label, path);
      } else if (word == "optimised") {
        words >> label;
        suite.cubins.emplace_back(label, "");
      } else if (word == "assembled") {
        words >> label >> path;
        suite.cubins.emplace_back(label, path);
      } else if (word == "kernel") {
        suite.kernels.push_back(kernel_of(words));
      } else {
        throw std::logic_error("ptx, cubin, optimised, assembled or kernel, not '" + word + "'");
      }
    } catch (const std::exception& error) { bad_suite(file, number, error.what()); }
  }
  return suite;
}

void compare_suite(const Suite& suite, const std::function<void(const Finding&)>& tell) {
  const std::vector<Wanted> wanted = run_ptx(suite);
  for (const auto& cubin : suite.cubins) compare_cubin(suite, cubin, wanted, tell);
  for (std::size_t k = 0; suite.cubins.empty() && k < wanted.size(); ++k) {
    const Outcome outcome = wanted[k].memory ? Outcome::equal : Outcome::ptx;
    tell({.label = "ptx", .kernel = &suite.kernels[k], .outcome = outcome, .text = wanted[k].problem});
  }
}

}  // namespace simtlab::exec::comparison
