#include "corun/host.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

#include "base/error.h"

namespace simtlab::corun {
namespace {

struct Process {
  const Workload* workload = nullptr;
  std::vector<KernelId> kernels;    // of the sequence
  std::vector<std::size_t> shares;  // the same: places in ApplicationResult::kernels
  std::uint64_t next = 0;           // launch
  Sequence sequence = 0;            // of the launch that runs
  Time began = 0;
  std::vector<Copy> copies;   // that it has yet to make, the next one last
  std::size_t record = none;  // of its launch, in MixResult::launches
  static constexpr std::size_t none = ~std::size_t{0};
  std::size_t step() const { return next % kernels.size(); }
};

struct Arrival {
  Time at = 0;
  std::size_t process = 0;
  bool operator>(const Arrival& other) const {
    return at != other.at ? at > other.at : process > other.process;
  }
};

class Host {
 public:
  Host(std::span<const Workload> mix, const Policy& policy, const HostOptions& options, Machine& machine)
      : options_(options), machine_(machine), scheduler_(policy, options.settings, options.log), mix_(mix) {}

  MixResult run() {
    start();
    std::vector<std::size_t> ended;
    while (unfinished_ > 0) {
      const Time arrives = arrivals_.empty() ? never : arrivals_.top().at;
      SIMTLAB_ASSERT(running_ > 0 || arrives != never,
                     "a policy that leaves the GPU idle while launches wait would never end");
      ended.clear();
      now_ = running_ > 0 ? machine_.advance(now_, arrives, ended) : arrives;
      for (const std::size_t process : ended) end(process);
      arrived();
      decide();
    }
    out_.makespan_ns = static_cast<double>(now_);
    return std::move(out_);
  }

 private:
  void start() {
    for (std::size_t p = 0; p < mix_.size(); ++p) {
      const Workload& w = mix_[p];
      Process process;
      process.workload = &w;
      ApplicationResult r;
      r.name = w.name;
      for (const Workload::Step& step : w.sequence) {
        process.kernels.push_back(
            scheduler_.kernel(0, w.name + "/" + step.kernel, options_.learn ? nullptr : &step.profile));
        const auto at = std::ranges::find(r.kernels, step.kernel, &KernelShare::name);
        process.shares.push_back(static_cast<std::size_t>(at - r.kernels.begin()));
        if (at == r.kernels.end()) r.kernels.emplace_back().name = step.kernel;
      }
      scheduler_.join(0, static_cast<ClientId>(p + 1), w.priority);
      processes_.push_back(std::move(process));
      out_.applications.push_back(std::move(r));
      copies_of(processes_.back(), nullptr, w.sequence.front());
      arrivals_.push({static_cast<Time>(std::llround(w.start_ns)), p});
    }
    unfinished_ = mix_.size();
    arrived();
    decide();
  }

  void end(std::size_t process) {
    Process& p = processes_[process];
    const Workload& w = *p.workload;
    const std::size_t step = p.step();
    const Profile& profile = w.sequence[step].profile;
    const Time took = now_ - p.began;
    if (p.record != Process::none) out_.launches[p.record].ended = now_;
    --running_;
    scheduler_.end(now_, p.sequence, took);
    if (options_.learn && scheduler_.profile(p.kernels[step]) == nullptr)
      scheduler_.kernel(now_, w.name + "/" + w.sequence[step].kernel, &profile);
    ApplicationResult& a = out_.applications[process];
    KernelShare& k = a.kernels[p.shares[step]];
    ++a.launches, ++k.launches;
    a.gpu_ns += static_cast<double>(took), k.gpu_ns += static_cast<double>(took);
    const double alone = profile.time_ns.value_or(0);
    a.solo_ns += alone, k.solo_ns += alone;
    a.alone_ns += alone;
    const bool last = step + 1 == w.sequence.size();
    const bool more = ++p.next < w.launches();
    if (more)
      copies_of(p, last ? &w.after : nullptr, w.sequence[p.step()]);
    else
      p.copies.assign(w.after.rbegin(), w.after.rend());
    if (more) a.alone_ns += w.gap_ns;
    if (!more && p.copies.empty()) return finish(process);
    arrivals_.push({now_ + (more ? static_cast<Time>(std::llround(w.gap_ns)) : 0), process});
  }

  static void copies_of(Process& p, const std::vector<Copy>* after, const Workload::Step& next) {
    p.copies.assign(next.before.rbegin(), next.before.rend());
    if (after != nullptr) p.copies.insert(p.copies.end(), after->rbegin(), after->rend());
  }

  void finish(std::size_t process) {
    out_.applications[process].turnaround_ns =
        static_cast<double>(now_) - processes_[process].workload->start_ns;
    --unfinished_;
    scheduler_.leave(now_, static_cast<ClientId>(process + 1));
  }

  // The process comes back when the copy is done.
  void copy(std::size_t process) {
    Process& p = processes_[process];
    const Copy one = p.copies.back();
    p.copies.pop_back();
    Time& free = engine_free_[one.engine];
    free = std::max(free, now_) + static_cast<Time>(std::llround(one.ns));
    ApplicationResult& a = out_.applications[process];
    a.copied_ns += static_cast<double>(free - now_);
    a.copied_alone_ns += one.ns;
    a.alone_ns += one.ns;
    arrivals_.push({free, process});
  }

  void arrived() {
    while (!arrivals_.empty() && arrivals_.top().at <= now_) {
      const std::size_t process = arrivals_.top().process;
      arrivals_.pop();
      Process& p = processes_[process];
      if (!p.copies.empty()) {
        copy(process);
        continue;
      }
      if (p.next == p.workload->launches()) {
        finish(process);
        continue;
      }
      p.record = out_.launches.size() < options_.launches ? out_.launches.size() : Process::none;
      if (p.record != Process::none) out_.launches.push_back({process, p.shares[p.step()], now_, now_, now_});
      scheduler_.launch(now_, static_cast<ClientId>(process + 1), 0, p.kernels[p.step()]);
    }
  }

  void decide() {
    for (const Grant& g : scheduler_.decide()) {
      const std::size_t process = g.client - 1;
      Process& p = processes_[process];
      p.sequence = g.sequence;
      p.began = now_;
      if (p.record != Process::none) out_.launches[p.record].granted = now_;
      ++running_;
      machine_.begin(process, p.next, now_);
      ApplicationResult& a = out_.applications[process];
      const auto waited = static_cast<double>(g.waited);
      a.waited_ns += waited;
      a.kernels[p.shares[p.step()]].waited_ns += waited;
      a.longest_wait_ns = std::max(a.longest_wait_ns, waited);
    }
    ++out_.decisions;
  }

  const HostOptions& options_;
  Machine& machine_;
  Scheduler scheduler_;
  std::span<const Workload> mix_;
  std::vector<Process> processes_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
  Time now_ = 0;
  std::size_t unfinished_ = 0, running_ = 0;
  std::array<Time, Copy::engines> engine_free_{};  // when each has done all that was asked of it
  MixResult out_;
};

}  // namespace

void Traffic::add(const Traffic& other) {
  l2_bytes += other.l2_bytes;
  dram_bytes += other.dram_bytes;
  l2_reads += other.l2_reads;
  l2_misses += other.l2_misses;
  instructions += other.instructions;
}

MixResult run_mix(std::span<const Workload> mix, const Policy& policy, const HostOptions& options,
                  Machine& machine) {
  return Host(mix, policy, options, machine).run();
}

}  // namespace simtlab::corun
