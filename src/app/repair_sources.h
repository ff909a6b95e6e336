// What an archive's folder tells of its files, with or without an index.
#pragma once

#include <string>
#include <vector>

#include "archive/repair_plan.h"
#include "base/result.h"
#include "env/file_system.h"

namespace meguri::app {

// The WARC files of an archive, by their paths in its folder: "warc/…".
base::Result<std::vector<std::string>> warcs_of_archive(env::FileSystem& files,
                                                        const std::string& archive);

// All but what an old index knows.
base::Result<archive::RepairSources> repair_sources(env::FileSystem& files,
                                                    const std::string& archive);

}  // namespace meguri::app
