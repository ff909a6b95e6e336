// For tests: the simplest crawler that does everything right, one page after the other.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <set>
#include <string>

#include "sim/world.h"
#include "web/page.h"
#include "web/robots.h"
#include "web/url.h"

namespace meguri::sim {

// The document as the crawler sees it.
inline web::Page read_answer(const Answer& answer, const web::Url& url) {
  web::FieldList fields;
  for (const Field& field : answer.fields) fields.add(field.name, field.value);
  web::PageContext context;
  context.url = &url;
  context.fields = &fields;
  return web::read_page(answer.body, context);
}

// Visits all that can be reached from `seed`, links and embeds, and obeys robots.txt and what pages
// say. Knows the web only by `ask(host, target)`, which gives an Answer.
template <typename Ask>
void crawl_politely(const World& world, const std::string& seed, Ask ask) {
  std::deque<std::string> open = {seed};
  std::set<std::string> seen = {seed};
  std::map<std::string, web::Robots> rules;
  while (!open.empty()) {
    const auto url = web::Url::parse(open.front());
    ASSERT_TRUE(url) << open.front();
    open.pop_front();
    const std::string host(url->host());
    const auto [found, is_new] = rules.try_emplace(host);
    if (is_new) {
      const Site site(world.census(), world.census().host_of_name(host).value());
      found->second = web::Robots::parse(world.robots_of(site, {.host = host}), "meguri");
    }
    std::string target(url->path());
    if (url->has_query()) target.append("?").append(url->query());
    if (!found->second.check(target).allowed) continue;
    const Answer answer = ask(host, target);
    const auto offer = [&](const web::Url& next) {
      if (seen.insert(next.href()).second) open.push_back(next.href());
    };
    if (const auto location = answer.field("Location")) {
      if (const auto next = web::Url::parse(*location, &*url)) offer(*next);
    }
    if (answer.status != 200) continue;
    const web::Page page = read_answer(answer, *url);
    for (const web::PageLink& link : page.links) {
      if (!page.directives.nofollow || link.kind == web::LinkKind::kEmbed) offer(link.url);
    }
  }
}

}  // namespace meguri::sim
