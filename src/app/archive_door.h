// ArchiveDoor: how a command gets at an archive: through the crawl that runs on it, or by itself.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/control_socket.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::app {

// Who opens it either holds a connection to the crawl, or the archive's lock, so that no crawl
// begins meanwhile; on an archive that may only be read, neither.
class ArchiveDoor {
 public:
  // kNotFound: the folder is no archive, or does not exist. kBusy: somebody holds the archive and
  // cannot be asked. Waits a few seconds for a crawl that is beginning or ending.
  static base::Result<ArchiveDoor> open(env::FileSystem& files, const std::string& archive);

  bool is_running() const { return socket_.is_open(); }
  bool may_write() const { return lock_ != nullptr; }
  const std::string& archive() const { return archive_; }
  std::string state_dir() const { return archive_ + "/state"; }

  // Of the running crawl.
  base::Result<nlohmann::json> ask(const nlohmann::json& request) const;

 private:
  explicit ArchiveDoor(std::string archive) : archive_(std::move(archive)) {}

  std::string archive_;
  OwnedDescriptor socket_;
  std::unique_ptr<env::FileLock> lock_;
};

// For a crawl. Waits two seconds for a command that looks at the archive; then kBusy.
base::Result<std::unique_ptr<env::FileLock>> lock_archive(env::FileSystem& files,
                                                          const std::string& archive);

// For commands that need an archive for themselves. kNotFound: there is none. kBusy: a crawl or
// another command works on it, and what to do is said; `command` is this one: "repair".
base::Result<std::unique_ptr<env::FileLock>> lock_idle_archive(env::FileSystem& files,
                                                               const std::string& archive,
                                                               std::string_view command);

// What an archive without a crawl answers; the door holds it.
using OfflineAnswer = std::function<base::Result<nlohmann::json>(const ArchiveDoor& door)>;

// The answer of the crawl that runs on the archive, or that of `offline`. A crawl that ends before
// it answers is followed by the archive's own answer, so that requests must bear being made twice.
base::Result<nlohmann::json> ask_archive(env::FileSystem& files, const std::string& archive,
                                         const nlohmann::json& request,
                                         const OfflineAnswer& offline);

// kDenied unless the archive is held.
base::Status check_may_write(const ArchiveDoor& door);

// The canonical forms of what somebody typed as seeds. kInvalid: one is no http or https URL.
base::Result<std::vector<std::string>> seed_urls_of(const std::vector<std::string>& texts);

// Names of hosts as URLs have them. kInvalid: one is none.
base::Result<std::vector<std::string>> host_names_of(const std::vector<std::string>& texts);

}  // namespace meguri::app
