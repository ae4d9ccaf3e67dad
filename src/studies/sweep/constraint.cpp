#include "studies/sweep/constraint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/shown.h"
#include "studies/sweep/axis.h"

namespace simtlab::studies::sweep {

struct Constraint::Node {
  enum class Kind { number, text, axis, negate, not_, binary } kind = Kind::number;
  double number = 0;
  std::string text;  // a word, or the operator
  std::size_t axis = 0;
  std::unique_ptr<Node> a, b;
};

namespace {

using Node = Constraint::Node;
using NodePtr = std::unique_ptr<Node>;
constexpr int most_depth = 64;
constexpr std::size_t most_text = 4096;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Token {
  enum class Kind { end, number, word, name, sign } kind = Kind::end;
  std::string text;
  double number = 0;
  std::size_t at = 0;
};

class Parser {
 public:
  Parser(const std::string& text, const std::vector<std::string>& axes, const SourcePos& pos)
      : text_(text), axes_(axes), pos_(pos) {
    if (text.size() > most_text) refuse(0, fmt::format("a constraint has at most {} letters", most_text), "");
    next();
  }

  NodePtr run() {
    NodePtr out = either(0);
    if (token_.kind != Token::Kind::end)
      refuse(token_.at, fmt::format("'{}' is not expected here", shown(token_.text, 40)),
             "parts are joined by 'and' and 'or'");
    return out;
  }

 private:
  [[noreturn]] void refuse(std::size_t at, const std::string& what, const std::string& hint) const {
    Diagnostic d{fmt::format("constraint: {}", what), pos_, "", hint};
    if (pos_.line != 0)
      d.message = fmt::format("constraint \"{}\", letter {}: {}", shown(text_, 100), at + 1, what);
    else
      d.pos = {"--constraint", 1, static_cast<std::uint32_t>(at + 1)}, d.text = text_;
    throw Error(ExitCode::bad_input, "sweep-constraint", std::move(d));
  }

  void next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    token_ = {Token::Kind::end, "", 0, at_};
    if (at_ == text_.size()) return;
    const char c = text_[at_];
    if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) return quantity();
    if (c == '\'' || c == '"' || c == '`') return quoted(c);
    if (is_letter(c)) {
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.'))
        token_.text += text_[at_++];
      token_.kind = Token::Kind::name;
      return;
    }
    token_.kind = Token::Kind::sign;
    for (const char* two : {"<=", ">=", "==", "!=", "&&", "||"})
      if (text_.compare(at_, 2, two) == 0) token_.text = two;
    if (token_.text.empty()) token_.text = c;
    at_ += token_.text.size();
    if (token_.text == "&&") token_ = {Token::Kind::name, "and", 0, token_.at};
    if (token_.text == "||") token_ = {Token::Kind::name, "or", 0, token_.at};
  }

