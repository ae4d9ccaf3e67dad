#include "cli/cli.h"

int main(int argc, char** argv) { return simtlab::cli::run(argc, argv); }
