// Reading `meguri.toml`. The only file that includes toml++, whose header is slow to compile.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/command_line.h"
#include "app/crawl_config.h"
#include "base/text.h"

namespace meguri::app {

namespace {

using base::ErrorCode;

std::string_view article_and_shape(ConfigShape shape) {
  switch (shape) {
    case ConfigShape::kBoolean: return "true or false";
    case ConfigShape::kNumber: return "a whole number such as 100";
    case ConfigShape::kText: return "a text in quotes";
    case ConfigShape::kList: return "a list of texts such as [\"a\", \"b\"]";
    case ConfigShape::kTable: return "a table such as { Cookie = \"a=b\" }";
  }
  return "";
}

// Reads one file; every error is a sentence that begins with the file and the line.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  base::Status read(std::string_view text, CrawlConfig& config) {
    try {
      const toml::table all = toml::parse(text, file_);
      for (const auto& [key, node] : all) RETURN_IF_ERROR(read_top(key, node, config));
      return {};
    } catch (const toml::parse_error& error) {
      return at(error.source(), "{}", tidy(error.description()));
    }
  }

 private:
  template <typename... Args>
  base::Status at(const toml::source_region& where, fmt::format_string<Args...> format,
                  Args&&... args) const {
    return base::fail(ErrorCode::kInvalid, "{}:{}: {}", file_, where.begin.line,
                      fmt::format(format, std::forward<Args>(args)...));
  }

  // What a library says, as one line that is the end of a sentence of ours.
  static std::string tidy(std::string_view text) {
    std::string line;
    base::append_printable(text, &line);
    while (line.ends_with('.') || line.ends_with(' ')) line.pop_back();
    return line;
  }

  static bool has_table(std::string_view name) {
    return std::ranges::any_of(crawl_keys(), [name](const auto& key) { return key.table == name; });
  }

  base::Status read_top(const toml::key& key, const toml::node& node, CrawlConfig& config) const {
    const std::string_view name = key.str();
    if (name == "host") return read_hosts(node, config);
    if (name.empty() || !has_table(name)) {
      return read_key<CrawlConfig>(crawl_keys(), "", key, node, config);
    }
    const toml::table* const table = node.as_table();
    if (table == nullptr) return at(key.source(), "{} is a table: write [{}]", name, name);
    for (const auto& [inner, value] : *table) {
      RETURN_IF_ERROR(read_key<CrawlConfig>(crawl_keys(), name, inner, value, config));
    }
    return {};
  }

  base::Status read_hosts(const toml::node& node, CrawlConfig& config) const {
    const toml::array* const rules = node.as_array();
    const bool is_tables = rules != nullptr && rules->is_homogeneous(toml::node_type::table);
    if (!is_tables) {
      return at(node.source(), "what holds for some hosts is written behind [[host]]");
    }
    for (const toml::node& rule : *rules) {
      crawl::HostRule read;
      for (const auto& [key, value] : *rule.as_table()) {
        RETURN_IF_ERROR(read_key<crawl::HostRule>(host_keys(), "host", key, value, read));
      }
      if (read.matches.empty())
        return at(rule.source(), "[[host]] needs match, the hosts it is for");
      config.crawl.hosts.push_back(std::move(read));
    }
    return {};
  }

  template <typename T>
  base::Status read_key(std::span<const ConfigKey<T>> keys, std::string_view table,
                        const toml::key& name, const toml::node& node, T& to) const {
    const auto key = std::ranges::find_if(keys, [&](const ConfigKey<T>& known) {
      return known.table == table && known.name == name.str();
    });
    if (key == keys.end()) return unknown<T>(keys, table, name, node);
    std::vector<std::string> texts;
    const ConfigField field = key->field(to);
    if (!texts_of(node, shape_of(field), texts)) {
      return at(node.source(), "{} is {}", key->name, article_and_shape(shape_of(field)));
    }
    // A list in the file replaces a default; those of the command line come behind it.
    clear_list(field);
    for (const std::string& text : texts) {
      if (const auto status = set_key(*key, to, key->name, text); !status) {
        return at(node.source(), "{}", status.error().message());
      }
    }
    return {};
  }

  template <typename T>
  base::Status unknown(std::span<const ConfigKey<T>> keys, std::string_view table,
                       const toml::key& name, const toml::node& node) const {
    const std::string where = table.empty() ? "" : fmt::format(" in [{}]", table);
    std::string hint;
    std::vector<std::string> names;
    for (const ConfigKey<T>& key : keys) {
      if (key.table == table) names.emplace_back(key.name);
      if (key.name == name.str() && hint.empty()) {
        hint = key.table.empty() ? std::string(" (it belongs before all tables)")
                                 : fmt::format(" (it belongs in [{}])", key.table);
      }
      if (table.empty() && node.is_table()) names.emplace_back(key.table);
    }
    if (table.empty()) names.emplace_back("host");
    if (hint.empty()) hint = suggestion(name.str(), names);
    std::string shown;
    base::append_printable(name.str(), &shown);
    const std::string_view what = table.empty() && node.is_table() ? "table" : "key";
    return at(name.source(), "unknown {} '{}'{}{}", what, shown, where, hint);
  }

  static bool append_text(const toml::node& node, std::vector<std::string>& texts) {
    const auto text = node.value_exact<std::string>();
    if (text) texts.push_back(*text);
    return text.has_value();
  }

  // False: the value is of another shape.
  static bool texts_of(const toml::node& node, ConfigShape shape, std::vector<std::string>& texts) {
    switch (shape) {
      case ConfigShape::kBoolean:
        if (!node.is_boolean()) return false;
        texts.emplace_back(node.as_boolean()->get() ? "true" : "false");
        return true;
      case ConfigShape::kNumber:
        if (!node.is_integer()) return append_text(node, texts);
        texts.push_back(fmt::format("{}", node.as_integer()->get()));
        return true;
      case ConfigShape::kText: return append_text(node, texts);
      case ConfigShape::kList: {
        const toml::array* const list = node.as_array();
        if (list == nullptr) return append_text(node, texts);
        return std::ranges::all_of(
            *list, [&texts](const toml::node& item) { return append_text(item, texts); });
      }
      case ConfigShape::kTable: {
        const toml::table* const table = node.as_table();
        if (table == nullptr) return false;
        for (const auto& [key, value] : *table) {
          const auto text = value.value_exact<std::string>();
          if (!text) return false;
          texts.push_back(fmt::format("{}: {}", key.str(), *text));
        }
        return true;
      }
    }
    return false;
  }

  const std::string& file_;
};

}  // namespace

base::Status read_config(std::string_view text, const std::string& file, CrawlConfig& config) {
  return Reader(file).read(text, config);
}

}  // namespace meguri::app
