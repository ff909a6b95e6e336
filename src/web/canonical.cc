#include "web/canonical.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "web/ascii.h"
#include "web/percent.h"

namespace meguri::web {

namespace {

// True if `c` behind what `out` ends with would complete an escape whose '%' and first digit stood
// there on their own: "%2" and "5" from "%2%35".
bool would_complete_escape(const std::string& out, char c) {
  if (hex_value(c) < 0 || out.empty()) return false;
  if (out.back() == '%') return true;
  return out.size() >= 2 && out[out.size() - 2] == '%' && hex_value(out.back()) >= 0;
}

// Appends `text` with its escapes in their one form. Whole escapes are appended at once, so a '%'
// among the last two bytes of `out` never belongs to one.
void append_normalised(std::string_view text, std::string* out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t next = text.find('%', i);
    out->append(text.substr(i, next - i));
    if (next == std::string_view::npos) return;
    i = next;
    const int byte = escape_at(text, i);
    if (byte < 0) {
      *out += '%';
      continue;
    }
    i += 2;
    const char c = static_cast<char>(byte);
    if (is_unreserved(c) && !would_complete_escape(*out, c)) {
      *out += c;
    } else {
      append_escape(c, out);
    }
  }
}

// Without the dot of a fully qualified name. Names that end in two dots are no such names.
std::string_view without_root_dot(std::string_view host) {
  if (host.size() < 2 || !host.ends_with('.') || host.ends_with("..")) return host;
  return host.substr(0, host.size() - 1);
}

}  // namespace

// Builds the form part by part, with the offsets of a parsed URL.
class Canonicalizer {
 public:
  explicit Canonicalizer(const Url& url) : url_(url) {}

  bool is_canonical() const {
    return !url_.has_fragment() && (!url_.is_http() || is_canonical_before_fragment());
  }

  Url run() {
    if (!url_.is_http() || is_canonical_before_fragment()) {
      return url_.has_fragment() ? without_fragment() : url_;
    }
    append_authority();
    out_.path_begin_ = static_cast<std::uint32_t>(out_.href_.size());
    append_normalised(url_.path(), &out_.href_);
    if (!url_.query().empty()) {
      out_.query_begin_ = static_cast<std::uint32_t>(out_.href_.size());
      out_.href_ += '?';
      append_normalised(url_.query(), &out_.href_);
    }
    return std::move(out_);
  }

 private:
  // True if nothing before the fragment needs to change; true for most.
  bool is_canonical_before_fragment() const {
    if (url_.has_credentials() || url_.host().ends_with('.')) return false;
    if (url_.has_query() && url_.query().empty()) return false;
    return !url_.without_fragment().substr(url_.path_begin_).contains('%');
  }

  Url without_fragment() {
    out_.href_.assign(url_.without_fragment());
    out_.scheme_end_ = url_.scheme_end_;
    out_.username_end_ = url_.username_end_;
    out_.host_begin_ = url_.host_begin_;
    out_.host_end_ = url_.host_end_;
    out_.path_begin_ = url_.path_begin_;
    out_.query_begin_ = url_.query_begin_;
    copy_properties();
    return std::move(out_);
  }

  void copy_properties() {
    out_.port_ = url_.port_;
    out_.has_port_ = url_.has_port_;
    out_.has_host_ = url_.has_host_;
    out_.opaque_path_ = url_.opaque_path_;
    out_.special_ = url_.special_;
    out_.http_ = url_.http_;
  }

  void append_authority() {
    std::string& href = out_.href_;
    href.reserve(url_.href_.size());
    href.append(url_.href_, 0, url_.scheme_end_ + 3);
    out_.scheme_end_ = url_.scheme_end_;
    out_.username_end_ = out_.host_begin_ = url_.scheme_end_ + 3;
    href.append(without_root_dot(url_.host()));
    out_.host_end_ = static_cast<std::uint32_t>(href.size());
    href.append(url_.part(url_.host_end_, url_.path_begin_));  // the port
    copy_properties();
  }

  const Url& url_;
  Url out_;
};

Url canonical(const Url& url) { return Canonicalizer(url).run(); }

Url canonical(Url&& url) {
  Canonicalizer canonicalizer(url);
  return canonicalizer.is_canonical() ? std::move(url) : canonicalizer.run();
}

}  // namespace meguri::web
