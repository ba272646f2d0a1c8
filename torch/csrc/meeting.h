// A store of c10d whose keys are kept by the caller. LibTorch's own one for several machines listens on all
// interfaces and asks for no token. For c10d.cc only.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "../graft.h"

namespace graft {

class Meeting : public c10d::Store {
 public:
  Meeting(graft_store call, uintptr_t handle, std::chrono::milliseconds timeout) : Store(timeout), call_(call), handle_(handle) {}

  using c10d::Store::set;

  void set(const std::string &key, const std::vector<uint8_t> &value) override {
    graft_store_call c = about(GRAFT_STORE_SET, key);
    c.value = value.data();
    c.value_size = static_cast<int64_t>(value.size());
    ask(c);
  }

  std::vector<uint8_t> get(const std::string &key) override {
    wait({key}, timeout_);
    graft_store_call c = about(GRAFT_STORE_GET, key);
    ask(c);
    std::unique_ptr<uint8_t, void (*)(void *)> found(c.found, std::free);
    return std::vector<uint8_t>(c.found, c.found + c.found_size);
  }

  int64_t add(const std::string &key, int64_t value) override {
    graft_store_call c = about(GRAFT_STORE_ADD, key);
    c.number = value;
    ask(c);
    return c.number;
  }

  bool deleteKey(const std::string &key) override { return is(GRAFT_STORE_DELETE, key); }

  bool check(const std::vector<std::string> &keys) override {
    return std::all_of(keys.begin(), keys.end(), [&](const std::string &key) { return is(GRAFT_STORE_CHECK, key); });
  }

  int64_t getNumKeys() override { TORCH_CHECK(false, "the store does not count its keys"); }

  void wait(const std::vector<std::string> &keys) override { wait(keys, timeout_); }

  // It asks again and again, so that no call waits at the other side.
  void wait(const std::vector<std::string> &keys, const std::chrono::milliseconds &timeout) override {
    const auto end = std::chrono::steady_clock::now() + timeout;
    auto pause = std::chrono::milliseconds(1);
    for (const std::string &key : keys) {
      while (!is(GRAFT_STORE_CHECK, key)) {
        TORCH_CHECK(std::chrono::steady_clock::now() < end, "a process did not come within ", timeout.count(), " ms");
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, std::chrono::milliseconds(50));
      }
    }
  }

  // Pure since LibTorch 2.8, unknown to earlier ones.
  c10::intrusive_ptr<c10d::Store> clone() { return c10::make_intrusive<Meeting>(call_, handle_, timeout_); }

 private:
  static graft_store_call about(int32_t op, const std::string &key) {
    graft_store_call c{};
    c.op = op;
    c.key = key.data();
    c.key_size = static_cast<int64_t>(key.size());
    return c;
  }

  bool is(int32_t op, const std::string &key) {
    graft_store_call c = about(op, key);
    ask(c);
    return c.number != 0;
  }

  void ask(graft_store_call &c) {
    char *message = call_(handle_, &c);
    if (message == nullptr) return;
    const std::string why(message);
    std::free(message);
    TORCH_CHECK(false, why);
  }

  graft_store call_;
  uintptr_t handle_;
};

}  // namespace graft
