#include "studies/validate/predict_resios.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "exec/arguments.h"
#include "models/resios.h"

namespace simtlab::studies::validate {
namespace {

namespace r = models::resios;

struct Formula {
  std::string_view id;
  double (*value)();
};

double madd(double tlp) { return r::delay(22, r::penalty(32, 16), tlp); }
double global(double lines) {
  return r::global_delay(500, r::thesis_max_p, 128, lines, r::bytes_per_cycle(86.4, 1.35));
}
double shared(double degree) { return r::shared_delay(36, r::thesis_max_p, degree); }

constexpr Formula formulas[] = {
    {"R003", [] { return r::most_parallel(16, r::penalty(32, 32)); }},
    {"R009", [] { return r::most_parallel(22, r::penalty(32, 16)); }},
    {"R038", [] { return r::transfer_bandwidth(1000, 5000); }},
    {"R039", [] { return r::transfer_bandwidth(2, 5000) - r::transfer_bandwidth(1, 5000); }},
    {"R040", [] { return r::transfer_bandwidth(0, 5000); }},
    {"R041", [] { return r::transfer_time(1, 5000); }},
    {"R042", [] { return r::transfer_time(4, 5000); }},
    {"R043", [] { return r::transfer_time(10, 5000); }},
    {"R044", [] { return r::transfer_time(43.08, 5000); }},
    {"R045", [] { return r::transfer_time(100, 5000); }},
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
    {"R085", [] { return r::thesis_max_p; }},
    {"R086", [] { return r::bytes_per_cycle(86.4, 7); }},  // GB/s of one of seven SMs
    {"R094", [] { return r::warps_for_latency(1, 4, 1); }},
    {"R095", [] { return r::ilp(3, 2); }},
};

using Buffer = std::function<std::uint64_t(std::uint64_t)>;

constexpr std::uint64_t words = 1 << 20;  // of the copy
constexpr std::uint32_t side = 512;       // of matrix and image
constexpr std::uint32_t blocks = 224;     // of mul and madd: 32 an SM

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
  std::vector<ResiosVariant> out = {{"as it is", {}},
                                    {"multiply-adds as two", {}},
                                    {"bandwidth by SM", {}},
                                    {"no caches", {}},
                                    {"eight accesses", {}}};
  out[1].options.resios_fma = false;
  out[2].options.resios_per_sm = true;
  out[3].options.resios_caches = false;
  out[4].options.resios_max_p = r::thesis_max_p;
  out.push_back({"all of the thesis", models::Options::resios_as_in_the_thesis()});
  return out;
}

}  // namespace simtlab::studies::validate
