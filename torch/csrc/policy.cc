// See policy.h. Sequences that begin alike share the cells of one direction, those
// that end alike the cells of the other: each distinct beginning and each distinct
// end is computed once for a step. What is multiplied and how is in policy_kernels.cc.
#include "policy.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "policy_kernels.h"

namespace graft {

extern const PolicyKernels<float> policy_single_base;
extern const PolicyKernels<double> policy_double_base;
#if defined(__x86_64__)
extern const PolicyKernels<float> policy_single_avx2, policy_single_avx512;
extern const PolicyKernels<double> policy_double_avx2, policy_double_avx512;
#endif

namespace {

// One of a table's three, or the widest that this processor can run.
template <typename Table>
const Table *choose(int set, const Table *base, const Table *avx2, const Table *avx512) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool has512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  const bool has2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  const bool has512 = false, has2 = false;
#endif
  switch (set) {
    case kWidest: return has512 ? avx512 : has2 ? avx2 : base;
    case kBase: return base;
    case kAVX2: return has2 ? avx2 : nullptr;
    case kAVX512: return has512 ? avx512 : nullptr;
  }
  return nullptr;
}

void require(bool holds, const std::string &text) {
  if (!holds) throw std::invalid_argument(text);
}

}  // namespace

#if defined(__x86_64__)
#define GRAFT_POLICY_SETS(kind) &policy_##kind##_base, &policy_##kind##_avx2, &policy_##kind##_avx512
#else
#define GRAFT_POLICY_SETS(kind) &policy_##kind##_base, &policy_##kind##_base, &policy_##kind##_base
#endif

template <>
const PolicyKernels<float> *policy_kernels<float>(int set) {
  return choose(set, GRAFT_POLICY_SETS(single));
}
template <>
const PolicyKernels<double> *policy_kernels<double>(int set) {
  return choose(set, GRAFT_POLICY_SETS(double));
}

namespace {

// Buffer is zeros that begin at a cache line.
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

// Matrix is where one of PyTorch's parameters [out, in], or a bias with in = 1,
// lies in the flat vector: as in rows of out values.
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

// Step is cells that are computed together, their tokens and the cells before them.
struct Step {
  std::vector<int32_t> cell, before, token;

  void clear() {
    cell.clear();
    before.clear();
    token.clear();
  }
  int64_t size() const { return static_cast<int64_t>(cell.size()); }
};

// Layer is the cells of a recurrent layer with their gradients.
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
  Buffer<T> said, said_grad;  // to and from the second layer's gates, by slot
  Buffer<T> token_grad;       // of the gates, by token

  int32_t size() const { return static_cast<int32_t>(used.size()); }
};

// Sequence is tokens by the nodes that they are of both directions.
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
  int32_t activate(Sequence &q);
  void read_sequences(Direction<T> &d);
  void say(Direction<T> &d, int32_t from);
  void remember(const std::vector<int32_t> &fresh);
  void decide(int32_t from);
  void backward();
  void backward_decision(int64_t n);
  void backward_memory();
  void backward_direction(Direction<T> &d);
  void gate_gradients(int first, int64_t n, Rows<const T> out, Rows<const T> gates, const T *sums);

  void policy(int32_t slot, double temperature);
  void add_log(int32_t slot, const T *coefficients, double temperature);
  void add_entropy(int32_t slot, double weight, double temperature);
  void chain(int32_t slot, double temperature);
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
  std::vector<int32_t> children_, waste_;
  std::vector<double> rewards_;
  Buffer<T> time_;
  int64_t depth_ = 0;  // decisions up to every end
  int64_t longest_ = 0;
  std::map<std::pair<int32_t, int32_t>, int32_t> known_[2];
  std::map<std::vector<int32_t>, int32_t> known_sequences_;

  // What this step has computed.
  Direction<T> directions_[2];
  Layer<T> memory_;
  int32_t memory_rows_ = 0;
  std::vector<int32_t> active_;        // sequences by slot
  std::vector<int32_t> state_slot_;    // of each state, or -1
  std::vector<int32_t> active_state_;  // by slot
  Buffer<T> input_, one_, two_, logits_, input_grad_, one_grad_, two_grad_;
  Buffer<T> chances_, heated_, log_grad_;  // probabilities before and after the temperature; the gradient of these
  Buffer<T> logit_grad_, spare_;
  std::vector<int32_t> path_;
};

