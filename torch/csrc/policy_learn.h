// The interface of a policy: probabilities, gradients, and the loops that train it.
#pragma once

#include "policy_net.h"

namespace graft {

template <typename T>
void Net<T>::probabilities(int64_t n, const int32_t *states, double temperature, double *out) {
  check_states(n, states);
  begin();
  evaluate(n, states);
  for (int64_t k = 0; k < n; k++) {
    policy(static_cast<int32_t>(k), temperature);
    std::copy_n(tempered_ + k * padded<T>(shape_.actions), shape_.actions, out + k * shape_.actions);
  }
}

template <typename T>
void Net<T>::gradient(int64_t n, const int32_t *states, double temperature, const double *coefficients) {
  check_states(n, states);
  begin();
  evaluate(n, states);
  std::vector<T> c(shape_.actions);
  for (int64_t k = 0; k < n; k++) {
    std::copy_n(coefficients + k * shape_.actions, shape_.actions, c.begin());
    policy(static_cast<int32_t>(k), temperature);
    add_log(static_cast<int32_t>(k), c.data(), temperature);
    chain(static_cast<int32_t>(k), temperature);
  }
  backward();
}

// reach computes the probability of each state and each end.
template <typename T>
std::vector<double> Net<T>::reach(double temperature, double *leaves) {
  const int64_t n = static_cast<int64_t>(sequence_.size()), actions = shape_.actions, act = padded<T>(actions);
  std::vector<double> met(n, 0.0);
  met[0] = 1;
  if (leaves != nullptr) std::fill_n(leaves, rewards_.size(), 0.0);
  for (int64_t s = 0; s < n; s++) {
    policy(static_cast<int32_t>(s), temperature);
    for (int64_t a = 0; a < actions; a++) {
      const int32_t child = children_[s * actions + a];
      const double p = met[s] * tempered_[s * act + a];
      if (child >= 0) {
        met[child] += p;
      } else if (leaves != nullptr) {
        leaves[-1 - child] += p;
      }
    }
  }
  return met;
}

template <typename T>
double Net<T>::expect(double temperature, double entropy, double *leaves) {
  const int64_t n = static_cast<int64_t>(sequence_.size()), actions = shape_.actions, act = padded<T>(actions);
  require(n > 0, "the policy has no states yet");
  std::vector<int32_t> all(n);
  for (int64_t k = 0; k < n; k++) all[k] = static_cast<int32_t>(k);
  begin();
  evaluate(n, all.data());  // slots are states
  const std::vector<double> met = reach(temperature, leaves);
  std::vector<double> value(n, 0.0), worth(actions);
  std::vector<T> c(actions);
  for (int64_t s = n; s-- > 0;) {
    const T *h = tempered_ + s * act;
    double sum = 0;
    for (int64_t a = 0; a < actions; a++) {
      const int32_t child = children_[s * actions + a];
      worth[a] = child >= 0 ? value[child] : rewards_[-1 - child];
      sum += h[a];
    }
    for (int64_t a = 0; a < actions; a++) value[s] += h[a] / sum * worth[a];
    for (int64_t a = 0; a < actions; a++) c[a] = static_cast<T>(-met[s] / depth_ * h[a] * (worth[a] - value[s]));
    const int32_t slot = static_cast<int32_t>(s);
    add_log(slot, c.data(), temperature);
    if (entropy != 0) add_entropy(slot, -entropy * met[s] / depth_, temperature);
    chain(slot, temperature);
  }
  backward();
  return value[0];
}

template <typename T>
void Net<T>::step(const PolicyRule &rule, PolicyProgress &progress) {
  const double taken = static_cast<double>(++progress.steps);
  AdamStep<T> a;
  a.beta1 = static_cast<T>(rule.beta1);
  a.beta2 = static_cast<T>(rule.beta2);
  a.step = static_cast<T>(progress.lr / (1 - std::pow(rule.beta1, taken)));
  a.root_correction = static_cast<T>(std::sqrt(1 - std::pow(rule.beta2, taken)));
  a.eps = static_cast<T>(rule.eps);
  kernels_.adam(flat_, values_, gradient_, first_, second_, a);
}

// cool counts an episode and lets the rate and the temperature fall.
template <typename T>
void Net<T>::cool(const PolicyRule &rule, PolicyProgress &progress) {
  progress.episodes++;
  if (progress.episodes % rule.lr_every == 0 && progress.lr >= rule.lr_least) progress.lr *= rule.lr_decay;
  if (progress.episodes % rule.heat_every == 0 && progress.temperature > 1) {
    progress.temperature = std::max(progress.temperature * rule.heat_decay, 1.0);
  }
}

inline void check_rule(const PolicyRule &rule) {
  require(rule.lr_every >= 1 && rule.heat_every >= 1, "decays every " + std::to_string(rule.lr_every) + " and every " +
                                                          std::to_string(rule.heat_every) + " episodes");
  require(rule.batch >= 1, "batches of " + std::to_string(rule.batch) + " episodes");
}

// choose finds the action whose share of [0, 1) contains the drawn number, with sums in the
// order and precision of LibTorch 1.13's multinomial.
template <typename T>
int32_t Net<T>::choose(int32_t slot, double drawn) const {
  const T *h = tempered_ + slot * padded<T>(shape_.actions);
  T whole = 0, sum = 0;
  for (int64_t a = 0; a < shape_.actions; a++) whole += h[a];
  std::vector<T> sums(shape_.actions);
  for (int64_t a = 0; a < shape_.actions; a++) sums[a] = sum += h[a] / whole;
  int64_t left = 0, right = shape_.actions - 1;  // the last one's sum counts as 1
  while (left < right) {
    const int64_t middle = left + (right - left) / 2;
    if (static_cast<double>(sums[middle] / sum) < drawn) {
      left = middle + 1;
    } else {
      right = middle;
    }
  }
  return static_cast<int32_t>(left);
}

// play plays one episode and adds to the gradients of its states' logits.
template <typename T>
double Net<T>::play(PolicyRandom &random, const PolicyRule &rule, PolicyProgress &progress, int32_t *leaf) {
  const int64_t act = padded<T>(shape_.actions);
  double logs = 0;
  int32_t state = 0;
  path_.clear();
  while (state >= 0) {
    evaluate(1, &state);
    const int32_t slot = state_slot_[state];
    policy(slot, progress.temperature);
    const int32_t action = choose(slot, random.uniform());
    path_.push_back(slot);
    path_.push_back(action);
    if (!skips_.empty()) random.skip(skips_[state * shape_.actions + action]);
    state = children_[state * shape_.actions + action];
  }
  *leaf = -1 - state;
  const double reward = rewards_[*leaf];
  const double advantage = rule.baseline > 0 && progress.based ? reward - progress.baseline : reward;
  constexpr double edge = std::numeric_limits<T>::epsilon();  // PyTorch's Categorical bounds probabilities by it
  std::vector<T> c(shape_.actions);
  for (size_t k = 0; k < path_.size(); k += 2) {
    const int32_t slot = path_[k], action = path_[k + 1];
    const T p = tempered_[slot * act + action];
    const double weight = 1.0 / static_cast<double>(depth_ * rule.batch);
    logs += std::log(std::min<T>(std::max<T>(p, T(edge)), T(1) - T(edge)));
    std::fill(c.begin(), c.end(), T(0));
    c[action] = p < T(edge) || p > T(1) - T(edge) ? T(0) : static_cast<T>(-advantage * weight);
    add_log(slot, c.data(), progress.temperature);
    if (rule.entropy != 0) add_entropy(slot, -rule.entropy * weight, progress.temperature);
  }
  if (rule.baseline > 0) {
    progress.baseline = progress.based ? progress.baseline + rule.baseline * (reward - progress.baseline) : reward;
    progress.based = 1;
  }
  return -logs * advantage / static_cast<double>(depth_);
}

template <typename T>
void Net<T>::learn(int64_t episodes, PolicyRandom &random, const PolicyRule &rule, PolicyProgress &progress,
                   int32_t *leaves, double *objectives) {
  require(!sequence_.empty(), "the policy has no states yet");
  check_rule(rule);
  require(episodes >= 0 && episodes % rule.batch == 0, std::to_string(episodes) + " episodes in batches of " + std::to_string(rule.batch));
  for (int64_t e = 0; e < episodes; e += rule.batch) {
    begin();
    for (int64_t b = e; b < e + rule.batch; b++) objectives[b] = play(random, rule, progress, leaves + b);
    for (size_t k = 0; k < active_state_.size(); k++) chain(static_cast<int32_t>(k), progress.temperature);
    backward();
    step(rule, progress);
    for (int64_t b = 0; b < rule.batch; b++) cool(rule, progress);
  }
}

template <typename T>
void Net<T>::ascend(int64_t steps, const PolicyRule &rule, PolicyProgress &progress, double *rewards) {
  check_rule(rule);
  for (int64_t k = 0; k < steps; k++) {
    rewards[k] = expect(progress.temperature, rule.entropy, nullptr);
    step(rule, progress);
    cool(rule, progress);
  }
}

}  // namespace graft
