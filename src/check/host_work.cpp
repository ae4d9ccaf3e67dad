#include "check/host_work.h"

#include <fmt/format.h>

#include <array>

namespace simtlab::check {
namespace {

constexpr const char* names[] = {"copy to the device", "copy to the host", "copy within the device",
                                 "memset"};
// One function for each kind, with an instruction that reads and one that writes words, and the same for
// bytes.
enum : std::uint32_t { read_words, write_words, read_bytes, write_bytes };

std::shared_ptr<const ptx::Module> make_module() {
  auto out = std::make_shared<ptx::Module>();
  for (const char* name : names) {
    ptx::Function& f = out->functions.emplace_back();
    f.name = name;
    f.is_entry = true;
    for (const ptx::Type type : {ptx::Type::b64, ptx::Type::b8})
      for (const ptx::Op op : {ptx::Op::ld, ptx::Op::st}) {
        ptx::Inst& inst = f.code.emplace_back();
        inst.op = op;
        inst.type = type;
        inst.mods.vector = 1;
        inst.mods.space = ptx::Space::global;
      }
  }
  return out;
}

const std::shared_ptr<const ptx::Module>& module() {
  static const std::shared_ptr<const ptx::Module> made = make_module();
  return made;
}

// What the copy is in conflict with is a kernel or another copy.
class Sink final : public RaceSink {
 public:
  explicit Sink(Checker& checker) : checker_(checker), before_(checker.sink()) { checker_.sink() = this; }
  ~Sink() override { checker_.sink() = before_; }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  void race(const Race& r) override {
    if (r.launch == r.other_launch) return;  // the two ranges of a copy overlap
    const Site &mine = checker_.sites().at(r.site), &other = checker_.sites().at(r.other_site);
    CheckedFunction& f = checker_.function(module(), *mine.function);
    CheckedFunction& g = checker_.function(checker_.launch(r.other_launch).module, *other.function);
    result::Finding* const found = checker_.findings().add("race.stream", {&g, other.pc}, {&f, mine.pc});
    if (found == nullptr) return;
    found->message =
        fmt::format("a {} uses memory that a {} of another stream {}, and nothing orders the two",
                    names[mine.function - module()->functions.data()],
                    is_host_work(*g.module) ? "copy" : "kernel", r.other_writes ? "writes" : "reads");
    found->accesses.push_back(checker_.access_of(g, other.pc, r.other_launch, r.other_block, r.other_thread,
                                                 r.other_writes ? "write" : "read"));
    found->accesses.push_back(checker_.access_of(f, mine.pc, r.launch, 0, 0, r.writes ? "write" : "read"));
    found->memory = global_place(checker_.memory(), r.address, 1);
    add_missing_stream_order(*found);
  }

 private:
  Checker& checker_;
  RaceSink* before_;
};

class Accesses {
 public:
  Accesses(Checker& checker, Races::Block& block, CheckedFunction& function)
      : checker_(checker), block_(block), function_(function) {}

  void range(const HostWork::Range& r, bool writes) {
    constexpr std::uint64_t word = 8;
    std::uint64_t at = r.address, end = r.address + r.bytes;
    const std::uint64_t first = std::min(end, (at + word - 1) / word * word),
                        last = std::max(first, end / word * word);
    pieces(at, first, 1, writes ? write_bytes : read_bytes);
    pieces(first, last, word, writes ? write_words : read_words);
    pieces(last, end, 1, writes ? write_bytes : read_bytes);
  }

 private:
  // 32 at a time, as a warp would.
  void pieces(std::uint64_t at, std::uint64_t end, unsigned bytes, std::uint32_t pc) {
    if (at == end) return;
    const std::uint32_t site = checker_.site(function_, pc, SiteKind::usual);
    if (site == 0) return;
    std::array<std::uint64_t, 32> addresses{};
    while (at != end) {
      const auto lanes = static_cast<unsigned>(std::min<std::uint64_t>(addresses.size(), (end - at) / bytes));
      for (unsigned lane = 0; lane < lanes; ++lane) addresses[lane] = at + std::uint64_t{lane} * bytes;
      const std::uint32_t mask = lanes == 32 ? ~0u : (1u << lanes) - 1;
      checker_.races().access(block_, {0, mask, site, ptx::Space::global, addresses.data(), bytes});
      at += std::uint64_t{lanes} * bytes;
    }
  }

  Checker& checker_;
  Races::Block& block_;
  CheckedFunction& function_;
};

}  // namespace

void add_missing_stream_order(result::Finding& found) {
  found.missing = "the two are in streams that nothing orders";
  found.hint = "one stream, an event that the second stream waits for, or cudaDeviceSynchronize()";
}

bool is_host_work(const ptx::Module& m) { return &m == module().get(); }

void watch_host_work(Checker& checker, const HostWork& work) {
  if (!checker.options().races || !checker.streams().several() || !checker.shadow().has_cells()) return;
  const ptx::Function& function = module()->functions[static_cast<std::size_t>(work.kind)];
  const std::uint32_t id =
      checker.begin_launch({0, function.name, {1, 1, 1}, {32, 1, 1}, &function, module(), work.submitted});
  const Sink sink(checker);
  Races::Block block;
  checker.races().begin_block(block, id, 0, 1, 32, 0, true);
  CheckedFunction& f = checker.function(module(), function);
  Accesses accesses(checker, block, f);
  for (const std::vector<HostWork::Range>* const ranges : {&work.reads, &work.writes})
    for (const HostWork::Range& r : *ranges)
      if (OrderedMemory::Allocation* const there = checker.ordered().find(r.address))
        checker.uses_ordered(*there, {&f, ranges == &work.reads ? read_words : write_words}, id, 0, 0,
                             r.address, ranges == &work.reads ? "read" : "write");
  for (const HostWork::Range& r : work.reads) accesses.range(r, false);
  for (const HostWork::Range& r : work.writes) accesses.range(r, true);
  checker.end_launch();
}

}  // namespace simtlab::check