template <typename T>
Net<T>::Net(const PolicyShape &shape, const double *embedding, const PolicyKernels<T> &kernels)
    : shape_(shape), kernels_(kernels) {
  const struct {
    const char *name;
    int64_t value, most;
  } sizes[] = {{"tokens", shape.tokens, 1 << 20}, {"embedding", shape.embedding, 1 << 12}, {"hidden", shape.hidden, 1 << 10},
               {"memory", shape.memory, 1 << 10}, {"linear", shape.linear, 1 << 14},       {"time", shape.time, 1 << 10},
               {"actions", shape.actions, 1 << 10}};
  for (const auto &s : sizes) {
    require(s.value >= 1 && s.value <= s.most, std::string("a policy with ") + s.name + " of " + std::to_string(s.value) +
                                                   "; it lies between 1 and " + std::to_string(s.most));
  }
  lay_out();
  const int64_t width = padded<T>(shape.embedding);
  embedding_.reset(shape.tokens * width);
  for (int64_t k = 0; k < shape.tokens * shape.embedding; k++) {
    embedding_[k / shape.embedding * width + k % shape.embedding] = static_cast<T>(embedding[k]);
  }
  for (Buffer<T> *b : {&values_, &gradient_, &first_, &second_}) b->reset(flat_);
  zeros_.reset(padded<T>(std::max({4 * shape.hidden, 4 * shape.memory, shape.linear, shape.actions})));
}

template <typename T>
void Net<T>::lay_out() {
  int k = 0;
  auto put = [&](int64_t out, int64_t in) {
    matrix_[k++] = {in, out, padded<T>(out), flat_};
    count_ += in * out;
    flat_ += in * padded<T>(out);
  };
  auto recurrent = [&](int64_t in, int64_t units) {
    put(4 * units, in);
    put(4 * units, units);
    put(4 * units, 1);
    put(4 * units, 1);
  };
  auto linear = [&](int64_t in, int64_t out) {
    put(out, in);
    put(out, 1);
  };
  recurrent(shape_.embedding, shape_.hidden);
  recurrent(shape_.embedding, shape_.hidden);
  recurrent(2 * shape_.hidden, shape_.memory);
  linear(shape_.time + shape_.memory, shape_.linear);
  linear(shape_.linear, shape_.linear);
  linear(shape_.linear, shape_.actions);
}

template <typename T>
void Net<T>::read(int what, double *out) const {
  const Buffer<T> *const of[] = {&values_, &first_, &second_, &gradient_};
  const T *from = *of[what];
  for (const Matrix &m : matrix_) {
    for (int64_t r = 0; r < m.out; r++) {
      for (int64_t c = 0; c < m.in; c++) *out++ = from[m.offset + c * m.stride + r];
    }
  }
}

template <typename T>
void Net<T>::write(int what, const double *values) {
  Buffer<T> *const of[] = {&values_, &first_, &second_, &gradient_};
  T *to = *of[what];
  for (const Matrix &m : matrix_) {
    for (int64_t r = 0; r < m.out; r++) {
      for (int64_t c = 0; c < m.in; c++) to[m.offset + c * m.stride + r] = static_cast<T>(*values++);
    }
  }
}

// ---- the tree

template <typename T>
int32_t Net<T>::node_of(int direction, std::map<std::pair<int32_t, int32_t>, int32_t> &known, int32_t token,
                        int32_t parent) {
  auto &nodes = directions_[direction].nodes;
  const auto place = known.emplace(std::make_pair(parent, token), static_cast<int32_t>(nodes.size()));
  if (place.second) nodes.push_back({token, parent, parent < 0 ? 0 : nodes[parent].depth + 1});
  return place.first->second;
}

template <typename T>
int32_t Net<T>::sequence_of(const int32_t *tokens, int64_t length) {
  const auto place =
      known_sequences_.emplace(std::vector<int32_t>(tokens, tokens + length), static_cast<int32_t>(sequences_.size()));
  if (!place.second) return place.first->second;
  Sequence q;
  for (auto &nodes : q.nodes) nodes.resize(length);
  for (int64_t t = 0; t < length; t++) {
    q.nodes[0][t] = node_of(0, known_[0], tokens[t], t == 0 ? -1 : q.nodes[0][t - 1]);
    const int64_t s = length - 1 - t;
    q.nodes[1][s] = node_of(1, known_[1], tokens[s], t == 0 ? -1 : q.nodes[1][s + 1]);
  }
  sequences_.push_back(std::move(q));
  longest_ = std::max(longest_, length);
  return place.first->second;
}

