// Resolver: the module that asks for the addresses of hosts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

#include "base/result.h"
#include "base/time.h"
#include "crawl/messages.h"
#include "env/clock.h"
#include "fetch/dns.h"
#include "flow/module.h"

namespace meguri::crawl {

// One answer for each question. Questions beyond what the Dns takes at once wait here; they are
// few, because HostDirectory has one question for a host at a time and hosts only while pages wait.
// Keeps no answers: HostDirectory does.
class Resolver final : public flow::Module {
 public:
  using MakeDns = std::function<std::unique_ptr<fetch::Dns>(const env::Clock&)>;

  explicit Resolver(MakeDns make) : make_(std::move(make)) {}

  flow::In<NameQuestion> questions = in<&Resolver::on_question>("questions");
  flow::Out<NameAnswer> answers = out<NameAnswer>("answers");

 private:
  void on_question(NameQuestion&& question);
  base::Status start() override;
  bool idle() const override { return waiting_.empty() && asked_.empty(); }
  std::size_t backlog() const override { return waiting_.size() + asked_.size(); }
  void poll(base::Duration wait) override;
  void wake() override;
  base::Ticks next_poll() const override;

  void ask_more();
  void answer_unasked();
  void answer_finished();

  const MakeDns make_;
  std::unique_ptr<fetch::Dns> dns_;
  std::deque<NameQuestion> waiting_;
  std::unordered_map<std::uint64_t, NameQuestion> asked_;  // by tag
  std::uint64_t next_tag_ = 0;
};

}  // namespace meguri::crawl
