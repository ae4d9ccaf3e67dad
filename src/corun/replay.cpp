// Reads event traces and decision logs and runs a policy over them.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/shown.h"
#include "base/text_file.h"
#include "corun/log.h"
#include "corun/scheduler.h"

namespace simtlab::corun {
namespace {

constexpr std::size_t longest_line = 8192;

// One line, word by word.
class Words {
 public:
  Words(const std::string& file, std::size_t number, const std::string& line)
      : file_(file), number_(number), line_(line) {}

  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ExitCode::bad_input, "corun-trace",
                Diagnostic{message,
                           {file_, static_cast<std::uint32_t>(number_), static_cast<std::uint32_t>(at_ + 1)},
                           shown(line_),
                           "docs/reference/corun-files.md describes the lines of a trace"});
  }

  bool done() const { return line_.find_first_not_of(' ', at_) == std::string::npos; }
  std::string_view word() {
    at_ = line_.find_first_not_of(' ', at_);
    if (at_ == std::string::npos) {
      at_ = line_.size();
      fail("the line ends too early");
    }
    const std::size_t end = std::min(line_.find(' ', at_), line_.size());
    const std::string_view out = std::string_view(line_).substr(at_, end - at_);
    at_ = end;
    return out;
  }
  // The rest of the line after " name=".
  std::string_view rest_after(std::string_view key) {
    at_ = std::min(line_.find_first_not_of(' ', at_), line_.size());
    if (!std::string_view(line_).substr(at_).starts_with(key))
      fail(fmt::format("here \"{}\" is expected", key));
    const std::string_view out = std::string_view(line_).substr(at_ + key.size());
    at_ = line_.size();
    return out;
  }
  template <typename T>
  T number(std::string_view text) const {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      fail(fmt::format("\"{}\" is no number that is possible here", shown(text)));
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value) || value < 0)
        fail(fmt::format("\"{}\" is no number that is possible here", shown(text)));
    return value;
  }
  template <typename T>
  T number() {
    return number<T>(word());
  }
  // key=value
  template <typename T>
  T field(std::string_view key) {
    const std::string_view text = word();
    if (!text.starts_with(key) || text.size() <= key.size() || text[key.size()] != '=')
      fail(fmt::format("here {}=VALUE is expected", key));
    return number<T>(text.substr(key.size() + 1));
  }
  void end() const {
    if (!done()) fail("nothing is expected here any more");
  }
  bool next_is(std::string_view text) const {
    const std::size_t start = line_.find_first_not_of(' ', at_);
    return start != std::string::npos && std::string_view(line_).substr(start).starts_with(text);
  }

 private:
  const std::string& file_;
  std::size_t number_;
  const std::string& line_;
  std::size_t at_ = 0;
};

struct Heading {
  const Policy* policy = nullptr;
  Settings settings;
};

// Behind the word "policy".
Heading read_policy(Words& words) {
  Heading out;
  const std::string_view name = words.word();
  out.policy = find_policy(name);
  if (out.policy == nullptr) words.fail(fmt::format("there is no policy \"{}\"", shown(name)));
  Settings& s = out.settings;
  s.limit = words.field<std::uint32_t>("limit");
  if (s.limit == 0) words.fail("a limit of 0 launches would let nothing run");
  s.light = words.field<std::uint32_t>("light");
  s.aging = words.field<std::uint64_t>("aging");
  s.quantum = words.field<Time>("quantum");
  s.l2_cap = words.field<double>("l2-cap");
  s.dram_cap = words.field<double>("dram-cap");
  s.memory_class = words.field<double>("memory-class");
  s.best_effort = words.field<std::uint32_t>("best-effort");
  words.end();
  return out;
}

