// The head of an answer as a server of the virtual web sends it, byte for byte.
#pragma once

#include <string>
#include <string_view>

#include "sim/world.h"

namespace meguri::sim {

// "Not Found"; empty for codes it does not know.
std::string_view reason_of(int status);

// What the request decides about the form of its answer.
struct WireForm {
  bool is_head = false;     // the answer to a HEAD request: no length, since nobody made a body
  bool to_http10 = false;   // the client knows no chunks
  bool keeps_alive = true;  // the client would stay
  bool says_keep_alive = false;  // and must be told so, as in HTTP/1.0
};

bool has_wire_body(const Answer& answer, const WireForm& form);
bool is_wire_chunked(const Answer& answer, const WireForm& form);  // the body, where there is one
bool closes_wire(const Answer& answer, const WireForm& form);      // the connection, after it

// Appends status line, fields, framing, connection and the empty line.
void append_wire_head(const Answer& answer, const WireForm& form, std::string* out);

}  // namespace meguri::sim
