#include "studies/suite/state.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/shell.h"

namespace simtlab::studies {
namespace {

using Json = nlohmann::ordered_json;
using result::SuiteProgram;
using result::SuiteStep;

constexpr int version = 1;
constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20;

// Names and messages may hold bytes that are no UTF-8: path_text() keeps them.
Json to_json(const SuiteProgram& p) {
  Json out = {{"name", path_text(p.name)},
              {"kind", p.kind},
              {"built", static_cast<int>(p.built)},
              {"ran", static_cast<int>(p.ran)},
              {"passed", static_cast<int>(p.passed)},
              {"check", path_text(p.check)},
              {"build_s", p.build_s},
              {"host_s", p.host_s},
              {"kernels", p.kernels},
              {"exit_code", p.exit_code},
              {"reason", path_text(p.reason)},
              {"log", path_text(p.log)}};
  if (p.simulated_ns == p.simulated_ns) out["simulated_ns"] = p.simulated_ns;
  return out;
}

SuiteStep step_of(const Json& value) {
  const int step = value.get<int>();
  return step < 0 || step > static_cast<int>(SuiteStep::no) ? SuiteStep::waiting
                                                            : static_cast<SuiteStep>(step);
}

SuiteProgram program_of(const Json& j) {
  const auto text = [&](const char* key) { return path_of(j.at(key).get<std::string>()); };
  SuiteProgram p;
  p.name = text("name"), p.kind = j.at("kind").get<std::string>();
  p.built = step_of(j.at("built")), p.ran = step_of(j.at("ran")), p.passed = step_of(j.at("passed"));
  p.check = text("check"), p.reason = text("reason"), p.log = text("log");
  p.build_s = j.at("build_s").get<double>(), p.host_s = j.at("host_s").get<double>();
  p.kernels = j.at("kernels").get<std::uint64_t>(), p.exit_code = j.at("exit_code").get<int>();
  if (j.contains("simulated_ns")) p.simulated_ns = j.at("simulated_ns").get<double>();
  return p;
}

}  // namespace

SuiteState::SuiteState(std::filesystem::path file) : file_(std::move(file)) {
  std::error_code ignored;
  if (!std::filesystem::exists(file_, ignored)) return;
  try {
    const Json root = Json::parse(read_file(file_, most_bytes, "state of the suite"));
    if (root.at("version").get<int>() != version) return;
    for (const auto& [name, project] : root.at("projects").items()) {
      Remembered& r = projects_[path_of(name)];
      r.signature = project.at("signature").get<std::string>();
      for (const Json& p : project.at("programs")) r.programs.push_back(program_of(p));
    }
  } catch (const Json::exception&) {
    projects_.clear();  // damaged: everything is done again
  }
}

const Remembered* SuiteState::find(const std::string& project, const std::string& signature) const {
  const auto found = projects_.find(project);
  return found == projects_.end() || found->second.signature != signature ? nullptr : &found->second;
}

void SuiteState::keep(const std::string& project, Remembered outcome) {
  projects_[project] = std::move(outcome);
  Json root = {{"version", version}, {"projects", Json::object()}};
  for (const auto& [name, r] : projects_) {
    Json& project_json = root["projects"][path_text(name)];
    project_json = {{"signature", r.signature}, {"programs", Json::array()}};
    for (const SuiteProgram& p : r.programs) project_json["programs"].push_back(to_json(p));
  }
  write_file_atomically(file_, root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace simtlab::studies
