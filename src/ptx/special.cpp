#include "ptx/special.h"

#include <algorithm>
#include <array>

namespace simtlab::ptx {
namespace {

struct Info {
  std::string_view name;
  std::uint8_t bytes = 4;
};

// Indexed by Special.
constexpr Info table[] = {
    {"tid.x"},
    {"tid.y"},
    {"tid.z"},
    {"ntid.x"},
    {"ntid.y"},
    {"ntid.z"},
    {"ctaid.x"},
    {"ctaid.y"},
    {"ctaid.z"},
    {"nctaid.x"},
    {"nctaid.y"},
    {"nctaid.z"},
    {"laneid"},
    {"warpid"},
    {"nwarpid"},
    {"smid"},
    {"nsmid"},
    {"gridid", 8},
    {"lanemask_eq"},
    {"lanemask_le"},
    {"lanemask_lt"},
    {"lanemask_ge"},
    {"lanemask_gt"},
    {"clock"},
    {"clock_hi"},
    {"clock64", 8},
    {"globaltimer", 8},
    {"globaltimer_lo"},
    {"globaltimer_hi"},
    {"total_smem_size"},
    {"dynamic_smem_size"},
    {"aggr_smem_size"},
    {"reserved_smem_offset_begin"},
    {"reserved_smem_offset_end"},
    {"reserved_smem_offset_cap"},
    {"is_explicit_cluster", 0},
    {"clusterid.x"},
    {"clusterid.y"},
    {"clusterid.z"},
    {"nclusterid.x"},
    {"nclusterid.y"},
    {"nclusterid.z"},
    {"cluster_ctaid.x"},
    {"cluster_ctaid.y"},
    {"cluster_ctaid.z"},
    {"cluster_nctaid.x"},
    {"cluster_nctaid.y"},
    {"cluster_nctaid.z"},
    {"cluster_ctarank"},
    {"cluster_nctarank"},
    {"current_graph_exec", 8},
    {"pm0"},
    {"envreg0"},
    {"zero"},
};
static_assert(std::size(table) == static_cast<std::size_t>(Special::count_), "one entry a special register");

// pm0..pm7, pm0_64..pm7_64, envreg0..envreg31, reserved_smem_offset_0/1.
bool numbered(std::string_view name, std::string_view stem, unsigned below) {
  if (!name.starts_with(stem)) return false;
  name.remove_prefix(stem.size());
  if (name.ends_with("_64")) name.remove_suffix(3);
  unsigned n = 0;
  if (name.empty() || name.size() > 2) return false;
  for (const char c : name) {
    if (c < '0' || c > '9') return false;
    n = n * 10 + static_cast<unsigned>(c - '0');
  }
  return n < below;
}

}  // namespace

std::optional<Special> find_special(std::string_view name) {
  for (std::size_t i = 0; i + 1 < std::size(table); ++i)
    if (table[i].name == name && name.find('.') == std::string_view::npos) return static_cast<Special>(i);
  if (name == "clock_lo") return Special::clock;
  if (numbered(name, "pm", 8)) return Special::pm0;
  if (numbered(name, "envreg", 32)) return Special::envreg0;
  if (numbered(name, "reserved_smem_offset_", 2)) return Special::reserved_smem_offset_begin;
  return std::nullopt;
}

std::optional<Special> find_special_vector(std::string_view name) {
  for (std::size_t i = 0; i < std::size(table); ++i)
    if (table[i].name.size() == name.size() + 2 && table[i].name.starts_with(name) &&
        table[i].name.ends_with(".x"))
      return static_cast<Special>(i);
  return std::nullopt;
}

unsigned size_of(Special special) { return table[static_cast<std::size_t>(special)].bytes; }
std::string_view name_of(Special special) { return table[static_cast<std::size_t>(special)].name; }

bool reads_clock(const Inst& inst) {
  return std::any_of(inst.src.begin(), inst.src.begin() + inst.src_count, [](const Operand& o) {
    return o.kind == OperandKind::special && is_clock(static_cast<Special>(o.index));
  });
}

}  // namespace simtlab::ptx
