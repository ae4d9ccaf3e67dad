#include "compile/loops.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/files.h"
#include "compile/process.h"

namespace simtlab::compile {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t largest_source = std::uint64_t{64} << 20, largest_answer = std::uint64_t{64} << 20,
                        largest_data = std::uint64_t{4} << 30;

// Line of the first `#pragma simtlab kernel`; 0: none.
unsigned line_of_pragma(const fs::path& file) {
  std::istringstream text(read_file(file, largest_source, "C source"));
  std::string line, word[3];
  for (unsigned n = 1; std::getline(text, line); ++n) {
    std::istringstream words(line);
    if (words >> word[0] && word[0] == "#") words >> word[0], word[0].insert(0, "#");
    words >> word[1] >> word[2];
    if (word[0] == "#pragma" && word[1] == "simtlab" && word[2] == "kernel") return n;
    word[0].clear();
  }
  return 0;
}

// Other sources, objects and libraries among the flags: of the link, not of the file that the nest is in.
bool is_for_link(const std::string& word) {
  if (word.starts_with("-l") || word.starts_with("-L")) return true;
  const std::string kind = fs::path(word).extension().string();
  return !word.starts_with("-") && (kind == ".c" || kind == ".o" || kind == ".a" || kind == ".so");
}

}  // namespace

LoopProgram::LoopProgram(LoopSource source)
    : source_(std::move(source)), tools_(find_loop_toolchain()), scratch_(cache_folder(default_cache())) {
  if (source_.line == 0) {
    source_.line = line_of_pragma(source_.file);
    by_pragma_ = source_.line != 0;
    unmarked_ = !by_pragma_;
    // No loop: the answer names those that there are
    if (unmarked_) source_.line = std::numeric_limits<unsigned>::max();
  } else {
    // Says what is wrong with it better than clang
    (void)read_file(source_.file, largest_source, "C source");
  }
  // Not optimised here, but without the marks of lower levels that forbid it later (no unrolling): the loops
  // are to be those of the source. Mathematics as intrinsics, as no kernel sets errno.
  std::vector<std::string> command = {tools_.clang,
                                      "-x",
                                      "c",
                                      "-std=gnu99",
                                      "-O2",
                                      "-Xclang",
                                      "-disable-llvm-passes",
                                      "-fno-discard-value-names",
                                      "-fno-math-errno",
                                      "-g",
                                      "-Wno-unknown-pragmas",
                                      "-c",
                                      "-emit-llvm"};
  std::ranges::copy_if(source_.flags, std::back_inserter(command),
                       [](const std::string& f) { return !is_for_link(f); });
  command.insert(command.end(), {source_.file.string(), "-o", (scratch_ / "program.bc").string()});
  if (run_process(command).status != 0)
    throw Error(
        ExitCode::bad_input, "compile-failed",
        fmt::format("compilation of {} failed: the compiler's messages are above", source_.file.string()),
        "--cflags 'FLAGS' gives clang options such as -I and -D");
}

std::vector<std::string> LoopProgram::place() const {
  std::vector<std::string> out = {"--line", std::to_string(source_.line), "--file",
                                  source_.loop_file.empty() ? source_.file.string() : source_.loop_file};
  if (by_pragma_) out.emplace_back("--after");
  return out;
}

std::string LoopProgram::run_tool(const std::vector<std::string>& words, int& status) const {
  std::vector<std::string> command = {tools_.tool.string(), words.front(),
                                      (scratch_ / "program.bc").string()};
  command.insert(command.end(), words.begin() + 1, words.end());
  for (const std::string& w : place()) command.push_back(w);
  const ProcessResult r = run_process(command, Capture::output);
  status = r.status;
  if (status != 0 && status != 3)
    throw Error(ExitCode::failure, "loops-tool",
                fmt::format("simtlab-loops ended with status {} on {}", status, source_.file.string()),
                "its message is above; a smaller nest may help");
  return r.output;
}

std::string LoopProgram::describe() const {
  int status = 0;
  std::string answer = run_tool({"describe"}, status);
  if (!unmarked_) return answer;
  const auto refused = nlohmann::json::parse(answer, nullptr, false);
  const std::string lines =
      refused.is_object() && refused.contains("refused") ? refused["refused"][0].value("hint", "") : "";
  throw Error(ExitCode::bad_input, "loop-missing", fmt::format("{} marks no loop", source_.file.string()),
              fmt::format("--loop FILE:LINE, or `#pragma simtlab kernel` on the line before the loop{}{}",
                          lines.empty() ? "" : "; ", lines));
}

std::string LoopProgram::ptx(const std::vector<unsigned>& levels, const std::string& name,
                             const std::string& architecture) const {
  std::string list;
  for (const unsigned l : levels) list += fmt::format("{}{}", list.empty() ? "" : ",", l);
  const fs::path bitcode = scratch_ / "kernel.bc", out = scratch_ / "kernel.ptx";
  int status = 0;
  run_tool({"kernel", "--levels", list, "--name", name, "-o", bitcode.string()}, status);
  if (status != 0)
    throw Error(ExitCode::failure, "loops-tool", "the nest that was described does not become a kernel");
  const Toolchain cuda = find_toolchain(default_cache(), false);
  const ProcessResult r =
      run_process({tools_.clang, "--target=nvptx64-nvidia-cuda", "-march=" + architecture, "-nogpulib", "-x",
                   "ir", bitcode.string(), "-O2", "-S", "-w", "-Xclang", "-mlink-builtin-bitcode", "-Xclang",
                   cuda.devmath.string(), "-o", out.string()});
  if (r.status != 0) throw Error(ExitCode::failure, "loops-tool", "clang does not make PTX of the nest");
  return read_file(out, largest_answer, "PTX");
}

