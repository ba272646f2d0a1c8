// Sums of short messages over TCP connections to the first process. Short messages cost latency, not bandwidth (Thakur,
// Rabenseifner and Gropp 2005, "Optimization of Collective Communication Operations in MPICH"): each process sends one
// message and receives one. Gloo's ring passes 4 (size - 1) messages through every process, and its threads spin while
// another thread holds a connection's lock, which stops all progress on a machine without idle processors. For c10d.cc
// only.
#pragma once

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace graft {

// A non-blocking TCP connection; its calls end at a deadline.
class Connection {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  Connection(int fd, std::string peer) : fd_(fd), peer_(std::move(peer)) {
    const int one = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  }
  ~Connection() { ::close(fd_); }
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;

  int fd() const { return fd_; }
  void rename(std::string peer) { peer_ = std::move(peer); }
  void shut() { ::shutdown(fd_, SHUT_RDWR); }

  void send(const void *data, size_t size, Deadline end) {
    const char *at = static_cast<const char *>(data);
    while (size > 0) {
      const ssize_t n = ::send(fd_, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n > 0) {
        at += n;
        size -= n;
      } else if (!again()) {
        fail("send to", std::strerror(errno));
      } else {
        await(POLLOUT, end);
      }
    }
  }

  void receive(void *data, size_t size, Deadline end) {
    for (size_t got = 0; got < size;) {
      const size_t n = receive_some(static_cast<char *>(data) + got, size - got);
      got += n;
      if (n == 0) await(POLLIN, end);
    }
  }

  // Receives what is there; zero if nothing is.
  size_t receive_some(void *data, size_t size) {
    const ssize_t n = ::recv(fd_, data, size, MSG_DONTWAIT);
    if (n > 0) return n;
    if (n == 0) fail("receive from", "it closed the connection");
    if (!again()) fail("receive from", std::strerror(errno));
    return 0;
  }

  // Waits until some of the connections have something to receive.
  static void await_any(std::vector<pollfd> &list, Deadline end) {
    const int n = ::poll(list.data(), list.size(), left(end));
    if (n < 0 && errno != EINTR) throw std::runtime_error(std::string("wait for processes: ") + std::strerror(errno));
    if (n == 0) throw std::runtime_error("a process did not answer in time");
  }

 private:
  static bool again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

  static int left(Deadline end) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    return static_cast<int>(std::clamp<int64_t>(ms, 0, 1 << 30));
  }

  void await(short events, Deadline end) {
    std::vector<pollfd> list{{fd_, events, 0}};
    await_any(list, end);
  }

  [[noreturn]] void fail(const char *what, const std::string &why) const {
    throw std::runtime_error(std::string(what) + " " + peer_ + ": " + why);
  }

  int fd_;
  std::string peer_;
};

class Star {
 public:
  Star(c10d::Store &store, int32_t rank, int32_t size, const std::string &address, std::chrono::milliseconds timeout)
      : rank_(rank), size_(size), timeout_(timeout) {
    if (rank == 0) {
      listen(store, address);
    } else {
      connect(store);
    }
  }

  // Sums a dense tensor of the host, in the order of ranks. A failure shuts all connections, so that every process
  // fails.
  void sum(at::Tensor &t) {
    try {
      const auto end = std::chrono::steady_clock::now() + timeout_;
      rank_ == 0 ? gather(t, end) : exchange(t, end);
    } catch (...) {
      for (auto &c : connections_) c->shut();
      throw;
    }
  }

 private:
  static constexpr const char *kKey = "graft/star";
  static constexpr size_t kToken = 16;

  // A process introduces itself with the token from the store, so that no stranger takes its place.
  struct Hello {
    char token[kToken];
    int32_t rank;
  };

