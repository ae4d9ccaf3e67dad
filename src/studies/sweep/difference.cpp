#include "studies/sweep/difference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/shell.h"
#include "base/shown.h"
#include "studies/sweep/study.h"

namespace simtlab::studies::sweep {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_text = 160;

std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> out;
  for (const Json& one : list) out.push_back(one.is_string() ? one.get<std::string>() : one.dump());
  return out;
}

// Blanks between a number and its unit mean nothing; those of a command's words do.
bool same_values(const Json& a, const Json& b) {
  const std::vector<std::string> x = texts(a), y = texts(b);
  return std::ranges::equal(x, y, [](const std::string& p, const std::string& q) {
    return p == q || (number_of(p) && number_of(q) && without_blanks(p) == without_blanks(q));
  });
}

std::string in_words(const Json& axis) {
  if (axis.contains("values"))
    return shown(fmt::format("{}", fmt::join(texts(axis["values"]), ", ")), most_text);
  const Json& r = axis.at("range");
  return fmt::format("{:g} to {:g}{}{}", r.at(0).get<double>(), r.at(1).get<double>(),
                     r.at(4).get<std::string>(), r.at(3).get<bool>() ? " (log)" : "");
}

const Json* find_axis(const Json& axes, const std::string& name) {
  for (const Json& axis : axes)
    if (axis.at("name") == name) return &axis;
  return nullptr;
}

void compare_axes(const Json& there, const Json& here, std::vector<std::string>& out) {
  std::vector<std::string> before, after;
  for (const Json& axis : there) {
    const auto name = axis.at("name").get<std::string>();
    const Json* const now = find_axis(here, name);
    if (now == nullptr) {
      out.push_back(fmt::format("axis '{}' is there and not here", shown(name, 60)));
      continue;
    }
    before.push_back(name);
    const bool listed = axis.contains("values") && now->contains("values");
    const bool same = listed ? same_values(axis["values"], (*now)["values"])
                             : axis.value("range", Json()) == now->value("range", Json()) &&
                                   axis.contains("values") == now->contains("values");
    if (!same)
      out.push_back(
          fmt::format("axis '{}' has {} there and {} here", shown(name, 60), in_words(axis), in_words(*now)));
    else if (axis.at("binding") != now->at("binding"))
      out.push_back(fmt::format("axis '{}' reaches the command in another way", shown(name, 60)));
  }
  for (const Json& axis : here) {
    const auto name = axis.at("name").get<std::string>();
    if (find_axis(there, name) == nullptr)
      out.push_back(fmt::format("axis '{}' is here and not there", shown(name, 60)));
    else
      after.push_back(name);
  }
  if (before != after) out.push_back("the axes have another order");
}

void compare_constraints(const Json& there, const Json& here, std::vector<std::string>& out) {
  const std::vector<std::string> a = texts(there), b = texts(here);
  const std::size_t before = out.size();
  for (const std::string& c : a)
    if (std::ranges::find(b, c) == b.end())
      out.push_back(fmt::format("the constraint \"{}\" is there and not here", shown(c, most_text)));
  for (const std::string& c : b)
    if (std::ranges::find(a, c) == a.end())
      out.push_back(fmt::format("the constraint \"{}\" is here and not there", shown(c, most_text)));
  if (a != b && out.size() == before) out.push_back("the constraints have another order");
}

void compare(const Json& a, const Json& b, std::vector<std::string>& out) {
  const auto command = [](const Json& study) {
    return shown("simtlab " + shell_words(texts(study.at("command"))), most_text);
  };
  if (a.at("command") != b.at("command"))
    out.push_back(fmt::format("its command is `{}` there and `{}` here", command(a), command(b)));
  for (const auto& [key, what] : {std::pair("folder", "its folder"), std::pair("design", "its design")})
    if (a.at(key) != b.at(key))
      out.push_back(fmt::format("{} is {} there and {} here", what,
                                shown(a.at(key).get<std::string>(), most_text),
                                shown(b.at(key).get<std::string>(), most_text)));
  compare_axes(a.at("axes"), b.at("axes"), out);
  compare_constraints(a.at("constraints"), b.at("constraints"), out);
  for (const auto& [key, what] : {std::pair("points", "points to draw"), std::pair("repeats", "repeats"),
                                  std::pair("seed", "as its seed")}) {
    const auto x = a.value(key, std::uint64_t{0}), y = b.value(key, std::uint64_t{0});
    if (x != y) out.push_back(fmt::format("it has {} {} there and {} here", x, what, y));
  }
  if (out.empty() && a.value("definition", 0) != b.value("definition", 0))
    out.emplace_back("it was made by another version of simtlab, which put commands together in another way");
}

}  // namespace

std::vector<std::string> differences(const std::string& there, const std::string& here) {
  if (there == here) return {};
  std::vector<std::string> out;
  try {
    compare(Json::parse(there), Json::parse(here), out);
  } catch (const Json::exception&) { return {"what the database says of its study cannot be read"}; }
  return out;
}

}  // namespace simtlab::studies::sweep
