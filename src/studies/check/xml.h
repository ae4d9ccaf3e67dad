// As much of XML as reports of tools need: elements with text. Attributes, comments, declarations and
// processing instructions are skipped; a document type is refused (entities that expand without bound).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simtlab::studies {

struct XmlElement {
  std::string name, text;  // text: of the element itself, without blanks around it
  std::uint32_t line = 0;
  std::vector<XmlElement> children;

  const XmlElement* child(std::string_view wanted) const;  // the first; null: none
  std::string text_of(std::string_view wanted) const;      // of that child; empty: none
};

// The root. Throws Error(bad_input, "check-suppression") with the line.
XmlElement parse_xml(std::string_view text, const std::string& file);

}  // namespace simtlab::studies
