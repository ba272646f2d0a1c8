// From the gradients of probabilities to those of all parameters.
#pragma once

#include "policy_net.h"

namespace graft {

// add_log adds the gradient of coefficients * log probabilities to log_grad_, which
// is that of the logits, or, above a temperature of 1, of the probabilities below it.
template <typename T>
void Net<T>::add_log(int32_t slot, const T *coefficients, double temperature) {
  const int64_t act = padded<T>(shape_.actions), n = shape_.actions;
  const T *h = tempered_ + slot * act;
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
  const T *h = tempered_ + slot * act;
  T *to = log_grad_ + slot * act;
  T entropy = 0;
  for (int64_t a = 0; a < n; a++) entropy -= h[a] > 0 ? h[a] * std::log(h[a]) : T(0);
  const T scale = static_cast<T>(temperature > 1 ? weight / temperature : weight);
  for (int64_t a = 0; a < n; a++) to[a] -= h[a] > 0 ? scale * h[a] * (std::log(h[a]) + entropy) : T(0);
}

// chain propagates to the logits.
template <typename T>
void Net<T>::chain(int32_t slot, double temperature) {
  const int64_t act = padded<T>(shape_.actions), n = shape_.actions;
  const T *p = probabilities_ + slot * act, *from = log_grad_ + slot * act;
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

// backward propagates the gradients of the active states' logits to all parameters.
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
  // States of one sequence depend on the same cell.
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
  Step s, inner_cells;  // all that have a predecessor
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
      inner_cells.cell.push_back(s.cell[k]);
      inner_cells.before.push_back(s.before[k]);
      inner.cell.push_back(s.cell[k]);
      inner.before.push_back(s.before[k]);
    }
    // No other cell lies before these, and only the last ones have gradients.
    kernels_.transposed(inner.size(), {c.gate_grad, c.gate_stride, inner.cell.data()}, c.gate_stride,
                        at(kMemory + kRecurrent), c.units, {c.out_grad, c.unit_stride, inner.before.data()});
  }
  T *sums = memory_.bias;
  kernels_.sum(memory_rows_, {c.gate_grad, c.gate_stride, nullptr}, c.gate_stride, sums);
  gate_gradients(kMemory, inner_cells.size(), {c.out, c.unit_stride, inner_cells.before.data()},
                 {c.gate_grad, c.gate_stride, inner_cells.cell.data()}, sums);
  for (int k = 0; k < 2; k++) {
    Direction<T> &d = directions_[k];
    std::fill_n(static_cast<T *>(d.projected_grad), d.size() * c.gate_stride, T(0));
    for (int32_t q : active_) {
      const Sequence &sequence = sequences_[q];
      for (int32_t t = 0; t < sequence.length(); t++) {
        kernels_.add(c.gate_stride, c.gate_grad + (sequence.base + t) * c.gate_stride,
                     d.projected_grad + d.slot[sequence.nodes[k][t]] * c.gate_stride);
      }
    }
  }
}

template <typename T>
void Net<T>::backward_direction(Direction<T> &d) {
  const Cells<T> &c = d.layer.cells;
  const int64_t heads = memory_.cells.gate_stride, part = d.first == kForward ? 0 : c.units * heads;
  const Rows<const T> projected{d.projected_grad, heads, nullptr};
  kernels_.outer(d.size(), {c.out, c.unit_stride, nullptr}, c.units, projected, heads, grad(kMemory + kInput) + part);
  kernels_.transposed(d.size(), projected, heads, at(kMemory + kInput) + part, c.units, {c.out_grad, c.unit_stride, nullptr});
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

}  // namespace graft
