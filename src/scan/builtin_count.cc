// count-by: the values by which documents are counted.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "scan/builtin_functions.h"
#include "scan/document_page.h"
#include "web/ascii.h"
#include "web/charset.h"
#include "web/domain.h"

namespace meguri::scan {

namespace {

using base::ErrorCode;

constexpr auto kKeys = std::to_array<std::string_view>(
    {"host", "domain", "mime", "status", "language", "month", "day", "charset"});
constexpr std::size_t kMonthBytes = 7;  // "2026-11"
constexpr std::size_t kDayBytes = 10;
constexpr std::string_view kKeyList =
    "host, domain, mime, status, language, month, day and charset";

// An address, or a name that nobody registered, stands for itself.
std::string_view domain_of(std::string_view host) {
  const std::string_view registered = web::registrable_domain(host);
  return registered.empty() ? host : registered;
}

// In which the content is read; what the server says where it is no text.
std::string charset_of(const Document& document, DocumentPage& page) {
  if (!page.is_text()) return document.charset;
  return web::lower_copy(name_of(page.page().charset.charset));
}

// Empty: not known. The content is parsed only for keys that need it.
std::string value_of(std::string_view key, const Document& document, DocumentPage& page) {
  const base::Instant time = document.facts.time;
  if (key == "host") return std::string(page.host());
  if (key == "domain") return std::string(domain_of(page.host()));
  if (key == "mime") return document.mime;
  if (key == "status") return document.status == 0 ? "" : fmt::format("{}", document.status);
  if (key == "language") return page.language();
  if (key == "month") return time.to_rfc3339().substr(0, kMonthBytes);
  if (key == "day") return time.to_rfc3339().substr(0, kDayBytes);
  return charset_of(document, page);
}

}  // namespace

base::Result<std::vector<std::string>> parse_count_keys(Arguments arguments) {
  std::vector<std::string> keys;
  for (std::string_view rest : arguments) {
    while (true) {
      const std::size_t comma = rest.find(',');
      const std::string_view key = rest.substr(0, comma);
      if (std::ranges::count(kKeys, key) == 0) {
        return base::fail(ErrorCode::kInvalid, "count-by knows no key {}; there are {}",
                          base::quoted(key), kKeyList);
      }
      if (std::ranges::count(keys, key) != 0) {
        return base::fail(ErrorCode::kInvalid, "count-by has the key {} twice; name it once",
                          base::quoted(key));
      }
      keys.emplace_back(key);
      if (comma == rest.npos) break;
      rest.remove_prefix(comma + 1);
    }
  }
  if (keys.empty()) {
    return base::fail(ErrorCode::kInvalid, "count-by needs one key or more of {}", kKeyList);
  }
  return keys;
}

base::Result<Analyse> make_count_by(Arguments arguments) {
  ASSIGN_OR_RETURN(auto keys, parse_count_keys(arguments));
  return [keys = std::move(keys)](const Document& document) -> base::Result<env::SpooledBytes> {
    DocumentPage page(document);
    std::string line;
    for (const std::string& key : keys) {
      const std::string value = value_of(key, document, page);
      if (!line.empty()) line += '\t';
      append_plain(value.empty() ? std::string_view("-") : value, line);
    }
    line += '\n';
    return env::SpooledBytes(std::move(line));
  };
}

}  // namespace meguri::scan
