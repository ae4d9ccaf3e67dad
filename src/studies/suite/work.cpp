#include "studies/suite/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/elf.h"
#include "base/error.h"
#include "base/files.h"
#include "base/shown.h"
#include "compile/process.h"
#include "result/json.h"
#include "studies/suite/make_variables.h"
#include "studies/suite/step.h"
#include "studies/suite/words.h"
#include "studies/sweep/process.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;
using result::SuiteProgram;
using result::SuiteStep;
using Kind = Project::Kind;
using Stopped = StepEnd::Stopped;

constexpr std::size_t looked_at = std::size_t{4} << 20;  // of a program's output, from its end
constexpr int exit_program_failed = static_cast<int>(ExitCode::program_failed);

// What is run: a command, and where.
struct Command {
  std::string name;
  std::vector<std::string> argv;
  fs::path folder;
};

std::string in_words(Stopped stopped, const Step& step) {
  switch (stopped) {
    case Stopped::time: return fmt::format("not finished within {:.4g} s", step.seconds);
    case Stopped::memory: return fmt::format("more than {} MiB of memory", step.memory_bytes >> 20);
    case Stopped::output: return fmt::format("printed more than {} MiB", step.output_bytes >> 20);
    case Stopped::wish: return "interrupted";
    case Stopped::no: break;
  }
  return {};
}

class Worker {
 public:
  Worker(const Project& project, const Place& place, const SuiteOptions& options)
      : p_(project), place_(place), o_(options), copy_(place.own / "copy") {}

  std::vector<SuiteProgram> run(const std::function<void(const SuiteProgram&)>& finished) {
    prepare();
    SuiteProgram first;
    first.name = p_.name, first.kind = name_of(p_.kind);
    std::vector<Command> commands;
    first.built = build(first) ? SuiteStep::yes : SuiteStep::no;
    if (stopped()) return {waiting()};
    if (first.built == SuiteStep::yes) commands = programs(first);
    if (p_.kind == Kind::program || (p_.kind == Kind::listed && p_.build.empty()))
      first.built = SuiteStep::none;
    std::vector<SuiteProgram> out;
    if (commands.empty() || o_.build_only) {
      first.reason = as_in_the_tree(std::move(first.reason));
      out.push_back(std::move(first));
      finished(out.back());
    }
    for (std::size_t i = 0; i < commands.size() && !o_.build_only; ++i) {
      SuiteProgram program = first;
      if (commands.size() > 1) program.name += ": " + commands[i].name;
      run_program(commands[i], i + 1, program);
      if (stopped()) return {waiting()};
      program.reason = as_in_the_tree(std::move(program.reason));
      finished(program);
      out.push_back(std::move(program));
    }
    return out;
  }

 private:
  fs::path toolkit() const { return o_.work / "toolkit"; }
  bool stopped() const { return o_.stop != nullptr && *o_.stop; }
  SuiteProgram waiting() const {
    SuiteProgram out;
    out.name = p_.name, out.kind = name_of(p_.kind);
    return out;
  }

  // Messages name files of the copy; the user knows them by their place in the folder.
  std::string as_in_the_tree(std::string text) const {
    for (const std::string& prefix : {copy_.string() + "/", place_.own.string() + "/"})
      for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
        text.erase(at, prefix.size());
    return text;
  }

  void prepare() {
    std::error_code code;
    fs::remove_all(place_.own, code);
    fs::create_directories(place_.own / "temporary", code);
    if (code) cannot_write(place_.own, code.value());
    copy_project(place_.base, p_.folder, !is_one_file(p_.kind), copy_);
    folder_ = copy_ / p_.folder;
    if (p_.kind == Kind::make || p_.kind == Kind::listed) there_ = executables(folder_);
  }