template <typename T>
void Net<T>::grow(const PolicyTree &tree) {
  require(tree.states >= 1 && tree.states <= 1 << 24, "a tree of " + std::to_string(tree.states) + " states");
  require(tree.leaves >= 1 && tree.leaves <= 1 << 26, "a tree of " + std::to_string(tree.leaves) + " ends");
  std::vector<int64_t> depth(tree.states, -1);
  depth[0] = 1;
  int64_t ends = -1;
  for (int64_t s = 0; s < tree.states; s++) {
    const int64_t length = tree.offsets[s + 1] - tree.offsets[s];
    require(length >= 1, "state " + std::to_string(s) + " has no tokens");
    for (int64_t k = tree.offsets[s]; k < tree.offsets[s + 1]; k++) {
      require(tree.tokens[k] >= 0 && tree.tokens[k] < shape_.tokens, "state " + std::to_string(s) + " has the token " +
                                                                         std::to_string(tree.tokens[k]) + "; there are " +
                                                                         std::to_string(shape_.tokens));
    }
    require(depth[s] >= 0, "no action leads to state " + std::to_string(s));
    for (int64_t a = 0; a < shape_.actions; a++) {
      const int64_t child = tree.children[s * shape_.actions + a];
      require(child < tree.states && (child < 0 ? -1 - child < tree.leaves : child > s),
              "state " + std::to_string(s) + " leads to " + std::to_string(child));
      if (child >= 0) {
        require(depth[child] < 0 || depth[child] == depth[s] + 1, "state " + std::to_string(child) + " is at two depths");
        depth[child] = depth[s] + 1;
      } else {
        require(ends < 0 || ends == depth[s], "some ends come after " + std::to_string(ends) + " decisions, others after " +
                                                  std::to_string(depth[s]));
        ends = depth[s];
      }
    }
  }
  sequences_.clear();
  known_sequences_.clear();
  longest_ = 0;
  for (int k = 0; k < 2; k++) {
    known_[k].clear();
    directions_[k].nodes.clear();
    directions_[k].first = k == 0 ? kForward : kReverse;
  }
  depth_ = ends;
  sequence_.resize(tree.states);
  for (int64_t s = 0; s < tree.states; s++) {
    sequence_[s] = sequence_of(tree.tokens + tree.offsets[s], tree.offsets[s + 1] - tree.offsets[s]);
  }
  tokens_.assign(tree.tokens, tree.tokens + tree.offsets[tree.states]);
  std::sort(tokens_.begin(), tokens_.end());
  tokens_.erase(std::unique(tokens_.begin(), tokens_.end()), tokens_.end());
  children_.assign(tree.children, tree.children + tree.states * shape_.actions);
  waste_.clear();
  if (tree.waste != nullptr) waste_.assign(tree.waste, tree.waste + tree.states * shape_.actions);
  rewards_.assign(tree.rewards, tree.rewards + tree.leaves);
  allocate();
  for (int64_t k = 0; k < tree.states * shape_.time; k++) time_[k] = static_cast<T>(tree.time[k]);
}

template <typename T>
void Net<T>::allocate() {
  const int64_t states = static_cast<int64_t>(sequence_.size());
  const int64_t heads = padded<T>(4 * shape_.memory), act = padded<T>(shape_.actions), wide = padded<T>(shape_.linear);
  int64_t cells = 0;
  for (const Sequence &q : sequences_) cells += q.length();
  for (Direction<T> &d : directions_) {
    const int64_t rows = static_cast<int64_t>(d.nodes.size());
    d.layer.prepare(shape_.hidden, rows);
    d.slot.assign(rows, -1);
    d.used.clear();
    d.steps.assign(longest_, Step());
    d.done.assign(longest_, 0);
    d.inputs.reset(shape_.tokens * d.layer.cells.gate_stride);
    d.token_grad.reset(shape_.tokens * d.layer.cells.gate_stride);
    d.said.reset(rows * heads);
    d.said_grad.reset(rows * heads);
  }
  memory_.prepare(shape_.memory, cells);
  time_.reset(states * shape_.time);
  active_.clear();
  active_state_.clear();
  state_slot_.assign(states, -1);
  input_.reset(states * padded<T>(shape_.time + shape_.memory));
  for (Buffer<T> *b : {&one_, &two_, &one_grad_, &two_grad_}) b->reset(states * wide);
  input_grad_.reset(states * padded<T>(shape_.memory));
  for (Buffer<T> *b : {&logits_, &chances_, &heated_, &log_grad_, &logit_grad_}) b->reset(states * act);
  const int64_t rows = std::max<int64_t>(directions_[0].nodes.size(), directions_[1].nodes.size());
  spare_.reset(std::max(rows, static_cast<int64_t>(sequences_.size())) * padded<T>(std::max(shape_.hidden, shape_.memory)));
}

template <typename T>
void Net<T>::check_states(int64_t n, const int32_t *states) const {
  require(!sequence_.empty(), "the policy has no states yet");
  std::vector<bool> seen(sequence_.size(), false);
  for (int64_t k = 0; k < n; k++) {
    require(states[k] >= 0 && states[k] < static_cast<int64_t>(sequence_.size()),
            "state " + std::to_string(states[k]) + "; there are " + std::to_string(sequence_.size()));
    require(!seen[states[k]], "state " + std::to_string(states[k]) + " is named twice");
    seen[states[k]] = true;
  }
}

