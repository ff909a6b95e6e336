#include "sim/server_address.h"

#include <gtest/gtest.h>

namespace meguri::sim {
namespace {

TEST(ServerAddress, EveryServerHasItsOwn) {
  EXPECT_EQ(address_text(address_of(0)), "127.1.0.1");
  EXPECT_EQ(address_text(address_of(255)), "127.1.1.0");
  EXPECT_EQ(address_text(address_of(CensusOptions::kServersMax - 1)), "127.123.18.0");
  for (ServerNumber server = 0; server < CensusOptions::kServersMax; server += 999) {
    const Address address = address_of(server);
    EXPECT_TRUE(is_loopback(address));
    EXPECT_EQ(server_of(address), server);
    EXPECT_EQ(parse_address(address_text(address)), address);
  }
}

TEST(ServerAddress, OthersAreNoServers) {
  EXPECT_FALSE(server_of(0x7f000001));
  EXPECT_FALSE(server_of(kFirstServerAddress - 1));
  EXPECT_FALSE(server_of(kLastServerAddress + 1));
  EXPECT_FALSE(server_of(0x08080808));
  EXPECT_FALSE(is_loopback(0x80000001));
}

TEST(ServerAddress, TextsThatAreNoAddressAreRefused) {
  for (const char* text : {"", "127.1.0", "127.1.0.1.2", "127.1.0.256", "127.1.0.01", "127..0.1",
                           "127.1.0.1 ", "a", "127.1.0.-1", "127.1.0.4294967297"}) {
    EXPECT_FALSE(parse_address(text)) << text;
  }
}

}  // namespace
}  // namespace meguri::sim
