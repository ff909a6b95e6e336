#include "app/archive_door.h"

#include <poll.h>

#include <nlohmann/json.hpp>

#include "app/control_client.h"
#include "base/text.h"
#include "web/canonical.h"
#include "web/host.h"
#include "web/url.h"

namespace meguri::app {

using base::ErrorCode;

namespace {

constexpr int kTries = 50;
constexpr int kTryEveryMs = 100;

// What a crawl makes, or what one is prepared with.
base::Status check_is_archive(env::FileSystem& files, const std::string& archive) {
  ASSIGN_OR_RETURN(const bool exists, files.exists(archive));
  if (!exists) return base::fail(ErrorCode::kNotFound, "there is no archive {}", archive);
  for (const char* name : {"/state", "/warc", "/meguri.toml"}) {
    ASSIGN_OR_RETURN(const bool has_it, files.exists(archive + name));
    if (has_it) return {};
  }
  return base::fail(ErrorCode::kNotFound,
                    "{} is no archive; 'meguri crawl SEED --archive {} --once' makes one", archive,
                    archive);
}

}  // namespace

base::Result<ArchiveDoor> ArchiveDoor::open(env::FileSystem& files, const std::string& archive) {
  RETURN_IF_ERROR(check_is_archive(files, archive));
  ArchiveDoor door(archive);
  for (int i = 0;; ++i) {
    auto socket = connect_to(archive);
    if (socket) {
      door.socket_ = *std::move(socket);
      return door;
    }
    if (socket.error().code() != ErrorCode::kNotFound) return std::unexpected(socket.error());
    auto lock = files.lock(archive + "/lock");
    if (lock) {
      door.lock_ = *std::move(lock);
      return door;
    }
    if (lock.error().code() == ErrorCode::kDenied) return door;
    if (lock.error().code() != ErrorCode::kBusy || i == kTries) {
      return std::unexpected(lock.error());
    }
    ::poll(nullptr, 0, kTryEveryMs);
  }
}

base::Result<std::unique_ptr<env::FileLock>> lock_archive(env::FileSystem& files,
                                                          const std::string& archive) {
  constexpr int kLockTries = 20;
  for (int i = 0;; ++i) {
    auto lock = files.lock(archive + "/lock");
    if (lock || lock.error().code() != ErrorCode::kBusy || i == kLockTries) return lock;
    ::poll(nullptr, 0, kTryEveryMs);
  }
}

base::Result<std::unique_ptr<env::FileLock>> lock_idle_archive(env::FileSystem& files,
                                                               const std::string& archive,
                                                               std::string_view command) {
  RETURN_IF_ERROR(check_is_archive(files, archive));
  auto lock = lock_archive(files, archive);
  if (lock || lock.error().code() != ErrorCode::kBusy) return lock;
  return base::fail(ErrorCode::kBusy,
                    "a crawl or another command works on {}; 'meguri {}' needs it for itself, so "
                    "stop that first ({})",
                    archive, command, lock.error().message());
}

base::Result<nlohmann::json> ArchiveDoor::ask(const nlohmann::json& request) const {
  return ask_crawl(socket_, request);
}

base::Result<nlohmann::json> ask_archive(env::FileSystem& files, const std::string& archive,
                                         const nlohmann::json& request,
                                         const OfflineAnswer& offline) {
  constexpr int kAsks = 3;
  for (int i = 1;; ++i) {
    ASSIGN_OR_RETURN(const ArchiveDoor door, ArchiveDoor::open(files, archive));
    if (!door.is_running()) return offline(door);
    auto answer = door.ask(request);
    if (answer || answer.error().code() != ErrorCode::kStopped || i == kAsks) return answer;
  }
}

base::Status check_may_write(const ArchiveDoor& door) {
  if (door.may_write()) return {};
  return base::fail(ErrorCode::kDenied, "the archive {} may not be changed: permission denied",
                    door.archive());
}

base::Result<std::vector<std::string>> seed_urls_of(const std::vector<std::string>& texts) {
  std::vector<std::string> urls;
  for (const std::string& text : texts) {
    const auto url = web::Url::parse(text);
    if (!url || !url->is_http()) {
      return base::fail(ErrorCode::kInvalid, "{} is no http or https URL", base::quoted(text));
    }
    urls.push_back(web::canonical(*url).href());
  }
  return urls;
}

base::Result<std::vector<std::string>> host_names_of(const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (const std::string& text : texts) {
    std::string name;
    if (!web::append_host(text, /*special=*/true, &name) || name.empty()) {
      return base::fail(ErrorCode::kInvalid, "{} is no name of a host", base::quoted(text));
    }
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace meguri::app
