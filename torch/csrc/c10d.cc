// The only file that includes LibTorch's c10d. It is compiled separately, so that all else
// builds with a LibTorch that lacks it or has an unknown version of it. USE_C10D_GLOO and
// USE_C10D_NCCL define the available backends.
#include <csignal>
#include <cstdlib>

#include "peers.h"

#if defined(USE_C10D_GLOO)
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/version.h>

#include "meeting.h"
#include "star.h"
#endif
#if defined(USE_C10D_NCCL)
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

namespace graft {

#if defined(USE_C10D_GLOO)

namespace {

#if TORCH_VERSION_MAJOR >= 2
using Backend = c10d::Backend;
#else
using Backend = c10d::ProcessGroup;
#endif

class C10d : public Peers {
 public:
  C10d(const graft_peers_options &o, c10::intrusive_ptr<Backend> backend, std::unique_ptr<Star> star, at::Device device)
      : Peers(o.rank, o.size), backend_(std::move(backend)), star_(std::move(star)), device_(device) {}

 protected:
  void all_reduce(at::Tensor &t) override {
    on_device(t, [&](std::vector<at::Tensor> &list) {
      if (device_.is_cpu() && list[0].nbytes() <= kShort) {
        star_->sum(list[0]);
      } else {
        backend_->allreduce(list)->wait();
      }
    });
  }

  void spread(at::Tensor &t, int32_t root) override {
    c10d::BroadcastOptions o;
    o.rootRank = root;
    on_device(t, [&](std::vector<at::Tensor> &list) { backend_->broadcast(list, o)->wait(); });
  }

 private:
  static constexpr size_t kShort = 64 << 10;

  // Gloo works on the host and NCCL on its device; other tensors are copied there and back.
  template <typename Body>
  void on_device(at::Tensor &t, const Body &body) {
    std::vector<at::Tensor> list{t.to(device_)};
    body(list);
    if (!list[0].is_same(t)) t.copy_(list[0]);
  }

  c10::intrusive_ptr<Backend> backend_;
  std::unique_ptr<Star> star_;  // on the host only
  at::Device device_;
};

// The address to listen at: the loopback interface, unless processes are on several machines.
std::string here(const graft_peers_options &o) { return o.address != nullptr ? o.address : "127.0.0.1"; }

c10::intrusive_ptr<Backend> gloo(const c10::intrusive_ptr<c10d::Store> &store, const graft_peers_options &o) {
  auto options = c10d::ProcessGroupGloo::Options::create(std::chrono::milliseconds(o.timeout_ms));
  options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(here(o)));
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, o.rank, o.size, options);
}

#if defined(USE_C10D_NCCL)
// The interface with an address of this machine, as NCCL names one exactly; empty if there is none.
std::string interface_of(const std::string &address) {
  ifaddrs *all = nullptr;
  if (getifaddrs(&all) != 0) return "";
  std::string found;
  for (const ifaddrs *i = all; i != nullptr && found.empty(); i = i->ifa_next) {
    if (i->ifa_addr == nullptr || (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6)) continue;
    const socklen_t size = i->ifa_addr->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    char host[NI_MAXHOST];
    if (getnameinfo(i->ifa_addr, size, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    if (address == std::string(host).substr(0, std::string(host).find('%'))) found = std::string("=") + i->ifa_name;
  }
  freeifaddrs(all);
  return found;
}

// A call waits and throws: by itself NCCL's watchdog would end the process. It listens at the interface of this
// process's address, on one machine at the loopback one.
c10::intrusive_ptr<Backend> nccl(const c10::intrusive_ptr<c10d::Store> &store, const graft_peers_options &o) {
  for (const char *name : {"TORCH_NCCL_BLOCKING_WAIT", "NCCL_BLOCKING_WAIT"}) setenv(name, "1", 0);
  for (const char *name : {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "NCCL_ASYNC_ERROR_HANDLING"}) setenv(name, "0", 0);
  const std::string interface = interface_of(o.address != nullptr ? o.address : "127.0.0.1");
  if (!interface.empty()) setenv("NCCL_SOCKET_IFNAME", interface.c_str(), 0);
  auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = std::chrono::milliseconds(o.timeout_ms);
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, o.rank, o.size, options);
}
#endif

// Where the processes find each other: a file, or the caller's store.
c10::intrusive_ptr<c10d::Store> meeting(const graft_peers_options &o) {
  if (o.address == nullptr) return c10::make_intrusive<c10d::FileStore>(o.file, o.size);
  return c10::make_intrusive<Meeting>(o.store, o.store_handle, std::chrono::milliseconds(o.timeout_ms));
}

// Blocks SIGPIPE in this thread, and so in the threads that it starts meanwhile: Gloo's threads write to sockets of
// processes that may be gone, and the signal would end this process too. They get an error instead.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &was_);
  }
  ~WithoutSigpipe() { pthread_sigmask(SIG_SETMASK, &was_, nullptr); }
  WithoutSigpipe(const WithoutSigpipe &) = delete;
  WithoutSigpipe &operator=(const WithoutSigpipe &) = delete;

 private:
  sigset_t was_;
};

std::unique_ptr<Peers> connect(const graft_peers_options &o) {
  WithoutSigpipe guard;
  auto store = meeting(o);
  store->setTimeout(std::chrono::milliseconds(o.timeout_ms));
#if defined(USE_C10D_NCCL)
  if (o.device_type != 0) {
    const at::Device device(at::kCUDA, static_cast<c10::DeviceIndex>(o.device_index));
    return std::make_unique<C10d>(o, nccl(store, o), nullptr, device);
  }
#endif
  auto backend = gloo(store, o);
  auto star = std::make_unique<Star>(*store, o.rank, o.size, here(o), std::chrono::milliseconds(o.timeout_ms));
  return std::make_unique<C10d>(o, std::move(backend), std::move(star), at::Device(at::kCPU));
}

}  // namespace

std::unique_ptr<Peers> make_peers(const graft_peers_options &o) {
  try {
    return connect(o);
  } catch (const std::exception &e) {
    throw PeerLost(e.what());
  }
}

bool has_gloo() { return true; }

#else

std::unique_ptr<Peers> make_peers(const graft_peers_options &) {
  TORCH_CHECK(false, "this LibTorch was built without c10d's Gloo, over which processes train together");
}

bool has_gloo() { return false; }

#endif

#if defined(USE_C10D_NCCL)
bool has_nccl() { return true; }
#else
bool has_nccl() { return false; }
#endif

}  // namespace graft