// ---- forward

// begin forgets what was computed: the parameters are others now.
template <typename T>
void Net<T>::begin() {
  for (Direction<T> &d : directions_) {
    for (int32_t node : d.used) d.slot[node] = -1;
    d.used.clear();
    for (Step &s : d.steps) s.clear();
    std::fill(d.done.begin(), d.done.end(), 0);
    const int64_t g = d.layer.cells.gate_stride;
    std::copy_n(at(d.first + kInputBias), g, static_cast<T *>(d.layer.bias));
    kernels_.add(g, at(d.first + kRecurrentBias), d.layer.bias);
    kernels_.product(static_cast<int64_t>(tokens_.size()), {embedding_, padded<T>(shape_.embedding), tokens_.data()},
                     shape_.embedding, at(d.first + kInput), g, {d.layer.bias, 0, nullptr}, {d.inputs, g, tokens_.data()});
  }
  std::copy_n(at(kMemory + kInputBias), memory_.cells.gate_stride, static_cast<T *>(memory_.bias));
  kernels_.add(memory_.cells.gate_stride, at(kMemory + kRecurrentBias), memory_.bias);
  for (int32_t q : active_) sequences_[q].slot = -1;
  active_.clear();
  for (int32_t s : active_state_) state_slot_[s] = -1;
  active_state_.clear();
  memory_rows_ = 0;
}

// activate lists the nodes of a sequence that are not computed yet.
template <typename T>
int32_t Net<T>::activate(Sequence &q) {
  const int32_t length = q.length();
  for (int k = 0; k < 2; k++) {
    Direction<T> &d = directions_[k];
    for (int32_t depth = 0; depth < length; depth++) {
      const int32_t node = q.nodes[k][k == 0 ? depth : length - 1 - depth];
      if (d.slot[node] >= 0) continue;
      const int32_t parent = d.nodes[node].parent;
      d.steps[depth].cell.push_back(d.size());
      d.steps[depth].before.push_back(parent < 0 ? -1 : d.slot[parent]);
      d.steps[depth].token.push_back(d.nodes[node].token);
      d.slot[node] = d.size();
      d.used.push_back(node);
    }
  }
  q.base = memory_rows_;
  memory_rows_ += length;
  return length;
}

// read_sequences computes the cells that are listed and not done.
template <typename T>
void Net<T>::read_sequences(Direction<T> &d) {
  const Cells<T> &c = d.layer.cells;
  for (size_t depth = 0; depth < d.steps.size(); depth++) {
    const Step &s = d.steps[depth];
    const int64_t from = d.done[depth], n = s.size() - from;
    if (n == 0) continue;
    kernels_.product(n, {c.out, c.unit_stride, depth == 0 ? nullptr : s.before.data() + from}, depth == 0 ? 0 : c.units,
                     at(d.first + kRecurrent), c.gate_stride, {d.inputs, c.gate_stride, s.token.data() + from},
                     {c.gates, c.gate_stride, s.cell.data() + from});
    kernels_.cell_forward(n, c, s.cell.data() + from, s.before.data() + from);
    d.done[depth] = s.size();
  }
}

// say multiplies what the cells from a slot on say by their share of the second
// layer's weights.
template <typename T>
void Net<T>::say(Direction<T> &d, int32_t from) {
  const Cells<T> &c = d.layer.cells;
  const int64_t g = memory_.cells.gate_stride;
  const bool forward = d.first == kForward;
  const T *init = forward ? memory_.bias : zeros_;
  kernels_.product(d.size() - from, {c.out + from * c.unit_stride, c.unit_stride, nullptr}, c.units,
                   at(kMemory + kInput) + (forward ? 0 : c.units * g), g, {init, 0, nullptr},
                   {d.said + from * g, g, nullptr});
}

// remember runs the second recurrent layer over sequences, all at once.
template <typename T>
void Net<T>::remember(const std::vector<int32_t> &fresh) {
  const Cells<T> &c = memory_.cells;
  Step s;
  for (int32_t t = 0;; t++) {
    s.clear();
    for (int32_t q : fresh) {
      const Sequence &sequence = sequences_[q];
      if (t >= sequence.length()) continue;
      const int32_t cell = sequence.base + t;
      T *gates = c.gates + cell * c.gate_stride;
      std::copy_n(directions_[0].said + directions_[0].slot[sequence.nodes[0][t]] * c.gate_stride, c.gate_stride, gates);
      kernels_.add(c.gate_stride, directions_[1].said + directions_[1].slot[sequence.nodes[1][t]] * c.gate_stride, gates);
      s.cell.push_back(cell);
      s.before.push_back(t == 0 ? -1 : cell - 1);
    }
    if (s.size() == 0) return;
    if (t > 0) {
      const Rows<T> gates{c.gates, c.gate_stride, s.cell.data()};
      kernels_.product(s.size(), {c.out, c.unit_stride, s.before.data()}, c.units, at(kMemory + kRecurrent), c.gate_stride,
                       {gates.data, gates.stride, gates.index}, gates);
    }
    kernels_.cell_forward(s.size(), c, s.cell.data(), s.before.data());
  }
}

