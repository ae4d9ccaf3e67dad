#include "studies/corun/known.h"

#include <fmt/format.h>

#include "base/shown.h"
#include "corun/profile_lookup.h"
#include "studies/corun/policy_options.h"

namespace simtlab::studies {
namespace {

constexpr unsigned most_told = 8;
constexpr std::size_t most_builds = 1024;

}  // namespace

std::string without_profiles(const corun::Policy& policy) {
  if (policy.needs == corun::knows_nothing) return {};
  return fmt::format(
      "policy {} decides by the {} of kernels, and the daemon has no profiles (serve --profiles FILE; "
      "simtlab corun profile makes one): {}{}",
      policy.name, corun::knowledge_text(policy.needs), unknown_text(policy),
      (policy.needs & corun::knows_time) != 0 ? "; times are learnt from launches that ran alone" : "");
}

KnownKernels::KnownKernels(const corun::Policy& policy, const std::string& file)
    : policy_(&policy),
      file_(file),
      profiles_(file.empty() ? corun::Profiles{} : corun::load_profiles(file)) {}

corun::live::FindProfile KnownKernels::find() {
  if (file_.empty()) return {};
  return [this](const ProgramIdentity& program, const std::string& kernel, const corun::LaunchShape& shape) {
    return find(program, kernel, shape);
  };
}

std::optional<corun::Profile> KnownKernels::find(const ProgramIdentity& program, const std::string& kernel,
                                                 const corun::LaunchShape& shape) {
  corun::Found found = corun::find_profile(profiles_, program, kernel, shape);
  if (found.other_build && other_builds_.size() < most_builds && other_builds_.insert(program.name).second)
    talk(
        fmt::format("note: {} has profiles of another program of the name {}, or of another build of it: "
                    "they are not used; profile it again\n",
                    shown(file_), shown(program.name)));
  return std::move(found.profile);
}

void KnownKernels::watch(corun::live::Core& core, bool learns) {
  core.set_profiles(static_cast<std::uint32_t>(profiles_.kernels.size()));
  core.on_unknown({});
  if (policy_->needs == corun::knows_nothing || learns) return;
  if (profiles_.kernels.empty()) {
    talk(fmt::format("note: {}\n", without_profiles(*policy_)));
  } else {
    core.on_unknown([this](const std::string& kernel) { unknown(kernel); });
  }
}

void KnownKernels::decides(const corun::Policy& policy, corun::live::Core& core, bool learns) {
  if (policy_ == &policy) return;
  policy_ = &policy;
  told_ = 0;
  watch(core, learns);
}

void KnownKernels::unknown(const std::string& kernel) {
  if (told_ == most_told) return;
  const std::string more = ++told_ == most_told ? "; further ones are not named here: simtlab corun top" : "";
  talk(fmt::format("note: of kernel {} the {} is not known: policy {} decides by it, and {}{}\n",
                   shown(kernel), corun::knowledge_text(policy_->needs), policy_->name,
                   unknown_text(*policy_), more));
}

}  // namespace simtlab::studies
