// The arithmetic of a learned policy, free of LibTorch: small matrices and the
// cells of its recurrent layers, in float32 or float64. policy_kernels.cc is
// compiled once for each instruction set; policy_kernels<T>(kWidest) picks.
#pragma once

#include <cstdint>

namespace graft {

// Rows and matrices are padded with zeros to whole cache lines, which every
// vector register divides.
constexpr int64_t kLine = 64;

// How many values n take up, padded.
template <typename T>
constexpr int64_t padded(int64_t n) {
  constexpr int64_t lanes = kLine / static_cast<int64_t>(sizeof(T));
  return (n + lanes - 1) / lanes * lanes;
}

// Rows of a matrix: row i begins at data + index[i] * stride. Without an index
// they follow one another.
template <typename T>
struct Rows {
  T *data;
  int64_t stride;
  const int32_t *index;

  T *row(int64_t i) const { return data + (index == nullptr ? i : index[i]) * stride; }
};

// The memory of a recurrent layer's cells, one row each. PyTorch's gates (input,
// forget, cell, output) lie side by side in a row.
template <typename T>
struct Cells {
  int64_t units, gate_stride, unit_stride;
  T *gates;      // before and after the activation, as forward goes on
  T *state;      // state of the cell
  T *shaped;     // tanh of it
  T *out;        // output of the cell
  T *gate_grad;  // of gates before the activation
  T *out_grad;
  T *state_grad;
  // The activation of a gate is gain * tanh(slope * x) + level, which is also a
  // sigmoid where the three are a half.
  const T *slope, *gain, *level;
};

template <typename T>
struct AdamStep {
  T beta1, beta2, step, root_correction, eps;
};

template <typename T>
struct PolicyKernels {
  const char *name;
  // out = init + x * w for n rows x of k values and a matrix of k rows with m
  // padded columns. init may be out.
  void (*product)(int64_t n, Rows<const T> x, int64_t k, const T *w, int64_t m, Rows<const T> init, Rows<T> out);
  // out[j] = g * w[j] for each row j of w; out is padded with zeros.
  void (*transposed)(int64_t n, Rows<const T> g, int64_t m, const T *w, int64_t k, Rows<T> out);
  // grad[j] is the sum over the rows of x[j] * g.
  void (*outer)(int64_t n, Rows<const T> x, int64_t k, Rows<const T> g, int64_t m, T *grad);
  // grad is the sum of the rows.
  void (*sum)(int64_t n, Rows<const T> g, int64_t m, T *grad);
  // y += x for m padded values.
  void (*add)(int64_t m, const T *x, T *y);
  void (*relu)(int64_t m, T *x);
  // d = 0 where a is not positive.
  void (*relu_backward)(int64_t m, const T *a, T *d);
  // Cells at rows cell[i], whose gates are filled in, after those at before[i],
  // or after none where that is negative.
  void (*cell_forward)(int64_t n, const Cells<T> &c, const int32_t *cell, const int32_t *before);
  // From out_grad and state_grad of the cells to gate_grad, and to state_grad of
  // those before, to which it is added.
  void (*cell_backward)(int64_t n, const Cells<T> &c, const int32_t *cell, const int32_t *before);
  void (*adam)(int64_t n, T *p, const T *g, T *m, T *v, const AdamStep<T> &a);
};

// Sets of instructions: the widest that this processor can run, or one of them.
enum { kWidest, kBase, kAVX2, kAVX512, kInstructionSets };

// Those of a set; null where this processor cannot run it.
template <typename T>
const PolicyKernels<T> *policy_kernels(int set);

}  // namespace graft
