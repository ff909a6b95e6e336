// Tokens are the same however the input is cut, and every view lies within what was given.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "web/html_tokenizer.h"

namespace {

using namespace meguri::web;

// A text form of all tokens, with neighbouring texts joined.
std::string tokens_of(std::string_view input, HtmlTokenizer::Model model, std::size_t piece_bytes) {
  HtmlTokenizer tokenizer;
  tokenizer.enter(model, model == HtmlTokenizer::Model::kScript ? "script" : "title");
  tokenizer.allow_cdata(true);
  HtmlToken token;
  std::string out;
  bool after_text = false;
  const auto drain = [&] {
    while (tokenizer.next(&token)) {
      const bool is_text = token.kind == HtmlTokenKind::kText;
      if (is_text && token.text.empty()) continue;
      if (!is_text || !after_text) {
        out.push_back('\n');
        out.push_back(static_cast<char>('0' + static_cast<int>(token.kind)));
      }
      after_text = is_text;
      if (is_text || token.kind == HtmlTokenKind::kComment) {
        append_decoded(token.text, token.mode, &out);
        continue;
      }
      if (token.kind == HtmlTokenKind::kDoctype) {
        out.append(token.doctype.name.value_or("-")).append(token.doctype.public_id.value_or("-"));
        continue;
      }
      out.append(lower_name(token.name)).push_back(token.self_closing ? '/' : ' ');
      CHECK(token.key == name_key(token.name));
      for (const HtmlAttribute& attribute : token.attributes) {
        CHECK(attribute.key == name_key(attribute.name));
        out.append(lower_name(attribute.name)).push_back('=');
        append_decoded(attribute.value, TextMode::kAttribute, &out);
      }
    }
  };
  for (std::size_t at = 0; at < input.size(); at += piece_bytes) {
    const std::string piece(input.substr(at, piece_bytes));
    tokenizer.feed(piece);
    drain();
  }
  tokenizer.finish();
  drain();
  return out;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto model = static_cast<HtmlTokenizer::Model>(data[0] % 6);
  const std::size_t piece_bytes = 1 + data[0] / 6 % 7;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = tokens_of(input, model, size);
  CHECK(whole == tokens_of(input, model, piece_bytes));
  return 0;
}
