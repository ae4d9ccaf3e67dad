// nvcc's command line, as far as simtlab honours it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace simtlab::compile {

enum class Language { cuda, cxx, c, link };  // link: object files, archives, shared libraries

struct SourceFile {
  std::string path;
  Language language = Language::cuda;
};

// -MD, -MMD, -M, -MM, -MP, -MF, -MT: a rule for make with the files that a source is compiled from.
struct DependencyWish {
  bool wanted = false;
  bool only = false;   // -M, -MM: nothing is compiled
  bool system = true;  // headers of the system, too; not with -MMD, -MM
  bool phony = false;  // -MP: an empty rule for each header, so that one may vanish
  std::string file;    // -MF; empty: the output's name with the extension .d
  std::string target;  // -MT; empty: the output
};

struct NvccOptions {
  std::vector<SourceFile> inputs;
  std::string output;         // -o
  bool compile_only = false;  // -c
  bool ptx_only = false;      // -ptx
  bool shared = false;        // -shared
  bool debug = false;         // -g
  bool device_debug = false;  // -G: device code without optimisation, unless -dopt=on
  bool quiet = false;         // -w
  bool openmp = false;        // -Xcompiler -fopenmp
  // Of host code alone, as with nvcc: device code is optimised whatever -O says. Without -O nvcc passes none,
  // and a host compiler does not optimise; here a reference on the CPU is not to be what one waits for.
  std::string optimisation = "-O2";
  bool device_optimised = false;  // -dopt=on
  int assembler_level = 3;        // -Xptxas -ON
  DependencyWish dependencies;
  std::vector<std::string> architectures;  // sm_70, ...; sorted, without repeats, never empty
  int max_registers = 0;                   // -maxrregcount
  bool flush_denormals = false, precise_division = true, precise_sqrt = true, fuse_multiply_add = true,
       fast_math = false;
  std::vector<std::string> common;    // -I -D -U -isystem -include -std: both halves of a compilation
  std::vector<std::string> host;      // -Xcompiler
  std::vector<std::string> link;      // -l -L -Xlinker, in order
  std::vector<std::string> notes;     // what was accepted but has no effect, one sentence each
  std::vector<std::string> warnings;  // as nvcc or ptxas would give them
};

// Throws Error(usage) for what nvcc would refuse too, Error(unsupported) for what simtlab cannot do
// (-rdc=true, -m32 ...).
// default_architecture: where the arguments name none.
NvccOptions parse_nvcc_options(const std::vector<std::string>& arguments,
                               const std::string& default_architecture = "sm_70");

// `--machine FILE` (-m FILE): taken out of the arguments; the file whose machine code is wished. Empty: none,
// or --machine has nvcc's meaning (64, 32). Throws Error(usage) for what is neither.
std::string take_machine(std::vector<std::string>& arguments);

// The same arguments with each value as a part of its option ("-Xptxas=-v"), so that nobody takes the value
// for an option of his own. Options that are in `others` stay as they are: they are of another command line.
std::vector<std::string> with_values_joined(const std::vector<std::string>& arguments,
                                            const std::vector<std::string>& others = {});
// Whether this word is an option of nvcc that parse_nvcc_options knows, with or without "=value".
bool is_nvcc_option(const std::string& word);

}  // namespace simtlab::compile
