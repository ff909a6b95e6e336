// grep: the lines of text in which a pattern is found.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "scan/builtin_functions.h"
#include "scan/document_page.h"
#include "scan/line_cutter.h"
#include "web/charset.h"
#include "web/content_decoder.h"
#include "web/page.h"

namespace meguri::scan {

namespace {

using base::ErrorCode;

constexpr std::size_t kShownBytesMax = 1000;                       // of a line
constexpr std::size_t kResultPieceBytes = std::size_t{64} << 10U;  // held before they are spooled
constexpr std::size_t kDecodedAtOnce = std::size_t{16} << 10U;
// A pattern that needs more is refused; a set of states above it is thrown away and built anew.
constexpr std::int64_t kPatternBytesMax = std::int64_t{8} << 20U;

struct GrepOptions {
  std::string pattern;
  bool ignores_case = false;
  bool urls_only = false;
};

std::unexpected<base::Error> wrong_use(std::string_view what) {
  return base::fail(ErrorCode::kInvalid, "{}; use: grep [-i] [-l] REGEX", what);
}

base::Result<GrepOptions> parse_grep(Arguments arguments) {
  GrepOptions options;
  while (!arguments.empty() && arguments.front().size() > 1 && arguments.front().front() == '-') {
    const std::string& word = arguments.front();
    arguments = arguments.subspan(1);
    if (word == "--") break;
    for (const char c : std::string_view(word).substr(1)) {
      if (c != 'i' && c != 'l') {
        return wrong_use(fmt::format("grep has no option {}", base::quoted(word)));
      }
      (c == 'i' ? options.ignores_case : options.urls_only) = true;
    }
  }
  if (arguments.empty()) return wrong_use("grep needs a regular expression");
  if (arguments.size() > 1) {
    return wrong_use(fmt::format("grep takes one regular expression, but there is also {}",
                                 base::quoted(arguments[1])));
  }
  options.pattern = arguments.front();
  return options;
}

// Whether its main text is what people read; of other text all is looked through.
bool is_page(web::PageFormat format) {
  return format == web::PageFormat::kHtml || format == web::PageFormat::kRss ||
         format == web::PageFormat::kAtom;
}

// Looks through one document. Memory does not grow with it, nor with what is found.
class Search {
 public:
  Search(const re2::RE2& pattern, bool urls_only, const Document& document, env::Spool* spool)
      : pattern_(pattern), urls_only_(urls_only), out_(spool) {
    append_plain(document.facts.url, url_);
  }

  void feed(std::string_view text) {
    cutter_.feed(text, [this](std::string_view line) { look_at(line); });
  }

  // Nothing more can be found.
  bool is_done() const { return is_done_; }

  base::Result<env::SpooledBytes> finish() {
    cutter_.finish([this](std::string_view line) { look_at(line); });
    pass_on();
    RETURN_IF_ERROR(status_);
    return out_.finish();
  }

 private:
  void look_at(std::string_view line) {
    if (is_done_) return;
    if (!re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), pattern_)) return;
    found_ += url_;
    if (!urls_only_) {
      found_ += '\t';
      append_plain(cut_text(line, kShownBytesMax), found_);
    }
    found_ += '\n';
    is_done_ = urls_only_;
    if (found_.size() >= kResultPieceBytes) pass_on();
  }

  void pass_on() {
    status_ = out_.append(found_);
    is_done_ = is_done_ || !status_;
    found_.clear();
  }

  const re2::RE2& pattern_;
  const bool urls_only_;
  std::string url_;
  LineCutter cutter_;
  std::string found_;  // not passed on yet
  bool is_done_ = false;
  base::Status status_;
  env::SpoolWriter out_;
};

// All of a document as text, of whatever charset; also of one in a file of gzip.
base::Status read_all(const Document& document, const web::Page& page, Search& search) {
  web::Decoder decoder(page.charset.charset);
  web::ContentDecoder unpacker(web::parse_content_codings(page.unpacked ? "gzip" : ""),
                               {.output_bytes_max = std::numeric_limits<std::uint64_t>::max()});
  std::string plain;
  std::string text;
  const auto take = [&](std::string_view piece) -> base::Status {
    while (!piece.empty() && !search.is_done()) {
      plain.clear();
      text.clear();
      unpacker.feed(piece.substr(0, kDecodedAtOnce), &plain);
      decoder.append(plain, &text);
      search.feed(text);
      piece.remove_prefix(std::min(piece.size(), kDecodedAtOnce));
    }
    return {};
  };
  RETURN_IF_ERROR(document.content.for_each_piece(take));
  text.clear();
  decoder.finish(&text);
  search.feed(text);
  return {};
}

}  // namespace

base::Result<Analyse> make_grep(Arguments arguments, std::shared_ptr<ResultSpool> spool) {
  ASSIGN_OR_RETURN(const GrepOptions options, parse_grep(arguments));
  re2::RE2::Options settings;
  settings.set_case_sensitive(!options.ignores_case);
  settings.set_log_errors(false);
  settings.set_max_mem(kPatternBytesMax);
  // Shared by the copies of the function.
  auto pattern = std::make_shared<const re2::RE2>(options.pattern, settings);
  if (!pattern->ok()) {
    return base::fail(ErrorCode::kInvalid, "{} is no regular expression: {}",
                      base::quoted(options.pattern), pattern->error());
  }
  return [pattern = std::move(pattern), spool = std::move(spool), urls_only = options.urls_only](
             const Document& document) -> base::Result<env::SpooledBytes> {
    DocumentPage document_page(document);
    if (!document_page.is_text()) return env::SpooledBytes();
    const web::Page& page = document_page.page();
    Search search(*pattern, urls_only, document, spool->get());
    if (is_page(page.format)) {
      search.feed(page.main_text);
    } else {
      RETURN_IF_ERROR(read_all(document, page, search));
    }
    return search.finish();
  };
}

}  // namespace meguri::scan
