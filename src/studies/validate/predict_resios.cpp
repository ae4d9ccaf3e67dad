#include "studies/validate/predict_resios.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "device/catalogue.h"
#include "exec/arguments.h"
#include "models/resios.h"

namespace simtlab::studies::validate {
namespace {

namespace r = models::resios;

struct Formula {
  std::string_view id;
  double (*value)();
};

// What the model makes of counts on the GPU of the thesis.
models::Prediction predicted(const std::string& counts, const std::string& parameters = "") {
  static const device::Device gpu = device::load_device("gtx460").device;
  models::Inputs in = models::parse_counts(counts, "counts");
  models::complete(in, &gpu);
  models::require(in, models::resios_model());
  return models::predict(models::resios_model(), in.counts, models::parse_options("order", parameters));
}
double term(const models::Prediction& p, std::string_view name) {
  const auto found = std::ranges::find(p.evaluation.terms, name, &models::Term::name);
  SIMTLAB_ASSERT(found != p.evaluation.terms.end(), "the model has the term");
  return found->value;
}

// A block of `warps` on one SM.
std::string block_of(double warps, std::string_view kernel) {
  return fmt::format("blocks = 1\nthreads_per_block = {}\nactive_blocks_per_sm = 1\nilp = 1\n{}", 32 * warps,
                     kernel);
}
models::Prediction chain(double warps, double latency, double throughput) {
  return predicted(block_of(warps, fmt::format("[class.fp32]\ninsts = 1000\nlatency = {}\nthroughput = {}\n",
                                               latency, throughput)));
}
double madd(double tlp) { return chain(tlp, 22, 16).cycles / (1000 * tlp); }

// Figure 4.4: an access of each of eight warps, all bandwidth for their SM. The figure has the penalty at
// TLP = max_p already, where equation 4.6 begins with it above.
double global(double lines) {
  return predicted(block_of(8, fmt::format("sm_count = 1\nlines_per_access = {}\nl1_bytes = 1\nl2_bytes = 1\n"
                                           "dram_bytes = 1\n[class.load]\ninsts = 1\n",
                                           lines)),
                   "max-p=7.999")
      .cycles;
}
double shared(double conflicts) {
  return predicted(block_of(8, fmt::format("shared_passes = {}\n[class.shared]\ninsts = 1\n", conflicts + 1)),
                   "max-p=7.999,bank-bandwidth=32")
      .evaluation.cycles;
}
// Milliseconds
double copied(double megabytes) {
  return term(predicted(fmt::format("h2d_bytes = {}\n{}", megabytes * 1e6,
                                    block_of(1, "[class.fp32]\ninsts = 1\n"))),
              "T_h2d") *
         1e-6;
}

constexpr Formula formulas[] = {
    {"R003", [] { return term(chain(1, 16, 32), "max_fp32"); }},
    {"R009", [] { return term(chain(1, 22, 16), "max_fp32"); }},
    {"R038", [] { return r::transfer_bandwidth(1000, 5000); }},
    {"R039", [] { return r::transfer_bandwidth(2, 5000) - r::transfer_bandwidth(1, 5000); }},
    {"R040", [] { return r::transfer_bandwidth(0, 5000); }},
    {"R041", [] { return copied(1); }},
    {"R042", [] { return copied(4); }},
    {"R043", [] { return copied(10); }},
    {"R044", [] { return copied(43.08); }},
    {"R045", [] { return copied(100); }},
    {"R062", [] { return madd(1); }},
    {"R063", [] { return madd(2); }},
    {"R064", [] { return madd(4); }},
    {"R065", [] { return madd(8); }},
    {"R066", [] { return madd(11); }},
    {"R067", [] { return madd(12); }},
    {"R068", [] { return madd(16); }},
    {"R069", [] { return madd(32); }},
    {"R070", [] { return r::penalty(32, 16); }},
    {"R071", [] { return r::bytes_per_cycle(86.4, 1.35); }},
    {"R072", [] { return global(1); }},
    {"R073", [] { return global(2); }},
    {"R074", [] { return global(4); }},
    {"R075", [] { return global(8); }},
    {"R076", [] { return global(16); }},
    {"R077", [] { return global(32); }},
    {"R078", [] { return shared(0); }},
    {"R079", [] { return shared(1); }},
    {"R080", [] { return shared(2); }},
    {"R081", [] { return shared(4); }},
    {"R082", [] { return shared(8); }},
    {"R083", [] { return shared(16); }},
    {"R084", [] { return shared(32); }},
    {"R085", [] { return models::ResiosOptions().max_p; }},
    {"R086", [] { return term(chain(1, 16, 32), "bandwidth_SM") * 1.35; }},  // GB/s
    {"R094", [] { return r::warps_for_latency(1, 4, 1); }},
    {"R095", [] { return r::ilp(3, 2); }},
};

using Buffer = std::function<std::uint64_t(std::uint64_t)>;

constexpr std::uint64_t words = 1 << 20;    // of the copy
constexpr std::uint32_t side = 512;         // of matrix and image
constexpr std::uint32_t large_side = 4096;  // L2 does not hold the columns that the blocks write at once
constexpr std::uint32_t blocks = 224;       // of mul and madd: 32 an SM

constexpr ResiosKernel kernels[] = {
    {"mul",
     "mul",
     "1024 dependent multiplications, 224 blocks of 160",
     {blocks, 1, 1},
     {160, 1, 1},
     [](const Buffer& b) { return exec::pack_arguments(b(blocks * 160 * 4), 0.999f); }},
    {"madd",
     "madd",
     "1024 dependent multiply-adds, 224 blocks of 160",
     {blocks, 1, 1},
     {160, 1, 1},
     [](const Buffer& b) { return exec::pack_arguments(b(blocks * 160 * 4), 0.999f, 0.5f); }},
    {"memcpy",
     "memcpy_kernel",
     "4 MiB, a word a thread, 4096 blocks of 256",
     {words / 256, 1, 1},
     {256, 1, 1},
     [](const Buffer& b) { return exec::pack_arguments(b(words * 4), b(words * 4)); }},
    {"transpose",
     "transpose",
     "512 x 512 words, blocks of 32 x 32",
     {side / 32, side / 32, 1},
     {32, 32, 1},
     [](const Buffer& b) { return exec::pack_arguments(b(side * side * 4), b(side * side * 4), side); }},
    {"transpose",
     "transpose",
     "4096 x 4096 words, blocks of 32 x 32",
     {large_side / 32, large_side / 32, 1},
     {32, 32, 1},
     [](const Buffer& b) {
       return exec::pack_arguments(b(std::uint64_t{large_side} * large_side * 4),
                                   b(std::uint64_t{large_side} * large_side * 4), large_side);
     },
     true,
     "4096"},
    {"convolution",
     "convolution",
     "5 x 5 over 512 x 512 pixels of three bytes, blocks of 32 x 32",
     {side / 32, side / 32, 1},
     {32, 32, 1},
     [](const Buffer& b) {
       return exec::pack_arguments(b(side * side * 3), b(side * side * 3), b(25 * 4), side);
     }},
};

}  // namespace

// The fifth digit of a published figure is rounded, as is the second decimal of short ones.
bool ResiosPoint::agrees() const {
  return std::abs(ours - published) <=
         std::max(1e-4 * published, published < 100 && published > 10 ? 5e-3 : 0);
}

std::vector<ResiosPoint> resios_points(const Table& table) {
  std::vector<ResiosPoint> out;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto f = std::ranges::find(formulas, std::string_view(table.text(i, "id")), &Formula::id);
    if (f == std::end(formulas)) continue;
    const std::string& at = table.text(i, "case");
    out.push_back({table.text(i, "id"), table.text(i, "place"),
                   fmt::format("{}, {}", table.text(i, "quantity"), at), table.number(i, "value"),
                   f->value()});
  }
  return out;
}

std::span<const ResiosKernel> resios_kernels() { return kernels; }

double published_precision(const Table& table, std::string_view kernel) {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (table.text(i, "quantity") == "precision" && table.text(i, "case") == kernel)
      return table.number(i, "value");
  throw Error(ExitCode::bad_input, "measured-syntax",
              fmt::format("resios.csv has no precision of kernel '{}'", kernel),
              "a row of quantity precision");
}

std::vector<ResiosVariant> resios_variants() {
  return {{"front end of the thesis", "fma=two"}, {"multiply-adds as one", ""}};
}

}  // namespace simtlab::studies::validate
