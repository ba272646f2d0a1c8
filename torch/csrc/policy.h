// A policy that learns from a tree of states: which probabilities it gives, the
// exact gradient of what it is trained for, and the loops that train it. Free of
// LibTorch; numbers go in and out as float64 whatever it computes in.
//
// The policy reads a network as tokens. Each has a fixed embedding; a recurrent
// layer of two directions and one more read the sequence; what the latter says at
// the end goes, behind the time, through three linear layers.
#pragma once

#include <cstdint>
#include <memory>

namespace graft {

struct PolicyShape {
  int64_t tokens, embedding;  // how many there are, and the values of each
  int64_t hidden;             // units of each direction
  int64_t memory;             // units of the second recurrent layer
  int64_t linear;             // values between the linear layers
  int64_t time, actions;
};

// PolicyTree is the states and how actions lead from one to the next. State 0 is
// where all begins. A child that is not negative is a state, which comes after its
// parent in the list; -1 - k is the end with reward k.
struct PolicyTree {
  int64_t states, leaves;
  const int32_t *tokens;    // of all states, one after the other
  const int64_t *offsets;   // states + 1 of them
  const double *time;       // rows of shape.time values
  const int32_t *children;  // rows of shape.actions
  const double *rewards;
  // How many numbers of the random stream each action throws away, or null: the
  // original's surgery drew first weights for its new layers, and then set them.
  const int32_t *waste;
};

// PolicyRandom is what actions are drawn from.
class PolicyRandom {
 public:
  virtual ~PolicyRandom() = default;
  virtual double uniform() = 0;  // in [0, 1)
  virtual void skip(int64_t numbers) = 0;
};

// PolicyRule says how a policy is trained.
struct PolicyRule {
  double lr_decay, lr_least;  // each lr_every episodes, while the rate is at least lr_least
  double heat_decay;          // of the temperature, each heat_every episodes, down to 1
  double baseline;            // share of a new reward in the mean that is taken off; 0 takes none off
  double entropy;             // its weight beside the reward
  double beta1, beta2, eps;
  int64_t lr_every, heat_every;
  int64_t batch;  // episodes for each step
};

// PolicyProgress is where training stands, beside the parameters and moments.
struct PolicyProgress {
  int64_t episodes, steps;
  int64_t based;  // whether there is a baseline yet
  double lr, temperature, baseline;
};

// The state of MT19937 after all 624 numbers of this one (Matsumoto and Nishimura 1998).
constexpr int kMersenneNumbers = 624;
void mersenne_next(uint32_t *state);

enum { kPolicyParameters, kPolicyFirst, kPolicySecond, kPolicyGradient };

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
  // The expected reward, and the gradient of what an episode descends on average:
  // minus the reward for each decision, minus the entropy. The probability of each
  // end goes into leaves, which may be null.
  virtual double expect(double temperature, double entropy, double *leaves) = 0;
  // One step of Adam down the gradient.
  virtual void step(const PolicyRule &rule, PolicyProgress &progress) = 0;
  // Plays episodes and learns from them (Williams 1992). The end and the objective
  // of each go into leaves and objectives.
  virtual void learn(int64_t episodes, PolicyRandom &random, const PolicyRule &rule, PolicyProgress &progress,
                     int32_t *leaves, double *objectives) = 0;
  // Takes steps along the exact gradient; the expected reward before each goes
  // into rewards.
  virtual void ascend(int64_t steps, const PolicyRule &rule, PolicyProgress &progress, double *rewards) = 0;
};

// A policy in float32, or precise in float64, with a set of instructions; 0 is the
// widest. Wrong sizes are std::invalid_argument, here and in all that Policy does.
std::unique_ptr<Policy> new_policy(const PolicyShape &shape, const double *embedding, bool precise, int set);

}  // namespace graft
