// BatchNorm over a batch that several processes share (Ioffe and Szegedy 2015, with
// the sums taken over all of them). Each way in fused.cc and the one here send the
// same sums in the same order, so that processes may go different ways.
#include <torch/torch.h>

#include <array>

#include "peers.h"

namespace graft {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The rows of the batch of which x is this process's share.
int64_t rows_of(const at::Tensor &x) { return sharing() == nullptr ? x.size(0) : sharing()->total; }

// All dimensions but that of the channels.
std::vector<int64_t> apart(const at::Tensor &x) {
  std::vector<int64_t> dims;
  for (int64_t d = 0; d < x.dim(); d++) {
    if (d != 1) dims.push_back(d);
  }
  return dims;
}

// What is computed in: float32 for all types that are narrower.
at::ScalarType working(const at::Tensor &x) { return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat; }

// A value for each channel, in a shape that goes with x.
at::Tensor beside(const at::Tensor &values, const at::Tensor &x) {
  std::vector<int64_t> shape(x.dim(), 1);
  shape[1] = -1;
  return values.view(shape);
}

// A dense float32 batch on the CPU, as rows of the pixels of an image's channel. The loops below read it once or twice;
// LibTorch's operators would read and write it a dozen times.
struct ChannelRows {
  int64_t images, channels, pixels;

  explicit ChannelRows(const at::Tensor &x) : images(x.size(0)), channels(x.size(1)), pixels(x.numel() / (x.size(0) * x.size(1))) {}

  static bool fit(const at::Tensor &x) {
    return x.device().is_cpu() && x.scalar_type() == at::kFloat && x.is_contiguous() && x.dim() > 2 && x.numel() > 0;
  }

  // Calls f for each channel and each image with the offset of the row.
  template <typename F>
  void each(const F &f) const {
    at::parallel_for(0, channels, 1, [&](int64_t first, int64_t last) {
      for (int64_t c = first; c < last; c++) {
        for (int64_t n = 0; n < images; n++) f(c, (n * channels + c) * pixels);
      }
    });
  }
};

// Sums of f's two values over a row, in lanes that compilers turn into vectors.
template <typename F>
std::array<double, 2> row_sums(int64_t pixels, const F &f) {
  constexpr int64_t kLanes = 8;
  double a[kLanes] = {}, b[kLanes] = {};
  int64_t k = 0;
  for (; k + kLanes <= pixels; k += kLanes) {
    for (int64_t l = 0; l < kLanes; l++) f(k + l, a[l], b[l]);
  }
  for (; k < pixels; k++) f(k, a[0], b[0]);
  std::array<double, 2> sums{};
  for (int64_t l = 0; l < kLanes; l++) sums[0] += a[l], sums[1] += b[l];
  return sums;
}

// For each channel, the sums of f's two values over all rows, one after the other.
template <typename F>
at::Tensor channel_sums(const ChannelRows &r, const F &f) {
  at::Tensor sums = at::zeros({2 * r.channels}, at::TensorOptions().dtype(at::kDouble));
  double *s = sums.data_ptr<double>();
  r.each([&](int64_t c, int64_t at) {
    const auto row = row_sums(r.pixels, [&](int64_t k, double &a, double &b) { f(c, at + k, a, b); });
    s[c] += row[0];
    s[r.channels + c] += row[1];
  });
  return sums;
}

// Mean and biased variance of each channel. Values are shifted by the channel's first, so that the squares do not cancel.
std::array<at::Tensor, 2> row_moments(const at::Tensor &x) {
  const ChannelRows r(x);
  const float *data = x.data_ptr<float>();
  const at::Tensor sums = channel_sums(r, [&](int64_t c, int64_t k, double &a, double &b) {
    const double v = static_cast<double>(data[k]) - data[c * r.pixels];
    a += v;
    b += v * v;
  }) / static_cast<double>(r.images * r.pixels);
  const at::Tensor mean = sums.narrow(0, 0, r.channels);
  return {mean + x[0].reshape({r.channels, r.pixels}).select(1, 0).to(at::kDouble), sums.narrow(0, r.channels, r.channels) - mean * mean};
}

// Mean and variance of the batch, from sums that every process has a part in. They
// are float64: the difference of the two sums cancels.
struct Moments {
  at::Tensor mean, variance;
  double count;

  Moments(const at::Tensor &x, const Share &share) {
    const int64_t channels = x.size(1);
    const double n = static_cast<double>(x.numel() / channels);
    at::Tensor m, v;
    if (ChannelRows::fit(x)) {
      const auto own = row_moments(x);
      m = own[0], v = own[1];
    } else {
      const auto own = at::var_mean(x.to(working(x)), apart(x), /*unbiased=*/false);
      m = std::get<1>(own).to(at::kDouble), v = std::get<0>(own).to(at::kDouble);
    }
    at::Tensor sums = at::cat({m, v + m * m, at::ones({1}, m.options())}) * (n * share.weight());
    share.peers->sum(sums);
    count = sums[2 * channels].item<double>();
    mean = sums.narrow(0, 0, channels) / count;
    variance = (sums.narrow(0, channels, channels) / count - mean * mean).clamp_min(0);
  }

