#include "cli/commands/commands.h"

int main(int argc, char** argv) { return simtlab::cli::run(argc, argv, simtlab::cli::all_commands); }
