// DocumentReader: makes a document of the record that holds its content.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "archive/body_reader.h"
#include "archive/warc_reader.h"
#include "base/result.h"
#include "env/file_system.h"
#include "env/spool.h"
#include "scan/document.h"

namespace meguri::scan {

// Reasons in Document::cut.
inline constexpr std::string_view kBrokenCoding = "the coding of the content is broken";
inline constexpr std::string_view kEndsEarly = "the content ends early";

// Memory does not grow with the record: what is large goes to the spool, which is borrowed.
// Thread-compatible.
class DocumentReader {
 public:
  DocumentReader(env::Spool& spool, std::uint64_t content_bytes_max)
      : content_(&spool), content_bytes_max_(content_bytes_max) {}

  // `file` holds the record alone, from its first byte on, as WARC or ARC, plain or in a gzip
  // member. A content that ends early, whose coding is broken or that is above the limit is had as
  // far as it goes, and `cut` says so. kCorrupt: there is no record, or its sum is wrong.
  base::Result<Document> read(DocumentFacts facts, const env::ReadableFile& file);

 private:
  // How content was had: why it is not all there was, and whether nothing of its coding could be
  // undone.
  struct Taking {
    std::string cut;
    bool is_hopeless = false;
  };

  // Reads the record at the front of a file. `taking` keeps an earlier reason, if it has one.
  base::Result<Document> read_record(DocumentFacts facts, const env::ReadableFile& file,
                                     bool undoes_codings, Taking& taking);
  // These put the body into content_. `size` is how many bytes are stored of it.
  base::Result<Taking> take_stored(archive::WarcReader& reader, archive::BodyReader& body,
                                   std::uint64_t size);
  base::Result<Taking> take_decoded(archive::WarcReader& reader, archive::BodyReader& body,
                                    std::uint64_t size, const std::string& encoding);
  // `piece` is the first one.
  base::Result<Taking> take_in_pieces(archive::WarcReader& reader, archive::BodyReader& body,
                                      archive::BodyReader::Piece piece,
                                      const std::string& encoding);

  archive::MemberMemory memory_;  // of one record's reader after the other
  env::SpoolWriter content_;
  const std::uint64_t content_bytes_max_;
};

}  // namespace meguri::scan
