// The commands within `meguri store`. They look at the folder of a state store, or of known ids,
// that no program has open, and change nothing in it.
#pragma once

#include <string>

#include "app/command.h"
#include "base/result.h"
#include "base/time.h"
#include "env/file_system.h"
#include "sat/folder_scan.h"

namespace meguri::app {

// `stat`: what is in it, when it is due, and what it takes.
class StoreStat final : public Command {
 public:
  void declare(Options options) override;
  base::Status run(Output& out) override;

 private:
  base::Status stat_store(const sat::Scratch& scratch, Output& out) const;
  base::Status stat_known_ids(const sat::Scratch& scratch, Output& out) const;

  std::string dir_;
  std::string position_;
  std::string at_;
  bool json_ = false;
};

// `check`: reads everything, and names all that is damaged.
class StoreCheck final : public Command {
 public:
  void declare(Options options) override;
  base::Status run(Output& out) override;

 private:
  std::string dir_;
  std::string position_;
  bool json_ = false;
};

// `dump`: the records, as lines of JSON.
class StoreDump final : public Command {
 public:
  void declare(Options options) override;
  base::Status run(Output& out) override;

 private:
  struct Wanted;

  base::Result<Wanted> read_wanted() const;
  base::Status dump_store(const Wanted& wanted, const sat::Scratch& scratch, Output& out) const;
  base::Status dump_known_ids(const Wanted& wanted, const sat::Scratch& scratch, Output& out) const;

  std::string dir_;
  std::string position_;
  std::string due_before_;
  std::string limit_;
  std::string id_;
  bool json_ = false;
};

// An archive stands for the records of its pages; anything else for itself.
base::Result<std::string> store_folder(env::FileSystem& files, const std::string& dir);

// Tells on stderr what a crash or damage made the tool leave out.
void print_notes(const std::vector<std::string>& notes);

}  // namespace meguri::app
