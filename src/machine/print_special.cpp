// Names of special registers.
#include <fmt/format.h>

#include <algorithm>

#include "machine/print.h"

namespace simtlab::machine {
namespace {

struct SpecialName {
  unsigned number;
  std::string_view name;
};
// Those that Maxwell and Pascal call otherwise than later generations, by their number.
constexpr SpecialName bundled_names[] = {{0x04, "SR_PM0"},
                                         {0x05, "SR_PM1"},
                                         {0x06, "SR_PM2"},
                                         {0x07, "SR_PM3"},
                                         {0x08, "SR_PM4"},
                                         {0x09, "SR_PM5"},
                                         {0x0a, "SR_PM6"},
                                         {0x0b, "SR_PM7"},
                                         {0x0f, "SR_ORDERING_TICKET"},
                                         {0x10, "SR_PRIM_TYPE"},
                                         {0x11, "SR_INVOCATION_ID"},
                                         {0x12, "SR_Y_DIRECTION"},
                                         {0x13, "SR_THREAD_KILL"},
                                         {0x14, "SM_SHADER_TYPE"},
                                         {0x15, "SR_DIRECTCBEWRITEADDRESSLOW"},
                                         {0x16, "SR_DIRECTCBEWRITEADDRESSHIGH"},
                                         {0x17, "SR_DIRECTCBEWRITEENABLED"},
                                         {0x18, "SR_MACHINE_ID_0"},
                                         {0x19, "SR_MACHINE_ID_1"},
                                         {0x1a, "SR_MACHINE_ID_2"},
                                         {0x1b, "SR_MACHINE_ID_3"},
                                         {0x1c, "SR_AFFINITY"},
                                         {0x1d, "SR_INVOCATION_INFO"},
                                         {0x1e, "SR_WSCALEFACTOR_XY"},
                                         {0x1f, "SR_WSCALEFACTOR_Z"},
                                         {0x24, "SR_CTA_PARAM"},
                                         {0x29, "SR_CirQueueIncrMinusOne"},
                                         {0x2a, "SR_NLATC"},
                                         {0x2c, "SR_SM_SPA_VERSION"},
                                         {0x2d, "SR_MULTIPASSSHADERINFO"},
                                         {0x33, "SR_SMEMBANKS"},
                                         {0x34, "SR_LWINLO"},
                                         {0x35, "SR_LWINSZ"},
                                         {0x36, "SR_LMEMLOSZ"},
                                         {0x3e, "SR_BARRIERALLOC"},
                                         {0x40, "SR_GLOBALERRORSTATUS"},
                                         {0x42, "SR_WARPERRORSTATUS"},
                                         {0x43, "SR_WARPERRORSTATUSCLEAR"},
                                         {0x48, "SR_PM_HI0"},
                                         {0x49, "SR_PM_HI1"},
                                         {0x4a, "SR_PM_HI2"},
                                         {0x4b, "SR_PM_HI3"},
                                         {0x4c, "SR_PM_HI4"},
                                         {0x4d, "SR_PM_HI5"},
                                         {0x4e, "SR_PM_HI6"},
                                         {0x4f, "SR_PM_HI7"},
                                         {0x61, "SR_CIRCULARQUEUEENTRYINDEX"},
                                         {0x62, "SR_CIRCULARQUEUEENTRYADDRESSLOW"},
                                         {0x63, "SR_CIRCULARQUEUEENTRYADDRESSHIGH"}};

// Numbers that have names only from a later one of those generations on.
std::string early_special(unsigned number, unsigned generation) {
  constexpr unsigned first_maxwell = 50, pascal = 60, ticket = 0x0f, context = 0x3e;
  constexpr unsigned first_of_pascal = 0x2c, last_of_pascal = 0x2f;
  const bool later = number == ticket
                         ? generation > first_maxwell
                         : generation >= pascal || number < first_of_pascal || number > last_of_pascal;
  if (number == context && generation < pascal) return "SR_CTXADDR";
  return later ? std::string() : fmt::format("SR{}", number);
}

std::string bundled_special(unsigned number, unsigned generation) {
  if (std::string name = early_special(number, generation); !name.empty()) return name;
  const auto* found = std::ranges::find(bundled_names, number, &SpecialName::number);
  if (found != std::end(bundled_names)) return std::string(found->name);
  constexpr unsigned first_without_name = 0x64;
  return number >= first_without_name ? fmt::format("SR{}", number) : std::string();
}

}  // namespace

std::string special_register_name(unsigned number, unsigned generation) {
  if (in_bundles(generation))
    if (std::string name = bundled_special(number, generation); !name.empty()) return name;
  switch (number) {
    case 0x00: return "SR_LANEID";
    case 0x01: return "SR_CLOCK";
    case 0x02: return "SR_VIRTCFG";
    case 0x03: return "SR_VIRTID";
    case 0x20: return "SR_TID";
    case 0x21: return "SR_TID.X";
    case 0x22: return "SR_TID.Y";
    case 0x23: return "SR_TID.Z";
    case 0x25: return "SR_CTAID.X";
    case 0x26: return "SR_CTAID.Y";
    case 0x27: return "SR_CTAID.Z";
    case 0x28: return "SR_NTID";
    case 0x2e: return "SR_LWINHI";
    case 0x2f: return "SR_SWINHI";
    case 0x30: return "SR_SWINLO";
    case 0x31: return "SR_SWINSZ";
    case 0x32: return "SR_SMEMSZ";
    case 0x37: return "SR_LMEMHIOFF";
    case 0x38: return "SR_EQMASK";
    case 0x39: return "SR_LTMASK";
    case 0x3a: return "SR_LEMASK";
    case 0x3b: return "SR_GTMASK";
    case 0x3c: return "SR_GEMASK";
    case 0x3d: return "SR_REGALLOC";
    case 0x43: return "SR_VIRTUALSMID";
    case 0x50: return "SR_CLOCKLO";
    case 0x51: return "SR_CLOCKHI";
    case 0x52: return "SR_GLOBALTIMERLO";
    case 0x53: return "SR_GLOBALTIMERHI";
    case 0x60: return "SR_HWTASKID";
    case 0x88: return "SR_CgaCtaId";
    case 0xff: return "SRZ";
    default: break;
  }
  constexpr unsigned first_counter = 0x64, last_counter = 0x73;
  if (number >= first_counter && number <= last_counter)
    return fmt::format("SR_PM{}{}", (number - first_counter) % 2 != 0 ? "_HI" : "",
                       (number - first_counter) / 2);
  return fmt::format("SR{}", number);
}

}  // namespace simtlab::machine
