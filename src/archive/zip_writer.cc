#include "archive/zip_writer.h"

#include <archive.h>
#include <archive_entry.h>

#include <utility>

#include "base/check.h"

namespace meguri::archive {

struct ZipWriter::State {
  ByteSink out;
  base::Instant date;
  base::Status sink = {};  // its first error
  bool is_given_up = false;
  struct ::archive* zip = ::archive_write_new();
  struct ::archive_entry* entry = ::archive_entry_new();

  State(ByteSink to, base::Instant when) : out(std::move(to)), date(when) {
    CHECK(zip != nullptr && entry != nullptr, "no memory for a zip file");
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    is_given_up = true;  // it writes an end, which goes nowhere
    ::archive_write_free(zip);
    ::archive_entry_free(entry);
  }

  // Never fails as libarchive sees it, which would leak its buffers then; status() tells.
  static la_ssize_t pass_on(struct ::archive* /*zip*/, void* data, const void* bytes,
                            std::size_t size) {
    auto* const state = static_cast<State*>(data);
    if (!state->is_given_up && state->sink) {
      state->sink = state->out({static_cast<const char*>(bytes), size});
    }
    return static_cast<la_ssize_t>(size);
  }

  // What a call of libarchive returned, as an error of the sink or of its own.
  base::Status status(la_ssize_t code) const {
    if (!sink) return sink;
    if (code >= ARCHIVE_OK) return {};
    const char* const reason = ::archive_error_string(zip);
    return base::fail(base::ErrorCode::kFailed, "cannot write the zip file: {}",
                      reason == nullptr ? "libarchive does not say why" : reason);
  }
};

ZipWriter::ZipWriter(ByteSink out, base::Instant date)
    : state_(std::make_unique<State>(std::move(out), date)) {
  struct ::archive* const zip = state_->zip;
  CHECK(::archive_write_set_format_zip(zip) == ARCHIVE_OK);
  CHECK(::archive_write_set_bytes_in_last_block(zip, 1) == ARCHIVE_OK);  // no padding
  CHECK(::archive_write_open2(zip, state_.get(), nullptr, State::pass_on, nullptr, nullptr) ==
        ARCHIVE_OK);
}

ZipWriter::~ZipWriter() = default;

base::Status ZipWriter::begin_entry(const std::string& name, ZipMethod method) {
  RETURN_IF_ERROR(state_->status(::archive_write_finish_entry(state_->zip)));
  RETURN_IF_ERROR(state_->status(method == ZipMethod::kStored
                                     ? ::archive_write_zip_set_compression_store(state_->zip)
                                     : ::archive_write_zip_set_compression_deflate(state_->zip)));
  struct ::archive_entry* const entry = ::archive_entry_clear(state_->entry);
  ::archive_entry_set_pathname(entry, name.c_str());
  ::archive_entry_set_filetype(entry, AE_IFREG);
  ::archive_entry_set_perm(entry, 0644);
  ::archive_entry_set_mtime(entry, state_->date.ms() / 1000, 0);
  ::archive_entry_unset_size(entry);
  return state_->status(::archive_write_header(state_->zip, entry));
}

base::Status ZipWriter::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const la_ssize_t written = ::archive_write_data(state_->zip, bytes.data(), bytes.size());
    RETURN_IF_ERROR(state_->status(written));
    if (written == 0) return base::fail(base::ErrorCode::kFailed, "cannot write to the zip file");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

base::Status ZipWriter::finish() {
  RETURN_IF_ERROR(state_->status(::archive_write_finish_entry(state_->zip)));
  return state_->status(::archive_write_close(state_->zip));
}

}  // namespace meguri::archive
