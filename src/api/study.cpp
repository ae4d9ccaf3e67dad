#include "api/study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/shown.h"
#include "cli/commands/commands.h"
#include "cli/commands/option_tree.h"
#include "compile/nvcc_options.h"
#include "studies/common/compile.h"
#include "studies/common/host.h"
#include "studies/common/manifest.h"

namespace simtlab::api {
namespace {

using studies::Command;
using studies::Option;

void collect_embedded(const Command& at, std::vector<std::string>& out) {
  if (at.embedded()) out.push_back(at.path().substr(at.root().name().size() + 1));
  for (const Command& below : at.commands()) collect_embedded(below, out);
}

std::vector<std::string> split(const std::string& words) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    out.push_back(words.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

Command& find_study(Command& tool, const std::string& name) {
  Command* at = &tool;
  for (const std::string& word : split(name))
    if (at != nullptr) at = at->find_command(word);
  if (at != nullptr && at->embedded()) return *at;
  std::vector<std::string> known;
  collect_embedded(tool, known);
  throw Error(ExitCode::usage, "command-embedded",
              at == nullptr
                  ? fmt::format("simtlab has no study '{}'", shown(name))
                  : fmt::format("'{}' is for the command line: it runs in no other program", shown(name)),
              fmt::format("those that do: {}", fmt::join(known, ", ")));
}

// Repeated ones together, in the order of the first.
std::vector<std::pair<std::string, std::vector<std::string>>> grouped(const Asked& asked) {
  std::vector<std::pair<std::string, std::vector<std::string>>> out;
  for (const auto& [name, value] : asked.options) {
    const auto found = std::ranges::find(out, name, [](const auto& o) { return o.first; });
    if (found == out.end())
      out.push_back({name, {value}});
    else
      found->second.push_back(value);
  }
  return out;
}

Option& find_option(Command& study, const std::string& name) {
  Option* const found = study.find_option("--" + name);
  if (found != nullptr) return *found;
  if (Option* const argument = study.find_option(name); argument != nullptr) return *argument;
  studies::unexpected_argument(study, "--" + name);
}

studies::Outcome act(Command& study, const Asked& asked) {
  for (const auto& [name, values] : grouped(asked)) find_option(study, name).set(values);
  for (const Option& option : study.options()) {
    if (option.must_be_given && option.count() == 0)
      throw Error(ExitCode::usage, "option-value",
                  fmt::format("{} is required by {}", option.name(), asked.study), option.text);
    for (const std::string& other : option.needed)
      if (option.count() > 0 && study.find_option(other)->count() == 0)
        throw Error(ExitCode::usage, "option-value", fmt::format("{} needs {}", option.name(), other));
    for (const std::string& other : option.excluded)
      if (option.count() > 0 && study.find_option(other)->count() > 0)
        throw Error(ExitCode::usage, "option-value", fmt::format("{} excludes {}", option.name(), other));
  }
  std::vector<std::string> rest = asked.inputs;
  if (!rest.empty() && !study.extras()) studies::unexpected_argument(study, rest.front());
  if (std::ranges::any_of(rest, studies::is_source))
    rest = compile::with_values_joined(rest, study.option_names());
  if (asked.program && !study.program())
    throw Error(ExitCode::usage, "argument-unexpected", fmt::format("{} takes no program", asked.study));
  return study.act({study, std::move(rest), asked.program,
                    [](const std::vector<std::string>& words, const std::string& option) {
                      return cli::reads(cli::all_commands, words, option);
                    }});
}

// What gives the same on the command line, for the manifest.
std::vector<std::string> command_line(Command& study, const Asked& asked) {
  std::vector<std::string> out = split(study.path());
  out.insert(out.end(), asked.inputs.begin(), asked.inputs.end());
  for (const auto& [name, values] : grouped(asked)) {
    const Option& option = find_option(study, name);
    if (option.flag()) {
      if (values.back() == "true") out.push_back(option.name());
    } else if (option.positional() || option.most_values() > 1) {
      if (!option.positional()) out.push_back(option.name());
      out.insert(out.end(), values.begin(), values.end());
    } else {
      for (const std::string& value : values) out.push_back(fmt::format("{}={}", option.name(), value));
    }
  }
  if (asked.program) {
    out.emplace_back("--");
    out.insert(out.end(), asked.program->begin(), asked.program->end());
  }
  return out;
}

// The study's thread and what comes of it.
class Worker {
 public:
  Worker(studies::Host& host, const Asked& asked) {
    // Signals are for the caller's threads.
    sigset_t all, old;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &old);
    thread_ = std::thread([this, &host, asked] { work(host, asked); });
    ::pthread_sigmask(SIG_SETMASK, &old, nullptr);
  }
  ~Worker() { thread_.join(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // True when it is done.
  bool wait(std::chrono::milliseconds most) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, most, [this] { return done_; });
  }
  Answered answered;
  std::exception_ptr fault;

 private:
  void work(studies::Host& host, const Asked& asked) {
    const studies::Serving serving(host);
    try {
      const std::unique_ptr<Command> tool = cli::all_commands();
      Command& study = find_study(*tool, asked.study);
      studies::remember_command_line(command_line(study, asked));
      answered.outcome = act(study, asked);
      studies::Writing writing;
      studies::write_files(answered.outcome, writing);
      answered.error = writing.failed();
    } catch (const Error& e) { answered.error = e; } catch (...) {
      fault = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

nlohmann::ordered_json json_of(const cli::TreeOption& option) {
  nlohmann::ordered_json out;
  out["names"] = option.names;
  out["value"] = option.value;
  out["values"] = option.values;
  out["positional"] = option.positional;
  out["required"] = option.required;
  out["choices"] = option.choices;
  out["group"] = option.group;
  out["description"] = option.description;
  return out;
}

nlohmann::ordered_json json_of(const cli::TreeCommand& command) {
  nlohmann::ordered_json out;
  out["name"] = command.name;
  out["description"] = command.description;
  out["extras"] = command.extras;
  out["program"] = command.program;
  out["options"] = nlohmann::ordered_json::array();
  for (const cli::TreeOption& option : command.options) out["options"].push_back(json_of(option));
  out["commands"] = nlohmann::ordered_json::array();
  for (const cli::TreeCommand& below : command.commands) out["commands"].push_back(json_of(below));
  return out;
}

}  // namespace

Answered answer(const Asked& asked, const Watch& watch) {
  studies::Host host;
  Answered out;
  std::exception_ptr thrown;
  {
    Worker worker(host, asked);
    const auto begin = studies::Host::Clock::now();
    while (!worker.wait(watch.interval)) {
      host.enforce_deadline();
      if (!watch.look || thrown) continue;
      try {
        const double seconds = std::chrono::duration<double>(studies::Host::Clock::now() - begin).count();
        if (!watch.look(host.activity(), host.detail(), seconds)) host.interrupt();
      } catch (...) {
        thrown = std::current_exception();
        host.interrupt();
      }
    }
    out = std::move(worker.answered);
    if (!thrown) thrown = worker.fault;
  }
  if (thrown) std::rethrow_exception(thrown);
  out.messages = host.messages() + out.outcome.note;
  return out;
}

std::string commands_as_json() { return json_of(cli::option_tree(*cli::all_commands())).dump(); }

}  // namespace simtlab::api
