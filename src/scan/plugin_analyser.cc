#include "scan/plugin_analyser.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "env/posix_file_system.h"
#include "env/spool.h"
#include "scan/meguri_analyser.h"
#include "web/utf8.h"

namespace meguri::scan {

namespace {

using base::ErrorCode;

struct PluginFunctions {
  decltype(&meguri_analyser_version) version = nullptr;
  decltype(&meguri_analyser_start) start = nullptr;
  decltype(&meguri_analyser_document) document = nullptr;
  decltype(&meguri_analyser_end) end = nullptr;  // null: it has none
};

std::string as_text(std::string_view bytes) {
  std::string text;
  web::append_as_valid_utf8(bytes, &text);
  return text;
}

// A document as a plugin sees it. Lives while one call does.
class PluginDocument {
 public:
  explicit PluginDocument(const Document& document)
      : document_(document),
        url_(as_text(document.facts.url)),
        mime_(as_text(document.mime)),
        charset_(as_text(document.charset)),
        language_(as_text(document.facts.language)),
        view_{.number = document.facts.number,
              .url = url_.c_str(),
              .time_ms = document.facts.time.ms(),
              .valid_from_ms = document.facts.valid.begin.ms(),
              .valid_to_ms = document.facts.valid.end.ms(),
              .status = document.status,
              .mime = mime_.c_str(),
              .charset = charset_.c_str(),
              .language = language_.c_str(),
              .digest = document.digest.c_str(),
              .cut = document.cut.c_str(),
              .size = document.content.size(),
              .content = content_of(document),
              .read = &read,
              .field = &field,
              .reserved = this} {}
  PluginDocument(const PluginDocument&) = delete;
  PluginDocument& operator=(const PluginDocument&) = delete;

  const meguri_document* get() const { return &view_; }

 private:
  static const char* content_of(const Document& document) {
    if (document.content.is_on_disk()) return nullptr;
    return document.content.empty() ? "" : document.content.memory().data();
  }

  static const PluginDocument& of(const meguri_document* view) {
    return *static_cast<const PluginDocument*>(view->reserved);
  }

  static std::int64_t read(const meguri_document* view, std::uint64_t offset, char* to,
                           std::size_t length) {
    const env::SpooledBytes& content = of(view).document_.content;
    if (offset >= content.size()) return 0;
    const std::uint64_t wanted = std::min<std::uint64_t>(length, content.size() - offset);
    std::uint64_t got = 0;
    for (std::string piece; got < wanted; got += piece.size()) {
      const auto most = std::min<std::uint64_t>(wanted - got, env::SpooledBytes::kPieceBytes);
      if (!content.read_at(offset + got, most, &piece) || piece.empty()) return -1;
      piece.copy(to + got, piece.size());
    }
    return static_cast<std::int64_t>(got);
  }

  static const char* field(const meguri_document* view, const char* name) {
    const PluginDocument& self = of(view);
    const auto value = self.document_.fields.get(name);
    return value ? self.values_.emplace_back(as_text(*value)).c_str() : nullptr;
  }

  const Document& document_;
  const std::string url_;
  const std::string mime_;
  const std::string charset_;
  const std::string language_;
  mutable std::list<std::string> values_;  // of fields that were asked for
  const meguri_document view_;
};

// Where a plugin writes to.
class PluginResult {
 public:
  explicit PluginResult(env::Spool* spool)
      : out_(spool), view_{.write = &write, .reserved = this} {}
  PluginResult(const PluginResult&) = delete;
  PluginResult& operator=(const PluginResult&) = delete;

  meguri_result* get() { return &view_; }

  base::Result<env::SpooledBytes> finish() {
    RETURN_IF_ERROR(status_);
    return out_.finish();
  }

 private:
  static int write(meguri_result* view, const char* bytes, std::size_t length) {
    PluginResult& self = *static_cast<PluginResult*>(view->reserved);
    if (self.status_) self.status_ = self.out_.append({bytes, length});
    return self.status_ ? 0 : -1;
  }

