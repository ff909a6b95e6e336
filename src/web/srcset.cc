#include "web/srcset.h"

#include "web/ascii.h"

namespace meguri::web {

void find_srcset_urls(std::string_view srcset, const std::function<void(std::string_view)>& found) {
  std::size_t at = 0;
  const std::size_t end = srcset.size();
  while (true) {
    while (at < end && (is_space(srcset[at]) || srcset[at] == ',')) ++at;
    if (at == end) return;
    const std::size_t begin = at;
    while (at < end && !is_space(srcset[at])) ++at;
    std::string_view url = srcset.substr(begin, at - begin);
    if (url.back() == ',') {
      while (!url.empty() && url.back() == ',') url.remove_suffix(1);
    } else {
      // Its descriptors, up to a comma that is in no parentheses.
      bool in_parentheses = false;
      for (; at < end && (in_parentheses || srcset[at] != ','); ++at) {
        if (srcset[at] == '(') in_parentheses = true;
        if (srcset[at] == ')') in_parentheses = false;
      }
    }
    if (!url.empty()) found(url);
  }
}

}  // namespace meguri::web
