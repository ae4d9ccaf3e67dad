#include "studies/suite/suite.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/file.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/shown.h"
#include "studies/suite/find.h"
#include "studies/suite/state.h"
#include "studies/suite/tree.h"
#include "studies/suite/work.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;
using result::Suite;
using result::SuiteProgram;

constexpr const char* list_name = "simtlab-suite.toml";
constexpr std::uintmax_t hashed_whole = std::uintmax_t{64} << 20;  // larger files: size and time
constexpr std::size_t most_name = 40;

// One suite at a time in a work folder.
class Lock {
 public:
  explicit Lock(const fs::path& work)
      : file_(::open((work / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (!file_) cannot_write(work / "lock", errno);
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0)
      throw Error(ExitCode::failure, "suite-busy",
                  fmt::format("another suite works in {}", shown(work.string())),
                  "wait for it, or name another --work FOLDER");
  }

 private:
  Descriptor file_;
};

// Hashes of the files' contents, each made once.
class Signatures {
 public:
  Signatures(const Tree& tree, const std::vector<Project>& projects, const SuiteOptions& options)
      : tree_(tree) {
    const SuiteLimits& l = options.limits;
    common_ = fmt::format("{}\n{} {} {} {} {}\n", options.tool, options.build_only, l.seconds,
                          l.build_seconds, l.memory_bytes, l.output_bytes);
    for (const std::string& word : options.run_words)
      if (!word.starts_with("--threads")) common_ += word + "\n";  // results are the same for any number
    for (const TreeFile& file : tree.files)
      if (std::ranges::none_of(projects, [&](const Project& p) { return owns(p, file.path); }))
        common_ += line_of(file);
  }

  // Of what the project is made of: its own files and those that belong to no project.
  std::string of(const Project& project) const {
    std::string text = common_ + fmt::format("{}\n{}\n{}\n{}\n{}\n", name_of(project.kind), project.build,
                                             project.run, project.expect, project.limit_s);
    for (const TreeFile& file : tree_.files)
      if (owns(project, file.path)) text += line_of(file);
    return hash_bytes(text);
  }

 private:
  std::string line_of(const TreeFile& file) const {
    if (file.link) return fmt::format("{}\n> {}\n", file.path.string(), file.target.string());
    std::string& hash = hashes_[file.path];
    if (hash.empty()) hash = hash_of(file);
    return fmt::format("{}\n{}\n", file.path.string(), hash);
  }
  std::string hash_of(const TreeFile& file) const {
    const fs::path path = tree_.root / file.path;
    if (file.size <= hashed_whole) {
      try {
        return hash_file(path);
      } catch (const Error&) {  // it went just now
      }
    }
    std::error_code code;
    return fmt::format("{} {}", file.size, fs::last_write_time(path, code).time_since_epoch().count());
  }

  const Tree& tree_;
  std::string common_;
  mutable std::map<fs::path, std::string> hashes_;
};

bool chosen(const Project& project, const std::vector<std::string>& only) {
  return only.empty() || std::ranges::any_of(only, [&](const std::string& pattern) {
           return ::fnmatch(pattern.c_str(), project.name.c_str(), 0) == 0;
         });
}

// A name for a folder: what a user recognises, and a hash that no other project has.
std::string folder_name(const std::string& project) {
  std::string out;
  for (const char c : project.substr(0, most_name)) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    out += plain ? c : '_';
  }
  return out + "-" + hash_bytes(project);
}

fs::path list_of(const SuiteOptions& options, const Tree& tree) {
  if (!options.list.empty()) return options.list;
  std::error_code ignored;
  const fs::path own = tree.root / list_name;
  return fs::exists(own, ignored) ? own : fs::path();
}

// The work folder's files must not become a part of what is copied.
void check_work(const Tree& tree, const fs::path& work) {
  std::error_code ignored;
  const fs::path within = fs::weakly_canonical(work, ignored).lexically_relative(tree.root);
  if (!within.empty() && *within.begin() != "..")
    throw Error(ExitCode::usage, "suite-work",
                fmt::format("the work folder {} lies in the suite's folder", shown(work.string())),
                "the folder of the programs stays as it is: name a --work folder elsewhere");
}

// Several projects at once; outcomes keep the projects' order.
class Crew {
 public:
  struct Job {
    const Project* project;
    std::string signature;
    std::vector<SuiteProgram> programs;
  };
  Crew(const SuiteOptions& options, SuiteState& state) : o_(options), state_(state) {}

