// Handles: what a program holds of an object.
//
// The loader reads the first word of every handle, so a handle is a small block of its own that points to the
// table of functions and stays readable for a long time after its object is gone. Whether it still means
// something is asked here, by address: a handle that was released, or never was one, gets the error code that
// OpenCL has for it.
#pragma once

#include <deque>
#include <memory>
#include <unordered_map>

#include "hosts/opencl/headers.h"

namespace simtlab::hosts::opencl {

struct Handle {
  const cl_icd_dispatch* dispatch;
};

// Anything that a program has a handle of. Kept alive by the program's references and by other objects.
class Object : public std::enable_shared_from_this<Object> {
 public:
  Object();
  virtual ~Object();
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  Handle* handle() const { return handle_; }
  // The program's own references. A new object has one as soon as it is handed out.
  cl_uint references() const { return references_; }
  void hand_out();
  bool retain();  // false: the program has no reference any more
  bool release();

 private:
  Handle* handle_;
  cl_uint references_ = 0;
  std::shared_ptr<Object> self_;  // while the program has references
};

class Registry {
 public:
  static Registry& get();
  Handle* add(Object* object);
  void remove(Handle* handle);
  // Null: not a handle of a living object.
  std::shared_ptr<Object> find(const void* handle) const;

 private:
  static constexpr std::size_t kept = 65536;  // handles of objects that are gone
  std::unordered_map<const void*, Object*> living_;
  std::deque<std::unique_ptr<Handle>> gone_;
};

template <typename T>
std::shared_ptr<T> find(const void* handle) {
  return std::dynamic_pointer_cast<T>(Registry::get().find(handle));
}

}  // namespace simtlab::hosts::opencl
