// The library inside somebody else's process: result file, signals, time limit.
//
// The result (SIMTLAB_RESULT) is written when the process ends. SIGINT, SIGTERM and SIGALRM stop the run: the
// launch in progress ends at its next check, a partial result is written and the process exits with status
// 130. A crash of the host program (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) writes what there is and then
// takes its normal course. Handlers are only installed where the program has none, and only if a result is
// wanted. What a program leaves that ends without any of these (_exit, SIGKILL) is in session/kept.h.
#pragma once

#include <string>

namespace simtlab::hosts {

class Session;

// Flag that launches look at.
const volatile bool* interrupt_flag();
// Called once, when the GPU is made (under the lock).
void watch_process(Session& session);
// Several processes of a program that write such a file get files of their own: FILE, FILE.1, ... Empty stays
// empty. kind: ".trace", ...: what they take in turns.
std::string claim_output(const std::string& file, const std::string& kind);
// Writes the result now (again: replaces what this process wrote). last: the process ends. Never throws; says
// on stderr if it can't.
void write_result(Session& session, bool last);
// A launch was stopped by the flag: partial result, exit 130.
[[noreturn]] void stop_interrupted(Session& session, const std::string& where);

}  // namespace simtlab::hosts
