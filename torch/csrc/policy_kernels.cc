// See policy_kernels.h. Compiled with -DGRAFT_ISA=<name> and that set's flags. No
// template of the standard library is used: it might be this set's code that the
// linker keeps for all.
#include "policy_kernels.h"

#include <cmath>
#include <cstring>
#include <utility>

#define GRAFT_JOIN2(a, b) a##b
#define GRAFT_JOIN(a, b) GRAFT_JOIN2(a, b)
#define GRAFT_TEXT2(a) #a
#define GRAFT_TEXT(a) GRAFT_TEXT2(a)

namespace graft {
namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64, kRegisters = 32;
#elif defined(__AVX__)
constexpr int kBytes = 32, kRegisters = 16;
#elif defined(__aarch64__)
constexpr int kBytes = 16, kRegisters = 32;
#else
constexpr int kBytes = 16, kRegisters = 16;
#endif

// A vector of N values, and one of integers that are as wide; these wrap around.
template <typename T, int N>
struct VectorOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <typename T>
struct Integer;
template <>
struct Integer<float> {
  typedef uint32_t type;
};
template <>
struct Integer<double> {
  typedef uint64_t type;
};

template <typename T>
constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));
template <typename T>
using Wide = typename VectorOf<T, kLanes<T>>::type;
template <typename T, int N>
using Places = typename VectorOf<typename Integer<T>::type, N>::type;

