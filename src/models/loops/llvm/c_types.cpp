#include "c_types.h"

#include <fmt/format.h>
#include <llvm/BinaryFormat/Dwarf.h>

namespace simtlab::models::loops {
namespace {

std::string declare(const llvm::DIType* type, const std::string& name);

bool is_array(const llvm::DIType* type) {
  return type != nullptr && type->getTag() == llvm::dwarf::DW_TAG_array_type;
}

std::string named(llvm::StringRef type, const std::string& name) {
  return fmt::format("{} {}", type.str(), name);
}

// "[4][8]", from the dimension `first` on; nothing where an extent is no constant.
bool extents(const llvm::DICompositeType& array, unsigned first, std::string& out) {
  unsigned n = 0;
  for (const llvm::DINode* e : array.getElements()) {
    const auto* range = llvm::dyn_cast<llvm::DISubrange>(e);
    if (range == nullptr) return false;
    if (n++ < first) continue;
    const auto* count = llvm::dyn_cast_if_present<llvm::ConstantInt*>(range->getCount());
    if (count == nullptr || count->getSExtValue() < 0) return false;
    out += fmt::format("[{}]", count->getSExtValue());
  }
  return n > 0;
}

std::string declare_derived(const llvm::DIDerivedType& t, const std::string& name) {
  const llvm::DIType* base = t.getBaseType();
  switch (t.getTag()) {
    case llvm::dwarf::DW_TAG_typedef: return named(t.getName(), name);
    case llvm::dwarf::DW_TAG_const_type: {
      if (base != nullptr && base->getTag() == llvm::dwarf::DW_TAG_pointer_type) return declare(base, name);
      const std::string inner = declare(base, name);
      return inner.empty() ? inner : "const " + inner;
    }
    case llvm::dwarf::DW_TAG_volatile_type:
    case llvm::dwarf::DW_TAG_restrict_type: return declare(base, name);
    case llvm::dwarf::DW_TAG_pointer_type:
      return declare(base, is_array(base) ? fmt::format("(*{})", name) : "*" + name);
    default: return {};
  }
}

std::string declare(const llvm::DIType* type, const std::string& name) {
  if (type == nullptr) return named("void", name);
  if (const auto* basic = llvm::dyn_cast<llvm::DIBasicType>(type)) return named(basic->getName(), name);
  if (const auto* derived = llvm::dyn_cast<llvm::DIDerivedType>(type)) return declare_derived(*derived, name);
  const auto* composite = llvm::dyn_cast<llvm::DICompositeType>(type);
  if (composite == nullptr) return {};
  if (is_array(composite)) {
    std::string all;
    return extents(*composite, 0, all) ? declare(composite->getBaseType(), name + all) : std::string();
  }
  if (composite->getTag() == llvm::dwarf::DW_TAG_enumeration_type) return named("int", name);
  if (composite->getName().empty()) return {};
  if (composite->getTag() == llvm::dwarf::DW_TAG_structure_type)
    return named("struct " + composite->getName().str(), name);
  if (composite->getTag() == llvm::dwarf::DW_TAG_union_type)
    return named("union " + composite->getName().str(), name);
  return {};
}

}  // namespace

std::string c_type(const llvm::DIType* type) { return declare(type, "@"); }

std::string c_pointer_to(const llvm::DIType* type) {
  if (const auto* array = llvm::dyn_cast_or_null<llvm::DICompositeType>(type);
      array != nullptr && is_array(array)) {
    std::string rest;
    if (!extents(*array, 1, rest)) return {};
    return declare(array->getBaseType(), rest.empty() ? "*@" : fmt::format("(*@){}", rest));
  }
  return declare(type, "*@");
}

}  // namespace simtlab::models::loops
