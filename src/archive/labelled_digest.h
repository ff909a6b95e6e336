// DigestCheck: whether bytes have the digest that a record says, in whichever algorithm and
// spelling it says it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace meguri::archive {

enum class DigestVerdict : std::uint8_t {
  kNone,     // the record names no digest, or one of other bytes than its own
  kRight,    // it is the digest of the bytes
  kWrong,    // it is not
  kUnknown,  // its algorithm is one that we do not have
};

std::string_view name_of(DigestVerdict verdict);  // "right"

// Takes `LABEL:VALUE`: MD5, SHA-1 and SHA-2, with or without a hyphen, in any case; the value in
// base32, hexadecimal or base64, of either alphabet. Costs nothing while there is nothing to check.
// Thread-compatible.
class DigestCheck {
 public:
  explicit DigestCheck(std::string_view said);
  DigestCheck(const DigestCheck&) = delete;
  DigestCheck& operator=(const DigestCheck&) = delete;
  ~DigestCheck();

  void update(std::string_view bytes);
  // Of all bytes. Once.
  DigestVerdict finish();
  // After finish(), what it should have been: "sha1:" and base32. Empty where nothing was checked.
  const std::string& computed() const { return computed_; }

 private:
  struct Hash;

  std::string label_;
  std::string value_;
  std::unique_ptr<Hash> hash_;
  std::string computed_;
};

}  // namespace meguri::archive
