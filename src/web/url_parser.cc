#include "web/url_parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "web/ascii.h"
#include "web/host.h"
#include "web/percent.h"

namespace meguri::web {

namespace {

struct SpecialScheme {
  std::string_view name;
  std::uint16_t port;  // 0: none
};

constexpr std::array kSpecialSchemes = {
    SpecialScheme{"http", 80}, SpecialScheme{"https", 443}, SpecialScheme{"ws", 80},
    SpecialScheme{"wss", 443}, SpecialScheme{"ftp", 21},    SpecialScheme{"file", 0},
};

const SpecialScheme* special_scheme(std::string_view scheme) {
  for (const SpecialScheme& special : kSpecialSchemes) {
    if (special.name == scheme) return &special;
  }
  return nullptr;
}

// The length of the scheme that `text` begins with, before its ':'; 0 if there is none.
std::size_t scheme_length(std::string_view text) {
  if (text.empty() || !is_alpha(text.front())) return 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ':') return i;
    if (!is_alpha(c) && !is_digit(c) && c != '+' && c != '-' && c != '.') return 0;
  }
  return 0;
}

std::string_view without_leading(std::string_view text, auto is_slash) {
  while (!text.empty() && is_slash(text.front())) text.remove_prefix(1);
  return text;
}

// Where the host ends that `text` begins with: at the first ':' outside brackets.
std::size_t host_length(std::string_view text) {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') inside = true;
    if (text[i] == ']') inside = false;
    if (text[i] == ':' && !inside) return i;
  }
  return text.size();
}

}  // namespace

UrlParser::UrlParser(std::string_view input, const Url* base, Charset query_charset, Url* url)
    : input_(input), query_charset_(query_charset), base_(base), url_(*url), out_(url->href_) {
  if (const auto hash = input_.find('#'); hash != std::string_view::npos) {
    has_fragment_ = true;
    fragment_ = input_.substr(hash + 1);
    input_ = input_.substr(0, hash);
  }
  if (const auto mark = input_.find('?'); mark != std::string_view::npos) {
    has_query_ = true;
    query_ = input_.substr(mark + 1);
    input_ = input_.substr(0, mark);
  }
  out_.reserve(input.size() + (base != nullptr ? base->href_.size() : 0) + 8);
}

bool UrlParser::run(UrlFailure* why) {
  if (!parse()) {
    *why = failure_;
    return false;
  }
  end_path();
  if (has_query_) {
    append_query(query_);
  } else if (keeps_base_query_ && base_->has_query()) {
    url_.query_begin_ = static_cast<std::uint32_t>(out_.size());
    out_.append("?").append(base_->query());
  }
  if (has_fragment_) {
    url_.fragment_begin_ = static_cast<std::uint32_t>(out_.size());
    out_ += '#';
    append_encoded(fragment_, EncodeSet::kFragment, &out_);
  }
  if (out_.size() <= kUrlBytesMax) return true;
  *why = UrlFailure::kTooLong;
  return false;
}

bool UrlParser::fail(UrlFailure why) {
  failure_ = why;
  return false;
}

bool UrlParser::parse() {
  const std::size_t length = scheme_length(input_);
  if (length > 0) {
    for (const char c : input_.substr(0, length)) out_ += to_lower(c);
    return parse_with_scheme(input_.substr(length + 1));
  }
  if (base_ == nullptr) return fail(UrlFailure::kNoBase);
  set_scheme(base_->scheme());
  if (base_->has_opaque_path()) {
    if (!input_.empty() || has_query_ || !has_fragment_) return fail(UrlFailure::kNoBase);
    url_.opaque_path_ = true;
    begin_path();
    out_ += base_->path();
    keeps_base_query_ = true;
    return true;
  }
  return file_ ? parse_file(input_) : parse_relative(input_);
}

void UrlParser::set_scheme(std::string_view scheme) {
  if (out_.data() != scheme.data()) out_.assign(scheme);
  url_.scheme_end_ = static_cast<std::uint32_t>(out_.size());
  url_.special_ = special_scheme(out_) != nullptr;
  url_.http_ = out_ == "http" || out_ == "https";
  file_ = out_ == "file";
  out_ += ':';
}

bool UrlParser::parse_with_scheme(std::string_view rest) {
  set_scheme(out_);
  if (file_) return parse_file(rest);
  if (url_.special_) {
    const bool same = base_ != nullptr && base_->scheme() == url_.scheme();
    if (same && !rest.starts_with("//")) return parse_relative(rest);
    return parse_authority(without_leading(rest, [this](char c) { return is_slash(c); }));
  }
  if (rest.starts_with("//")) return parse_authority(rest.substr(2));
  begin_path();
  if (rest.starts_with('/')) {
    append_path(rest.substr(1));
    return true;
  }
  input_ = rest;
  append_opaque_path();
  return true;
}

bool UrlParser::parse_relative(std::string_view rest) {
  if (!rest.empty() && is_slash(rest[0])) {
    if (rest.size() > 1 && is_slash(rest[1])) {
      if (!url_.special_) return parse_authority(rest.substr(2));
      return parse_authority(without_leading(rest, [this](char c) { return is_slash(c); }));
    }
    copy_authority_of_base();
    append_path(rest.substr(1));
    return true;
  }
  copy_authority_of_base();
  return resolve_against_base_path(rest);
}

