// The C interface of policies. Their computations are in policy.cc.
#include <ATen/CPUGeneratorImpl.h>

#include "guard.h"
#include "policy.h"

using graft::guarded;

namespace {

graft::Policy &policy_of(graft_policy handle) {
  TORCH_CHECK(handle != nullptr, "the policy is missing");
  return *static_cast<graft::Policy *>(handle);
}

// Runs a body on a copy of the progress, and keeps the copy if it succeeded.
template <typename Body>
void moving(graft_policy_progress *progress, const Body &body) {
  graft_policy_progress p = *progress;
  body(p);
  *progress = p;
}

// Stream draws as LibTorch does, on a copy of a generator's engine that it returns at the end.
// It skips numbers without computing them.
class Stream final : public graft::PolicyRandom {
 public:
  explicit Stream(at::CPUGeneratorImpl *source) : source_(source), engine_(source->engine()) {}
  ~Stream() override { source_->set_engine(engine_); }

  // float64 numbers in [0, 1) are 53 bits of two numbers of the stream.
  double uniform() override {
    const uint64_t high = engine_(), low = engine_();
    return static_cast<double>((high << 32 | low) & ((uint64_t{1} << 53) - 1)) * 0x1p-53;
  }

  // left_ is one more than the numbers that the state still has.
  void skip(int64_t numbers) override {
    at::mt19937_data_pod at = engine_.data();
    for (int64_t had = at.left_ - 1; numbers > had; had = at.left_ - 1) {
      numbers -= had;
      graft::mersenne_next(at.state_.data());
      at.left_ = graft::kMersenneNumbers + 1;
      at.next_ = 0;
    }
    at.left_ -= static_cast<int>(numbers);
    at.next_ += static_cast<uint32_t>(numbers);
    engine_.set_data(at);
  }

 private:
  at::CPUGeneratorImpl *source_;
  at::mt19937 engine_;
};

}  // namespace

char *graft_policy_new(const graft_policy_shape *shape, const double *embedding, graft_policy *out) {
  return guarded([&] { *out = graft::new_policy(*shape, embedding).release(); });
}

void graft_policy_close(graft_policy policy) { delete static_cast<graft::Policy *>(policy); }

int64_t graft_policy_parameters(graft_policy policy) { return policy_of(policy).parameters(); }

char *graft_policy_read(graft_policy policy, int32_t what, double *out) {
  return guarded([&] { policy_of(policy).read(what, out); });
}

char *graft_policy_write(graft_policy policy, int32_t what, const double *values) {
  return guarded([&] { policy_of(policy).write(what, values); });
}

char *graft_policy_grow(graft_policy policy, int64_t states, int64_t leaves, const int32_t *tokens, const int64_t *offsets,
                        const double *time, const int32_t *children, const double *rewards, const int32_t *skips) {
  return guarded([&] { policy_of(policy).grow({states, leaves, tokens, offsets, time, children, rewards, skips}); });
}

char *graft_policy_probabilities(graft_policy policy, int64_t count, const int32_t *states, double temperature, double *out) {
  return guarded([&] { policy_of(policy).probabilities(count, states, temperature, out); });
}

char *graft_policy_gradient(graft_policy policy, int64_t count, const int32_t *states, double temperature,
                            const double *coefficients) {
  return guarded([&] { policy_of(policy).gradient(count, states, temperature, coefficients); });
}

char *graft_policy_expect(graft_policy policy, double temperature, double entropy, double *leaves, double *reward) {
  return guarded([&] { *reward = policy_of(policy).expect(temperature, entropy, leaves); });
}

char *graft_policy_step(graft_policy policy, const graft_policy_rule *rule, graft_policy_progress *progress) {
  return guarded([&] {
    moving(progress, [&](graft_policy_progress &p) { policy_of(policy).step(*rule, p); });
  });
}

char *graft_policy_learn(graft_policy policy, graft_generator generator, int64_t episodes, const graft_policy_rule *rule,
                         graft_policy_progress *progress, int32_t *leaves, double *objectives) {
  return guarded([&] {
    at::Generator random =
        generator == nullptr ? at::detail::getDefaultCPUGenerator() : *static_cast<at::Generator *>(generator);
    std::lock_guard<std::mutex> lock(random.mutex());
    Stream stream(at::check_generator<at::CPUGeneratorImpl>(random));
    moving(progress, [&](graft_policy_progress &p) {
      policy_of(policy).learn(episodes, stream, *rule, p, leaves, objectives);
    });
  });
}

char *graft_policy_ascend(graft_policy policy, int64_t steps, const graft_policy_rule *rule,
                          graft_policy_progress *progress, double *rewards) {
  return guarded([&] {
    moving(progress,
           [&](graft_policy_progress &p) { policy_of(policy).ascend(steps, *rule, p, rewards); });
  });
}