  // Of builds and of programs that a build starts: nvcc is ours, and so is every toolkit that a variable
  // names.
  std::vector<std::string> environment() const {
    const char* const path = std::getenv("PATH");
    const std::string top = toolkit().string(), nvcc = (toolkit() / "bin/nvcc").string();
    std::vector<std::string> out = {
        fmt::format("PATH={}/bin:{}", top, path == nullptr ? "/usr/bin:/bin" : path),
        "CUDACXX=" + nvcc,
        "CUDAARCHS=70",
        "LD_LIBRARY_PATH=" + o_.parts.libraries.string(),
        "TMPDIR=" + (place_.own / "temporary").string(),
        "LC_ALL=C",
        "MAKEFLAGS",
        "MFLAGS",
        "MAKELEVEL"};
    for (const char* name : {"CUDA_PATH", "CUDA_HOME", "CUDA_ROOT", "CUDA_INSTALL_PATH", "CUDAToolkit_ROOT"})
      out.push_back(fmt::format("{}={}", name, top));
    return out;
  }

  Step step(std::vector<std::string> argv, const fs::path& folder, double seconds) const {
    Step out;
    out.argv = std::move(argv), out.folder = folder, out.seconds = seconds;
    out.environment = environment();
    out.memory_bytes = o_.limits.memory_bytes, out.output_bytes = o_.limits.output_bytes;
    return out;
  }
  // One step of the build; what it says goes to its own log.
  bool build_step(const char* log, std::vector<std::string> argv, const fs::path& folder,
                  SuiteProgram& out) const {
    Step s = step(std::move(argv), folder, o_.limits.build_seconds - out.build_s);
    s.output = s.errors = place_.own / log;
    out.log = s.output.string();
    const StepEnd end = run_step(s, o_.stop);
    out.build_s += end.seconds;
    if (end.stopped == Stopped::no && end.status == 0) return true;
    out.exit_code = end.status;
    out.reason = in_words(end.stopped, s);
    if (out.reason.empty()) out.reason = first_error(studies::sweep::end_of_file(s.output, looked_at));
    if (out.reason.empty()) out.reason = fmt::format("the build ended with status {}", end.status);
    return false;
  }
  static std::string tool(const char* name, SuiteProgram& out) {
    std::string found = compile::find_program(name);
    if (found.empty()) out.reason = fmt::format("{} is not installed", name);
    return found;
  }

  bool build(SuiteProgram& out) const {
    switch (p_.kind) {
      case Kind::cuda:
        return build_step("build.txt",
                          {(toolkit() / "bin/nvcc").string(), "./" + p_.file, "-o", single().string()},
                          folder_, out);
      case Kind::opencl:
        return build_step("build.txt",
                          {o_.parts.program.string(), "build", "./" + p_.file, "-o", single().string()},
                          folder_, out);
      case Kind::program: return true;
      case Kind::listed:
        return p_.build.empty() || build_step("build.txt", {"/bin/sh", "-c", p_.build}, folder_, out);
      case Kind::make: return make(out);
      case Kind::cmake: return cmake(out);
    }
    return false;
  }
  fs::path single() const { return place_.own / (p_.kind == Kind::cuda ? "program" : "kernel.ptx"); }

  bool make(SuiteProgram& out) const {
    std::vector<std::string> argv = {tool("make", out), "-f", p_.file};
    if (argv.front().empty()) return false;
    for (std::string& variable : toolkit_variables(folder_ / p_.file, toolkit()))
      argv.push_back(std::move(variable));
    return build_step("build.txt", std::move(argv), folder_, out);
  }
  fs::path cmake_folder() const { return place_.own / "build"; }
  bool cmake(SuiteProgram& out) const {
    const std::string program = tool("cmake", out), top = toolkit().string(), into = cmake_folder().string();
    if (program.empty()) return false;
    std::vector<std::string> configure = {program, "-S", folder_.string(),
                                          "-B",    into, "-DCMAKE_BUILD_TYPE=Release"};
    for (const std::string& setting : {"CMAKE_CUDA_COMPILER=" + top + "/bin/nvcc", "CUDAToolkit_ROOT=" + top,
                                       "CUDA_TOOLKIT_ROOT_DIR=" + top})
      configure.push_back("-D" + setting);
    return build_step("configure.txt", std::move(configure), place_.own, out) &&
           build_step("build.txt", {program, "--build", into}, place_.own, out);
  }