  using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo *)>;

  static Addresses resolve(const std::string &host, const char *port, int flags) {
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    const int code = getaddrinfo(host.c_str(), port, &hints, &found);
    if (code != 0) throw std::runtime_error("look up " + host + ": " + gai_strerror(code));
    return Addresses(found, freeaddrinfo);
  }

  [[noreturn]] static void fail(const std::string &what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

  void listen(c10d::Store &store, const std::string &address) {
    const auto here = resolve(address, "0", AI_PASSIVE);
    Connection door(::socket(here->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "the door");
    if (door.fd() < 0 || bind(door.fd(), here->ai_addr, here->ai_addrlen) != 0 || ::listen(door.fd(), size_) != 0) {
      fail("listen at " + address);
    }
    sockaddr_storage bound{};
    socklen_t length = sizeof bound;
    if (getsockname(door.fd(), reinterpret_cast<sockaddr *>(&bound), &length) != 0) fail("listen at " + address);
    char port[NI_MAXSERV];
    getnameinfo(reinterpret_cast<sockaddr *>(&bound), length, nullptr, 0, port, sizeof port, NI_NUMERICSERV);

    std::vector<uint8_t> card(kToken);
    std::random_device random;
    for (uint8_t &b : card) b = static_cast<uint8_t>(random());
    const std::string token(card.begin(), card.end()), where = std::string(port) + " " + address;
    card.insert(card.end(), where.begin(), where.end());
    store.set(kKey, card);

    connections_.resize(size_ - 1);
    const auto end = std::chrono::steady_clock::now() + timeout_;
    for (int32_t missing = size_ - 1; missing > 0;) missing -= accept(door, token, end);
  }

  // Accepts one connection; false if it is not a process of this group.
  bool accept(Connection &door, const std::string &token, Connection::Deadline end) {
    std::vector<pollfd> list{{door.fd(), POLLIN, 0}};
    Connection::await_any(list, end);
    const int fd = accept4(door.fd(), nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return false;
    auto c = std::make_unique<Connection>(fd, "a process");
    Hello hello{};
    try {
      c->receive(&hello, sizeof hello, std::min(end, std::chrono::steady_clock::now() + std::chrono::seconds(5)));
    } catch (const std::exception &) {
      return false;
    }
    const bool known = std::memcmp(hello.token, token.data(), kToken) == 0 && hello.rank > 0 && hello.rank < size_ &&
                       connections_[hello.rank - 1] == nullptr;
    if (!known) return false;
    c->rename("process " + std::to_string(hello.rank));
    connections_[hello.rank - 1] = std::move(c);
    return true;
  }

  void connect(c10d::Store &store) {
    const auto card = store.get(kKey);
    if (card.size() <= kToken) throw std::runtime_error("the store has no address of the first process");
    const std::string where(card.begin() + kToken, card.end());
    const size_t space = where.find(' ');
    const auto there = resolve(where.substr(space + 1), where.substr(0, space).c_str(), 0);
    const int fd = ::socket(there->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) fail("connect to process 0");
    auto c = std::make_unique<Connection>(fd, "process 0");
    if (::connect(fd, there->ai_addr, there->ai_addrlen) != 0) fail("connect to process 0");
    Hello hello{};
    std::copy_n(card.begin(), kToken, hello.token);
    hello.rank = rank_;
    c->send(&hello, sizeof hello, std::chrono::steady_clock::now() + timeout_);
    connections_.push_back(std::move(c));
  }

  // At the first process: receives from all others at once, so that a lost one is noticed while others still compute.
  void gather(at::Tensor &t, Connection::Deadline end) {
    std::vector<at::Tensor> parts;
    std::vector<size_t> got(connections_.size(), 0);
    for (size_t k = 0; k < connections_.size(); k++) parts.push_back(at::empty_like(t));
    const size_t size = t.nbytes();
    for (size_t done = 0; done < connections_.size();) {
      std::vector<pollfd> list;
      std::vector<size_t> which;
      for (size_t k = 0; k < connections_.size(); k++) {
        if (got[k] == size) continue;
        list.push_back({connections_[k]->fd(), POLLIN, 0});
        which.push_back(k);
      }
      Connection::await_any(list, end);
      for (size_t i = 0; i < list.size(); i++) {
        if (list[i].revents == 0) continue;
        const size_t k = which[i];
        got[k] += connections_[k]->receive_some(static_cast<char *>(parts[k].data_ptr()) + got[k], size - got[k]);
        done += got[k] == size;
      }
    }
    for (const at::Tensor &part : parts) t.add_(part);
    for (auto &c : connections_) c->send(t.data_ptr(), size, end);
  }

  void exchange(at::Tensor &t, Connection::Deadline end) {
    connections_[0]->send(t.data_ptr(), t.nbytes(), end);
    connections_[0]->receive(t.data_ptr(), t.nbytes(), end);
  }

  const int32_t rank_, size_;
  const std::chrono::milliseconds timeout_;
  std::vector<std::unique_ptr<Connection>> connections_;  // of the first process: to rank k + 1; else to the first
};

}  // namespace graft
