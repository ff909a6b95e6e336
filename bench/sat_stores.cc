#include "bench/sat_stores.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

namespace meguri::bench {

base::Status SatStore::reopen(const SatLoad& /*load*/) {
  return base::fail(base::ErrorCode::kInvalid, "only our own store is opened again");
}

std::unique_ptr<SatStore> make_sat_store(std::string_view name, const SatSetting& setting) {
  if (name == "bdb") return make_bdb_store(false, setting);
  if (name == "bdb-ro") return make_bdb_store(true, setting);
  if (name == "lmdb") return make_lmdb_store(setting);
  if (name == "rocksdb") return make_rocksdb_store(false, setting);
  if (name == "rocksdb-due") return make_rocksdb_store(true, setting);
  return make_own_store(name, setting);
}

void make_key(const base::Id& id, char* key) {
  const std::uint64_t words[2] = {__builtin_bswap64(id.high), __builtin_bswap64(id.low)};
  std::memcpy(key, words, sizeof words);
}

std::vector<std::uint32_t> sorted_by_key(std::uint32_t records) {
  std::vector<std::uint32_t> seqs(records);
  std::iota(seqs.begin(), seqs.end(), 0U);
  return sorted_by_key(std::move(seqs));
}

std::vector<std::uint32_t> sorted_by_key(std::vector<std::uint32_t> seqs) {
  // Ids are sorted themselves, because making them is what comparing costs.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
  keys.reserve(seqs.size());
  for (const std::uint32_t seq : seqs) keys.emplace_back(SatLoad::id_of(seq).high, seq);
  std::ranges::sort(keys);
  for (std::size_t i = 0; i < seqs.size(); ++i) seqs[i] = keys[i].second;
  return seqs;
}

}  // namespace meguri::bench
