/* How many words each document of text has: COUNT, tab, URL.
 *   cc -shared -fPIC -I src/scan -o count_words.so docs/examples/count_words.c
 *   meguri scan DIR -- ./count_words.so */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "meguri_analyser.h"

int meguri_analyser_version(void) { return MEGURI_ANALYSER_VERSION; }

const char* meguri_analyser_start(int argc, const char* const* argv, void** state) {
  *state = NULL; /* what later calls would need */
  return argc > 1 && argv != NULL ? "count_words takes no arguments" : NULL;
}

const char* meguri_analyser_document(void* state, const struct meguri_document* document,
                                     struct meguri_result* result) {
  unsigned long words = 0;
  int was_space = 1;
  char piece[65536], count[32];
  (void)state;
  if (strncmp(document->mime, "text/", 5) != 0) return NULL; /* an empty result */
  for (uint64_t at = 0; at < document->size;) {
    const int64_t got = document->read(document, at, piece, sizeof piece);
    if (got <= 0) return "the content cannot be read";
    for (int64_t i = 0; i < got; ++i) {
      const int is_space = isspace((unsigned char)piece[i]) != 0;
      if (was_space && !is_space) ++words;
      was_space = is_space;
    }
    at += (uint64_t)got;
  }
  result->write(result, count, (size_t)snprintf(count, sizeof count, "%lu\t", words));
  result->write(result, document->url, strlen(document->url));
  return result->write(result, "\n", 1) == 0 ? NULL : "the result cannot be written";
}
