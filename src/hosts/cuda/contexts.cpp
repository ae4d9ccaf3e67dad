#include "hosts/cuda/contexts.h"

#include <algorithm>

namespace simtlab::hosts::cuda {
namespace {

// By number, since a context may be destroyed while another thread has it.
thread_local std::vector<std::pair<Context*, std::uint64_t>> context_stack;

}  // namespace

Context* Contexts::create(unsigned flags) {
  created_.push_back(std::make_unique<Context>(Context{++numbers_, flags, 0}));
  return created_.back().get();
}

bool Contexts::destroy(Context* context) {
  return std::erase_if(created_, [&](const auto& c) { return c.get() == context; }) != 0;
}

bool Contexts::known(const Context* context) const {
  return (context == &primary_ && primary_active()) ||
         std::ranges::any_of(created_, [&](const auto& c) { return c.get() == context; });
}

void Contexts::reset_primary() {
  primary_.uses = 0;
  runtime_used_ = false;
  initialised_ = true;
}

Context* Contexts::current() {
  if (context_stack.empty() || context_stack.back().first == nullptr)
    return runtime_used_ ? &primary_ : nullptr;
  const auto [context, number] = context_stack.back();
  return known(context) && context->number == number ? context : nullptr;
}

void Contexts::set_current(Context* context) {
  if (!context_stack.empty()) context_stack.pop_back();
  if (context != nullptr) push(context);
}

void Contexts::push(Context* context) { context_stack.emplace_back(context, context->number); }

Context* Contexts::pop() {
  Context* const context = current();
  if (!context_stack.empty()) context_stack.pop_back();
  return context;
}

}  // namespace simtlab::hosts::cuda
