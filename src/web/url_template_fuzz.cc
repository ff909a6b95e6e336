// Learns templates from paths, one a line: within its limits, and the same a second time.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "web/url_template.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meguri::web;
  constexpr TemplateLimits kLimits = {.nodes_max = 40, .values_max = 3};
  std::string_view text(reinterpret_cast<const char*>(data), size);
  TemplateLearner one(kLimits);
  TemplateLearner two(kLimits);
  const auto base = Url::parse("http://h.example/");
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto url = Url::parse(text.substr(0, end), &*base);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!url) continue;
    one.observe(*url);
    two.observe(*url);
    CHECK(one.node_count() <= kLimits.nodes_max);
    const std::string form = one.template_of(*url);
    CHECK(form == two.template_of(*url));
    const std::size_t fields = kTemplateFieldsMax + 1;
    CHECK(form.size() <= fields * (6 * kTemplateFieldBytesMax + 16), "a template of {} bytes",
          form.size());
    CHECK(lexical_template(*url) == lexical_template(*Url::parse(url->href())));
  }
  return 0;
}
