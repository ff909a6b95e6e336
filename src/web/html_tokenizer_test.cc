#include "web/html_tokenizer.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "web/testing.h"
#include "web/utf8.h"

namespace meguri::web {
namespace {

using Json = nlohmann::json;
using Model = HtmlTokenizer::Model;

std::string text_of(std::string_view raw, TextMode mode) {
  std::string scratch;
  return std::string(decoded(raw, mode, &scratch));
}

Json json_of(const std::optional<std::string>& text) { return text ? Json(*text) : Json(); }

// A token in the form of html5lib's tests.
Json json_of(const HtmlToken& token) {
  switch (token.kind) {
    case HtmlTokenKind::kText: return {"Character", text_of(token.text, token.mode)};
    case HtmlTokenKind::kComment: return {"Comment", text_of(token.text, token.mode)};
    case HtmlTokenKind::kEndTag: return {"EndTag", lower_name(token.name)};
    case HtmlTokenKind::kDoctype:
      return {"DOCTYPE", json_of(token.doctype.name), json_of(token.doctype.public_id),
              json_of(token.doctype.system_id), !token.doctype.force_quirks};
    case HtmlTokenKind::kStartTag: break;
  }
  Json attributes = Json::object();
  for (const HtmlAttribute& attribute : token.attributes) {
    const std::string name = lower_name(attribute.name);
    if (!attributes.contains(name)) {
      attributes[name] = text_of(attribute.value, TextMode::kAttribute);
    }
  }
  Json json = {"StartTag", lower_name(token.name), std::move(attributes)};
  if (token.self_closing) json.push_back(true);
  return json;
}

struct Start {
  Model model = Model::kData;
  std::string element = {};
};

// The tokens of `input` cut into pieces of `piece_bytes`, with neighbouring texts joined.
Json tokens_of(std::string_view input, const Start& start, std::size_t piece_bytes) {
  HtmlTokenizer tokenizer;
  tokenizer.enter(start.model, start.element);
  Json tokens = Json::array();
  HtmlToken token;
  const auto drain = [&] {
    while (tokenizer.next(&token)) {
      if (token.kind != HtmlTokenKind::kText) {
        tokens.push_back(json_of(token));
        continue;
      }
      if (token.text.empty()) continue;
      if (tokens.empty() || tokens.back()[0] != "Character") tokens.push_back({"Character", ""});
      append_decoded(token.text, token.mode, &tokens.back()[1].get_ref<std::string&>());
    }
  };
  for (std::size_t at = 0; at < input.size(); at += piece_bytes) {
    // A copy of its own, gone before the next one comes.
    const std::string piece(input.substr(at, piece_bytes));
    tokenizer.feed(piece);
    drain();
  }
  tokenizer.finish();
  drain();
  return tokens;
}

Json tokens_of(std::string_view input, const Start& start = {}) {
  return tokens_of(input, start, input.size() + 1);
}

Start start_of(const Json& test, const std::string& state) {
  static const std::map<std::string, Model> models = {
      {"Data state", Model::kData},           {"RCDATA state", Model::kRcdata},
      {"RAWTEXT state", Model::kRawtext},     {"Script data state", Model::kScript},
      {"PLAINTEXT state", Model::kPlaintext}, {"CDATA section state", Model::kCdata}};
  return {models.at(state), test.value("lastStartTag", "")};
}

// "\\u0041" as the tests that are escaped twice write it.
std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "\\u") == 0) {
      append_utf8(static_cast<char32_t>(std::stoul(text.substr(i + 2, 4), nullptr, 16)), &out);
      i += 5;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

void unescape_all(Json* json) {
  if (json->is_string()) *json = unescaped(json->get<std::string>());
  if (json->is_array()) {
    for (Json& item : *json) unescape_all(&item);
  }
}

class Html5Lib : public testing::TestWithParam<const char*> {};

TEST_P(Html5Lib, EveryCaseGivesItsTokensHoweverItIsCut) {
  READ_TEST_DATA(text, std::string("html/") + GetParam() + ".test");
  const Json file = Json::parse(text);
  std::size_t count = 0;
  for (const Json& test : file.at("tests")) {
    std::string input = test.at("input");
    Json expected = test.at("output");
    if (test.value("doubleEscaped", false)) {
      input = unescaped(input);
      unescape_all(&expected);
    }
    for (const std::string& state :
         test.value("initialStates", std::vector<std::string>{"Data state"})) {
      for (const std::size_t piece_bytes : {input.size() + 1, std::size_t{1}, std::size_t{3}}) {
        EXPECT_EQ(tokens_of(input, start_of(test, state), piece_bytes), expected)
            << test.at("description") << " in " << state << ", pieces of " << piece_bytes;
        ++count;
      }
    }
  }
  EXPECT_GT(count, 0U);
}

INSTANTIATE_TEST_SUITE_P(Files, Html5Lib,
                         testing::Values("contentModelFlags", "domjs", "entities", "escapeFlag",
                                         "namedEntities", "numericEntities", "test1", "test2",
                                         "test3", "test4"));

TEST(HtmlTokenizer, AttributesKeepTheirFirstValue) {
  EXPECT_EQ(tokens_of("<a HREF=1 href=2>").dump(), R"([["StartTag","a",{"href":"1"}]])");
}

TEST(HtmlTokenizer, CdataIsTextOnlyWhereAllowed) {
  EXPECT_EQ(tokens_of("<![CDATA[x]]>y").dump(), R"([["Comment","[CDATA[x]]"],["Character","y"]])");
  HtmlTokenizer tokenizer;
  tokenizer.allow_cdata(true);
  tokenizer.feed("<![CDATA[x&amp;]]>");
  tokenizer.finish();
  HtmlToken token;
  ASSERT_TRUE(tokenizer.next(&token));
  EXPECT_EQ(json_of(token).dump(), R"(["Character","x&amp;"])");
  EXPECT_FALSE(tokenizer.next(&token));
}

TEST(HtmlTokenizer, APieceThatComesAfterNothingIsLookedAtAtOnce) {
  // "</>" leaves nothing behind, after a "<" that had to wait.
  for (const std::string_view input : {"x<</>y<b>", "<</><a>", "a&</></>&amp;"}) {
    for (std::size_t piece_bytes = 1; piece_bytes <= 4; ++piece_bytes) {
      EXPECT_EQ(tokens_of(input, {}, piece_bytes), tokens_of(input)) << input;
    }
  }
}

TEST(HtmlTokenizer, ManyEmptyCdataSectionsNeedNoStack) {
  std::string input;
  for (int i = 0; i < 300'000; ++i) input += "<![CDATA[]]>";
  HtmlTokenizer tokenizer;
  tokenizer.allow_cdata(true);
  tokenizer.feed(input);
  tokenizer.finish();
  HtmlToken token;
  int count = 0;
  while (tokenizer.next(&token)) ++count;
  EXPECT_EQ(count, 300'000);
}

TEST(HtmlTokenizer, ATokenThatNeverEndsEndsTheDocument) {
  HtmlTokenizer tokenizer;
  const std::string piece(1U << 20U, 'x');
  HtmlToken token;
  tokenizer.feed("<a href=\"");
  EXPECT_FALSE(tokenizer.next(&token));
  for (int i = 0; i < 40; ++i) {
    tokenizer.feed(piece);
    EXPECT_FALSE(tokenizer.next(&token));
  }
  tokenizer.feed("\">text");
  tokenizer.finish();
  EXPECT_FALSE(tokenizer.next(&token));
}

TEST(HtmlTokenizer, KeepsABoundedNumberOfAttributes) {
  std::string input = "<a";
  for (int i = 0; i < 100'000; ++i) input += " b" + std::to_string(i) + "=1";
  input += ">";
  HtmlTokenizer tokenizer;
  tokenizer.feed(input);
  tokenizer.finish();
  HtmlToken token;
  ASSERT_TRUE(tokenizer.next(&token));
  EXPECT_EQ(token.attributes.size(), HtmlToken::kAttributesMax);
  EXPECT_FALSE(tokenizer.next(&token));
}

// Each would take hours if it were quadratic, cut into single bytes.
TEST(HtmlTokenizer, IsLinearOnWhatInvitesRescanning) {
  const std::string many = [] {
    std::string text;
    for (int i = 0; i < 1'000'000; ++i) text += '-';
    return text;
  }();
  const auto repeat = [](std::string_view unit) {
    std::string text;
    while (text.size() < 1'000'000) text += unit;
    return text;
  };
  for (const std::string& input :
       {"<!--" + many, "<!" + repeat("<!"), repeat("<a "), repeat("</"), repeat("&#"),
        "&#" + repeat("0"), repeat("&a"), "<a " + repeat("="), "<a b='" + repeat("<"),
        "<!doctype " + repeat("x"), repeat("\r"), repeat("<!--->"), repeat("<![CDATA[")}) {
    EXPECT_EQ(tokens_of(input, {}, 1).size(), tokens_of(input).size());
  }
  for (const std::string& input :
       {repeat("</scrip"), repeat("<!--<script"), repeat("--"), repeat("<!--<script></script")}) {
    tokens_of(input, {Model::kScript, "script"}, 1);
    tokens_of(input, {Model::kRcdata, "title"}, 1);
  }
}

}  // namespace
}  // namespace meguri::web
