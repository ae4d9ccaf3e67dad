// Man pages from the tree of options.
#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/option_tree.h"

namespace simtlab::cli {
namespace {

// A line that starts with . or ' would be a request, a backslash an escape, a hyphen could be broken.
std::string roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    line_start = c == '\n';
  }
  return out;
}

// Text as it stands, line by line.
std::string literal(std::string_view text) { return ".nf\n" + roff(text) + "\n.fi\n"; }

// The description of simtlab itself has examples in lines of their own behind its first paragraph.
std::string description_text(const std::string& text) {
  const std::size_t end = text.find("\n\n");
  if (end == std::string::npos) return roff(text) + "\n";
  std::string rest = text.substr(end + 2);
  while (rest.ends_with('\n')) rest.pop_back();
  return roff(text.substr(0, end)) + "\n.PP\n" + literal(rest);
}

std::string option_text(const TreeOption& o) {
  std::string names;
  for (const std::string& name : o.names)
    names += (names.empty() ? "" : ", ") + fmt::format("\\fB{}\\fR", roff(name));
  if (!o.value.empty() && !o.positional)
    names += o.value_optional ? fmt::format("[=\\fI{}\\fR]", roff(o.value))
                              : fmt::format(" \\fI{}\\fR", roff(o.value));
  return fmt::format(".TP\n{}\n{}\n", names,
                     roff(o.description.empty() ? "See the form above." : o.description));
}

std::string options_of(const TreeCommand& command) {
  std::vector<std::string> groups;
  for (const TreeOption& o : command.options)
    if (std::ranges::find(groups, o.group) == groups.end()) groups.push_back(o.group);
  std::string out;
  for (const std::string& group : groups) {
    if (!group.empty()) out += fmt::format(".SS {}\n", roff(group));
    for (const TreeOption& o : command.options)
      if (o.group == group) out += option_text(o);
  }
  return out;
}

std::string synopsis(const TreeCommand& command) {
  std::string out = fmt::format("\\fB{}\\fR", roff(command.path));
  if (std::ranges::any_of(command.options, [](const TreeOption& o) { return !o.positional; }))
    out += " [\\fIOPTIONS\\fR]";
  for (const TreeOption& o : command.options)
    if (o.positional) out += fmt::format(" \\fI{}\\fR", roff(o.names.front()));
  if (!command.commands.empty()) out += " \\fICOMMAND\\fR";
  return out + "\n";
}

std::string page_name(const TreeCommand& command) {
  std::string out = command.path;
  std::ranges::replace(out, ' ', '-');
  return out;
}

}  // namespace

std::string man_page(const TreeCommand& command, const TreeCommand& root, std::string_view version) {
  std::string title = page_name(command);
  std::ranges::transform(title, title.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  std::string brief =
      command.description.substr(0, std::min(command.description.find('\n'), command.description.find(". ")));
  if (brief.starts_with("simtlab: ")) brief = brief.substr(9);
  std::string out =
      fmt::format(".TH {} 1 \"\" \"simtlab {}\" \"simtlab manual\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}",
                  roff(title), version, roff(page_name(command)), roff(brief), synopsis(command));
  if (!command.footer.empty()) out += ".PP\n" + literal(command.footer);
  out += ".SH DESCRIPTION\n" + description_text(command.description);
  out += ".SH OPTIONS\n" + options_of(command);
  if (!command.commands.empty()) {
    out += ".SH COMMANDS\n";
    for (const TreeCommand& sub : command.commands)
      out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(sub.path), roff(sub.description));
  }
  if (&command == &root) {
    out +=
        ".SH EXIT STATUS\n0 success, 1 failure at run time, 2 wrong usage, 3 bad input or configuration, 4 "
        "unsupported feature, 5 the simulated program failed, "
        "6 a check failed, 7 device or permission unavailable, 130 interrupted.\n";
    out +=
        ".SH ENVIRONMENT\n.TP\n\\fBSIMTLAB_GPU\\fR, \\fBSIMTLAB_SET\\fR\nThe GPU and settings, below the "
        "command line.\n"
        ".TP\n\\fBNO_COLOR\\fR, \\fBCLICOLOR_FORCE\\fR\nNo colour, or colour always; \\-\\-color overrides "
        "both.\n";
  }
  std::string also;
  for (const TreeCommand& sub : root.commands)
    if (sub.path != command.path)
      also += fmt::format("{}\\fB{}\\fR(1)", also.empty() ? "" : ",\n", roff(page_name(sub)));
  return out + ".SH SEE ALSO\n" + also + "\n";
}

}  // namespace simtlab::cli
