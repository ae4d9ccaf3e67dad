// simtlab completion SHELL, simtlab man [COMMAND]: what the tool knows of its own options, for shells and for
// man(1).
#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/shown.h"
#include "cli/commands/commands.h"
#include "cli/commands/option_tree.h"
#include "studies/common/command.h"
#include "studies/common/manifest.h"
#include "studies/common/output.h"

namespace simtlab::cli {

void add_completion(Command& app) {
  Command* sub =
      app.add_subcommand("completion", "Print the completion script of a shell: bash, zsh or fish");
  sub->footer(
      "Forms: simtlab completion bash > ~/.local/share/bash-completion/completions/simtlab\n"
      "       simtlab completion zsh > ~/.zfunc/_simtlab    (with ~/.zfunc in fpath)\n"
      "       simtlab completion fish > ~/.config/fish/completions/simtlab.fish");
  const auto shell = std::make_shared<std::string>();
  sub->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}))
      ->type_name("");
  sub->action([shell](const Call& call) {
    const TreeCommand tree = option_tree(call.command.root());
    print(*shell == "bash"  ? bash_completion(tree)
          : *shell == "zsh" ? zsh_completion(tree)
                            : fish_completion(tree));
    return 0;
  });
}

void add_man(Command& app) {
  Command* sub = app.add_subcommand("man", "Print a page for man(1): of simtlab, or of one of its commands");
  sub->footer("Form: simtlab man run | man -l -");
  const auto path = std::make_shared<std::vector<std::string>>();
  sub->add_option("COMMAND", *path, "e.g. run, or config show")->type_name("");
  sub->action([path](const Call& call) {
    const TreeCommand tree = option_tree(call.command.root());
    const TreeCommand* command = find_command(tree, *path);
    if (command == nullptr) {
      std::string name;
      for (const std::string& word : *path) name += (name.empty() ? "" : " ") + word;
      std::vector<std::string> names;
      for (const TreeCommand& c : tree.commands) names.push_back(c.name);
      const std::string near = nearest_name(name.substr(0, 200), names);
      throw Error(ExitCode::usage, "command-unknown", fmt::format("simtlab has no command '{}'", shown(name)),
                  near.empty() ? "simtlab --help lists them" : fmt::format("did you mean '{}'?", near));
    }
    print(man_page(*command, tree, version()));
    return 0;
  });
}

}  // namespace simtlab::cli
