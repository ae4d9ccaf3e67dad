// Fits opcode texts to the table of opcodes.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/error.h"
#include "ptx/machine_ops.h"
#include "ptx/opcode_forms.h"
#include "ptx/opcodes.h"

namespace simtlab::ptx {
namespace {

struct Chosen {
  const Group* group;
  std::string_view word;
};

bool has_word(const Group& g, std::string_view word) {
  return std::find(g.words.begin(), g.words.end(), word) != g.words.end();
}

bool match_ordered(const std::vector<Group>& groups, std::size_t g, const Words& words, std::size_t w,
                   std::vector<Chosen>& chosen) {
  if (g == groups.size()) return w == words.size();
  const Group& group = groups[g];
  if (group.rest) return true;
  if (w < words.size() && has_word(group, words[w])) {
    chosen.push_back({&group, words[w]});
    if (match_ordered(groups, group.repeats ? g : g + 1, words, w + 1, chosen)) return true;
    chosen.pop_back();
  }
  return group.optional && match_ordered(groups, g + 1, words, w, chosen);
}

// Compilers, headers and people write modifiers in several orders, and assemblers take them:
// 'atom.add.release.gpu.u32', 'vote.ballot.sync.b32'. What belongs to the instruction's name stays in front,
// and types keep their order.
class AnyOrder {
 public:
  AnyOrder(const std::vector<Group>& groups, const Words& words)
      : groups_(groups), words_(words), used_(groups.size(), false) {}

  // Chosen words stand in the order of their groups, as if they had been written so.
  bool match(std::vector<Chosen>& chosen) {
    if (!place(0)) return false;
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (std::size_t w = 0; w < words_.size(); ++w)
        if (places_[w] == g) chosen.push_back({&groups_[g], words_[w]});
    return true;
  }

 private:
  bool place(std::size_t w) {
    if (w == words_.size()) return complete(groups_.size(), false);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if ((used_[g] && !groups_[g].repeats) || !has_word(groups_[g], words_[w]) || !may_follow(g)) continue;
      const bool before = used_[g];
      used_[g] = true;
      places_.push_back(g);
      if (place(w + 1)) return true;
      places_.pop_back();
      used_[g] = before;
    }
    return false;
  }

  // Whether a word of group g may stand behind those that have their places.
  bool may_follow(std::size_t g) const {
    if (!complete(g, true)) return false;  // the name comes first
    for (std::size_t other = g + 1; other < groups_.size(); ++other)
      if (used_[other] && (groups_[g].named || (groups_[g].types && groups_[other].types))) return false;
    for (std::size_t other = 0; other < g; ++other)
      if (groups_[g].types && groups_[other].types && !groups_[other].optional && !used_[other]) return false;
    return true;
  }

  // Whether what must be there of the groups before `end` is there; of all groups, or of those of the name.
  bool complete(std::size_t end, bool of_the_name) const {
    for (std::size_t g = 0; g < end; ++g)
      if (!used_[g] && !groups_[g].optional && (groups_[g].named || !of_the_name)) return false;
    return true;
  }

