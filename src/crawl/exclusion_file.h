// ExclusionFile: the exclusion list of a crawl as its file says, read again while the crawl runs.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "crawl/exclusion_list.h"
#include "env/file_system.h"
#include "flow/module.h"

namespace meguri::crawl {

// Shared by the modules that ask and the one that reads: each holds it by shared_ptr, because a
// graph makes its modules from copies of their arguments. Thread-safe; a list that was got stays
// whole while the next one is read.
class ExclusionFile {
 public:
  explicit ExclusionFile(std::string path) : path_(std::move(path)) {}

  // Reads the file at the first call, and does nothing later: so whoever starts first has it. An
  // error says the file and the line.
  base::Status open(env::FileSystem& files);
  // Reads the file if it has changed. True: there is another list. On an error the old one stays,
  // and the file is not read again before it changes again.
  base::Result<bool> refresh(env::FileSystem& files);

  // Never null.
  std::shared_ptr<const ExclusionList> list() const;
  const std::string& path() const { return path_; }

 private:
  base::Status read(env::FileSystem& files) REQUIRES(reading_);

  const std::string path_;
  base::Mutex reading_;
  std::optional<env::FileStamp> stamp_ GUARDED_BY(reading_);
  bool is_open_ GUARDED_BY(reading_) = false;
  mutable base::Mutex mutex_;
  std::shared_ptr<const ExclusionList> list_ GUARDED_BY(mutex_) =
      std::make_shared<const ExclusionList>();
};

// A blocking module without ports: looks at the file every kEvery, and says in the log what it
// found. So nobody who judges URLs waits for the disk, or for a million lines to be read.
class ExclusionWatch final : public flow::Module {
 public:
  static constexpr base::Duration kEvery = base::Duration::seconds(3);

  explicit ExclusionWatch(std::shared_ptr<ExclusionFile> file) : file_(std::move(file)) {}

 private:
  base::Status start() override;
  void on_timer(std::uint64_t tag) override;

  const std::shared_ptr<ExclusionFile> file_;
};

}  // namespace meguri::crawl
