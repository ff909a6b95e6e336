// The commands within `meguri warc`. They read WARC files of anybody's, whole or damaged, in
// constant memory, and change nothing.
#pragma once

#include <string>
#include <vector>

#include "app/command.h"
#include "app/output.h"
#include "app/warc_walk.h"
#include "archive/warc_reader.h"
#include "base/result.h"

namespace meguri::app {

// `ls`: a line for each record.
class WarcLs final : public Command {
 public:
  void declare(Options options) override;
  base::Status run(Output& out) override;

 private:
  std::vector<std::string> paths_;
  bool json_ = false;
};

// `check`: reads everything, and names all that is missing, broken or odd.
class WarcCheck final : public Command {
 public:
  void declare(Options options) override;
  base::Status run(Output& out) override;

 private:
  std::vector<std::string> paths_;
  bool json_ = false;
};

// `cat`: one record's payload, or another part of it.
class WarcCat final : public Command {
 public:
  void declare(Options options) override;
  base::Status run(Output& out) override;

 private:
  base::Status write(archive::WarcReader& reader, WarcPlace place, Output& out) const;

  std::string path_;
  std::vector<std::string> place_;  // none or one
  std::string url_;
  std::string date_;
  bool record_ = false;
  bool head_ = false;
  bool decode_ = false;
  bool json_ = false;
};

}  // namespace meguri::app
