// A memory technology as numbers: what `data/dram/*.toml` says about one part and speed grade. Immutable once
// loaded. Times are in clocks of `tck`, as the sources state them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "device/catalogue.h"

namespace simtlab::device {

struct Picoseconds {
  std::uint32_t count = 0;
};

enum class Refresh : std::uint8_t { all_bank, per_bank, none };

struct Technology {
  std::string name;         // catalogue name: "ddr4-3200"
  std::string standard;     // "DDR4"
  std::string description;  // which part, and what is simplified

  Picoseconds tck;              // one command clock
  std::uint32_t data_rate = 0;  // MT/s of one pin

  struct Organisation {
    std::uint32_t channel_width = 0, device_width = 0;  // bits
    std::uint32_t pseudo_channels = 1;                  // that share the command bus of one channel
    std::uint32_t ranks = 1, bank_groups = 1, banks_per_group = 1;
    std::uint32_t rows = 0, row_bytes = 0;  // of one bank; of the whole channel
    std::uint32_t burst_length = 0;         // transfers
  } organisation;

  struct Timing {  // clocks
    std::uint32_t burst = 0, cl = 0, cwl = 0;
    std::uint32_t trcd_read = 0, trcd_write = 0, trp = 0, tras = 0, trc = 0;
    // Tfaw 0: no such limit
    std::uint32_t tccd_s = 0, tccd_l = 0, tccd_l_write = 0, trrd_s = 0, trrd_l = 0, tfaw = 0;
    std::uint32_t twtr_s = 0, twtr_l = 0, twr = 0, trtp = 0, trtrs = 0, trtw = 0;
    std::uint32_t trfc = 0, trfc_pb = 0, trefi = 0;  // trfc_pb 0: no refresh of single banks
    std::uint32_t txp = 0, tcke = 0, txs = 0;

    // Between writes to one bank group.
    std::uint32_t write_distance() const { return std::max(tccd_l, tccd_l_write); }
    // From a read to a write of the same rank: the data bus turns round. May be below 1.
    std::int64_t read_to_write() const {
      return std::max(std::int64_t{cl} + burst + trtrs - cwl, std::int64_t{trtw});
    }
  } timing;

  bool dual_issue = false;                          // a row and a column command in one clock
  std::uint32_t act_clocks = 1, column_clocks = 1;  // that these commands hold the command bus
  Refresh refresh = Refresh::all_bank;

  // Of one device. Absent: no source says, so its energy is unknown, not zero.
  struct Current {
    std::optional<double> vdd;                                                         // V
    std::optional<double> idd0, idd2p, idd2n, idd3p, idd3n, idd4r, idd4w, idd5, idd6;  // mA
  } current;

  std::uint32_t banks() const { return organisation.bank_groups * organisation.banks_per_group; }
  std::uint32_t burst_bytes() const { return organisation.channel_width * organisation.burst_length / 8; }
  double bytes_per_second() const { return data_rate * 1e6 * organisation.channel_width / 8; }  // peak
};

struct LoadedTechnology {
  Technology technology;
  std::vector<Entry> entries;                // in declaration order, without what is absent
  std::vector<std::filesystem::path> files;  // read: the named one and what it inherits from
};

// Names of the files in data/dram, sorted.
std::vector<std::string> list_technologies();
// name_or_file: "ddr4-3200" or a path to a .toml; settings: on top of the file. Throws Error(bad_input) with
// position; unknown names suggest the nearest.
LoadedTechnology load_technology(const std::string& name_or_file, const std::vector<Setting>& settings = {});

// The reference of all keys as a Markdown table.
std::string technology_reference();

}  // namespace simtlab::device
