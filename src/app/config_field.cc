#include "app/config_field.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <type_traits>
#include <utility>

#include "app/values.h"
#include "base/text.h"
#include "web/ascii.h"

namespace meguri::app {

namespace {

using base::Duration;
using base::ErrorCode;

constexpr Duration kWaitMax = Duration::days(7);

// The names of an enumeration, in the order of its values.
template <typename E>
constexpr std::array<std::string_view, 0> kNames{};
template <>
constexpr std::array<std::string_view, 4> kNames<crawl::Scope>{"host", "domain", "prefix", "any"};
template <>
constexpr std::array<std::string_view, 2> kNames<crawl::AccessScheduleKind>{"wheel", "lists"};
template <>
constexpr std::array<std::string_view, 3> kNames<crawl::Remedy>{"stretch", "add-days", "group"};
template <>
constexpr std::array<std::string_view, 2> kNames<crawl::ForeignLinks>{"none", "last"};
template <>
constexpr std::array<std::string_view, 2> kNames<Politeness>{"default", "gentle"};

template <typename T>
constexpr bool kIsNumber = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// "host, domain, prefix or any"
template <typename E>
std::string choices() {
  std::string text;
  constexpr std::size_t kCount = kNames<E>.size();
  for (std::size_t i = 0; i < kCount; ++i) {
    if (i > 0) text += i + 1 == kCount ? " or " : ", ";
    text += kNames<E>[i];
  }
  return text;
}

std::string text_of(Duration duration) {
  constexpr std::array<std::pair<std::int64_t, std::string_view>, 4> kUnits{
      {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1000, "s"}}};
  for (const auto& [ms, unit] : kUnits) {
    if (duration.ms() != 0 && duration.ms() % ms == 0) {
      return fmt::format("{}{}", duration.ms() / ms, unit);
    }
  }
  return duration.ms() == 0 ? "0s" : fmt::format("{}ms", duration.ms());
}

std::string text_of_bytes(std::uint64_t bytes) {
  constexpr std::array<std::pair<std::uint64_t, std::string_view>, 6> kUnits{{{1ULL << 30U, "GiB"},
                                                                              {1ULL << 20U, "MiB"},
                                                                              {1ULL << 10U, "KiB"},
                                                                              {1'000'000'000, "GB"},
                                                                              {1'000'000, "MB"},
                                                                              {1000, "kB"}}};
  for (const auto& [size, unit] : kUnits) {
    if (bytes != 0 && bytes % size == 0) return fmt::format("{}{}", bytes / size, unit);
  }
  return fmt::format("{}B", bytes);
}

// Each reads a text into a value of its type.
struct Reader {
  std::string_view name;
  std::string_view text;

  base::Status operator()(bool* value) const {
    if (text != "true" && text != "false") {
      return base::fail(ErrorCode::kInvalid, "{} is true or false, not {}", name,
                        base::quoted(text));
    }
    *value = text == "true";
    return {};
  }
  base::Status operator()(std::string* value) const {
    *value = text;
    return {};
  }
  base::Status operator()(std::vector<std::string>* value) const {
    value->emplace_back(text);
    return {};
  }
  template <typename T>
    requires kIsNumber<T>
  base::Status operator()(T* value) const {
    ASSIGN_OR_RETURN(const std::uint64_t count, parse_count(name, text));
    if (count > std::numeric_limits<T>::max()) {
      return base::fail(ErrorCode::kInvalid, "{} is at most {}, not {}", name,
                        std::numeric_limits<T>::max(), text);
    }
    *value = static_cast<T>(count);
    return {};
  }
  base::Status operator()(Duration* value) const {
    ASSIGN_OR_RETURN(*value, parse_duration(name, text));
    return {};
  }
  base::Status operator()(Milliseconds field) const {
    ASSIGN_OR_RETURN(const Duration duration, parse_duration(name, text));
    if (duration > kWaitMax) {
      return base::fail(ErrorCode::kInvalid, "{} is at most {}, not {}", name, text_of(kWaitMax),
                        base::quoted(text));
    }
    *field.value = static_cast<std::uint32_t>(duration.ms());
    return {};
  }
  base::Status operator()(Bytes field) const {
    ASSIGN_OR_RETURN(*field.value, parse_bytes(name, text));
    return {};
  }
  template <typename E>
    requires std::is_enum_v<E>
  base::Status operator()(E* value) const {
    for (std::size_t i = 0; i < kNames<E>.size(); ++i) {
      if (kNames<E>[i] != text) continue;
      *value = static_cast<E>(i);
      return {};
    }
    return base::fail(ErrorCode::kInvalid, "{} takes {}, not {}", name, choices<E>(),
                      base::quoted(text));
  }
  template <typename T>
  base::Status operator()(std::optional<T>* value) const {
    T read{};
    RETURN_IF_ERROR((*this)(&read));
    *value = std::move(read);
    return {};
  }
  base::Status operator()(OptionalMilliseconds field) const {
    std::uint32_t read = 0;
    RETURN_IF_ERROR((*this)(Milliseconds{&read}));
    *field.value = read;
    return {};
  }
  base::Status operator()(std::vector<fetch::RequestField>* value) const {
    const std::size_t colon = text.find(':');
    if (colon == text.npos) {
      return base::fail(ErrorCode::kInvalid, "{} takes fields such as Cookie, not {}", name,
                        base::quoted(text));
    }
    value->push_back({.name = std::string(text.substr(0, colon)),
                      .value = std::string(web::trim(text.substr(colon + 1))),
                      .is_secret = true});
    return {};
  }
};

// Each writes its value as TOML has it.
struct Writer {
  using Text = std::optional<std::string>;

  Text operator()(const bool* value) const { return *value ? "true" : "false"; }
  Text operator()(const std::string* value) const { return toml_quoted(*value); }
  Text operator()(const std::vector<std::string>* value) const {
    std::string text = "[";
    for (const std::string& item : *value) {
      if (text.size() > 1) text += ", ";
      text += toml_quoted(item);
    }
    return text + "]";
  }
  template <typename T>
    requires kIsNumber<T>
  Text operator()(const T* value) const {
    return fmt::format("{}", *value);
  }
  Text operator()(const Duration* value) const { return toml_quoted(text_of(*value)); }
  Text operator()(Milliseconds field) const {
    return toml_quoted(text_of(Duration::from_ms(*field.value)));
  }
  Text operator()(Bytes field) const { return toml_quoted(text_of_bytes(*field.value)); }
  template <typename E>
    requires std::is_enum_v<E>
  Text operator()(const E* value) const {
    return toml_quoted(kNames<E>[static_cast<std::size_t>(*value)]);
  }
  template <typename T>
  Text operator()(const std::optional<T>* value) const {
    return *value ? (*this)(&**value) : std::nullopt;
  }
  Text operator()(OptionalMilliseconds field) const {
    if (!*field.value) return std::nullopt;
    std::uint32_t ms = **field.value;
    return (*this)(Milliseconds{&ms});
  }
  Text operator()(const std::vector<fetch::RequestField>* value) const {
    std::string text = "{";
    for (const fetch::RequestField& field : *value) {
      text += fmt::format("{} {} = {}", text.size() > 1 ? "," : "", toml_quoted(field.name),
                          toml_quoted(field.value));
    }
    return text + " }";
  }
};

template <typename T>
constexpr bool kIsOptional = false;
template <typename T>
constexpr bool kIsOptional<std::optional<T>> = true;

template <typename T>
constexpr ConfigShape shape_of_type() {
  if constexpr (kIsOptional<T>) {
    return shape_of_type<typename T::value_type>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return ConfigShape::kBoolean;
  } else if constexpr (kIsNumber<T>) {
    return ConfigShape::kNumber;
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return ConfigShape::kList;
  } else if constexpr (std::is_same_v<T, std::vector<fetch::RequestField>>) {
    return ConfigShape::kTable;
  } else {
    return ConfigShape::kText;
  }
}

}  // namespace

ConfigShape shape_of(const ConfigField& field) {
  return std::visit(
      [](const auto& place) {
        return shape_of_type<std::remove_pointer_t<std::remove_cvref_t<decltype(place)>>>();
      },
      field);
}

base::Status set_field(const ConfigField& field, std::string_view name, std::string_view text) {
  return std::visit(Reader{.name = name, .text = text}, field);
}

void clear_list(const ConfigField& field) {
  if (auto* const* list = std::get_if<std::vector<std::string>*>(&field)) (*list)->clear();
}

std::optional<std::string> toml_of(const ConfigField& field) { return std::visit(Writer(), field); }

std::string toml_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted.append("\\").push_back(c);
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\u{:04X}", byte);
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "\"";
}

}  // namespace meguri::app
