#include "studies/corun/profile_board.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/program_identity.h"
#include "corun/live/server.h"
#include "corun/policy.h"
#include "gpu/board/board.h"
#include "report/format.h"
#include "studies/common/manifest.h"
#include "studies/common/signals.h"
#include "studies/common/temporary.h"
#include "studies/corun/measured.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;

// `simtlab corun exec` becomes the program. Strict: a launch that went ungated would not be seen.
pid_t start_gated(const BoardProfile& o, const gpu::BoardName& board, const fs::path& directory) {
  std::vector<std::string> words = {"simtlab",          "corun", "exec", "--strict", "--directory",
                                    directory.string(), "--"};
  words.insert(words.end(), o.command.begin(), o.command.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string self = fs::read_symlink("/proc/self/exe").string(),
                    visible = board.uuid.empty() ? std::to_string(board.index) : board.uuid;
  const pid_t child = ::fork();
  if (child < 0)
    throw Error(ExitCode::failure, "program-start",
                fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (child == 0) {
    ::setenv("CUDA_VISIBLE_DEVICES", visible.c_str(), 1);
    if (data_on_stdout(o.output)) ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::execv(self.c_str(), argv.data());
    ::_exit(127);
  }
  return child;
}

// One launch at a time, until the program has ended and its last process, which may be another, has gone. The
// program's status.
int serve_until_end(corun::live::Server& server, pid_t child) {
  std::optional<int> status;
  const auto look = [&] {
    int word = 0;
    pid_t got = 0;
    // Its connection ends a moment before the process does.
    for (int i = 0; !status && i < (server.core().clients() == 0 ? 20 : 1); ++i) {
      if (i != 0) ::usleep(1000);
      if ((got = ::waitpid(child, &word, WNOHANG)) == child) status = word;
      if (got < 0 && errno != EINTR) status = 0;
    }
    return status && server.core().clients() == 0;
  };
  server.run(look);
  return *status;
}

std::string board_table(const std::vector<MeasuredKernels::Row>& rows) {
  std::string text =
      "| application | kernel | launches | time | blocks | threads a block | registers | shared "
      "|\n|---|---|---|---|---|---|---|---|\n";
  const auto product = [](const std::optional<std::array<std::uint32_t, 3>>& a) {
    return static_cast<double>((*a)[0]) * (*a)[1] * (*a)[2];
  };
  for (const MeasuredKernels::Row& r : rows) {
    const corun::Profile& p = r.profile;
    const auto shown = [](const std::optional<double>& v, double scale, const char* unit) {
      return v ? fmt::format("{:.4g}{}", *v / scale, unit) : std::string("-");
    };
    text += fmt::format("| {} | {} | {} | {} | {:.10g} | {:.10g} | {} | {} |\n", r.application, r.kernel,
                        r.launches, p.time_ns ? report::format_time(*p.time_ns) : "-", product(p.grid),
                        product(p.block), shown(p.registers, 1, ""), shown(p.shared_bytes, 1, " B"));
  }
  return text;
}

result::Result result_of_rows(const std::vector<MeasuredKernels::Row>& rows, const gpu::BoardName& board) {
  result::Result out;
  out.manifest.mode = "corun";
  out.manifest.device = board.name;
  for (const MeasuredKernels::Row& r : rows) {
    result::KernelResult& k = out.kernels.emplace_back();
    k.name = k.demangled = r.kernel;
    for (int i = 0; i < 3; ++i)
      k.grid[i] = (*r.profile.grid)[static_cast<std::size_t>(i)],
      k.block[i] = (*r.profile.block)[static_cast<std::size_t>(i)];
    k.registers = static_cast<std::uint32_t>(r.profile.registers.value_or(0));
    k.shared_bytes = static_cast<std::uint64_t>(r.profile.shared_bytes.value_or(0));
    k.launches = static_cast<std::uint32_t>(r.launches);
    if (r.profile.time_ns) k.metrics.set("gpu.time", *r.profile.time_ns);
  }
  return out;
}

}  // namespace

Outcome profile_on_board(const BoardProfile& o) {
  const RunClock clock;
  const gpu::BoardName board = gpu::find_cuda_board(o.device);
  const TemporaryDirectory folder;
  corun::live::ServerOptions options;
  options.directory = folder.path() / "run";
  options.identify = [](std::int32_t pid, const std::string&) { return identity_of_process(pid); };
  corun::Settings settings;
  settings.limit = 1;
  corun::live::Server server(corun::policy("mps"), settings, options);
  MeasuredKernels measured;
  server.core().on_span = [&](const corun::live::Core::Span& span) { measured.add(span); };
  Signals signals(0);
  const pid_t child = start_gated(o, board, options.directory);
  signals.forward_to(child);
  const int status = serve_until_end(server, child);
  signals.forward_to(0);
  const std::string& name = o.command.front();
  if (WIFSIGNALED(status))
    throw Error(
        signals.interrupted() ? ExitCode::interrupted : ExitCode::program_failed, "program-exit",
        fmt::format("{} was ended by signal {} ({})", name, WTERMSIG(status), ::strsignal(WTERMSIG(status))),
        "no profile is kept");
  if (WEXITSTATUS(status) != 0)
    throw Error(ExitCode::program_failed, "program-exit",
                fmt::format("{} ended with status {}", name, WEXITSTATUS(status)),
                "no profile is kept; the program's own messages are above");
  std::vector<MeasuredKernels::Row> rows;
  const std::string application = o.application.empty() ? program_name(name) : o.application;
  corun::Profiles profiles = measured.profiles(
      application, fmt::format("simtlab {} on {}, times by events", version(), board.name), &rows);
  if (rows.empty())
    throw Error(ExitCode::bad_input, "corun-profiles", "no kernel was launched: there is nothing to profile");
  Writing writing;
  writing([&] { save_profiles_beside(std::move(profiles), o.database); });
  result::Result result = result_of_rows(rows, board);
  clock.finish(result);
  Outcome out(std::move(result), o.output);
  out.text = [text = board_table(rows)](const report::Style&) { return text; };
  if (writing.failed()) out.unwritten.push_back(*writing.failed());
  return out;
}

}  // namespace simtlab::studies
