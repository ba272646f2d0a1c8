// The network of a policy, its tree and the results of a step.
// Sequences that begin alike share the cells of one direction, those that end alike
// the cells of the other: each distinct beginning and each distinct end is computed
// once for a step. How numbers are multiplied is in policy_kernels.cc.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "policy.h"
#include "policy_kernels.h"

namespace graft {

inline void require(bool holds, const std::string &text) {
  if (!holds) throw std::invalid_argument(text);
}

// Buffer is zeroed memory aligned to a cache line.
template <typename T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(int64_t n) { reset(n); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() { std::free(data_); }

  void reset(int64_t n) {
    std::free(data_);
    const size_t bytes = (static_cast<size_t>(n) * sizeof(T) + kLine - 1) / kLine * kLine;
    data_ = static_cast<T *>(std::aligned_alloc(kLine, std::max<size_t>(bytes, kLine)));
    if (data_ == nullptr) throw std::bad_alloc();
    std::fill_n(data_, n, T(0));
  }
  operator T *() { return data_; }
  operator const T *() const { return data_; }

 private:
  T *data_ = nullptr;
};

// Matrix locates one of PyTorch's parameters [out, in], or a bias with in = 1, in the flat
// vector: as in rows of out values.
struct Matrix {
  int64_t in, out, stride, offset;
};

// The parameters in PyTorch's order. Those of a recurrent layer follow each other.
enum { kInput, kRecurrent, kInputBias, kRecurrentBias, kPerLayer };
enum { kForward, kReverse = kPerLayer, kMemory = 2 * kPerLayer, kLinear = 3 * kPerLayer, kMatrices = kLinear + 6 };

// Node is a distinct beginning, or a distinct end, of sequences.
struct Node {
  int32_t token, parent, depth;
};

// Step lists cells that are computed together, their tokens and their predecessors.
struct Step {
  std::vector<int32_t> cell, before, token;

  void clear() {
    cell.clear();
    before.clear();
    token.clear();
  }
  int64_t size() const { return static_cast<int64_t>(cell.size()); }
};

// Layer holds the cells of a recurrent layer with their gradients.
template <typename T>
struct Layer {
  Cells<T> cells;
  Buffer<T> constants, gates, state, shaped, out, gate_grad, out_grad, state_grad, bias;

  void prepare(int64_t units, int64_t rows) {
    const int64_t g = padded<T>(4 * units), u = padded<T>(units);
    constants.reset(3 * g);
    for (int64_t k = 0; k < g; k++) {
      const bool straight = k / units == 2;
      constants[k] = constants[g + k] = T(straight ? 1 : 0.5);
      constants[2 * g + k] = T(straight ? 0 : 0.5);
    }
    for (Buffer<T> *b : {&gates, &gate_grad}) b->reset(rows * g);
    for (Buffer<T> *b : {&state, &shaped, &out, &out_grad, &state_grad}) b->reset(rows * u);
    bias.reset(g);
    T *const k = constants;
    cells = {units, g, u, gates, state, shaped, out, gate_grad, out_grad, state_grad, k, k + g, k + 2 * g};
  }
};

// Direction is one of the two that sequences are read in.
template <typename T>
struct Direction {
  Layer<T> layer;
  int first;                 // of its parameters
  std::vector<Node> nodes;   // of all sequences
  std::vector<int32_t> slot;  // of each node among the cells of this step, or -1
  std::vector<int32_t> used;  // nodes by slot
  std::vector<Step> steps;    // by depth
  std::vector<int64_t> done;  // of each step
  Buffer<T> inputs;           // to the gates, by token
  Buffer<T> projected, projected_grad;  // to and from the second layer's gates, by slot
  Buffer<T> token_grad;       // of the gates, by token

  int32_t size() const { return static_cast<int32_t>(used.size()); }
};

// Sequence lists the nodes of tokens in both directions.
struct Sequence {
  std::vector<int32_t> nodes[2];
  int32_t slot = -1;  // among those of this step
  int32_t base;       // its first cell of the second layer

