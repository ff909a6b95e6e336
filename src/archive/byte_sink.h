// ByteSink: where the bytes of a file go that is written from its front to its end.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"

namespace meguri::archive {

// Takes the bytes of a file in order. An error ends the writing.
using ByteSink = std::function<base::Status(std::string_view bytes)>;

}  // namespace meguri::archive
