#include "sim/leads.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "web/canonical.h"
#include "web/robots.h"
#include "web/url.h"

namespace meguri::sim {
namespace {

class Finder {
 public:
  Finder(const World& world, std::string_view host, const Site& site, base::Instant now)
      : world_(world), host_(host), site_(site), now_(now) {}

  std::vector<Lead> find(const Place& place) {
    switch (place.kind) {
      case Place::Kind::kRobots:
        if (site_.has_robots() && site_.sitemap() != SitemapHabit::kNone) {
          add_sitemap("");
        } else {
          add(LeadKind::kHint, "/sitemap.xml");
        }
        break;
      case Place::Kind::kRedirect: add(LeadKind::kRedirect, site_.address_of(place.page)); break;
      case Place::Kind::kPage: find_in_page(place.page); break;
      case Place::Kind::kStyle:
        if (place.page == 1) add(LeadKind::kEmbed, "/static/style-2.css");
        add(LeadKind::kEmbed, fmt::format("/img/{}.png", place.page));
        break;
      case Place::Kind::kSitemap: find_in_sitemap(place.page); break;
      case Place::Kind::kFeed:
        for (const PageNumber page : world_.feed_pages(site_, now_)) add_hint(page);
        break;
      default: break;
    }
    return std::move(leads_);
  }

 private:
  void add(LeadKind kind, std::string target) {
    leads_.push_back({kind, std::string(host_), std::move(target)});
  }
  void add_hint(PageNumber page) { add(LeadKind::kHint, site_.address_of(page)); }
  void add_sitemap(std::string_view part) {
    const bool gzip = site_.sitemap() == SitemapHabit::kGzip;
    add(LeadKind::kHint, fmt::format("/sitemap{}.xml{}", part, gzip ? ".gz" : ""));
  }

  void find_in_page(PageNumber number) {
    const Page page = world_.page(site_, number);
    if (world_.status_of(site_, number, now_) != 200) return;
    add(LeadKind::kEmbed, "/static/style-1.css");
    add(LeadKind::kEmbed, "/static/app-1.js");
    if (!page.is_frameset()) find_images(page);
    const bool nofollow = page.robots().nofollow;
    if (!nofollow && site_.feed() != FeedHabit::kNone) add(LeadKind::kHint, "/feed.xml");
    for (const OutLink& link : page.links(page.history().at(now_))) {
      const bool is_frame = link.form == LinkForm::kFrame || link.form == LinkForm::kIframe;
      if (nofollow && !is_frame) continue;
      const LeadKind kind = is_frame ? LeadKind::kFrame : LeadKind::kLink;
      // Within a mirror, links stay on the mirror.
      if (link.host == site_.host()) {
        add(kind, link.target_on(site_));
      } else {
        leads_.push_back({kind, world_.census().name_of(link.host),
                          link.target_on(Site(world_.census(), link.host))});
      }
    }
  }

  void find_images(const Page& page) {
    const auto add_image = [this](std::uint64_t image) {
      add(LeadKind::kEmbed, fmt::format("/img/{}.png", image));
    };
    add_image(page.number() % 8);
    add_image(page.number() % 8 + 8);
    if (!page.is_volatile()) return;
    if (world_.options().is_still) return add_image(page.advert_image(now_));
    for (std::uint64_t i = 0; i < World::kImages; ++i) add_image(i);
  }

  void find_in_sitemap(std::uint64_t part) {
    if (part == 0 && site_.pages() > World::kSitemapEntries) {
      for (std::uint64_t i = 1; (i - 1) * World::kSitemapEntries < site_.pages(); ++i) {
        add_sitemap(fmt::format("-{}", i));
      }
      return;
    }
    const std::uint64_t first = part == 0 ? 0 : (part - 1) * World::kSitemapEntries;
    const std::uint64_t end = std::min(first + World::kSitemapEntries, site_.pages());
    for (PageNumber page = first; page < end; ++page) {
      if (world_.page(site_, page).history().exists(now_)) add_hint(page);
    }
  }

  const World& world_;
  std::string_view host_;
  const Site& site_;
  base::Instant now_;
  std::vector<Lead> leads_;
};

// Host and target of a URL in canonical form; nullopt if it is none of the web's.
std::optional<Lead> lead_of_url(std::string_view text) {
  const auto url = web::Url::parse(text);
  if (!url || !url->is_http()) return std::nullopt;
  const web::Url canonical = web::canonical(*url);
  Lead lead{LeadKind::kLink, std::string(canonical.host()), std::string(canonical.path())};
  if (canonical.has_query()) lead.target.append("?").append(canonical.query());
  return lead;
}

// Which leads a crawler follows.
class Rules {
 public:
  Rules(const World& world, const ReachOptions& options) : world_(world), options_(options) {}

