#include "studies/check/xml.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/error.h"

namespace simtlab::studies {
namespace {

constexpr std::size_t deepest = 64;

class XmlReader {
 public:
  XmlReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  XmlElement read() {
    skip_between();
    if (!starts("<")) fail("an element is expected");
    XmlElement root = element(0);
    skip_between();
    if (at_ < text_.size()) fail("there is more behind the root element");
    return root;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    const auto line = 1 + std::ranges::count(text_.substr(0, std::min(at_, text_.size())), '\n');
    throw Error(ExitCode::bad_input, "check-suppression",
                Diagnostic{std::string("no XML that could be read: ") + what,
                           {file_, static_cast<std::uint32_t>(line), 0},
                           {},
                           "a file that compute-sanitizer wrote with --xml --save, or TOML "
                           "(docs/guide/check.md)"});
  }
  bool starts(std::string_view with) const { return text_.substr(at_).starts_with(with); }
  void skip_to(std::string_view end, const char* what) {
    const std::size_t found = text_.find(end, at_);
    if (found == std::string_view::npos) fail(what);
    at_ = found + end.size();
  }
  // A comment, a declaration or an instruction; false: there is none.
  bool skip_aside() {
    if (starts("<!--"))
      skip_to("-->", "a comment does not end");
    else if (starts("<?"))
      skip_to("?>", "an instruction does not end");
    else if (starts("<!DOCTYPE"))
      fail("a document type is not taken");
    else
      return false;
    return true;
  }
  void skip_between() {
    do
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    while (skip_aside());
  }
  std::string name() {
    const std::size_t from = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  std::string_view("_-.:").find(text_[at_]) != std::string_view::npos))
      ++at_;
    if (at_ == from) fail("a name is expected");
    return std::string(text_.substr(from, at_ - from));
  }
  // Behind the name of an element; true: it is empty ("/>").
  bool end_of_tag() {
    while (at_ < text_.size() && text_[at_] != '>' && !starts("/>")) {
      const char c = text_[at_++];
      if (c == '"' || c == '\'') skip_to(std::string_view(&c, 1), "an attribute does not end");
    }
    if (at_ >= text_.size()) fail("a tag does not end");
    const bool empty = text_[at_] == '/';
    at_ += empty ? 2 : 1;
    return empty;
  }

  XmlElement element(std::size_t depth) {
    if (depth == deepest) fail("it nests too deep");
    XmlElement out;
    out.line =
        static_cast<std::uint32_t>(1 + std::ranges::count(text_.substr(counted_, at_ - counted_), '\n')) +
        lines_;
    lines_ = out.line - 1;
    counted_ = at_;
    ++at_;
    out.name = name();
    if (end_of_tag()) return out;
    for (;;) {
      if (at_ >= text_.size()) fail("an element does not end");
      if (starts("<![CDATA[")) {
        const std::size_t from = at_ + 9;
        skip_to("]]>", "CDATA does not end");
        out.text += text_.substr(from, at_ - 3 - from);
      } else if (starts("</")) {
        at_ += 2;
        if (name() != out.name) fail("an end tag that belongs to another element");
        if (end_of_tag()) fail("an end tag is expected");
        break;
      } else if (skip_aside()) {
      } else if (starts("<")) {
        out.children.push_back(element(depth + 1));
      } else if (starts("&")) {
        out.text += entity();
      } else {
        out.text += text_[at_++];
      }
    }
    out.text.erase(0, std::min(out.text.find_first_not_of(" \t\r\n"), out.text.size()));
    out.text.erase(out.text.find_last_not_of(" \t\r\n") + 1);
    return out;
  }

  std::string entity() {
    static constexpr std::pair<std::string_view, char> known[] = {
        {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (const auto& [name, c] : known)
      if (starts(name)) {
        at_ += name.size();
        return std::string(1, c);
      }
    if (!starts("&#")) fail("an entity that nobody declared");
    skip_to(";", "a character reference does not end");
    return "?";  // nothing that is compared has one
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0, counted_ = 0;
  std::uint32_t lines_ = 0;  // before counted_
};

}  // namespace

const XmlElement* XmlElement::child(std::string_view wanted) const {
  const auto found = std::ranges::find(children, wanted, &XmlElement::name);
  return found == children.end() ? nullptr : &*found;
}

std::string XmlElement::text_of(std::string_view wanted) const {
  const XmlElement* found = child(wanted);
  return found == nullptr ? std::string() : found->text;
}

XmlElement parse_xml(std::string_view text, const std::string& file) { return XmlReader(text, file).read(); }

}  // namespace simtlab::studies
