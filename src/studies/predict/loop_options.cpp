// Options of predictions from sequential C programs, and the words that name such a program.
#include <algorithm>

#include "studies/common/command.h"
#include "studies/predict/loop.h"

namespace simtlab::studies {

bool names_c_program(const std::vector<std::string>& rest) {
  const auto file = std::ranges::find_if(rest, [](const std::string& w) { return !w.starts_with("-"); });
  return file != rest.end() && file->ends_with(".c");
}

void take_file_of_loop(LoopOptions& o, std::vector<std::string>& rest) {
  if (!o.loop.ends_with(".c")) return;
  if (rest.empty()) rest.push_back(o.loop);
  o.loop.clear();  // a file without a line: which loop is asked back
}

void add_loop_options(Command& command, LoopOptions& o) {
  const auto group = "Sequential C programs (FILE.c)";
  command
      .add_option("--loop", o.loop,
                  "The loop nest: FILE:LINE of its outermost for; default: the one after #pragma simtlab "
                  "kernel, else the lines of all loops are named")
      ->expected(0, 1)
      ->type_name("FILE:LINE")
      ->group(group);
  command.add_option("--params", o.params, "Values of the variables that the nest's bounds depend on")
      ->type_name("NAME=N,...")
      ->one_at_a_time()
      ->group(group);
  command
      .add_option("--run", o.run, "Run the program with these arguments, in its folder, to measure the nest")
      ->type_name("ARGUMENTS")
      ->group(group);
  command.add_option("--run-limit", o.run_limit, "Seconds after which a run is killed (default 60)")
      ->needs("--run")
      ->check(positive())
      ->type_name("SECONDS")
      ->group(group);
  command
      .add_flag("--assume-parallel", o.assume_parallel,
                "Go on where independence of the iterations can't be proved")
      ->group(group);
  command.add_option("--nest-block", o.block, "Threads of a block, for example 32x8; default: suggested")
      ->type_name("XxY[xZ]")
      ->group(group);
  command
      .add_option("--nest-map", o.map,
                  "Loops that become the x, y and z dimensions, for example j,i; default: the best")
      ->type_name("X[,Y[,Z]]")
      ->group(group);
  command.add_option("--cflags", o.cflags, "Options for clang and other sources of the program")
      ->type_name("FLAGS")
      ->group(group);
  command.add_option("--emit-ptx", o.emit_ptx, "Write the nest as a kernel in PTX; - is stdout")
      ->check(output_file())
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--emit-cuda", o.emit_cuda, "Write the nest as CUDA C++ to start a port from; - is stdout")
      ->check(output_file())
      ->type_name("FILE")
      ->group(group);
  command
      .add_flag("--stage", o.stage,
                "--emit-cuda: copy what shared memory should hold there, and read it there")
      ->needs("--emit-cuda")
      ->group(group);
  command
      .add_flag("--simulate", o.simulate,
                "Simulate that kernel on the data of the run and compare its results (needs --run)")
      ->group(group);
}

}  // namespace simtlab::studies
