// Analysers that are shared objects, written against scan/meguri_analyser.h.
#pragma once

#include <memory>

#include "scan/analyser.h"

namespace meguri::scan {

// arguments[0] is its path. It is loaded by start().
std::unique_ptr<Analyser> make_plugin_analyser(const AnalyserSettings& settings);

}  // namespace meguri::scan