  // Programs in a folder: x86-64 executables that the system's loader starts.
  static std::set<fs::path> executables(const fs::path& folder) {
    std::set<fs::path> out;
    std::error_code code;
    for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, code),
         end;
         at != end; at.increment(code)) {
      if (code) break;
      if (at->is_directory(code) && at->path().filename() == "CMakeFiles") at.disable_recursion_pending();
      if (is_program(at->path())) out.insert(at->path());
    }
    return out;
  }

  // What can be run of what was built.
  std::vector<Command> programs(SuiteProgram& out) const {
    if (p_.kind == Kind::cuda) return {{p_.file, {single().string()}, folder_}};
    if (p_.kind == Kind::opencl) return kernel(out);
    if (p_.kind == Kind::program) return {{p_.file, {"./" + p_.file}, folder_}};
    if (p_.kind == Kind::listed)
      return p_.run.empty() ? nothing(out, "")
                            : std::vector<Command>{{p_.name, {"/bin/sh", "-c", p_.run}, folder_}};
    const bool by_make = p_.kind == Kind::make;
    const fs::path in = by_make ? folder_ : cmake_folder();
    std::set<fs::path> made = executables(in);
    for (const fs::path& old : there_) made.erase(old);
    std::erase_if(made, [](const fs::path& program) { return !uses_gpu(program); });
    if (made.empty()) {
      out.built = SuiteStep::no;
      out.reason = "the build made no program that uses CUDA or OpenCL";
      return {};
    }
    // Who keeps a script with the arguments means it to be run.
    std::error_code code;
    if (by_make)
      for (const char* script : {"run", "run.sh"})
        if (fs::is_regular_file(folder_ / script, code) && inspect_elf(folder_ / script).is_elf == false)
          return {{script, {"/bin/sh", std::string("./") + script}, folder_}};
    std::vector<Command> all;
    for (const fs::path& program : made)
      all.push_back({program.lexically_relative(in).string(), {program.string()}, program.parent_path()});
    return all;
  }
  // A kernel runs where a launch file of its name stands beside it.
  std::vector<Command> kernel(SuiteProgram& out) const {
    const fs::path launch = (folder_ / p_.file).replace_extension(".toml");
    std::error_code code;
    if (!fs::is_regular_file(launch, code))
      return nothing(out,
                     fmt::format("a kernel alone: {} would be its launch file", launch.filename().string()));
    return {{p_.file, {"./" + p_.file, "--launch", launch.string()}, folder_}};
  }
  static std::vector<Command> nothing(SuiteProgram& out, const std::string& why) {
    out.ran = out.passed = SuiteStep::none;
    out.reason = why;
    return {};
  }

  void run_program(const Command& command, std::size_t number, SuiteProgram& out) const {
    const fs::path json = place_.own / fmt::format("run-{}.json", number);
    std::vector<std::string> argv = {o_.parts.program.string(), "run", "-q", "--json=" + json.string()};
    argv.insert(argv.end(), o_.run_words.begin(), o_.run_words.end());
    // Programs at once share the cores.
    const auto threads = [](const std::string& word) { return word.starts_with("--threads"); };
    if (o_.jobs > 1 && std::ranges::none_of(o_.run_words, threads)) argv.emplace_back("--threads=1");
    if (p_.kind != Kind::opencl) argv.emplace_back("--");
    argv.insert(argv.end(), command.argv.begin(), command.argv.end());
    Step s = step(std::move(argv), command.folder, p_.limit_s > 0 ? p_.limit_s : o_.limits.seconds);
    s.output = place_.own / fmt::format("run-{}.txt", number),
    s.errors = place_.own / fmt::format("run-{}.err.txt", number);
    const StepEnd end = run_step(s, o_.stop);
    out.host_s = end.seconds, out.exit_code = end.status, out.log = s.output.string();
    const Outcome outcome = outcome_of(json);
    out.simulated_ns = outcome.time_ns, out.kernels = outcome.kernels;
    if (end.stopped != Stopped::no) return failed_to_run(in_words(end.stopped, s), s, out);
    // It ran to its end: then its own exit status is its check.
    const bool to_its_end =
        end.status == 0 || (end.status == exit_program_failed && outcome.failure.empty() &&
                            outcome.exit_status > 0 && outcome.exit_status < 128);
    if (!to_its_end)
      return failed_to_run(outcome.failure.empty()
                               ? first_error(studies::sweep::end_of_file(s.errors, looked_at))
                               : first_error(outcome.failure),
                           s, out);
    out.ran = SuiteStep::yes;
    check(s, end.status == 0 ? 0 : outcome.exit_status, out);
  }
  static void failed_to_run(std::string why, const Step& s, SuiteProgram& out) {
    out.ran = SuiteStep::no;
    out.log = s.errors.string();
    out.reason = why.empty() ? fmt::format("ended with status {}", out.exit_code) : std::move(why);
  }

  struct Outcome {
    double time_ns = std::numeric_limits<double>::quiet_NaN();
    std::uint64_t kernels = 0;
    int exit_status = 0;
    std::string failure;
  };
  static Outcome outcome_of(const fs::path& json) {
    Outcome out;
    std::error_code code;
    if (!fs::exists(json, code)) return out;
    try {
      const result::Result r = result::read_result_file(json);
      if (const auto time = r.total.get("gpu.time")) out.time_ns = *time;
      out.kernels = r.kernels.size();
      out.exit_status = r.manifest.program_exit_status.value_or(0);
      out.failure = r.manifest.failure;
    } catch (const Error& e) { out.failure = e.format(); }
    return out;
  }

  // Without simtlab's word on the exit status, which ends what a program wrote there.
  static std::string without_ours(const std::string& errors) {
    const std::size_t at = errors.rfind("error: ");
    const bool ours = at != std::string::npos && errors.find("[program-exit]", at) != std::string::npos;
    return ours ? errors.substr(0, at) : errors;
  }

  // Its own check: the exit status, the text that a list expects, and what it says of itself.
  void check(const Step& s, int exit_status, SuiteProgram& out) const {
    const std::string printed = studies::sweep::end_of_file(s.output, looked_at),
                      errors = studies::sweep::end_of_file(s.errors, looked_at);
    const Said said = verdict_of(printed + "\n" + errors);
    out.passed = SuiteStep::yes;
    out.check = said.verdict == Verdict::passed ? said.words : fmt::format("exit {}", exit_status);
    std::string why;
    if (exit_status != 0) {
      out.check = fmt::format("exit {}", exit_status);
      const std::string words = first_error(without_ours(errors) + printed);
      why = fmt::format("ended with status {}{}{}", exit_status, words.empty() ? "" : ": ", words);
    } else if (!p_.expect.empty()) {
      out.check = "expected text";
      if (printed.find(p_.expect) == std::string::npos)
        why = fmt::format("did not print '{}'", shown(p_.expect, 60));
    } else if (said.verdict == Verdict::failed) {
      out.check = said.words;
      why = fmt::format("printed {}", said.words);
    }
    out.reason = why;
    if (!why.empty())
      out.passed = SuiteStep::no;
    else
      out.exit_code = 0;
  }

  const Project& p_;
  const Place& place_;
  const SuiteOptions& o_;
  fs::path copy_, folder_;
  std::set<fs::path> there_;  // programs that the user's folder holds already
};

}  // namespace

std::vector<SuiteProgram> work_on(const Project& project, const Place& place, const SuiteOptions& options,
                                  const std::function<void(const SuiteProgram&)>& finished) {
  return Worker(project, place, options).run(finished);
}

}  // namespace simtlab::studies
