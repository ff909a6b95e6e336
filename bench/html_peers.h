// HTML parsers of others, each reading a page once and giving it back.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace meguri::bench {

// A parser with what it keeps between pages. Each read returns something that depends on the whole
// page, so that nothing can be left out.
class HtmlPeer {
 public:
  virtual ~HtmlPeer() = default;
  virtual std::size_t read(const std::string& html) = 0;
};

std::unique_ptr<HtmlPeer> make_gumbo();          // builds its tree
std::unique_ptr<HtmlPeer> make_libxml2();        // calls back for each element, no tree
std::unique_ptr<HtmlPeer> make_myhtml_tokens();  // no tree, one thread

}  // namespace meguri::bench
