// From a policy's states to the probabilities of their actions.
#pragma once

#include "policy_net.h"

namespace graft {

// begin drops all results after a change of the parameters.
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
void Net<T>::activate(Sequence &q) {
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

// project multiplies the outputs of the cells from a slot on by the second layer's weights for
// this direction.
template <typename T>
void Net<T>::project(Direction<T> &d, int32_t from) {
  const Cells<T> &c = d.layer.cells;
  const int64_t g = memory_.cells.gate_stride;
  const bool forward = d.first == kForward;
  const T *init = forward ? memory_.bias : zeros_;
  kernels_.product(d.size() - from, {c.out + from * c.unit_stride, c.unit_stride, nullptr}, c.units,
                   at(kMemory + kInput) + (forward ? 0 : c.units * g), g, {init, 0, nullptr},
                   {d.projected + from * g, g, nullptr});
}

// run_memory runs the second recurrent layer over sequences, all at once.
template <typename T>
void Net<T>::run_memory(const std::vector<int32_t> &fresh) {
  const Cells<T> &c = memory_.cells;
  Step s;
  for (int32_t t = 0;; t++) {
    s.clear();
    for (int32_t q : fresh) {
      const Sequence &sequence = sequences_[q];
      if (t >= sequence.length()) continue;
      const int32_t cell = sequence.base + t;
      T *gates = c.gates + cell * c.gate_stride;
      std::copy_n(directions_[0].projected + directions_[0].slot[sequence.nodes[0][t]] * c.gate_stride, c.gate_stride, gates);
      kernels_.add(c.gate_stride, directions_[1].projected + directions_[1].slot[sequence.nodes[1][t]] * c.gate_stride, gates);
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

// run_head runs the linear layers over the states from a slot on.
template <typename T>
void Net<T>::run_head(int32_t from) {
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
  const int32_t projected[2] = {directions_[0].size(), directions_[1].size()};
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
    project(directions_[k], projected[k]);
  }
  run_memory(fresh);
  run_head(from);
  std::fill_n(log_grad_ + from * padded<T>(shape_.actions),
              (active_state_.size() - from) * padded<T>(shape_.actions), T(0));
}

// policy computes the probabilities of a state's actions: the softmax of the logits, and above
// a temperature of 1 the softmax of the probabilities divided by it, as in the original.
template <typename T>
void Net<T>::policy(int32_t slot, double temperature) {
  const int64_t act = padded<T>(shape_.actions), n = shape_.actions;
  const T *z = logits_ + slot * act;
  T *p = probabilities_ + slot * act, *h = tempered_ + slot * act;
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

}  // namespace graft
