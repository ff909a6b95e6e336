// The worker's end of a scan: takes documents from a socket, has them analysed, sends the results.
#pragma once

#include <string>

#include "base/result.h"
#include "env/clock.h"
#include "env/file_system.h"

namespace meguri::scan {

// Until the dispatcher says that there are no more documents, or goes away. `descriptor` is a
// stream socket, which is taken over. An error was told to the dispatcher, as far as it was there.
base::Status run_worker(int descriptor, env::FileSystem& fs, const env::Clock& clock);

}  // namespace meguri::scan