  const std::vector<Group>& groups_;
  const Words& words_;
  std::vector<bool> used_;
  std::vector<std::size_t> places_;  // of the words, in their order
};

enum class Order : std::uint8_t { as_listed, any, rest };

// The first form that takes the words: in the order of the table, else in any order, else as one that takes
// whatever follows.
const Compiled* choose_form(const std::vector<Compiled>& forms, const Words& words,
                            std::vector<Chosen>& chosen) {
  for (const Order order : {Order::as_listed, Order::any, Order::rest})
    for (const Compiled& c : forms) {
      const bool takes_rest = !c.groups.empty() && c.groups.back().rest;
      chosen.clear();
      if (takes_rest != (order == Order::rest)) continue;
      if (order == Order::any ? AnyOrder(c.groups, words).match(chosen)
                              : match_ordered(c.groups, 0, words, 0, chosen))
        return &c;
    }
  return nullptr;
}

template <class E>
struct Named {
  std::string_view word;
  E value;
};
template <class E, std::size_t N>
bool set_from(E& out, const Named<E> (&table)[N], std::string_view word) {
  for (const Named<E>& entry : table)
    if (entry.word == word) {
      out = entry.value;
      return true;
    }
  return false;
}

constexpr Named<Rounding> roundings[] = {
    {"rn", Rounding::rn},   {"rz", Rounding::rz},   {"rm", Rounding::rm},
    {"rp", Rounding::rp},   {"rna", Rounding::rna}, {"rni", Rounding::rni},
    {"rzi", Rounding::rzi}, {"rmi", Rounding::rmi}, {"rpi", Rounding::rpi}};
constexpr Named<Compare> compares[] = {{"eq", Compare::eq},   {"ne", Compare::ne},   {"lt", Compare::lt},
                                       {"le", Compare::le},   {"gt", Compare::gt},   {"ge", Compare::ge},
                                       {"lo", Compare::lo},   {"ls", Compare::ls},   {"hi", Compare::hi},
                                       {"hs", Compare::hs},   {"equ", Compare::equ}, {"neu", Compare::neu},
                                       {"ltu", Compare::ltu}, {"leu", Compare::leu}, {"gtu", Compare::gtu},
                                       {"geu", Compare::geu}, {"num", Compare::num}, {"nan", Compare::nan}};
constexpr Named<BoolOp> bools[] = {{"and", BoolOp::and_}, {"or", BoolOp::or_}, {"xor", BoolOp::xor_}};
constexpr Named<MulMode> muls[] = {{"lo", MulMode::lo}, {"hi", MulMode::hi}, {"wide", MulMode::wide}};
constexpr Named<AtomOp> atoms[] = {{"add", AtomOp::add}, {"min", AtomOp::min},  {"max", AtomOp::max},
                                   {"inc", AtomOp::inc}, {"dec", AtomOp::dec},  {"and", AtomOp::and_},
                                   {"or", AtomOp::or_},  {"xor", AtomOp::xor_}, {"exch", AtomOp::exch},
                                   {"cas", AtomOp::cas}};
constexpr Named<ShflMode> shuffles[] = {
    {"up", ShflMode::up}, {"down", ShflMode::down}, {"bfly", ShflMode::bfly}, {"idx", ShflMode::idx}};
constexpr Named<VoteMode> votes[] = {
    {"all", VoteMode::all}, {"any", VoteMode::any}, {"uni", VoteMode::uni}, {"ballot", VoteMode::ballot}};
constexpr Named<CacheOp> caches[] = {{"ca", CacheOp::ca}, {"cg", CacheOp::cg}, {"cs", CacheOp::cs},
                                     {"lu", CacheOp::lu}, {"cv", CacheOp::cv}, {"wb", CacheOp::wb},
                                     {"wt", CacheOp::wt}, {"nc", CacheOp::nc}};
constexpr Named<Scope> scopes[] = {{"cta", Scope::cta},
                                   {"cluster", Scope::cluster},
                                   {"gpu", Scope::gpu},
                                   {"gl", Scope::gpu},
                                   {"sys", Scope::sys}};
constexpr Named<MemOrder> orders[] = {{"weak", MemOrder::weak},       {"volatile", MemOrder::volatile_},
                                      {"relaxed", MemOrder::relaxed}, {"acquire", MemOrder::acquire},
                                      {"release", MemOrder::release}, {"acq_rel", MemOrder::acq_rel},
                                      {"sc", MemOrder::sc},           {"mmio", MemOrder::mmio}};
constexpr Named<Space> spaces[] = {{"global", Space::global},
                                   {"shared", Space::shared},
                                   {"local", Space::local},
                                   {"param", Space::param},
                                   {"const", Space::constant},
                                   {"shared::cta", Space::shared},
                                   {"shared::cluster", Space::shared},
                                   {"param::entry", Space::param},
                                   {"param::func", Space::param}};
constexpr Named<PrmtMode> prmts[] = {{"f4e", PrmtMode::f4e}, {"b4e", PrmtMode::b4e},
                                     {"rc8", PrmtMode::rc8}, {"ecl", PrmtMode::ecl},
                                     {"ecr", PrmtMode::ecr}, {"rc16", PrmtMode::rc16}};
constexpr Named<Geometry> geometries[] = {{"1d", Geometry::d1},
                                          {"2d", Geometry::d2},
                                          {"3d", Geometry::d3},
                                          {"a1d", Geometry::a1d},
                                          {"a2d", Geometry::a2d}};
constexpr Named<bool Mods::*> flags[] = {
    {"ftz", &Mods::ftz},         {"sat", &Mods::sat},         {"approx", &Mods::approx},
    {"full", &Mods::full},       {"relu", &Mods::relu},       {"NaN", &Mods::nan},
    {"xorsign", &Mods::xorsign}, {"abs", &Mods::abs},         {"uni", &Mods::uni},
    {"to", &Mods::to},           {"cc", &Mods::cc_out},       {"shiftamt", &Mods::shift_amount},
    {"wrap", &Mods::wrap},       {"aligned", &Mods::aligned}, {"wait_all", &Mods::wait_all}};
constexpr Named<std::uint8_t> tests[] = {{"finite", 0},     {"infinite", 1}, {"number", 2},
                                         {"notanumber", 3}, {"normal", 4},   {"subnormal", 5}};
constexpr Named<std::uint8_t> vectors[] = {{"v2", 2}, {"v4", 4}, {"v8", 8}};

// .nc may stand beside a cache operator; it is what matters to a model of the caches.
void set_cache(Mods& mods, std::string_view word) {
  if (mods.cache != CacheOp::nc) set_from(mods.cache, caches, word);
}

void set_bar(Mods& mods, std::string_view word) {
  if (word == "sync")
    mods.bar = BarMode::sync;
  else if (word == "arrive")
    mods.bar = BarMode::arrive;
  else if (word == "wait")
    mods.bar = BarMode::sync;
  else if (word == "popc")
    mods.bar = BarMode::red_popc;
  else if (word == "and")
    mods.bar = BarMode::red_and;
  else if (word == "or")
    mods.bar = BarMode::red_or;
  else if (word == "aligned")
    mods.aligned = true;
}

bool is_video(Op op) { return op >= Op::vadd && op <= Op::vset4; }

void apply_video(Mods& mods, std::string_view word) {
  if (word == "sat")
    mods.sat = true;
  else if (word == "wrap")
    mods.wrap = true;
  else if (word == "add")
    mods.atom = AtomOp::add;
  else if (word == "min")
    mods.atom = AtomOp::min;
  else if (word == "max")
    mods.atom = AtomOp::max;
  else if (word == "shr7")
    mods.src_type_hi |= 2;
  else if (word == "shr15")
    mods.src_type_hi |= 4;
  else if (word == "po")
    mods.src_type_hi |= 64;
}

// A word whose meaning depends on the operation.
bool apply_by_op(Match& m, std::string_view word) {
  Mods& mods = m.mods;
  switch (m.op) {
    case Op::barrier_cluster: set_from(mods.order, orders, word); [[fallthrough]];
    case Op::bar: set_bar(mods, word); return true;
    case Op::shfl: return set_from(mods.shfl, shuffles, word);
    case Op::vote: return set_from(mods.vote, votes, word);
    case Op::match: mods.all = mods.all || word == "all"; return true;
    case Op::redux: return set_from(mods.atom, atoms, word);
    case Op::prmt: return set_from(mods.prmt, prmts, word);
    case Op::tex: return set_from(mods.geometry, geometries, word) || set_from(mods.vector, vectors, word);
    case Op::lop3: return set_from(mods.bool_op, bools, word);
    case Op::shf:
      if (word == "l") mods.left = true;
      break;
    case Op::cp_async:
      if (word == "ca" || word == "cg") {
        set_cache(mods, word);
        return true;
      }
      break;
    case Op::dp2a:
      if (word == "hi") mods.src_type_hi = 1;
      break;
    case Op::membar:
    case Op::fence:
      if (word == "async") mods.video = fence_of_proxies;
      if (word == "proxy" || word == "mbarrier_init") mods.scope = Scope::sys;
      if (word == "sc" || word == "acquire" || word == "release" || word == "acq_rel")
        return set_from(mods.order, orders, word);
      return set_from(mods.scope, scopes, word);
    case Op::testp: return set_from(mods.testp, tests, word);
    default: break;
  }
  return false;
}

void apply_word(Match& m, const Group& group, std::string_view word, unsigned& types) {
  Mods& mods = m.mods;
  if (group.types) {
    const Type type = type_of(word);
    if (types == 0)
      m.type = type;
    else if (types == 1)
      m.stype = type;
    else if (is_signed(type))
      mods.src_type_hi |= 1;  // third type: b of video instructions
    ++types;
    return;
  }
  if (group.macro.starts_with("CMP")) return void(set_from(mods.compare, compares, word));
  if (group.macro == "BOOL") return void(set_from(mods.bool_op, bools, word));
  if (group.macro == "OP") return void(set_from(mods.atom, atoms, word));
  if (group.macro.ends_with("ORDER")) return void(set_from(mods.order, orders, word));
  if (group.macro == "SCOPE" || group.macro == "BSCOPE" || group.macro == "CTASCOPE")
    return void(set_from(mods.scope, scopes, word));
  if (group.macro.ends_with("SPACE") || group.macro == "CVTA")
    return void(set_from(mods.space, spaces, word));
  if (group.macro.ends_with("CACHE")) return set_cache(mods, word);
  if (group.macro == "VECTOR") return void(set_from(mods.vector, vectors, word));
  if (group.macro == "HINTS" || group.macro == "EVICT" || word == "L2::cache_hint") {
    m.cache_policy = m.cache_policy || word == "L2::cache_hint";
    return;
  }
  if (is_video(m.op)) return apply_video(mods, word);
  if (apply_by_op(m, word)) return;
  if (set_from(mods.rounding, roundings, word) || set_from(mods.mul, muls, word)) return;
  if (m.op == Op::prefetch || m.op == Op::isspacep || m.op == Op::ldu || m.op == Op::cp_async)
    set_from(mods.space, spaces, word);
  if (m.op == Op::ldu || m.op == Op::st) set_from(mods.vector, vectors, word);
  bool Mods::*flag = nullptr;
  if (set_from(flag, flags, word)) mods.*flag = true;
}

OpClass float_class(Type type, OpClass f32, OpClass f64) { return size_of(type) == 8 ? f64 : f32; }

Type unsigned_of(Type type) {
  switch (type) {
    case Type::b16: return Type::u16;
    case Type::b32: return Type::u32;
    case Type::b64: return Type::u64;
    default: return type;
  }
}

Match make_match(const Compiled& c, const std::vector<Chosen>& chosen) {
  Match m;
  m.form = c.form;
  m.op = c.form->op;
  m.operands = &c.operands;
  if (c.form->operands.starts_with('<')) m.family = c.form->operands.substr(1, c.form->operands.size() - 2);
  unsigned types = 0;
  for (const Chosen& choice : chosen) apply_word(m, *choice.group, choice.word, types);
  // Equality of bits is equality of unsigned numbers: one kind of comparison less for the executor.
  if (m.op == Op::setp) m.type = unsigned_of(m.type);
  if (m.op == Op::set) m.stype = unsigned_of(m.stype);
  m.mods.cc_in = m.op == Op::addc || m.op == Op::subc || m.op == Op::madc;
  if (m.op == Op::bar) m.mods.aligned = m.mods.aligned || c.form->base == "bar";
  if (m.op == Op::prefetch || m.op == Op::prefetchu) m.type = Type::b8;
  m.op_class = class_of(c.form->rule, m.type, m.stype, m.mods);
  if (m.op == Op::set) m.op_class = class_of(c.form->rule, m.stype, m.stype, m.mods);
  return m;
}

std::string modifier_problem(const std::vector<Compiled>& forms, const Words& words) {
  for (const std::string_view word : words) {
    bool known = false;
    for (const Compiled& c : forms)
      for (const Group& g : c.groups) known = known || has_word(g, word);
    if (!known)
      return fmt::format("'.{}' is not a modifier that simtlab knows for this instruction",
                         word.substr(0, 64));
  }
  return "simtlab does not know this combination of modifiers";
}

}  // namespace

