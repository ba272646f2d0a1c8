// The fast path's layers as autograd functions over the kernels.
#include <ATen/Parallel.h>

#include "fused.h"
#include "guard.h"
#include "kernels.h"
#include "peers.h"

namespace graft {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

NormShape shape_of(const at::Tensor &x, const NormOptions &o) {
  NormShape s{x.size(2), x.size(3), x.size(1), o.window_height, o.window_width, o.relu};
  if (o.window_height == 0) {
    s.window_height = s.height;
    s.window_width = s.width;
  }
  return s;
}

// Number of partial sums of a reduction. It is fixed, so that the number of threads does not
// change a bit of the result.
constexpr int64_t kParts = 16;

// Sums over images in parallel: each part has its own row of accumulators, and
// the rows are added in order.
template <typename Body>
std::vector<double> per_channel_sums(int64_t images, int64_t values, const Body &body) {
  const int64_t parts = std::min(kParts, images);
  std::vector<double> rows(parts * values, 0.0);
  at::parallel_for(0, parts, 1, [&](int64_t from, int64_t to) {
    for (int64_t t = from; t < to; t++) {
      for (int64_t n = images * t / parts; n < images * (t + 1) / parts; n++) body(n, rows.data() + t * values);
    }
  });
  for (int64_t t = 1; t < parts; t++) {
    for (int64_t k = 0; k < values; k++) rows[k] += rows[t * values + k];
  }
  rows.resize(values);
  return rows;
}

at::Tensor channels(int64_t n) { return at::empty({n}, at::TensorOptions().dtype(at::kFloat)); }

const float *values(const at::Tensor &t) { return t.defined() ? t.data_ptr<float>() : nullptr; }

// Sums the statistics of all processes. Each shifts values by its own centre; the sums that
// are sent, as in shared_norm, are unshifted.
double shared_statistics(const Share &share, double count, std::vector<double> &sums, std::vector<double> &middle) {
  const size_t c = middle.size();
  at::Tensor all = at::empty({static_cast<int64_t>(2 * c + 1)}, at::TensorOptions().dtype(at::kDouble));
  double *a = all.data_ptr<double>();
  for (size_t k = 0; k < c; k++) {
    a[k] = share.weight() * (sums[k] + count * middle[k]);
    a[c + k] = share.weight() * (sums[c + k] + middle[k] * (2 * sums[k] + count * middle[k]));
    middle[k] = 0;
  }
  a[2 * c] = share.weight() * count;
  share.peers->sum(all);
  sums.assign(a, a + 2 * c);
  return a[2 * c];
}

// Mean and inverse deviation of the batch, and the number of values of each; updates the
// running statistics.
double batch_statistics(const at::Tensor &x, const NormShape &s, const NormOptions &o, const NormWeights &w, float *mean,
                      float *invstd) {
  const int64_t n = x.size(0), c = s.channels;
  const float *data = x.data_ptr<float>();
  // The first pixel is a sample of each channel: subtracting it keeps the sum of
  // squares from cancelling where the mean is far from zero.
  const float *shift = data;
  auto sums = per_channel_sums(n, 2 * c, [&](int64_t k, double *row) {
    kernels().sums(data + k * s.pixels() * c, s, shift, row, row + c);
  });
  double count = static_cast<double>(n * s.pixels());
  std::vector<double> middle(shift, shift + c);
  if (sharing() != nullptr) count = shared_statistics(*sharing(), count, sums, middle);
  float *rm = w.running_mean.defined() ? w.running_mean.data_ptr<float>() : nullptr;
  float *rv = w.running_var.defined() ? w.running_var.data_ptr<float>() : nullptr;
  const float *before = values(w.before);
  for (int64_t k = 0; k < c; k++) {
    double m = sums[k] / count;
    double v = sums[c + k] / count - m * m;
    if (v < 0) v = 0;  // by rounding; NaN stays
    mean[k] = static_cast<float>(middle[k] + m);
    invstd[k] = static_cast<float>(1.0 / std::sqrt(v + o.eps));
    const double seen = mean[k] + (before == nullptr ? 0.0 : before[k]);
    if (rm != nullptr) rm[k] = static_cast<float>((1 - o.momentum) * rm[k] + o.momentum * seen);
    if (rv != nullptr) rv[k] = static_cast<float>((1 - o.momentum) * rv[k] + o.momentum * v * count / (count - 1));
  }
  return count;
}

// scale and offset with which normalisation is x * scale + offset.
void affine(const at::Tensor &weight, const at::Tensor &bias, const float *mean, const float *invstd, int64_t c,
            float *scale, float *offset) {
  const float *w = values(weight), *b = values(bias);
  for (int64_t k = 0; k < c; k++) {
    scale[k] = (w == nullptr ? 1.0f : w[k]) * invstd[k];
    offset[k] = (b == nullptr ? 0.0f : b[k]) - mean[k] * scale[k];
  }
}

at::Tensor normalised(const at::Tensor &x, const NormShape &s, const float *scale, const float *offset) {
  const int64_t n = x.size(0);
  at::Tensor y = at::empty({n, s.channels, s.pooled_height(), s.pooled_width()},
                           x.options().memory_format(at::MemoryFormat::ChannelsLast));
  const float *from = x.data_ptr<float>();
  float *to = y.data_ptr<float>();
  at::parallel_for(0, n, 1, [&](int64_t first, int64_t last) {
    for (int64_t k = first; k < last; k++) {
      kernels().forward(from + k * s.pixels() * s.channels, s, scale, offset, to + k * s.pooled() * s.channels);
    }
  });
  return y;
}

void share_sums(Peers *peers, std::vector<double> &sums) {
  if (peers == nullptr) return;
  at::Tensor all = at::from_blob(sums.data(), {static_cast<int64_t>(sums.size())}, at::TensorOptions().dtype(at::kDouble));
  peers->sum(all);
}

struct FusedNorm : torch::autograd::Function<FusedNorm> {
  using Maybe = c10::optional<at::Tensor>;

