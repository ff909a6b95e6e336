// What tests need of bytes that may be on disk.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "env/file_system.h"
#include "env/spool.h"
#include "env/spooled_bytes.h"

namespace meguri::env {

inline std::string text_of(const SpooledBytes& bytes) {
  const auto text = bytes.read(bytes.size());
  EXPECT_TRUE(text) << text.error().message();
  return text.value_or("");
}

// In the folder "spool", with everything on disk.
inline std::unique_ptr<Spool> disk_spool(FileSystem& fs) {
  auto spool = std::make_unique<Spool>(fs, "spool", SpoolLimits{.value_memory_max = 0});
  EXPECT_TRUE(spool->open());
  return spool;
}

inline SpooledBytes spooled(Spool& spool, std::string_view text) {
  SpoolWriter writer(&spool);
  EXPECT_TRUE(writer.append(text));
  return writer.finish();
}

}  // namespace meguri::env
