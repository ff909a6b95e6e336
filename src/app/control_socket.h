// The socket by which commands speak with a running crawl, ARCHIVE/control.sock.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace meguri::app {

// A file descriptor that is closed in the end.
class OwnedDescriptor {
 public:
  OwnedDescriptor() = default;
  explicit OwnedDescriptor(int number) : number_(number) {}
  OwnedDescriptor(OwnedDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~OwnedDescriptor();

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

// Both work for archives whose path is longer than an address of a socket may be: they go through
// an open descriptor of the folder.

// A socket that takes connections, for its owner alone. One that a killed crawl left is replaced,
// so that the caller must hold the archive's lock.
base::Result<OwnedDescriptor> listen_at(const std::string& archive);

// kNotFound: nobody listens. kDenied: it may not be spoken with.
base::Result<OwnedDescriptor> connect_to(const std::string& archive);

}  // namespace meguri::app