  void remember(const SharedNorm &n) const {
    auto move = [&](at::Tensor running, const at::Tensor &seen) {
      if (running.defined()) running.copy_(running.to(at::kDouble) * (1 - n.momentum) + seen * n.momentum);
    };
    move(n.running_mean, mean);
    move(n.running_var, variance * (count / (count - 1)));
  }
};

at::Tensor normalised(const at::Tensor &x, const at::Tensor &mean, const at::Tensor &scale, const at::Tensor &bias) {
  at::Tensor y = at::empty_like(x);
  const ChannelRows r(x);
  const float *from = x.data_ptr<float>(), *m = mean.data_ptr<float>(), *s = scale.data_ptr<float>();
  const float *b = bias.defined() ? bias.data_ptr<float>() : nullptr;
  float *to = y.data_ptr<float>();
  r.each([&](int64_t c, int64_t at) {
    const float middle = m[c], factor = s[c], offset = b == nullptr ? 0.0f : b[c];
    for (int64_t k = at; k < at + r.pixels; k++) to[k] = (from[k] - middle) * factor + offset;
  });
  return y;
}

// For each channel, the sums of dy and of dy times the distance from the mean.
at::Tensor gradient_sums(const at::Tensor &x, const at::Tensor &dy, const at::Tensor &mean) {
  const float *v = x.data_ptr<float>(), *d = dy.data_ptr<float>(), *m = mean.data_ptr<float>();
  return channel_sums(ChannelRows(x), [&](int64_t c, int64_t k, double &a, double &b) {
    a += d[k];
    b += static_cast<double>(d[k]) * (v[k] - m[c]);
  });
}

// (dy - level - (x - mean) * tilt) * scale
at::Tensor gradient(const at::Tensor &x, const at::Tensor &dy, const std::array<at::Tensor, 4> &by_channel) {
  at::Tensor dx = at::empty_like(x);
  const ChannelRows r(x);
  const float *v = x.data_ptr<float>(), *d = dy.data_ptr<float>();
  const float *mean = by_channel[0].data_ptr<float>(), *level = by_channel[1].data_ptr<float>();
  const float *tilt = by_channel[2].data_ptr<float>(), *scale = by_channel[3].data_ptr<float>();
  float *to = dx.data_ptr<float>();
  r.each([&](int64_t c, int64_t at) {
    const float m = mean[c], l = level[c], t = tilt[c], s = scale[c];
    for (int64_t k = at; k < at + r.pixels; k++) to[k] = (d[k] - l - (v[k] - m) * t) * s;
  });
  return dx;
}

struct SharedNormFunction : torch::autograd::Function<SharedNormFunction> {
  using Maybe = c10::optional<at::Tensor>;

  static at::Tensor forward(AutogradContext *ctx, const at::Tensor &x, const Maybe &weight, const Maybe &bias, const SharedNorm &n) {
    const Share share = *sharing();
    const Moments moments(x, share);
    moments.remember(n);
    const at::Tensor mean = moments.mean.to(working(x)), invstd = (moments.variance + n.eps).rsqrt().to(working(x));
    const at::Tensor scale = weight.has_value() ? *weight * invstd : invstd;
    ctx->save_for_backward({x, mean, invstd, scale});
    ctx->saved_data["peers"] = reinterpret_cast<int64_t>(share.peers);
    ctx->saved_data["idle"] = share.idle;
    ctx->saved_data["count"] = moments.count;
    ctx->saved_data["weight"] = weight.has_value();
    ctx->saved_data["bias"] = bias.has_value();
    if (ChannelRows::fit(x)) return normalised(x, mean, scale, bias.has_value() ? *bias : at::Tensor());
    at::Tensor y = (x - beside(mean, x)) * beside(scale, x);
    if (bias.has_value()) y = y + beside(*bias, x);
    return y.to(x.scalar_type());
  }

  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &invstd = saved[2], &scale = saved[3];
    const auto type = working(x);
    const bool rows = ChannelRows::fit(x);
    const at::Tensor dy = rows ? grads[0].contiguous() : grads[0].to(type);
    const at::Tensor apart_from_mean = rows ? at::Tensor() : x - beside(saved[1], x);
    const int64_t channels = x.size(1);
    at::Tensor sums = rows ? gradient_sums(x, dy, saved[1]) : at::cat({dy.sum(apart(x)), (dy * apart_from_mean).sum(apart(x))}).to(at::kDouble);
    const at::Tensor dbias = sums.narrow(0, 0, channels).to(type), dweight = sums.narrow(0, channels, channels).to(type) * invstd;
    at::Tensor all = sums.clone();
    reinterpret_cast<Peers *>(ctx->saved_data["peers"].toInt())->sum(all);
    const at::Tensor means = (all / ctx->saved_data["count"].toDouble()).to(type);
    const at::Tensor level = means.narrow(0, 0, channels), tilt = means.narrow(0, channels, channels) * invstd * invstd;
    at::Tensor dx = rows ? gradient(x, dy, {saved[1], level.contiguous(), tilt.contiguous(), scale}) : (dy - beside(level, x) - apart_from_mean * beside(tilt, x)) * beside(scale, x);
    if (ctx->saved_data["idle"].toBool()) dx = at::zeros_like(dx);
    return {dx.to(x.scalar_type()), ctx->saved_data["weight"].toBool() ? dweight : at::Tensor(),
            ctx->saved_data["bias"].toBool() ? dbias : at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor shared_norm(const at::Tensor &x, const SharedNorm &n) {
  auto maybe = [](const at::Tensor &t) { return t.defined() ? SharedNormFunction::Maybe(t) : c10::nullopt; };
  return SharedNormFunction::apply(x, maybe(n.weight), maybe(n.bias), n);
}

void check_values_per_channel(const at::Tensor &x, const at::Tensor &running_var) {
  if (!running_var.defined() || x.dim() < 2 || x.numel() == 0) return;
  const int64_t values = rows_of(x) * (x.numel() / (x.size(0) * x.size(1)));
  TORCH_CHECK(values > 1, "training with one value for each channel, of an input of ", x.sizes(), ", has no variance; take batches, and parts of them, of two rows or more");
}

}  // namespace graft
