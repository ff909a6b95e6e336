// ListFeed: the documents of a list that are not done yet, with their records.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/file_system.h"
#include "scan/dispatcher.h"
#include "scan/document_list.h"
#include "scan/document_source.h"
#include "scan/run_folder.h"

namespace meguri::scan {

// Reads a little ahead of what is asked for. Thread-compatible.
class ListFeed final : public DocumentFeed {
 public:
  static constexpr std::size_t kAhead = 64;  // documents

  // `parts` that the list is cut into, one behind the other. The rest is borrowed.
  static base::Result<std::unique_ptr<ListFeed>> open(env::FileSystem& fs, const std::string& list,
                                                      std::size_t parts, const DoneSet& done,
                                                      DocumentSource& source);

  base::Result<std::optional<DocumentPointer>> next(std::size_t part) override;
  base::Result<std::shared_ptr<RecordBytes>> open(const DocumentPointer& pointer) override;

  std::uint64_t size() const { return size_; }  // of the list, with what is done

 private:
  struct Part {
    std::unique_ptr<DocumentListReader> reader;
    std::uint64_t end = 0;  // its last number, and one
    std::uint64_t begin = 0;
    std::deque<DocumentPointer> ahead;  // read, and not given out
    bool is_over = false;               // nothing more is to be read
  };

  ListFeed(const DoneSet& done, DocumentSource& source) : done_(done), source_(source) {}
  base::Status read_ahead(Part& part);

  const DoneSet& done_;
  DocumentSource& source_;
  std::vector<Part> parts_;
  std::uint64_t size_ = 0;
};

}  // namespace meguri::scan
