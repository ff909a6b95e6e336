// The analysers that Meguri has itself: count-by, links, text, grep and warc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "archive/warc_record.h"
#include "base/result.h"
#include "base/time.h"
#include "scan/analyser.h"

namespace meguri::scan {

struct BuiltinAnalyser {
  std::string_view name;
  std::string_view use;   // "count-by KEY…": how it is called, for the help
  std::string_view what;  // one line
};
std::span<const BuiltinAnalyser> builtin_analysers();
bool is_builtin(std::string_view name);

// settings.scratch, unless it is empty, is a folder that is there. kInvalid: the arguments are
// wrong; the sentence says what is right.
base::Result<std::unique_ptr<Analyser>> make_builtin_analyser(const AnalyserSettings& settings);

// Whether its results are keys, a line each, that are counted when all are there (ResultCounts).
bool counts_results(const AnalyserSettings& settings);
// The names of the columns of these keys. Requires counts_results(), and arguments that
// make_builtin_analyser() takes.
std::vector<std::string> result_columns(const AnalyserSettings& settings);

// Whether its results are WARC records, before which warc_front() has to stand.
bool writes_warc(const AnalyserSettings& settings);
// The first record of such a file. Equal input makes equal bytes.
std::string warc_front(const archive::WarcinfoFields& info, std::string_view file_name,
                       base::Instant date);

}  // namespace meguri::scan
