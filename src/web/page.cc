#include "web/page.h"

#include <algorithm>
#include <array>
#include <utility>

#include "web/ascii.h"
#include "web/content_decoder.h"
#include "web/content_type.h"
#include "web/css_links.h"
#include "web/document_kind.h"
#include "web/feed.h"
#include "web/html_document.h"
#include "web/html_text.h"
#include "web/http_date.h"
#include "web/http_fields.h"
#include "web/sitemap.h"
#include "web/utf8.h"

namespace meguri::web {
namespace {

constexpr std::size_t kSniffBytes = 1024;
constexpr std::size_t kPackedSniffBytes = 16U << 10U;

bool looks_binary(std::string_view body) {
  const std::string_view front = body.substr(0, kSniffBytes);
  if (charset_of_bom(front)) return false;
  return std::ranges::any_of(front, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && !is_space(c) && byte != 0x1B;  // ISO-2022-JP has escapes
  });
}

PageFormat format_of(DocumentKind kind) {
  switch (kind) {
    case DocumentKind::kSitemap: return PageFormat::kSitemap;
    case DocumentKind::kSitemapIndex: return PageFormat::kSitemapIndex;
    case DocumentKind::kTextSitemap: return PageFormat::kTextSitemap;
    case DocumentKind::kRss: return PageFormat::kRss;
    case DocumentKind::kAtom: return PageFormat::kAtom;
    case DocumentKind::kHtml: return PageFormat::kHtml;
    case DocumentKind::kOther: return PageFormat::kText;
  }
  return PageFormat::kText;
}

// What the header says is believed for HTML and CSS, which bytes cannot tell for sure; feeds and
// sitemaps are sent as anything.
PageFormat format_of(std::string_view body, const std::optional<ContentType>& type) {
  const std::string essence = type ? type->essence() : "";
  if (essence == "text/css") return PageFormat::kCss;
  const PageFormat seen = format_of(document_kind(body));
  if (seen == PageFormat::kText) {
    if (essence == "text/html" || essence == "application/xhtml+xml") return PageFormat::kHtml;
    if (looks_binary(body)) return PageFormat::kBinary;
  }
  const bool is_text = essence == "text/plain" || essence == "text/html" || essence.empty();
  if (seen == PageFormat::kTextSitemap && !is_text) return PageFormat::kText;
  return seen;
}

// What a file of gzip holds, if that is a document; else nothing, after a look at its front. Of a
// file that breaks off or turns out to be a bomb, what came before.
std::string unpack(std::string_view body, bool* cut) {
  if (!is_packed_document(body)) return {};
  std::string bytes;
  const DecodeLimits limits{.output_bytes_max = kXmlBytesMax};
  // All of the room at once, so that it is not copied as it grows; what is not used of it costs
  // nothing.
  bytes.reserve(std::min<std::uint64_t>(kXmlBytesMax,
                                        limits.ratio_free_bytes + body.size() * limits.ratio_max));
  ContentDecoder decoder(parse_content_codings("gzip"), limits);
  decoder.feed(body, &bytes);
  *cut = decoder.finish() != DecodeOutcome::kComplete;
  return bytes;
}

MarkupKind markup_of(PageFormat format) {
  switch (format) {
    case PageFormat::kHtml: return MarkupKind::kHtml;
    case PageFormat::kCss: return MarkupKind::kCss;
    case PageFormat::kText:
    case PageFormat::kTextSitemap: return MarkupKind::kText;
    default: return MarkupKind::kXml;
  }
}

class PageReader {
 public:
  PageReader(std::string_view body, const PageContext& context) : body_(body), context_(context) {
    if (context.url != nullptr) page_.base = *context.url;
    page_.charset.charset = Charset::kUtf8;  // for the links of the header
  }