const std::vector<FormGroup>& groups_of(const Form& form) {
  for (const Compiled& c : compiled_forms().at(form.base))
    if (c.form == &form) return c.groups;
  SIMTLAB_ASSERT(false, "groups_of takes an element of the table");
}

OpClass class_of(FormClass of, Type type, Type stype, const Mods& mods) {
  switch (of.rule) {
    case ClassRule::fixed: return of.fixed;
    case ClassRule::by_type:
      if (!is_float(type)) return OpClass::int_alu;
      if (type == Type::f64) return OpClass::fp64;
      return type == Type::f32 ? OpClass::fp32 : OpClass::fp16;
    case ClassRule::float_div:
      if (mods.approx || mods.full) return OpClass::sfu;
      return float_class(type, OpClass::fp32_div, OpClass::fp64_div);
    case ClassRule::float_sqrt:
      if (mods.approx && type != Type::f64) return OpClass::sfu;
      return float_class(type, OpClass::fp32_sqrt, OpClass::fp64_sqrt);
    case ClassRule::convert:
      return size_of(type) == 8 || size_of(stype) == 8 ? OpClass::convert64 : OpClass::convert;
    case ClassRule::load:
      if (mods.space == Space::shared) return OpClass::shared;
      return mods.space == Space::constant || mods.space == Space::param ? OpClass::constant : OpClass::load;
    case ClassRule::store: return mods.space == Space::shared ? OpClass::shared : OpClass::store;
    case ClassRule::atomic: return mods.space == Space::shared ? OpClass::shared_atomic : OpClass::atomic;
  }
  return of.fixed;
}