  // The weights come twice: one by one for autograd, and together for us.
  static at::Tensor forward(AutogradContext *ctx, const at::Tensor &input, const Maybe &, const Maybe &,
                            const Maybe &, const NormWeights &w, const NormOptions &o) {
    at::Tensor x = input.contiguous(at::MemoryFormat::ChannelsLast);
    NormShape s = shape_of(x, o);
    const int64_t c = s.channels;
    // Rows: mean, inverse deviation, scale, offset.
    at::Tensor stats = channels(4 * c);
    float *row = stats.data_ptr<float>();
    const double count = batch_statistics(x, s, o, w, row, row + c);
    affine(w.weight, w.bias, row, row + c, c, row + 2 * c, row + 3 * c);
    ctx->save_for_backward({x, stats});
    ctx->saved_data["window_height"] = o.window_height;
    ctx->saved_data["window_width"] = o.window_width;
    ctx->saved_data["relu"] = o.relu;
    ctx->saved_data["weight"] = w.weight.defined();
    ctx->saved_data["bias"] = w.bias.defined();
    ctx->saved_data["before"] = w.before.defined();
    ctx->saved_data["count"] = count;
    ctx->saved_data["peers"] = reinterpret_cast<int64_t>(sharing() == nullptr ? nullptr : sharing()->peers);
    ctx->saved_data["idle"] = sharing() != nullptr && sharing()->idle;
    return normalised(x, s, row + 2 * c, row + 3 * c);
  }

  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    auto saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0];
    NormOptions o;
    o.window_height = ctx->saved_data["window_height"].toInt();
    o.window_width = ctx->saved_data["window_width"].toInt();
    o.relu = ctx->saved_data["relu"].toBool();
    NormShape s = shape_of(x, o);
    const int64_t n = x.size(0), c = s.channels;
    const float *row = saved[1].data_ptr<float>();
    at::Tensor dy = grads[0].contiguous(at::MemoryFormat::ChannelsLast);
    const float *from = x.data_ptr<float>(), *g = dy.data_ptr<float>();
    auto sums = per_channel_sums(n, 2 * c, [&](int64_t k, double *to) {
      kernels().backward_sums(from + k * s.pixels() * c, g + k * s.pooled() * c, s, row + 2 * c, row + 3 * c, row,
                              to, to + c);
    });
    at::Tensor dweight = channels(c), dbias = channels(c), slope = channels(c), level = channels(c);
    for (int64_t k = 0; k < c; k++) {  // gradients of this process's rows: those of all are added up later
      dweight.data_ptr<float>()[k] = static_cast<float>(sums[c + k] * row[c + k]);
      dbias.data_ptr<float>()[k] = static_cast<float>(sums[k]);
    }
    const double count = ctx->saved_data["count"].toDouble();
    share_sums(reinterpret_cast<Peers *>(ctx->saved_data["peers"].toInt()), sums);
    for (int64_t k = 0; k < c; k++) {
      double mean = row[k], invstd = row[c + k], scale = row[2 * c + k];
      double dgamma = sums[c + k] * invstd;
      double tilt = -scale * invstd * dgamma / count;
      slope.data_ptr<float>()[k] = static_cast<float>(tilt);
      level.data_ptr<float>()[k] = static_cast<float>(-scale * sums[k] / count - tilt * mean);
    }
    at::Tensor dx = at::empty_like(x);
    float *to = dx.data_ptr<float>();
    at::parallel_for(0, n, 1, [&](int64_t first, int64_t last) {
      for (int64_t k = first; k < last; k++) {
        kernels().backward(from + k * s.pixels() * c, g + k * s.pooled() * c, s, row + 2 * c, row + 3 * c,
                           slope.data_ptr<float>(), level.data_ptr<float>(), to + k * s.pixels() * c);
      }
    });
    if (ctx->saved_data["idle"].toBool()) dx.zero_();
    auto wanted = [&](const char *name, const at::Tensor &g) { return ctx->saved_data[name].toBool() ? g : at::Tensor(); };
    return {dx, wanted("weight", dweight), wanted("bias", dbias), wanted("before", channels(c).zero_()), at::Tensor(), at::Tensor()};
  }
};

