// What tests of programs share: documents that come when they are told to, and results with
// numbers.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "env/spool_testing.h"
#include "scan/analyser.h"
#include "scan/document.h"

namespace meguri::scan {

// A page of this content, "http://example.com/NUMBER".
inline Document listed_document(std::uint64_t number, std::string content) {
  Document document;
  document.facts.number = number;
  document.facts.url = fmt::format("http://example.com/{}", number);
  document.status = 200;
  document.mime = "text/html";
  document.fields.add("Content-Type", "text/html");
  document.content = std::move(content);
  return document;
}

// Documents of these contents, numbered from 0. With `holds_on`, next() waits behind the last one
// until it is stopped, or told that all have come. Thread-safe.
class ListedDocuments final : public DocumentStream {
 public:
  explicit ListedDocuments(std::vector<std::string> contents, bool holds_on = false)
      : contents_(std::move(contents)), holds_on_(holds_on) {}

  base::Result<std::optional<Document>> next() override {
    const base::MutexLock lock(mutex_);
    while (at_ == contents_.size() && holds_on_) changed_.wait(mutex_);
    if (is_stopped_ || at_ == contents_.size()) return std::nullopt;
    Document document = listed_document(at_, contents_[at_]);
    ++at_;
    return document;
  }
  void stop() override {
    const base::MutexLock lock(mutex_);
    is_stopped_ = true;
    holds_on_ = false;
    changed_.notify_all();
  }

  // Another document; the last one if `is_last`.
  void add(std::string content, bool is_last) {
    const base::MutexLock lock(mutex_);
    contents_.push_back(std::move(content));
    holds_on_ = !is_last && holds_on_;
    changed_.notify_all();
  }
  bool is_stopped() {
    const base::MutexLock lock(mutex_);
    return is_stopped_;
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<std::string> contents_ GUARDED_BY(mutex_);
  std::size_t at_ GUARDED_BY(mutex_) = 0;
  bool holds_on_ GUARDED_BY(mutex_);
  bool is_stopped_ GUARDED_BY(mutex_) = false;
};

// Thread-compatible.
class NumberedResults final : public ResultStream {
 public:
  using All = std::vector<std::pair<std::uint64_t, std::string>>;

  base::Status put(std::uint64_t number, const env::SpooledBytes& result) override {
    all_.emplace_back(number, env::text_of(result));
    if (on_put_) on_put_(all_.size());
    return {};
  }
  // Called after each, with how many there are.
  void set_on_put(std::function<void(std::size_t)> on_put) { on_put_ = std::move(on_put); }
  const All& all() const { return all_; }

 private:
  All all_;
  std::function<void(std::size_t)> on_put_;
};

}  // namespace meguri::scan
