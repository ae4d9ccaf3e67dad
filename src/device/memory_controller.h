// A memory controller as numbers: what `data/controllers/*.toml` says about queues, scheduling, page policy
// and address mapping. Immutable once loaded. It says nothing about the memory behind it
// (device/technology.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "device/catalogue.h"
#include "device/policy_parameters.h"

namespace simtlab::device {

// split: one queue for reads, one for writes, drained between watermarks. unified: one for both. per_bank:
// requests move from the read and write queue (or the unified one) to a short queue of their bank, one a
// clock.
enum class QueueStyle : std::uint8_t { split, unified, per_bank };

// When a write counts as done: taken into the queue, its command issued, its last data on the bus.
enum class WriteDone : std::uint8_t { accepted, issued, written };

struct MemoryController {
  std::string name;  // catalogue name: "default"
  std::string description;

  struct Queues {
    QueueStyle style = QueueStyle::split;
    std::uint32_t read = 32, write = 32;  // entries; unified: read + write together
    std::uint32_t bank = 8;               // entries of a bank's queue; per_bank only
    // Split: of the write queue; drained from above high to below low
    double high = 0.8, low = 0.2;
    // Split: so many accesses of open rows go between a mark and the turn of the bus, while other banks open
    // rows for what goes after it
    std::uint32_t turn_ahead = 0;
    bool frees_at_activation = false;  // a request leaves its queue when its row is activated
    // A read of a line that a queued read asks for waits for that one
    bool merge_reads = false;
    bool merge_writes = true;  // a write of a line that a queued write holds is absorbed by it
  } queues;

  struct Schedule {
    std::string kind = "fr_fcfs";  // memory/dram/schedulers/NAME.cpp
    ParameterValues parameters;    // of any scheduler; each reads its own
  } schedule;

  struct Page {
    std::string policy = "open";  // memory/dram/page_policies/NAME.cpp
    ParameterValues parameters;   // of any page policy; each reads its own
  } page;

  struct Mapping {
    // Of the address, most significant first (docs/reference/memory-files.md)
    std::string pattern = "ro-ra-ba-bg-co-pc-ch";
    // "bg^=ro ba^=ro ch^=ro": exclusive or with low bits of another field; empty or "none": none
    std::string hash;
  } mapping;

  struct Upkeep {
    // Before a refresh: one command for all banks of the rank; false: bank by bank
    bool precharge_all = true;
    bool staggered = false;  // ranks are refreshed one after another over tREFI, not together
    // A refresh that waits holds back the whole channel, not its rank or bank alone
    bool blocks_channel = false;
    std::uint32_t power_down_after = 0;    // clocks without work; 0: never
    std::uint32_t self_refresh_after = 0;  // clocks without work; 0: never
  } upkeep;

  struct Latency {
    // Clocks from the last data to the answer: what the controller adds
    std::uint32_t read = 0;
    std::uint32_t forward = 1;  // clocks of a read that a queued write answers
    WriteDone write_done = WriteDone::written;
  } latency;
};

struct LoadedMemoryController {
  MemoryController controller;
  std::vector<Entry> entries;                // in declaration order
  std::vector<std::filesystem::path> files;  // read: the named one and what it inherits from
  SourcePos pattern_at, hash_at;             // where the address mapping was written, for messages about it
};

// Names of the files in data/controllers, sorted.
std::vector<std::string> list_memory_controllers();
// name_or_file: "default" or a path to a .toml; settings: on top of the file. Throws Error(bad_input) with
// position; unknown names suggest the nearest. The mapping is text here: memory/dram/address_mapping.h reads
// it, as it depends on the memory.
LoadedMemoryController load_memory_controller(const std::string& name_or_file,
                                              const std::vector<Setting>& settings = {});

// The reference of all keys as a Markdown table.
std::string memory_controller_reference();

}  // namespace simtlab::device