// decide runs the linear layers over the states from a slot on.
template <typename T>
void Net<T>::decide(int32_t from) {
  const int64_t n = static_cast<int64_t>(active_state_.size()) - from, wide = padded<T>(shape_.linear),
                act = padded<T>(shape_.actions), in = padded<T>(shape_.time + shape_.memory);
  for (int64_t k = from; k < from + n; k++) {
    const int32_t state = active_state_[k];
    const Sequence &q = sequences_[sequence_[state]];
    std::copy_n(time_ + state * shape_.time, shape_.time, input_ + k * in);
    std::copy_n(memory_.cells.out + (q.base + q.length() - 1) * memory_.cells.unit_stride, shape_.memory,
                input_ + k * in + shape_.time);
  }
  kernels_.product(n, {input_ + from * in, in, nullptr}, shape_.time + shape_.memory, at(kLinear), wide,
                   {at(kLinear + 1), 0, nullptr}, {one_ + from * wide, wide, nullptr});
  kernels_.relu(n * wide, one_ + from * wide);
  kernels_.product(n, {one_ + from * wide, wide, nullptr}, shape_.linear, at(kLinear + 2), wide,
                   {at(kLinear + 3), 0, nullptr}, {two_ + from * wide, wide, nullptr});
  kernels_.relu(n * wide, two_ + from * wide);
  kernels_.product(n, {two_ + from * wide, wide, nullptr}, shape_.linear, at(kLinear + 4), act,
                   {at(kLinear + 5), 0, nullptr}, {logits_ + from * act, act, nullptr});
}

// evaluate computes the logits of states that have none yet in this step.
template <typename T>
void Net<T>::evaluate(int64_t n, const int32_t *states) {
  const int32_t from = static_cast<int32_t>(active_state_.size());
  const int32_t said[2] = {directions_[0].size(), directions_[1].size()};
  std::vector<int32_t> fresh;
  for (int64_t k = 0; k < n; k++) {
    if (state_slot_[states[k]] >= 0) continue;
    state_slot_[states[k]] = static_cast<int32_t>(active_state_.size());
    active_state_.push_back(states[k]);
    const int32_t q = sequence_[states[k]];
    if (sequences_[q].slot >= 0) continue;
    sequences_[q].slot = static_cast<int32_t>(active_.size());
    active_.push_back(q);
    fresh.push_back(q);
    activate(sequences_[q]);
  }
  for (int k = 0; k < 2; k++) {
    read_sequences(directions_[k]);
    say(directions_[k], said[k]);
  }
  remember(fresh);
  decide(from);
  std::fill_n(log_grad_ + from * padded<T>(shape_.actions),
              (active_state_.size() - from) * padded<T>(shape_.actions), T(0));
}

// policy is the probabilities of a state's actions: the softmax of the logits, and
// above a temperature of 1 the softmax of those divided by it, as the original has it.
template <typename T>
void Net<T>::policy(int32_t slot, double temperature) {
  const int64_t act = padded<T>(shape_.actions), n = shape_.actions;
  const T *z = logits_ + slot * act;
  T *p = chances_ + slot * act, *h = heated_ + slot * act;
  auto softmax = [n](const T *from, T divisor, T *to) {
    const T most = *std::max_element(from, from + n);
    T sum = 0;
    for (int64_t a = 0; a < n; a++) sum += to[a] = std::exp((from[a] - most) / divisor);
    for (int64_t a = 0; a < n; a++) to[a] /= sum;
  };
  softmax(z, 1, p);
  if (temperature > 1) {
    softmax(p, static_cast<T>(temperature), h);
  } else {
    std::copy_n(p, n, h);
  }
}

// ---- backward

// add_log adds the gradient of coefficients * log probabilities to log_grad_, which
// is that of the logits, or, above a temperature of 1, of the probabilities below it.
template <typename T>
void Net<T>::add_log(int32_t slot, const T *coefficients, double temperature) {
  const int64_t act = padded<T>(shape_.actions), n = shape_.actions;
  const T *h = heated_ + slot * act;
  T *to = log_grad_ + slot * act;
  T sum = 0;
  for (int64_t a = 0; a < n; a++) sum += coefficients[a];
  const T scale = temperature > 1 ? static_cast<T>(1 / temperature) : 1;
  for (int64_t a = 0; a < n; a++) to[a] += scale * (coefficients[a] - h[a] * sum);
}

