// See kernels.h. Compiled with -DGRAFT_ISA=<name> and that set's flags; each
// build exports one table and nothing else.
#include "kernels.h"

#include <cmath>
#include <cstring>

#define GRAFT_JOIN2(a, b) a##b
#define GRAFT_JOIN(a, b) GRAFT_JOIN2(a, b)
#define GRAFT_TEXT2(a) #a
#define GRAFT_TEXT(a) GRAFT_TEXT2(a)

namespace graft {
namespace {

constexpr int kLanes = 16;  // one AVX-512 register, one cache line

typedef float Wide __attribute__((vector_size(kLanes * sizeof(float))));

// V is a group of neighbouring channels handled at once: many or one. Memory is
// aligned to a channel only, so it is copied; that compiles to one unaligned move.
template <typename V>
inline V load(const float *p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <typename V>
inline void store(float *p, V v) { std::memcpy(p, &v, sizeof v); }

// NaN passes, and its gradient, as through PyTorch's relu: networks that diverged must look like it.
inline Wide positive(Wide z) { return z <= 0.0f ? Wide{} : z; }
inline float positive(float z) { return z <= 0.0f ? 0.0f : z; }
inline Wide where_positive(Wide z, Wide v) { return z <= 0.0f ? Wide{} : v; }
inline float where_positive(float z, float v) { return z <= 0.0f ? 0.0f : v; }

inline void add(double *to, Wide v) {
  for (int k = 0; k < kLanes; k++) to[k] += v[k];
}
inline void add(double *to, float v) { *to += v; }

template <typename V>
constexpr int lanes() { return sizeof(V) / sizeof(float); }

// Runs body<V, U>(first channel) over all channels: pairs of wide groups, then
// single ones, then channel by channel.
template <typename Body>
inline void over_channels(int64_t channels, const Body &body) {
  int64_t c = 0;
  for (; c + 2 * kLanes <= channels; c += 2 * kLanes) body.template run<Wide, 2>(c);
  for (; c + kLanes <= channels; c += kLanes) body.template run<Wide, 1>(c);
  for (; c < channels; c++) body.template run<float, 1>(c);
}

struct Sums {
  const float *x;
  const NormShape &s;
  const float *shift;
  double *sum, *squares;

  template <typename V, int U>
  void run(int64_t c) const {
    V base[U], a[U] = {}, q[U] = {};
    for (int u = 0; u < U; u++) base[u] = load<V>(shift + c + u * lanes<V>());
    const float *p = x + c;
    for (int64_t k = s.pixels(); k > 0; k--, p += s.channels) {
      for (int u = 0; u < U; u++) {
        V v = load<V>(p + u * lanes<V>()) - base[u];
        a[u] += v;
        q[u] += v * v;
      }
    }
    for (int u = 0; u < U; u++) {
      add(sum + c + u * lanes<V>(), a[u]);
      add(squares + c + u * lanes<V>(), q[u]);
    }
  }
};

void sums(const float *x, const NormShape &s, const float *shift, double *sum, double *squares) {
  over_channels(s.channels, Sums{x, s, shift, sum, squares});
}

struct Forward {
  const float *x;
  const NormShape &s;
  const float *scale, *offset;
  float *y;

  template <typename V, int U>
  void run(int64_t c) const {
    V a[U], b[U];
    for (int u = 0; u < U; u++) {
      a[u] = load<V>(scale + c + u * lanes<V>());
      b[u] = load<V>(offset + c + u * lanes<V>());
    }
    const float share = 1.0f / static_cast<float>(s.window_height * s.window_width);
    float *out = y + c;
    for (int64_t h = 0; h < s.pooled_height(); h++) {
      for (int64_t w = 0; w < s.pooled_width(); w++, out += s.channels) {
        V t[U] = {};
        window<V, U>(x + (h * s.window_height * s.width + w * s.window_width) * s.channels + c, a, b, t);
        for (int u = 0; u < U; u++) store<V>(out + u * lanes<V>(), t[u] * share);
      }
    }
  }

  template <typename V, int U>
  void window(const float *p, const V *a, const V *b, V *t) const {
    for (int64_t i = 0; i < s.window_height; i++, p += (s.width - s.window_width) * s.channels) {
      for (int64_t j = 0; j < s.window_width; j++, p += s.channels) {
        for (int u = 0; u < U; u++) {
          V z = load<V>(p + u * lanes<V>()) * a[u] + b[u];
          t[u] += s.relu ? positive(z) : z;
        }
      }
    }
  }
};

void forward(const float *x, const NormShape &s, const float *scale, const float *offset, float *y) {
  over_channels(s.channels, Forward{x, s, scale, offset, y});
}

struct BackwardSums {
  const float *x, *dy;
  const NormShape &s;
  const float *scale, *offset, *mean;
  double *dz, *dzx;

  template <typename V, int U>
  void run(int64_t c) const {
    V a[U], b[U], m[U], s0[U] = {}, s1[U] = {};
    for (int u = 0; u < U; u++) {
      a[u] = load<V>(scale + c + u * lanes<V>());
      b[u] = load<V>(offset + c + u * lanes<V>());
      m[u] = load<V>(mean + c + u * lanes<V>());
    }
    const float share = 1.0f / static_cast<float>(s.window_height * s.window_width);
    const float *g = dy + c;
    for (int64_t h = 0; h < s.pooled_height(); h++) {
      for (int64_t w = 0; w < s.pooled_width(); w++, g += s.channels) {
        const float *p = x + (h * s.window_height * s.width + w * s.window_width) * s.channels + c;
        V part[U];
        for (int u = 0; u < U; u++) part[u] = load<V>(g + u * lanes<V>()) * share;
        for (int64_t i = 0; i < s.window_height; i++, p += (s.width - s.window_width) * s.channels) {
          for (int64_t j = 0; j < s.window_width; j++, p += s.channels) {
            for (int u = 0; u < U; u++) {
              V v = load<V>(p + u * lanes<V>());
              V d = s.relu ? where_positive(v * a[u] + b[u], part[u]) : part[u];
              s0[u] += d;
              s1[u] += d * (v - m[u]);
            }
          }
        }
      }
    }
    for (int u = 0; u < U; u++) {
      add(dz + c + u * lanes<V>(), s0[u]);
      add(dzx + c + u * lanes<V>(), s1[u]);
    }
  }
};

void backward_sums(const float *x, const float *dy, const NormShape &s, const float *scale, const float *offset,
                   const float *mean, double *dz, double *dzx) {
  over_channels(s.channels, BackwardSums{x, dy, s, scale, offset, mean, dz, dzx});
}

struct Backward {
  const float *x, *dy;
  const NormShape &s;
  const float *scale, *offset, *slope, *level;
  float *dx;

  template <typename V, int U>
  void run(int64_t c) const {
    V a[U], b[U], k1[U], k0[U];
    for (int u = 0; u < U; u++) {
      a[u] = load<V>(scale + c + u * lanes<V>());
      b[u] = load<V>(offset + c + u * lanes<V>());
      k1[u] = load<V>(slope + c + u * lanes<V>());
      k0[u] = load<V>(level + c + u * lanes<V>());
    }
    const float share = 1.0f / static_cast<float>(s.window_height * s.window_width);
    for (int64_t h = 0; h < s.height; h++) {
      const int64_t row = h / s.window_height;
      const float *g = dy + row * s.pooled_width() * s.channels + c;
      int64_t at = h * s.width * s.channels + c, w = 0;
      if (row < s.pooled_height()) {
        for (int64_t q = 0; q < s.pooled_width(); q++, g += s.channels) {
          V part[U];
          for (int u = 0; u < U; u++) part[u] = load<V>(g + u * lanes<V>()) * share;
          for (int64_t j = 0; j < s.window_width; j++, w++, at += s.channels) pixel<V, U>(at, a, b, k1, k0, part);
        }
      }
      const V none[U] = {};
      for (; w < s.width; w++, at += s.channels) pixel<V, U>(at, a, b, k1, k0, none);
    }
  }

  template <typename V, int U>
  void pixel(int64_t at, const V *a, const V *b, const V *k1, const V *k0, const V *part) const {
    for (int u = 0; u < U; u++) {
      V v = load<V>(x + at + u * lanes<V>());
      V d = s.relu ? where_positive(v * a[u] + b[u], part[u]) : part[u];
      store<V>(dx + at + u * lanes<V>(), a[u] * d + (k1[u] * v + k0[u]));
    }
  }
};

void backward(const float *x, const float *dy, const NormShape &s, const float *scale, const float *offset,
              const float *slope, const float *level, float *dx) {
  over_channels(s.channels, Backward{x, dy, s, scale, offset, slope, level, dx});
}

// The exact pool takes eight windows at once. Where a row is no multiple of
// eight, the last group starts earlier and writes some results a second time.
constexpr int kWindows = 8;
typedef float Eight __attribute__((vector_size(kWindows * sizeof(float))));
typedef float Sixteen __attribute__((vector_size(2 * kWindows * sizeof(float))));
typedef int32_t EightPlaces __attribute__((vector_size(kWindows * sizeof(int32_t))));
typedef int32_t SixteenPlaces __attribute__((vector_size(2 * kWindows * sizeof(int32_t))));

// NaN passes, as through PyTorch's clamp_min.
template <bool relu>
inline Eight rectified(Eight v) { return relu ? (v <= 0.0f ? Eight{} : v) : v; }
template <bool relu>
inline float rectified(float v) { return relu && v <= 0.0f ? 0.0f : v; }

// The left and the right pixels of eight neighbouring windows of one row.
struct Columns {
  Eight left, right;
  explicit Columns(const float *p) {
    const Eight a = load<Eight>(p), b = load<Eight>(p + kWindows);
    left = __builtin_shuffle(a, b, EightPlaces{0, 2, 4, 6, 8, 10, 12, 14});
    right = __builtin_shuffle(a, b, EightPlaces{1, 3, 5, 7, 9, 11, 13, 15});
  }
};

template <bool relu>
inline Eight pooled_windows(const float *top, const float *bottom) {
  const Columns t(top), b(bottom);
  Eight sum = rectified<relu>(t.left) + rectified<relu>(t.right);
  sum += rectified<relu>(b.left);
  sum += rectified<relu>(b.right);
  return sum * 0.25f;  // exact, as PyTorch's division by 4 is
}

template <bool relu>
inline float pooled_window(const float *top, const float *bottom) {
  float sum = rectified<relu>(top[0]) + rectified<relu>(top[1]);
  sum += rectified<relu>(bottom[0]);
  sum += rectified<relu>(bottom[1]);
  return sum * 0.25f;
}

// Calls wide(w) for groups of eight that cover all n windows, or one(w) for each.
template <typename Wide8, typename One>
inline void over_windows(int64_t n, const Wide8 &wide, const One &one) {
  if (n < kWindows) {
    for (int64_t w = 0; w < n; w++) one(w);
    return;
  }
  for (int64_t w = 0; w + kWindows <= n; w += kWindows) wide(w);
  if (n % kWindows != 0) wide(n - kWindows);
}

template <bool relu>
void pool2_rows(const float *x, int64_t height, int64_t width, float *y) {
  const int64_t n = width / 2;
  for (int64_t h = 0; h < height / 2; h++, y += n) {
    const float *top = x + 2 * h * width, *bottom = top + width;
    over_windows(
        n, [&](int64_t w) { store(y + w, pooled_windows<relu>(top + 2 * w, bottom + 2 * w)); },
        [&](int64_t w) { y[w] = pooled_window<relu>(top + 2 * w, bottom + 2 * w); });
  }
}

void pool2_forward(const float *x, int64_t height, int64_t width, bool relu, float *y) {
  relu ? pool2_rows<true>(x, height, width, y) : pool2_rows<false>(x, height, width, y);
}

// Spreads the gradients of a row of windows over one of its two rows of pixels.
template <bool relu>
inline void spread_row(const float *x, const float *g, int64_t n, float *dx) {
  const SixteenPlaces twice{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};
  over_windows(
      n,
      [&](int64_t w) {
        const Eight share = load<Eight>(g + w) * 0.25f;
        Sixteen both;
        std::memcpy(&both, &share, sizeof share);
        both = __builtin_shuffle(both, twice);
        if (relu) both = load<Sixteen>(x + 2 * w) <= 0.0f ? Sixteen{} : both;
        store(dx + 2 * w, both);
      },
      [&](int64_t w) {
        for (int64_t k = 2 * w; k < 2 * w + 2; k++) dx[k] = relu && x[k] <= 0.0f ? 0.0f : g[w] * 0.25f;
      });
}

void pool2_backward(const float *x, const float *dy, int64_t height, int64_t width, bool relu, float *dx) {
  const int64_t n = width / 2;
  for (int64_t h = 0; h < height; h++, x += width, dx += width) {
    const int64_t covered = h / 2 < height / 2 ? n : 0;
    const float *g = dy + h / 2 * n;
    relu ? spread_row<true>(x, g, covered, dx) : spread_row<false>(x, g, covered, dx);
    for (int64_t w = 2 * covered; w < width; w++) dx[w] = 0.0f;
  }
}

void adam(float *p, const float *g, float *m, float *v, int64_t n, float beta1, float beta2, float step,
          float root_correction, float eps, float l2, float decay) {
  for (int64_t k = 0; k < n; k++) {
    float grad = g[k] + l2 * p[k];
    m[k] = beta1 * m[k] + (1.0f - beta1) * grad;
    v[k] = beta2 * v[k] + (1.0f - beta2) * grad * grad;
    p[k] = p[k] * decay - step * m[k] / (std::sqrt(v[k]) / root_correction + eps);
  }
}

typedef int32_t WideInts __attribute__((vector_size(kLanes * sizeof(int32_t))));

inline Wide wide(float v) { return Wide{} + v; }
inline Wide greater(Wide a, Wide b) { return a > b ? a : b; }

// e^x of no positive number within two units in the last place, by Cephes' reduction and polynomial (Moshier, expf.c). Below
// -87 it is as good as zero.
inline Wide exponential(Wide x) {
  x = greater(x, wide(-87.0f));
  const WideInts n = __builtin_convertvector(x * 1.44269504088896341f - 0.5f, WideInts);
  const Wide whole = __builtin_convertvector(n, Wide);
  x -= whole * 0.693359375f;
  x += whole * 2.12194440e-4f;
  Wide p = x * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * x + 8.3334519073e-3f;
  p = p * x + 4.1665795894e-2f;
  p = p * x + 1.6666665459e-1f;
  p = p * x + 5.0000001201e-1f;
  p = p * x * x + x + 1.0f;
  const WideInts power = (n + 127) << 23;
  Wide scale;
  std::memcpy(&scale, &power, sizeof scale);
  return p * scale;
}

// Φ(x) and its derivative, the normal distribution. 1 - erf(z) is e^-z² t q(t) with t = 1 / (1 + 0.42 z), the form of Abramowitz
// and Stegun 7.1.26. The coefficients of q are a minimax fit of our own to z from 0 to 6.7, off by 4.1e-8 of the value.
inline Wide normal(Wide x, Wide &density) {
  const Wide z = greater(x, -x) * 0.70710678118654752f, t = 1.0f / (z * 0.42f + 1.0f), e = exponential(z * -z);
  Wide q = t * 0.075566206f - 0.3431526932f;
  q = q * t + 0.4815215701f;
  q = q * t - 0.1697012986f;
  q = q * t + 0.290500701f;
  q = q * t + 0.1877426421f;
  q = q * t + 0.240783129f;
  q = q * t + 0.2367397267f;
  const Wide tail = q * t * e * 0.5f;
  density = e * 0.39894228040143268f;
  return x < 0.0f ? tail : 1.0f - tail;
}

// The approximation by tanh, and its derivative.
inline Wide normal_by_tanh(Wide x, Wide &density) {
  constexpr float root = 0.79788456080286536f, cubic = 0.044715f;  // the root of 2/π
  const Wide u = x * (x * x * cubic + 1.0f) * (2.0f * root), e = exponential(u < 0.0f ? u : -u), most = 1.0f / (e + 1.0f), tail = e * most;
  density = most * tail * (x * x * (3.0f * cubic) + 1.0f) * (2.0f * root);
  return x < 0.0f ? tail : most;
}

template <bool by_tanh>
inline Wide gelu_of(Wide x, Wide &slope) {
  Wide density;
  const Wide share = by_tanh ? normal_by_tanh(x, density) : normal(x, density);
  slope = x * density + share;
  return x * share;
}

template <bool by_tanh>
void gelu_all(const float *x, int64_t n, float *y, float *slope) {
  Wide rise;
  int64_t k = 0;
  for (; k + kLanes <= n; k += kLanes) {
    store(y + k, gelu_of<by_tanh>(load<Wide>(x + k), rise));
    if (slope != nullptr) store(slope + k, rise);
  }
  Wide last{};
  std::memcpy(&last, x + k, (n - k) * sizeof(float));
  last = gelu_of<by_tanh>(last, rise);
  std::memcpy(y + k, &last, (n - k) * sizeof(float));
  if (slope != nullptr) std::memcpy(slope + k, &rise, (n - k) * sizeof(float));
}

void gelu(const float *x, int64_t n, bool by_tanh, float *y, float *slope) {
  by_tanh ? gelu_all<true>(x, n, y, slope) : gelu_all<false>(x, n, y, slope);
}

}  // namespace

extern const Kernels GRAFT_JOIN(kernels_, GRAFT_ISA);
const Kernels GRAFT_JOIN(kernels_, GRAFT_ISA) = {
    GRAFT_TEXT(GRAFT_ISA), sums, forward, backward_sums, backward, pool2_forward, pool2_backward, adam, gelu};

}  // namespace graft
