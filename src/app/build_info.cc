#include "app/build_info.h"

#include <fmt/format.h>

namespace meguri::app {

std::string_view version() { return MEGURI_VERSION; }

std::string compiler() {
#if defined(__clang__)
  return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("GCC {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

}  // namespace meguri::app
