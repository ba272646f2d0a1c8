// Construction of a policy: the layout of its parameters, and the tree of its states.
#pragma once

#include "policy_net.h"

namespace graft {

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

// check_state checks one state, and sets the depth of its children.
inline void check_state(const PolicyTree &tree, const PolicyShape &shape, int64_t s, std::vector<int64_t> &depth,
                        int64_t &ends) {
  const std::string name = "state " + std::to_string(s);
  require(tree.offsets[s + 1] > tree.offsets[s], name + " has no tokens");
  for (int64_t k = tree.offsets[s]; k < tree.offsets[s + 1]; k++) {
    require(tree.tokens[k] >= 0 && tree.tokens[k] < shape.tokens,
            name + " has the token " + std::to_string(tree.tokens[k]) + "; there are " + std::to_string(shape.tokens));
  }
  require(depth[s] >= 0, "no action leads to " + name);
  for (int64_t a = 0; a < shape.actions; a++) {
    const int64_t child = tree.children[s * shape.actions + a];
    require(child < tree.states && (child < 0 ? -1 - child < tree.leaves : child > s),
            name + " leads to " + std::to_string(child));
    int64_t &known = child < 0 ? ends : depth[child];
    const int64_t here = depth[s] + (child < 0 ? 0 : 1);
    require(known < 0 || known == here, child < 0 ? "some ends come after " + std::to_string(ends) +
                                                        " decisions, others after " + std::to_string(here)
                                                  : "state " + std::to_string(child) + " is at two depths");
    known = here;
  }
}

// check_tree checks a tree, and returns the number of decisions up to its ends.
inline int64_t check_tree(const PolicyTree &tree, const PolicyShape &shape) {
  require(tree.states >= 1 && tree.states <= 1 << 24, "a tree of " + std::to_string(tree.states) + " states");
  require(tree.leaves >= 1 && tree.leaves <= 1 << 26, "a tree of " + std::to_string(tree.leaves) + " ends");
  std::vector<int64_t> depth(tree.states, -1);
  depth[0] = 1;
  int64_t ends = -1;
  for (int64_t s = 0; s < tree.states; s++) check_state(tree, shape, s, depth, ends);
  return ends;
}

template <typename T>
void Net<T>::grow(const PolicyTree &tree) {
  depth_ = check_tree(tree, shape_);
  sequences_.clear();
  known_sequences_.clear();
  longest_ = 0;
  for (int k = 0; k < 2; k++) {
    known_[k].clear();
    directions_[k].nodes.clear();
    directions_[k].first = k == 0 ? kForward : kReverse;
  }
  sequence_.resize(tree.states);
  for (int64_t s = 0; s < tree.states; s++) {
    sequence_[s] = sequence_of(tree.tokens + tree.offsets[s], tree.offsets[s + 1] - tree.offsets[s]);
  }
  tokens_.assign(tree.tokens, tree.tokens + tree.offsets[tree.states]);
  std::sort(tokens_.begin(), tokens_.end());
  tokens_.erase(std::unique(tokens_.begin(), tokens_.end()), tokens_.end());
  const int64_t edges = tree.states * shape_.actions;
  children_.assign(tree.children, tree.children + edges);
  skips_.assign(tree.skips, tree.skips == nullptr ? nullptr : tree.skips + edges);
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
    d.projected.reset(rows * heads);
    d.projected_grad.reset(rows * heads);
  }
  memory_.prepare(shape_.memory, cells);
  time_.reset(states * shape_.time);
  active_.clear();
  active_state_.clear();
  state_slot_.assign(states, -1);
  input_.reset(states * padded<T>(shape_.time + shape_.memory));
  for (Buffer<T> *b : {&one_, &two_, &one_grad_, &two_grad_}) b->reset(states * wide);
  input_grad_.reset(states * padded<T>(shape_.memory));
  for (Buffer<T> *b : {&logits_, &probabilities_, &tempered_, &log_grad_, &logit_grad_}) b->reset(states * act);
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

}  // namespace graft
