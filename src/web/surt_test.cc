#include "web/surt.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "web/surt_steps.h"
#include "web/testing.h"

namespace meguri::web {
namespace {

std::string google(std::string_view url) {
  auto parts = SurtUrl::parse(url);
  if (!parts || !parts->canonicalize_google()) return "(refused)";
  return parts->to_url();
}

std::string ia(std::string_view url) {
  auto parts = SurtUrl::parse(url);
  if (!parts) return "(refused)";
  parts->canonicalize_ia();
  return parts->to_url();
}

std::string default_ia(std::string_view url) {
  auto parts = SurtUrl::parse(url);
  if (!parts || !parts->canonicalize_google()) return "(refused)";
  parts->canonicalize_ia();
  return parts->to_url();
}

// Some keys of the data are bytes written as the characters of the same number: those with a
// character from U+0080 to U+009F, which nobody writes on purpose.
std::string bytes_of(const std::string& key) {
  std::string latin1;
  bool has_control = false;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const auto lead = static_cast<unsigned char>(key[i]);
    if (lead < 0x80) {
      latin1 += key[i];
    } else if (lead == 0xC2 || lead == 0xC3) {
      const unsigned value =
          ((lead & 0x1FU) << 6U) | (static_cast<unsigned char>(key[++i]) & 0x3FU);
      has_control = has_control || value < 0xA0;
      latin1 += static_cast<char>(value);
    } else {
      return key;
    }
  }
  return has_control ? latin1 : key;
}

TEST(Surt, EveryCaseOfTheSharedDataPasses) {
  READ_TEST_DATA(text, "url/surt.json");
  const std::map<std::string, std::function<std::string(const std::string&)>> steps = {
      {"Canonicalizer.DefaultIA", default_ia},
      {"google", google},
      {"googleSupplementalFromSurt", google},
      {"unescapeRepeatedly", unescape_repeatedly},
      {"Canonicalizer.IA", ia},
      {"alphaRorderQuery", alpha_reorder_query},
      {"massageHost", [](const std::string& host) { return std::string(massage_host(host)); }},
      {"stripPathSessionId", strip_path_session_id},
      {"defaultIASurt", [](const std::string& url) { return surt_key(url); }},
  };
  std::size_t count = 0;
  const nlohmann::json groups = nlohmann::json::parse(text);
  for (const auto& [group, cases] : groups.items()) {
    ASSERT_TRUE(steps.contains(group)) << group;
    for (const auto& [input, output] : cases.items()) {
      EXPECT_EQ(steps.at(group)(bytes_of(input)), output.get<std::string>())
          << group << " " << input;
      ++count;
    }
  }
  EXPECT_GE(count, 80U);
}

}  // namespace
}  // namespace meguri::web
