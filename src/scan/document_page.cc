#include "scan/document_page.h"

#include "web/page_language.h"

namespace meguri::scan {

const web::Url* DocumentPage::url() {
  if (!url_) url_.emplace(web::Url::parse(document_.facts.url));
  return *url_ ? &**url_ : nullptr;
}

std::string_view DocumentPage::host() { return url() == nullptr ? "" : url()->host(); }

const web::Page& DocumentPage::page() {
  if (page_) return *page_;
  web::PageContext context;
  context.url = url();
  context.fields = &document_.fields;
  context.want_text = want_ == Want::kText;
  const env::SpooledBytes& content = document_.content;
  if (!content.is_on_disk()) {
    page_ = web::read_page(content.memory().substr(0, kBytesMax), context);
  } else {
    const auto front = content.read(kBytesMax);
    page_ = web::read_page(front ? std::string_view(*front) : std::string_view(), context);
  }
  return *page_;
}

std::string DocumentPage::language() {
  if (!document_.facts.language.empty()) return document_.facts.language;
  return web::main_language_of(page(), host());
}

}  // namespace meguri::scan
