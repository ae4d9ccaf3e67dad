// Completion for bash, zsh and fish from the tree of options.
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/option_tree.h"

namespace simtlab::cli {
namespace {

// What can follow an option, as a shell command that prints it; empty: the name of a file.
std::string values_of(const std::string& option) {
  if (option == "--gpu") return "simtlab list gpus 2>/dev/null | awk 'NR > 1 { print $1 }'";
  if (option == "--dram") return "simtlab list drams 2>/dev/null | awk 'NR > 1 { print $1 }'";
  if (option == "--controller") return "simtlab list controllers 2>/dev/null | awk 'NR > 1 { print $1 }'";
  if (option == "--metric") return "simtlab list stats 2>/dev/null | awk 'NR > 1 { print $1 }'";
  if (option == "--color") return "echo auto always never";
  if (option == "--mode") return "echo timing functional";
  return {};
}
// Of the words that a command takes.
std::string words_of(const TreeCommand& command) {
  if (command.path == "simtlab explain") return values_of("--metric");
  if (command.path == "simtlab config diff") return values_of("--gpu");
  if (command.path == "simtlab completion") return "echo bash zsh fish";
  return {};
}

void flatten(const TreeCommand& command, std::vector<const TreeCommand*>& out) {
  out.push_back(&command);
  for (const TreeCommand& sub : command.commands) flatten(sub, out);
}
std::vector<const TreeCommand*> all_commands(const TreeCommand& tree) {
  std::vector<const TreeCommand*> out;
  flatten(tree, out);
  return out;
}

std::string below(const TreeCommand& command) {
  return command.path == "simtlab" ? "" : command.path.substr(8);
}

// The first sentence: one line of a menu.
std::string brief(const std::string& text) {
  std::string out = text.substr(0, text.find('\n'));
  std::ranges::replace(out, '\t', ' ');
  return out;
}

// Inside single quotes of a POSIX shell.
std::string single_quoted(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

// Every option that takes the next word as its value, whatever the command.
std::vector<const TreeOption*> with_value(const std::vector<const TreeCommand*>& commands) {
  std::vector<const TreeOption*> out;
  for (const TreeCommand* c : commands)
    for (const TreeOption& o : c->options)
      if (!o.positional && !o.value.empty() &&
          std::ranges::none_of(out, [&](const TreeOption* other) { return other->names == o.names; }))
        out.push_back(&o);
  return out;
}

std::string bash_values(const std::vector<const TreeCommand*>& commands) {
  std::string out;
  for (const TreeOption* o : with_value(commands)) {
    const std::string values = values_of(o->names.back());
    if (!values.empty())
      out += fmt::format("    {}) COMPREPLY=($(compgen -W \"$({})\" -- \"$cur\")); return ;;\n",
                         o->names.back(), values);
  }
  return out;
}

// zsh's _arguments takes [ ] and : as its own.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : brief(text)) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return single_quoted(out);
}

std::string zsh_action(const std::string& values) {
  return values.empty() ? "_files" : fmt::format("{{compadd -- $({})}}", single_quoted(values));
}

std::string zsh_option(const TreeOption& o) {
  std::string out;
  for (const std::string& name : o.names) {
    const bool is_long = name.starts_with("--");
    const std::string value =
        o.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(o.value), zsh_action(values_of(name)));
    // "-o+": its value is behind it or the next word; "--gpu=": the same with an equals sign; "=-": only
    // behind that, and it may be missing.
    const std::string mark = o.value.empty() ? "" : o.value_optional ? "=-" : is_long ? "=" : "+";
    out += fmt::format("        '*{}{}[{}]{}{}' \\\n", name, mark, zsh_text(o.description),
                       o.value_optional ? ":" : "", value);
  }
  return out;
}

std::string fish_condition(const TreeCommand& command) {
  if (command.path == "simtlab") return "__fish_use_subcommand";
  std::string out;
  const std::string path = below(command);
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find(' ', at), path.size());
    out += fmt::format("{}__fish_seen_subcommand_from {}", out.empty() ? "" : "; and ",
                       path.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

}  // namespace

std::string bash_completion(const TreeCommand& tree) {
  const std::vector<const TreeCommand*> commands = all_commands(tree);
  std::string out =
      "# bash completion of simtlab, written by `simtlab completion bash`.\n"
      "_simtlab() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path='' word i options='' "
      "commands='' words=''\n"
      "  COMPREPLY=()\n"
      "  # --gpu=h100 is three words to bash.\n"
      "  [ \"$cur\" = = ] && cur=''\n"
      "  [ \"$prev\" = = ] && [ \"$COMP_CWORD\" -gt 2 ] && prev=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  case \"$prev\" in\n" +
      bash_values(commands) +
      "  esac\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    word=${COMP_WORDS[i]}\n"
      "    [ \"$word\" = -- ] && { COMPREPLY=($(compgen -f -- \"$cur\")); return; }\n"
      "    case \"$path $word\" in\n";
  for (const TreeCommand* c : commands)
    if (c->path != "simtlab") {
      const std::string path = below(*c);
      const std::size_t last = path.rfind(' ');
      out +=
          fmt::format("      '{} {}') path='{}' ;;\n", last == std::string::npos ? "" : path.substr(0, last),
                      last == std::string::npos ? path : path.substr(last + 1), path);
    }
  out += "    esac\n  done\n  case \"$path\" in\n";
  for (const TreeCommand* c : commands) {
    std::string options, subs;
    for (const TreeOption& o : c->options)
      if (!o.positional)
        for (const std::string& name : o.names) options += (options.empty() ? "" : " ") + name;
    for (const TreeCommand& sub : c->commands) subs += (subs.empty() ? "" : " ") + sub.name;
    const std::string words = words_of(*c);
    out += fmt::format("    '{}') options='{}' commands='{}'{} ;;\n", below(*c), options, subs,
                       words.empty() ? "" : fmt::format(" words=$({})", words));
  }
  return out +
         "  esac\n"
         "  case \"$cur\" in\n"
         "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$cur\")) ;;\n"
         "    *) COMPREPLY=($(compgen -W \"$commands $words\" -- \"$cur\"))\n"
         "       [ -z \"$commands\" ] && COMPREPLY+=($(compgen -f -- \"$cur\")) ;;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F _simtlab simtlab\n";
}

std::string zsh_completion(const TreeCommand& tree) {
  const std::vector<const TreeCommand*> commands = all_commands(tree);
  std::string out =
      "#compdef simtlab\n"
      "# zsh completion of simtlab, written by `simtlab completion zsh`.\n"
      "_simtlab() {\n"
      "  local path='' word\n"
      "  local -a commands\n"
      "  integer i=2\n"
      "  for ((i = 2; i < CURRENT; i++)); do\n"
      "    word=$words[i]\n"
      "    case \"$path $word\" in\n";
  for (const TreeCommand* c : commands)
    if (c->path != "simtlab") {
      const std::string path = below(*c);
      const std::size_t last = path.rfind(' ');
      out +=
          fmt::format("      ('{} {}') path='{}' ;;\n", last == std::string::npos ? "" : path.substr(0, last),
                      last == std::string::npos ? path : path.substr(last + 1), path);
    }
  out += "    esac\n  done\n  case \"$path\" in\n";
  for (const TreeCommand* c : commands) {
    out += fmt::format("    ('{}')\n", below(*c));
    if (!c->commands.empty()) {
      out += "      commands=(";
      for (const TreeCommand& sub : c->commands)
        out += fmt::format("'{}:{}' ", sub.name, zsh_text(sub.description));
      out += ")\n      _describe command commands\n";
    }
    out += "      _arguments -S \\\n";
    for (const TreeOption& o : c->options)
      if (!o.positional) out += zsh_option(o);
    out += fmt::format("        '*: :{}' ;;\n", c->commands.empty() ? zsh_action(words_of(*c)) : "");
  }
  return out + "  esac\n}\ncompdef _simtlab simtlab 2>/dev/null\n_simtlab \"$@\"\n";
}

std::string fish_completion(const TreeCommand& tree) {
  std::string out = "# fish completion of simtlab, written by `simtlab completion fish`.\n";
  for (const TreeCommand* c : all_commands(tree)) {
    const std::string head = fmt::format("complete -c simtlab -n '{}'", fish_condition(*c));
    for (const TreeCommand& sub : c->commands)
      out += fmt::format("{} -f -a {} -d '{}'\n", head, sub.name, single_quoted(brief(sub.description)));
    for (const TreeOption& o : c->options) {
      if (o.positional) continue;
      std::string names;
      for (const std::string& name : o.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      const std::string values = values_of(o.names.back());
      const std::string follow = o.value.empty() || o.value_optional ? ""
                                 : values.empty()                    ? " -r"
                                                  : fmt::format(" -x -a '({})'", single_quoted(values));
      out += fmt::format("{}{}{} -d '{}'\n", head, names, follow, single_quoted(brief(o.description)));
    }
    if (const std::string words = words_of(*c); !words.empty())
      out += fmt::format("{} -a '({})'\n", head, single_quoted(words));
  }
  return out;
}

}  // namespace simtlab::cli