  // A number, with a unit behind it if what follows is one.
  void quantity() {
    const char* end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, token_.number);
    if (error != std::errc{}) refuse(at_, "this is no number", "");
    token_.kind = Token::Kind::number;
    const std::size_t digits_end = static_cast<std::size_t>(stop - text_.data());
    std::size_t unit = digits_end;
    if (unit < text_.size() && text_[unit] == ' ') ++unit;
    std::size_t unit_end = unit;
    while (unit_end < text_.size() && (is_letter(text_[unit_end]) || text_[unit_end] == '/')) ++unit_end;
    token_.text = text_.substr(at_, digits_end - at_);
    const std::string whole = text_.substr(at_, unit_end - at_);
    if (unit_end > unit)
      if (const auto value = number_of(whole)) {
        token_.number = *value;
        token_.text = whole;
        at_ = unit_end;
        return;
      }
    at_ = digits_end;
  }

  void quoted(char mark) {
    const std::size_t close = text_.find(mark, at_ + 1);
    if (close == std::string::npos) refuse(at_, "a quotation mark is not closed", "");
    token_.kind = mark == '`' ? Token::Kind::name : Token::Kind::word;
    token_.text = text_.substr(at_ + 1, close - at_ - 1);
    at_ = close + 1;
  }

  bool take(Token::Kind kind, const char* text) {
    if (token_.kind != kind || token_.text != text) return false;
    next();
    return true;
  }

  static NodePtr binary(std::string what, NodePtr a, NodePtr b) {
    auto out = std::make_unique<Node>();
    out->kind = Node::Kind::binary, out->text = std::move(what), out->a = std::move(a), out->b = std::move(b);
    return out;
  }
  static NodePtr unary(Node::Kind kind, NodePtr a) {
    auto out = std::make_unique<Node>();
    out->kind = kind, out->a = std::move(a);
    return out;
  }

  NodePtr either(int depth) {
    if (depth > most_depth) refuse(token_.at, "it is nested too deeply", "");
    NodePtr a = both(depth + 1);
    while (take(Token::Kind::name, "or")) a = binary("or", std::move(a), both(depth + 1));
    return a;
  }
  NodePtr both(int depth) {
    NodePtr a = negated(depth + 1);
    while (take(Token::Kind::name, "and")) a = binary("and", std::move(a), negated(depth + 1));
    return a;
  }
  NodePtr negated(int depth) {
    if (depth > most_depth) refuse(token_.at, "it is nested too deeply", "");
    if (take(Token::Kind::name, "not") || take(Token::Kind::sign, "!"))
      return unary(Node::Kind::not_, negated(depth + 1));
    NodePtr a = sum(depth + 1);
    for (const char* sign : {"<=", ">=", "==", "!=", "<", ">", "="})
      if (take(Token::Kind::sign, sign))
        return binary(std::string(sign) == "=" ? "==" : sign, std::move(a), sum(depth + 1));
    return a;
  }
  NodePtr sum(int depth) {
    NodePtr a = product(depth + 1);
    for (;;) {
      if (take(Token::Kind::sign, "+"))
        a = binary("+", std::move(a), product(depth + 1));
      else if (take(Token::Kind::sign, "-"))
        a = binary("-", std::move(a), product(depth + 1));
      else
        return a;
    }
  }
  NodePtr product(int depth) {
    NodePtr a = single(depth + 1);
    for (;;) {
      if (take(Token::Kind::sign, "*"))
        a = binary("*", std::move(a), single(depth + 1));
      else if (take(Token::Kind::sign, "/"))
        a = binary("/", std::move(a), single(depth + 1));
      else if (take(Token::Kind::sign, "%"))
        a = binary("%", std::move(a), single(depth + 1));
      else
        return a;
    }
  }
  NodePtr single(int depth) {
    if (depth > most_depth) refuse(token_.at, "it is nested too deeply", "");
    if (take(Token::Kind::sign, "-")) return unary(Node::Kind::negate, single(depth + 1));
    if (take(Token::Kind::sign, "(")) {
      NodePtr inside = either(depth + 1);
      if (!take(Token::Kind::sign, ")")) refuse(token_.at, "a bracket is not closed", "");
      return inside;
    }
    auto out = std::make_unique<Node>();
    if (token_.kind == Token::Kind::number)
      out->kind = Node::Kind::number, out->number = token_.number;
    else if (token_.kind == Token::Kind::word)
      out->kind = Node::Kind::text, out->text = token_.text;
    else if (token_.kind == Token::Kind::name)
      out->kind = Node::Kind::axis, out->axis = axis();
    else
      refuse(token_.at,
             token_.kind == Token::Kind::end
                 ? "something is missing at its end"
                 : fmt::format("'{}' is not expected here", shown(token_.text, 40)),
             "an axis, a number or a 'word' is");
    next();
    return out;
  }
  std::size_t axis() const {
    const auto found = std::ranges::find(axes_, token_.text);
    if (found != axes_.end()) return static_cast<std::size_t>(found - axes_.begin());
    const std::string near = nearest_name(token_.text.substr(0, 200), axes_);
    refuse(token_.at, fmt::format("no axis is called '{}'", shown(token_.text, 60)),
           near.empty() ? fmt::format("a word stands in quotation marks: '{}'", shown(token_.text, 60))
                        : fmt::format("did you mean '{}'?", near));
  }

  const std::string& text_;
  const std::vector<std::string>& axes_;
  const SourcePos& pos_;
  Token token_;
  std::size_t at_ = 0;
};

