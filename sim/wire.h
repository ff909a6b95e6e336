// The head of an answer as a server of the virtual web sends it, byte for byte.
#pragma once

#include <string>
#include <string_view>

#include "sim/world.h"

namespace meguri::sim {

// The words behind a status; empty for those the virtual web never sends.
std::string_view wire_reason(int status);

struct WireForm {
  bool is_head = false;     // the answer to a HEAD request: no length, since nobody made the body
  bool keeps_alive = true;  // as far as the client goes
};

// Status line, fields, framing, connection, empty line.
std::string wire_head(const Answer& answer, const WireForm& form = {});

// Whether an answer of this form carries its body.
inline bool has_wire_body(const Answer& answer, const WireForm& form) {
  return !form.is_head && answer.status != 304;
}

}  // namespace meguri::sim