void read_kernel(Words& words, Time now, Scheduler& scheduler) {
  const auto id = words.number<KernelId>();
  std::optional<Profile> profile;
  if (words.next_is("known ")) {
    words.word();
    profile.emplace();
    if (words.next_is("near ")) words.word(), profile->nearest = true;
    const std::pair<std::string_view, std::optional<double>*> fields[] = {{"time", &profile->time_ns},
                                                                          {"ipc", &profile->ipc},
                                                                          {"l2", &profile->l2_bandwidth},
                                                                          {"dram", &profile->dram_bandwidth},
                                                                          {"stall", &profile->memory_stall}};
    for (const auto& [key, value] : fields)
      if (words.next_is(std::string(key) + '=')) *value = words.field<double>(key);
    constexpr std::string_view more = "more.";
    while (words.next_is(more)) {
      const std::string_view text = words.word();
      const std::size_t equals = std::min(text.find('='), text.size());
      if (equals <= more.size() || equals == text.size()) words.fail("here more.NAME=VALUE is expected");
      profile->more[std::string(text.substr(more.size(), equals - more.size()))] =
          words.number<double>(text.substr(equals + 1));
    }
  }
  const KernelId given = scheduler.kernel(now, words.rest_after("name="), profile ? &*profile : nullptr);
  if (given != id)
    words.fail(fmt::format("kernels count from 1 in the order of their coming: this one is {}", given));
}

void read_event(Words& words, Time now, std::string_view what, Scheduler& scheduler) {
  if (what == "kernel") {
    read_kernel(words, now, scheduler);
  } else if (what == "join") {
    const auto client = words.number<ClientId>();
    scheduler.join(now, client, words.field<std::int32_t>("priority"));
  } else if (what == "launch") {
    const auto sequence = words.number<Sequence>();
    const auto client = words.field<ClientId>("client");
    const auto stream = words.field<StreamId>("stream");
    const auto kernel = words.field<KernelId>("kernel");
    const auto slots = words.field<std::uint32_t>("slots");
    const std::uint32_t device = words.done() ? 0 : words.field<std::uint32_t>("device");
    const Sequence given = scheduler.launch(now, client, stream, kernel, slots, device);
    if (given != sequence)
      words.fail(fmt::format("launches count from 1 in the order of their coming: this one is {}", given));
  } else if (what == "end") {
    const auto sequence = words.number<Sequence>();
    scheduler.end(now, sequence, words.field<Time>("gpu"));
  } else if (what == "cancel") {
    scheduler.cancel(now, words.number<Sequence>());
  } else if (what == "pass") {
    scheduler.pass_over(now, words.number<ClientId>());
  } else if (what == "back") {
    scheduler.back(now, words.number<ClientId>());
  } else if (what == "policy") {
    const Heading heading = read_policy(words);
    scheduler.set(now, *heading.policy, heading.settings);
  } else if (what == "leave") {
    const auto client = words.number<ClientId>();
    const bool drain = words.next_is("drain");
    if (drain) words.word();
    scheduler.leave(now, client, drain);
  } else {
    words.fail(fmt::format("\"{}\" is no event", shown(what)));
  }
  words.end();
}

}  // namespace

namespace {

// Under another policy launches begin at other times: each then ends as long after its grant as the trace
// says that it took.
class Ends {
 public:
  Ends(const std::vector<std::string>& lines, const std::string& file) {
    for (std::size_t i = 2; i < lines.size(); ++i) {
      if (lines[i].find(" end ") == std::string::npos) continue;
      Words words(file, i + 1, lines[i]);
      words.number<Time>();
      if (words.word() != "end") continue;  // a kernel of that name
      const auto sequence = words.number<Sequence>();
      took_.emplace(sequence, words.field<Time>("gpu"));
    }
  }
  // Those of launches that were granted, up to that time; each decision may add some.
  void run(Scheduler& scheduler, Time until) {
    while (!due_.empty() && due_.top().first <= until) {
      const Time now = due_.top().first;
      bool any = false;
      for (; !due_.empty() && due_.top().first == now; due_.pop()) {
        if (!scheduler.runs(due_.top().second)) continue;  // its client has left
        scheduler.end(now, due_.top().second, took_.at(due_.top().second));
        ended(scheduler, now, due_.top().second);
        any = true;
      }
      if (any && now < until) decide(scheduler, now);
    }
  }
  void decide(Scheduler& scheduler, Time now) {
    for (const Grant& g : scheduler.decide())
      if (const auto took = took_.find(g.sequence); took != took_.end())
        due_.emplace(now + std::max<Time>(1, took->second), g.sequence);
  }

