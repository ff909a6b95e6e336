// Analysers that are programs of their own: documents on their standard input, results on their
// standard output, in frames or in lines. docs/formats/scan.md tells them how.
#pragma once

#include <memory>

#include "base/result.h"
#include "scan/analyser.h"

namespace meguri::scan {

// Of AnalyserKind::kProgram and kLines. What it says on standard error goes to ours.
std::unique_ptr<Analyser> make_program_analyser(const AnalyserSettings& settings);

}  // namespace meguri::scan
