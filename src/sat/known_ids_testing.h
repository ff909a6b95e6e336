// What the tests of known ids share.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "env/file_system.h"
#include "sat/known_ids.h"

namespace meguri::sat {

inline constexpr const char* kDir = "/known";

// So that a few hundred ids do all that millions do.
inline KnownIdsOptions small() {
  KnownIdsOptions options;
  options.cache_bytes = 512;
  options.block_ids = 5;
  options.batch_min = 20;
  options.fresh_min = 16;
  return options;
}

inline std::unique_ptr<KnownIds> open_at(env::FileSystem& files, const std::string& position,
                                         const KnownIdsOptions& options = small()) {
  auto known = KnownIds::open(files, kDir, options, position);
  EXPECT_TRUE(known) << known.error().message();
  return known ? *std::move(known) : nullptr;
}

// Asks and waits for the answer.
inline std::optional<Seq> seq_of(KnownIds& known, const base::Id& id) {
  std::optional<IdAnswer> answer = known.ask(id, 77);
  if (!answer) {
    known.settle();
    const auto later = known.next_answer();
    EXPECT_TRUE(later) << later.error().message();
    answer = *later;
    EXPECT_FALSE(known.next_answer()->has_value());
  }
  EXPECT_EQ(answer->tag, 77U);
  return answer->is_known ? std::optional(answer->seq) : std::nullopt;
}

inline base::Id id_of(std::uint64_t i) { return {base::mix64(i), base::mix64(~i)}; }

}  // namespace meguri::sat