  void launched(Sequence sequence, ClientId client) {
    if (took_.contains(sequence)) client_of_.emplace(sequence, client), ++outstanding_[client];
  }
  void withdrawn(Sequence sequence) {
    if (const auto at = client_of_.find(sequence); at != client_of_.end()) --outstanding_[at->second];
  }
  // A client leaves when what ended in the trace has ended here, too, which may be later.
  bool stays(ClientId client, bool drain) {
    const auto at = outstanding_.find(client);
    if (at == outstanding_.end() || at->second == 0) return false;
    leaves_.emplace(client, drain);
    return true;
  }
  void leave_all(Scheduler& scheduler) {
    for (const auto& [client, drain] : leaves_) scheduler.leave(last_, client, drain);
    leaves_.clear();
  }

 private:
  void ended(Scheduler& scheduler, Time now, Sequence sequence) {
    last_ = now;
    const ClientId client = client_of_.at(sequence);
    if (--outstanding_[client] != 0) return;
    const auto leaves = leaves_.find(client);
    if (leaves == leaves_.end()) return;
    scheduler.leave(now, client, leaves->second);
    leaves_.erase(leaves);
  }

  std::unordered_map<Sequence, ClientId> client_of_;  // of launches that ended in the trace
  std::unordered_map<ClientId, std::uint64_t> outstanding_;
  std::map<ClientId, bool> leaves_;  // with drain
  Time last_ = 0;
  std::unordered_map<Sequence, Time> took_;
  std::priority_queue<std::pair<Time, Sequence>, std::vector<std::pair<Time, Sequence>>, std::greater<>> due_;
};

void replay_events(const std::vector<std::string>& lines, const std::string& file, Scheduler& scheduler,
                   Ends* ends, Replayed& out) {
  Time now = 0;
  const auto decide = [&] {
    if (ends != nullptr)
      ends->decide(scheduler, now);
    else
      scheduler.decide();
  };
  for (std::size_t i = 2; i < lines.size(); ++i) {
    Words words(file, i + 1, lines[i]);
    if (words.done()) words.fail("empty line");
    const Time at = words.number<Time>();
    const std::string_view what = words.word();
    if (at < now) words.fail("time goes backwards");
    if (what == "grant") {
      words.number<Sequence>();
      words.end();
      out.had_grants = true;
      continue;
    }
    if (at > now) {
      decide();
      if (ends != nullptr) ends->run(scheduler, at);
    }
    now = at;
    // The other policy decides to the end.
    if (ends != nullptr && (what == "end" || what == "policy")) continue;
    if (ends != nullptr && what == "cancel") {
      const auto sequence = words.number<Sequence>();
      if (scheduler.waits(sequence)) scheduler.cancel(now, sequence), ends->withdrawn(sequence);
      continue;
    }
    if (ends != nullptr && what == "leave") {
      Words ahead = words;
      const auto client = ahead.number<ClientId>();
      if (ends->stays(client, ahead.next_is("drain"))) continue;
    }
    if (ends != nullptr && what == "launch") {
      Words ahead = words;
      const auto sequence = ahead.number<Sequence>();
      ends->launched(sequence, ahead.field<ClientId>("client"));
    }
    try {
      read_event(words, now, what, scheduler);
    } catch (const Error& e) {
      if (e.id() != "corun-event") throw;
      words.fail(e.diagnostics().front().message);
    }
    out.launches += what == "launch" ? 1 : 0;
  }
  decide();
  if (ends == nullptr) return;
  ends->run(scheduler, ~Time{0});
  ends->leave_all(scheduler);
}

// Lines that were read or written here: they are as they should be.
class FiguresOf {
 public:
  void line(const std::string& file, std::size_t number, const std::string& text) {
    Words words(file, number, text);
    const auto now = words.number<Time>();
    const std::string_view what = words.word();
    if (what == "launch") {
      const auto sequence = words.number<Sequence>();
      const auto client = words.field<ClientId>("client");
      asked_.emplace(sequence, Asked{client, now});
      began_.try_emplace(client, now);
      out_.turnaround.try_emplace(client, 0);
    } else if (what == "grant") {
      if (const auto at = asked_.find(words.number<Sequence>()); at != asked_.end()) granted(now, at->second);
    } else if (what == "end") {
      if (const auto at = asked_.find(words.number<Sequence>()); at != asked_.end()) {
        out_.turnaround[at->second.client] = now - began_.at(at->second.client);
        out_.last_end = now;
      }
    }
  }
  LogFigures figures() const {
    LogFigures out = out_;
    if (out.granted != 0) out.wait_mean = waited_ / static_cast<double>(out.granted);
    return out;
  }

