// Taking entries out of the temporal index by what they are.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "archive/index_entry.h"
#include "archive/temporal_index.h"
#include "base/result.h"

namespace meguri::archive {

// Removes the entries for which `is_meant` holds, in batches, and counts them by their files, whose
// rows are brought up to date. Walks over all entries, or over those whose keys begin with `front`.
base::Result<std::map<std::uint32_t, std::uint64_t>> remove_entries(
    TemporalIndex& index, std::string_view front,
    const std::function<bool(const EntryView& entry)>& is_meant, const Look& look = {});

// Some files with all their entries, in one walk over all. After a crash in between they are there
// as files of which nothing is indexed yet, so that removing or importing them again sets it right.
base::Status remove_files(TemporalIndex& index, const std::set<std::uint32_t>& numbers,
                          const Look& look = {});
base::Status remove_file(TemporalIndex& index, std::uint32_t number, const Look& look = {});

}  // namespace meguri::archive
