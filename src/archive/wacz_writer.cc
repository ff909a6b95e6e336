#include "archive/wacz_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "archive/sha1.h"
#include "archive/sha256.h"
#include "archive/wacz_index.h"
#include "archive/zip_writer.h"
#include "base/text.h"

namespace meguri::archive {

namespace {

constexpr std::string_view kWaczVersion = "1.1.1";
constexpr std::string_view kPagesHead =
    "{\"format\": \"json-pages-1.0\", \"id\": \"pages\", \"title\": \"All Pages\"}\n";
constexpr std::size_t kPieceBytes = std::size_t{256} << 10U;

// Lines that are written now and read once, later.
class ScratchText {
 public:
  ScratchText(env::FileSystem& fs, const std::string& dir) : fs_(fs), dir_(dir) {}

  base::Status append(std::string_view bytes) {
    pending_ += bytes;
    return pending_.size() < kPieceBytes ? base::Status() : flush();
  }

  base::Status copy_to(const ByteSink& sink) {
    std::string piece;
    for (std::uint64_t offset = 0; offset < file_bytes_; offset += piece.size()) {
      const auto length =
          static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, file_bytes_ - offset));
      RETURN_IF_ERROR(file_->read_at(offset, length, &piece));
      if (piece.size() != length) {
        return base::fail(base::ErrorCode::kCorrupt, "a temporary file in {} ends too early", dir_);
      }
      RETURN_IF_ERROR(sink(piece));
    }
    return sink(pending_);
  }

 private:
  base::Status flush() {
    if (file_ == nullptr) {
      ASSIGN_OR_RETURN(file_, fs_.open_temporary(dir_));
    }
    RETURN_IF_ERROR(file_->append(pending_));
    file_bytes_ += pending_.size();
    pending_.clear();
    return {};
  }

  env::FileSystem& fs_;
  const std::string dir_;
  std::string pending_;
  std::unique_ptr<env::TemporaryFile> file_;
  std::uint64_t file_bytes_ = 0;
};

// An entry of the zip, as the manifest has it.
struct Resource {
  std::string path;
  std::string hash;
  std::uint64_t bytes = 0;
};

// `name` as a JSON field of an object, in a line of its own, if it has a value.
void append_field(std::string_view name, std::string_view value, std::string& out) {
  if (value.empty()) return;
  fmt::format_to(std::back_inserter(out), ",\n  \"{}\": ", name);
  base::append_json_string(value, &out);
}

std::string page_line(const WrittenRecord& record, Sha1& sha1) {
  const IndexEntry& entry = record.entry;
  const std::string date = entry.date.to_rfc3339();
  // Equal for equal pages of several WACZ files, which are then one in a collection of them.
  const Digest id = sha1.of(fmt::format("{} {}", date, entry.url));
  std::string line = fmt::format(
      "{{\"id\": \"{}\", \"url\": ",
      base32_of({reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()}).substr(0, 16));
  base::append_json_string(entry.url, &line);
  line += fmt::format(", \"ts\": \"{}\"", date);
  if (!record.title.empty()) {
    line += ", \"title\": ";
    base::append_json_string(record.title, &line);
  }
  line += "}\n";
  return line;
}

std::string manifest_of(const WaczOptions& options, const std::vector<Resource>& resources) {
  std::string text = "{\n  \"profile\": \"data-package\",\n  \"resources\": [";
  std::string_view between;
  for (const Resource& resource : resources) {
    const std::string name = resource.path.substr(resource.path.rfind('/') + 1);
    fmt::format_to(
        std::back_inserter(text),
        "{}\n    {{\"name\": \"{}\", \"path\": \"{}\", \"hash\": \"{}\", \"bytes\": {}}}", between,
        name, resource.path, resource.hash, resource.bytes);
    between = ",";
  }
  text += "\n  ]";
  append_field("wacz_version", kWaczVersion, text);
  append_field("title", options.title, text);
  append_field("description", options.description, text);
  append_field("software", options.software, text);
  // In whole seconds, which py-wacz insists on.
  const std::string created =
      base::Instant::from_ms(options.created.ms() / 1000 * 1000).to_rfc3339();
  append_field("created", created, text);
  append_field("modified", created, text);
  if (options.main_page) {
    append_field("mainPageUrl", options.main_page->url, text);
    append_field("mainPageDate", options.main_page->date.to_rfc3339(), text);
  }
  text += "\n}\n";
  return text;
}

}  // namespace