  // `from` is the host whose answer leads there; empty: none.
  bool follows(const Lead& lead, std::string_view from) {
    const bool is_embed = lead.kind == LeadKind::kEmbed || lead.kind == LeadKind::kFrame;
    if (is_embed && !options_.embeds) return false;
    if (lead.kind == LeadKind::kHint && !options_.hints) return false;
    if (lead.kind != LeadKind::kEmbed && !in_scope(lead.host)) {
      const bool is_part = lead.kind == LeadKind::kFrame && in_scope(from);
      if (!is_part) return false;
    }
    const auto number = world_.census().host_of_name(lead.host);
    return number && robots_of(lead.host, *number).check(lead.target).allowed;
  }

 private:
  bool in_scope(std::string_view host) const {
    return !options_.in_scope || options_.in_scope(host);
  }
  const web::Robots& robots_of(const std::string& host, HostNumber number) {
    const auto [found, is_new] = robots_.try_emplace(host);
    if (is_new && !options_.agent.empty()) {
      const Site site(world_.census(), number);
      found->second = web::Robots::parse(world_.robots_of(site, {.host = host}), options_.agent);
    }
    return found->second;
  }

  const World& world_;
  const ReachOptions& options_;
  std::unordered_map<std::string, web::Robots> robots_;
};

// A walk over the web, breadth first.
class Walk {
 public:
  Walk(const World& world, const ReachOptions& options)
      : world_(world), options_(options), rules_(world, options) {}

  std::vector<Reached> run() {
    for (const std::string& seed : options_.seeds) {
      if (auto lead = lead_of_url(seed)) visit(std::move(*lead), "");
    }
    // What is found is added behind, so the end moves.
    std::size_t next = 0;
    for (; next < found_.size(); ++next) {
      const std::string host = found_[next].host;
      const std::string& target = found_[next].target;
      if (options_.is_lost && options_.is_lost(host, target)) continue;
      for (Lead& lead : leads_of(world_, host, target, options_.at)) {
        visit(std::move(lead), host);
      }
    }
    return std::move(found_);
  }

 private:
  void visit(Lead&& lead, std::string_view from) {
    if (!rules_.follows(lead, from) || !seen_.insert(lead.host + lead.target).second) return;
    if (options_.hints && options_.sitemaps && hosts_.insert(lead.host).second)
      visit_sitemaps(lead.host);
    const Site site(world_.census(), *world_.census().host_of_name(lead.host));
    const Place place = world_.place_of(site, lead.target);
    Reached reached{std::move(lead.host), std::move(lead.target), place.kind, 200};
    if (place.kind == Place::Kind::kPage) {
      reached.status = world_.status_of(site, place.page, options_.at);
    } else if (place.kind == Place::Kind::kRedirect) {
      reached.status = World::status_of_redirect(place.page);
    } else if (place.kind == Place::Kind::kNothing) {
      reached.status = 404;
    }
    found_.push_back(std::move(reached));
  }

  // Those that robots.txt names, which is read before the first page of a host.
  void visit_sitemaps(const std::string& host) {
    for (Lead& lead : leads_of(world_, host, "/robots.txt", options_.at))
      visit(std::move(lead), host);
  }

  const World& world_;
  const ReachOptions& options_;
  Rules rules_;
  std::unordered_set<std::string> hosts_;
  std::vector<Reached> found_;
  std::unordered_set<std::string> seen_;
};

}  // namespace

std::vector<Lead> leads_of(const World& world, std::string_view host, std::string_view target,
                           base::Instant now) {
  const auto number = world.census().host_of_name(host);
  if (!number) return {};
  const Site site(world.census(), *number);
  return Finder(world, host, site, world.moment_of(now)).find(world.place_of(site, target));
}

bool has_leads(const Access& access) {
  return access.status < 400 || (access.status == 404 && access.target == "/robots.txt");
}

std::vector<Reached> reachable(const World& world, const ReachOptions& options) {
  return Walk(world, options).run();
}

std::vector<Lead> left_out(const World& world, std::span<const Access> log,
                           const ReachOptions& options) {
  std::unordered_set<std::string> seen;
  for (const Access& access : log) seen.insert(access.host + access.target);
  Rules rules(world, options);
  std::vector<Lead> found;
  const auto look = [&](Lead&& lead, std::string_view from) {
    if (seen.contains(lead.host + lead.target) || !rules.follows(lead, from)) return;
    seen.insert(lead.host + lead.target);
    found.push_back(std::move(lead));
  };
  for (const std::string& seed : options.seeds) {
    if (auto lead = lead_of_url(seed)) look(std::move(*lead), "");
  }
  for (const Access& access : log) {
    if (!has_leads(access)) continue;
    for (Lead& lead : leads_of(world, access.host, access.target, access.arrival)) {
      look(std::move(lead), access.host);
    }
  }
  return found;
}

}  // namespace meguri::sim
