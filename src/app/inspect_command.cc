#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/document.h"
#include "app/fetched_warc.h"
#include "app/input.h"
#include "app/network_arguments.h"
#include "app/page_fetch.h"
#include "base/hash.h"
#include "base/text.h"
#include "env/clock.h"
#include "env/posix_file_system.h"
#include "web/ascii.h"
#include "web/canonical.h"
#include "web/domain.h"
#include "web/language.h"
#include "web/page.h"
#include "web/percent.h"
#include "web/surt.h"
#include "web/url_filter.h"
#include "web/url_template.h"

namespace meguri::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kKinds = {web::LinkKind::kNavigation, web::LinkKind::kEmbed,
                               web::LinkKind::kHint};

int year_now() {
  const env::RealClock clock;
  return std::atoi(clock.utc().to_digits().substr(0, 4).c_str());
}

// A file as the address of what is in it: "file:///a/b.html".
std::optional<web::Url> url_of_file(const std::string& path) {
  std::array<char, PATH_MAX> buffer{};
  const char* absolute = ::realpath(path.c_str(), buffer.data());
  if (absolute == nullptr) return std::nullopt;
  std::string escaped = "file://";
  for (const char* c = absolute; *c != '\0'; ++c) {
    if (*c == '?' || *c == '#' || *c == '%') {
      escaped += *c == '?' ? "%3F" : (*c == '#' ? "%23" : "%25");
    } else {
      escaped += *c;
    }
  }
  return web::Url::parse(escaped);
}

std::string names_of(const web::RobotsDirectives& directives) {
  std::string names = directives.noindex ? "noindex" : "index";
  names += directives.nofollow ? ", nofollow" : ", follow";
  if (directives.noarchive) names += ", noarchive";
  if (directives.nosnippet) names += ", nosnippet";
  if (directives.noimageindex) names += ", noimageindex";
  if (!directives.unavailable_after.empty()) {
    names += ", unavailable after " + printable(directives.unavailable_after);
  }
  return names;
}

std::string_view name_of(web::CharsetSource source) {
  switch (source) {
    case web::CharsetSource::kBom: return "byte order mark";
    case web::CharsetSource::kHeader: return "header";
    case web::CharsetSource::kMeta: return "document";
    case web::CharsetSource::kXmlDeclaration: return "XML declaration";
    case web::CharsetSource::kDetected: return "detected";
    case web::CharsetSource::kDefault: return "default";
  }
  return "?";
}

class InspectCommand final : public Command {
 public:
  void declare(Options options) override {
    options.argument(
        "DOCUMENT", document_,
        "A URL, which is fetched as a crawl would; or a file, a folder with an index.html, or "
        "'-' for standard input. "
        "A file may begin with the head of an HTTP response, as 'curl -i' saves it");
    options.option("--url", "URL", url_text_, "Where the document in a file was found");
    options.option("--type", "MIME", type_, "What it was sent as, such as text/css");
    options.flag("--offline", offline_, "Fetch nothing: look at the URL alone");
    options.flag("--ignore-robots", ignores_robots_, "Fetch it even if robots.txt forbids that");
    options.option("--save", "FILE", save_, "Keep what was fetched, as a new .warc.gz file");
    network_.declare(options);
    options.flag("--json", json_, "Print one JSON object");
  }

  base::Status run(Output& out) override {
    if (!url_text_.empty()) RETURN_IF_ERROR(set_url(url_text_));
    env::PosixFileSystem fs;
    if (document_ != "-") {
      ASSIGN_OR_RETURN(const bool exists, fs.exists(document_));
      const bool is_url = document_.starts_with("http://") || document_.starts_with("https://");
      if (!exists && is_url && url_text_.empty()) {
        RETURN_IF_ERROR(set_url(document_));
        RETURN_IF_ERROR(offline_ ? describe_url() : describe_fetched(fs));
        print(out);
        return {};
      }
    }
    if (!save_.empty()) {
      return base::fail(base::ErrorCode::kInvalid,
                        "--save keeps what a URL was fetched for, and "
                        "{} is none",
                        base::quoted(document_));
    }
    // As a web server answers for a folder.
    ASSIGN_OR_RETURN(const bool has_index, fs.exists(document_ + "/index.html"));
    if (has_index) document_ += "/index.html";
    ASSIGN_OR_RETURN(Input input, read_input(document_));
    if (!url_ && document_ != "-") base_ = url_of_file(document_);
    Document document = document_of(std::move(input.bytes));
    if (input.cut) document.remarks.emplace_back("only the first 100 MB were read");
    if (url_) RETURN_IF_ERROR(describe_url());
    describe_document(document);
    print(out);
    return {};
  }

 private:
  base::Status set_url(const std::string& text) {
    web::UrlFailure failure{};
    url_ = web::Url::parse(text, nullptr, web::Charset::kUtf8, &failure);
    if (!url_) {
      return base::fail(base::ErrorCode::kInvalid, "{} is no URL ({})", base::quoted(text),
                        web::name_of(failure));
    }
    base_ = url_;
    return {};
  }

