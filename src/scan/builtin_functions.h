// What the built-in analysers do with a document, each a function of it. Theirs alone: others use
// scan/builtin_analysers.h.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/posix_file_system.h"
#include "env/spool.h"
#include "scan/analyser.h"

namespace meguri::scan {

// Where large results go. Thread-safe; outlives what was made with it.
class ResultSpool {
 public:
  // `scratch` is a folder that is there, in which nothing is named; empty: all stays in memory.
  explicit ResultSpool(const std::string& scratch)
      : spool_(fs_, scratch, {}), is_used_(!scratch.empty()) {}
  env::Spool* get() { return is_used_ ? &spool_ : nullptr; }

 private:
  env::PosixFileSystem fs_;
  env::Spool spool_;
  const bool is_used_;
};

// What is behind the name of the analyser.
using Arguments = std::span<const std::string>;
using Analyse = FunctionAnalyser::Analyse;

// Functions are copied, so that what they hold is shared by the copies. kInvalid: the arguments are
// wrong; the sentence says what is right.
base::Result<Analyse> make_count_by(Arguments arguments);
base::Result<Analyse> make_links(Arguments arguments);
base::Result<Analyse> make_text(Arguments arguments);
base::Result<Analyse> make_grep(Arguments arguments, std::shared_ptr<ResultSpool> spool);
base::Result<Analyse> make_warc(Arguments arguments, std::shared_ptr<ResultSpool> spool);

// The names of the keys that count-by is asked for, in their order.
base::Result<std::vector<std::string>> parse_count_keys(Arguments arguments);

// kInvalid if there are any.
base::Status expect_no_arguments(std::string_view name, Arguments arguments);

// Appends a text as UTF-8 without controls, so that it cannot end a column or a line.
void append_plain(std::string_view text, std::string& out);

}  // namespace meguri::scan