  Page run() {
    std::optional<ContentType> type;
    if (context_.fields != nullptr) {
      type = content_type_of(*context_.fields);
      read_fields(*context_.fields);
    }
    if (is_gzip(body_)) {
      unpacked_ = unpack(body_, &page_.cut);
      page_.unpacked = !unpacked_.empty();
      if (page_.unpacked) body_ = unpacked_;
      // Else it is the type of the package.
      if (page_.unpacked && type && !type->essence().starts_with("text/")) type.reset();
    }
    page_.format = format_of(body_, type);
    if (page_.format == PageFormat::kBinary) return std::move(page_);
    std::optional<std::string_view> label;
    if (type) label = type->charset();
    page_.charset = find_charset(body_, label, markup_of(page_.format));
    switch (page_.format) {
      case PageFormat::kHtml: read_html_page(); break;
      case PageFormat::kCss: read_css(); break;
      case PageFormat::kRss:
      case PageFormat::kAtom: read_feed(); break;
      case PageFormat::kSitemap:
      case PageFormat::kSitemapIndex:
      case PageFormat::kTextSitemap: read_sitemap_page(); break;
      default:
        body_ = body_.substr(0, kTextBytesMax);
        if (std::string storage; context_.want_text) page_.main_text = utf8(&storage);
        break;
    }
    if (context_.want_text) page_.sketch = sketch_of(page_.main_text);
    return std::move(page_);
  }

 private:
  // The body in UTF-8: itself where it is that already, for it may be large; else in `*storage`.
  std::string_view utf8(std::string* storage) const {
    const Charset charset = page_.charset.charset;
    const bool is_whole =
        charset == Charset::kUtf8 && !body_.starts_with(kByteOrderMarkUtf8) && is_valid_utf8(body_);
    const bool is_ascii = charset == Charset::kWindows1252 && ascii_prefix(body_) == body_.size();
    if (is_whole || is_ascii) return body_;
    decode(body_, charset, storage);
    return *storage;
  }

  PageLink* add(std::string_view text, LinkKind kind, LinkSource source) {
    auto url = Url::parse(text, page_.base ? &*page_.base : nullptr, page_.charset.charset);
    if (!url) {
      ++page_.links_unresolved;
      return nullptr;
    }
    return &page_.links.emplace_back(
        PageLink{.url = *std::move(url), .kind = kind, .source = source});
  }

  void read_fields(const FieldList& fields);
  void read_html_page();
  void read_css();
  void read_feed();
  void add_feed_link(const Feed& feed, const FeedLink& link, LinkKind kind, const FeedEntry* entry);
  void read_sitemap_page();

