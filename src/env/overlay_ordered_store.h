// An OrderedStore seen with changes that only memory has: for whoever may only read the store below
// and knows more than it.
#pragma once

#include <memory>

#include "env/ordered_store.h"

namespace meguri::env {

// Nothing is ever written to `below`; flush() does nothing. One writer, whose cursors see what was
// written when they were made. Thread-compatible.
std::unique_ptr<OrderedStore> make_overlay_store(std::unique_ptr<OrderedStore> below);

}  // namespace meguri::env