  void work(std::vector<Job*> jobs) {
    std::vector<std::thread> crew;
    const std::size_t workers = std::min(std::max<std::size_t>(o_.jobs, 1), jobs.size());
    std::atomic<std::size_t> next{0};
    for (std::size_t i = 0; i < workers; ++i)
      crew.emplace_back([&] {
        for (std::size_t at = next++; at < jobs.size() && !stopping(); at = next++) one(*jobs[at]);
      });
    for (std::thread& worker : crew) worker.join();
    if (failed_) std::rethrow_exception(failed_);
  }
  bool stopping() const { return failed_flag_ || (o_.stop != nullptr && *o_.stop); }

 private:
  void one(Job& job) {
    const Place place{o_.work / "tree", o_.work / folder_name(job.project->name)};
    try {
      tell(job.project->name, nullptr);
      std::vector<SuiteProgram> programs =
          work_on(*job.project, place, o_, [&](const SuiteProgram& p) { tell(job.project->name, &p); });
      clear(place.own);
      if (stopping()) return;
      const std::lock_guard lock(mutex_);
      state_.keep(job.project->name, {job.signature, programs});
      job.programs = std::move(programs);
    } catch (...) {
      clear(place.own);
      const std::lock_guard lock(mutex_);
      if (!failed_) failed_ = std::current_exception();
      failed_flag_ = true;
    }
  }
  void tell(const std::string& project, const SuiteProgram* program) {
    const std::lock_guard lock(mutex_);
    if (o_.told) o_.told(project, program);
  }
  // Logs and results stay.
  void clear(const fs::path& own) const {
    std::error_code ignored;
    if (o_.keep) return;
    for (const char* name : {"copy", "build", "temporary", "program"}) fs::remove_all(own / name, ignored);
  }

  const SuiteOptions& o_;
  SuiteState& state_;
  std::mutex mutex_;
  std::exception_ptr failed_;
  std::atomic<bool> failed_flag_{false};
};

SuiteProgram not_reached(const Project& project) {
  SuiteProgram out;
  out.name = project.name, out.kind = name_of(project.kind);
  return out;
}

bool all_fine(const std::vector<SuiteProgram>& programs) {
  return std::ranges::all_of(programs, [](const SuiteProgram& p) { return p.fine(); });
}

Projects projects_of(const SuiteOptions& options, const Tree& tree) {
  const fs::path list = list_of(options, tree);
  Projects found = list.empty() ? find_projects(tree) : read_list(list, tree);
  if (found.all.empty())
    throw Error(ExitCode::bad_input, "suite-empty",
                fmt::format("no program in {}", shown(options.folder.string())),
                "makefiles and CMake projects that name CUDA or OpenCL, .cu files with a main(), .cl files, "
                "executables that use CUDA or OpenCL, and simtlab-suite.toml are found");
  if (std::ranges::none_of(found.all, [&](const Project& p) { return chosen(p, options.only); }))
    throw Error(ExitCode::usage, "suite-only", "--only fits none of the programs",
                "its * and ? stand for parts of a name");
  return found;
}

}  // namespace

Suite run_suite(const SuiteOptions& options) {
  Tree tree = list_tree(options.folder);
  check_work(tree, options.work);
  const Projects found = projects_of(options, tree);
  std::error_code code;
  fs::create_directories(options.work, code);
  if (code) cannot_write(options.work, code.value());
  const Lock lock(options.work);
  const fs::path state_file = options.work / "state.json";
  if (options.fresh) fs::remove(state_file, code);
  SuiteState state(state_file);
  const Signatures signatures(tree, found.all, options);
  std::vector<Crew::Job> jobs;
  std::vector<Crew::Job*> left;
  jobs.reserve(found.all.size());
  for (const Project& project : found.all) {
    if (!chosen(project, options.only)) continue;
    Crew::Job& job = jobs.emplace_back(Crew::Job{&project, signatures.of(project), {}});
    const Remembered* known = state.find(project.name, job.signature);
    if (known != nullptr && !(options.retry_failed && !all_fine(known->programs)))
      job.programs = known->programs;
    else
      left.push_back(&job);
  }
  if (!left.empty()) {
    lay_out_toolkit(options.work / "toolkit", options.parts);
    copy_tree(tree, options.work / "tree");
    Crew(options, state).work(left);
    if (!options.keep) fs::remove_all(options.work / "tree", code);
  }
  Suite out;
  out.folder = options.folder.string(), out.work = options.work.string(), out.build_only = options.build_only;
  out.skipped = found.skipped, out.notes = std::move(tree.notes);
  for (const Crew::Job& job : jobs) {
    if (job.programs.empty()) out.programs.push_back(not_reached(*job.project));
    out.programs.insert(out.programs.end(), job.programs.begin(), job.programs.end());
  }
  return out;
}

}  // namespace simtlab::studies