  std::string_view body_;
  std::string unpacked_;  // of a file of gzip
  const PageContext& context_;
  Page page_;
};

void PageReader::read_fields(const FieldList& fields) {
  for (const std::string_view tag : fields.all("X-Robots-Tag")) {
    page_.directives = merge(page_.directives, parse_x_robots_tag(tag, context_.agent));
  }
  page_.declared_language = trim(fields.get("Content-Language").value_or(""));
  for (const HeaderLink& header : links_of(fields)) {
    if (header.anchor) continue;  // it speaks of another page
    std::string rel;
    for (const std::string& word : header.rels) rel.append(rel.empty() ? "" : " ").append(word);
    std::uint16_t bits = parse_rel(rel);
    if ((bits & kRelAlternate) != 0 && is_feed_type(header.type)) bits |= kRelFeed;
    if ((bits & kRelConnection) != 0) continue;
    const bool is_embed = (bits & (kRelStylesheet | kRelIcon | kRelPreload)) != 0;
    PageLink* link =
        add(header.target, is_embed ? LinkKind::kEmbed : LinkKind::kHint, LinkSource::kHeader);
    if (link == nullptr) continue;
    link->rel = std::move(rel);
    link->rel_bits = bits;
    if (!header.hreflangs.empty()) link->hreflang = header.hreflangs.front();
    if ((bits & kRelCanonical) != 0 && !page_.canonical_link) page_.canonical_link = link->url;
  }
}

void PageReader::read_html_page() {
  std::string storage;
  const std::string_view text = utf8(&storage);
  const HtmlDocument document =
      read_html(text, {.anchor_text = context_.anchor_text, .links_max = context_.links_max});
  page_.cut = page_.cut || document.links_cut;
  page_.title = document.view(document.title);
  if (!document.language.empty()) page_.declared_language = document.view(document.language);
  if (!document.base.empty()) {
    auto base = Url::parse(document.view(document.base), page_.base ? &*page_.base : nullptr);
    if (base && (base->is_http() || base->scheme() == "file")) page_.base = std::move(base);
  }
  for (const HtmlMeta& meta : document.metas) {
    if (is_robots_meta_name(document.view(meta.name), context_.agent)) {
      page_.directives = merge(page_.directives, parse_meta_robots(document.view(meta.content)));
    }
  }
  page_.links.reserve(page_.links.size() + document.links.size());
  for (const HtmlLink& found : document.links) {
    PageLink* link = add(document.view(found.url), found.kind, found.source);
    if (link == nullptr) continue;
    link->rel_bits = found.rel_bits;
    link->rel = document.view(found.rel);
    link->hreflang = document.view(found.hreflang);
    link->text = document.view(found.text);
    if ((found.rel_bits & kRelCanonical) != 0 && !page_.canonical_link) {
      page_.canonical_link = link->url;
    }
  }
  if (!context_.want_text) return;
  const PageText words = read_text(text);
  page_.cut = page_.cut || words.cut;
  page_.main_text = words.main_text();
}

void PageReader::read_css() {
  std::string storage;
  find_css_links(utf8(&storage), [this](std::string_view url, bool is_import) {
    add(url, LinkKind::kEmbed, is_import ? LinkSource::kStylesheet : LinkSource::kCss);
  });
}

void PageReader::add_feed_link(const Feed& feed, const FeedLink& link, LinkKind kind,
                               const FeedEntry* entry) {
  const std::optional<Url> outer = page_.base;
  for (const std::string_view step : feed.bases_of(link)) {
    auto base = Url::parse(step, page_.base ? &*page_.base : nullptr);
    if (base) page_.base = std::move(base);
  }
  PageLink* added = add(link.href, kind, LinkSource::kFeed);
  page_.base = outer;
  if (added == nullptr) return;
  added->rel = link.rel;
  added->rel_bits = parse_rel(link.rel);
  if (entry == nullptr) return;
  added->text = entry->title;
  added->date =
      parse_any_date(entry->updated.empty() ? entry->published : entry->updated, context_.year_now);
}

void PageReader::read_feed() {
  const Feed feed = parse_feed(body_);
  page_.cut = page_.cut || feed.entries_cut || feed.end == XmlEnd::kTooLarge;
  page_.title = feed.title;
  for (const FeedLink& link : feed.links) {
    if (link.rel != "hub") add_feed_link(feed, link, LinkKind::kHint, nullptr);
  }
  for (const FeedEntry& entry : feed.entries) {
    const FeedLink* own = entry.page();
    for (const FeedLink& link : entry.links) {
      const LinkKind kind = &link == own ? LinkKind::kNavigation : LinkKind::kHint;
      add_feed_link(feed, link, kind, &link == own ? &entry : nullptr);
    }
    if (!context_.want_text || entry.title.empty()) continue;
    page_.main_text.append(entry.title).push_back('\n');
  }
}

void PageReader::read_sitemap_page() {
  const SitemapReport report = read_sitemap(body_, [this](SitemapEntry&& entry) {
    PageLink* link = add(entry.loc, LinkKind::kNavigation, LinkSource::kSitemap);
    if (link != nullptr) {
      const std::string& date = entry.lastmod.empty() ? entry.publication_date : entry.lastmod;
      link->date = parse_any_date(date, context_.year_now);
    }
    for (const SitemapAlternate& alternate : entry.alternates) {
      PageLink* other = add(alternate.href, LinkKind::kHint, LinkSource::kSitemap);
      if (other != nullptr) other->hreflang = alternate.hreflang;
    }
    for (const std::string& image : entry.images) {
      add(image, LinkKind::kHint, LinkSource::kSitemap);
    }
    for (const std::string& video : entry.videos) {
      add(video, LinkKind::kHint, LinkSource::kSitemap);
    }
  });
  page_.cut = page_.cut || report.urls_cut || report.end == XmlEnd::kTooLarge;
}

}  // namespace

std::string_view name_of(PageFormat format) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"html", "css", "sitemap", "sitemap-index", "text-sitemap", "rss", "atom", "text", "binary"});
  const auto index = static_cast<std::size_t>(format);
  return index < kNames.size() ? kNames[index] : "?";
}

PageFormat format_of_front(std::string_view front, const FieldList& fields) {
  return format_of(front, content_type_of(fields));
}

bool is_packed_document(std::string_view front) {
  const DecodedContent unpacked = decode_content(front.substr(0, kPackedSniffBytes), "gzip",
                                                 {.output_bytes_max = kDocumentKindBytesMax});
  return document_kind(unpacked.bytes) != DocumentKind::kOther;
}

Page read_page(std::string_view body, const PageContext& context) {
  return PageReader(body, context).run();
}

}  // namespace meguri::web
