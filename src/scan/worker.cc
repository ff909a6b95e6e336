#include "scan/worker.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/mutex.h"
#include "env/cpu_time.h"
#include "env/spool.h"
#include "env/spooled_file.h"
#include "scan/analyser.h"
#include "scan/document_reader.h"
#include "scan/frames.h"
#include "scan/limits.h"

namespace meguri::scan {

namespace {

using base::ErrorCode;
using base::MutexLock;

constexpr std::size_t kReadBytes = std::size_t{256} << 10U;
constexpr std::int64_t kUsageEveryNs = 50'000'000;

// The socket to the dispatcher. One thread reads, any may write.
class Channel {
 public:
  explicit Channel(int descriptor) : descriptor_(descriptor) {
    ::fcntl(descriptor_, F_SETFD, FD_CLOEXEC);  // an analyser has no business with it
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() { ::close(descriptor_); }

  // The next frame; nullopt: the dispatcher is gone, or end_reading() was called.
  base::Result<std::optional<Frame>> read() {
    for (;;) {
      ASSIGN_OR_RETURN(const auto frame, frames_.next());
      if (frame) return frame;
      buffer_.resize(kReadBytes);
      const ssize_t got = ::recv(descriptor_, buffer_.data(), buffer_.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return std::nullopt;
      frames_.feed(std::string_view(buffer_).substr(0, static_cast<std::size_t>(got)));
    }
  }

  void end_reading() { ::shutdown(descriptor_, SHUT_RD); }  // any thread

  base::Status write(std::string_view bytes) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return base::fail(ErrorCode::kStopped, "the dispatcher is gone");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
  }

 private:
  const int descriptor_;
  FrameReader frames_;
  std::string buffer_;
  base::Mutex mutex_;
};

// How long the worker had nothing to do. Thread-safe.
class Idleness {
 public:
  explicit Idleness(const env::Clock& clock) : clock_(clock), since_(clock.nanoseconds()) {}

  void begin_document() EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (open_++ == 0) idle_ns_ += clock_.nanoseconds() - since_;
  }
  void end_document() EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (--open_ == 0) since_ = clock_.nanoseconds();
  }
  std::uint64_t nanoseconds() const EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    const std::int64_t now = open_ == 0 ? clock_.nanoseconds() - since_ : 0;
    return static_cast<std::uint64_t>(idle_ns_ + now);
  }

 private:
  const env::Clock& clock_;
  mutable base::Mutex mutex_;
  std::int64_t since_ GUARDED_BY(mutex_);  // when the last document was done
  std::int64_t idle_ns_ GUARDED_BY(mutex_) = 0;
  std::uint64_t open_ GUARDED_BY(mutex_) = 0;  // documents without a result
};

class IncomingDocuments final : public DocumentStream {
 public:
  IncomingDocuments(Channel& channel, env::Spool& spool, std::uint64_t content_bytes_max,
                    Idleness& idleness)
      : channel_(channel),
        idleness_(idleness),
        record_(&spool),
        reader_(spool, content_bytes_max) {}

  base::Result<std::optional<Document>> next() override {
    for (;;) {
      ASSIGN_OR_RETURN(const auto frame, channel_.read());
      if (is_stopped_ || (frame && frame->type == FrameType::kEnd)) return std::nullopt;
      if (!frame) return base::fail(ErrorCode::kStopped, "the dispatcher is gone");
      auto head =
          frame->type == FrameType::kDocument ? parse_document_head(frame->payload) : std::nullopt;
      if (!head) return base::fail(ErrorCode::kCorrupt, "the dispatcher sent no document");
      if (const auto status = read_record(head->bytes); !status) {
        if (is_stopped_) return std::nullopt;
        return std::unexpected(status.error());
      }
      idleness_.begin_document();
      const std::uint64_t number = head->facts.number;
      const env::SpooledBytes record = record_.finish();
      auto document = reader_.read(std::move(head->facts), env::SpooledFile(record));
      if (document) return *std::move(document);
      idleness_.end_document();
      if (document.error().code() != ErrorCode::kCorrupt) {
        return std::unexpected(document.error());
      }
      std::string bytes;
      put_lost(bytes, {.number = number, .reason = document.error().message()});
      RETURN_IF_ERROR(channel_.write(bytes));
    }
  }

  void stop() override {
    is_stopped_ = true;
    channel_.end_reading();
  }

