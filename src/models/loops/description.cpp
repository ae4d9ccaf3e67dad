#include "models/loops/description.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "device/device.h"

namespace simtlab::models::loops {
namespace {

using nlohmann::json;
using Op = Expression::Op;

Expression expression(const json& j) {
  static const std::unordered_map<std::string, Op> ops = {{"const", Op::constant},
                                                          {"arg", Op::input},
                                                          {"iv", Op::iteration},
                                                          {"load", Op::load},
                                                          {"+", Op::add},
                                                          {"*", Op::multiply},
                                                          {"/", Op::divide},
                                                          {"s/", Op::signed_divide},
                                                          {"%", Op::remainder},
                                                          {"s%", Op::signed_remainder},
                                                          {"&", Op::bit_and},
                                                          {"|", Op::bit_or},
                                                          {"^", Op::bit_xor},
                                                          {"smax", Op::signed_max},
                                                          {"smin", Op::signed_min},
                                                          {"umax", Op::unsigned_max},
                                                          {"umin", Op::unsigned_min},
                                                          {"sext", Op::sign_extend},
                                                          {"zext", Op::zero_extend},
                                                          {"trunc", Op::truncate}};
  Expression e;
  const auto found = ops.find(j.at(0).get<std::string>());
  e.op = found == ops.end() ? Op::unknown : found->second;
  e.bits = j.at(1).get<unsigned>();
  std::size_t next = 2;
  if (e.op == Op::unknown) {
    e.text = j.at(2).get<std::string>();
    return e;
  }
  if (e.op == Op::constant || e.op == Op::input || e.op == Op::iteration || e.op == Op::load)
    e.value = j.at(next++).get<std::int64_t>();
  for (; next < j.size(); ++next) e.operands.push_back(expression(j.at(next)));
  return e;
}

Condition condition(const json& j) {
  Condition c;
  if (j.is_null()) return c;
  c.test = j.at("test").get<std::string>();
  if (c.test == "and" || c.test == "or") {
    c.parts = {condition(j.at("a")), condition(j.at("b"))};
  } else {
    c.a = expression(j.at("a"));
    c.b = expression(j.at("b"));
  }
  return c;
}

int class_index(const std::string& name) {
  const auto found = std::ranges::find(device::op_class_names, name);
  SIMTLAB_ASSERT(found != device::op_class_names.end(), "an operation class that no device knows");
  return static_cast<int>(found - device::op_class_names.begin());
}

Instruction instruction(const json& j) {
  Instruction i;
  i.id = j.at("id");
  i.line = j.at("line");
  i.uses = j.at("uses").get<std::vector<std::uint32_t>>();
  i.words = j.at("words");
  if (j.contains("class")) {
    i.op_class = class_index(j.at("class"));
    i.count = j.at("count");
  }
  if (j.contains("more")) {
    i.more_class = class_index(j.at("more").at(0));
    i.more = j.at("more").at(1);
  }
  i.flops = j.value("flops", 0.0);
  i.access = j.value("access", -1);
  return i;
}

Loop loop(const json& j) {
  Loop l;
  l.parent = j.at("parent");
  l.level = j.at("level");
  l.line = j.at("line");
  l.column = j.at("column");
  l.block = j.at("block");
  l.name = j.at("name");
  l.type = j.value("type", "");
  l.counted = !j.at("trips").is_null();
  if (l.counted) l.trips = expression(j.at("trips"));
  l.bounded = !j.at("most_trips").is_null();
  if (l.bounded) l.most_trips = expression(j.at("most_trips"));
  return l;
}

Access access(const json& j) {
  Access a;
  a.line = j.at("place").at(0);
  a.column = j.at("place").at(1);
  a.store = j.at("store");
  a.real = j.at("float");
  a.bytes = j.at("bytes");
  a.input = j.at("input");
  a.loop = j.at("loop");
  a.block = j.at("block");
  if (j.contains("offset")) a.offset = expression(j.at("offset"));
  return a;
}

Block block(const json& j) {
  Block b;
  b.loop = j.at("loop");
  b.successors = j.at("successors").get<std::vector<std::uint32_t>>();
  b.outgoing = j.at("outgoing").get<std::vector<std::uint32_t>>();
  if (j.contains("condition")) b.condition = condition(j.at("condition"));
  b.conditional = b.successors.size() > 1;
  for (const json& i : j.at("instructions")) b.instructions.push_back(instruction(i));
  return b;
}

Input input(const json& j) {
  return {j.at("name"),     j.at("type"), j.at("pointer"), j.at("float"),
          j.at("restrict"), j.at("bits"), j.at("object"),  j.at("object_bytes")};
}

[[noreturn]] void refuse(const json& all) {
  std::vector<Diagnostic> diagnostics;
  for (const json& r : all)
    diagnostics.push_back({r.at("message"), {r.at("file"), r.at("line"), r.at("column")}, "", r.at("hint")});
  throw Error(ExitCode::bad_input, all.at(0).at("id").get<std::string>(), std::move(diagnostics));
}

Description description(const json& j) {
  Description d;
  d.function = j.at("function");
  d.file = j.at("file");
  d.line = j.at("line");
  d.column = j.at("column");
  d.inlined = j.at("inlined").get<std::vector<std::string>>();
  for (const json& x : j.at("inputs")) d.inputs.push_back(input(x));
  for (const json& x : j.at("loops")) d.loops.push_back(loop(x));
  for (const json& x : j.at("accesses")) d.accesses.push_back(access(x));
  for (const json& x : j.at("blocks")) d.blocks.push_back(block(x));
  for (const json& x : j.at("dependences"))
    d.dependences.push_back(
        {x.at("a"), x.at("b"), x.at("confused"), x.at("directions").get<std::vector<unsigned>>()});
  if (j.contains("variables"))
    for (const json& x : j.at("variables"))
      d.variables.push_back({x.at("name"), x.at("type"), x.at("value")});
  return d;
}

}  // namespace

std::vector<int> Description::prefix() const {
  std::vector<int> out;
  for (int level = 0;; ++level) {
    const auto found = std::ranges::find(loops, level, &Loop::level);
    if (found == loops.end()) return out;
    out.push_back(static_cast<int>(found - loops.begin()));
  }
}

bool Description::inside(int loop, int outer) const {
  for (; loop >= 0; loop = loops[static_cast<std::size_t>(loop)].parent)
    if (loop == outer) return true;
  return outer < 0;
}

Description parse_description(std::string_view text) {
  try {
    const json j = json::parse(text);
    if (j.contains("refused")) refuse(j.at("refused"));
    return description(j);
  } catch (const json::exception& e) {
    throw Error(ExitCode::failure, "loops-tool",
                std::string("simtlab-loops gave an answer that can't be read: ") + e.what());
  }
}

}  // namespace simtlab::models::loops
