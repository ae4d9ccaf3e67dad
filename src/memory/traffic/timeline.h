// The commands of a window of time as a picture: JSON of the Chrome trace format, which ui.perfetto.dev
// opens.
//
// Each channel is a process. Its banks are threads: a long slice is a row that is open, in it the activation
// and the column commands; behind it the precharge. A rank has a thread for refresh and power-down, a
// pseudo-channel one for its data bus, on which every burst stands where its data is. Times are those of the
// memory, in microseconds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "device/technology.h"
#include "memory/dram/command.h"

namespace simtlab::memory::traffic {

class CommandTimeline : public memory::dram::CommandSink {
 public:
  // Commands at cycles in [from, to). Throws Error(failure, "file-write"), as do the others.
  CommandTimeline(const std::filesystem::path& path, const device::Technology& technology, memory::Cycle from,
                  memory::Cycle to);

  void command(const memory::dram::CommandRecord& record) override;
  // Ends what is still open and the file.
  void close();

 private:
  enum class Kind : std::uint8_t { bank, rank, bus };
  struct Track {
    Kind kind = Kind::bank;
    unsigned channel = 0, pseudo = 0, rank = 0, group = 0, bank = 0;
    auto operator<=>(const Track&) const = default;
  };
  struct Open {  // a row of a bank, or a rank asleep
    memory::Cycle since = 0;
    std::uint32_t row = 0;
    bool is = false;
    std::string_view what;
  };
  struct Line {
    unsigned number = 0;
    Open open;
  };

  static Track track(Kind kind, const memory::dram::CommandRecord& record);
  Line& line(const Track& track);
  std::string name(const Track& track) const;
  void slice(const Track& track, std::string_view name, memory::Cycle from, memory::Cycle clocks,
             const std::string& arguments = {});
  void end_row(const Track& track, memory::Cycle at);
  void column(const memory::dram::CommandRecord& record);
  void end_rows_of_rank(const memory::dram::CommandRecord& record);
  void event(std::string_view text);

  FileWriter file_;
  const device::Technology technology_;
  memory::Cycle from_, to_, last_ = 0;
  bool first_ = true;
  std::map<Track, Line> lines_;
};

}  // namespace simtlab::memory::traffic
