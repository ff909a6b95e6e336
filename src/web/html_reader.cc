#include "web/html_reader.h"

#include <algorithm>
#include <array>

#include "web/ascii.h"

namespace meguri::web {
namespace {

// Elements of HTML that end SVG and MathML wherever they stand.
constexpr auto kBreakOut = [] {
  auto keys = std::to_array<NameKey>(
      {name_key("b"),       name_key("big"),    name_key("blockquote"), name_key("body"),
       name_key("br"),      name_key("center"), name_key("code"),       name_key("dd"),
       name_key("div"),     name_key("dl"),     name_key("dt"),         name_key("em"),
       name_key("embed"),   name_key("h1"),     name_key("h2"),         name_key("h3"),
       name_key("h4"),      name_key("h5"),     name_key("h6"),         name_key("head"),
       name_key("hr"),      name_key("i"),      name_key("img"),        name_key("li"),
       name_key("listing"), name_key("menu"),   name_key("meta"),       name_key("nobr"),
       name_key("ol"),      name_key("p"),      name_key("pre"),        name_key("ruby"),
       name_key("s"),       name_key("small"),  name_key("span"),       name_key("strong"),
       name_key("strike"),  name_key("sub"),    name_key("sup"),        name_key("table"),
       name_key("tt"),      name_key("u"),      name_key("ul"),         name_key("var")});
  std::ranges::sort(keys);
  return keys;
}();

bool breaks_out(const HtmlToken& token) {
  if (token.key == name_key("font")) {
    return token.find(name_key("color")) != nullptr || token.find(name_key("face")) != nullptr ||
           token.find(name_key("size")) != nullptr;
  }
  return std::ranges::binary_search(kBreakOut, token.key);
}

bool holds_html(const HtmlToken& token, bool is_svg) {
  if (is_svg) {
    return token.key == name_key("foreignobject") || token.key == name_key("desc") ||
           token.key == name_key("title");
  }
  switch (token.key) {
    case name_key("mi"):
    case name_key("mo"):
    case name_key("mn"):
    case name_key("ms"):
    case name_key("mtext"): return true;
    case name_key("annotation-xml"): {
      const HtmlAttribute* encoding = token.find(name_key("encoding"));
      return encoding != nullptr &&
             (equals_ignoring_case(encoding->value, "text/html") ||
              equals_ignoring_case(encoding->value, "application/xhtml+xml"));
    }
    default: return false;
  }
}

}  // namespace

void HtmlReader::push(NameKey key, Space space) {
  if (open_.size() < kForeignDepthMax) open_.push_back({key, space});
}

void HtmlReader::update() {
  has_open_ = !open_.empty() || template_depth_ > 0;
  tokenizer_.allow_cdata(expects_foreign());
}

void HtmlReader::leave_foreign() {
  while (expects_foreign()) open_.pop_back();
  update();
}

void HtmlReader::on_start(const HtmlToken& token) {
  using Model = HtmlTokenizer::Model;
  foreign_ = false;
  if (expects_foreign()) {
    if (!breaks_out(token)) return on_foreign_start(token);
    leave_foreign();
  }
  switch (token.key) {
    case name_key("script"): return tokenizer_.enter(Model::kScript, "script");
    case name_key("style"): return tokenizer_.enter(Model::kRawtext, "style");
    case name_key("title"): return tokenizer_.enter(Model::kRcdata, "title");
    case name_key("textarea"): return tokenizer_.enter(Model::kRcdata, "textarea");
    case name_key("iframe"): return tokenizer_.enter(Model::kRawtext, "iframe");
    case name_key("noembed"): return tokenizer_.enter(Model::kRawtext, "noembed");
    case name_key("noframes"): return tokenizer_.enter(Model::kRawtext, "noframes");
    case name_key("xmp"): return tokenizer_.enter(Model::kRawtext, "xmp");
    case name_key("plaintext"): return tokenizer_.enter(Model::kPlaintext, "");
    case name_key("template"): ++template_depth_; break;
    case name_key("svg"):
    case name_key("math"):
      foreign_ = true;
      if (token.self_closing) return;
      push(token.key, token.key == name_key("svg") ? Space::kSvg : Space::kMath);
      break;
    default: return;
  }
  update();
}

void HtmlReader::on_foreign_start(const HtmlToken& token) {
  foreign_ = true;
  if (token.self_closing) return;
  Space space = open_.back().space;
  if (token.key == name_key("svg")) space = Space::kSvg;
  if (holds_html(token, space == Space::kSvg)) space = Space::kHtmlInside;
  push(token.key, space);
  update();
}

void HtmlReader::on_end(const HtmlToken& token) {
  foreign_ = expects_foreign();
  if (foreign_ && (token.key == name_key("p") || token.key == name_key("br"))) {
    return leave_foreign();
  }
  for (std::size_t i = open_.size(); i-- > 0;) {
    if (open_[i].key != token.key) continue;
    open_.resize(i);
    return update();
  }
  if (token.key == name_key("template") && template_depth_ > 0) {
    --template_depth_;
    update();
  }
}

}  // namespace meguri::web
