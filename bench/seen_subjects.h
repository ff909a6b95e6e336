// What `meguri bench seen` measures: sets of known ids that are asked, ours and its peers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "sat/known_ids.h"

namespace meguri::bench {

// Ids are made of their numbers, which are their sequence numbers too: so every answer can be
// checked, and nothing but the set takes memory.
inline base::Id seen_id(std::uint64_t number) {
  return {base::mix64(number), base::mix64(~number)};
}

// A set that holds all ids below a number, is asked for these and for new ones, and is given the
// new ones as soon as it has called them new.
class SeenSubject {
 public:
  virtual ~SeenSubject() = default;

  virtual base::Status load(std::uint64_t ids) = 0;
  // The answer may come later, at finish() at the latest.
  virtual base::Status ask(std::uint64_t number) = 0;
  virtual base::Status finish() = 0;
  // What was done so far would survive a crash.
  virtual base::Status commit() = 0;

  std::uint64_t wrong() const { return wrong_; }  // known ids called new, or by another number
  std::uint64_t lost() const { return lost_; }    // new ids called known

 protected:
  // True: it is new, and must be added.
  bool judge(std::uint64_t number, bool is_known, std::uint64_t seq) {
    const bool is_new = number >= known_below_;
    if (is_known && is_new) ++lost_;
    if (!is_new && (!is_known || seq != number)) ++wrong_;
    return is_new && !is_known;
  }
  void knows_below(std::uint64_t number) { known_below_ = number; }

 private:
  std::uint64_t known_below_ = 0;
  std::uint64_t wrong_ = 0;
  std::uint64_t lost_ = 0;
};

class KnownIdsSubject final : public SeenSubject {
 public:
  // In the folder, which is made.
  static base::Result<std::unique_ptr<KnownIdsSubject>> make(const std::string& dir,
                                                             const sat::KnownIdsOptions& options);

  base::Status load(std::uint64_t ids) override;
  base::Status ask(std::uint64_t number) override;
  base::Status finish() override;
  base::Status commit() override;
  // Closes it and opens it at its last commit.
  base::Status reopen();

  const sat::KnownIds& known() const { return *known_; }
  // The most it took, of what was looked at while a batch was full.
  double bytes_per_id_max() const { return bytes_per_id_max_; }

 private:
  KnownIdsSubject(std::string dir, const sat::KnownIdsOptions& options)
      : dir_(std::move(dir)), options_(options) {}

  base::Status take(const sat::IdAnswer& answer);
  base::Status take_all();
  void look_at_memory();

  const std::string dir_;
  const sat::KnownIdsOptions options_;
  std::unique_ptr<env::FileSystem> files_;
  std::unique_ptr<sat::KnownIds> known_;
  std::string position_;
  double bytes_per_id_max_ = 0;
};

// Behind an IdCache of so many bytes, as ours is; its own block cache has as much as RocksDB may
// take of 768 MB besides.
std::unique_ptr<SeenSubject> make_rocksdb_subject(const std::string& dir, std::size_t cache_bytes);

// All in memory, and lost with the process.
std::unique_ptr<SeenSubject> make_flat_hash_map_subject();

}  // namespace meguri::bench
