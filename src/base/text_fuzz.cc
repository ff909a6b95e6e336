// Makes any bytes printable; the result must be printable itself, and JSON must stay closed.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/log.h"
#include "base/text.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace meguri::base;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string once;
  append_printable(text, &once);
  std::string twice;
  append_printable(once, &twice);
  CHECK(once == twice);

  std::string json;
  append_json_string(text, &json);
  for (std::size_t i = 1; i + 1 < json.size(); ++i) {
    CHECK(static_cast<unsigned char>(json[i]) >= 0x20);
    CHECK(json[i] != '"', "a quote ends the string early");
    if (json[i] == '\\') ++i;
  }

  const std::string line = log_text({}, LogLevel::kInfo, text, {{text, text}});
  CHECK(!line.contains('\n') && !line.contains('\x1b'));

  const std::size_t columns = display_columns(text);
  CHECK(cut_to_columns(text, columns) == text);
  CHECK(display_columns(cut_to_columns(text, columns / 2)) <= columns / 2);
  return 0;
}
