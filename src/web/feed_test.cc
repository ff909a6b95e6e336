#include "web/feed.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "web/testing.h"

namespace meguri::web {
namespace {

std::string page(const FeedEntry& entry) { return entry.page() ? entry.page()->href : ""; }

TEST(Feed, TheRssSampleIsRead) {
  READ_TEST_DATA(file, "sitemaps/feed.rss");
  const Feed feed = parse_feed(file);
  EXPECT_EQ(feed.kind, DocumentKind::kRss);
  EXPECT_EQ(feed.end, XmlEnd::kComplete);
  EXPECT_EQ(feed.title, "RSS Title");
  ASSERT_TRUE(feed.link("alternate"));
  EXPECT_EQ(feed.link("alternate")->href, "https://www.example.com/main.html");
  EXPECT_EQ(feed.updated, "Mon, 06 Sep 2010 00:01:00 +0000");
  EXPECT_EQ(feed.published, "Sun, 06 Sep 2009 16:20:00 +0000");
  EXPECT_EQ(feed.ttl_minutes, 1800);
  ASSERT_EQ(feed.entries.size(), 4);
  EXPECT_EQ(page(feed.entries[0]), "https://www.example.com/blog/post/1");
  EXPECT_EQ(feed.entries[0].id, "7bd204c6-1655-4c27-aeee-53f933c5395f");
  EXPECT_FALSE(feed.entries[0].id_is_permalink);
  EXPECT_EQ(feed.entries[0].published, "Sun, 06 Sep 2009 16:20:00 +0000");
  EXPECT_EQ(page(feed.entries[1]), "https://www.example.com/guid.html");
  EXPECT_EQ(feed.entries[1].title, "&guid& element instead of &link&");
  EXPECT_EQ(page(feed.entries[2]), "https://www.example.com/foo?q=a&l=en");
  EXPECT_EQ(page(feed.entries[3]), "https://www.example.com/foo?q=a&l=fr");
}

TEST(Feed, TheAtomSampleIsRead) {
  READ_TEST_DATA(file, "sitemaps/atom.xml");
  const Feed feed = parse_feed(file);
  EXPECT_EQ(feed.kind, DocumentKind::kAtom);
  EXPECT_EQ(feed.title, "Example Feed");
  EXPECT_EQ(feed.link("self")->href, "http://example.org/feed/");
  EXPECT_EQ(feed.link("alternate")->href, "http://example.org/");
  EXPECT_EQ(feed.updated, "2003-12-13T18:30:02Z");
  ASSERT_EQ(feed.entries.size(), 1);
  const FeedEntry& entry = feed.entries[0];
  EXPECT_EQ(entry.title, "Atom-Powered Robots Run Amok");
  EXPECT_EQ(entry.id, "urn:uuid:1225c695-cfb8-4ebb-aaaa-80da344efa6a");
  EXPECT_EQ(entry.updated, "2003-12-13T18:30:02Z");
  EXPECT_EQ(page(entry), "http://example.org/2003/12/13/atom03");
  ASSERT_EQ(entry.links.size(), 3);
  EXPECT_EQ(entry.links[1].type, "text/html");
  EXPECT_EQ(entry.links[2].rel, "edit");
}

TEST(Feed, RdfItemsStandBesideTheChannel) {
  for (const std::string_view space :
       {"http://purl.org/rss/1.0/", "http://my.netscape.com/rdf/simple/0.9/"}) {
    const Feed feed = parse_feed(
        "<?xml version='1.0'?><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'"
        " xmlns:dc='http://purl.org/dc/elements/1.1/'"
        " xmlns:sy='http://purl.org/rss/1.0/modules/syndication/' xmlns='" +
        std::string(space) +
        "'><channel rdf:about='http://a/feed'><title>T</title><link>http://a/</link>"
        "<sy:updatePeriod>Hourly</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>"
        "<items><rdf:Seq><rdf:li resource='http://a/1'/></rdf:Seq></items></channel>"
        "<image><title>I</title><link>http://a/i</link></image>"
        "<item rdf:about='http://a/1'><title>One</title><link>http://a/1</link>"
        "<dc:date>2020-01-02</dc:date></item>"
        "<item rdf:about='http://a/2'><title>Two</title></item></rdf:RDF>");
    EXPECT_EQ(feed.kind, DocumentKind::kRss);
    EXPECT_EQ(feed.title, "T");
    EXPECT_EQ(feed.links.size(), 1);
    EXPECT_EQ(feed.update_period, "hourly");
    EXPECT_EQ(feed.update_frequency, 2);
    ASSERT_EQ(feed.entries.size(), 2);
    EXPECT_EQ(page(feed.entries[0]), "http://a/1");
    EXPECT_EQ(feed.entries[0].published, "2020-01-02");
    EXPECT_EQ(page(feed.entries[1]), "http://a/2");
  }
}

TEST(Feed, RssNinetyOneHasADoctypeAndHoursToSkip) {
  const Feed feed = parse_feed(
      "<?xml version='1.0'?><!DOCTYPE rss PUBLIC '-//Netscape Communications//DTD RSS 0.91//EN'"
      " 'http://my.netscape.com/publish/formats/rss-0.91.dtd'><rss version='0.91'><channel>"
      "<title>T &eacute;&nbsp;</title><skipHours><hour>0</hour><hour>24</hour><hour>7</hour>"
      "<hour>99</hour></skipHours><skipDays><day>Sunday</day><day>friday</day></skipDays>"
      "<textinput><link>http://a/search</link></textinput>"
      "<item><title>One</title><link>http://a/1</link><link>http://a/1b</link></item>"
      "</channel></rss>");
  EXPECT_EQ(feed.title, "T &eacute;&nbsp;");
  EXPECT_EQ(feed.skip_hours, (1U << 0U) | (1U << 7U));
  EXPECT_EQ(feed.skip_days, (1U << 0U) | (1U << 5U));
  EXPECT_TRUE(feed.links.empty());
  ASSERT_EQ(feed.entries.size(), 1);
  EXPECT_EQ(page(feed.entries[0]), "http://a/1");
  EXPECT_EQ(feed.entries[0].links.size(), 2);
}

TEST(Feed, RssCarriesHubsSelvesEnclosuresAndMedia) {
  const Feed feed = parse_feed(
      "<rss version='2.0' xmlns:atom='http://www.w3.org/2005/Atom'"
      " xmlns:media='http://search.yahoo.com/mrss/' xmlns:itunes='http://www.itunes.com/x'>"
      "<channel><title>T</title><itunes:title>I</itunes:title>"
      "<atom:link rel='self' href='http://a/feed'/><atom:link rel='HUB' href='http://hub/'/>"
      "<item><media:title>no</media:title><title>yes</title><media:group>"
      "<media:content url='http://a/v.mp4' type='video/mp4'/></media:group>"
      "<enclosure url='http://a/e.mp3' length='1' type='AUDIO/mpeg'/>"
      "<guid>http://a/1</guid><source url='http://b/'><title>src</title></source></item>"
      "<item><guid isPermaLink='true'>not a url</guid></item></channel></rss>");
  EXPECT_EQ(feed.title, "T");
  EXPECT_EQ(feed.link("self")->href, "http://a/feed");
  EXPECT_EQ(feed.link("hub")->href, "http://hub/");
  ASSERT_EQ(feed.entries.size(), 2);
  const FeedEntry& entry = feed.entries[0];
  EXPECT_EQ(entry.title, "yes");
  EXPECT_EQ(page(entry), "http://a/1");
  EXPECT_TRUE(entry.id_is_permalink);
  ASSERT_EQ(entry.links.size(), 3);
  EXPECT_EQ(entry.links[0].href, "http://a/v.mp4");
  EXPECT_EQ(entry.links[1].rel, "enclosure");
  EXPECT_EQ(entry.links[1].type, "audio/mpeg");
  EXPECT_EQ(feed.entries[1].page(), nullptr);
  EXPECT_FALSE(feed.entries[1].id_is_permalink);
}

TEST(Feed, AtomThreeHasItsOwnNamesForDates) {
  const Feed feed = parse_feed(
      "<feed version='0.3' xmlns='http://purl.org/atom/ns#'><modified>2003-12-13</modified>"
      "<entry><title mode='escaped'>A &lt;b&gt;</title><issued>2003-12-11</issued>"
      "<created>2003-12-10</created><modified>2003-12-12</modified>"
      "<link rel='alternate' href='http://a/1'/></entry></feed>");
  EXPECT_EQ(feed.updated, "2003-12-13");
  ASSERT_EQ(feed.entries.size(), 1);
  EXPECT_EQ(feed.entries[0].title, "A <b>");
  EXPECT_EQ(feed.entries[0].published, "2003-12-11");
  EXPECT_EQ(feed.entries[0].updated, "2003-12-12");
}

TEST(Feed, XhtmlTitlesAreTheirText) {
  const Feed feed = parse_feed(
      "<feed><title type='xhtml'><div>Less: <em>more</em> <title>x</title></div></title>"
      "<entry><content><div><link href='http://a/no'/></div></content></entry></feed>");
  EXPECT_EQ(feed.title, "Less: more x");
  EXPECT_TRUE(feed.entries.at(0).links.empty());
}

TEST(Feed, XmlBasesAreKeptFromTheOutside) {
  const Feed feed = parse_feed(
      "<feed xml:base='http://a/b/'><link href='c'/><entry xml:base='d/'><link href='e'/>"
      "<link xml:base='http://x/' href='f'/></entry><entry><link href='g'/></entry></feed>");
  using Bases = std::vector<std::string_view>;
  ASSERT_EQ(feed.entries.size(), 2);
  EXPECT_EQ(feed.bases_of(feed.links.at(0)), Bases{"http://a/b/"});
  EXPECT_EQ(feed.bases_of(feed.entries[0].links.at(0)), (Bases{"http://a/b/", "d/"}));
  EXPECT_EQ(feed.bases_of(feed.entries[0].links.at(1)), Bases{"http://x/"});
  EXPECT_EQ(feed.bases_of(feed.entries[1].links.at(0)), Bases{"http://a/b/"});
  EXPECT_TRUE(parse_feed("<feed><link href='c'/></feed>").bases.empty());
}

TEST(Feed, WhatWasReadBeforeAFaultStays) {
  const std::string good =
      "<rss><channel><item><link>http://a/1</link></item><item><link>http://a/2</link>";
  EXPECT_EQ(parse_feed(good).entries.size(), 2);
  EXPECT_EQ(parse_feed(good).end, XmlEnd::kTruncated);
  EXPECT_EQ(parse_feed(good + "<br></item>").entries.size(), 2);
  EXPECT_EQ(parse_feed(good + "<br></item>").end, XmlEnd::kNotWellFormed);
  EXPECT_EQ(parse_feed("<rss><channel><item><link>http://a/1").entries.size(), 0);
}

TEST(Feed, OtherDocumentsAreNotRead) {
  EXPECT_EQ(parse_feed("<urlset><item/></urlset>").kind, DocumentKind::kSitemap);
  EXPECT_TRUE(parse_feed("<urlset><item/></urlset>").entries.empty());
  EXPECT_EQ(parse_feed("").kind, DocumentKind::kOther);
}

TEST(Feed, EntriesLinksAndTextsAreBounded) {
  std::string many = "<feed>";
  for (std::size_t i = 0; i <= kFeedEntriesMax; ++i) many += "<entry/>";
  EXPECT_EQ(parse_feed(many).entries.size(), kFeedEntriesMax);
  EXPECT_TRUE(parse_feed(many).entries_cut);

  std::string links = "<feed><entry>";
  for (int i = 0; i < 10'000; ++i) links += "<link xml:base='x' href='y'/><link xml:base='x'/>";
  const Feed feed = parse_feed(links + "</entry></feed>");
  EXPECT_EQ(feed.entries.at(0).links.size(), kFeedLinksMax);
  EXPECT_LE(feed.bases.size(), kFeedBasesMax);

  const Feed texts = parse_feed("<feed><entry><title>" + std::string(5000, 'x') + "</title><id>" +
                                std::string(5'000'000, 'y') + "</id><link href='" +
                                std::string(5000, 'z') + "'/></entry></feed>");
  EXPECT_EQ(texts.entries.at(0).title, "");
  EXPECT_EQ(texts.entries.at(0).id, "");
  EXPECT_TRUE(texts.entries.at(0).links.empty());
}

}  // namespace
}  // namespace meguri::web
