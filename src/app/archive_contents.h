// ArchiveContents: what the WARC files of an archive hold, counted, with one page of them to show.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/file_system.h"

namespace meguri::app {

struct WarcFileSize {
  std::string name;
  std::uint64_t bytes = 0;
};

// One page as it was kept. Texts are as the page has them, not yet printable.
struct KeptPage {
  std::string url;
  std::string file;
  std::uint64_t offset = 0;        // of its record
  std::string record_head;         // of WARC, with its line ends
  std::string http_head;           // likewise
  std::string charset;             // what it is written in
  std::string language;            // what it reads like
  std::string title;               // in UTF-8, as the text
  std::string text;                // the main one
  std::vector<std::string> links;  // to pages
  int merit = 0;                   // how well it serves to be shown
};

struct ArchiveContents {
  std::vector<WarcFileSize> files;
  std::map<std::string, std::uint64_t> records;    // by WARC-Type
  std::map<std::string, std::uint64_t> visits;     // by URL, robots.txt left out
  std::map<std::string, std::uint64_t> answers;    // of these, those that nobody need try again
  std::map<int, std::uint64_t> statuses;           // of these visits; 0: failures
  std::map<std::string, std::uint64_t> types;      // MIME, of what was answered with 200
  std::map<std::string, std::uint64_t> languages;  // of HTML pages among them
  std::set<std::string> embeds;                    // URLs of these pages' images, styles, scripts
  std::uint64_t payload_bytes = 0;                 // of responses, as sent
  std::uint64_t damaged = 0;                       // records of which something is missing
  std::optional<KeptPage> sample;

  std::uint64_t file_bytes() const;
  std::uint64_t record_count() const;
};

// Reads all files of `folder`, records of up to 10 MB whole. Errors come from the disk.
base::Result<ArchiveContents> read_archive(env::FileSystem& files, const std::string& folder);

}  // namespace meguri::app
