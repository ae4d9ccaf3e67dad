#include "corun/gate/real.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "corun/gate/gate.h"

namespace simtlab::corun::gate {
namespace {

constinit Hook* first_hook = nullptr;

// No call of the loader's is made with this lock held: the loader's own lock is held while constructors of
// libraries call us.
std::mutex targets_mutex;

struct Targets {
  std::deque<Target> all;
  std::deque<EventApi> apis;
  std::map<const void*, const Target*> by_function;
  std::map<std::pair<const void*, bool>, const EventApi*> by_library;  // its base; whether it is the driver's
};
Targets& targets() {
  static Targets* const out = new Targets;  // programs call us from their exit handlers
  return *out;
}

const link_map* map_of(const void* address) {
  Dl_info info{};
  void* map = nullptr;
  return ::dladdr1(address, &info, &map, RTLD_DL_LINKMAP) != 0 ? static_cast<const link_map*>(map) : nullptr;
}

const void* base_of(const void* address) {
  Dl_info info{};
  return ::dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

bool is_ours(const void* function) {
  static const void* const our_base = base_of(reinterpret_cast<const void*>(&nowhere));
  return base_of(function) == our_base;
}

// A handle of a library that is loaded; null: it is not.
class Loaded {
 public:
  explicit Loaded(const char* name, int more = 0) : handle_(::dlopen(name, RTLD_LAZY | RTLD_NOLOAD | more)) {}
  ~Loaded() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  void* get() const { return handle_; }
  void* function(const char* name) const {
    void* const found = handle_ != nullptr ? look_up(handle_, name) : nullptr;
    return found != nullptr && !is_ours(found) ? found : nullptr;
  }

 private:
  void* handle_;
};

bool is_driver(std::string_view name) { return name.starts_with("cu") && !name.starts_with("cuda"); }

const Target* target_of(void* function, bool driver) {
  {
    const std::lock_guard lock(targets_mutex);
    if (const auto known = targets().by_function.find(function); known != targets().by_function.end())
      return known->second;
  }
  const void* const base = base_of(function);
  const link_map* const map = map_of(function);
  // Its library stays: others may hold our function in its place.
  const Loaded library(map != nullptr && map->l_name[0] != '\0' ? map->l_name : nullptr, RTLD_NODELETE);
  const EventApi events(
      map != nullptr && map->l_name[0] != '\0' && library.get() != nullptr ? library.get() : RTLD_NEXT,
      driver);
  const std::lock_guard lock(targets_mutex);
  Targets& all = targets();
  const EventApi*& api = all.by_library[{base, driver}];
  if (api == nullptr) api = &all.apis.emplace_back(events);
  const Target*& out = all.by_function[function];
  if (out == nullptr) out = &all.all.emplace_back(Target{function, api});
  return out;
}

// Names of what is loaded and looks like CUDA's; wheels of Python have libcudart-1234abcd.so.12.
std::vector<std::string> cuda_libraries() {
  std::vector<std::string> out;
  const auto note = [](dl_phdr_info* info, std::size_t, void* into) {
    const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    if (path.substr(path.rfind('/') + 1).starts_with("libcuda"))
      static_cast<std::vector<std::string>*>(into)->emplace_back(path);
    return 0;
  };
  ::dl_iterate_phdr(note, &out);
  return out;
}

// The last answers: one call after another comes from the same place.
struct Known {
  const Hook* hook;
  const void* caller;
  const Target* target;
};
constexpr std::size_t known_size = 64;
Known& known_place(const Hook* hook, const void* caller) {
  thread_local Known known[known_size];
  const auto hash =
      (reinterpret_cast<std::uintptr_t>(caller) >> 1) ^ (reinterpret_cast<std::uintptr_t>(hook) >> 4);
  return known[(hash ^ (hash >> 7)) % known_size];
}

}  // namespace

std::mutex& targets_lock() { return targets_mutex; }

Hook::Hook(const char* name, void* ours) : name_(name), ours_(ours), next_(first_hook) { first_hook = this; }

Hook* Hook::find(const char* name) {
  for (Hook* hook = first_hook; hook != nullptr; hook = hook->next_)
    if (std::strcmp(hook->name_, name) == 0) return hook;
  return nullptr;
}

void* Hook::around(const void* caller) const {
  const link_map* const map = map_of(caller);
  if (map != nullptr && map->l_name[0] != '\0' && !is_ours(caller))
    if (void* const found = Loaded(map->l_name).function(name_)) return found;
  return look_up(RTLD_NEXT, name_);
}

const Target* Hook::target(const void* caller) {
  Known& known = known_place(this, caller);
  if (known.hook == this && known.caller == caller) return known.target;
  const bool driver = is_driver(name_);
  const Target* out = nullptr;
  if (void* const found = around(caller)) out = target_of(found, driver);
  if (out == nullptr) out = looked_up_.load();
  if (out == nullptr)
    for (const std::string& library : cuda_libraries())
      if (void* const found = Loaded(library.c_str()).function(name_)) {
        out = target_of(found, driver);
        break;
      }
  if (out != nullptr) known = {this, caller, out};
  return out;
}

bool Hook::takes(void* real, const void* caller) {
  const Target* const wanted = target_of(real, is_driver(name_));
  void* const natural = around(caller);
  const Target* before = nullptr;
  if (looked_up_.compare_exchange_strong(before, wanted)) before = wanted;
  const bool ours_leads_there = natural != nullptr ? natural == real : before == wanted;
  if (!ours_leads_there) tally().seen(corun::live::Tally::second_library);
  return ours_leads_there;
}

int nowhere(const char* name) {
  constexpr int symbol_not_found = 302;  // cudaErrorSharedObjectSymbolNotFound, and the driver's
  static std::mutex mutex;
  static auto* const said = new std::set<std::string>;
  tally().not_gated(corun::live::Ungated::nowhere);
  failed_call() = symbol_not_found;
  const std::lock_guard lock(mutex);
  if (said->insert(name).second)
    std::fprintf(stderr,
                 "simtlab corun: error: %s was called, and no library that is loaded has it: the call fails "
                 "with error %d\n",
                 name, symbol_not_found);
  return symbol_not_found;
}

}  // namespace simtlab::corun::gate
