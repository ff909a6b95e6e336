// ScanArguments: what `meguri scan` can be told of analysers and workers.
#pragma once

#include <string>
#include <vector>

#include "app/command_line.h"
#include "base/result.h"
#include "scan/analyser.h"
#include "scan/dispatcher.h"

namespace meguri::app {

class ScanArguments {
 public:
  void declare(Options options);

  bool has_program() const { return !program_.empty(); }
  // kInvalid: it cannot be what somebody meant. The scratch folder is still to be set.
  base::Result<scan::AnalyserSettings> analyser() const;
  base::Result<scan::DispatchSettings> dispatch() const;

 private:
  base::Result<scan::AnalyserKind> kind() const;

  std::vector<std::string> program_;
  std::string workers_;
  std::string mode_;
  std::string restart_after_;
  std::string tries_;
  std::string timeout_;
  std::string fields_;
  std::string memory_;
  std::string cpu_;
  std::string content_;
  bool lines_ = false;
  bool network_ = false;
};

// "grep -i tea": for people.
std::string describe(const scan::AnalyserSettings& analyser);

}  // namespace meguri::app
