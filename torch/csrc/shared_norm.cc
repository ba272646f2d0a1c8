// BatchNorm over a batch that several processes share (Ioffe and Szegedy 2015, with
// the sums taken over all of them). Each way in fused.cc and the one here send the
// same sums in the same order, so that processes may go different ways.
#include <torch/torch.h>

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

// Mean and variance of the batch, from sums that every process has a part in. They
// are float64: the difference of the two sums cancels.
struct Moments {
  at::Tensor mean, variance;
  double count;

  Moments(const at::Tensor &x, const Share &share) {
    const int64_t channels = x.size(1);
    const double n = static_cast<double>(x.numel() / channels);
    const auto own = at::var_mean(x.to(working(x)), apart(x), /*unbiased=*/false);
    const at::Tensor m = std::get<1>(own).to(at::kDouble), v = std::get<0>(own).to(at::kDouble);
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
    at::Tensor y = (x - beside(mean, x)) * beside(scale, x);
    if (bias.has_value()) y = y + beside(*bias, x);
    return y.to(x.scalar_type());
  }

  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &invstd = saved[2], &scale = saved[3];
    const auto type = working(x);
    const at::Tensor dy = grads[0].to(type), apart_from_mean = x - beside(saved[1], x);
    const int64_t channels = x.size(1);
    at::Tensor sums = at::cat({dy.sum(apart(x)), (dy * apart_from_mean).sum(apart(x))}).to(at::kDouble);
    const at::Tensor dbias = sums.narrow(0, 0, channels).to(type), dweight = sums.narrow(0, channels, channels).to(type) * invstd;
    at::Tensor all = sums.clone();
    reinterpret_cast<Peers *>(ctx->saved_data["peers"].toInt())->sum(all);
    const at::Tensor means = (all / ctx->saved_data["count"].toDouble()).to(type);
    const at::Tensor level = means.narrow(0, 0, channels), tilt = means.narrow(0, channels, channels) * invstd * invstd;
    at::Tensor dx = (dy - beside(level, x) - apart_from_mean * beside(tilt, x)) * beside(scale, x);
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
