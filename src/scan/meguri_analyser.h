// Analysers as shared objects: include this, define the functions, link with -shared -fPIC, and say
//   meguri scan DIR -- ./analyser.so ARGUMENTS...
// C11 and C++17, so that any compiler of these years fits; docs/examples/count_words.c is one. Each
// worker is a process of its own that loads the object once and calls it from one thread. A crash,
// or an error returned, is a failure at this document alone: it is tried again elsewhere.
// Copyright: Apache-2.0, as all of Meguri.
#pragma once

// NOLINTBEGIN: this is C.
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEGURI_ANALYSER_VERSION 1

// Texts are UTF-8, end with a zero byte and live until the call returns. Unknown is "".
struct meguri_document {
  uint64_t number;  // in the run, from 0
  const char* url;
  int64_t time_ms;        // of the visit, since 1970, UTC
  int64_t valid_from_ms;  // from when on the page was so
  int64_t valid_to_ms;    // and until when; INT64_MAX: it still is
  uint16_t status;        // of the answer; 0: not known
  const char* mime;       // "text/html"
  const char* charset;    // that the server named
  const char* language;   // "ja"
  const char* digest;     // of the stored payload
  const char* cut;        // why the content is not all there was; "": it is
  uint64_t size;          // of the content, in bytes, decoded
  // All of the content, if it is small enough to be in memory; else NULL: use read().
  const char* content;
  // Up to `length` bytes of the content at `offset` into `to`; fewer only at its end. Returns how
  // many; -1: failed.
  int64_t (*read)(const struct meguri_document* document, uint64_t offset, char* to, size_t length);
  // The value of a field of the answer, such as "Last-Modified"; NULL: there is none.
  const char* (*field)(const struct meguri_document* document, const char* name);
  const void* reserved;  // Meguri's
};

// Where the result of a document goes.
struct meguri_result {
  // Appends to it. Returns 0, or -1 if it failed.
  int (*write)(struct meguri_result* result, const char* bytes, size_t length);
  void* reserved;  // Meguri's
};

// Which version it was written for: return MEGURI_ANALYSER_VERSION.
int meguri_analyser_version(void);
// Called once, before the first document; argv[0] is the object's path. NULL: it is ready. Else a
// text that says why it is not; the run ends with it. May set *state, which later calls get.
const char* meguri_analyser_start(int argc, const char* const* argv, void** state);
// NULL: done, and what was written is the result, which may be empty. Else a text that says why
// the document failed.
const char* meguri_analyser_document(void* state, const struct meguri_document* document,
                                     struct meguri_result* result);
// Called once, after the last document. May be left out.
void meguri_analyser_end(void* state);

#ifdef __cplusplus
}
#endif
// NOLINTEND
