#include "archive/snapshot_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <unordered_map>

#include "archive/index_entry.h"
#include "base/text.h"
#include "base/time.h"
#include "web/surt.h"

namespace meguri::archive {

namespace {

using base::Instant;

constexpr std::string_view kRevisitMime = "warc/revisit";

std::string_view base_name_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Writes texts of a known size one after the other.
class Slots {
 public:
  explicit Slots(char* to) : to_(to) {}
  void put(char c) { *to_++ = c; }
  // The last `digits` digits of a number.
  void put(unsigned number, std::size_t digits) {
    for (std::size_t i = digits; i-- > 0; number /= 10) {
      to_[i] = static_cast<char>('0' + number % 10);
    }
    to_ += digits;
  }

 private:
  char* to_;
};

// A moment taken apart. Those outside of the years 0000 to 9999 are written as Instant does it.
struct Clock {
  unsigned year = 0;
  unsigned month = 0;
  unsigned day = 0;
  unsigned ms = 0;  // of the day

  static std::optional<Clock> of(Instant time) {
    constexpr std::int64_t kDayMs = 86'400'000;
    const std::int64_t days = time.ms() / kDayMs - (time.ms() % kDayMs < 0 ? 1 : 0);
    constexpr std::int64_t kFirstDay = -719'528;  // 0000-01-01
    constexpr std::int64_t kLastDay = 2'932'896;  // 9999-12-31
    if (days < kFirstDay || days > kLastDay) return std::nullopt;
    const std::chrono::year_month_day date{
        std::chrono::sys_days(std::chrono::days(static_cast<int>(days)))};
    return Clock{.year = static_cast<unsigned>(static_cast<int>(date.year())),
                 .month = static_cast<unsigned>(date.month()),
                 .day = static_cast<unsigned>(date.day()),
                 .ms = static_cast<unsigned>(time.ms() - days * kDayMs)};
  }
  unsigned hour() const { return ms / 3'600'000; }
  unsigned minute() const { return ms / 60'000 % 60; }
  unsigned second() const { return ms / 1000 % 60; }
};

// "20261115080910"
void append_digits(Instant time, std::string& out) {
  const auto clock = Clock::of(time);
  if (!clock) {
    out += time.to_digits();
    return;
  }
  std::array<char, 14> text;
  Slots slots(text.data());
  slots.put(clock->year, 4);
  slots.put(clock->month, 2);
  slots.put(clock->day, 2);
  slots.put(clock->hour(), 2);
  slots.put(clock->minute(), 2);
  slots.put(clock->second(), 2);
  out.append(text.data(), text.size());
}

// "2026-11-15T08:09:10.123Z"
void append_moment(Instant time, std::string& out) {
  const auto clock = Clock::of(time);
  if (!clock) {
    out += time.to_rfc3339_ms();
    return;
  }
  std::array<char, 24> text;
  Slots slots(text.data());
  slots.put(clock->year, 4);
  slots.put('-');
  slots.put(clock->month, 2);
  slots.put('-');
  slots.put(clock->day, 2);
  slots.put('T');
  slots.put(clock->hour(), 2);
  slots.put(':');
  slots.put(clock->minute(), 2);
  slots.put(':');
  slots.put(clock->second(), 2);
  slots.put('.');
  slots.put(clock->ms % 1000, 3);
  slots.put('Z');
  out.append(text.data(), text.size());
}

void append_number(std::uint64_t number, std::string& out) {
  const fmt::format_int text(number);
  out.append(text.data(), text.size());
}

// Blanks and controls are percent-encoded: they would end the field, or the line.
void append_surt(std::string_view surt, std::string& out) {
  const auto splits = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte == 0x7f;
  };
  if (std::ranges::none_of(surt, splits)) {
    out += surt;
    return;
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const char c : surt) {
    const auto byte = static_cast<unsigned char>(c);
    if (splits(c)) {
      out.append({'%', kDigits[byte >> 4U], kDigits[byte & 15U]});
    } else {
      out += c;
    }
  }
}

void append_text_field(std::string_view name, std::string_view value, std::string& out) {
  if (value.empty()) return;
  out.append(name);
  base::append_json_string(value, &out);
}

void append_number_field(std::string_view name, std::uint64_t number, std::string& out) {
  out.append(name);
  append_number(number, out);
  out += '"';
}

void append_moment_field(std::string_view name, Instant time, std::string& out) {
  out.append(name);
  append_moment(time, out);
  out += '"';
}

// Up to the URL in the object.
void append_front(const EntryView& entry, std::string& out) {
  const std::string url = entry.url();
  if (entry.surt().size() < kKeySurtBytesMax) {
    append_surt(entry.surt(), out);
  } else {
    append_surt(web::surt_key(url), out);  // the key has no more than a part of it
  }
  out += ' ';
  append_digits(entry.date(), out);
  out += R"( {"url": )";
  base::append_json_string(url, &out);
}

// A record that holds no content of its own. An answer 304 that was stored as a response looks the
// same in the index.
bool is_revisit(const EntryView& entry) {
  return entry.kind() == EntryKind::kUnchanged || entry.has_original();
}

void append_record(const EntryView& record, const CdxjFileNames& files, std::string& out) {
  append_text_field(R"(, "mime": )", is_revisit(record) ? kRevisitMime : record.mime(), out);
  if (record.status() != 0) append_number_field(R"(, "status": ")", record.status(), out);
  append_text_field(R"(, "digest": )", record.digest(), out);
  const RecordPlace& place = record.place();
  if (place.length != 0) append_number_field(R"(, "length": ")", place.length, out);
  append_number_field(R"(, "offset": ")", place.offset, out);
  const std::string_view name = files.json_of(place.file);
  if (!name.empty()) out.append(R"(, "filename": ")").append(name).append("\"");
}

}  // namespace

