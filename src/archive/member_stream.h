// MemberStream: the bytes of a WARC or ARC file with gzip or zstd undone, member after member.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/member_decoder.h"
#include "archive/member_head.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::archive {

// Whether the plain text of a WARC record begins here: "WARC/1".
bool begins_warc_record(std::string_view bytes);

// A view as a file. The bytes outlive it. Thread-safe.
class ViewFile final : public env::ReadableFile {
 public:
  explicit ViewFile(std::string_view bytes) : bytes_(bytes) {}
  base::Status read_at(std::uint64_t offset, std::size_t length, std::string* out) const override;
  base::Result<std::uint64_t> size() const override { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

// What a MemberStream works with, worth keeping where many are made one after the other: it takes
// longer to make than a small record to read. Used by one at a time. Thread-compatible.
class MemberMemory {
 public:
  MemberMemory();

 private:
  friend class MemberStream;

  std::string input_;
  std::unique_ptr<char[]> buffer_;
  MemberDecoder decoder_;
};

// Reads gzip members, zstd frames and plain text from an offset on, in constant memory: about
// 2.5 MB, and the window that a zstd frame asks for. Small gzip members are inflated at once by
// libdeflate, larger ones by zlib as they come. With `goes_by_heads`, of
// a gzip member that tells its lengths (archive/member_head.h) the front alone is decoded until
// more is wanted, so that the rest can be passed over, and one that says that it is a request is
// left out. A zstd file may begin with a dictionary, which is looked up there wherever reading
// begins. Frames are called members too. An Error is the
// machine's; damage is an event. Thread-compatible.
class MemberStream {
 public:
  static constexpr std::size_t kInputBytes = std::size_t{256} << 10U;  // read at a time
  static constexpr std::size_t kOutputBytes = std::size_t{1} << 20U;   // decoded at a time
  static constexpr std::size_t kHeldBytesMax = std::size_t{1} << 20U;  // not consumed
  // How far before the place where a member was found damaged the next one is looked for: what
  // broke may have made the decoder run over it.
  static constexpr std::size_t kLookBackBytes = std::size_t{64} << 10U;

  enum class Event : std::uint8_t {
    kBytes,      // bytes() has grown
    kMemberEnd,  // a member ended well; what comes belongs to the next
    kFileEnd,
    kTruncated,  // the file ended inside a member
    kCorrupt,    // no member begins here, or it is damaged; see skip_damage()
  };

  // `file` outlives it, and so does `memory`; without one it makes its own.
  MemberStream(const env::ReadableFile& file, std::uint64_t offset, MemberMemory* memory = nullptr,
               bool goes_by_heads = false);
  MemberStream(const MemberStream&) = delete;
  MemberStream& operator=(const MemberStream&) = delete;

  // Decodes more. Requires bytes() of at most kHeldBytesMax; views of before die. What was decoded
  // of a front goes again if it is damaged behind it, and fewer bytes can be made of it then.
  base::Result<Event> fill();

  std::string_view bytes() const { return {buffer_ + begin_, end_ - begin_}; }
  void consume(std::size_t size);

  // How many bytes there are to the end of the member that bytes() are of, these included, as it
  // tells; 0: it is decoded, or tells nothing that fits what stands in the file.
  std::uint64_t told_bytes() const;
  // Requires told_bytes(). Goes to the end of that member, whatever is in there.
  base::Status pass_told_bytes();

  // After kCorrupt or kTruncated: drops bytes() and goes to the next place where a record seems to
  // begin, or to the end of the file. Says how many bytes of the file were left out.
  base::Result<std::uint64_t> skip_damage();

  // Of the first byte of bytes(), or of the next to come: where its member begins in the file, and
  // whether it is that member's first. Plain bytes are members of their own, so to speak.
  std::uint64_t offset() const;
  bool is_member_start() const;
  // Behind the last member or plain byte that was decoded: where the next one begins.
  std::uint64_t file_offset() const { return input_offset_ + input_begin_; }
  bool is_plain() const { return starts_.front().is_plain; }
  // Where the last member ended of which that was told, or was passed over in part.
  std::uint64_t member_end() const { return member_end_; }
  // Whether there were requests, which were passed over.
  bool has_passed_requests() const { return has_passed_requests_; }
  // A member has begun, and neither its end nor what is wrong with it was told yet.
  bool is_in_member() const {
    const bool is_open = mode_ == Mode::kFront || mode_ == Mode::kDecoding;
    return is_open || mode_ == Mode::kStopped || has_whole_member_;
  }

 private:
  // kFront: the front of a member is decoded, and it tells where its end is.
  enum class Mode : std::uint8_t { kBetween, kPlain, kFront, kDecoding, kStopped };
  struct MemberStart {
    std::uint64_t decoded = 0;  // number of its first decoded byte
    std::uint64_t offset = 0;   // in the file
    bool is_plain = false;      // and so goes on, byte by byte
  };

  std::string_view input() const { return std::string_view(input_).substr(input_begin_); }
  base::Status read_input();
  void make_room();
  base::Result<Event> begin_member();
  base::Result<bool> decode_whole();
  base::Result<std::optional<MemberFacts>> facts_to_go_by();
  bool decode_front(const MemberFacts& facts);
  base::Result<Event> decode_from_front();
  base::Result<Event> decode_again(std::size_t front_end);
  Event end_member();
  base::Result<Event> decode_some();
  base::Result<std::optional<MemberFacts>> pass_requests();
  base::Result<bool> skip_frames();
  base::Status load_dictionary();
  base::Result<Event> pass_plain();
  void note_start(bool is_plain);
  bool begins_record_in_member(std::string_view bytes);
  std::optional<std::size_t> find_start();
  base::Status move_to(std::uint64_t offset);

  const env::ReadableFile& file_;
  const std::unique_ptr<MemberMemory> own_memory_;  // none where it is borrowed
  MemberMemory& memory_;
  std::string& input_;  // from input_offset_ on
  std::size_t input_begin_ = 0;
  std::uint64_t input_offset_ = 0;
  bool input_has_end_ = false;  // the file ends with input_

  char* const buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::uint64_t decoded_ = 0;  // bytes decoded before buffer_[end_]

  std::vector<MemberStart> starts_;  // of members that bytes() has some of, and the last one
  MemberDecoder& decoder_;
  const bool goes_by_heads_;
  MemberFacts facts_;            // in kFront, of the member
  std::size_t front_bytes_ = 0;  // in kFront, that were decoded of it
  Mode mode_ = Mode::kBetween;
  std::uint64_t member_end_;
  bool has_passed_requests_ = false;
  bool knows_dictionary_ = false;  // whether there is one
  bool has_whole_member_ = false;  // decoded at once; its end has not been told yet
};

}  // namespace meguri::archive