struct WaczWriter::State {
  State(env::FileSystem& fs, ByteSink out, WaczOptions of)
      : options(std::move(of)),
        zip(
            [this, to = std::move(out)](std::string_view bytes) {
              counts.bytes += bytes.size();
              return to(bytes);
            },
            options.created),
        index(fs, {.scratch = options.scratch, .sort_bytes_max = options.sort_bytes_max}),
        pages(fs, options.scratch),
        blocks(fs, options.scratch) {}

  base::Status begin(const std::string& path, ZipMethod method) {
    resource = {.path = path, .hash = {}, .bytes = 0};
    return zip.begin_entry(path, method);
  }
  base::Status append(std::string_view bytes) {
    resource.bytes += bytes.size();
    sha256.update(bytes);
    return zip.append(bytes);
  }
  // What was appended since begin() is a resource of the package.
  void end() {
    resource.hash = sha256.finish();
    resources.push_back(std::move(resource));
  }
  base::Status write_index();
  base::Status write_text(const std::string& path, std::string_view head, ScratchText& text);
  base::Status write_manifest();

  WaczOptions options;
  WaczCounts counts;
  ZipWriter zip;
  WaczIndex index;
  ScratchText pages;
  ScratchText blocks;
  bool is_begun = false;
  Resource resource;  // that is being written
  std::vector<Resource> resources;
  Sha256 sha256;
  Sha1 sha1;
};

base::Status WaczWriter::State::write_index() {
  RETURN_IF_ERROR(begin("indexes/index.cdx.gz", ZipMethod::kStored));
  RETURN_IF_ERROR(index.write([this](std::string_view bytes) { return append(bytes); },
                              [this](std::string_view bytes) { return blocks.append(bytes); }));
  end();
  return write_text("indexes/index.idx", {}, blocks);
}

base::Status WaczWriter::State::write_text(const std::string& path, std::string_view head,
                                           ScratchText& text) {
  RETURN_IF_ERROR(begin(path, ZipMethod::kDeflated));
  RETURN_IF_ERROR(append(head));
  RETURN_IF_ERROR(text.copy_to([this](std::string_view bytes) { return append(bytes); }));
  end();
  return {};
}

base::Status WaczWriter::State::write_manifest() {
  const std::string manifest = manifest_of(options, resources);
  RETURN_IF_ERROR(begin("datapackage.json", ZipMethod::kDeflated));
  RETURN_IF_ERROR(zip.append(manifest));
  RETURN_IF_ERROR(begin("datapackage-digest.json", ZipMethod::kDeflated));
  return zip.append(fmt::format("{{\n  \"path\": \"datapackage.json\",\n  \"hash\": \"{}\"\n}}\n",
                                sha256.of(manifest)));
}

WaczWriter::WaczWriter(env::FileSystem& fs, ByteSink out, WaczOptions options)
    : state_(std::make_unique<State>(fs, std::move(out), std::move(options))) {}

WaczWriter::~WaczWriter() = default;

base::Status WaczWriter::append_warc(std::string_view bytes) {
  if (!std::exchange(state_->is_begun, true)) {
    RETURN_IF_ERROR(state_->begin("archive/data.warc.gz", ZipMethod::kStored));
  }
  return state_->append(bytes);
}

base::Status WaczWriter::add(const WrittenRecord& record) {
  RETURN_IF_ERROR(state_->index.add(record.entry));
  if (!record.is_page) return {};
  ++state_->counts.pages;
  if (!state_->options.main_page) {
    state_->options.main_page = {.url = record.entry.url, .date = record.entry.date};
  }
  return state_->pages.append(page_line(record, state_->sha1));
}

base::Result<WaczCounts> WaczWriter::finish() {
  RETURN_IF_ERROR(append_warc({}));  // there is one, even if it is empty
  state_->end();
  RETURN_IF_ERROR(state_->write_index());
  RETURN_IF_ERROR(state_->write_text("pages/pages.jsonl", kPagesHead, state_->pages));
  RETURN_IF_ERROR(state_->write_manifest());
  RETURN_IF_ERROR(state_->zip.finish());
  state_->counts.records = state_->index.records();
  return state_->counts;
}

}  // namespace meguri::archive
