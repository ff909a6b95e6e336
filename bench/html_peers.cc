#include "bench/html_peers.h"

#include <gumbo.h>
#include <libxml/HTMLparser.h>
#include <myhtml/api.h>

#include "base/check.h"

namespace meguri::bench {
namespace {

class Gumbo final : public HtmlPeer {
 public:
  std::size_t read(const std::string& html) override {
    GumboOutput* output = gumbo_parse_with_options(&kGumboDefaultOptions, html.data(), html.size());
    const std::size_t children = output->root->v.element.children.length;
    gumbo_destroy_output(&kGumboDefaultOptions, output);
    return children;
  }
};

class Libxml2 final : public HtmlPeer {
 public:
  Libxml2() { handler_.startElement = &count; }

  std::size_t read(const std::string& html) override {
    std::size_t elements = 0;
    htmlParserCtxtPtr context =
        htmlCreatePushParserCtxt(&handler_, &elements, nullptr, 0, nullptr, XML_CHAR_ENCODING_UTF8);
    CHECK(context != nullptr);
    htmlCtxtUseOptions(
        context, HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET);
    htmlParseChunk(context, html.data(), static_cast<int>(html.size()), 1);
    htmlFreeParserCtxt(context);
    return elements;
  }

 private:
  static void count(void* elements, const xmlChar* /*name*/, const xmlChar** /*attributes*/) {
    ++*static_cast<std::size_t*>(elements);
  }

  htmlSAXHandler handler_{};
};

class MyHtml final : public HtmlPeer {
 public:
  MyHtml() : myhtml_(myhtml_create()), tree_(myhtml_tree_create()) {
    CHECK(myhtml_init(myhtml_, MyHTML_OPTIONS_PARSE_MODE_SINGLE, 1, 0) == MyCORE_STATUS_OK);
    CHECK(myhtml_tree_init(tree_, myhtml_) == MyCORE_STATUS_OK);
    myhtml_tree_parse_flags_set(tree_, MyHTML_TREE_PARSE_FLAGS_WITHOUT_BUILD_TREE);
    myhtml_callback_before_token_done_set(tree_, &count, this);
  }
  MyHtml(const MyHtml&) = delete;
  MyHtml& operator=(const MyHtml&) = delete;
  ~MyHtml() override {
    myhtml_tree_destroy(tree_);
    myhtml_destroy(myhtml_);
  }

  std::size_t read(const std::string& html) override {
    tokens_ = 0;
    CHECK(myhtml_parse(tree_, MyENCODING_UTF_8, html.data(), html.size()) == MyCORE_STATUS_OK);
    return tokens_;
  }

 private:
  static void* count(myhtml_tree_t* /*tree*/, myhtml_token_node_t* /*token*/, void* self) {
    ++static_cast<MyHtml*>(self)->tokens_;
    return self;
  }

  myhtml_t* myhtml_;
  myhtml_tree_t* tree_;
  std::size_t tokens_ = 0;
};

}  // namespace

std::unique_ptr<HtmlPeer> make_gumbo() { return std::make_unique<Gumbo>(); }
std::unique_ptr<HtmlPeer> make_libxml2() { return std::make_unique<Libxml2>(); }
std::unique_ptr<HtmlPeer> make_myhtml_tokens() { return std::make_unique<MyHtml>(); }

}  // namespace meguri::bench
