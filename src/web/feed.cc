#include "web/feed.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "web/ascii.h"
#include "web/feed_fields.h"
#include "web/xml_capture.h"

namespace meguri::web {
namespace {

const FeedLink* first_of(const std::vector<FeedLink>& links, std::string_view rel) {
  const auto found = std::ranges::find(links, rel, &FeedLink::rel);
  return found == links.end() ? nullptr : &*found;
}

bool is_web_url(std::string_view text) {
  return starts_with_ignoring_case(text, "http://") || starts_with_ignoring_case(text, "https://");
}

// "scheme:": enough to know that nothing before it matters.
bool is_absolute(std::string_view url) {
  const std::size_t colon = url.find_first_of(":/?#");
  return colon != std::string_view::npos && colon > 0 && url[colon] == ':';
}

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

std::uint32_t day_bit(std::string_view text) {
  constexpr auto kDays = std::to_array<std::string_view>(
      {"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"});
  for (std::size_t i = 0; i < kDays.size(); ++i) {
    if (equals_ignoring_case(text, kDays[i])) return 1U << i;
  }
  return 0;
}

// RSS 0.91 counts hours to 24, which is 0.
std::uint32_t hour_bit(std::string_view text) {
  const auto hour = number_of(text);
  return hour && *hour <= 24 ? 1U << (*hour % 24) : 0;
}

class FeedHandler final : public XmlHandler {
 public:
  explicit FeedHandler(Feed* feed) : feed_(feed) {}

  bool on_start(const XmlElement& element) override {
    ++depth_;
    push_base(element);
    const XmlName& name = element.name();
    if (depth_ == 1) return begin_document(element);
    if (!capture_.is_open()) begin_element(element, feed_field_of(name, root_prefix_));
    return true;
  }

  bool on_text(std::string_view text) override {
    capture_.add(text);
    return true;
  }

  bool on_end() override {
    if (capture_.closes_at(depth_)) end_field(capture_.close());
    if (depth_ == entry_depth_) end_entry();
    if (depth_ == channel_depth_ && depth_ > 1) channel_depth_ = 0;
    if (depth_ == skip_depth_) skip_depth_ = 0;
    while (!bases_.empty() && bases_.back().depth == depth_) bases_.pop_back();
    --depth_;
    return !feed_->entries_cut;
  }

  // What stands in an entry that was never closed.
  void finish() {
    if (entry_depth_ != 0 && !entry_.links.empty()) end_entry();
  }

 private:
  struct OpenBase {
    std::size_t base = 0;  // as FeedLink::base
    std::size_t depth = 0;
  };

  bool begin_document(const XmlElement& element) {
    const XmlName& name = element.name();
    root_prefix_ = name.prefix;
    // Whatever else RDF is used for holds no items.
    const bool rdf = equals_ignoring_case(name.local, "rdf");
    feed_->kind = rdf ? DocumentKind::kRss : kind_of_root(name.local, {});
    if (feed_->kind == DocumentKind::kAtom) channel_depth_ = 1;
    return feed_->kind == DocumentKind::kAtom || feed_->kind == DocumentKind::kRss;
  }

  void push_base(const XmlElement& element) {
    const auto value = element.attribute("xml:base");
    if (!value || trim(*value).empty()) return;
    if (value->size() > kFeedUrlBytesMax || feed_->bases.size() >= kFeedBasesMax) return;
    const std::string_view url = trim(*value);
    feed_->bases.push_back({std::string(url), is_absolute(url) ? 0 : open_base()});
    bases_.push_back({feed_->bases.size(), depth_});
  }

  std::size_t open_base() const { return bases_.empty() ? 0 : bases_.back().base; }

  // Fields count only directly in the feed or in an entry: an <image> of the feed and a <source> of
  // an entry have titles and links of their own.
  void begin_element(const XmlElement& element, FeedField field) {
    if (field == FeedField::kEntry && entry_depth_ == 0) return begin_entry(element);
    if (field == FeedField::kChannel && channel_depth_ == 0) {
      channel_depth_ = depth_;
      return;
    }
    if (field == FeedField::kMedia && entry_depth_ != 0) return add_media(element);
    const std::size_t parent = depth_ - 1;
    const bool in_place = parent == entry_depth_ || (entry_depth_ == 0 && parent == channel_depth_);
    if (field == FeedField::kSkip && in_place) skip_depth_ = depth_;
    const bool skip_value = field == FeedField::kHour || field == FeedField::kDay;
    if (skip_value ? parent != skip_depth_ : !in_place) return;
    begin_field(element, field);
  }

  void begin_field(const XmlElement& element, FeedField field) {
    switch (field) {
      case FeedField::kLink: begin_link(element); break;
      case FeedField::kId: {
        const auto permalink = element.attribute("isPermaLink");
        const bool guid = element.name().local == "guid";
        id_is_permalink_ = guid && !(permalink && equals_ignoring_case(trim(*permalink), "false"));
        open(field, kFeedUrlBytesMax);
        break;
      }
      case FeedField::kEnclosure: add_attribute_link(element, "url", "enclosure"); break;
      case FeedField::kTitle:
      case FeedField::kOtherTitle: open(field, kFeedTitleBytesMax); break;
      case FeedField::kNone:
      case FeedField::kEntry:
      case FeedField::kChannel:
      case FeedField::kMedia:
      case FeedField::kSkip: break;
      default: open(field, kFeedFieldBytesMax);
    }
  }