void UrlParser::copy_authority_of_base() {
  const std::size_t end = base_->authority_end();
  out_.assign(base_->href_, 0, end);
  url_.username_end_ = base_->username_end_;
  url_.host_begin_ = base_->host_begin_;
  url_.host_end_ = base_->host_end_;
  url_.port_ = base_->port_;
  url_.has_port_ = base_->has_port_;
  url_.has_host_ = base_->has_host_;
  begin_path();
}

// What the states "relative" and "file" do with everything that does not begin with a slash.
bool UrlParser::resolve_against_base_path(std::string_view rest) {
  if (rest.empty()) {
    out_ += base_->path();
    keeps_base_query_ = true;
    return true;
  }
  if (!file_ || !starts_with_drive_letter(rest)) {
    out_ += base_->path();
    shorten_path();
  }
  append_path(rest);
  return true;
}

bool UrlParser::parse_file(std::string_view rest) {
  const bool has_file_base = base_ != nullptr && base_->scheme() == "file";
  out_ += "//";
  url_.has_host_ = true;
  url_.username_end_ = url_.host_begin_ = url_.host_end_ = static_cast<std::uint32_t>(out_.size());
  if (!rest.empty() && is_slash(rest[0])) {
    if (rest.size() > 1 && is_slash(rest[1])) return parse_file_host(rest.substr(2));
    rest.remove_prefix(1);
    if (has_file_base) copy_file_host_of_base();
    begin_path();
    if (has_file_base && !starts_with_drive_letter(rest) && begins_with_drive(base_->path())) {
      out_ += base_->path().substr(0, 3);
    }
    append_path(rest);
    return true;
  }
  if (has_file_base) {
    copy_file_host_of_base();
    begin_path();
    return resolve_against_base_path(rest);
  }
  begin_path();
  append_path(rest);
  return true;
}

void UrlParser::copy_file_host_of_base() {
  out_ += base_->host();
  url_.host_end_ = static_cast<std::uint32_t>(out_.size());
}

bool UrlParser::parse_file_host(std::string_view rest) {
  const std::size_t end = std::min(rest.find_first_of("/\\"), rest.size());
  const std::string_view host = rest.substr(0, end);
  if (is_drive_letter(host)) {
    begin_path();
    append_path(rest);
    return true;
  }
  if (!host.empty()) {
    if (!append_host(host, true, &out_)) return fail(UrlFailure::kBadHost);
    if (std::string_view(out_).substr(url_.host_begin_) == "localhost") {
      out_.resize(url_.host_begin_);
    }
    url_.host_end_ = static_cast<std::uint32_t>(out_.size());
  }
  begin_path();
  append_path(end < rest.size() ? rest.substr(end + 1) : std::string_view());
  return true;
}

bool UrlParser::parse_authority(std::string_view rest) {
  const std::size_t end = std::min(rest.find_first_of(url_.special_ ? "/\\" : "/"), rest.size());
  std::string_view authority = rest.substr(0, end);
  out_ += "//";
  url_.has_host_ = true;
  url_.username_end_ = static_cast<std::uint32_t>(out_.size());
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    append_credentials(authority.substr(0, at));
    authority.remove_prefix(at + 1);
    if (authority.empty()) return fail(UrlFailure::kBadHost);
  }
  url_.host_begin_ = static_cast<std::uint32_t>(out_.size());
  if (!append_host_and_port(authority)) return false;
  begin_path();
  if (end < rest.size()) {
    append_path(rest.substr(end + 1));
  } else if (url_.special_) {
    out_ += '/';
  }
  return true;
}

void UrlParser::append_credentials(std::string_view userinfo) {
  const std::size_t colon = std::min(userinfo.find(':'), userinfo.size());
  append_encoded(userinfo.substr(0, colon), EncodeSet::kUserinfo, &out_);
  const std::string_view password = userinfo.substr(std::min(colon + 1, userinfo.size()));
  if (colon == 0 && password.empty()) return;
  url_.username_end_ = static_cast<std::uint32_t>(out_.size());
  if (!password.empty()) {
    out_ += ':';
    append_encoded(password, EncodeSet::kUserinfo, &out_);
  }
  out_ += '@';
}

bool UrlParser::append_host_and_port(std::string_view text) {
  const std::size_t length = host_length(text);
  if (length == 0 && (url_.special_ || !text.empty())) return fail(UrlFailure::kBadHost);
  if (!append_host(text.substr(0, length), url_.special_, &out_)) return fail(UrlFailure::kBadHost);
  url_.host_end_ = static_cast<std::uint32_t>(out_.size());
  return length == text.size() || append_port(text.substr(length + 1));
}

bool UrlParser::append_port(std::string_view digits) {
  if (digits.empty()) return true;
  unsigned value = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return fail(UrlFailure::kBadPort);
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (value > 0xFFFF) return fail(UrlFailure::kBadPort);
  }
  const SpecialScheme* special = special_scheme(url_.scheme());
  if (special != nullptr && special->port == value && special->port != 0) return true;
  url_.port_ = static_cast<std::uint16_t>(value);
  url_.has_port_ = true;
  std::array<char, 8> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  out_ += ':';
  out_.append(text.data(), end);
  return true;
}

}  // namespace meguri::web
