// The URL parser of the URL Standard, written by parts instead of by characters: '#' and '?' end
// what stands before them in every state, so fragment and query are cut off first.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "web/charset.h"
#include "web/url.h"

namespace meguri::web {

// Parses one input into `url`, which must be empty. For use by Url::parse.
class UrlParser {
 public:
  // `input` is trimmed, without tabs and newlines, and well-formed UTF-8. `base` may be null.
  UrlParser(std::string_view input, const Url* base, Charset query_charset, Url* url);

  // False if the input is no URL; then `*why` says why.
  bool run(UrlFailure* why);

 private:
  bool parse();
  bool parse_with_scheme(std::string_view rest);
  bool parse_relative(std::string_view rest);
  bool parse_file(std::string_view rest);
  bool parse_file_host(std::string_view rest);
  bool parse_authority(std::string_view rest);
  void append_credentials(std::string_view userinfo);
  bool append_host_and_port(std::string_view text);
  bool append_port(std::string_view digits);
  void append_opaque_path();

  bool fail(UrlFailure why);
  bool is_slash(char c) const { return c == '/' || (url_.special_ && c == '\\'); }
  void set_scheme(std::string_view scheme);
  void copy_authority_of_base();
  void copy_file_host_of_base();
  void begin_path();
  bool resolve_against_base_path(std::string_view rest);
  void append_path(std::string_view segments);
  void append_segment(std::string_view segment, bool last);
  void shorten_path();
  void end_path();
  void append_query(std::string_view query);
  void append_encoded_query(std::string_view query);

  std::string_view input_;  // without query and fragment
  std::string_view query_;
  std::string_view fragment_;
  bool has_query_ = false;
  bool has_fragment_ = false;
  bool keeps_base_query_ = false;
  bool file_ = false;
  Charset query_charset_;
  const Url* base_;
  Url& url_;
  std::string& out_;
  UrlFailure failure_ = UrlFailure::kBadHost;
};

// A Windows drive letter, "C:" or "C|", as file URLs treat it apart.
bool is_drive_letter(std::string_view text);
// True if `text` is one, or one before a slash or a backslash.
bool starts_with_drive_letter(std::string_view text);
// True if `path` is "/C:", or begins so before a slash.
bool begins_with_drive(std::string_view path);

}  // namespace meguri::web
