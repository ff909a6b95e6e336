#include "sim/dns_message.h"

#include <gtest/gtest.h>

#include <string>

namespace meguri::sim {
namespace {

const std::string header_bytes(kDnsHeaderBytes, '\0');

std::optional<std::string> name_in(const std::string& message, std::size_t at) {
  return read_dns_name(message, &at);
}

TEST(DnsMessage, NamesAreReadAndWritten) {
  for (const std::string_view text : {"www.kotamira.test", "test", "", "A.b.C"}) {
    const auto wire = dns_name_of_text(text);
    ASSERT_TRUE(wire) << text;
    std::size_t at = kDnsHeaderBytes;
    EXPECT_EQ(read_dns_name(header_bytes + *wire + "rest", &at), wire);
    EXPECT_EQ(at, kDnsHeaderBytes + wire->size());
    EXPECT_EQ(dns_name_text(*wire), text);
  }
  EXPECT_EQ(dns_name_of_text("a.test."), dns_name_of_text("a.test"));
  EXPECT_FALSE(dns_name_of_text("a..test"));
  EXPECT_FALSE(dns_name_of_text(".test"));
  EXPECT_FALSE(dns_name_of_text(std::string(64, 'a')));
  EXPECT_TRUE(dns_name_of_text(std::string(63, 'a')));
}

TEST(DnsMessage, DotsWithinLabelsDoNotMakeLabels) {
  EXPECT_EQ(dns_name_text(std::string("\6a.test\0", 8)), "a\\046test");
  EXPECT_EQ(dns_name_text(std::string("\2\\ \4test\0", 9)), "\\092\\032.test");
}

TEST(DnsMessage, PointersLeadBackwards) {
  const std::string message = header_bytes + std::string("\4test\0\3www\xc0\x0c", 12);
  std::size_t at = 18;
  EXPECT_EQ(read_dns_name(message, &at), dns_name_of_text("www.test"));
  EXPECT_EQ(at, message.size());
}

TEST(DnsMessage, BrokenNamesAreNone) {
  EXPECT_FALSE(name_in(header_bytes, kDnsHeaderBytes));                               // nothing
  EXPECT_FALSE(name_in(header_bytes + "\3ww", kDnsHeaderBytes));                      // cut
  EXPECT_FALSE(name_in(header_bytes + "\3www", kDnsHeaderBytes));                     // no root
  EXPECT_FALSE(name_in(header_bytes + "\xc0", kDnsHeaderBytes));                      // half
  EXPECT_FALSE(name_in(header_bytes + "\xc0\x0c", kDnsHeaderBytes));                  // itself
  EXPECT_FALSE(name_in(header_bytes + std::string("\xc0\x02", 2), kDnsHeaderBytes));  // the header
  EXPECT_FALSE(name_in(header_bytes + std::string("\xc0\x0e\0", 3), kDnsHeaderBytes));   // forwards
  EXPECT_FALSE(name_in(header_bytes + std::string("\1a\xc0\x0c", 4), kDnsHeaderBytes));  // a circle
  EXPECT_FALSE(name_in(header_bytes + "\x40" + std::string(70, 'a'), kDnsHeaderBytes));  // 64
  EXPECT_FALSE(name_in(header_bytes + std::string("\x80\0", 2), kDnsHeaderBytes));       // reserved
  std::string label(64, 'a');
  label[0] = 63;
  EXPECT_FALSE(name_in(header_bytes + label + label + label + label + '\0', kDnsHeaderBytes));
}

TEST(DnsMessage, ChainsOfPointersEnd) {
  std::string message = header_bytes + '\0';
  std::size_t last = kDnsHeaderBytes;
  for (int i = 0; i < 200; ++i) {
    const std::size_t here = message.size();
    message += dns_pointer(last);
    EXPECT_EQ(name_in(message, here).has_value(), i < 127) << i;
    last = here;
  }
}

TEST(DnsMessage, MessagesAreReadWhole) {
  DnsHeader header;
  header.id = 0xabcd;
  header.is_response = true;
  header.opcode = DnsOpcode{5};
  header.is_authoritative = true;
  header.is_truncated = true;
  header.wants_recursion = true;
  header.rcode = 3;
  header.questions = 1;
  header.answers = 1;
  std::string bytes;
  append_dns_header(header, &bytes);
  append_dns_question({*dns_name_of_text("a.test"), DnsType::kAaaa, DnsClass{3}}, &bytes);
  append_dns_record(dns_pointer(kDnsHeaderBytes), DnsType::kA, 1, 0x80000001U, "abcd", &bytes);
  const auto read = read_dns_message(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->header.id, 0xabcd);
  EXPECT_TRUE(read->header.is_response && read->header.is_authoritative);
  EXPECT_TRUE(read->header.is_truncated && read->header.wants_recursion);
  EXPECT_EQ(read->header.opcode, DnsOpcode{5});
  EXPECT_EQ(read->header.rcode, 3);
  EXPECT_EQ(read->questions[0].type, DnsType::kAaaa);
  EXPECT_EQ(read->questions[0].klass, DnsClass{3});
  EXPECT_EQ(dns_name_text(read->answers[0].name), "a.test");
  EXPECT_EQ(read->answers[0].ttl, 0x80000001U);
  EXPECT_EQ(read->answers[0].data, "abcd");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const std::string cut = bytes.substr(0, length);  // of exact size, so that overruns trap
    EXPECT_FALSE(read_dns_message(cut)) << length;
  }
  EXPECT_FALSE(read_dns_message(bytes + "x"));
}

}  // namespace
}  // namespace meguri::sim