// add_entropy adds the gradient of weight * entropy.
template <typename T>
void Net<T>::add_entropy(int32_t slot, double weight, double temperature) {
  const int64_t act = padded<T>(shape_.actions), n = shape_.actions;
  const T *h = heated_ + slot * act;
  T *to = log_grad_ + slot * act;
  T entropy = 0;
  for (int64_t a = 0; a < n; a++) entropy -= h[a] > 0 ? h[a] * std::log(h[a]) : T(0);
  const T scale = static_cast<T>(temperature > 1 ? weight / temperature : weight);
  for (int64_t a = 0; a < n; a++) to[a] -= h[a] > 0 ? scale * h[a] * (std::log(h[a]) + entropy) : T(0);
}

// chain goes on to the logits.
template <typename T>
void Net<T>::chain(int32_t slot, double temperature) {
  const int64_t act = padded<T>(shape_.actions), n = shape_.actions;
  const T *p = chances_ + slot * act, *from = log_grad_ + slot * act;
  T *to = logit_grad_ + slot * act;
  if (temperature <= 1) {
    std::copy_n(from, n, to);
    return;
  }
  T sum = 0;
  for (int64_t a = 0; a < n; a++) sum += p[a] * from[a];
  for (int64_t a = 0; a < n; a++) to[a] = p[a] * (from[a] - sum);
}

// gate_gradients are those of the recurrent weights and of both biases.
template <typename T>
void Net<T>::gate_gradients(int first, int64_t n, Rows<const T> out, Rows<const T> gates, const T *sums) {
  const int64_t g = matrix_[first + kRecurrent].stride;
  kernels_.outer(n, out, matrix_[first + kRecurrent].in, gates, g, grad(first + kRecurrent));
  std::copy_n(sums, g, grad(first + kInputBias));
  std::copy_n(sums, g, grad(first + kRecurrentBias));
}

// backward goes from the gradients of the active states' logits to all parameters.
template <typename T>
void Net<T>::backward() {
  backward_decision(static_cast<int64_t>(active_state_.size()));
  backward_memory();
  for (Direction<T> &d : directions_) backward_direction(d);
}

template <typename T>
void Net<T>::backward_decision(int64_t n) {
  const int64_t wide = padded<T>(shape_.linear), act = padded<T>(shape_.actions), u = memory_.cells.unit_stride;
  const Rows<const T> input{input_, padded<T>(shape_.time + shape_.memory), nullptr}, one{one_, wide, nullptr},
      two{two_, wide, nullptr}, dz{logit_grad_, act, nullptr}, d2{two_grad_, wide, nullptr}, d1{one_grad_, wide, nullptr};
  kernels_.outer(n, two, shape_.linear, dz, act, grad(kLinear + 4));
  kernels_.sum(n, dz, act, grad(kLinear + 5));
  kernels_.transposed(n, dz, act, at(kLinear + 4), shape_.linear, {two_grad_, wide, nullptr});
  kernels_.relu_backward(n * wide, two_, two_grad_);
  kernels_.outer(n, one, shape_.linear, d2, wide, grad(kLinear + 2));
  kernels_.sum(n, d2, wide, grad(kLinear + 3));
  kernels_.transposed(n, d2, wide, at(kLinear + 2), shape_.linear, {one_grad_, wide, nullptr});
  kernels_.relu_backward(n * wide, one_, one_grad_);
  kernels_.outer(n, input, shape_.time + shape_.memory, d1, wide, grad(kLinear));
  kernels_.sum(n, d1, wide, grad(kLinear + 1));
  kernels_.transposed(n, d1, wide, at(kLinear) + shape_.time * wide, shape_.memory, {input_grad_, u, nullptr});
  // States of one sequence hear of it from the same cell.
  const Cells<T> &c = memory_.cells;
  std::fill_n(c.out_grad, memory_rows_ * u, T(0));
  std::fill_n(c.state_grad, memory_rows_ * u, T(0));
  for (int64_t k = 0; k < n; k++) {
    const Sequence &q = sequences_[sequence_[active_state_[k]]];
    kernels_.add(u, input_grad_ + k * u, c.out_grad + (q.base + q.length() - 1) * u);
  }
}