const OpcodeMatcher::Result& OpcodeMatcher::find(std::string_view opcode) {
  const auto [it, fresh] = seen_.try_emplace(opcode);
  Result& result = it->second;
  if (!fresh) return result;
  Words words = split(opcode, '.');
  const std::string_view base = words.front();
  words.erase(words.begin());
  const std::string shown(opcode.substr(0, 80));
  const auto found = compiled_forms().find(base);
  if (found == compiled_forms().end()) {
    std::vector<std::string> known;
    for (const auto& [name, forms] : compiled_forms()) known.emplace_back(name);
    const std::string nearest = base.size() <= 32 ? nearest_name(std::string(base), known) : std::string{};
    result.problem = fmt::format("unknown instruction '{}'", shown);
    if (!nearest.empty())
      result.hint = fmt::format("did you mean '{}'? 'simtlab list ptx' shows what is supported", nearest);
    else
      result.hint = "'simtlab list ptx' shows what is supported";
    return result;
  }
  std::vector<Chosen> chosen;
  if (const Compiled* const c = words.size() <= 24 ? choose_form(found->second, words, chosen) : nullptr) {
    if (c->form->refused) {
      result.problem = fmt::format("instruction '{}' is not supported", shown);
      result.hint = std::string(c->form->note);
    } else {
      result.match = make_match(*c, chosen);
    }
    return result;
  }
  result.problem = fmt::format("instruction '{}' is not supported", shown);
  result.hint = modifier_problem(found->second, words) + "; 'simtlab list ptx' shows what is supported";
  return result;
}

}  // namespace simtlab::ptx
