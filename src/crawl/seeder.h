// Seeder: brings the seeds into the crawl, each once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "crawl/control_messages.h"
#include "crawl/durable_map.h"
#include "crawl/messages.h"
#include "flow/module.h"

namespace meguri::crawl {

// Brings those it was made with, and those that come while the crawl runs. Remembers the seeds it
// has emitted by their page ids, so that after a restart only those that are new, or came after the
// last durable epoch, are emitted. Texts that are no URLs are said and counted. A single instance.
class Seeder final : public flow::Module {
 public:
  explicit Seeder(std::vector<std::string> seeds);

  flow::In<SeedQuestion> added = in<&Seeder::on_added>("added");
  flow::Out<Candidate> candidates = out<Candidate>("candidates");
  flow::Out<SeedAnswer> answers = out<SeedAnswer>("answers");

  // Since the start of this process. Any thread, while the module lives.
  std::uint64_t emitted() const { return emitted_; }
  std::uint64_t invalid() const { return invalid_; }

 private:
  static constexpr int kEmitAtOnce = 256;
  enum class Fate : std::uint8_t { kNew, kKnown, kInvalid };

  void on_added(SeedQuestion&& question);
  bool produce() override;
  bool idle() const override { return draining() || next_ == seeds_.size(); }
  std::size_t backlog() const override { return seeds_.size() - next_; }

  base::Status start() override;
  base::Result<std::string> commit(flow::EpochId epoch) override;
  void on_durable(flow::EpochId epoch) override;
  base::Status restore(flow::EpochId epoch, std::string_view state) override;

  Fate emit_seed(const std::string& seed);

  const std::vector<std::string> seeds_;
  std::size_t next_ = 0;
  std::string restored_;  // what the map is opened with
  std::unique_ptr<DurableMap> done_;
  std::atomic<std::uint64_t> emitted_{0};
  std::atomic<std::uint64_t> invalid_{0};
};

}  // namespace meguri::crawl