CdxjFileNames::CdxjFileNames(const std::map<std::uint32_t, IndexFile>& files) {
  std::unordered_map<std::string_view, int> owners;
  for (const auto& [number, file] : files) ++owners[base_name_of(file.path)];
  if (!files.empty()) names_.resize(std::size_t{files.rbegin()->first} + 1);
  for (const auto& [number, file] : files) {
    const std::string_view name = base_name_of(file.path);
    std::string quoted;
    base::append_json_string(owners[name] == 1 ? name : file.path, &quoted);
    names_[number] = quoted.substr(1, quoted.size() - 2);
  }
}

void append_url_line(const SnapshotItem& item, std::string& out) {
  out += item.entry.url();
  out += '\n';
}

void append_cdxj_line(const SnapshotItem& item, const CdxjFileNames& files, std::string& out) {
  const EntryView& record = item.content == nullptr ? item.entry : *item.content;
  append_front(item.entry, out);
  append_record(record, files, out);
  if (record.place().index != 0) append_number_field(R"(, "index": ")", record.place().index, out);
  out.append(R"(, "kind": ")").append(name_of(item.entry.kind())).append("\"");
  append_moment_field(R"(, "date": ")", item.entry.date(), out);
  append_moment_field(R"(, "valid_from": ")", item.valid.begin, out);
  if (item.valid.end != Instant::max()) {
    append_moment_field(R"(, "valid_to": ")", item.valid.end, out);
  }
  const std::string_view language = record.language();
  append_text_field(R"(, "language": )", language.empty() ? item.entry.language() : language, out);
  out += "}\n";
}

void append_raw_cdxj_line(const SnapshotItem& item, const CdxjFileNames& files, std::string& out) {
  append_front(item.entry, out);
  append_record(item.entry, files, out);
  out += "}\n";
}

void CdxjLines::add(const SnapshotItem& item, std::string& out) {
  const std::string_view surt = item.entry.surt();
  if (surt != surt_) {
    finish(out);
    surt_ = surt;
  }
  starts_.push_back(held_.size());
  if (is_raw_) {
    append_raw_cdxj_line(item, files_, held_);
  } else {
    append_cdxj_line(item, files_, held_);
  }
}

void CdxjLines::finish(std::string& out) {
  if (starts_.size() <= 1) {
    out += held_;
  } else {
    sorted_.clear();
    for (std::size_t i = 0; i < starts_.size(); ++i) {
      const std::size_t end = i + 1 < starts_.size() ? starts_[i + 1] : held_.size();
      sorted_.push_back(std::string_view(held_).substr(starts_[i], end - starts_[i]));
    }
    std::ranges::sort(sorted_);
    for (const std::string_view line : sorted_) out += line;
  }
  held_.clear();
  starts_.clear();
}

}  // namespace meguri::archive
