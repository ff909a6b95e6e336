#include "web/xml_reader.h"

#include <expat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "web/ascii.h"
#include "web/charset_detect.h"
#include "web/xml_repair.h"

namespace meguri::web {
namespace {

constexpr std::size_t kChunkBytes = 32U << 10U;

// Expat's memory functions get no context, so what the parser of this thread has taken is kept
// here. Each block begins with its own length.
thread_local std::size_t parser_bytes = 0;
constexpr std::size_t kBlockHeader = alignof(std::max_align_t);
static_assert(kBlockHeader >= sizeof(std::size_t));

std::size_t block_size(const char* block) {
  std::size_t size = 0;
  std::memcpy(&size, block, sizeof size);
  return size;
}

void* resize(void* memory, std::size_t size) {
  char* old = memory == nullptr ? nullptr : static_cast<char*>(memory) - kBlockHeader;
  const std::size_t old_size = old == nullptr ? 0 : block_size(old);
  if (size > kXmlMemoryMax || parser_bytes - old_size + size > kXmlMemoryMax) return nullptr;
  char* block = static_cast<char*>(std::realloc(old, size + kBlockHeader));
  if (block == nullptr) return nullptr;
  parser_bytes = parser_bytes - old_size + size;
  std::memcpy(block, &size, sizeof size);
  return block + kBlockHeader;
}

void* allocate(std::size_t size) { return resize(nullptr, size); }

void release(void* memory) {
  if (memory == nullptr) return;
  char* block = static_cast<char*>(memory) - kBlockHeader;
  parser_bytes -= block_size(block);
  std::free(block);
}

struct FreeParser {
  void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
};

class Reader {
 public:
  explicit Reader(XmlHandler* handler) : handler_(handler) {
    static constexpr XML_Memory_Handling_Suite kMemory = {allocate, resize, release};
    parser_.reset(XML_ParserCreate_MM("UTF-8", &kMemory, nullptr));
    CHECK(parser_ != nullptr, "no memory for a parser");
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), on_start, on_end);
    XML_SetCharacterDataHandler(parser_.get(), on_text);
    // None arrives, since XmlRepair takes them out; should one do so, nothing of it is used.
    XML_SetStartDoctypeDeclHandler(
        parser_.get(), [](void* self, const XML_Char*, const XML_Char*, const XML_Char*, int) {
          static_cast<Reader*>(self)->stop(XmlEnd::kNotWellFormed);
        });
  }

  XmlOutcome read(std::string_view text) {
    XmlRepair repair(text.substr(0, kXmlBytesMax));
    std::string chunk;
    bool more = true;
    while (more && !end_) {
      chunk.clear();
      more = repair.produce(kChunkBytes, &chunk);
      silent_bytes_ += chunk.size();
      feed(chunk, !more);
      if (silent_bytes_ > kXmlTagBytesMax) stop(XmlEnd::kTooLarge);
    }
    if (!end_) end_ = XmlEnd::kTruncated;
    if (*end_ == XmlEnd::kTruncated && text.size() > kXmlBytesMax) end_ = XmlEnd::kTooLarge;
    return {.end = *end_, .doctype = repair.saw_doctype()};
  }

 private:
  struct Namespace {
    std::string prefix;
    std::string uri;
    std::size_t depth = 0;
  };

  void feed(const std::string& chunk, bool last) {
    const int length = static_cast<int>(chunk.size());
    if (XML_Parse(parser_.get(), chunk.data(), length, last ? 1 : 0) != XML_STATUS_ERROR) return;
    if (end_) return;
    switch (XML_GetErrorCode(parser_.get())) {
      case XML_ERROR_NO_MEMORY: end_ = XmlEnd::kTooLarge; break;
      case XML_ERROR_NO_ELEMENTS:
      case XML_ERROR_UNCLOSED_TOKEN:
      case XML_ERROR_PARTIAL_CHAR: end_ = last ? XmlEnd::kTruncated : XmlEnd::kNotWellFormed; break;
      default: end_ = XmlEnd::kNotWellFormed;
    }
  }