fs::path LoopProgram::build_measured() const {
  const fs::path bitcode = scratch_ / "measured.bc", program = scratch_ / "measured";
  int status = 0;
  run_tool({"instrument", "-o", bitcode.string()}, status);
  if (status != 0)
    throw Error(ExitCode::failure, "loops-tool", "the nest that was described can't be measured");
  const fs::path object = scratch_ / "measured.o";
  std::vector<std::string> compile = {tools_.clang,     "-x", "ir",           "-O2", "-w", "-c",
                                      bitcode.string(), "-o", object.string()};
  std::vector<std::string> link = {tools_.clang, "-O2", "-w", object.string(), tools_.run_time.string()};
  link.insert(link.end(), source_.flags.begin(), source_.flags.end());
  link.insert(link.end(), {"-lm", "-o", program.string()});
  if (run_process(compile).status != 0 || run_process(link).status != 0)
    throw Error(ExitCode::bad_input, "compile-failed",
                fmt::format("{} does not become a program that can run: the messages are above",
                            source_.file.string()),
                "--cflags also takes other sources and -l options");
  return program;
}

std::vector<double> LoopProgram::one_run(const fs::path& program, const RunWish& wish, const char* mode,
                                         LoopRun& out) const {
  LimitedRun run;
  run.argv = {program.string()};
  run.argv.insert(run.argv.end(), wish.arguments.begin(), wish.arguments.end());
  const fs::path folder = fs::absolute(source_.file).parent_path();
  run.folder = folder;
  const fs::path to = scratch_ / mode;
  fs::create_directories(to);
  run.environment = {{"SIMTLAB_LOOPS_DIR", to.string()},
                     {"SIMTLAB_LOOPS_MODE", mode},
                     {"SIMTLAB_LOOPS_LIMIT", std::to_string(wish.keep_bytes)},
                     {"SIMTLAB_LOOPS_CALL", std::to_string(out.call)}};
  run.seconds = wish.seconds;
  run.memory_bytes =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const LimitedResult r = run_limited(run);
  std::string tail =
      r.errors.empty() ? "" : "; its last words: " + r.errors.substr(0, r.errors.find_last_not_of('\n') + 1);
  if (r.timed_out)
    throw Error(ExitCode::program_failed, "loop-run",
                fmt::format("{} did not end within {:g} s and was killed{}", source_.file.string(),
                            wish.seconds, tail),
                "--run-limit SECONDS, or arguments that give it less to do");
  if (r.status != 0)
    throw Error(ExitCode::program_failed, "loop-run",
                fmt::format("{} ended with status {}{}", source_.file.string(), r.status, tail),
                "let it run by itself with the same arguments, in the folder of its source");
  if (!fs::exists(to / "times"))
    throw Error(ExitCode::program_failed, "loop-run", "the program left without telling its times",
                "it must end through exit or main");
  std::istringstream times(read_file(to / "times", largest_answer, "times"));
  std::string word;
  double value = 0;
  std::vector<double> all;
  times >> word >> out.calls;
  while (times >> word >> value) all.push_back(value);
  if (out.calls == 0)
    throw Error(ExitCode::program_failed, "loop-run",
                fmt::format("the program ended without reaching the loop at {}:{}", source_.file.string(),
                            source_.line),
                "arguments that make it run the nest");
  return all;
}

LoopRun LoopProgram::measure(const RunWish& wish) const {
  const fs::path program = build_measured();
  LoopRun out;
  std::vector<std::vector<double>> times;
  for (unsigned r = 0; r < wish.runs; ++r) times.push_back(one_run(program, wish, "time", out));
  // Of several calls the one with most to do is looked at: the others are of triangles' tips and tails.
  if (out.calls > 1) {
    const std::vector<double> work = one_run(program, wish, "survey", out);
    out.call = static_cast<std::uint64_t>(std::ranges::max_element(work) - work.begin());
  }
  one_run(program, wish, "count", out);
  if (!fs::exists(scratch_ / "count/counts"))
    throw Error(ExitCode::program_failed, "loop-run",
                "the copy of the nest that counts did not come to its end",
                "an access out of bounds in the nest? Try -fsanitize=address");
  std::istringstream counts(read_file(scratch_ / "count/counts", largest_answer, "counts"));
  for (std::string word; counts >> word;) {
    if (word == "block") {
      counts >> out.blocks.emplace_back();
    } else {
      LoopRun::Argument a;
      counts >> a.value >> a.low >> a.high >> a.written;
      out.arguments.push_back(std::move(a));
    }
  }
  for (const std::vector<double>& t : times)
    if (out.call < t.size()) out.times_ns.push_back(t[out.call]);
  std::ranges::sort(out.times_ns);
  for (std::size_t i = 0; i < out.arguments.size(); ++i) {
    LoopRun::Argument& a = out.arguments[i];
    const fs::path before = scratch_ / fmt::format("count/before.{}", i),
                   after = scratch_ / fmt::format("count/after.{}", i);
    if (!fs::exists(before) || !fs::exists(after)) continue;
    a.before = read_file(before, largest_data, "data");
    a.after = read_file(after, largest_data, "data");
    out.kept = true;
  }
  return out;
}

}  // namespace simtlab::compile
