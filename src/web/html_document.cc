#include "web/html_document.h"

#include <algorithm>
#include <array>
#include <utility>

#include "web/ascii.h"
#include "web/css_links.h"
#include "web/html_reader.h"
#include "web/redirect.h"
#include "web/srcset.h"

namespace meguri::web {
namespace {

// Appends `text` with each run of white space made one space, none in front, up to `bytes_max` in
// all. Cuts between characters.
void append_joined(std::string_view text, std::size_t bytes_max, std::string* out) {
  for (const char c : text) {
    const bool is_first_byte = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    if (is_first_byte && out->size() + 4 > bytes_max) return;
    if (!is_space(c)) {
      out->push_back(c);
    } else if (!out->empty() && out->back() != ' ') {
      out->push_back(' ');
    }
  }
}

// Properties of Open Graph and its like whose content is an address.
bool is_open_graph_url(std::string_view property) {
  constexpr auto kProperties = std::to_array<std::string_view>(
      {"og:url", "og:image", "og:image:url", "og:image:secure_url", "og:video", "og:video:url",
       "og:video:secure_url", "og:audio", "og:audio:url", "og:audio:secure_url", "twitter:image",
       "twitter:image:src", "twitter:player"});
  return std::ranges::any_of(
      kProperties, [&](std::string_view known) { return equals_ignoring_case(property, known); });
}

class Extractor {
 public:
  explicit Extractor(const HtmlOptions& options) : options_(options) {}

  HtmlDocument run(std::string_view utf8) {
    reader_.feed(utf8);
    reader_.finish();
    while (reader_.next(&token_)) {
      switch (token_.kind) {
        case HtmlTokenKind::kStartTag: on_start(); break;
        case HtmlTokenKind::kEndTag: on_end(); break;
        case HtmlTokenKind::kText:
          if (in_ != In::kNothing) on_text();
          break;
        default: break;
      }
    }
    end_anchor();
    end_title();
    return std::move(document_);
  }

 private:
  enum class In : std::uint8_t { kNothing, kTitle, kStyle, kAnchor };

  std::string_view value_of(const HtmlAttribute& attribute) {
    return decoded(attribute.value, TextMode::kAttribute, &scratch_);
  }
  std::string_view value_of(NameKey key) {
    const HtmlAttribute* attribute = token_.find(key);
    return attribute == nullptr ? std::string_view() : value_of(*attribute);
  }

  Slice keep(std::string_view text) {
    const auto offset = static_cast<std::uint32_t>(document_.arena.size());
    document_.arena.append(text);
    return {offset, static_cast<std::uint32_t>(text.size())};
  }

  // Adds a link, or nothing if it is not one; null then. Its views may point into scratch_.
  HtmlLink* add(std::string_view url, LinkKind kind, LinkSource source) {
    url = trim(url);
    if (url.empty() || url.size() > kLinkBytesMax) return nullptr;
    if (document_.links.size() >= options_.links_max) {
      document_.links_cut = true;
      return nullptr;
    }
    if (kind == LinkKind::kNavigation && reader_.in_template()) kind = LinkKind::kHint;
    HtmlLink& link = document_.links.emplace_back();
    link.url = keep(url);
    link.kind = kind;
    link.source = source;
    return &link;
  }

  HtmlLink* add(NameKey key, LinkKind kind, LinkSource source) {
    const HtmlAttribute* attribute = token_.find(key);
    return attribute == nullptr ? nullptr : add(value_of(*attribute), kind, source);
  }
  HtmlLink* embed(NameKey key, LinkSource source) { return add(key, LinkKind::kEmbed, source); }

  void add_srcset(NameKey key) {
    const HtmlAttribute* attribute = token_.find(key);
    if (attribute == nullptr) return;
    find_srcset_urls(value_of(*attribute), [this](std::string_view url) {
      add(url, LinkKind::kEmbed, LinkSource::kSrcset);
    });
  }

  void add_css(std::string_view css) {
    find_css_links(css, [this](std::string_view url, bool is_import) {
      add(url, LinkKind::kEmbed, is_import ? LinkSource::kStylesheet : LinkSource::kCss);
    });
  }

  void on_start();
  void on_html_start();
  void on_foreign_start();
  void on_anchor(LinkSource source);
  void on_link();
  void on_meta();
  void on_image();
  void on_common_attributes();
  void on_end();
  void on_text();
  void end_anchor();
  void end_title();
  void set_rel(HtmlLink* link);

