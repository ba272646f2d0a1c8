// A policy that learns from a tree of states: its probabilities, the exact gradient of its
// objective, and the loops that train it. It does not use LibTorch; inputs and outputs are
// float64 whatever type it computes in.
//
// The policy reads a network as tokens. Each has a fixed embedding; a bidirectional recurrent
// layer and a second one read the sequence; the time and the last output of the second go
// through three linear layers.
#pragma once

#include <cstdint>
#include <memory>

#include "../graft.h"

namespace graft {

using PolicyShape = graft_policy_shape;
using PolicyRule = graft_policy_rule;
using PolicyProgress = graft_policy_progress;

// PolicyTree holds the states and the successors of actions. Episodes begin in state 0. A
// child that is not negative is a state, after its parent in the list; -1 - k is the end with
// reward k.
struct PolicyTree {
  int64_t states, leaves;
  const int32_t *tokens;    // of all states, one after the other
  const int64_t *offsets;   // states + 1 of them
  const double *time;       // rows of shape.time values
  const int32_t *children;  // rows of shape.actions
  const double *rewards;
  // The number of random numbers that each action skips, or null: the original's surgery
  // drew weights for its new layers before it set them.
  const int32_t *skips;
};

// PolicyRandom is the random stream of actions.
class PolicyRandom {
 public:
  virtual ~PolicyRandom() = default;
  virtual double uniform() = 0;  // in [0, 1)
  virtual void skip(int64_t numbers) = 0;
};

// The state of MT19937 after all 624 numbers of this one (Matsumoto and Nishimura 1998).
constexpr int kMersenneNumbers = 624;
void mersenne_next(uint32_t *state);

class Policy {
 public:
  virtual ~Policy() = default;
  virtual int64_t parameters() const = 0;
  // Values in PyTorch's order and layout.
  virtual void read(int what, double *out) const = 0;
  virtual void write(int what, const double *values) = 0;
  virtual void grow(const PolicyTree &tree) = 0;
  virtual void probabilities(int64_t n, const int32_t *states, double temperature, double *out) = 0;
  // The gradient of the sum of coefficients * log probabilities, kept for step().
  virtual void gradient(int64_t n, const int32_t *states, double temperature, const double *coefficients) = 0;
  // Returns the expected reward and computes the expectation of an episode's gradient:
  // minus the reward for each decision, minus the entropy. Writes the probability of each
  // end to leaves, which may be null.
  virtual double expect(double temperature, double entropy, double *leaves) = 0;
  // One step of Adam down the gradient.
  virtual void step(const PolicyRule &rule, PolicyProgress &progress) = 0;
  // Plays episodes and learns from them (Williams 1992). Writes the end and the objective of
  // each to leaves and objectives.
  virtual void learn(int64_t episodes, PolicyRandom &random, const PolicyRule &rule, PolicyProgress &progress,
                     int32_t *leaves, double *objectives) = 0;
  // Takes steps along the exact gradient; writes the expected reward before each to
  // rewards.
  virtual void ascend(int64_t steps, const PolicyRule &rule, PolicyProgress &progress, double *rewards) = 0;
};

// Wrong sizes are std::invalid_argument, here and in all that Policy does.
std::unique_ptr<Policy> new_policy(const PolicyShape &shape, const double *embedding);

}  // namespace graft