  void stop(XmlEnd end) {
    if (end_) return;
    end_ = end;
    XML_StopParser(parser_.get(), XML_FALSE);
  }

  static void on_start(void* self, const XML_Char* name, const XML_Char** attributes) {
    static_cast<Reader*>(self)->start(name, attributes);
  }
  static void on_end(void* self, const XML_Char*) { static_cast<Reader*>(self)->finish(); }
  static void on_text(void* self, const XML_Char* text, int length) {
    auto* reader = static_cast<Reader*>(self);
    reader->silent_bytes_ = 0;
    if (reader->end_) return;
    if (!reader->handler_->on_text({text, static_cast<std::size_t>(length)})) {
      reader->stop(XmlEnd::kStopped);
    }
  }

  void start(const char* name, const char* const* attributes) {
    silent_bytes_ = 0;
    if (end_) return;
    if (++depth_ > kXmlDepthMax) return stop(XmlEnd::kTooDeep);
    for (const char* const* a = attributes; *a != nullptr; a += 2) declare(a[0], a[1]);
    if (!handler_->on_start(XmlElement(split(name), attributes))) stop(XmlEnd::kStopped);
  }

  void finish() {
    silent_bytes_ = 0;
    if (end_) return;
    if (!handler_->on_end()) return stop(XmlEnd::kStopped);
    while (!namespaces_.empty() && namespaces_.back().depth == depth_) namespaces_.pop_back();
    if (--depth_ == 0) stop(XmlEnd::kComplete);
  }

  void declare(std::string_view attribute, std::string_view uri) {
    if (!attribute.starts_with("xmlns") || namespaces_.size() >= kXmlNamespacesMax) return;
    attribute.remove_prefix(5);
    if (uri.size() > kXmlAttributeBytesMax) return;
    if (attribute.empty()) {
      namespaces_.push_back({"", std::string(uri), depth_});
    } else if (attribute.starts_with(':')) {
      namespaces_.push_back({std::string(attribute.substr(1)), std::string(uri), depth_});
    }
  }

  XmlName split(std::string_view name) const {
    XmlName out{.local = name, .prefix = {}, .space = {}};
    if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos) {
      out.prefix = name.substr(0, colon);
      out.local = name.substr(colon + 1);
    }
    const auto found =
        std::find_if(namespaces_.rbegin(), namespaces_.rend(),
                     [&](const Namespace& known) { return known.prefix == out.prefix; });
    if (found != namespaces_.rend()) out.space = found->uri;
    return out;
  }

  XmlHandler* handler_;
  std::unique_ptr<std::remove_pointer_t<XML_Parser>, FreeParser> parser_;
  std::vector<Namespace> namespaces_;
  std::size_t depth_ = 0;
  std::size_t silent_bytes_ = 0;  // fed since the parser last said something
  std::optional<XmlEnd> end_;
};

}  // namespace

std::optional<std::string_view> XmlElement::attribute(std::string_view name) const {
  for (const char* const* a = attributes_; *a != nullptr; a += 2) {
    if (name != a[0]) continue;
    const std::string_view value = a[1];
    if (value.size() > kXmlAttributeBytesMax) return std::nullopt;
    return value;
  }
  return std::nullopt;
}

std::string_view xml_as_utf8(std::string_view bytes, std::string* storage) {
  bytes = bytes.substr(0, kXmlBytesMax + 2);
  const Charset charset = find_charset(bytes, std::nullopt, MarkupKind::kXml).charset;
  if (charset == Charset::kUtf8) return without_byte_order_mark(bytes, storage);
  storage->clear();
  decode(bytes, charset, storage);
  return *storage;
}

XmlOutcome read_xml(std::string_view bytes, XmlHandler* handler) {
  std::string storage;
  return read_xml_utf8(xml_as_utf8(bytes, &storage), handler);
}

XmlOutcome read_xml_utf8(std::string_view text, XmlHandler* handler) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return Reader(handler).read(text);
}

}  // namespace meguri::web
