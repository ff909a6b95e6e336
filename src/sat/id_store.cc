#include "sat/id_store.h"

#include <algorithm>
#include <utility>

namespace meguri::sat {

using base::ErrorCode;

namespace {

constexpr char kBetween = '\n';  // the two positions

}  // namespace

std::string_view IdStore::store_position(std::string_view position) {
  return position.substr(0, position.find(kBetween));
}

base::Result<std::unique_ptr<IdStore>> IdStore::open(env::FileSystem& files, const std::string& dir,
                                                     const IdStoreOptions& options,
                                                     std::string_view position, base::Instant now) {
  const std::string_view of_store = store_position(position);
  const std::string_view of_known = position.substr(std::min(of_store.size() + 1, position.size()));
  if (!position.empty() && (of_store.empty() || of_known.empty())) {
    return base::fail(ErrorCode::kCorrupt, "\"{}\" is no position of a store", position);
  }
  auto made = std::make_unique<IdStore>();
  ASSIGN_OR_RETURN(made->store_, Store::open(files, store_dir(dir), options.store, of_store, now));
  ASSIGN_OR_RETURN(made->known_, KnownIds::open(files, dir + "/ids", options.known, of_known));
  return made;
}

base::Result<Seq> IdStore::add(const base::Id& id, std::uint8_t schema, std::string_view body,
                               base::Instant due) {
  ASSIGN_OR_RETURN(const Seq seq, store_->add(id, schema, body, due));
  RETURN_IF_ERROR(known_->add(id, seq));
  return seq;
}

base::Result<Record> IdStore::add_out(const base::Id& id, std::uint8_t schema,
                                      std::string_view body) {
  ASSIGN_OR_RETURN(const Record record, store_->add_out(id, schema, body));
  RETURN_IF_ERROR(known_->add(id, record.seq));
  return record;
}

base::Result<Seq> IdStore::seq_of(const base::Id& id) {
  ASSIGN_OR_RETURN(const std::optional<Seq> seq, known_->find(id));
  if (!seq) return base::fail(ErrorCode::kNotFound, "there is no record {}", id.to_hex());
  return *seq;
}

base::Status IdStore::send(const base::Id& id, std::string_view message) {
  ASSIGN_OR_RETURN(const Seq seq, seq_of(id));
  return store_->send(seq, message);
}

base::Status IdStore::pull(const base::Id& id, base::Instant due) {
  ASSIGN_OR_RETURN(const Seq seq, seq_of(id));
  return store_->pull(seq, due);
}

base::Status IdStore::remove(const base::Id& id) {
  ASSIGN_OR_RETURN(const Seq seq, seq_of(id));
  RETURN_IF_ERROR(store_->remove(seq));
  return known_->remove(id);
}

base::Result<std::optional<IdStore::Found>> IdStore::find(const base::Id& id) {
  ASSIGN_OR_RETURN(const std::optional<Seq> seq, known_->find(id));
  if (!seq) return std::nullopt;
  Found found;
  ASSIGN_OR_RETURN(auto body, store_->find(*seq, found.record));
  if (!body) return std::nullopt;
  found.body = *std::move(body);
  return found;
}

base::Result<std::string> IdStore::commit() {
  ASSIGN_OR_RETURN(std::string position, store_->commit());
  ASSIGN_OR_RETURN(const std::string known, known_->commit());
  position += kBetween;
  return position + known;
}

base::Status IdStore::on_durable() {
  RETURN_IF_ERROR(store_->on_durable());
  return known_->on_durable();
}

}  // namespace meguri::sat