  int32_t length() const { return static_cast<int32_t>(nodes[0].size()); }
};

template <typename T>
class Net final : public Policy {
 public:
  Net(const PolicyShape &shape, const double *embedding, const PolicyKernels<T> &kernels);
  int64_t parameters() const override { return count_; }
  void read(int what, double *out) const override;
  void write(int what, const double *values) override;
  void grow(const PolicyTree &tree) override;
  void probabilities(int64_t n, const int32_t *states, double temperature, double *out) override;
  void gradient(int64_t n, const int32_t *states, double temperature, const double *coefficients) override;
  double expect(double temperature, double entropy, double *leaves) override;
  void step(const PolicyRule &rule, PolicyProgress &progress) override;
  void learn(int64_t episodes, PolicyRandom &random, const PolicyRule &rule, PolicyProgress &progress,
             int32_t *leaves, double *objectives) override;
  void ascend(int64_t steps, const PolicyRule &rule, PolicyProgress &progress, double *rewards) override;

 private:
  void lay_out();
  int32_t node_of(int direction, std::map<std::pair<int32_t, int32_t>, int32_t> &known, int32_t token, int32_t parent);
  int32_t sequence_of(const int32_t *tokens, int64_t length);
  void allocate();
  void check_states(int64_t n, const int32_t *states) const;

  void begin();
  void evaluate(int64_t n, const int32_t *states);
  void activate(Sequence &q);
  void read_sequences(Direction<T> &d);
  void project(Direction<T> &d, int32_t from);
  void run_memory(const std::vector<int32_t> &fresh);
  void run_head(int32_t from);
  void backward();
  void backward_decision(int64_t n);
  void backward_memory();
  void backward_direction(Direction<T> &d);
  void gate_gradients(int first, int64_t n, Rows<const T> out, Rows<const T> gates, const T *sums);

  void policy(int32_t slot, double temperature);
  void add_log(int32_t slot, const T *coefficients, double temperature);
  void add_entropy(int32_t slot, double weight, double temperature);
  void chain(int32_t slot, double temperature);
  std::vector<double> reach(double temperature, double *leaves);
  double play(PolicyRandom &random, const PolicyRule &rule, PolicyProgress &progress, int32_t *leaf);
  void cool(const PolicyRule &rule, PolicyProgress &progress);
  int32_t choose(int32_t slot, double drawn) const;

  T *at(int k) { return values_ + matrix_[k].offset; }
  T *grad(int k) { return gradient_ + matrix_[k].offset; }

  const PolicyShape shape_;
  const PolicyKernels<T> &kernels_;
  Matrix matrix_[kMatrices];
  int64_t count_ = 0, flat_ = 0;  // parameters; with padding
  Buffer<T> embedding_, values_, gradient_, first_, second_, zeros_;

  // The tree.
  std::vector<Sequence> sequences_;
  std::vector<int32_t> tokens_;      // that occur
  std::vector<int32_t> sequence_;    // of each state
  std::vector<int32_t> children_, skips_;
  std::vector<double> rewards_;
  Buffer<T> time_;
  int64_t depth_ = 0;  // decisions up to every end
  int64_t longest_ = 0;
  std::map<std::pair<int32_t, int32_t>, int32_t> known_[2];
  std::map<std::vector<int32_t>, int32_t> known_sequences_;

  // Results of this step.
  Direction<T> directions_[2];
  Layer<T> memory_;
  int32_t memory_rows_ = 0;
  std::vector<int32_t> active_;        // sequences by slot
  std::vector<int32_t> state_slot_;    // of each state, or -1
  std::vector<int32_t> active_state_;  // by slot
  Buffer<T> input_, one_, two_, logits_, input_grad_, one_grad_, two_grad_;
  Buffer<T> probabilities_, tempered_, log_grad_;  // probabilities before and after the temperature; the gradient of these
  Buffer<T> logit_grad_, spare_;
  std::vector<int32_t> path_;
};

}  // namespace graft
