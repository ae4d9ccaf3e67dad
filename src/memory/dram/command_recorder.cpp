#include "memory/dram/command_recorder.h"

namespace simtlab::memory::dram {

void CommandRecorder::write(Command command, BankIndex bank, Cycle at, std::uint32_t row,
                            std::uint32_t column) const {
  const std::uint32_t group = bank / shape_.banks, rank = bank / shape_.rank_banks();
  CommandRecord record;
  record.at = at;
  record.command = command;
  record.channel = channel_;
  record.pseudo = static_cast<std::uint8_t>(rank / shape_.ranks);
  record.rank = static_cast<std::uint8_t>(rank % shape_.ranks);
  const bool of_bank =
      is_column(command) || command == Command::act || command == Command::pre || command == Command::refpb;
  if (of_bank) {
    record.group = static_cast<std::uint8_t>(group % shape_.groups);
    record.bank = static_cast<std::uint8_t>(bank % shape_.banks);
  }
  record.row = row;
  record.column = column;
  sink_->command(record);
}

}  // namespace simtlab::memory::dram
