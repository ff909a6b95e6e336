#include "app/control_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace meguri::app {

namespace {

constexpr int kBacklog = 16;

std::string path_of(const std::string& archive) { return archive + "/control.sock"; }

std::unexpected<base::Error> system_error(const std::string& what) {
  return std::unexpected(base::Error::from_errno(errno, what));
}

// The folder, and the address of the socket in it.
struct Address {
  OwnedDescriptor folder;
  sockaddr_un name{};

  const sockaddr* get() const {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): as bind() has it
    return reinterpret_cast<const sockaddr*>(&name);
  }
};

base::Result<Address> address_of(const std::string& archive) {
  Address address;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): as the system has it
  address.folder = OwnedDescriptor(::open(archive.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!address.folder.is_open()) return system_error("cannot open " + archive);
  const std::string text = fmt::format("/proc/self/fd/{}/control.sock", address.folder.get());
  address.name.sun_family = AF_UNIX;
  std::ranges::copy(text, std::begin(address.name.sun_path));
  return address;
}

base::Result<OwnedDescriptor> make_socket(int flags) {
  OwnedDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
  if (!socket.is_open()) return system_error("cannot make a socket");
  return socket;
}

}  // namespace

OwnedDescriptor::~OwnedDescriptor() {
  if (number_ >= 0) ::close(number_);
}

base::Result<OwnedDescriptor> listen_at(const std::string& archive) {
  const std::string what = "cannot listen at " + path_of(archive);
  ASSIGN_OR_RETURN(const Address address, address_of(archive));
  ASSIGN_OR_RETURN(OwnedDescriptor socket, make_socket(SOCK_NONBLOCK));
  if (::unlinkat(address.folder.get(), "control.sock", 0) != 0 && errno != ENOENT) {
    return system_error(what);
  }
  // Before it has a name, so that at no moment anybody else can connect.
  if (::fchmod(socket.get(), S_IRUSR | S_IWUSR) != 0) return system_error(what);
  if (::bind(socket.get(), address.get(), sizeof(address.name)) != 0) return system_error(what);
  if (::listen(socket.get(), kBacklog) != 0) return system_error(what);
  return socket;
}

base::Result<OwnedDescriptor> connect_to(const std::string& archive) {
  ASSIGN_OR_RETURN(const Address address, address_of(archive));
  ASSIGN_OR_RETURN(OwnedDescriptor socket, make_socket(0));
  if (::connect(socket.get(), address.get(), sizeof(address.name)) == 0) return socket;
  if (errno == ENOENT || errno == ECONNREFUSED) {
    return base::fail(base::ErrorCode::kNotFound, "no crawl runs on {}", archive);
  }
  return system_error("cannot speak with the crawl at " + path_of(archive));
}

}  // namespace meguri::app
