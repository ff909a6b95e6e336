// BodyReader: the payload of a record, piece by piece, as it is stored and without its chunks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "archive/warc_reader.h"
#include "base/result.h"
#include "web/http_chunked.h"
#include "web/http_head.h"

namespace meguri::archive {

// Whether the block of a record begins with an HTTP head, and of which kind.
std::optional<web::HeadKind> http_kind_of(const WarcRecord& record);

// Some store a body as it was sent, others without its chunks but with the line that tells of
// them: only what begins as a chunk is undone. Holds no more than a piece.
// Thread-compatible. Borrows its WarcReader; views die at the next read().
class BodyReader {
 public:
  // `head` is what read_http_head() read; where that was no head, its bytes are the body's first.
  BodyReader(WarcReader& reader, const web::ParsedHead& head);
  // Of a block without a head.
  explicit BodyReader(WarcReader& reader) : reader_(reader) {}

  struct Piece {
    std::string_view stored;  // empty: the end, or the end of what there is
    std::string_view plain;   // without transfer coding; may be empty where `stored` is not
  };
  base::Result<Piece> read();

  bool is_chunked() const { return is_chunked_; }  // known after the first piece
  // Chunks that are broken are undone up to there; what follows is passed on as it is stored.
  web::ChunkedState chunks() const { return chunks_.state(); }
  bool has_last_chunk() const { return chunks_.has_last_chunk(); }

 private:
  WarcReader& reader_;
  std::string front_;
  web::ChunkedDecoder chunks_;
  std::string decoded_;
  bool is_first_ = true;
  bool is_chunked_ = false;
};

}  // namespace meguri::archive
