#include "result/json_tables.h"

#include <fmt/format.h>

#include "base/error.h"
#include "result/json.h"
#include "result/json_profile.h"

namespace simtlab::result {
namespace {

struct Written {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(std::uint64_t n) const { return fmt::format("{}", n); }
  std::string operator()(std::int64_t n) const { return fmt::format("{}", n); }
  // Always recognisable as a real number.
  std::string operator()(double n) const {
    std::string text = fmt::format("{}", n);
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    return text;
  }
  std::string operator()(const std::string& text) const { return json_string(text); }
};

std::string objects(const Table& table, const TableDeclaration& declaration) {
  std::string out = "[";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    out += i == 0 ? "\n        {" : ",\n        {";
    for (std::size_t k = 0; k < table.rows[i].size(); ++k)
      out += fmt::format("{}{}: {}", k == 0 ? "" : ", ", json_string(declaration.columns[k].name),
                         std::visit(Written{}, table.rows[i][k]));
    out += "}";
  }
  return out + (table.rows.empty() ? "]" : "\n      ]");
}

std::string lists(const Table& table, const TableDeclaration& declaration, const std::string& prefix,
                  Beside* beside) {
  std::string out = "{\n          \"columns\": [", units;
  for (std::size_t k = 0; k < declaration.columns.size(); ++k) {
    out += (k == 0 ? "" : ", ") + json_string(declaration.columns[k].name);
    units += (k == 0 ? "" : ", ") + json_string(declaration.columns[k].unit);
  }
  out += fmt::format("],\n          \"units\": [{}],\n          \"rows\": ", units);
  if (beside != nullptr && beside->take(prefix, table, declaration))
    return out + rows_beside(prefix, table.rows.size()) + "\n        }";
  out += "[";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    out += i == 0 ? "\n            [" : ",\n            [";
    for (std::size_t k = 0; k < table.rows[i].size(); ++k)
      out += (k == 0 ? "" : ", ") + std::visit(Written{}, table.rows[i][k]);
    out += "]";
  }
  return out + (table.rows.empty() ? "]\n        }" : "\n          ]\n        }");
}

}  // namespace

std::string tables_json(const std::vector<Table>& tables, const std::string& prefix, Beside* beside) {
  std::string sms, others;
  for (const Table& table : tables) {
    const TableDeclaration* declaration = find_table(table.name);
    SIMTLAB_ASSERT(declaration != nullptr, "a table that is not declared");
    if (table.name == "sms")
      sms = ",\n      \"sms\": " + objects(table, *declaration);
    else
      others += fmt::format("{}\n        {}: {}", others.empty() ? "" : ",", json_string(table.name),
                            lists(table, *declaration, prefix + "." + table.name, beside));
  }
  if (!others.empty()) others = ",\n      \"tables\": {" + others + "\n      }";
  return sms + others;
}

}  // namespace simtlab::result
