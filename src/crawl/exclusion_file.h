// ExclusionFile: the exclusion list of a crawl as its file says, read again while the crawl runs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "crawl/exclusion_list.h"
#include "env/file_system.h"
#include "flow/module.h"

namespace meguri::crawl {

// In the archive's folder: the list that 'meguri remove' writes.
inline constexpr std::string_view kOwnExclusionsName = "exclusions.txt";

// Shared by the modules that ask and the one that reads: each holds it by shared_ptr, because a
// graph makes its modules from copies of their arguments. Thread-safe; a list that was got stays
// whole while the next one is read.
class ExclusionFile {
 public:
  // `path` is the list that somebody named, and must be there; empty: nobody did. `own` is that of
  // the archive, which need not be there; empty likewise. What either excludes is excluded.
  explicit ExclusionFile(std::string path, std::string own = {})
      : path_(std::move(path)), own_(std::move(own)) {}

  // Reads the files at the first call, and does nothing later: so whoever starts first has them. An
  // error says the file and the line.
  base::Status open(env::FileSystem& files);
  // Reads the files if one has changed. True: there is another list. On an error the old one stays,
  // and the files are not read again before one changes again.
  base::Result<bool> refresh(env::FileSystem& files);

  // Never null.
  std::shared_ptr<const ExclusionList> list() const;
  const std::string& path() const { return path_.empty() ? own_ : path_; }

 private:
  // Nullopt: it is not there.
  struct Stamps {
    std::optional<env::FileStamp> named;
    std::optional<env::FileStamp> own;
    friend bool operator==(const Stamps&, const Stamps&) = default;
  };
  base::Result<Stamps> stamps(env::FileSystem& files) const;
  base::Status read(env::FileSystem& files) REQUIRES(reading_);

  const std::string path_;
  const std::string own_;
  base::Mutex reading_;
  std::optional<Stamps> stamps_ GUARDED_BY(reading_);
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