 private:
  base::Status read_record(std::uint64_t bytes) {
    record_.expect(bytes);
    while (record_.size() < bytes) {
      ASSIGN_OR_RETURN(const auto frame, channel_.read());
      if (!frame) return base::fail(ErrorCode::kStopped, "the dispatcher is gone");
      if (frame->type != FrameType::kBytes) {
        return base::fail(ErrorCode::kCorrupt, "the dispatcher broke off a document");
      }
      RETURN_IF_ERROR(record_.append(frame->payload));
    }
    return {};
  }

  Channel& channel_;
  Idleness& idleness_;
  std::atomic<bool> is_stopped_ = false;
  env::SpoolWriter record_;
  DocumentReader reader_;
};

class OutgoingResults final : public ResultStream {
 public:
  OutgoingResults(Channel& channel, Idleness& idleness, const Analyser& analyser,
                  const env::Clock& clock)
      : channel_(channel), idleness_(idleness), analyser_(analyser), clock_(clock) {}

  base::Status put(std::uint64_t number, const env::SpooledBytes& result) override {
    idleness_.end_document();
    put_result_head(bytes_, {.number = number, .bytes = result.size()});
    const auto send = [&](std::string_view piece) {
      put_bytes(bytes_, piece);
      return bytes_.size() < kReadBytes ? base::Status() : flush();
    };
    RETURN_IF_ERROR(result.for_each_piece(send));
    const std::int64_t now = clock_.nanoseconds();
    if (now - told_ns_ >= kUsageEveryNs) {
      told_ns_ = now;
      put_usage(bytes_, usage());
    }
    return flush();
  }

  base::Status put_last_usage() {
    put_usage(bytes_, usage());
    return flush();
  }

 private:
  base::Status flush() {
    const base::Status status = channel_.write(bytes_);
    bytes_.clear();
    return status;
  }
  WorkerUsage usage() const {
    const std::int64_t cpu_ns = env::process_cpu_nanoseconds(::getpid()).value_or(0);
    return {.idle_ns = idleness_.nanoseconds(),
            .cpu_ns = static_cast<std::uint64_t>(cpu_ns) + analyser_.child_cpu_ns()};
  }

  Channel& channel_;
  Idleness& idleness_;
  const Analyser& analyser_;
  const env::Clock& clock_;
  std::string bytes_;
  std::int64_t told_ns_ = 0;
};

base::Status tell(Channel& channel, FrameType type, std::string_view text) {
  std::string bytes;
  put_frame(bytes, type, text.substr(0, kFrameBytesMax));
  return channel.write(bytes);
}

base::Result<AnalyserSettings> read_settings(Channel& channel) {
  ASSIGN_OR_RETURN(const auto frame, channel.read());
  if (!frame || frame->type != FrameType::kSettings) {
    return base::fail(ErrorCode::kCorrupt, "the dispatcher sent no settings");
  }
  return AnalyserSettings::from_json(frame->payload);
}

// A program gets its limits when it is started; what runs in this process has them from here on.
base::Result<std::unique_ptr<Analyser>> start_analyser(const AnalyserSettings& settings) {
  ASSIGN_OR_RETURN(auto analyser, make_analyser(settings));
  if (settings.kind == AnalyserKind::kPlugin) {
    RETURN_IF_ERROR(
        apply_limits({.memory_max = settings.memory_max, .has_network = settings.has_network}));
  }
  RETURN_IF_ERROR(analyser->start());
  return analyser;
}

}  // namespace

base::Status run_worker(int descriptor, env::FileSystem& fs, const env::Clock& clock) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Channel channel(descriptor);
  ASSIGN_OR_RETURN(const AnalyserSettings settings, read_settings(channel));
  auto analyser = start_analyser(settings);
  if (!analyser) {
    RETURN_IF_ERROR(tell(channel, FrameType::kCannotStart, analyser.error().message()));
    return std::unexpected(analyser.error());
  }
  RETURN_IF_ERROR(tell(channel, FrameType::kReady, {}));
  env::Spool spool(fs, settings.scratch, {});
  Idleness idleness(clock);
  IncomingDocuments documents(channel, spool, settings.content_bytes_max, idleness);
  OutgoingResults results(channel, idleness, **analyser, clock);
  const base::Status status = (*analyser)->run(documents, results);
  if (status) return results.put_last_usage();
  if (status.error().code() == ErrorCode::kStopped) return status;
  RETURN_IF_ERROR(tell(channel, FrameType::kFailed, status.error().message()));
  return status;
}

}  // namespace meguri::scan