  const HtmlOptions& options_;
  HtmlReader reader_;
  HtmlToken token_;
  HtmlDocument document_;
  std::string scratch_;
  In in_ = In::kNothing;
  bool has_title_ = false;
  std::string text_;             // of the title or the anchor so far
  std::size_t anchor_link_ = 0;  // its index in links
};

void Extractor::on_start() {
  if (!token_.attributes.empty()) on_common_attributes();
  reader_.is_foreign() ? on_foreign_start() : on_html_start();
}

void Extractor::on_html_start() {
  switch (token_.key) {
    case name_key("a"): on_anchor(LinkSource::kA); break;
    case name_key("area"): on_anchor(LinkSource::kArea); break;
    case name_key("link"): on_link(); break;
    case name_key("meta"): on_meta(); break;
    case name_key("img"):
    case name_key("image"): on_image(); break;
    case name_key("script"): embed(name_key("src"), LinkSource::kScript); break;
    case name_key("iframe"): embed(name_key("src"), LinkSource::kIframe); break;
    case name_key("frame"): embed(name_key("src"), LinkSource::kFrame); break;
    case name_key("source"):
      embed(name_key("src"), LinkSource::kMedia);
      add_srcset(name_key("srcset"));
      break;
    case name_key("video"): embed(name_key("poster"), LinkSource::kMedia); [[fallthrough]];
    case name_key("audio"):
    case name_key("track"): embed(name_key("src"), LinkSource::kMedia); break;
    case name_key("embed"): embed(name_key("src"), LinkSource::kPlugin); break;
    case name_key("object"): embed(name_key("data"), LinkSource::kPlugin); break;
    case name_key("input"):
      if (equals_ignoring_case(value_of(name_key("type")), "image")) {
        embed(name_key("src"), LinkSource::kInput);
      }
      break;
    case name_key("form"): {
      const std::string_view method = trim(value_of(name_key("method")));
      if (!equals_ignoring_case(method, "post") && !equals_ignoring_case(method, "dialog")) {
        add(name_key("action"), LinkKind::kNavigation, LinkSource::kForm);
      }
      break;
    }
    case name_key("base"):
      if (document_.base.empty()) document_.base = keep(trim(value_of(name_key("href"))));
      break;
    case name_key("html"):
      embed(name_key("manifest"), LinkSource::kManifest);
      if (document_.language.empty()) {
        document_.language = keep(trim(value_of(name_key("lang"))));
      }
      break;
    case name_key("title"):
      if (has_title_) break;
      end_anchor();
      in_ = In::kTitle;
      text_.clear();
      break;
    case name_key("style"):
      end_anchor();
      in_ = In::kStyle;
      break;
    case name_key("blockquote"):
    case name_key("q"):
    case name_key("ins"):
    case name_key("del"): add(name_key("cite"), LinkKind::kHint, LinkSource::kCite); break;
    default: break;
  }
}

// Attributes that mean the same on any element.
void Extractor::on_common_attributes() {
  for (const HtmlAttribute& attribute : token_.attributes) {
    switch (attribute.key) {
      case name_key("style"):
        if (attribute.value.find('(') != std::string_view::npos) add_css(value_of(attribute));
        break;
      case name_key("background"):
        add(value_of(attribute), LinkKind::kEmbed, LinkSource::kBackground);
        break;
      case name_key("data-src"):
      case name_key("data-original"):
      case name_key("data-lazy-src"):
        add(value_of(attribute), LinkKind::kHint, LinkSource::kLazy);
        break;
      default: break;
    }
  }
}

void Extractor::on_foreign_start() {
  // SVG's own attribute is href; the older one is xlink:href.
  const HtmlAttribute* href = token_.find(name_key("href"));
  if (href == nullptr) href = token_.find(name_key("xlink:href"));
  if (href == nullptr) return;
  const std::string_view url = value_of(*href);
  if (token_.key == name_key("a")) {
    add(url, LinkKind::kNavigation, LinkSource::kSvg);
  } else if (!url.starts_with('#')) {
    add(url, LinkKind::kEmbed, LinkSource::kSvg);
  }
}

void Extractor::set_rel(HtmlLink* link) {
  const HtmlAttribute* rel = token_.find(name_key("rel"));
  if (rel == nullptr) return;
  const std::string_view words = trim(value_of(*rel));
  link->rel = keep(words);
  link->rel_bits = parse_rel(words);
}

void Extractor::on_anchor(LinkSource source) {
  end_anchor();
  HtmlLink* link = add(name_key("href"), LinkKind::kNavigation, source);
  if (link == nullptr) return;
  set_rel(link);
  if (const HtmlAttribute* hreflang = token_.find(name_key("hreflang"))) {
    link->hreflang = keep(trim(value_of(*hreflang)));
  }
  if (!options_.anchor_text || source != LinkSource::kA) return;
  in_ = In::kAnchor;
  text_.clear();
  anchor_link_ = document_.links.size() - 1;
}

void Extractor::on_link() {
  const std::string_view words = value_of(name_key("rel"));
  const std::uint16_t bits = parse_rel(words);
  if ((bits & kRelConnection) != 0) return;
  constexpr unsigned kEmbeds = kRelStylesheet | kRelIcon | kRelPreload | kRelManifest;
  const bool is_embed = (bits & kEmbeds) != 0;
  const LinkSource source =
      (bits & kRelStylesheet) != 0 ? LinkSource::kStylesheet : LinkSource::kLink;
  add_srcset(name_key("imagesrcset"));
  HtmlLink* link = add(name_key("href"), is_embed ? LinkKind::kEmbed : LinkKind::kHint, source);
  if (link == nullptr) return;
  set_rel(link);
  link->hreflang = keep(trim(value_of(name_key("hreflang"))));
  const bool is_alternate = (bits & kRelAlternate) != 0;
  if (is_alternate && is_feed_type(value_of(name_key("type")))) link->rel_bits |= kRelFeed;
  if ((bits & kRelCanonical) != 0 && document_.canonical.empty()) {
    document_.canonical = link->url;
  }
}

void Extractor::on_image() {
  embed(name_key("src"), LinkSource::kImage);
  add_srcset(name_key("srcset"));
  add(name_key("longdesc"), LinkKind::kHint, LinkSource::kCite);
  if (const HtmlAttribute* lazy = token_.find(name_key("data-srcset"))) {
    find_srcset_urls(value_of(*lazy), [this](std::string_view url) {
      add(url, LinkKind::kHint, LinkSource::kLazy);
    });
  }
  if (in_ == In::kAnchor) append_joined(value_of(name_key("alt")), kAnchorTextBytesMax, &text_);
}

void Extractor::on_text() {
  std::string_view text = decoded(token_.text, token_.mode, &scratch_);
  if (in_ == In::kStyle) return add_css(text);
  append_joined(text, in_ == In::kTitle ? kTitleBytesMax : kAnchorTextBytesMax, &text_);
}

void Extractor::end_anchor() {
  if (in_ != In::kAnchor) return;
  in_ = In::kNothing;
  document_.links[anchor_link_].text = keep(trim(text_));
}

void Extractor::end_title() {
  if (in_ != In::kTitle) return;
  in_ = In::kNothing;
  has_title_ = true;
  document_.title = keep(trim(text_));
}

void Extractor::on_meta() {
  const HtmlAttribute* content = token_.find(name_key("content"));
  if (content == nullptr) return;
  if (equals_ignoring_case(trim(value_of(name_key("http-equiv"))), "refresh")) {
    const auto refresh = parse_refresh(value_of(*content));
    if (refresh && !refresh->url.empty()) {
      add(refresh->url, LinkKind::kNavigation, LinkSource::kMetaRefresh);
    }
    return;
  }
  const HtmlAttribute* name = token_.find(name_key("name"));
  if (name == nullptr) name = token_.find(name_key("property"));
  if (name == nullptr) return;
  const std::string_view words = trim(value_of(*name));
  if (words.size() > kMetaNameBytesMax) return;
  const Slice name_slice = keep(words);
  if (is_open_graph_url(document_.view(name_slice))) {
    add(value_of(*content), LinkKind::kHint, LinkSource::kOpenGraph);
  }
  if (document_.metas.size() >= kMetasMax) return;
  const std::string_view text = trim(value_of(*content)).substr(0, kMetaContentBytesMax);
  document_.metas.push_back({name_slice, keep(text)});
}

void Extractor::on_end() {
  switch (token_.key) {
    case name_key("a"): end_anchor(); break;
    case name_key("title"): end_title(); break;
    case name_key("style"):
      if (in_ == In::kStyle) in_ = In::kNothing;
      break;
    default: break;
  }
}

}  // namespace

HtmlDocument read_html(std::string_view utf8, const HtmlOptions& options) {
  return Extractor(options).run(utf8);
}

}  // namespace meguri::web
