#include "device/technology_keys.h"

#include <utility>

namespace simtlab::device {
namespace {

using Organisation = Technology::Organisation;
using Timing = Technology::Timing;
using Current = Technology::Current;
using Rows = std::vector<KeyOf<Technology>>;

constexpr double max_clocks = 1e6;

template <class Member>
void add(Rows& rows, std::string key, Unit unit, double minimum, double maximum, Member member,
         std::string doc) {
  rows.push_back({{std::move(key), unit, minimum, maximum, std::move(doc)},
                  [member](Technology& t) -> Field { return member(t); }});
}

void add_organisation(Rows& rows) {
  const auto row = [&](const char* name, Unit unit, double maximum, std::uint32_t Organisation::*member,
                       const char* doc) {
    add(
        rows, std::string("organisation.") + name, unit, 1, maximum,
        [member](Technology& t) { return &(t.organisation.*member); }, doc);
  };
  constexpr Unit none = Unit::none;
  row("channel_width", Unit::bits, 4096, &Organisation::channel_width,
      "Data bus of one independent channel, or of one pseudo-channel where there are any");
  row("device_width", Unit::bits, 4096, &Organisation::device_width,
      "Data bus of one device; channel_width is a multiple of it");
  row("pseudo_channels", none, 16, &Organisation::pseudo_channels,
      "Pseudo-channels that share the command bus of a channel; 1: none");
  row("ranks", none, 64, &Organisation::ranks,
      "Ranks of a channel, or stack IDs: sets of banks that share the data bus");
  row("bank_groups", none, 64, &Organisation::bank_groups, "Bank groups of a rank; 1: none");
  row("banks_per_group", none, 64, &Organisation::banks_per_group, "Banks of one group");
  row("rows", none, 1 << 24, &Organisation::rows, "Rows of one bank");
  row("row_bytes", Unit::bytes, 1 << 20, &Organisation::row_bytes,
      "An open row of the whole channel: the page of a device times the devices side by side");
  rows.back().power_of_two = true;
  row("burst_length", none, 64, &Organisation::burst_length, "Transfers of one access");
}

void add_timing(Rows& rows) {
  const auto row = [&](const char* name, double minimum, std::uint32_t Timing::*member, const char* doc) {
    add(
        rows, std::string("timing.") + name, Unit::cycles, minimum, max_clocks,
        [member](Technology& t) { return &(t.timing.*member); }, doc);
  };
  row("burst", 1, &Timing::burst, "Data bus occupied by one access");
  row("CL", 1, &Timing::cl, "From a read to its first data");
  row("CWL", 1, &Timing::cwl, "From a write to its first data");
  row("tRCD_R", 1, &Timing::trcd_read, "From the activation of a row to a read of it");
  row("tRCD_W", 1, &Timing::trcd_write, "From the activation of a row to a write to it");
  row("tRP", 1, &Timing::trp, "From the precharge of a bank to its next activation");
  row("tRAS", 1, &Timing::tras, "From the activation of a row to the precharge of its bank");
  row("tRC", 1, &Timing::trc, "Between two activations of one bank");
  row("tCCD_S", 1, &Timing::tccd_s, "Between two column commands to different bank groups");
  row("tCCD_L", 1, &Timing::tccd_l, "Between two column commands to one bank group");
  row("tCCD_L_W", 0, &Timing::tccd_l_write, "Between two writes to one bank group, where longer than tCCD_L");
  rows.back().default_value = "0 cycles";
  row("tRRD_S", 1, &Timing::trrd_s, "Between two activations in different bank groups");
  row("tRRD_L", 1, &Timing::trrd_l, "Between two activations in one bank group");
  row("tFAW", 0, &Timing::tfaw, "Window with at most four activations of a rank; 0: no such limit");
  row("tWTR_S", 0, &Timing::twtr_s, "From the last data of a write to a read in another bank group");
  row("tWTR_L", 0, &Timing::twtr_l, "From the last data of a write to a read in the same bank group");
  row("tWR", 1, &Timing::twr, "From the last data of a write to the precharge of its bank");
  row("tRTP", 1, &Timing::trtp, "From a read to the precharge of its bank");
  row("tRTRS", 0, &Timing::trtrs, "Gap on the data bus between two ranks");
  row("tRTW", 0, &Timing::trtw,
      "From a read to a write of a rank, where longer than CL + burst + tRTRS - CWL");
  rows.back().default_value = "0 cycles";
  row("tRFC", 0, &Timing::trfc, "Duration of a refresh of all banks");
  row("tRFC_pb", 0, &Timing::trfc_pb, "Duration of a refresh of one bank; 0: there is none");
  row("tREFI", 0, &Timing::trefi,
      "Between two refreshes of all banks; single banks are refreshed as many times as often as there are");
  row("tXP", 0, &Timing::txp, "From the end of power-down to a command");
  row("tCKE", 0, &Timing::tcke, "Shortest power-down");
  row("tXS", 0, &Timing::txs, "From the end of self-refresh to a command");
}

void add_current(Rows& rows) {
  const auto row = [&](const char* name, Unit unit, double maximum, std::optional<double> Current::*member,
                       const char* doc) {
    add(
        rows, std::string("current.") + name, unit, 0, maximum,
        [member](Technology& t) { return &(t.current.*member); }, doc);
    rows.back().optional = true;
  };
  constexpr Unit mA = Unit::milliamperes;
  constexpr double most = 1e5;
  row("VDD", Unit::volts, 100, &Current::vdd, "Supply voltage");
  row("IDD0", mA, most, &Current::idd0, "Current of a device that activates and precharges once in tRC");
  row("IDD2P", mA, most, &Current::idd2p, "Current in power-down, all banks precharged");
  row("IDD2N", mA, most, &Current::idd2n, "Current in standby, all banks precharged");
  row("IDD3P", mA, most, &Current::idd3p, "Current in power-down, a row open");
  row("IDD3N", mA, most, &Current::idd3n, "Current in standby, rows open");
  row("IDD4R", mA, most, &Current::idd4r, "Current while reading without a gap");
  row("IDD4W", mA, most, &Current::idd4w, "Current while writing without a gap");
  row("IDD5", mA, most, &Current::idd5, "Current during a refresh of all banks");
  row("IDD6", mA, most, &Current::idd6, "Current in self-refresh");
}

Rows make_keys() {
  Rows rows;
  add(
      rows, "standard", Unit::none, 0, 0, [](Technology& t) { return &t.standard; },
      "Standard or kind of memory");
  add(
      rows, "description", Unit::none, 0, 0, [](Technology& t) { return &t.description; },
      "Which part and speed grade this is, and what is simplified");
  add(
      rows, "clock.tCK", Unit::nanoseconds, 0.01, 1000, [](Technology& t) { return &t.tck; },
      "Command clock, in which all times below count; whole picoseconds");
  add(
      rows, "clock.data_rate", Unit::megatransfers, 1, 1e6, [](Technology& t) { return &t.data_rate; },
      "Transfers of one data pin");
  add_organisation(rows);
  add_timing(rows);
  add(
      rows, "commands.dual_issue", Unit::none, 0, 0, [](Technology& t) { return &t.dual_issue; },
      "Whether a row and a column command may be sent in one clock");
  add(
      rows, "commands.act_clocks", Unit::cycles, 1, 16, [](Technology& t) { return &t.act_clocks; },
      "Command bus occupied by an activation");
  rows.back().default_value = "1 cycles";
  add(
      rows, "commands.column_clocks", Unit::cycles, 1, 16, [](Technology& t) { return &t.column_clocks; },
      "Command bus occupied by a read or write");
  rows.back().default_value = "1 cycles";
  add(
      rows, "commands.refresh", Unit::none, 0, 0, [](Technology& t) { return &t.refresh; },
      "How the cells are refreshed");
  add_current(rows);
  return rows;
}

}  // namespace

const std::vector<KeyOf<Technology>>& technology_keys() {
  static const Rows rows = make_keys();
  return rows;
}

}  // namespace simtlab::device
