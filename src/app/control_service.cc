#include "app/control_service.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

#include "app/added_seeds.h"
#include "app/archive_door.h"
#include "app/crawl_answers.h"
#include "app/output.h"
#include "base/text.h"

namespace meguri::app {

using base::ErrorCode;
using nlohmann::json;

namespace {

base::Result<std::vector<std::string>> texts_of(const json& request, const char* name) {
  std::vector<std::string> texts;
  const auto list = request.find(name);
  if (list == request.end()) return texts;
  if (!list->is_array()) return base::fail(ErrorCode::kInvalid, "'{}' is no list", name);
  for (const json& text : *list) {
    if (!text.is_string()) return base::fail(ErrorCode::kInvalid, "'{}' holds no texts", name);
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

base::Result<std::string> text_of(const json& request, const char* name) {
  const auto text = request.find(name);
  if (text == request.end() || !text->is_string()) {
    return base::fail(ErrorCode::kInvalid, "'{}' is missing, or no text", name);
  }
  return text->get<std::string>();
}

base::Result<crawl::ControlRequest> hosts_request(const json& request) {
  crawl::AskHosts ask;
  ASSIGN_OR_RETURN(ask.hosts, texts_of(request, "hosts"));
  if (request.contains("order")) {
    ASSIGN_OR_RETURN(const std::string name, text_of(request, "order"));
    const auto order = crawl::host_order_of(name);
    if (!order) {
      return base::fail(ErrorCode::kInvalid, "'{}' is no order of hosts", printable(name));
    }
    ask.order = *order;
  }
  if (const auto limit = request.find("limit"); limit != request.end()) {
    if (!limit->is_number_unsigned()) {
      return base::fail(ErrorCode::kInvalid, "'limit' is no number");
    }
    ask.limit = std::min<std::uint64_t>(limit->get<std::uint64_t>(), crawl::kHostRowsMax);
  }
  return ask;
}

// Of all but `add`, whose answer needs more.
json answer_of(const crawl::ControlReply& reply, base::Instant now) {
  if (const auto* facts = std::get_if<crawl::WhyFacts>(&reply)) return to_json(*facts, true, now);
  if (const auto* list = std::get_if<crawl::HostList>(&reply)) return to_json(*list);
  if (const auto* pauses = std::get_if<crawl::PauseState>(&reply)) {
    return {{"ok", true}, {"paused", to_json(*pauses)}};
  }
  return to_json(base::Error(ErrorCode::kFailed, "that has no answer"));
}

}  // namespace

base::Result<crawl::ControlRequest> request_of(const json& request) {
  ASSIGN_OR_RETURN(const std::string command, text_of(request, "command"));
  if (command == "why") {
    ASSIGN_OR_RETURN(std::string url, text_of(request, "url"));
    return crawl::AskWhy{std::move(url)};
  }
  if (command == "hosts") return hosts_request(request);
  if (command == "pause" || command == "resume") {
    crawl::ChangePause change{.is_paused = command == "pause", .hosts = {}};
    ASSIGN_OR_RETURN(const auto names, texts_of(request, "hosts"));
    ASSIGN_OR_RETURN(change.hosts, host_names_of(names));
    return change;
  }
  return base::fail(ErrorCode::kInvalid, "there is no request {}", base::quoted(command));
}

// The file first: what is acknowledged is there after a crash.
base::Result<json> ControlService::add(const json& request, const ControlServer::Reply& reply) {
  ASSIGN_OR_RETURN(const auto texts, texts_of(request, "urls"));
  ASSIGN_OR_RETURN(const auto urls, seed_urls_of(texts));
  if (urls.size() > crawl::AddSeeds::kUrlsMax) {
    return base::fail(ErrorCode::kInvalid, "at most {} URLs can be added at once",
                      crawl::AddSeeds::kUrlsMax);
  }
  ASSIGN_OR_RETURN(const AddedSeeds added, append_added_seeds(files_, archive_, urls));
  mailbox_->post(crawl::AddSeeds{urls}, [reply, added](base::Result<crawl::ControlReply> done) {
    const auto* seeds = done ? std::get_if<crawl::SeedAnswer>(&*done) : nullptr;
    // They are in the file, whatever the crawl has become meanwhile.
    const bool is_taken = seeds != nullptr && !seeds->is_ending;
    const json answer = {{"ok", true},
                         {"running", true},
                         {"taken", is_taken},
                         {"new", is_taken ? seeds->fresh : added.fresh},
                         {"known", is_taken ? seeds->known : added.known}};
    reply(answer.dump());
  });
  return json();
}

void ControlService::handle(const std::string& line, const ControlServer::Reply& reply) {
  const auto refuse = [&reply](const base::Error& error) { reply(to_json(error).dump()); };
  const json request = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!request.is_object()) {
    return refuse(base::Error(ErrorCode::kInvalid, "a request is one JSON object on a line"));
  }
  const auto command = request.find("command");
  if (command != request.end() && *command == "status") return reply(status_().dump());
  if (command != request.end() && *command == "add") {
    if (const auto begun = add(request, reply); !begun) refuse(begun.error());
    return;
  }
  auto asked = request_of(request);
  if (!asked) return refuse(asked.error());
  const base::Instant now = clock_.utc();
  mailbox_->post(*std::move(asked), [reply, now](base::Result<crawl::ControlReply> done) {
    reply((done ? answer_of(*done, now) : to_json(done.error())).dump());
  });
}

}  // namespace meguri::app
