#include "web/xml_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "web/xml_repair.h"

namespace meguri::web {
namespace {

// Writes down what it is told: "<a>text</>".
class Transcript final : public XmlHandler {
 public:
  bool on_start(const XmlElement& element) override {
    text += '<';
    if (!element.name().space.empty()) text += "{" + std::string(element.name().space) + "}";
    text += element.name().local;
    for (const std::string_view name : {"a", "href", "xml:base"}) {
      if (const auto value = element.attribute(name)) text += " " + std::string(*value);
    }
    text += '>';
    return element.name().local != "stop";
  }
  bool on_text(std::string_view piece) override {
    text += piece;
    return true;
  }
  bool on_end() override {
    text += "</>";
    return true;
  }

  std::string text;
};

std::string read(std::string_view bytes, XmlEnd end = XmlEnd::kComplete) {
  Transcript transcript;
  EXPECT_EQ(static_cast<int>(read_xml(bytes, &transcript).end), static_cast<int>(end))
      << bytes.substr(0, 200);
  return transcript.text;
}

TEST(XmlReader, ElementsAttributesAndTextAreHandedOver) {
  EXPECT_EQ(read("<?xml version=\"1.0\"?><r a='1 &amp; 2'>x<b/>&lt;y&#62;&#x41;</r>"),
            "<r 1 & 2>x<b></><y>A</>");
  EXPECT_EQ(read("<r><![CDATA[<b> & ]] > ]]]]><![CDATA[>]]></r>"), "<r><b> & ]] > ]]></>");
  EXPECT_EQ(read("<r><!-- <a> -- &x; --><?php <b> ?></r>"), "<r></>");
  EXPECT_EQ(read("<r/>junk & <behind>"), "<r></>");
}

TEST(XmlReader, NamespacesAreLookedUpAndMayBeMissing) {
  EXPECT_EQ(read("<r xmlns='u'><b/><p:c xmlns:p='v'><p:d/></p:c><p:e/><b xmlns=''/></r>"),
            "<{u}r><{u}b></><{v}c><{v}d></></><e></><b></></>");
}

TEST(XmlReader, BlanksAndMarksBeforeTheDeclarationAreNoFault) {
  EXPECT_EQ(read("\n \xEF\xBB\xBF<r/>"), "<r></>");
  EXPECT_EQ(read("\xEF\xBB\xBF\n  <?xml version='1.0' encoding='utf-8'?>\n<r/>"), "<r></>");
  EXPECT_EQ(read("\n<?xml version='1.0'?><?xml version='1.0'?><r/>"), "<r></>");
}

TEST(XmlReader, EncodingsAreThoseOfMarksAndOfPlainDeclarations) {
  EXPECT_EQ(read("<?xml version='1.0' encoding='ISO-8859-1'?><r>\xE9</r>"), "<r>\xC3\xA9</>");
  EXPECT_EQ(read("<?xml version='1.0' encoding='x-unknown'?><r>\xC3\xA9</r>"), "<r>\xC3\xA9</>");
  EXPECT_EQ(read("<?xml version='1.0' encoding='utf-16'?><r>\xC3\xA9</r>"), "<r>\xC3\xA9</>");
  std::string wide("\xFF\xFE", 2);
  for (const char c : std::string_view("<?xml version='1.0' encoding='utf-16'?><r>x</r>")) {
    wide.append({c, '\0'});
  }
  EXPECT_EQ(read(wide), "<r>x</>");
  EXPECT_EQ(read(std::string_view(wide).substr(2)), "<r>x</>");
  Transcript transcript;
  read_xml_utf8("<?xml version='1.0' encoding='ISO-8859-1'?><r>\xC3\xA9</r>", &transcript);
  EXPECT_EQ(transcript.text, "<r>\xC3\xA9</>");
}

TEST(XmlReader, WhatIsNoXmlBecomesText) {
  EXPECT_EQ(read("<r a='x&y=1&amp;z'>a&b&nbsp;&copy &#0;&#xD800;&#99999999;</r>"),
            "<r x&y=1&z>a&b&nbsp;&copy \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD</>");
  EXPECT_EQ(read("<r>1 < 2 > 0 ]]> \x01\x0B \xFF\xC3 \xEF\xBF\xBF</r>"),
            "<r>1 < 2 > 0 ]]>    \xEF\xBF\xBD\xEF\xBF\xBD \xEF\xBF\xBD</>");
  EXPECT_EQ(read("<r a='<b>'/>"), "<r <b>></>");
}

TEST(XmlReader, EntitiesAreNeverExpandedNorFetched) {
  std::string laughs = "<?xml version='1.0'?><!DOCTYPE r [<!ENTITY l0 'lol'>";
  for (int i = 1; i < 10; ++i) {
    laughs += "<!ENTITY l" + std::to_string(i) + " '";
    for (int k = 0; k < 10; ++k) laughs += "&l" + std::to_string(i - 1) + ";";
    laughs += "'>";
  }
  laughs += "]><r a='&l9;'>&l9;</r>";
  EXPECT_EQ(read(laughs), "<r &l9;>&l9;</>");
  EXPECT_EQ(read("<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><r>&x;</r>"), "<r>&x;</>");
  EXPECT_EQ(read("<!DOCTYPE r SYSTEM 'http://127.0.0.1/x.dtd' [<!ENTITY % p SYSTEM 'file:///x'>"
                 " %p; <!-- ' ]> \" --> <?a ' ]> ?> ]><r>&p;</r>"),
            "<r>&p;</>");
  EXPECT_EQ(read("<!DOCTYPE r [<!ATTLIST r a CDATA 'default'>]><r/>"), "<r></>");
  EXPECT_EQ(read("<r><!DOCTYPE q [<!ENTITY x 'y'>]>&x;</r>"), "<r>&x;</>");
  EXPECT_EQ(read("<!DOCTYPE r [<!ENTITY x 'y'>", XmlEnd::kTruncated), "");
  Transcript transcript;
  EXPECT_TRUE(read_xml("<!doctype r><r/>", &transcript).doctype);
}

TEST(XmlReader, WhatWasReadBeforeAFaultStays) {
  EXPECT_EQ(read("<r><a>1</a><b>2", XmlEnd::kTruncated), "<r><a>1</><b>2");
  EXPECT_EQ(read("<r><a>1</a><b", XmlEnd::kTruncated), "<r><a>1</>");
  EXPECT_EQ(read("<r><a>1</a></b></r>", XmlEnd::kNotWellFormed), "<r><a>1</>");
  EXPECT_EQ(read("<r><a>1</a><b c=d/></r>", XmlEnd::kNotWellFormed), "<r><a>1</>");
  EXPECT_EQ(read("<r><a>1</a><stop><b/></stop></r>", XmlEnd::kStopped), "<r><a>1</><stop>");
  EXPECT_EQ(read("", XmlEnd::kTruncated), "");
  EXPECT_EQ(read("plain text", XmlEnd::kNotWellFormed), "");
}

std::string repeated(std::string_view part, std::size_t count) {
  std::string out;
  out.reserve(part.size() * count);
  for (std::size_t i = 0; i < count; ++i) out += part;
  return out;
}

TEST(XmlReader, DepthIsBounded) {
  EXPECT_EQ(read(repeated("<a>", kXmlDepthMax) + repeated("</a>", kXmlDepthMax)),
            repeated("<a>", kXmlDepthMax) + repeated("</>", kXmlDepthMax));
  EXPECT_EQ(read(repeated("<a>", 1'000'000), XmlEnd::kTooDeep), repeated("<a>", kXmlDepthMax));
}

TEST(XmlReader, HugeAttributesAreNotSeenAndHugeTagsEndTheReading) {
  const std::string large(kXmlAttributeBytesMax, 'x');
  EXPECT_EQ(read("<r a='" + large + "' href='h'/>"), "<r " + large + " h></>");
  EXPECT_EQ(read("<r a='" + large + "x' href='h'/>"), "<r h></>");
  EXPECT_EQ(read("<r><s/><b a='" + std::string(8'000'000, 'x') + "'/></r>", XmlEnd::kTooLarge),
            "<r><s></>");
  EXPECT_EQ(read("<r>" + repeated("<!-- x -->", 1'000'000) + "<!--" + std::string(8'000'000, '-') +
                 " ></r>-->y</r>"),
            "<r>y</>");
}

TEST(XmlReader, NothingIsReadBehindTheSizeLimit) {
  EXPECT_EQ(read("<r><a/><!--" + std::string(kXmlBytesMax, 'x') + "--><b/></r>", XmlEnd::kTooLarge),
            "<r><a></>");
}

TEST(XmlReader, ManyNamesDoNotFillTheMemory) {
  std::string names = "<r>";
  for (int i = 0; i < 1'500'000; ++i) names += "<a" + std::to_string(i) + "/>";
  Transcript transcript;
  EXPECT_EQ(read_xml(names + "</r>", &transcript).end, XmlEnd::kTooLarge);
  EXPECT_EQ(read("<r/>"), "<r></>") << "the next document has all the memory again";
}

TEST(XmlReader, LongTextsAndManyUnclosedThingsTakeLinearTime) {
  const std::size_t length = read("<r>" + std::string(4'000'000, 'x') + "</r>").size();
  EXPECT_EQ(length, 4'000'000 + 6U);
  EXPECT_EQ(read("<r>" + repeated("&", 2'000'000) + "</r>").size(), 2'000'000 + 6U);
  EXPECT_EQ(read("<r>" + repeated("<", 2'000'000) + "</r>").size(), 2'000'000 + 6U);
  EXPECT_EQ(read("<r>" + repeated("<!--", 1'000'000), XmlEnd::kTruncated), "<r>");
  EXPECT_EQ(read("<r>" + repeated("<!DOCTYPE a [", 500'000), XmlEnd::kTruncated), "<r>");
  EXPECT_EQ(read("<r>" + repeated("<![CDATA[]", 500'000), XmlEnd::kTruncated).size(),
            5'000'000 - 6U);
}

}  // namespace
}  // namespace meguri::web