 private:
  struct Asked {
    ClientId client = 0;
    Time at = 0;
  };
  void granted(Time now, const Asked& launch) {
    ++out_.granted;
    waited_ += static_cast<double>(now - launch.at);
    out_.wait_longest = std::max(out_.wait_longest, now - launch.at);
  }
  std::unordered_map<Sequence, Asked> asked_;
  std::unordered_map<ClientId, Time> began_;
  double waited_ = 0;
  LogFigures out_;
};

LogFigures figures_of(const std::vector<std::string>& lines, const std::string& file) {
  FiguresOf figures;
  for (std::size_t i = 2; i < lines.size(); ++i) figures.line(file, i + 1, lines[i]);
  return figures.figures();
}

}  // namespace

Replayed replay(std::string_view text, const std::string& file, const Policy* other,
                const Settings* settings) {
  const std::vector<std::string> lines = checked_lines(text, file, longest_line);
  if (lines.empty() || lines[0] != log_heading)
    throw Error(ExitCode::bad_input, "corun-trace",
                Diagnostic{"this is no trace of events",
                           {file, 1, 1},
                           lines.empty() ? "" : shown(lines[0]),
                           fmt::format("its first line is \"{}\"", log_heading)});
  const std::string nothing;
  Words second(file, 2, lines.size() > 1 ? lines[1] : nothing);
  if (second.word() != "policy") second.fail("the second line names the policy: policy NAME limit=N ...");
  const Heading heading = read_policy(second);
  Replayed out;
  std::size_t compared = 0;  // lines of the trace that the new log has reproduced
  Scheduler scheduler(other != nullptr ? *other : *heading.policy,
                      settings != nullptr ? *settings : heading.settings, [&](std::string_view line) {
                        if (out.difference.empty() && compared < lines.size() && lines[compared] != line)
                          out.difference = fmt::format("{}:{}: \"{}\" became \"{}\"", file, compared + 1,
                                                       shown(lines[compared]), shown(line));
                        ++compared;
                        out.log.append(line) += '\n';
                      });
  std::optional<Ends> ends;
  if (other != nullptr) ends.emplace(lines, file);
  replay_events(lines, file, scheduler, ends ? &*ends : nullptr, out);
  out.grants = scheduler.grants();
  out.waiting = scheduler.waiting();
  out.running = scheduler.running();
  out.policy = &scheduler.policy();
  out.kernels = static_cast<std::uint32_t>(scheduler.kernels());
  for (KernelId id = 1; id <= out.kernels; ++id)
    if ((out.policy->needs & ~known_of(scheduler.profile(id))) != 0 && out.unknown++ == 0)
      out.first_unknown = scheduler.kernel_name(id);
  if (out.difference.empty() && compared < lines.size())
    out.difference = fmt::format("{}:{}: \"{}\" is not repeated", file, compared + 1, shown(lines[compared]));
  if (!out.had_grants) out.difference.clear();
  if (out.had_grants) out.before = figures_of(lines, file);
  out.after = figures_of(checked_lines(out.log, "the new log", longest_line), "the new log");
  return out;
}

}  // namespace simtlab::corun
