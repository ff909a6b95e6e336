#include "crawl/registry_state.h"

#include <gtest/gtest.h>

namespace meguri::crawl {
namespace {

RegistryState sample() {
  RegistryState state;
  state.known = 10;
  state.done = 7;
  state.visited = {1, 2, 3, 0, 0};
  state.refused[1] = 1;
  state.pages = std::string("where\0pages", 11);
  state.hosts = "where hosts";
  return state;
}

TEST(RegistryState, ComesBackAsItWas) {
  const auto state = RegistryState::decode(sample().encode());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->known, 10U);
  EXPECT_EQ(state->done, 7U);
  EXPECT_EQ(state->visited, sample().visited);
  EXPECT_EQ(state->refused, sample().refused);
  EXPECT_EQ(state->pages, sample().pages);
  EXPECT_EQ(state->hosts, sample().hosts);
}

TEST(RegistryState, ReasonsThatWereNotKnownThenAreMissing) {
  const std::string whole = sample().encode();
  const auto state = RegistryState::decode(std::string_view(whole).substr(0, whole.size() - 8));
  ASSERT_TRUE(state);
  EXPECT_EQ(state->refused, sample().refused);
}

TEST(RegistryState, RefusesWhatItDoesNotWrite) {
  const std::string whole = sample().encode();
  const std::size_t reasons = 8 * sample().refused.size();
  for (std::size_t size = 0; size < whole.size() - reasons; ++size) {
    EXPECT_FALSE(RegistryState::decode(std::string_view(whole).substr(0, size))) << size;
  }
  EXPECT_FALSE(RegistryState::decode(whole + "x"));
  EXPECT_FALSE(RegistryState::decode("\x07" + whole.substr(1)));
}

}  // namespace
}  // namespace meguri::crawl
