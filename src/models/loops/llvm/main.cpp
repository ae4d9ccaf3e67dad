// simtlab-loops: the part of simtlab that uses LLVM. Not for people; src/compile/loops.cpp starts it.
//
//   simtlab-loops describe|kernel|instrument INPUT.bc --line N [--file F] [--after] [--levels 1,0] [--name
//   NAME] [-o OUT.bc]
//
// JSON goes to stdout: what there is to know, or {"refused": [...]} with status 3.
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <iostream>
#include <stdexcept>

#include "describe.h"
#include "kernel.h"

namespace simtlab::models::loops {
namespace {

struct Command {
  std::string what, input, output, name = "nest";
  std::vector<unsigned> levels;
  Request request;
};

Command parse(int argc, char** argv) {
  Command c;
  if (argc < 3)
    throw std::invalid_argument("usage: simtlab-loops describe|kernel|instrument INPUT.bc --line N");
  c.what = argv[1];
  c.input = argv[2];
  for (int i = 3; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--after") {
      c.request.first_after = true;
      continue;
    }
    if (i + 1 == argc) throw std::invalid_argument(option + " needs a value");
    const std::string value = argv[++i];
    if (option == "--line")
      c.request.line = static_cast<unsigned>(std::stoul(value));
    else if (option == "--file")
      c.request.file = value;
    else if (option == "--name")
      c.name = value;
    else if (option == "-o")
      c.output = value;
    else if (option == "--levels")
      for (std::size_t at = 0; at < value.size();
           at = value.find(',', at) == std::string::npos ? value.size() : value.find(',', at) + 1)
        c.levels.push_back(static_cast<unsigned>(std::stoul(value.substr(at))));
    else
      throw std::invalid_argument("unknown option " + option);
  }
  return c;
}

Json refusal_json(const Refused& refused) {
  Json all = Json::array();
  for (const Refusal& r : refused.all)
    all.push_back({{"id", r.id},
                   {"message", r.message},
                   {"hint", r.hint},
                   {"file", r.file},
                   {"line", r.line},
                   {"column", r.column}});
  return {{"refused", all}};
}

void write_module(llvm::Module& module, const std::string& file) {
  std::string problem;
  llvm::raw_string_ostream text(problem);
  if (llvm::verifyModule(module, &text))
    throw std::runtime_error("the module that was made is not valid: " + problem);
  std::error_code error;
  llvm::raw_fd_ostream out(file, error);
  if (error) throw std::runtime_error("cannot write " + file + ": " + error.message());
  llvm::WriteBitcodeToFile(module, out);
}

Json run(const Command& c) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module> module = llvm::parseIRFile(c.input, problem, context);
  if (!module) throw std::runtime_error("cannot read " + c.input + ": " + problem.getMessage().str());
  Nest nest = prepare(std::move(module), c.request);
  Analyses analyses;
  Json out = describe(nest, analyses);
  if (c.what == "kernel") make_kernel(nest, c.levels, c.name, analyses);
  if (c.what == "instrument") instrument(nest);
  if (!c.output.empty()) write_module(*nest.module, c.output);
  return out;
}

}  // namespace
}  // namespace simtlab::models::loops

int main(int argc, char** argv) {
  try {
    std::cout << simtlab::models::loops::run(simtlab::models::loops::parse(argc, argv)).dump() << '\n';
    return 0;
  } catch (const simtlab::models::loops::Refused& refused) {
    std::cout << simtlab::models::loops::refusal_json(refused).dump() << '\n';
    return 3;
  } catch (const std::exception& e) {
    std::cerr << "simtlab-loops: " << e.what() << '\n';
    return 1;
  }
}