template <typename V, typename T>
inline V load(const T *p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <typename V, typename T>
inline void store(T *p, V v) {
  std::memcpy(p, &v, sizeof v);
}

// ---- products

// One panel: R rows of x times V vectors of columns, all sums in registers.
template <typename T, int R, int V>
void product_panel(int64_t from, const Rows<const T> &x, int64_t k, const T *w, int64_t m, const Rows<const T> &init,
                   const Rows<T> &out) {
  const T *a[R];
  Wide<T> sum[R][V];
  for (int r = 0; r < R; r++) {
    a[r] = x.row(from + r);
    for (int v = 0; v < V; v++) sum[r][v] = load<Wide<T>>(init.row(from + r) + v * kLanes<T>);
  }
  for (int64_t j = 0; j < k; j++, w += m) {
    Wide<T> b[V];
    for (int v = 0; v < V; v++) b[v] = load<Wide<T>>(w + v * kLanes<T>);
    for (int r = 0; r < R; r++) {
      for (int v = 0; v < V; v++) sum[r][v] += a[r][j] * b[v];
    }
  }
  for (int r = 0; r < R; r++) {
    for (int v = 0; v < V; v++) store(out.row(from + r) + v * kLanes<T>, sum[r][v]);
  }
}

// Number of vectors of columns of a panel of R rows: as many sums as registers hold beside the
// operands.
template <int R>
constexpr int panel_width() {
  return kRegisters == 32 ? (R == 1 ? 16 : R == 2 ? 8 : 6) : (R == 1 ? 8 : R == 2 ? 5 : 2);
}

// Calls body.run<V>(first vector) for panels that cover count vectors, about
// equally wide.
template <int V, typename Body>
inline void panel(int width, int64_t first, const Body &body) {
  if (width == V) {
    body.template run<V>(first);
  } else if constexpr (V > 1) {
    panel<V - 1>(width, first, body);
  }
}
template <int Most, typename Body>
inline void over_panels(int64_t count, const Body &body) {
  const int64_t panels = (count + Most - 1) / Most;
  for (int64_t k = 0, first = 0; k < panels; k++) {
    const int64_t end = count * (k + 1) / panels;
    panel<Most>(static_cast<int>(end - first), first, body);
    first = end;
  }
}

template <typename T, int R>
struct ProductRows {
  int64_t from;
  const Rows<const T> &x;
  int64_t k;
  const T *w;
  int64_t m;
  const Rows<const T> &init;
  const Rows<T> &out;

  template <int V>
  void run(int64_t first) const {
    const int64_t at = first * kLanes<T>;
    product_panel<T, R, V>(from, x, k, w + at, m, {init.data + at, init.stride, init.index},
                           {out.data + at, out.stride, out.index});
  }
};

template <typename T>
void product(int64_t n, Rows<const T> x, int64_t k, const T *w, int64_t m, Rows<const T> init, Rows<T> out) {
  int64_t i = 0;
  const int64_t vectors = m / kLanes<T>;
  for (; i + 4 <= n; i += 4) over_panels<panel_width<4>()>(vectors, ProductRows<T, 4>{i, x, k, w, m, init, out});
  for (; i + 2 <= n; i += 2) over_panels<panel_width<2>()>(vectors, ProductRows<T, 2>{i, x, k, w, m, init, out});
  for (; i < n; i++) over_panels<panel_width<1>()>(vectors, ProductRows<T, 1>{i, x, k, w, m, init, out});
}

// Halves of the blocks of x, then of y: the first or the second ones. Block is how
// many lanes belong to one sum.
template <typename T, int Block, int Second, int... I>
inline Wide<T> halves(Wide<T> x, Wide<T> y, std::integer_sequence<int, I...>) {
  constexpr int half = Block / 2;
  return __builtin_shuffle(x, y, Places<T, kLanes<T>>{(I / half * Block + I % half + Second * half)...});
}

// Sums of as many vectors as they have lanes, as one vector. Each level adds up
// the halves of blocks, and so has half as many vectors.
template <typename T, int Block>
inline Wide<T> sums_of(Wide<T> *a) {
  if constexpr (Block == 1) {
    return a[0];
  } else {
    constexpr auto lanes = std::make_integer_sequence<int, kLanes<T>>{};
    for (int k = 0; k < Block / 2; k++) {
      a[k] = halves<T, Block, 0>(a[2 * k], a[2 * k + 1], lanes) + halves<T, Block, 1>(a[2 * k], a[2 * k + 1], lanes);
    }
    return sums_of<T, Block / 2>(a);
  }
}

// R rows of g times as many rows of w as make a vector of sums. Rows beyond the
// last are read as the last, and their sums are zero.
template <typename T, int R>
void transposed_block(int64_t from, const Rows<const T> &g, int64_t m, const T *w, int64_t first, int64_t k,
                      const Rows<T> &out) {
  constexpr int Q = kLanes<T> / R;
  Wide<T> sum[R * Q] = {};
  const T *b[Q], *a[R];
  for (int q = 0; q < Q; q++) b[q] = w + (first + q < k ? first + q : k - 1) * m;
  for (int r = 0; r < R; r++) a[r] = g.row(from + r);
  for (int64_t v = 0; v < m; v += kLanes<T>) {
    Wide<T> y[R];
    for (int r = 0; r < R; r++) y[r] = load<Wide<T>>(a[r] + v);
    for (int q = 0; q < Q; q++) {
      const Wide<T> z = load<Wide<T>>(b[q] + v);
      for (int r = 0; r < R; r++) sum[r * Q + q] += y[r] * z;
    }
  }
  T all[R * Q];
  store(all, sums_of<T, kLanes<T>>(sum));
  for (int r = 0; r < R; r++) {
    for (int64_t q = k - first; q < Q; q++) all[r * Q + q] = 0;
    std::memcpy(out.row(from + r) + first, all + r * Q, Q * sizeof(T));
  }
}

template <typename T, int R>
inline void transposed_rows(int64_t from, const Rows<const T> &g, int64_t m, const T *w, int64_t k, const Rows<T> &out) {
  for (int64_t first = 0; first < k; first += kLanes<T> / R) transposed_block<T, R>(from, g, m, w, first, k, out);
}

// The padding of out behind the last block was zero and stays so.
template <typename T>
void transposed(int64_t n, Rows<const T> g, int64_t m, const T *w, int64_t k, Rows<T> out) {
  int64_t i = 0;
  if constexpr (kLanes<T> >= 8) {
    for (; i + 4 <= n; i += 4) transposed_rows<T, 4>(i, g, m, w, k, out);
  }
  for (; i + 2 <= n; i += 2) transposed_rows<T, 2>(i, g, m, w, k, out);
  for (; i < n; i++) transposed_rows<T, 1>(i, g, m, w, k, out);
}

// ---- gradients of matrices

template <typename T, int Q, int V>
void outer_panel(int64_t n, const Rows<const T> &x, int64_t j, const Rows<const T> &g, T *grad, int64_t m) {
  Wide<T> sum[Q][V] = {};
  for (int64_t i = 0; i < n; i++) {
    const T *a = x.row(i) + j, *b = g.row(i);
    Wide<T> y[V];
    for (int v = 0; v < V; v++) y[v] = load<Wide<T>>(b + v * kLanes<T>);
    for (int q = 0; q < Q; q++) {
      for (int v = 0; v < V; v++) sum[q][v] += a[q] * y[v];
    }
  }
  for (int q = 0; q < Q; q++) {
    for (int v = 0; v < V; v++) store(grad + q * m + v * kLanes<T>, sum[q][v]);
  }
}

template <typename T, int Q>
struct OuterRows {
  int64_t n;
  const Rows<const T> &x;
  int64_t j;
  const Rows<const T> &g;
  T *grad;
  int64_t m;

  template <int V>
  void run(int64_t first) const {
    const int64_t at = first * kLanes<T>;
    outer_panel<T, Q, V>(n, x, j, {g.data + at, g.stride, g.index}, grad + j * m + at, m);
  }
};

template <typename T>
void outer(int64_t n, Rows<const T> x, int64_t k, Rows<const T> g, int64_t m, T *grad) {
  int64_t j = 0;
  const int64_t vectors = m / kLanes<T>;
  for (; j + 4 <= k; j += 4) over_panels<panel_width<4>()>(vectors, OuterRows<T, 4>{n, x, j, g, grad, m});
  for (; j < k; j++) over_panels<panel_width<1>()>(vectors, OuterRows<T, 1>{n, x, j, g, grad, m});
}

template <typename T>
void add(int64_t m, const T *x, T *y) {
  for (int64_t v = 0; v < m; v += kLanes<T>) store(y + v, load<Wide<T>>(y + v) + load<Wide<T>>(x + v));
}

template <typename T>
void sum(int64_t n, Rows<const T> g, int64_t m, T *grad) {
  std::memset(grad, 0, m * sizeof(T));
  for (int64_t i = 0; i < n; i++) add(m, g.row(i), grad);
}

template <typename T>
void relu(int64_t m, T *x) {
  for (int64_t v = 0; v < m; v += kLanes<T>) {
    const Wide<T> a = load<Wide<T>>(x + v);
    store(x + v, a <= 0 ? Wide<T>{} : a);  // NaN passes
  }
}

template <typename T>
void relu_backward(int64_t m, const T *a, T *d) {
  for (int64_t v = 0; v < m; v += kLanes<T>) {
    store(d + v, load<Wide<T>>(a + v) > 0 ? load<Wide<T>>(d + v) : Wide<T>{});
  }
}

// ---- cells

// The parts of e to the x: x = n * ln 2 + r, where ln 2 is a short number and a
// rest so that n times the first is exact; and the bits of 2 to the n. Adding
// round puts n into the last bits of a number.
template <typename T>
struct Split;
template <>
struct Split<float> {
  static constexpr float round = 12582912.0f, high = 0.693145751953125f, rest = 1.42860682030941723e-6f;
  static constexpr float most = 20.0f;  // tanh(most / 2) is 1
  static constexpr int bits = 23, terms = 7;
  static constexpr uint32_t one = 127u << 23;
};
template <>
struct Split<double> {
  static constexpr double round = 6755399441055744.0, high = 0.693147180369123816490, rest = 1.90821492927058770002e-10;
  static constexpr double most = 40.0;
  static constexpr int bits = 52, terms = 13;
  static constexpr uint64_t one = uint64_t{1023} << 52;
};

// The last terms of the series of (e^r - 1) / r, from 1 / From! on, by Horner.
template <typename T, int From, int Terms, typename V>
inline V series(V r, T factorial) {
  if constexpr (From == Terms) {
    return V{} + 1 / factorial;
  } else {
    return series<T, From + 1, Terms>(r, factorial * (From + 1)) * r + 1 / factorial;
  }
}

// tanh(x) = e / (e + 2) with e = exp(2x) - 1, which is small where x is and then
// keeps its digits.
template <typename T, int N>
inline typename VectorOf<T, N>::type tanh_of(typename VectorOf<T, N>::type x) {
  typedef typename VectorOf<T, N>::type V;
  typedef Split<T> S;
  V y = x + x;
  y = y > S::most ? V{} + S::most : y;
  y = y < -S::most ? V{} - S::most : y;
  const V t = y * static_cast<T>(1.44269504088896340736) + S::round;
  const V n = t - S::round;
  V r = y - n * S::high;
  r = r - n * S::rest;
  const V p = series<T, 1, S::terms>(r, static_cast<T>(1)) * r;
  const Places<T, N> power = (Places<T, N>)(t) * (static_cast<typename Integer<T>::type>(1) << S::bits) + S::one;
  const V scale = (V)power;
  const V e = scale * p + (scale - 1);
  return e / (e + 2);
}

// Runs body<N>(first unit) over all units, N at once. Where their number is no
// multiple, the last group starts earlier and does some of them again.
template <typename T, typename Body>
inline void over_units(int64_t units, const Body &body) {
  constexpr int N = kLanes<T>;
  if (units < N) {
    for (int64_t j = 0; j < units; j++) body.template run<1>(j);
    return;
  }
  int64_t j = 0;
  for (; j + N <= units; j += N) body.template run<N>(j);
  if (j < units) body.template run<N>(units - N);
}

template <typename T>
struct CellForward {
  const Cells<T> &c;
  const T *gates;
  const T *before;  // state, or none
  T *state, *shaped, *out;

  template <int N>
  void run(int64_t j) const {
    typedef typename VectorOf<T, N>::type V;
    const V input_gate = load<V>(gates + j), forget_gate = load<V>(gates + c.units + j), candidate = load<V>(gates + 2 * c.units + j),
            output_gate = load<V>(gates + 3 * c.units + j);
    V s = input_gate * candidate;
    if (before != nullptr) s += forget_gate * load<V>(before + j);
    const V t = tanh_of<T, N>(s);
    store(state + j, s);
    store(shaped + j, t);
    store(out + j, output_gate * t);
  }
};

template <typename T>
void cell_forward(int64_t n, const Cells<T> &c, const int32_t *cell, const int32_t *before) {
  for (int64_t i = 0; i < n; i++) {
    T *gates = c.gates + cell[i] * c.gate_stride;
    for (int64_t v = 0; v < c.gate_stride; v += kLanes<T>) {
      const Wide<T> x = load<Wide<T>>(gates + v) * load<Wide<T>>(c.slope + v);
      store(gates + v, tanh_of<T, kLanes<T>>(x) * load<Wide<T>>(c.gain + v) + load<Wide<T>>(c.level + v));
    }
    const int64_t at = cell[i] * c.unit_stride;
    over_units<T>(c.units, CellForward<T>{c, gates, before[i] < 0 ? nullptr : c.state + before[i] * c.unit_stride,
                                          c.state + at, c.shaped + at, c.out + at});
  }
}

template <typename T>
struct CellBackward {
  const Cells<T> &c;
  const T *gates, *before, *shaped, *out_grad;
  const T *state_grad;
  T *gate_grad, *carried;  // to the state before; none where there is no such cell

  template <int N>
  void run(int64_t j) const {
    typedef typename VectorOf<T, N>::type V;
    const int64_t u = c.units;
    const V input_gate = load<V>(gates + j), forget_gate = load<V>(gates + u + j), candidate = load<V>(gates + 2 * u + j),
            output_gate = load<V>(gates + 3 * u + j);
    const V t = load<V>(shaped + j), dh = load<V>(out_grad + j);
    const V ds = load<V>(state_grad + j) + dh * output_gate * (1 - t * t);
    store(gate_grad + j, ds * candidate * input_gate * (1 - input_gate));
    store(gate_grad + u + j, before == nullptr ? V{} : ds * load<V>(before + j) * forget_gate * (1 - forget_gate));
    store(gate_grad + 2 * u + j, ds * input_gate * (1 - candidate * candidate));
    store(gate_grad + 3 * u + j, dh * t * output_gate * (1 - output_gate));
    store(carried + j, ds * forget_gate);
  }
};

template <typename T>
void cell_backward(int64_t n, const Cells<T> &c, const int32_t *cell, const int32_t *before) {
  constexpr int64_t kMost = 1 << 10;  // units; Policy refuses more
  alignas(kLine) T carried[kMost];
  for (int64_t i = 0; i < n; i++) {
    const int64_t at = cell[i] * c.unit_stride;
    over_units<T>(c.units, CellBackward<T>{c, c.gates + cell[i] * c.gate_stride,
                                           before[i] < 0 ? nullptr : c.state + before[i] * c.unit_stride, c.shaped + at,
                                           c.out_grad + at, c.state_grad + at, c.gate_grad + cell[i] * c.gate_stride,
                                           carried});
    if (before[i] < 0) continue;
    T *to = c.state_grad + before[i] * c.unit_stride;
    for (int64_t j = 0; j < c.units; j++) to[j] += carried[j];
  }
}

// ---- the optimizer (Kingma and Ba 2015, with PyTorch's operations)

template <typename T>
void adam(int64_t n, T *__restrict p, const T *__restrict g, T *__restrict m, T *__restrict v, const AdamStep<T> &a) {
  const T beta1 = a.beta1, beta2 = a.beta2, step = a.step, root = a.root_correction, eps = a.eps;
  for (int64_t k = 0; k < n; k++) {
    m[k] = beta1 * m[k] + (1 - beta1) * g[k];
    v[k] = beta2 * v[k] + (1 - beta2) * g[k] * g[k];
    p[k] -= step * m[k] / (std::sqrt(v[k]) / root + eps);
  }
}

}  // namespace

#define GRAFT_POLICY_TABLE(type)                                                                                    \
  {                                                                                                                 \
    GRAFT_TEXT(GRAFT_ISA), product<type>, transposed<type>, outer<type>, sum<type>, add<type>, relu<type>,          \
        relu_backward<type>, cell_forward<type>, cell_backward<type>, adam<type>                                    \
  }

extern const PolicyKernels<float> GRAFT_JOIN(policy_single_, GRAFT_ISA);
extern const PolicyKernels<double> GRAFT_JOIN(policy_double_, GRAFT_ISA);
const PolicyKernels<float> GRAFT_JOIN(policy_single_, GRAFT_ISA) = GRAFT_POLICY_TABLE(float);
const PolicyKernels<double> GRAFT_JOIN(policy_double_, GRAFT_ISA) = GRAFT_POLICY_TABLE(double);

}  // namespace graft
