#include "fetch/address.h"

#include <gtest/gtest.h>

namespace meguri::fetch {
namespace {

TEST(IpAddress, ReadsAndWritesBothFamilies) {
  for (const char* text : {"0.0.0.0", "192.0.2.1", "255.255.255.255", "::", "::1", "2001:db8::1"}) {
    const auto address = IpAddress::parse(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->to_string(), text);
  }
  EXPECT_EQ(IpAddress::parse("[::1]"), IpAddress::parse("::1"));
  EXPECT_EQ(IpAddress::parse("127.1.0.1"), IpAddress::v4(0x7f010001));
  EXPECT_NE(IpAddress::parse("::ffff:127.0.0.1"), IpAddress::parse("127.0.0.1"));
}

TEST(IpAddress, RefusesWhatIsNone) {
  for (const char* text :
       {"", "127.1", "1.2.3.4.5", "0x7f.0.0.1", "256.0.0.1", "[127.0.0.1]", "[]", "fe80::1%eth0",
        "example.org", "1.2.3.4 ", "::1]", ":::", "1:2:3:4:5:6:7",
        "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255.255.255.255.255"}) {
    EXPECT_FALSE(IpAddress::parse(text)) << text;
  }
  EXPECT_FALSE(IpAddress::parse(std::string_view("1.2.3.4\0", 8)));
}

TEST(Endpoint, ReadsAndWritesAddressAndPort) {
  for (const char* text : {"192.0.2.1:80", "[2001:db8::1]:65535", "127.0.0.1:0"}) {
    const auto endpoint = Endpoint::parse(text);
    ASSERT_TRUE(endpoint) << text;
    EXPECT_EQ(endpoint->to_string(), text);
  }
  for (const char* text : {"", "192.0.2.1", "192.0.2.1:", "192.0.2.1:65536", "::1:80", "a:80",
                           "192.0.2.1:+80", "192.0.2.1:080", "[::1]"}) {
    const auto endpoint = Endpoint::parse(text);
    ASSERT_FALSE(endpoint) << text;
    EXPECT_EQ(endpoint.error().code(), base::ErrorCode::kInvalid);
  }
}

TEST(Network, HoldsTheAddressesOfItsPrefix) {
  const auto network = Network::parse("10.16.0.0/12");
  ASSERT_TRUE(network);
  EXPECT_TRUE(network->contains(*IpAddress::parse("10.16.0.0")));
  EXPECT_TRUE(network->contains(*IpAddress::parse("10.31.255.255")));
  EXPECT_FALSE(network->contains(*IpAddress::parse("10.15.255.255")));
  EXPECT_FALSE(network->contains(*IpAddress::parse("10.32.0.0")));
  EXPECT_FALSE(network->contains(*IpAddress::parse("::ffff:10.16.0.0")));
  EXPECT_TRUE(Network::parse("::/0")->contains(*IpAddress::parse("ff02::1")));
  EXPECT_FALSE(Network::parse("::/0")->contains(*IpAddress::parse("10.0.0.1")));
  EXPECT_TRUE(Network::parse("192.0.2.7")->contains(*IpAddress::parse("192.0.2.7")));
  EXPECT_FALSE(Network::parse("192.0.2.7")->contains(*IpAddress::parse("192.0.2.6")));
  EXPECT_EQ(Network::parse("fd00::/8")->to_string(), "fd00::/8");
}

TEST(Network, SaysWhatIsWrong) {
  const auto message = [](std::string_view text) { return Network::parse(text).error().message(); };
  EXPECT_EQ(message("local/8"),
            "\"local/8\" is no network like 127.0.0.0/8 or fd00::/8: no address stands first");
  EXPECT_EQ(message("127.0.0.0/33"),
            "\"127.0.0.0/33\" needs a number from 0 to 32 behind its slash");
  EXPECT_EQ(message("::/"), "\"::/\" needs a number from 0 to 128 behind its slash");
  EXPECT_EQ(message("127.0.0.1/8"),
            "\"127.0.0.1/8\" has bits behind its prefix: write 127.0.0.0/8, or 127.0.0.1/32 for "
            "the one address");
}

}  // namespace
}  // namespace meguri::fetch
