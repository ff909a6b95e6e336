#include <memory>
#include <optional>

#include "app/command.h"
#include "app/warc_tools.h"

namespace meguri::app {
namespace {

class WarcCommand final : public Command {
 public:
  void declare(Options options) override {
    ls_options_ = options.add_command(
        "ls",
        "List records: offset, length, type, date, HTTP status, digest verdict, MIME type, URL",
        "meguri warc ls example.warc.gz");
    ls_.declare(*ls_options_);
    check_options_ = options.add_command(
        "check", "Read everything; name what is missing or broken, and bad habits as notes",
        "meguri warc check example/warc/*.warc.gz");
    check_.declare(*check_options_);
    cat_options_ =
        options.add_command("cat", "Write one record's payload, or another part of it, to stdout",
                            "meguri warc cat example.warc.gz 1234 > page.html");
    cat_.declare(*cat_options_);
  }

  base::Status run(Output& out) override {
    if (ls_options_->named()) return ls_.run(out);
    if (check_options_->named()) return check_.run(out);
    if (cat_options_->named()) return cat_.run(out);
    return base::fail(base::ErrorCode::kInvalid,
                      "say what to do: ls, check or cat; see 'meguri warc --help'");
  }

 private:
  WarcLs ls_;
  WarcCheck check_;
  WarcCat cat_;
  std::optional<Options> ls_options_;
  std::optional<Options> check_options_;
  std::optional<Options> cat_options_;
};

}  // namespace

std::unique_ptr<Command> make_warc_command() { return std::make_unique<WarcCommand>(); }

}  // namespace meguri::app