  void open(FeedField field, std::size_t bytes_max) {
    field_ = field;
    capture_.open(depth_, bytes_max);
  }

  // Atom's link has an href, that of RSS a text.
  void begin_link(const XmlElement& element) {
    if (!element.attribute("href")) return open(FeedField::kLink, kFeedUrlBytesMax);
    const std::string rel = lower_copy(trim(element.attribute("rel").value_or("")));
    add_attribute_link(element, "href", rel.empty() ? "alternate" : rel);
  }

  void add_media(const XmlElement& element) { add_attribute_link(element, "url", "enclosure"); }

  void add_attribute_link(const XmlElement& element, std::string_view attribute,
                          std::string_view rel) {
    const auto url = element.attribute(attribute);
    if (!url) return;
    add_link(trim(*url), rel, trim(element.attribute("type").value_or("")));
  }

  void add_link(std::string_view url, std::string_view rel, std::string_view type) {
    std::vector<FeedLink>& links = entry_depth_ != 0 ? entry_.links : feed_->links;
    if (url.empty() || url.size() > kFeedUrlBytesMax || links.size() >= kFeedLinksMax) return;
    if (rel.size() > kFeedFieldBytesMax || type.size() > kFeedFieldBytesMax) return;
    links.push_back({.href = std::string(url),
                     .rel = std::string(rel),
                     .type = lower_copy(type),
                     .base = open_base()});
  }

  void begin_entry(const XmlElement& element) {
    entry_ = {};
    entry_depth_ = depth_;
    const auto about = element.attribute("rdf:about");
    if (about && about->size() <= kFeedUrlBytesMax) entry_.id = trim(*about);
  }

  void end_field(std::string text) {
    if (text.empty()) return;
    const bool in_entry = entry_depth_ != 0;
    std::string& title = in_entry ? entry_.title : feed_->title;
    std::string& published = in_entry ? entry_.published : feed_->published;
    std::string& updated = in_entry ? entry_.updated : feed_->updated;
    switch (field_) {
      case FeedField::kLink: add_link(text, "alternate", ""); break;
      case FeedField::kTitle: title = std::move(text); break;
      case FeedField::kOtherTitle:
        if (title.empty()) title = std::move(text);
        break;
      case FeedField::kPublished: published = std::move(text); break;
      case FeedField::kOtherPublished:
        if (published.empty()) published = std::move(text);
        break;
      case FeedField::kUpdated: updated = std::move(text); break;
      case FeedField::kId:
        if (!in_entry) break;
        entry_.id = std::move(text);
        entry_.id_is_permalink = id_is_permalink_ && is_web_url(entry_.id);
        break;
      default: end_feed_field(text);
    }
  }

  void end_feed_field(std::string_view text) {
    switch (field_) {
      case FeedField::kTtl: feed_->ttl_minutes = number_of(text); break;
      case FeedField::kUpdatePeriod: feed_->update_period = lower_copy(text); break;
      case FeedField::kUpdateFrequency: feed_->update_frequency = number_of(text); break;
      case FeedField::kHour: feed_->skip_hours |= hour_bit(text); break;
      case FeedField::kDay: feed_->skip_days |= day_bit(text); break;
      default: break;
    }
  }

  void end_entry() {
    if (!entry_.page() && is_web_url(entry_.id)) add_link(entry_.id, "alternate", "");
    entry_depth_ = 0;
    if (feed_->entries.size() == kFeedEntriesMax) {
      feed_->entries_cut = true;
    } else {
      feed_->entries.push_back(std::move(entry_));
    }
    entry_ = {};
  }

  Feed* feed_;
  std::string root_prefix_;
  std::size_t depth_ = 0;
  std::size_t channel_depth_ = 0;  // of what the feed's own fields stand in; 0: not open
  std::size_t entry_depth_ = 0;
  std::size_t skip_depth_ = 0;  // of an open <skipHours> or <skipDays>
  std::vector<OpenBase> bases_;
  FeedField field_ = FeedField::kNone;
  bool id_is_permalink_ = false;
  XmlCapture capture_;
  FeedEntry entry_;
};

}  // namespace

const FeedLink* FeedEntry::page() const { return first_of(links, "alternate"); }

const FeedLink* Feed::link(std::string_view rel) const { return first_of(links, rel); }

std::vector<std::string_view> Feed::bases_of(const FeedLink& link) const {
  std::vector<std::string_view> urls;
  for (std::size_t i = link.base; i != 0; i = bases[i - 1].parent) urls.push_back(bases[i - 1].url);
  std::ranges::reverse(urls);
  return urls;
}

Feed parse_feed(std::string_view bytes) {
  Feed feed;
  FeedHandler handler(&feed);
  feed.end = read_xml(bytes, &handler).end;
  handler.finish();
  return feed;
}

}  // namespace meguri::web
