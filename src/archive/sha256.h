// Sha256: the digest by which packages of files name what they hold.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace meguri::archive {

// Computes one digest after the other. Thread-compatible.
class Sha256 {
 public:
  Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  ~Sha256();

  void update(std::string_view bytes);
  // Of all since the last finish(): "sha256:" and 64 lower-case hexadecimal digits.
  std::string finish();

  std::string of(std::string_view bytes) {
    update(bytes);
    return finish();
  }

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace meguri::archive
