// Analytical models beside the cycle-level simulator, on the example programs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "studies/cache/variants.h"
#include "studies/common/command.h"

namespace simtlab::studies {

// One launch.
struct ModelledLaunch {
  std::string gpu, program, kernel;
  double cycles = 0;                        // simulated
  std::map<std::string, double> predicted;  // by model, cycles
};

// Of one model on one device, or on all.
struct ModelError {
  double mean = 0;   // absolute error of the cycles, relative
  double worst = 0;  // greatest of them
  double rank = 0;   // Spearman's correlation of the cycles over launches
  std::size_t launches = 0;
};
// Gpu empty: all
ModelError error_of(const std::vector<ModelledLaunch>& launches, const std::string& model,
                    const std::string& gpu);

std::vector<std::string> gpus_of(const std::vector<ModelledLaunch>& launches);  // in their order

bool has_examples(const std::string& folder);
// Runs every example on every device, cycle by cycle and through the models. folder: with *.cu. Throws what
// the runs throw.
std::vector<ModelledLaunch> run_examples(const Command& app, const std::string& folder,
                                         const std::vector<std::string>& gpus);
// Pairs of result files: FOLDER/NAME.json cycle by cycle, FOLDER/NAME.predict.json of the same program.
std::vector<ModelledLaunch> read_pairs(const std::string& folder);

// Markdown. held_out: devices that were not looked at when the models' constants were chosen.
std::string text_of(const std::vector<ModelledLaunch>& launches, const std::vector<std::string>& held_out,
                    bool all);

}  // namespace simtlab::studies
