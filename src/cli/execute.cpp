#include "cli/execute.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/cli.h"
#include "cli/host.h"
#include "cli/manifest.h"
#include "cli/option_tree.h"

namespace simtlab::cli {
namespace {

// The command's thread and what comes of it.
class Worker {
 public:
  Worker(Host& host, const std::vector<std::string>& words) {
    // Signals are for the caller's threads.
    sigset_t all, old;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, &old);
    thread_ = std::thread([this, &host, words] { work(host, words); });
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
  int code = 0;
  std::vector<Error> error;
  std::exception_ptr fault;

 private:
  void work(Host& host, const std::vector<std::string>& words) {
    const Serving serving(host);
    try {
      std::vector<std::string> line = {"simtlab"};
      line.insert(line.end(), words.begin(), words.end());
      remember_command_line(line);
      code = parse_and_run(words);
    } catch (const Error& e) {
      error.push_back(e);
      code = static_cast<int>(e.code());
    } catch (...) { fault = std::current_exception(); }
    const std::lock_guard lock(mutex_);
    done_ = true;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

nlohmann::ordered_json json_of(const TreeOption& option) {
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

nlohmann::ordered_json json_of(const TreeCommand& command) {
  nlohmann::ordered_json out;
  out["name"] = command.name;
  out["description"] = command.description;
  out["extras"] = command.extras;
  out["program"] = command.program;
  out["options"] = nlohmann::ordered_json::array();
  for (const TreeOption& option : command.options) out["options"].push_back(json_of(option));
  out["commands"] = nlohmann::ordered_json::array();
  for (const TreeCommand& below : command.commands) out["commands"].push_back(json_of(below));
  return out;
}

}  // namespace

Executed execute(const std::vector<std::string>& words, const Watch& watch) {
  Host host;
  Executed out;
  std::exception_ptr thrown;
  {
    Worker worker(host, words);
    const auto begin = Host::Clock::now();
    while (!worker.wait(watch.interval)) {
      host.enforce_deadline();
      if (!watch.look || thrown) continue;
      try {
        const double seconds = std::chrono::duration<double>(Host::Clock::now() - begin).count();
        if (!watch.look(host.activity(), host.detail(), seconds)) host.interrupt();
      } catch (...) {
        thrown = std::current_exception();
        host.interrupt();
      }
    }
    out.code = worker.code;
    out.error = std::move(worker.error);
    if (!thrown) thrown = worker.fault;
  }
  if (thrown) std::rethrow_exception(thrown);
  out.output = host.output();
  out.messages = host.messages();
  return out;
}

void check_embedded(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  const std::string path =
      (parent != nullptr && parent->get_parent() != nullptr ? parent->get_name() + " " : "") +
      command.get_name();
  static constexpr const char* known[] = {"run",           "cache",   "predict",         "dram",
                                          "probe",         "corun",   "corun interfere", "corun replay",
                                          "corun profile", "compare", "validate",        "explain"};
  if (std::ranges::find(known, path) != std::end(known)) return;
  std::string names;
  for (const char* name : known) names += (names.empty() ? "" : ", ") + std::string(name);
  throw Error(ExitCode::usage, "command-embedded",
              fmt::format("'{}' is for the command line: it runs in no other program", path),
              "those that do: " + names);
}

std::string tree_json() { return json_of(whole_tree()).dump(); }

}  // namespace simtlab::cli
