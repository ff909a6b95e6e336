#include "web/sitemap.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "web/ascii.h"
#include "web/charset_detect.h"
#include "web/xml_capture.h"

namespace meguri::web {
namespace {

constexpr auto kFrequencyNames = std::to_array<std::string_view>(
    {"always", "hourly", "daily", "weekly", "monthly", "yearly", "never"});

std::optional<ChangeFrequency> frequency_of(std::string_view text) {
  for (std::size_t i = 0; i < kFrequencyNames.size(); ++i) {
    if (equals_ignoring_case(text, kFrequencyNames[i])) return static_cast<ChangeFrequency>(i);
  }
  return std::nullopt;
}

std::optional<double> priority_of(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (result.ec != std::errc() || result.ptr != end || !(value >= 0 && value <= 1)) {
    return std::nullopt;
  }
  return value;
}

bool is_web_url(std::string_view text) {
  return starts_with_ignoring_case(text, "http://") || starts_with_ignoring_case(text, "https://");
}

// The vocabulary an element is of, by its namespace, or by its prefix where that is not declared.
enum class Vocabulary : std::uint8_t { kSitemap, kImage, kVideo, kNews, kOther };

Vocabulary vocabulary_of(const XmlName& name, std::string_view root_prefix) {
  const auto is = [&name](std::string_view space, std::string_view prefix) {
    return name.space.contains(space) || (name.space.empty() && name.prefix == prefix);
  };
  if (is("sitemap-image", "image")) return Vocabulary::kImage;
  if (is("sitemap-video", "video")) return Vocabulary::kVideo;
  if (is("sitemap-news", "news")) return Vocabulary::kNews;
  if (name.prefix == root_prefix || name.prefix.empty() || name.space.contains("sitemap")) {
    return Vocabulary::kSitemap;
  }
  return Vocabulary::kOther;
}

class SitemapHandler final : public XmlHandler {
 public:
  SitemapHandler(SitemapReport* report, const std::function<void(SitemapEntry&&)>& on_entry)
      : report_(report), on_entry_(on_entry) {}

  bool on_start(const XmlElement& element) override {
    ++depth_;
    const XmlName& name = element.name();
    if (depth_ == 1) return begin_document(name);
    if (entry_depth_ == 0) {
      const std::string_view wanted = report_->kind == DocumentKind::kSitemap ? "url" : "sitemap";
      if (equals_ignoring_case(name.local, wanted)) return begin_entry();
      return true;
    }
    if (name.local == "link") add_alternate(element);
    if (!capture_.is_open()) begin_field(name);
    if (depth_ == entry_depth_ + 1) in_image_ = equals_ignoring_case(name.local, "image");
    return true;
  }

  bool on_text(std::string_view text) override {
    if (entry_depth_ == 0) return true;
    capture_.add(text);
    if (depth_ == entry_depth_) own_text_.add(text);
    return true;
  }

  bool on_end() override {
    if (capture_.closes_at(depth_)) end_field();
    if (depth_ == entry_depth_) end_entry();
    --depth_;
    return !report_->urls_cut;
  }

  // What stands in an entry that was never closed.
  void finish() {
    if (entry_depth_ != 0 && !entry_.loc.empty()) end_entry();
  }

 private:
  enum class Field : std::uint8_t {
    kLoc,
    kLastmod,
    kFrequency,
    kPriority,
    kPublicationDate,
    kImage,
    kVideo,
  };

  bool begin_document(const XmlName& name) {
    report_->kind = kind_of_root(name.local, {});
    root_prefix_ = name.prefix;
    return report_->kind == DocumentKind::kSitemap || report_->kind == DocumentKind::kSitemapIndex;
  }

  bool begin_entry() {
    entry_ = {};
    extras_ = 0;
    in_image_ = false;
    entry_depth_ = depth_;
    own_text_.open(depth_, kSitemapUrlBytesMax);
    return true;
  }

  void open(Field field, std::size_t bytes_max) {
    field_ = field;
    capture_.open(depth_, bytes_max);
  }

  void begin_field(const XmlName& name) {
    const std::string_view local = name.local;
    switch (vocabulary_of(name, root_prefix_)) {
      case Vocabulary::kImage:
        if (equals_ignoring_case(local, "loc")) open(Field::kImage, kSitemapUrlBytesMax);
        break;
      case Vocabulary::kVideo:
        if (local == "content_loc" || local == "player_loc") {
          open(Field::kVideo, kSitemapUrlBytesMax);
        }
        break;
      case Vocabulary::kNews:
        if (local == "publication_date") open(Field::kPublicationDate, kSitemapFieldBytesMax);
        break;
      case Vocabulary::kSitemap: begin_sitemap_field(local); break;
      case Vocabulary::kOther: break;
    }
  }