struct Value {
  std::optional<double> number;
  std::string text;  // if it is a word
};

class Evaluation {
 public:
  Evaluation(const std::string& text, std::span<const std::string> values) : text_(text), values_(values) {}

  bool truth(const Node& n) const {
    if (n.kind == Node::Kind::not_) return !truth(*n.a);
    if (n.kind == Node::Kind::binary && n.text == "and") return truth(*n.a) && truth(*n.b);
    if (n.kind == Node::Kind::binary && n.text == "or") return truth(*n.a) || truth(*n.b);
    if (n.kind == Node::Kind::binary && std::string_view("<=>=!==").find(n.text) != std::string_view::npos)
      return compared(n.text, value(*n.a), value(*n.b));
    const Value v = value(n);
    return v.number ? *v.number != 0 : v.text == "true" || v.text == "on" || v.text == "yes";
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ExitCode::bad_input, "sweep-constraint",
                fmt::format("constraint \"{}\": {}", shown(text_, 100), what),
                "words can be compared; numbers can be computed with, too");
  }
  static bool compared(const std::string& sign, const Value& a, const Value& b) {
    const auto by = [&](const auto& x, const auto& y) {
      if (sign == "==") return x == y;
      if (sign == "!=") return x != y;
      if (sign == "<") return x < y;
      if (sign == "<=") return x <= y;
      if (sign == ">") return x > y;
      return x >= y;
    };
    if (a.number && b.number) return by(*a.number, *b.number);
    const auto text = [](const Value& v) { return v.number ? fmt::format("{:.12g}", *v.number) : v.text; };
    return by(text(a), text(b));
  }
  double number(const Node& n) const {
    const Value v = value(n);
    if (!v.number) refuse(fmt::format("'{}' is no number", shown(v.text, 60)));
    return *v.number;
  }
  Value value(const Node& n) const {
    switch (n.kind) {
      case Node::Kind::number: return {n.number, ""};
      case Node::Kind::text: return {std::nullopt, n.text};
      case Node::Kind::axis: return {number_of(values_[n.axis]), values_[n.axis]};
      case Node::Kind::negate: return {-number(*n.a), ""};
      case Node::Kind::not_: return {truth(n) ? 1.0 : 0.0, ""};
      case Node::Kind::binary: break;
    }
    if (n.text.size() > 1 || n.text == "<" || n.text == ">") return {truth(n) ? 1.0 : 0.0, ""};
    const double a = number(*n.a), b = number(*n.b);
    if (n.text == "+") return {a + b, ""};
    if (n.text == "-") return {a - b, ""};
    if (n.text == "*") return {a * b, ""};
    if (b == 0) refuse("a division by 0");
    return {n.text == "/" ? a / b : std::fmod(a, b), ""};
  }

  const std::string& text_;
  std::span<const std::string> values_;
};

}  // namespace

Constraint::Constraint(std::string text, const std::vector<std::string>& axes, const SourcePos& pos)
    : text_(std::move(text)), root_(Parser(text_, axes, pos).run()) {}
Constraint::~Constraint() = default;
Constraint::Constraint(Constraint&&) noexcept = default;
Constraint& Constraint::operator=(Constraint&&) noexcept = default;

bool Constraint::holds(std::span<const std::string> values) const {
  return Evaluation(text_, values).truth(*root_);
}

}  // namespace simtlab::studies::sweep
