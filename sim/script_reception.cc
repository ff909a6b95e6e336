#include "sim/script_reception.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "web/http_chunked.h"
#include "web/http_framing.h"
#include "web/http_head.h"

namespace meguri::sim {
namespace {

using base::Duration;
using fetch::FetchOutcome;
using fetch::Truncation;

class Reader {
 public:
  Reader(const fetch::FetchRequest& request, Duration sent_after, std::uint64_t bytes_per_second,
         fetch::Fetched* out)
      : limits_(request.limits),
        sent_after_(sent_after),
        bytes_per_second_(bytes_per_second),
        out_(*out),
        now_(sent_after) {}

  void run(const WireScript& script) {
    for (const WireStep& step : script.steps) {
      for (std::uint64_t round = 0; round < step.times && !is_over_; ++round) {
        pass(step.pause);
        take(step.bytes);
      }
    }
    if (!is_over_) take_end(script.resets);
    out_.body = std::move(body_);
    out_.times.finished = out_.times.started + now_;
    out_.times.finished_utc = out_.times.started_utc + now_;
  }

 private:
  void fail(FetchOutcome outcome, std::string_view error) {
    is_over_ = true;
    out_.outcome = outcome;
    out_.error = error;
    out_.status = 0;
  }
  void cut(Truncation truncation, std::string_view error) {
    is_over_ = true;
    out_.truncation = truncation;
    out_.error = error;
  }

  // Time goes by, up to the first limit.
  void pass(Duration time) {
    const Duration then = now_ + time;
    if (!is_head_whole_) {
      const Duration limit = std::min(sent_after_ + limits_.head, limits_.whole);
      now_ = std::min(then, limit);
      if (then > limit) fail(FetchOutcome::kHeadTimeout, "no answer within the limit");
      return;
    }
    while (!is_over_ && window_ + limits_.slow_max <= then) judge_window();
    if (is_over_) return;
    now_ = std::min(then, limits_.whole);
    if (then > limits_.whole) cut(Truncation::kTime, "too long under way");
  }

  void judge_window() {
    const double wanted =
        static_cast<double>(limits_.bytes_per_second_min) * limits_.slow_max.in_seconds();
    window_ = window_ + limits_.slow_max;
    if (static_cast<double>(body_.size() - window_bytes_) < wanted) {
      now_ = std::min(window_, limits_.whole);
      return cut(Truncation::kTime, "too slow");
    }
    window_bytes_ = body_.size();
  }

  void take(std::string_view bytes) {
    if (is_over_ || bytes.empty()) return;
    wire_bytes_ += bytes.size();
    const auto under_way =
        Duration::from_ms(static_cast<std::int64_t>(wire_bytes_ * 1000 / bytes_per_second_));
    pass(std::max(under_way - carried_, Duration()));
    carried_ = under_way;
    if (out_.times.first_byte == base::Ticks()) {
      out_.times.first_byte = out_.times.started + now_;
      out_.times.first_byte_utc = out_.times.started_utc + now_;
    }
    while (!is_over_ && !bytes.empty()) {
      bytes.remove_prefix(is_head_whole_ ? take_body(bytes) : take_head(bytes));
    }
  }

  std::size_t take_head(std::string_view bytes) {
    const std::size_t used = parser_.feed(bytes);
    const std::string_view taken = bytes.substr(0, used);
    const web::HeadState state = parser_.state();
    head_bytes_ += used;
    head_lines_ += static_cast<std::size_t>(std::ranges::count(taken, '\n'));
    if (head_lines_ > limits_.head_lines_max || state == web::HeadState::kTooManyLines) {
      fail(FetchOutcome::kTooManyLines, "the head of the answer is not read on");
    } else if (head_bytes_ > limits_.head_bytes_max || state == web::HeadState::kTooLong) {
      fail(FetchOutcome::kHeadTooLarge, "the head of the answer is not read on");
    } else if (state == web::HeadState::kComplete) {
      end_head();
    } else if (state != web::HeadState::kMore) {
      fail(FetchOutcome::kBadResponse, "this is not HTTP");
    }
    out_.response_head.append(taken);
    return used;
  }

  void end_head() {
    const web::HttpHead& head = parser_.head();
    if (head.status >= 100 && head.status < 200) {
      parser_ = web::HeadParser(web::HeadKind::kResponse);
      out_.response_head.clear();
      return;
    }
    framing_ = web::response_framing(head, "GET");
    if (framing_.bad_length || head.quirks.has(web::HeadQuirk::kNul)) {
      return fail(FetchOutcome::kBadResponse, "the head of the answer cannot be believed");
    }
    is_head_whole_ = true;
    window_ = now_;
    out_.outcome = FetchOutcome::kAnswered;
    out_.protocol = fetch::HttpProtocol::kHttp11;
    out_.status = head.status;
    const auto type = head.fields.get("Content-Type");
    const bool is_html = type && fetch::is_html_content_type("content-type: " + std::string(*type));
    body_bytes_max_ =
        is_html ? std::min(limits_.html_bytes_max, limits_.body_bytes_max) : limits_.body_bytes_max;
    is_over_ = framing_.end == web::BodyEnd::kNone;
  }

  std::size_t take_body(std::string_view bytes) {
    std::size_t used = bytes.size();
    if (framing_.end == web::BodyEnd::kChunked) {
      used = chunks_.feed(bytes, &body_);
    } else {
      if (framing_.end == web::BodyEnd::kLength) {
        used = std::min<std::uint64_t>(used, framing_.length - body_.size());
      }
      body_.append(bytes.substr(0, used));
    }
    if (body_.size() > body_bytes_max_) {
      body_.resize(body_bytes_max_);
      cut(Truncation::kLength, "cut at the limit");
    } else if (framing_.end == web::BodyEnd::kLength) {
      is_over_ = body_.size() == framing_.length;
    } else if (chunks_.state() == web::ChunkedState::kComplete) {
      is_over_ = true;
    } else if (chunks_.state() != web::ChunkedState::kMore) {
      cut(Truncation::kUnspecified, "a chunk that cannot be read");
    }
    return used;
  }

  void take_end(bool resets) {
    is_over_ = true;
    if (!is_head_whole_) {
      return fail(FetchOutcome::kReset, "the connection ended before the head was whole");
    }
    const bool is_whole = framing_.end == web::BodyEnd::kClose && !resets;
    if (!is_whole) cut(Truncation::kDisconnect, "the connection ended within the body");
  }

  const fetch::FetchLimits& limits_;
  const Duration sent_after_;
  const std::uint64_t bytes_per_second_;
  fetch::Fetched& out_;
  Duration now_;      // since the start
  Duration carried_;  // how much of that the network took for the bytes so far
  std::uint64_t wire_bytes_ = 0;
  web::HeadParser parser_{web::HeadKind::kResponse};
  std::size_t head_bytes_ = 0;  // of interim answers too
  std::size_t head_lines_ = 0;
  web::BodyFraming framing_;
  web::ChunkedDecoder chunks_;
  std::string body_;
  std::uint64_t body_bytes_max_ = 0;
  Duration window_;  // when that of the speed began
  std::size_t window_bytes_ = 0;
  bool is_head_whole_ = false;
  bool is_over_ = false;
};

}  // namespace

void receive_script(const fetch::FetchRequest& request, const WireScript& script,
                    base::Duration sent_after, std::uint64_t bytes_per_second,
                    fetch::Fetched* fetched) {
  Reader(request, sent_after, bytes_per_second, fetched).run(script);
}

}  // namespace meguri::sim
