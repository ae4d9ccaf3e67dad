// Analytical models beside the cycle-level simulator, on the loop nests of the sequential examples.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "studies/validate/rows.h"

namespace simtlab::studies {

struct ModelledNest {
  std::string gpu, program, arguments;
  double cycles = 0;                        // simulated, of the nest's kernel on the program's own data
  double difference = 0;                    // of its results from the program's, relative
  std::map<std::string, double> predicted;  // by model, cycles
};

// examples: the folder that has loops/*.c beside its programs; false as well where simtlab-loops is not
// installed.
bool has_nests(const std::string& examples);
// Every nest, with the block and the mapping that are suggested. quick: those that take about a second.
// Throws what predictions throw.
std::vector<ModelledNest> run_nests(const std::string& examples, bool quick);

std::string text_of(const std::vector<ModelledNest>& nests);  // Markdown
std::vector<studies::validate::Row> rows_of(const std::vector<ModelledNest>& nests);

}  // namespace simtlab::studies
