#include "hosts/opencl/registry.h"

#include "hosts/opencl/api.h"

namespace simtlab::hosts::opencl {

Object::Object() : handle_(Registry::get().add(this)) {}

Object::~Object() { Registry::get().remove(handle_); }

void Object::hand_out() {
  if (references_++ == 0) self_ = shared_from_this();
}

bool Object::retain() {
  if (references_ == 0) return false;
  ++references_;
  return true;
}

bool Object::release() {
  if (references_ == 0) return false;
  if (--references_ == 0) {
    const std::shared_ptr<Object> last = std::move(self_);  // *this may end here
  }
  return true;
}

Registry& Registry::get() {
  // Never destroyed: programs release objects in their own exit handlers
  static Registry* registry = new Registry;
  return *registry;
}

Handle* Registry::add(Object* object) {
  auto* handle = new Handle{&dispatch_table()};
  living_.emplace(handle, object);
  return handle;
}

void Registry::remove(Handle* handle) {
  living_.erase(handle);
  gone_.emplace_back(handle);
  if (gone_.size() > kept) gone_.pop_front();
}

std::shared_ptr<Object> Registry::find(const void* handle) const {
  const auto it = living_.find(handle);
  return it == living_.end() ? nullptr : it->second->weak_from_this().lock();
}

}  // namespace simtlab::hosts::opencl
