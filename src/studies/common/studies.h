// Every study as a command: what a parser of command lines and other programs offer.
#pragma once

#include "studies/common/command.h"

namespace simtlab::studies {

void add_run(Command& app);
void add_cache(Command& app);
void add_check(Command& app);
void add_predict(Command& app);
void add_probe(Command& app);
void add_dram(Command& app);
void add_disasm(Command& app);
void add_corun(Command& app);
void add_sweep(Command& app);
void add_explain(Command& app);
void add_suite(Command& app);
void add_trace(Command& app);
void add_validate(Command& app);

}  // namespace simtlab::studies
