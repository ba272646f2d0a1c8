// Where the time of training steps goes: into each operator, forward and backward, each parameter's update, and the rest.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>

namespace graft {

// Stopwatch divides the time of a step on the host into parts without gaps: a lap gives a part the time since the last lap.
// On the host the backward pass runs in the caller's thread, node by node, and each node tells its number when it ends.
// The operators of the forward pass make their nodes with increasing numbers, so a number tells the operator.
class Stopwatch {
 public:
  enum Part { kBatch, kLoss, kRest, kParts };

  // The seconds of a step: operators forward, operators backward, parameters, and the parts.
  static size_t places(size_t operators, size_t parameters) { return 2 * operators + parameters + kParts; }

  Stopwatch(size_t operators, size_t parameters, double *seconds) : operators_(operators), parameters_(parameters), seconds_(seconds) {}

  void begin(int64_t step) {
    row_ = seconds_ + step * places(operators_, parameters_);
    ends_.clear();
    owner_ = kNobody;
    last_ = Clock::now();
  }

  void forward(size_t at) {
    lap(row_[at]);
    ends_.emplace_back(at::sequence_number::peek(), at);
  }

  void parameter(size_t at) { lap(row_[2 * operators_ + at]); }
  void part(Part p) { lap(row_[2 * operators_ + parameters_ + p]); }

  // A node without a number stores the gradient that the node before it has computed.
  void node(int64_t number) {
    if (number >= 0) owner_ = owner(static_cast<uint64_t>(number));
    if (owner_ == kNobody) return part(kLoss);
    lap(row_[operators_ + owner_]);
  }

 private:
  using Clock = std::chrono::steady_clock;
  using End = std::pair<uint64_t, size_t>;  // a number that no node of the operator reaches, and the operator
  static constexpr size_t kNobody = SIZE_MAX;

  void lap(double &of) {
    const Clock::time_point now = Clock::now();
    of += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }

  // The operator that made a node: the first whose end is beyond the node's number. Nodes of the loss have none.
  size_t owner(uint64_t number) const {
    const auto found = std::upper_bound(ends_.begin(), ends_.end(), number, [](uint64_t n, const End &end) { return n < end.first; });
    return found == ends_.end() ? kNobody : found->second;
  }

  size_t operators_, parameters_, owner_ = kNobody;
  double *seconds_, *row_ = nullptr;
  std::vector<End> ends_;
  Clock::time_point last_;
};

// The stopwatch of this thread's training steps; nullptr is none.
inline Stopwatch *&stopwatch() {
  static thread_local Stopwatch *current = nullptr;
  return current;
}

// Timing sets the stopwatch of this thread, and hears the ends of nodes, as long as it lives.
class Timing {
 public:
  explicit Timing(Stopwatch *w) : set_(w != nullptr) {
    if (!set_) return;
    stopwatch() = w;
    handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(
        [](const at::RecordFunction &) -> std::unique_ptr<at::ObserverContext> { return nullptr; },
        [](const at::RecordFunction &f, at::ObserverContext *) {
          if (stopwatch() != nullptr) stopwatch()->node(f.seqNr());
        }).scopes({at::RecordScope::BACKWARD_FUNCTION}));
  }
  ~Timing() {
    if (!set_) return;
    at::removeCallback(handle_);
    stopwatch() = nullptr;
  }
  Timing(const Timing &) = delete;
  Timing &operator=(const Timing &) = delete;

 private:
  bool set_;
  at::CallbackHandle handle_{};
};

}  // namespace graft
