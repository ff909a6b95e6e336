// ConfigField: a place in memory that a configuration writes to, as text: read from texts, and
// written as a value of TOML. What a key of a file and an option of a command line have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "crawl/options.h"
#include "fetch/http_client.h"

namespace meguri::app {

// How much a crawl spares the hosts it visits.
enum class Politeness : std::uint8_t {
  kDefault,
  kGentle,  // 60 s; 5 s for hosts of 10,000 pages and more, as in the papers
};

// Numbers whose unit their type does not tell.
struct Milliseconds {
  std::uint32_t* value;
};
struct OptionalMilliseconds {
  std::optional<std::uint32_t>* value;
};
struct Bytes {
  std::uint64_t* value;
};

using ConfigField =
    std::variant<bool*, std::string*, std::vector<std::string>*, std::uint8_t*, std::uint16_t*,
                 std::uint32_t*, std::uint64_t*, base::Duration*, Milliseconds, Bytes,
                 crawl::Scope*, crawl::AccessScheduleKind*, crawl::Remedy*, crawl::ForeignLinks*,
                 Politeness*, std::optional<bool>*, std::optional<std::string>*,
                 std::optional<std::uint64_t>*, OptionalMilliseconds,
                 std::vector<fetch::RequestField>*>;

// What a value of TOML has to be for a field.
enum class ConfigShape : std::uint8_t {
  kBoolean,
  kNumber,  // or a text such as "10k"
  kText,
  kList,   // of texts; a text alone is a list of one
  kTable,  // of texts
};
ConfigShape shape_of(const ConfigField& field);

// Sets the field from a text; of lists, adds to them. `name` is what the sentence of an error
// begins with. Of a table a text is "NAME: VALUE".
base::Status set_field(const ConfigField& field, std::string_view name, std::string_view text);
void clear_list(const ConfigField& field);

// The value as TOML has it: `"5s"`, `true`, `[]`; nullopt: it is not set.
std::optional<std::string> toml_of(const ConfigField& field);

// A text in quotes, as TOML reads it.
std::string toml_quoted(std::string_view text);

}  // namespace meguri::app
