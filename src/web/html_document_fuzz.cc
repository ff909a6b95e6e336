// Reads any bytes as a page: every slice lies in the arena, and sizes stay bounded.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "web/html_document.h"
#include "web/html_text.h"
#include "web/similarity.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meguri::web;
  const std::string_view html(reinterpret_cast<const char*>(data), size);
  const HtmlDocument document = read_html(html, {.anchor_text = true, .links_max = 100});
  CHECK(document.links.size() <= 100);
  CHECK(document.arena.size() <= 3 * size + kMetasMax);
  const auto check = [&](Slice slice) {
    CHECK(std::size_t{slice.offset} + slice.size <= document.arena.size());
  };
  for (const HtmlLink& link : document.links) {
    CHECK(!link.url.empty());
    for (const Slice slice : {link.url, link.rel, link.hreflang, link.text}) check(slice);
  }
  for (const HtmlMeta& meta : document.metas) {
    check(meta.name);
    check(meta.content);
  }
  for (const Slice slice : {document.base, document.title, document.language, document.canonical}) {
    check(slice);
  }
  // Without anchor texts the links are the same.
  CHECK(read_html(html, {.links_max = 100}).links.size() == document.links.size());

  const PageText page = read_text(html);
  std::size_t end = 0;
  for (const TextBlock& block : page.blocks) {
    CHECK(block.offset >= end && block.size > 0 && block.link_words <= block.words);
    end = std::size_t{block.offset} + block.size;
    CHECK(end < page.text.size() && page.text[end] == '\n');
  }
  const TextSketch sketch = sketch_of(page.text);
  CHECK(sketch.features == features_of(page.text).size());
  const double same = difference(sketch, sketch_of(page.main_text()));
  CHECK(same >= 0 && same <= 1);
  CHECK(!change_counts(sketch, sketch));
  return 0;
}