struct ExactPool : torch::autograd::Function<ExactPool> {
  static at::Tensor forward(AutogradContext *ctx, const at::Tensor &input, bool relu) {
    at::Tensor x = input.contiguous();
    const int64_t planes = x.size(0) * x.size(1), h = x.size(2), w = x.size(3);
    at::Tensor y = at::empty({x.size(0), x.size(1), h / 2, w / 2}, x.options());
    const float *from = x.data_ptr<float>();
    float *to = y.data_ptr<float>();
    at::parallel_for(0, planes, 8, [&](int64_t first, int64_t last) {
      for (int64_t k = first; k < last; k++) {
        kernels().pool2_forward(from + k * h * w, h, w, relu, to + k * (h / 2) * (w / 2));
      }
    });
    ctx->save_for_backward({x});
    ctx->saved_data["relu"] = relu;
    return y;
  }

  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    at::Tensor x = ctx->get_saved_variables()[0];
    bool relu = ctx->saved_data["relu"].toBool();
    const int64_t planes = x.size(0) * x.size(1), h = x.size(2), w = x.size(3);
    at::Tensor dy = grads[0].contiguous(), dx = at::empty_like(x);
    const float *from = x.data_ptr<float>(), *g = dy.data_ptr<float>();
    float *to = dx.data_ptr<float>();
    at::parallel_for(0, planes, 8, [&](int64_t first, int64_t last) {
      for (int64_t k = first; k < last; k++) {
        kernels().pool2_backward(from + k * h * w, g + k * (h / 2) * (w / 2), h, w, relu, to + k * h * w);
      }
    });
    return {dx, at::Tensor()};
  }
};

bool plain(const at::Tensor &t) { return !t.defined() || (t.is_cpu() && t.scalar_type() == at::kFloat && t.is_contiguous()); }

}  // namespace

bool can_fuse(const at::Tensor &x, const NormWeights &w, const NormOptions &o) {
  if (x.dim() != 4 || !x.is_cpu() || x.scalar_type() != at::kFloat || x.numel() == 0) return false;
  const int64_t rows = sharing() == nullptr ? x.size(0) : sharing()->total;
  if (o.training && rows * x.size(2) * x.size(3) < 2) return false;
  if (o.window_height > x.size(2) || o.window_width > x.size(3)) return false;
  bool statistics = o.training || (w.running_mean.defined() && w.running_var.defined());
  return statistics && plain(w.weight) && plain(w.bias) && plain(w.running_mean) && plain(w.running_var) &&
         plain(w.before);
}

at::Tensor fused_norm(const at::Tensor &input, const NormWeights &w, const NormOptions &o) {
  auto maybe = [](const at::Tensor &t) { return t.defined() ? FusedNorm::Maybe(t) : c10::nullopt; };
  if (o.training) return FusedNorm::apply(input, maybe(w.weight), maybe(w.bias), maybe(w.before), w, o);
  at::Tensor x = input.contiguous(at::MemoryFormat::ChannelsLast);
  NormShape s = shape_of(x, o);
  const int64_t c = s.channels;
  at::Tensor rows = channels(3 * c);
  float *invstd = rows.data_ptr<float>();
  const float *var = w.running_var.data_ptr<float>();
  for (int64_t k = 0; k < c; k++) invstd[k] = static_cast<float>(1.0 / std::sqrt(static_cast<double>(var[k]) + o.eps));
  const at::Tensor mean = w.before.defined() ? w.running_mean - w.before : w.running_mean;
  affine(w.weight, w.bias, mean.data_ptr<float>(), invstd, c, invstd + c, invstd + 2 * c);
  return normalised(x, s, invstd + c, invstd + 2 * c);
}

at::Tensor exact_pool2(const at::Tensor &x, bool relu) { return ExactPool::apply(x, relu); }

}  // namespace graft
