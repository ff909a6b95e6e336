#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string>
#include <vector>

#include "app/command.h"

namespace meguri::app {

namespace {

// Where the running executable stands.
base::Result<std::string> folder_of_program() {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t length = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  if (length < 0) {
    return std::unexpected(base::Error::from_errno(errno, "cannot read /proc/self/exe"));
  }
  const std::string path(buffer.data(), static_cast<std::size_t>(length));
  return path.substr(0, path.rfind('/'));
}

// The benchmarks link other people's stores and queues to measure against, which the product must
// not: so they are a program of their own, and this command becomes it.
class BenchCommand final : public Command {
 public:
  void declare(Options options) override {
    options.argument("NAME", name_, "Which benchmark; 'list' names them");
    options.flag("--quick", quick_, "The same on a smaller load, within a minute");
    options.flag("--json", json_, "Print one JSON object");
    options.option("--dir", "DIR", dir_,
                   "Scratch folder; a new folder in it is removed at the end");
    options.option("--output", "FILE", output_, "Write the report to this file too");
    options.option("--records", "N", records_, "Of sat: how many records (default: 17496056)");
    options.option("--unit", "UNIT", unit_, "Of sat: hour, day, minute or mixed");
    options.option("--fixed", "BYTES", fixed_, "Of sat: bytes of a record besides its URL");
    options.option("--memory", "SIZE", memory_, "Of sat: what a store may use, such as 768M");
    options.option("--pool", "SIZE", pool_, "Of sat: memory of its write buffers, such as 32M");
    options.option("--page", "SIZE", page_, "Of sat: what these buffers grow by, such as 4K");
    options.option("--stores", "NAMES", stores_, "Of sat: which stores, with commas between");
    options.flag("--messages", messages_, "Of sat: a message for every record that is due");
    options.flag("--growth", growth_,
                 "Of sat: instead, from 1 million records to all of them (default: 100 million)");
    options.option("--figures", "DIR", figures_,
                   "Of sat: instead, draw the papers' figures and tell them in DIR/sat.md");
  }

  base::Status run(Output& out) override {
    ASSIGN_OR_RETURN(const std::string folder, folder_of_program());
    const std::string program = folder + "/meguri-bench";
    std::vector<std::string> arguments = {program, name_};
    if (quick_) arguments.emplace_back("--quick");
    if (json_) arguments.emplace_back("--json");
    if (messages_) arguments.emplace_back("--messages");
    if (growth_) arguments.emplace_back("--growth");
    const auto pass = [&arguments](const std::string& option, const std::string& value) {
      if (!value.empty()) arguments.push_back(option + "=" + value);
    };
    pass("--dir", dir_);
    pass("--output", output_);
    pass("--records", records_);
    pass("--unit", unit_);
    pass("--fixed", fixed_);
    pass("--memory", memory_);
    pass("--pool", pool_);
    pass("--page", page_);
    pass("--stores", stores_);
    pass("--figures", figures_);

    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    RETURN_IF_ERROR(out.finish());
    ::execv(program.c_str(), pointers.data());
    if (errno == ENOENT) {
      return base::fail(base::ErrorCode::kNotFound,
                        "{} is not built; './meguri bench' builds it, and so does 'ninja -C {} "
                        "meguri-bench' where libtbb-dev is installed",
                        program, folder);
    }
    return std::unexpected(base::Error::from_errno(errno, "cannot start " + program));
  }

 private:
  std::string name_;
  std::string dir_;
  std::string output_;
  std::string records_;
  std::string unit_;
  std::string fixed_;
  std::string memory_;
  std::string pool_;
  std::string page_;
  std::string stores_;
  std::string figures_;
  bool quick_ = false;
  bool json_ = false;
  bool messages_ = false;
  bool growth_ = false;
};

}  // namespace

std::unique_ptr<Command> make_bench_command() { return std::make_unique<BenchCommand>(); }

}  // namespace meguri::app
