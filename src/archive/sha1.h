// Sha1 and Digest: the digests by which the archive world names blocks and payloads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace meguri::archive {

// Upper-case base32 (RFC 4648) without padding, as digests are written.
std::string base32_of(std::string_view bytes);

// A SHA-1. Written as "sha1:" and 32 upper-case letters and digits of base32.
struct Digest {
  std::array<std::uint8_t, 20> bytes{};

  std::string to_string() const;
  // Also without the label, with another case, or as 40 hexadecimal digits, as others write it.
  static std::optional<Digest> parse(std::string_view text);
  // Whether a digest is written as to_string() writes it.
  static bool is_as_written(std::string_view text);

  friend auto operator<=>(const Digest&, const Digest&) = default;
};

// Computes one digest after the other, without asking OpenSSL for anything new each time.
// Thread-compatible.
class Sha1 {
 public:
  Sha1();
  Sha1(const Sha1&) = delete;
  Sha1& operator=(const Sha1&) = delete;
  ~Sha1();

  void update(std::string_view bytes);
  Digest finish();  // of all since the last finish()

  Digest of(std::string_view bytes) {
    update(bytes);
    return finish();
  }

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace meguri::archive