template <typename T>
void Net<T>::backward_memory() {
  const Cells<T> &c = memory_.cells;
  Step s, behind;  // behind: all cells that have one before them
  for (int32_t back = 0;; back++) {
    s.clear();
    for (int32_t q : active_) {
      const int32_t t = sequences_[q].length() - 1 - back;
      if (t < 0) continue;
      s.cell.push_back(sequences_[q].base + t);
      s.before.push_back(t == 0 ? -1 : sequences_[q].base + t - 1);
    }
    if (s.size() == 0) break;
    kernels_.cell_backward(s.size(), c, s.cell.data(), s.before.data());
    Step inner;
    for (int64_t k = 0; k < s.size(); k++) {
      if (s.before[k] < 0) continue;
      behind.cell.push_back(s.cell[k]);
      behind.before.push_back(s.before[k]);
      inner.cell.push_back(s.cell[k]);
      inner.before.push_back(s.before[k]);
    }
    // No other cell lies before these, and only the last ones heard of anything.
    kernels_.transposed(inner.size(), {c.gate_grad, c.gate_stride, inner.cell.data()}, c.gate_stride,
                        at(kMemory + kRecurrent), c.units, {c.out_grad, c.unit_stride, inner.before.data()});
  }
  T *sums = memory_.bias;
  kernels_.sum(memory_rows_, {c.gate_grad, c.gate_stride, nullptr}, c.gate_stride, sums);
  gate_gradients(kMemory, behind.size(), {c.out, c.unit_stride, behind.before.data()},
                 {c.gate_grad, c.gate_stride, behind.cell.data()}, sums);
  for (int k = 0; k < 2; k++) {
    Direction<T> &d = directions_[k];
    std::fill_n(static_cast<T *>(d.said_grad), d.size() * c.gate_stride, T(0));
    for (int32_t q : active_) {
      const Sequence &sequence = sequences_[q];
      for (int32_t t = 0; t < sequence.length(); t++) {
        kernels_.add(c.gate_stride, c.gate_grad + (sequence.base + t) * c.gate_stride,
                     d.said_grad + d.slot[sequence.nodes[k][t]] * c.gate_stride);
      }
    }
  }
}

template <typename T>
void Net<T>::backward_direction(Direction<T> &d) {
  const Cells<T> &c = d.layer.cells;
  const int64_t heads = memory_.cells.gate_stride, part = d.first == kForward ? 0 : c.units * heads;
  const Rows<const T> said{d.said_grad, heads, nullptr};
  kernels_.outer(d.size(), {c.out, c.unit_stride, nullptr}, c.units, said, heads, grad(kMemory + kInput) + part);
  kernels_.transposed(d.size(), said, heads, at(kMemory + kInput) + part, c.units, {c.out_grad, c.unit_stride, nullptr});
  std::fill_n(c.state_grad, d.size() * c.unit_stride, T(0));
  for (int32_t token : tokens_) std::fill_n(d.token_grad + token * c.gate_stride, c.gate_stride, T(0));
  std::vector<int32_t> cell, before;
  for (size_t depth = d.steps.size(); depth-- > 0;) {
    const Step &s = d.steps[depth];
    if (s.size() == 0) continue;
    kernels_.cell_backward(s.size(), c, s.cell.data(), s.before.data());
    for (int64_t k = 0; k < s.size(); k++) {
      kernels_.add(c.gate_stride, c.gate_grad + s.cell[k] * c.gate_stride, d.token_grad + s.token[k] * c.gate_stride);
    }
    if (depth == 0) continue;
    kernels_.transposed(s.size(), {c.gate_grad, c.gate_stride, s.cell.data()}, c.gate_stride, at(d.first + kRecurrent),
                        c.units, {spare_, c.unit_stride, nullptr});
    for (int64_t k = 0; k < s.size(); k++) {
      kernels_.add(c.unit_stride, spare_ + k * c.unit_stride, c.out_grad + s.before[k] * c.unit_stride);
    }
    cell.insert(cell.end(), s.cell.begin(), s.cell.end());
    before.insert(before.end(), s.before.begin(), s.before.end());
  }
  const Rows<const T> by_token{d.token_grad, c.gate_stride, tokens_.data()};
  const int64_t tokens = static_cast<int64_t>(tokens_.size());
  kernels_.outer(tokens, {embedding_, padded<T>(shape_.embedding), tokens_.data()}, shape_.embedding, by_token,
                 c.gate_stride, grad(d.first + kInput));
  kernels_.sum(tokens, by_token, c.gate_stride, d.layer.bias);
  gate_gradients(d.first, static_cast<int64_t>(cell.size()), {c.out, c.unit_stride, before.data()},
                 {c.gate_grad, c.gate_stride, cell.data()}, d.layer.bias);
}

// ---- what is asked of a policy

