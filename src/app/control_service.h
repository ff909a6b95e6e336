// ControlService: what a running crawl does with the lines of its control socket.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "app/control_server.h"
#include "base/result.h"
#include "crawl/control_mailbox.h"
#include "crawl/control_messages.h"
#include "env/clock.h"
#include "env/file_system.h"

namespace meguri::app {

// Borrows clock and disk. handle() is called by the server's thread alone.
class ControlService {
 public:
  using Status = std::function<nlohmann::json()>;  // how the crawl stands; any thread

  ControlService(std::string archive, env::FileSystem& files, const env::Clock& clock,
                 std::shared_ptr<crawl::ControlMailbox> mailbox, Status status)
      : archive_(std::move(archive)),
        files_(files),
        clock_(clock),
        mailbox_(std::move(mailbox)),
        status_(std::move(status)) {}

  void handle(const std::string& line, const ControlServer::Reply& reply);

 private:
  base::Result<nlohmann::json> add(const nlohmann::json& request,
                                   const ControlServer::Reply& reply);

  const std::string archive_;
  env::FileSystem& files_;
  const env::Clock& clock_;
  const std::shared_ptr<crawl::ControlMailbox> mailbox_;
  const Status status_;
};

// What a line asks of Control. kInvalid: it asks for nothing we know.
base::Result<crawl::ControlRequest> request_of(const nlohmann::json& request);

}  // namespace meguri::app
