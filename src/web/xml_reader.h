// Reads XML that strangers send: sitemaps and feeds. Elements, attributes and text; no DTD, no
// entities, nothing fetched (see xml_repair.h for what is mended before the parser sees it).
// Names are split at their colon and looked up among the namespaces in scope, but an undeclared or
// wrong namespace is no fault. Whatever was read before a fault has been handed over.
// Pure; any thread; linear time; memory bounded by kXmlMemoryMax beside the handler's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace meguri::web {

inline constexpr std::size_t kXmlBytesMax = 50'000'000;  // the rest of a longer document is ignored
inline constexpr std::size_t kXmlDepthMax = 256;
inline constexpr std::size_t kXmlTagBytesMax = 256U << 10U;       // a longer tag ends the reading
inline constexpr std::size_t kXmlAttributeBytesMax = 64U << 10U;  // a longer value is not seen
inline constexpr std::size_t kXmlNamespacesMax = 32;  // in scope at once; further ones are unknown
inline constexpr std::size_t kXmlMemoryMax = 32U << 20U;  // of the parser; more ends the reading

struct XmlName {
  std::string_view local;
  std::string_view prefix;  // empty: none
  std::string_view space;   // the namespace declared for it; empty: none
};

// A start tag. Views live until the handler returns.
class XmlElement {
 public:
  XmlElement(XmlName name, const char* const* attributes) : name_(name), attributes_(attributes) {}

  const XmlName& name() const { return name_; }

  // By its name as written, such as "href" or "xml:base".
  std::optional<std::string_view> attribute(std::string_view name) const;

 private:
  XmlName name_;
  const char* const* attributes_;  // names and values in turn, then null
};

// Receives what is read; views live until the call returns. A call that returns false ends the
// reading. Text comes in as many pieces as it likes.
class XmlHandler {
 public:
  XmlHandler() = default;
  XmlHandler(const XmlHandler&) = delete;
  XmlHandler& operator=(const XmlHandler&) = delete;
  virtual ~XmlHandler() = default;

  virtual bool on_start(const XmlElement& element) = 0;
  virtual bool on_text(std::string_view text) = 0;
  virtual bool on_end() = 0;
};

enum class XmlEnd : std::uint8_t {
  kComplete,       // the root element was closed; what follows it is of no interest
  kTruncated,      // the bytes ended before
  kNotWellFormed,  // not mended and not understood from there on
  kTooDeep,        // kXmlDepthMax
  kTooLarge,       // kXmlBytesMax, kXmlTagBytesMax or kXmlMemoryMax
  kStopped,        // the handler wanted no more
};

struct XmlOutcome {
  XmlEnd end = XmlEnd::kComplete;
  bool doctype = false;  // there was a DOCTYPE; it was not read
};

// For bytes as they came: in the charset of their byte order mark or declaration, else in what
// they look like (find_charset()).
XmlOutcome read_xml(std::string_view bytes, XmlHandler* handler);

// For text that is UTF-8 already; what its declaration says of an encoding is ignored.
XmlOutcome read_xml_utf8(std::string_view text, XmlHandler* handler);

// What read_xml() does first. The view is of `bytes` or of `*storage`.
std::string_view xml_as_utf8(std::string_view bytes, std::string* storage);

}  // namespace meguri::web
