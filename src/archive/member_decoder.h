// MemberDecoder: undoes one gzip member or zstd frame after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace meguri::archive {

enum class MemberCoding : std::uint8_t { kNone, kGzip, kZstd, kSkippable };

// What begins at the front of some bytes. kSkippable: a zstd frame without content.
MemberCoding coding_at(std::string_view bytes);
// Whether they may be the front of a member that is cut.
bool may_begin_member(std::string_view bytes);

// The size of a skippable frame with its head; 0: its head is not whole.
std::uint64_t skippable_size(std::string_view bytes);
// Whether it holds the dictionary of the frames behind it.
bool is_dictionary_frame(std::string_view bytes);
inline constexpr std::size_t kDictionaryHeadBytes = 8;
inline constexpr std::size_t kDictionaryBytesMax = std::size_t{16} << 20U;

// Whether these bytes, cut perhaps, begin a zstd frame with a head that can be.
bool is_frame_head(std::string_view bytes);

// Thread-compatible. Holds a window: 32 KiB for gzip, for zstd what a frame asks for, 128 MiB at
// most.
class MemberDecoder {
 public:
  enum class State : std::uint8_t {
    kMore,    // wants more input or more room
    kEnd,     // the member ended well
    kBroken,  // it is damaged, or asks for what we do not have
  };
  struct Step {
    State state = State::kMore;
    std::size_t taken = 0;
    std::size_t made = 0;
  };

  MemberDecoder();
  MemberDecoder(const MemberDecoder&) = delete;
  MemberDecoder& operator=(const MemberDecoder&) = delete;
  ~MemberDecoder();

  // Of all zstd frames from now on: what is in the frame, itself compressed or not. False: it
  // cannot be read.
  bool set_dictionary(std::string_view content);
  void forget_dictionary();

  void begin(MemberCoding coding);
  Step decode(std::string_view bytes, char* out, std::size_t room);

  // The member at the front of `bytes` at once, by libdeflate. kMore if it is not gzip, not whole
  // in there, larger than `room`, empty or damaged: decode() will tell which.
  Step decode_whole(std::string_view bytes, char* out, std::size_t room);

  // What the gzip member at the front of `bytes` holds up to where its writer flushed first, as
  // ours does between heads and a large body: by libdeflate, without its sum. 0: it cannot be had
  // so, or is about as large as `room`, all of which may be written to.
  std::size_t decode_to_flush(std::string_view bytes, char* out, std::size_t room);
  // The first `size` bytes of that member, without its sum, which makes it faster than decode().
  // False: they cannot be had so. decode() begins anew afterwards.
  bool decode_front(std::string_view bytes, char* out, std::size_t size);

  // What the member at the front of `bytes` begins with, up to `size` bytes, as far as can be told.
  std::string front_of(std::string_view bytes, std::size_t size);

 private:
  struct Machines;

  MemberCoding coding_ = MemberCoding::kNone;
  std::unique_ptr<Machines> machines_;
};

}  // namespace meguri::archive
