#include "archive/warc_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "web/http_text.h"

namespace meguri::archive {

using base::ErrorCode;

namespace {

constexpr int kNameTriesMax = 1000;  // names that others took already

std::string path_in(const WarcSeries& series, std::string_view name) {
  return fmt::format("{}/{}", series.dir, name);
}

base::Status check_series(const WarcSeries& series) {
  if (!is_name_part(series.prefix, true)) {
    return base::fail(ErrorCode::kInvalid, "'{}' cannot begin the name of a WARC file",
                      series.prefix);
  }
  if (!is_name_part(series.instance, false)) {
    return base::fail(ErrorCode::kInvalid, "'{}' cannot name a writer of WARC files",
                      series.instance);
  }
  return {};
}

// The names behind the mark. kCorrupt if the mark names no file of the series.
base::Result<std::vector<WarcName>> files_after(env::FileSystem& fs, const WarcSeries& series,
                                                const WarcPosition& mark) {
  ASSIGN_OR_RETURN(auto names, list_files(fs, series));
  if (mark.file.empty()) return names;
  const auto marked = WarcName::parse(mark.file);
  if (!marked || std::ranges::find(names, *marked) == names.end()) {
    return base::fail(ErrorCode::kCorrupt, "the WARC file {} of the checkpoint is missing",
                      path_in(series, mark.file));
  }
  std::erase_if(names, [&](const WarcName& name) { return !name.is_after(*marked); });
  return names;
}

// How many bytes the marked file has behind the mark.
base::Result<std::uint64_t> bytes_behind(env::FileSystem& fs, const WarcSeries& series,
                                         const WarcPosition& mark) {
  if (mark.file.empty()) return 0;
  const std::string path = path_in(series, mark.file);
  ASSIGN_OR_RETURN(const std::uint64_t size, fs.size(path));
  if (size < mark.offset) {
    return base::fail(ErrorCode::kCorrupt, "{} has {} bytes, but {} were acknowledged", path, size,
                      mark.offset);
  }
  return size - mark.offset;
}

}  // namespace

std::string WarcPosition::encode() const { return fmt::format("{} {}", offset, file); }

std::optional<WarcPosition> WarcPosition::decode(std::string_view bytes) {
  const std::size_t blank = bytes.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  const auto offset = web::parse_decimal(bytes.substr(0, blank));
  const std::string_view file = bytes.substr(blank + 1);
  if (!offset || (!file.empty() && !WarcName::parse(file))) return std::nullopt;
  return WarcPosition{.file = std::string(file), .offset = *offset};
}

base::Result<std::vector<WarcName>> list_files(env::FileSystem& fs, const WarcSeries& series) {
  std::vector<WarcName> names;
  ASSIGN_OR_RETURN(const auto entries, fs.list(series.dir));
  for (const std::string& entry : entries) {
    auto name = WarcName::parse(entry);
    if (name && name->prefix == series.prefix && name->instance == series.instance) {
      names.push_back(*std::move(name));
    }
  }
  std::ranges::sort(names, [](const WarcName& a, const WarcName& b) { return b.is_after(a); });
  return names;
}

base::Result<std::vector<WarcPosition>> tail_of(env::FileSystem& fs, const WarcSeries& series,
                                                const WarcPosition& mark) {
  std::vector<WarcPosition> tail;
  ASSIGN_OR_RETURN(const auto names, files_after(fs, series, mark));
  ASSIGN_OR_RETURN(const std::uint64_t behind, bytes_behind(fs, series, mark));
  if (behind > 0) tail.push_back(mark);
  for (const WarcName& name : names) tail.push_back({.file = name.to_string(), .offset = 0});
  return tail;
}

base::Result<WarcCut> cut_to(env::FileSystem& fs, const WarcSeries& series,
                             const WarcPosition& mark) {
  WarcCut cut;
  ASSIGN_OR_RETURN(auto names, files_after(fs, series, mark));
  ASSIGN_OR_RETURN(cut.bytes_cut, bytes_behind(fs, series, mark));
  if (cut.bytes_cut > 0) RETURN_IF_ERROR(fs.truncate(path_in(series, mark.file), mark.offset));
  for (const WarcName& name : names) {
    const std::string path = path_in(series, name.to_string());
    ASSIGN_OR_RETURN(const std::uint64_t size, fs.size(path));
    RETURN_IF_ERROR(fs.remove(path));
    cut.bytes_cut += size;
    ++cut.files_removed;
  }
  if (cut.files_removed > 0) RETURN_IF_ERROR(fs.sync_dir(series.dir));
  return cut;
}

WarcWriter::WarcWriter(env::FileSystem& fs, const env::Clock& clock, env::Random random,
                       WarcFileOptions options)
    : fs_(fs),
      clock_(clock),
      random_(random),
      options_(std::move(options)),
      maker_(options_.records) {}

base::Result<std::unique_ptr<WarcWriter>> WarcWriter::open(
    env::FileSystem& fs, const env::Clock& clock, env::Random random, WarcFileOptions options,
    const std::optional<WarcPosition>& mark) {
  RETURN_IF_ERROR(check_series(options.series));
  RETURN_IF_ERROR(fs.make_dirs(options.series.dir));
  auto writer = std::unique_ptr<WarcWriter>(new WarcWriter(fs, clock, random, std::move(options)));
  RETURN_IF_ERROR(writer->resume(mark));
  return writer;
}

base::Status WarcWriter::resume(const std::optional<WarcPosition>& mark) {
  if (mark) RETURN_IF_ERROR(cut_to(fs_, options_.series, *mark));
  ASSIGN_OR_RETURN(const auto names, list_files(fs_, options_.series));
  if (!names.empty()) last_ = names.back();
  if (!mark || mark->file.empty()) return {};
  position_ = *mark;
  const bool is_same_kind = last_->compression == options_.records.compression;
  if (mark->offset >= options_.file_bytes_max || !is_same_kind) return {};
  ASSIGN_OR_RETURN(file_, fs_.open_append(path_of(mark->file)));
  return {};
}

base::Result<WarcPosition> WarcWriter::append(const env::SpooledBytes& records) {
  RETURN_IF_ERROR(check_usable());
  if (file_ == nullptr || position_.offset >= options_.file_bytes_max) {
    RETURN_IF_ERROR(start_file());
  }
  WarcPosition begin = position_;
  RETURN_IF_ERROR(write(records));
  return begin;
}

base::Status WarcWriter::sync() {
  RETURN_IF_ERROR(check_usable());
  is_broken_ = true;  // unless all of it works
  if (is_dirty_) RETURN_IF_ERROR(file_->sync());
  if (names_unsynced_) RETURN_IF_ERROR(fs_.sync_dir(options_.series.dir));
  is_broken_ = false;
  is_dirty_ = false;
  names_unsynced_ = false;
  return {};
}

// The old file is synced before there is a new one, so that a mark in the new one vouches for it.
base::Status WarcWriter::start_file() {
  RETURN_IF_ERROR(sync());
  file_.reset();
  ASSIGN_OR_RETURN(const WarcName name, create_file());
  const std::string text = name.to_string();
  const std::string info =
      maker_.warcinfo(options_.info, text, clock_.utc(), RecordId::draw(random_));
  if (auto status = file_->append(info); !status) {
    file_.reset();
    // A file left behind is after every mark, so that the next cut removes it.
    if (auto removed = fs_.remove(path_of(text)); !removed) {
      return std::unexpected(status.error().with_context(
          fmt::format("{} was begun and cannot be removed: {}", text, removed.error().message())));
    }
    return status;
  }
  position_ = {.file = text, .offset = info.size()};
  is_dirty_ = true;
  return {};
}

// Neither a clock that went back nor a file that is there already breaks the order of names.
base::Result<WarcName> WarcWriter::create_file() {
  const std::int64_t now_ms = std::max<std::int64_t>(clock_.utc().ms(), 0);
  WarcName name{.prefix = options_.series.prefix,
                .time = base::Instant::from_ms(now_ms - now_ms % 1000),
                .serial = 0,
                .instance = options_.series.instance,
                .compression = options_.records.compression};
  for (int tries = 0; tries < kNameTriesMax; ++tries) {
    if (last_) {
      name.time = std::max(name.time, last_->time);
      name.serial = last_->serial + 1;
    }
    last_ = name;
    auto file = fs_.create(path_of(name.to_string()));
    if (file) {
      file_ = *std::move(file);
      names_unsynced_ = true;
      return name;
    }
    if (file.error().code() != ErrorCode::kExists) return std::unexpected(file.error());
  }
  return base::fail(ErrorCode::kExists, "no name is free for a new WARC file in {}",
                    options_.series.dir);
}

base::Status WarcWriter::write(const env::SpooledBytes& bytes) {
  auto status =
      bytes.for_each_piece([this](std::string_view piece) { return file_->append(piece); });
  if (status) {
    position_.offset += bytes.size();
    is_dirty_ = true;
    return {};
  }
  if (auto repaired = take_back(); !repaired) {
    is_broken_ = true;
    return std::unexpected(status.error().with_context(
        fmt::format("a part of it could not be taken back: {}", repaired.error().message())));
  }
  return status;
}

// Cuts off what a failed append left.
base::Status WarcWriter::take_back() {
  file_.reset();
  const std::string path = path_of(position_.file);
  RETURN_IF_ERROR(fs_.truncate(path, position_.offset));
  ASSIGN_OR_RETURN(file_, fs_.open_append(path));
  return {};
}

base::Status WarcWriter::check_usable() const {
  if (!is_broken_) return {};
  return base::fail(ErrorCode::kStopped, "the WARC files in {} failed before; start again",
                    options_.series.dir);
}

std::string WarcWriter::path_of(std::string_view name) const {
  return path_in(options_.series, name);
}

}  // namespace meguri::archive