  // One line for people, and one member of the object.
  void say(std::string_view label, const std::string& text, std::string_view key, Json value) {
    lines_.push_back(fmt::format("{:<11} {}\n", label, text));
    json_object_[std::string(key)] = std::move(value);
  }
  void say(std::string_view label, const std::string& text) { say(label, text, label, text); }

  base::Status describe_url() {
    const web::Url canonical = web::canonical(*url_);
    say("url", url_->href());
    say("canonical", canonical.href());
    say("surt", printable(web::surt_key(canonical)));
    say("domain", std::string(web::registrable_domain(canonical.host())));
    const auto refusal = web::check(canonical, {.year_now = year_now()});
    say("filter", refusal ? "refused: " + std::string(web::name_of(*refusal)) : "passes", "filter",
        refusal ? Json(web::name_of(*refusal)) : Json());
    say("template", web::lexical_template(canonical));
    say("id", base::Id::of(canonical.href()).to_hex());
    return {};
  }

  base::Status describe_fetched(env::FileSystem& files) {
    const env::RealClock clock;
    crawl::CrawlOptions options;
    options.user_agent = network_.user_agent();
    options.obeys_robots = !ignores_robots_;
    ASSIGN_OR_RETURN(const fetch::CurlOptions curl, network_.http(files));
    ASSIGN_OR_RETURN(const auto http, fetch::make_curl_http_client(clock, curl));
    ASSIGN_OR_RETURN(const auto names, fetch::make_ares_dns(clock, network_.names()));
    PageFetch fetch({clock, *http, *names, curl.policy}, options);
    ASSIGN_OR_RETURN(const std::vector<FetchedHop> hops, fetch.get(*url_));
    if (!save_.empty()) {
      const std::string name = save_.substr(save_.rfind('/') + 1);
      ASSIGN_OR_RETURN(const auto file, files.create(save_));
      ASSIGN_OR_RETURN(const std::string bytes,
                       warc_of(hops, name, options.user_agent, clock.utc()));
      RETURN_IF_ERROR(file->append(bytes));
      RETURN_IF_ERROR(file->sync());
    }
    RETURN_IF_ERROR(set_url(hops.back().url));
    describe_hops(hops);
    RETURN_IF_ERROR(describe_url());
    const fetch::Fetched& answer = hops.back().answer;
    Document document = document_of(answer.response_head, std::string(answer.body.memory()));
    if (answer.truncation != fetch::Truncation::kNone) {
      document.remarks.push_back("the body is not whole: " + printable(answer.error));
    }
    describe_document(document);
    if (!save_.empty()) say("saved", save_);
    return {};
  }

  void describe_hops(const std::vector<FetchedHop>& hops) {
    Json list = Json::array();
    for (const FetchedHop& hop : hops) {
      lines_.push_back(fmt::format("{:<11} {} {}\n", "fetched", hop.answer.status, hop.url));
      list.push_back({{"url", hop.url}, {"status", hop.answer.status}});
    }
    json_object_["hops"] = std::move(list);
    const FetchedHop& last = hops.back();
    const fetch::Fetched& answer = last.answer;
    say("robots.txt", last.robots, "robots_txt", last.robots);
    const std::string address = answer.connected ? answer.connected->to_string() : "unknown";
    say("address", address);
    const std::string protocol(fetch::name_of(answer.protocol));
    say("protocol",
        answer.tls_version.empty() ? protocol : fmt::format("{}, {}", protocol, answer.tls_version),
        "protocol", protocol);
    json_object_["tls"] = answer.tls_version;
    const std::int64_t first_ms = (answer.times.first_byte - answer.times.started).ms();
    const std::int64_t whole_ms = (answer.times.finished - answer.times.started).ms();
    say("time", fmt::format("{} ms to the first byte, {} ms in all", first_ms, whole_ms), "ms",
        whole_ms);
    json_object_["first_byte_ms"] = first_ms;
    describe_head("sent", "request_head", answer.request_head);
    describe_head("received", "response_head", answer.response_head);
  }

  void describe_head(std::string_view label, std::string_view key, std::string_view head) {
    json_object_[std::string(key)] = std::string(head);
    while (!head.empty()) {
      const std::size_t end = std::min(head.find("\r\n"), head.size());
      if (end > 0)
        lines_.push_back(fmt::format("{:<11} {}\n", label, printable(head.substr(0, end))));
      head.remove_prefix(std::min(end + 2, head.size()));
      label = "";
    }
  }