  env::SpoolWriter out_;
  base::Status status_;
  meguri_result view_;
};

class PluginAnalyser final : public Analyser {
 public:
  explicit PluginAnalyser(const AnalyserSettings& settings)
      : arguments_(settings.arguments),
        spool_(fs_, settings.scratch, {}),
        has_spool_(!settings.scratch.empty()) {}

  base::Status start() override;
  base::Status run(DocumentStream& documents, ResultStream& results) override;

 private:
  base::Status load();
  template <typename Function>
  base::Status find(const char* name, Function& function);
  base::Result<env::SpooledBytes> analyse(const Document& document);

  const std::vector<std::string> arguments_;
  env::PosixFileSystem fs_;
  env::Spool spool_;
  const bool has_spool_;
  // Never closed: it may have left threads or handlers that run until the process ends.
  void* object_ = nullptr;
  PluginFunctions functions_;
  void* state_ = nullptr;  // the plugin's
};

template <typename Function>
base::Status PluginAnalyser::find(const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(object_, name));
  if (function != nullptr) return {};
  return base::fail(ErrorCode::kInvalid,
                    "{} is no analyser: it has no function {}; scan/meguri_analyser.h says what "
                    "it has to have",
                    arguments_.front(), name);
}

base::Status PluginAnalyser::load() {
  // A name without a slash would be looked for among the libraries of the system.
  const std::string& named = arguments_.front();
  const std::string path = named.find('/') == named.npos ? "./" + named : named;
  object_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object_ == nullptr) {
    return base::fail(ErrorCode::kInvalid, "the analyser cannot be loaded: {}", ::dlerror());
  }
  RETURN_IF_ERROR(find("meguri_analyser_version", functions_.version));
  const int version = functions_.version();
  if (version != MEGURI_ANALYSER_VERSION) {
    return base::fail(ErrorCode::kInvalid,
                      "{} was compiled for version {} of meguri_analyser.h, and this is version "
                      "{}; compile it with the header of this Meguri",
                      named, version, MEGURI_ANALYSER_VERSION);
  }
  RETURN_IF_ERROR(find("meguri_analyser_start", functions_.start));
  RETURN_IF_ERROR(find("meguri_analyser_document", functions_.document));
  if (!find("meguri_analyser_end", functions_.end)) functions_.end = nullptr;
  return {};
}

base::Status PluginAnalyser::start() {
  RETURN_IF_ERROR(load());
  std::vector<const char*> arguments;
  for (const std::string& argument : arguments_) arguments.push_back(argument.c_str());
  arguments.push_back(nullptr);
  try {
    const char* const failure =
        functions_.start(static_cast<int>(arguments_.size()), arguments.data(), &state_);
    if (failure == nullptr) return {};
    return base::fail(ErrorCode::kInvalid, "{} does not start: {}", arguments_.front(), failure);
  } catch (const std::exception& error) {
    return base::fail(ErrorCode::kInvalid, "{} does not start: it threw {}", arguments_.front(),
                      base::quoted(error.what()));
  }
}

base::Result<env::SpooledBytes> PluginAnalyser::analyse(const Document& document) {
  const PluginDocument view(document);
  PluginResult result(has_spool_ ? &spool_ : nullptr);
  try {
    const char* const failure = functions_.document(state_, view.get(), result.get());
    if (failure != nullptr) return base::fail(ErrorCode::kFailed, "it says: {}", failure);
  } catch (const std::exception& error) {
    return base::fail(ErrorCode::kFailed, "it threw {}", base::quoted(error.what()));
  }
  return result.finish();
}

base::Status PluginAnalyser::run(DocumentStream& documents, ResultStream& results) {
  FunctionAnalyser analyser([this](const Document& document) { return analyse(document); });
  RETURN_IF_ERROR(analyser.run(documents, results));
  if (functions_.end != nullptr) functions_.end(state_);
  return {};
}

}  // namespace

std::unique_ptr<Analyser> make_plugin_analyser(const AnalyserSettings& settings) {
  return std::make_unique<PluginAnalyser>(settings);
}

}  // namespace meguri::scan
