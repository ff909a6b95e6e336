// Document: what `meguri inspect` looks at, without what its transfer added.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "web/field_list.h"

namespace meguri::app {

// A document with what came with it.
struct Document {
  web::FieldList fields;
  std::string body;
  std::optional<int> status;
  std::vector<std::string> remarks;
};

// Undoes what can be undone of a response that was saved with its head; some programs save it with
// the body already decoded. Bytes that begin with no head are a body alone.
Document document_of(std::string bytes);

// Of an answer whose chunks were undone by the client.
Document document_of(std::string_view head, const std::string& body);

}  // namespace meguri::app