  void describe_document(Document& document) {
    if (!type_.empty()) {
      document.fields.remove("Content-Type");
      document.fields.add("Content-Type", type_);
    } else if (!document.fields.has("Content-Type")) {
      if (document_.ends_with(".css")) document.fields.add("Content-Type", "text/css");
      if (document_.ends_with(".html") || document_.ends_with(".htm")) {
        document.fields.add("Content-Type", "text/html");
      }
    }
    web::PageContext context;
    context.url = base_ ? &*base_ : nullptr;
    context.fields = &document.fields;
    context.year_now = year_now();
    context.anchor_text = true;
    context.want_text = true;
    const web::Page page = web::read_page(document.body, context);
    if (document.status) {
      say("status", fmt::format("{}", *document.status), "status", *document.status);
    }
    say("bytes", fmt::format("{}", document.body.size()), "bytes", document.body.size());
    say("format", std::string(web::name_of(page.format)));
    if (page.format != web::PageFormat::kBinary) describe_page(page, document);
    json_object_["remarks"] = document.remarks;
    for (const std::string& remark : document.remarks) {
      lines_.push_back(fmt::format("{:<11} {}\n", "remark", remark));
    }
  }

  void describe_page(const web::Page& page, Document& document) {
    const std::string charset(web::name_of(page.charset.charset));
    say("charset", fmt::format("{} ({})", charset, name_of(page.charset.source)), "charset",
        charset);
    json_object_["charset_source"] = name_of(page.charset.source);
    describe_language(page, document);
    say("title", printable(page.title), "title", page.title);
    say("robots", names_of(page.directives));
    if (page.canonical_link)
      say("says it is", page.canonical_link->href(), "canonical_link", page.canonical_link->href());
    describe_links(page);
    describe_text(page);
    if (page.cut) document.remarks.emplace_back("the document passes a limit; some was left out");
  }

  void describe_language(const web::Page& page, const Document& document) {
    web::LanguageHints hints;
    hints.html_lang = page.declared_language;
    hints.content_language = document.fields.get("Content-Language").value_or("");
    const web::LanguageFinding finding = web::find_languages(page.main_text, hints);
    std::string text;
    Json shares = Json::array();
    for (const web::LanguageShare& share : finding.languages) {
      text += fmt::format("{}{} {} %", text.empty() ? "" : ", ", share.code, share.percent);
      shares.push_back({{"code", share.code}, {"percent", share.percent}});
    }
    if (text.empty()) text = "unknown";
    if (!finding.languages.empty() && !finding.reliable) text += " (not sure)";
    if (!page.declared_language.empty()) {
      text += fmt::format("; it says {}", printable(page.declared_language));
    }
    say("language", text, "languages", std::move(shares));
    json_object_["language_reliable"] = finding.reliable;
    json_object_["language_declared"] = page.declared_language;
  }

  void describe_links(const web::Page& page) {
    std::string text;
    Json links = Json::array();
    for (const web::LinkKind kind : kKinds) {
      const auto count = std::ranges::count(page.links, kind, &web::PageLink::kind);
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, web::name_of(kind));
    }
    if (page.links_unresolved > 0) text += fmt::format(", {} not URLs", page.links_unresolved);
    for (const web::PageLink& link : page.links) links.push_back(json_of(link));
    say("links", text, "links", std::move(links));
    json_object_["links_unresolved"] = page.links_unresolved;
    for (const web::LinkKind kind : kKinds) {
      for (const web::PageLink& link : page.links) {
        if (link.kind != kind) continue;
        lines_.push_back(fmt::format("  {:<10} {:<12} {}{}\n", web::name_of(kind),
                                     web::name_of(link.source), link.url.href(),
                                     link.rel.empty() ? "" : "  (" + printable(link.rel) + ")"));
      }
    }
  }

  static Json json_of(const web::PageLink& link) {
    Json json = {{"url", link.url.href()},
                 {"kind", web::name_of(link.kind)},
                 {"source", web::name_of(link.source)}};
    if (!link.rel.empty()) json["rel"] = link.rel;
    if (!link.hreflang.empty()) json["hreflang"] = link.hreflang;
    if (!link.text.empty()) json["text"] = link.text;
    if (link.date) json["date"] = link.date->to_rfc3339();
    return json;
  }

  void describe_text(const web::Page& page) {
    const std::string simhash = fmt::format("{:016x}", page.sketch.simhash);
    say("simhash", simhash);
    say("main text", fmt::format("{} words", page.sketch.words), "main_text", page.main_text);
    json_object_["main_words"] = page.sketch.words;
    std::string_view rest = page.main_text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      lines_.push_back(fmt::format("  {}\n", printable(rest.substr(0, end))));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  void print(Output& out) const {
    if (json_) {
      out.write(json_object_.dump(-1, ' ', false, Json::error_handler_t::replace));
      out.write("\n");
      return;
    }
    for (const std::string& line : lines_) out.write(line);
  }

  std::string document_;
  std::string url_text_;
  std::string type_;
  std::string save_;
  NetworkArguments network_;
  bool offline_ = false;
  bool ignores_robots_ = false;
  bool json_ = false;
  std::optional<web::Url> url_;   // as given
  std::optional<web::Url> base_;  // what the document is relative to
  std::vector<std::string> lines_;
  Json json_object_;
};

}  // namespace

std::unique_ptr<Command> make_inspect_command() { return std::make_unique<InspectCommand>(); }

}  // namespace meguri::app
