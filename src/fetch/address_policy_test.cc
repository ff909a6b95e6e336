#include "fetch/address_policy.h"

#include <gtest/gtest.h>

#include <string>

namespace meguri::fetch {
namespace {

struct Boundary {
  const char* before;  // the last address of what lies below
  AddressRange range_before;
  const char* first;
  const char* last;
  const char* behind;
  AddressRange range_behind;
  AddressRange range;
};

void expect_range(const char* text, AddressRange range) {
  const auto address = IpAddress::parse(text);
  ASSERT_TRUE(address) << text;
  EXPECT_EQ(name_of(range_of(*address)), name_of(range)) << text;
  EXPECT_EQ(AddressPolicy().allows(*address), range == AddressRange::kPublic) << text;
}

void expect_boundary(const Boundary& boundary) {
  if (boundary.before != nullptr) expect_range(boundary.before, boundary.range_before);
  expect_range(boundary.first, boundary.range);
  expect_range(boundary.last, boundary.range);
  if (boundary.behind != nullptr) expect_range(boundary.behind, boundary.range_behind);
}

constexpr AddressRange kPublic = AddressRange::kPublic;
constexpr AddressRange kReserved = AddressRange::kReserved;
constexpr AddressRange kEmbedded = AddressRange::kEmbedded;
constexpr AddressRange kDocument = AddressRange::kDocumentation;

TEST(AddressPolicy, KnowsEveryRangeOfIpv4ToItsEnds) {
  for (const Boundary& boundary : {
           Boundary{nullptr, kPublic, "0.0.0.0", "0.255.255.255", "1.0.0.0", kPublic,
                    AddressRange::kUnspecified},
           Boundary{"9.255.255.255", kPublic, "10.0.0.0", "10.255.255.255", "11.0.0.0", kPublic,
                    AddressRange::kPrivate},
           Boundary{"100.63.255.255", kPublic, "100.64.0.0", "100.127.255.255", "100.128.0.0",
                    kPublic, AddressRange::kShared},
           Boundary{"126.255.255.255", kPublic, "127.0.0.0", "127.255.255.255", "128.0.0.0",
                    kPublic, AddressRange::kLoopback},
           Boundary{"169.253.255.255", kPublic, "169.254.0.0", "169.254.255.255", "169.255.0.0",
                    kPublic, AddressRange::kLinkLocal},
           Boundary{"172.15.255.255", kPublic, "172.16.0.0", "172.31.255.255", "172.32.0.0",
                    kPublic, AddressRange::kPrivate},
           Boundary{"191.255.255.255", kPublic, "192.0.0.0", "192.0.0.255", "192.0.1.0", kPublic,
                    kReserved},
           Boundary{"192.0.1.255", kPublic, "192.0.2.0", "192.0.2.255", "192.0.3.0", kPublic,
                    kDocument},
           Boundary{"192.88.98.255", kPublic, "192.88.99.0", "192.88.99.255", "192.88.100.0",
                    kPublic, kReserved},
           Boundary{"192.167.255.255", kPublic, "192.168.0.0", "192.168.255.255", "192.169.0.0",
                    kPublic, AddressRange::kPrivate},
           Boundary{"198.17.255.255", kPublic, "198.18.0.0", "198.19.255.255", "198.20.0.0",
                    kPublic, kReserved},
           Boundary{"198.51.99.255", kPublic, "198.51.100.0", "198.51.100.255", "198.51.101.0",
                    kPublic, kDocument},
           Boundary{"203.0.112.255", kPublic, "203.0.113.0", "203.0.113.255", "203.0.114.0",
                    kPublic, kDocument},
           Boundary{"223.255.255.255", kPublic, "224.0.0.0", "239.255.255.255", "240.0.0.0",
                    kReserved, AddressRange::kMulticast},
           Boundary{"239.255.255.255", AddressRange::kMulticast, "240.0.0.0", "255.255.255.255",
                    nullptr, kPublic, kReserved},
       }) {
    expect_boundary(boundary);
  }
}

TEST(AddressPolicy, KnowsEveryRangeOfIpv6ToItsEnds) {
  for (const Boundary& boundary : {
           Boundary{nullptr, kPublic, "::", "::", "::1", AddressRange::kLoopback,
                    AddressRange::kUnspecified},
           Boundary{"::1", AddressRange::kLoopback, "::2", "::ffff:ffff", "::1:0:0", kReserved,
                    kEmbedded},
           Boundary{"::fffe:ffff:ffff", kReserved, "::ffff:0:0", "::ffff:ffff:ffff", "::1:0:0:0",
                    kReserved, kEmbedded},
           Boundary{"::fffe:ffff:ffff:ffff", kReserved, "::ffff:0:0:0", "::ffff:0:ffff:ffff",
                    "::ffff:1:0:0", kReserved, kEmbedded},
           Boundary{"64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff", kReserved,
                    "64:ff9b::", "64:ff9b::ffff:ffff", "64:ff9b::1:0:0", kReserved, kEmbedded},
           Boundary{"64:ff9b:0:ffff:ffff:ffff:ffff:ffff", kReserved, "64:ff9b:1::",
                    "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "64:ff9b:2::", kReserved, kEmbedded},
           Boundary{"1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", kReserved, "2000::",
                    "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:1::", kReserved, kPublic},
           Boundary{nullptr, kPublic, "2001:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
                    "2001:200::", kPublic, kReserved},
           Boundary{"2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", kPublic, "2001:db8::",
                    "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::", kPublic, kDocument},
           Boundary{"3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", kPublic, "3fff::",
                    "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::", kPublic, kDocument},
           Boundary{"3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", kPublic,
                    "4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                    "fc00::", AddressRange::kPrivate, kReserved},
           Boundary{nullptr, kPublic, "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                    "fe00::", kReserved, AddressRange::kPrivate},
           Boundary{"fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff", kReserved,
                    "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                    "fec0::", AddressRange::kPrivate, AddressRange::kLinkLocal},
           Boundary{nullptr, kPublic, "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
                    "ff00::", AddressRange::kMulticast, AddressRange::kPrivate},
           Boundary{nullptr, kPublic, "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", nullptr,
                    kPublic, AddressRange::kMulticast},
           Boundary{"ff::", kReserved, "100::", "100::ffff:ffff:ffff:ffff",
                    "100:0:0:1::", kReserved, kReserved},
       }) {
    expect_boundary(boundary);
  }
}

TEST(AddressPolicy, LooksIntoSixToFourAndTeredo) {
  expect_range("2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", kPublic);
  expect_range("2002:7f00:1::", kEmbedded);                           // 127.0.0.1
  expect_range("2002:a00::", kEmbedded);                              // 10.0.0.0
  expect_range("2002:aff:ffff:ffff:ffff:ffff:ffff:ffff", kEmbedded);  // 10.255.255.255
  expect_range("2002:b00::", kPublic);                                // 11.0.0.0
  expect_range("2002:808:808::1", kPublic);                           // 8.8.8.8
  expect_range("2003::", kPublic);
  expect_range("2001:0:808:808:0:0:f7f7:f7f7", kPublic);    // 8.8.8.8 and 8.8.8.8
  expect_range("2001:0:7f00:1:0:0:f7f7:f7f7", kEmbedded);   // the server is 127.0.0.1
  expect_range("2001:0:808:808:0:0:80ff:fffe", kEmbedded);  // the client is 127.0.0.1
  expect_range("2001:0:808:808:0:0:f5ff:fffe", kEmbedded);  // 10.0.0.1
}

TEST(AddressPolicy, AllowsWhatTheOperatorAllows) {
  const auto policy = AddressPolicy::parse({"127.0.0.0/8", "fd12::/16"});
  ASSERT_TRUE(policy);
  const auto allows = [&](const char* text) { return policy->allows(*IpAddress::parse(text)); };
  EXPECT_TRUE(allows("127.1.2.3"));
  EXPECT_TRUE(allows("fd12::1"));
  EXPECT_TRUE(allows("8.8.8.8"));
  EXPECT_FALSE(allows("10.0.0.1"));
  EXPECT_FALSE(allows("fd13::1"));
  EXPECT_FALSE(allows("::1"));
  EXPECT_FALSE(allows("::ffff:127.0.0.1"));
  EXPECT_FALSE(allows("64:ff9b::7f00:1"));
  EXPECT_FALSE(allows("2002:7f00:1::"));
}

TEST(AddressPolicy, NamesTheNetworkThatIsNone) {
  const auto policy = AddressPolicy::parse({"127.0.0.0/8", "ten"});
  ASSERT_FALSE(policy);
  EXPECT_NE(policy.error().message().find("\"ten\""), std::string::npos);
}

}  // namespace
}  // namespace meguri::fetch
