// An analyser for tests, as a shared object of C++17: it does what its first argument says.
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "scan/meguri_analyser.h"

namespace {

struct State {
  std::string what;
};

void write(meguri_result* result, const std::string& text) {
  if (result->write(result, text.data(), text.size()) != 0) throw std::runtime_error("no room");
}

// A line with all that it is told.
std::string told(const meguri_document* document) {
  const char* const modified = document->field(document, "last-modified");
  const char* const none = document->field(document, "X-None");
  std::string line = std::to_string(document->number);
  line.append(" ").append(document->url).append(" ").append(std::to_string(document->time_ms));
  line.append(" ").append(std::to_string(document->valid_from_ms));
  line.append(document->valid_to_ms == INT64_MAX ? " still " : " ended ");
  line.append(std::to_string(document->status)).append(" ").append(document->mime);
  line.append(" ").append(document->charset).append(" ").append(document->language);
  line.append(" ").append(document->digest).append(" (").append(document->cut).append(") ");
  line.append(modified == nullptr ? "?" : modified).append(none == nullptr ? " none" : " one");
  return line;
}

}  // namespace

int meguri_analyser_version() {
  const char* const version = std::getenv("MEGURI_TEST_PLUGIN_VERSION");
  return version == nullptr ? MEGURI_ANALYSER_VERSION : std::atoi(version);
}

const char* meguri_analyser_start(int argc, const char* const* argv, void** state) {
  if (argc < 2 || argv[argc] != nullptr) return "say what to do";
  if (std::strcmp(argv[1], "throw-at-start") == 0) throw std::runtime_error("thrown at start");
  static State own;
  own.what = argv[1];
  *state = &own;
  return nullptr;
}

const char* meguri_analyser_document(void* state, const meguri_document* document,
                                     meguri_result* result) {
  const std::string& what = static_cast<State*>(state)->what;
  if (what == "throw") throw std::runtime_error("thrown\nhere");
  if (what == "fail") return document->number == 1 ? "number 1 is bad" : nullptr;
  if (what == "tell") write(result, told(document));
  if (what == "content") write(result, document->content == nullptr ? "on disk" : "in memory");
  if (what == "repeat") {
    const std::string piece(1000, 'x');
    for (int i = 0; i < 3000; ++i) write(result, piece);
  }
  return nullptr;
}

void meguri_analyser_end(void* state) {
  ::setenv("MEGURI_TEST_PLUGIN_ENDED", static_cast<State*>(state)->what.c_str(), 1);
}
