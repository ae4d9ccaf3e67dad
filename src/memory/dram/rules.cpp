#include "memory/dram/rules.h"

#include <algorithm>

namespace simtlab::memory::dram {
namespace {

constexpr Commands act(Command::act), pre(Command::pre), prea(Command::prea), ref(Command::ref),
    refpb(Command::refpb);
constexpr Commands pde(Command::pde), pdx(Command::pdx), sre(Command::sre), srx(Command::srx);
constexpr Commands plain_read(Command::rd), plain_write(Command::wr);
constexpr Commands read(Command::rd, Command::rda), write(Command::wr, Command::wra);

}  // namespace

// An automatic precharge counts as a pre at the clock at which it begins (checker.cpp): rda and wra need no
// rules of their own for what follows.
std::vector<Rule> rules_of(const device::Technology& technology) {
  const device::Technology::Timing& t = technology.timing;
  const auto n = [](std::uint32_t clocks) { return std::int64_t{clocks}; };
  const std::int64_t read_end = n(t.cl) + t.burst,
                     write_end = n(t.cwl) + t.burst;  // of the data, after the command
  const std::int64_t read_to_write = read_end + t.trtrs - t.cwl;
  const Commands anything = act | pre | prea | read | write | ref | refpb | sre;
  std::vector<Rule> rules = {
      // One bank.
      {"tRCD_R", act, read, Scope::bank, n(t.trcd_read)},
      {"tRCD_W", act, write, Scope::bank, n(t.trcd_write)},
      {"tRAS", act, pre, Scope::bank, n(t.tras)},
      {"tRTP", plain_read, pre, Scope::bank, n(t.trtp)},
      {"tWR", plain_write, pre, Scope::bank, write_end + t.twr},
      {"tRC", act, act, Scope::bank, n(t.trc)},
      {"tRP", pre, act | refpb, Scope::bank, n(t.trp)},
      {"tRFC_pb", refpb, act | refpb, Scope::bank, n(t.trfc_pb)},
      // The banks of a group.
      {"tCCD_L", read, read, Scope::group, n(t.tccd_l)},
      {"tCCD_L", write, write, Scope::group, n(t.tccd_l)},
      {"tCCD_L_W", write, write, Scope::group, n(t.tccd_l_write)},
      {"tWTR_L", write, read, Scope::group, write_end + t.twtr_l},
      {"tRRD_L", act, act, Scope::group, n(t.trrd_l)},
      // The banks of a rank.
      {"tCCD_S", read, read, Scope::rank, n(t.tccd_s)},
      {"tCCD_S", write, write, Scope::rank, n(t.tccd_s)},
      {"tWTR_S", write, read, Scope::rank, write_end + t.twtr_s},
      {"tRTW", read, write, Scope::rank, std::max(read_to_write, n(t.trtw))},
      {"tRRD_S", act, act, Scope::rank, n(t.trrd_s)},
      // Commands to a whole rank.
      {"tRAS", act, prea, Scope::rank, n(t.tras)},
      {"tRTP", plain_read, prea, Scope::rank, n(t.trtp)},
      {"tWR", plain_write, prea, Scope::rank, write_end + t.twr},
      {"tRP", pre, ref | sre, Scope::rank, n(t.trp)},
      {"tRP", prea, act | ref | refpb | sre, Scope::rank, n(t.trp)},
      {"tRFC", ref, act | ref | refpb | sre, Scope::rank, n(t.trfc)},
      {"tRFC_pb", refpb, ref | sre, Scope::rank, n(t.trfc_pb)},
      // Power-down while data are on their way or a write recovers.
      {"tRDPDEN", read, pde, Scope::rank, read_end},
      {"tWRPDEN", write, pde, Scope::rank, write_end + t.twr},
      {"tCKE", pde, pdx, Scope::rank, n(t.tcke)},
      {"tCKE", sre, srx, Scope::rank, n(t.tcke)},
      {"tXP", pdx, anything, Scope::rank, n(t.txp)},
      {"tXS", srx, anything | pde, Scope::rank, n(t.txs)},
      // The data bus handed from rank to rank. Between writes the controller drives it all the time: no gap.
      {"tRTRS", read, read, Scope::other_rank, n(t.burst) + t.trtrs},
      {"tRTRS", read, write, Scope::other_rank, read_to_write},
      {"tRTRS", write, read, Scope::other_rank, write_end + t.trtrs - t.cl},
  };
  std::erase_if(rules, [](const Rule& rule) { return rule.clocks <= 0; });
  return rules;
}

}  // namespace simtlab::memory::dram