  void begin_sitemap_field(std::string_view local) {
    if (equals_ignoring_case(local, "loc")) {
      const bool image = in_image_ && depth_ > entry_depth_ + 1;
      open(image ? Field::kImage : Field::kLoc, kSitemapUrlBytesMax);
    } else if (equals_ignoring_case(local, "lastmod")) {
      open(Field::kLastmod, kSitemapFieldBytesMax);
    } else if (equals_ignoring_case(local, "changefreq")) {
      open(Field::kFrequency, kSitemapFieldBytesMax);
    } else if (equals_ignoring_case(local, "priority")) {
      open(Field::kPriority, kSitemapFieldBytesMax);
    }
  }

  void end_field() {
    std::string text = capture_.close();
    if (text.empty()) return;
    switch (field_) {
      case Field::kLoc:
        if (entry_.loc.empty()) entry_.loc = std::move(text);
        break;
      case Field::kLastmod: entry_.lastmod = std::move(text); break;
      case Field::kFrequency: entry_.change_frequency = frequency_of(text); break;
      case Field::kPriority: entry_.priority = priority_of(text); break;
      case Field::kPublicationDate: entry_.publication_date = std::move(text); break;
      case Field::kImage: add_extra(std::move(text), &entry_.images); break;
      case Field::kVideo: add_extra(std::move(text), &entry_.videos); break;
    }
  }

  void add_extra(std::string url, std::vector<std::string>* urls) {
    if (++extras_ <= kSitemapExtrasMax) urls->push_back(std::move(url));
  }

  void add_alternate(const XmlElement& element) {
    const auto href = element.attribute("href");
    const auto rel = element.attribute("rel");
    if (!href || trim(*href).empty() || href->size() > kSitemapUrlBytesMax) return;
    if (rel && !equals_ignoring_case(trim(*rel), "alternate")) return;
    const auto language = element.attribute("hreflang").value_or("");
    if (language.size() > kSitemapFieldBytesMax || ++extras_ > kSitemapExtrasMax) return;
    entry_.alternates.push_back({std::string(trim(language)), std::string(trim(*href))});
  }

  void end_entry() {
    entry_depth_ = 0;
    std::string own_text = own_text_.close();
    if (entry_.loc.empty() && is_web_url(own_text)) entry_.loc = std::move(own_text);
    if (entry_.loc.empty()) {
      ++report_->skipped;
    } else if (report_->entries == kSitemapUrlsMax) {
      report_->urls_cut = true;
    } else {
      ++report_->entries;
      on_entry_(std::move(entry_));
    }
    entry_ = {};
  }

  SitemapReport* report_;
  const std::function<void(SitemapEntry&&)>& on_entry_;
  std::string root_prefix_;
  std::size_t depth_ = 0;
  std::size_t entry_depth_ = 0;  // of the open <url> or <sitemap>; 0: none
  bool in_image_ = false;        // in an <image> of no namespace
  std::size_t extras_ = 0;
  Field field_ = Field::kLoc;
  XmlCapture capture_;
  XmlCapture own_text_;  // directly in the entry
  SitemapEntry entry_;
};

SitemapReport read_text_sitemap(std::string_view bytes,
                                const std::function<void(SitemapEntry&&)>& on_entry) {
  SitemapReport report{.kind = DocumentKind::kTextSitemap};
  if (bytes.size() > kXmlBytesMax) report.end = XmlEnd::kTooLarge;
  std::string storage;
  std::string_view text = without_byte_order_mark(bytes.substr(0, kXmlBytesMax), &storage);
  while (!text.empty()) {
    const std::string_view raw = text.substr(0, text.find_first_of("\r\n"));
    text.remove_prefix(std::min(raw.size() + 1, text.size()));
    const std::string_view line = trim(raw);
    if (line.empty()) continue;
    if (!is_web_url(line) || line.size() > kSitemapUrlBytesMax) {
      ++report.skipped;
    } else if (report.entries == kSitemapUrlsMax) {
      report.urls_cut = true;
      return report;
    } else {
      ++report.entries;
      SitemapEntry entry;
      entry.loc = line;
      on_entry(std::move(entry));
    }
  }
  return report;
}

}  // namespace

SitemapReport read_sitemap(std::string_view bytes,
                           const std::function<void(SitemapEntry&&)>& on_entry) {
  std::string storage;
  const std::string_view text = xml_as_utf8(bytes, &storage);
  if (document_kind(text) == DocumentKind::kTextSitemap) return read_text_sitemap(bytes, on_entry);
  SitemapReport report;
  SitemapHandler handler(&report, on_entry);
  report.end = read_xml_utf8(text, &handler).end;
  handler.finish();
  return report;
}

Sitemap parse_sitemap(std::string_view bytes) {
  Sitemap sitemap;
  sitemap.report = read_sitemap(
      bytes, [&sitemap](SitemapEntry&& entry) { sitemap.entries.push_back(std::move(entry)); });
  return sitemap;
}

}  // namespace meguri::web