template <typename T>
void Net<T>::probabilities(int64_t n, const int32_t *states, double temperature, double *out) {
  check_states(n, states);
  begin();
  evaluate(n, states);
  for (int64_t k = 0; k < n; k++) {
    policy(static_cast<int32_t>(k), temperature);
    std::copy_n(heated_ + k * padded<T>(shape_.actions), shape_.actions, out + k * shape_.actions);
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

template <typename T>
double Net<T>::expect(double temperature, double entropy, double *leaves) {
  const int64_t n = static_cast<int64_t>(sequence_.size()), actions = shape_.actions, act = padded<T>(actions);
  require(n > 0, "the policy has no states yet");
  std::vector<int32_t> all(n);
  for (int64_t k = 0; k < n; k++) all[k] = static_cast<int32_t>(k);
  begin();
  evaluate(n, all.data());  // slots are states
  std::vector<double> reach(n, 0.0), value(n, 0.0);
  reach[0] = 1;
  if (leaves != nullptr) std::fill_n(leaves, rewards_.size(), 0.0);
  for (int64_t s = 0; s < n; s++) {
    policy(static_cast<int32_t>(s), temperature);
    for (int64_t a = 0; a < actions; a++) {
      const int32_t child = children_[s * actions + a];
      const double p = reach[s] * heated_[s * act + a];
      if (child >= 0) {
        reach[child] += p;
      } else if (leaves != nullptr) {
        leaves[-1 - child] += p;
      }
    }
  }
  std::vector<T> c(actions);
  for (int64_t s = n; s-- > 0;) {
    const int32_t slot = static_cast<int32_t>(s);
    auto worth = [&](int64_t a) {
      const int32_t child = children_[s * actions + a];
      return child >= 0 ? value[child] : rewards_[-1 - child];
    };
    double sum = 0;
    for (int64_t a = 0; a < actions; a++) sum += heated_[s * act + a];
    for (int64_t a = 0; a < actions; a++) value[s] += heated_[s * act + a] / sum * worth(a);
    for (int64_t a = 0; a < actions; a++) {
      c[a] = static_cast<T>(-reach[s] / depth_ * heated_[s * act + a] * (worth(a) - value[s]));
    }
    add_log(slot, c.data(), temperature);
    if (entropy != 0) add_entropy(slot, -entropy * reach[s] / depth_, temperature);
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

void check_rule(const PolicyRule &rule) {
  require(rule.lr_every >= 1 && rule.heat_every >= 1, "decays every " + std::to_string(rule.lr_every) + " and every " +
                                                          std::to_string(rule.heat_every) + " episodes");
  require(rule.batch >= 1, "batches of " + std::to_string(rule.batch) + " episodes");
}

// choose finds the action whose share of [0, 1) holds what was drawn, with the sums
// in the order and precision of LibTorch 1.13's multinomial.
template <typename T>
int32_t Net<T>::choose(int32_t slot, double drawn) const {
  const T *h = heated_ + slot * padded<T>(shape_.actions);
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
    if (!waste_.empty()) random.skip(waste_[state * shape_.actions + action]);
    state = children_[state * shape_.actions + action];
  }
  *leaf = -1 - state;
  const double reward = rewards_[*leaf];
  const double advantage = rule.baseline > 0 && progress.based ? reward - progress.baseline : reward;
  constexpr double edge = std::numeric_limits<T>::epsilon();  // PyTorch's Categorical bounds probabilities by it
  std::vector<T> c(shape_.actions);
  for (size_t k = 0; k < path_.size(); k += 2) {
    const int32_t slot = path_[k], action = path_[k + 1];
    const T p = heated_[slot * act + action];
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

}  // namespace

template <typename T>
static std::unique_ptr<Policy> new_net(const PolicyShape &shape, const double *embedding, int set) {
  const PolicyKernels<T> *kernels = policy_kernels<T>(set);
  require(kernels != nullptr, "this processor has no instructions of set " + std::to_string(set));
  return std::make_unique<Net<T>>(shape, embedding, *kernels);
}

void mersenne_next(uint32_t *state) {
  constexpr int n = kMersenneNumbers, m = 397;
  auto twist = [](uint32_t high, uint32_t low) {
    return (((high & 0x80000000u) | (low & 0x7fffffffu)) >> 1) ^ (0x9908b0dfu & (0u - (low & 1u)));
  };
  for (int k = 0; k < n - m; k++) state[k] = state[k + m] ^ twist(state[k], state[k + 1]);
  for (int k = n - m; k < n - 1; k++) state[k] = state[k + m - n] ^ twist(state[k], state[k + 1]);
  state[n - 1] = state[m - 1] ^ twist(state[n - 1], state[0]);
}

std::unique_ptr<Policy> new_policy(const PolicyShape &shape, const double *embedding, bool precise, int set) {
  return precise ? new_net<double>(shape, embedding, set) : new_net<float>(shape, embedding, set);
}

}  // namespace graft
